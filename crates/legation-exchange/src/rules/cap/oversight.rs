//! Quality control (Oversight): the result of an overseen agent waits for its overseer, who gets the work, asks
//! about it and decides on it by its digest. Talk flows meanwhile, marked.

mod foreign;
mod unreviewed;
mod verdict;

pub(in crate::rules) use foreign::{Inquiry, asks_in_vlp, decide_in_acl};
pub(crate) use unreviewed::mark_unreviewed;
pub(in crate::rules) use verdict::{decide_in_vlp, must_not_wait};

use super::Oversight;
use super::change::{Change, User};
use super::place::{Place, is_or_instance, oversees};
use super::task::Task;
use super::{tools, words};
use crate::agent::Agent;
use crate::mailbox::NOBODY;
use crate::rules::hold::{self, Lifter, Reason};
use crate::rules::{Case, Ruling, scan};
use legation_protocol::cap::{Attachment, Body, Message};
use legation_protocol::{Code, Rejection};

const SPEC: &str = "CAP Oversight";

/// Why work waits.
const WAITS: &str = "oversight";

/// How many messages of one task wait for a word.
const WAITING: usize = 16;

/// Plain talk: a result, a decision, or neither.
pub(super) fn talk(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    if message.is_final == Some(true) {
        let (number, task) = Place::of(case, &message.task_id)?.own(&message.task_id)?;
        tools::look(case, message, Some(number), Some(number), ruling)?;
        note(case, Some((number, task)), ruling);
        return result(case, message, number, task, ruling);
    }
    let place = Place::of_talk(case, &message.task_id);
    let task = place.task();
    tools::look_in_talk(case, message, task.map(|(number, _)| number), ruling)?;
    note(case, task, ruling);
    if let Some(decision) = message.decision {
        return verdict::decide(case, message, decision, &place, ruling);
    }
    verdict::implied(case, message, ruling);
    flow(case, message, ruling)
}

/// What a party says in a task is remembered there; and whether the user is asked, or answers.
fn note(case: &Case<'_>, task: Option<(u64, &Task)>, ruling: &mut Ruling) {
    let Some((number, task)) = task else { return };
    let user = match (case.speaker.id(), case.to) {
        ("user", _) => Some(User::Answered),
        (_, [to]) if to == "user" => Some(User::Asked),
        _ => None,
    };
    let by_assignee = task.assignee == case.speaker.id();
    ruling.change(Change::Said { task: number, user, by_assignee, held: false }.into());
}

/// A result: to whom the task was handed over by, and not past the overseer.
fn result(case: &Case<'_>, message: &Message, number: u64, task: &Task, ruling: &mut Ruling) -> Result<(), Rejection> {
    let refuse = |text: String| Err(Rejection::because(Code::TaskState, text).at("/final").by(SPEC));
    if task.assignee != case.speaker.id() {
        let text = format!("{} is {:?}'s to finish", task.id, task.assignee);
        return Err(Rejection::because(Code::NotAParty, text).at("/final").by(SPEC));
    }
    if !task.is_open() {
        return refuse(format!("{} is {} already", task.id, task.state()));
    }
    if !case.goes_to(&task.delegator) {
        return refuse(format!("the result of {} goes to {:?}", task.id, task.delegator));
    }
    has_no_part_in_review(case, number, task).map_err(|rejection| rejection.at("/final"))?;
    if !is_overseen(case, task) {
        withdraw(case, number, task, ruling);
        ruling.change(Change::Finished { task: number }.into());
        return Ok(());
    }
    wait(case, &Work::of(message), number, task, ruling)
}

/// A result takes the place of what the task's assignee gave as its result before and still waits: of two, nobody approves
/// the older. What another said of it, an overseer or whoever worked on it before, is not the assignee's to take back. Says
/// which.
pub(super) fn withdraw(case: &Case<'_>, number: u64, task: &Task, ruling: &mut Ruling) -> Vec<u64> {
    let rules = &case.state.rules;
    let author = case.speaker.agent().map_or(NOBODY, |agent| agent.since);
    let is_own = |message: &u64| rules.holds.get(*message).is_some_and(|hold| hold.from == author);
    let reviewed = task.reviews.iter().filter(|(_, review)| review.is_final).map(|(message, _)| *message);
    let replaced: Vec<_> = reviewed.chain(rules.deferred.results_of(number)).filter(is_own).collect();
    for message in &replaced {
        let (by, why) = (format!("agent {}", case.speaker.id()), "a later result takes its place".to_owned());
        ruling.change(hold::Change::Refused { message: *message, by, why }.into());
    }
    replaced
}

/// Nothing is done while the work in a part of it waits for a word.
pub(super) fn has_no_part_in_review(case: &Case<'_>, number: u64, task: &Task) -> Result<(), Rejection> {
    let Some(part) = waiting_below(case, number, task) else { return Ok(()) };
    let text = format!("{} is part of {} and waits for a review", part.id, task.id);
    Err(Rejection::because(Code::TaskState, text).by(SPEC))
}

