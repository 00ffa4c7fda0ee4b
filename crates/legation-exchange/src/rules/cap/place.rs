//! Which task a message means (Delegation). Ids are each opener's own, so that a party's own task comes first.

use super::task::Task;
use super::tasks::Kept;
use crate::agent::Agent;
use crate::registry::Registry;
use crate::rules::{Case, Speaker};
use legation_protocol::{Code, Rejection};
use std::collections::BTreeMap;

/// Where a message belongs, as its sender sees it.
pub(super) enum Place<'k> {
    /// A task its sender handed over or works on.
    Own(u64, &'k Task),
    /// A task of whom it is for: its sender reviews the work in it, or answers.
    Theirs(u64, &'k Task),
    /// Others have a task with this id.
    Foreign,
    /// Nobody has.
    Unknown,
}

impl<'k> Place<'k> {
    /// Looks a task up. Where several fit, those that fit the recipient too, and then open ones.
    pub(super) fn of(case: &Case<'k>, id: &str) -> Result<Place<'k>, Rejection> {
        let (kept, me) = (&case.state.rules.cap, case.speaker.id());
        let to = case.to.first().map_or("", String::as_str);
        if let Some((number, task)) = only(kept.seats(me, id), to)? {
            return Ok(Place::Own(number, task));
        }
        // A delegation that is held is known to its sender alone.
        match only(kept.seats(to, id).filter(|(_, task)| !task.waits), to)? {
            Some((number, task)) if is_witness(case, task) => Ok(Place::Theirs(number, task)),
            Some(_) => Ok(Place::Foreign),
            None if kept.is_named(id, me) => Ok(Place::Foreign),
            None => Ok(Place::Unknown),
        }
    }

    /// The same for talk, which flows whatever it names: what could be several tasks is none of them.
    pub(super) fn of_talk(case: &Case<'k>, id: &str) -> Place<'k> {
        Place::of(case, id).unwrap_or(Place::Foreign)
    }

    /// The task, if its sender handed it over or works on it.
    pub(super) fn own(self, id: &str) -> Result<(u64, &'k Task), Rejection> {
        match self {
            Place::Own(number, task) => Ok((number, task)),
            Place::Theirs(..) | Place::Foreign => Err(foreign(id)),
            Place::Unknown => {
                Err(Rejection::because(Code::UnknownTask, format!("nobody has a task {id}")).at("/task_id"))
            }
        }
    }

    /// The task, if its sender has anything to do with it.
    pub(super) fn task(&self) -> Option<(u64, &'k Task)> {
        match self {
            Place::Own(number, task) | Place::Theirs(number, task) => Some((*number, task)),
            Place::Foreign | Place::Unknown => None,
        }
    }
}

pub(super) fn foreign(id: &str) -> Rejection {
    let message = format!("{id} is others' task: it takes somebody who handed it over or works on it");
    Rejection::because(Code::NotAParty, message).at("/task_id").by("CAP Delegation")
}

/// The one that is meant.
pub(super) fn only<'k>(
    found: impl Iterator<Item = (u64, &'k Task)>,
    to: &str,
) -> Result<Option<(u64, &'k Task)>, Rejection> {
    let mut found = found.peekable();
    let first = found.next();
    if found.peek().is_none() {
        return Ok(first);
    }
    let mut found: Vec<_> = first.into_iter().chain(found).collect();
    let narrow = |found: &mut Vec<(u64, &'k Task)>, fits: &dyn Fn(&Task) -> bool| {
        if found.len() > 1 && found.iter().any(|(_, task)| fits(task)) {
            found.retain(|(_, task)| fits(task));
        }
    };
    narrow(&mut found, &Task::is_open);
    narrow(&mut found, &|task| task.delegator == to || task.assignee == to);
    // Of one key only the newest counts.
    let newest = found.last().copied();
    match newest {
        Some((_, last)) if found.iter().any(|(_, task)| task.is_open() && task.opener != last.opener) => {
            let message = format!("{} could be a task of several openers", last.id);
            Err(Rejection::because(Code::AmbiguousReference, message).at("/task_id"))
        }
        newest => Ok(newest),
    }
}

/// The task with this id that the sender, or whoever it is one with, handed over or works on.
pub(super) fn family_task(case: &Case<'_>, id: &str) -> Option<u64> {
    let (kept, registry) = (&case.state.rules.cap, &case.state.registry);
    let to = case.to.first().map_or("", String::as_str);
    let seats: BTreeMap<_, _> =
        registry.relatives(case.speaker.agent()?).flat_map(|one| kept.seats(&one.id, id)).collect();
    only(seats.into_iter(), to).ok().flatten().map(|(number, _)| number)
}

/// Whether the sender reviews the work in a task, or is a person.
fn is_witness(case: &Case<'_>, task: &Task) -> bool {
    match case.speaker {
        Speaker::Principal { .. } => true,
        Speaker::Agent(agent) => oversees(&case.state.rules.cap, &case.state.registry, agent, task),
    }
}

/// Whether an agent, or the agent it is an instance of, reviews the work in a task.
pub(super) fn oversees(kept: &Kept, registry: &Registry, agent: &Agent, task: &Task) -> bool {
    let overseer = kept.overseer_in(registry, task);
    overseer.and_then(|name| registry.referent(&name)).is_some_and(|overseer| is_or_instance(agent, &overseer.id))
}

/// Whether an agent is this one, or an instance of it.
pub(super) fn is_or_instance(agent: &Agent, id: &str) -> bool {
    agent.id == id || agent.instance_of.as_deref() == Some(id)
}