/// A part of the task, at any depth, with work that waits for a word.
fn waiting_below<'c>(case: &Case<'c>, number: u64, task: &Task) -> Option<&'c Task> {
    let kept = &case.state.rules.cap;
    let waiting = kept.tree(task)?.reviews().filter_map(|message| kept.reviewed(message));
    let mut below = waiting.filter(|(part, _)| *part != number && kept.line(*part).any(|(above, _)| above == number));
    below.find(|(_, part)| part.is_open()).map(|(_, part)| part)
}

/// Whether somebody reviews the work in a task.
pub(super) fn is_overseen(case: &Case<'_>, task: &Task) -> bool {
    case.state.rules.cap.overseer_in(&case.state.registry, task).is_some()
}

/// Who does, if they are there.
fn overseer<'c>(case: &Case<'c>, task: &Task) -> Option<&'c Agent> {
    let registry = &case.state.registry;
    let name = case.state.rules.cap.overseer_in(registry, task)?;
    // Nobody reviews its own work, by whatever name, and nobody that it made does.
    registry.referent(&name).filter(|overseer| {
        let author = registry.agent(&task.assignee);
        let is_same = |author: &Agent| is_or_instance(author, &overseer.id) || is_or_instance(overseer, &author.id);
        let is_below = |author: &Agent| registry.above(overseer).any(|above| is_or_instance(author, &above.id));
        author.is_none_or(|author| !is_same(author) && !is_below(author))
    })
}

/// Work that is shown to an overseer.
pub(super) struct Work<'w> {
    /// What it says, if it can be shown as text.
    pub(super) content: Option<&'w str>,
    pub(super) attachments: Option<&'w [Attachment]>,
    /// Whether it is the task's result.
    pub(super) is_final: bool,
}

impl<'w> Work<'w> {
    fn of(message: &'w Message) -> Work<'w> {
        let content = match &message.body {
            Body::Message { content } => Some(content.as_str()),
            _ => None,
        };
        let attachments = message.attachments.as_deref();
        Work { content, attachments, is_final: message.is_final == Some(true) }
    }
}

/// Holds a message until the overseer has decided, who gets it; a person, if there is none.
pub(super) fn wait(
    case: &Case<'_>,
    work: &Work<'_>,
    number: u64,
    task: &Task,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let replaced = if work.is_final { withdraw(case, number, task, ruling) } else { Vec::new() };
    if task.reviews.keys().filter(|message| !replaced.contains(message)).count() >= WAITING {
        let text = format!("{WAITING} messages of {} wait for a review already", task.id);
        return Err(Rejection::because(Code::TaskState, text).by(SPEC));
    }
    let overseer = overseer(case, task);
    let (says, lifts) = match overseer {
        Some(overseer) => (format!("waits for {:?} to approve it", overseer.id), Lifter::Overseer(overseer.id.clone())),
        None => ("its overseer is not here: waits for a person".to_owned(), Lifter::Person),
    };
    ruling.reasons.push(Reason { code: WAITS.to_owned(), says, lifts });
    ruling.change(
        Change::Waits {
            task: number,
            digest: case.received.digest().to_string(),
            overseer: overseer.map(|overseer| overseer.id.clone()),
            is_final: work.is_final,
        }
        .into(),
    );
    if let Some(overseer) = overseer {
        words::show_work(case, task, work, (&overseer.id, &replaced), ruling);
        ruling.mark_last(scan::quoted(case.scanned));
        ruling.shows_last();
    }
    Ok(())
}

/// What an overseen agent tells its delegator beside its result flows, but strictly not what it attaches.
fn flow(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    let has_more = message.attachments.as_ref().is_some_and(|attachments| !attachments.is_empty());
    if case.policy.oversight != Oversight::Strict || !has_more {
        return Ok(());
    }
    // Of several, the one it names.
    match unreviewed::owed(case, &[]).min_by_key(|(_, task)| task.id != *message.task_id) {
        Some((number, task)) => wait(case, &Work::of(message), number, task, ruling),
        None => Ok(()),
    }
}

/// A question, from the overseer to the agent it oversees.
pub(super) fn inquiry(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    let (kept, registry) = (&case.state.rules.cap, &case.state.registry);
    let place = Place::of_talk(case, &message.task_id);
    let asked = case.to.first().and_then(|to| registry.agent(to));
    let is_overseer = case.speaker.agent().zip(asked).is_some_and(|(agent, asked)| {
        let named = kept.rights(asked).and_then(|rights| rights.overseer.clone());
        let by_manifest =
            named.and_then(|name| registry.referent(&name)).is_some_and(|it| is_or_instance(agent, &it.id));
        let by_task =
            || place.task().is_some_and(|(_, task)| task.assignee == asked.id && oversees(kept, registry, agent, task));
        by_manifest || by_task()
    });
    if !is_overseer {
        let text = "only its overseer asks an agent about its work like this; anybody may send a message";
        return Err(Rejection::because(Code::NotOverseer, text).at("/sender_id").by(SPEC));
    }
    let task = place.task();
    tools::look_in_talk(case, message, task.map(|(number, _)| number), ruling)?;
    note(case, task, ruling);
    Ok(())
}
