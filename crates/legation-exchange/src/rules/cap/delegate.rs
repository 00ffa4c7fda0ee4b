//! Handing tasks over (Delegation): to whom the actor's own manifest allows, below what the actor holds, and
//! never in circles, too deep or too wide.

use super::Narrowing;
use super::bonds::{Bond, bonds};
use super::change::{Change, Opened};
use super::judge;
use super::place::foreign;
use super::rights::{Binding, Grant, Rights};
use super::task::Task;
use super::tasks::Kept;
use super::tools;
use crate::clocks::Clocks;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::quota::{Resource, check_family};
use crate::rules::{Case, Finding, Heard, Ruling};
use crate::state::State;
use legation_protocol::cap::Message;
use legation_protocol::{Code, Rejection};
use std::borrow::Cow;

const SPEC: &str = "CAP Delegation";

/// How deep tasks stand.
const DEPTH: usize = 8;
/// How many open parts a task has, and how many tasks an agent and its instances open by themselves.
const FAN_OUT: usize = 64;
/// How many tasks a tree has, with those that ended.
const TREE: usize = 1024;

pub(super) fn look(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    let kept = &case.state.rules.cap;
    let [to] = case.to else {
        let message = "the exchange itself takes no tasks";
        return Err(Rejection::because(Code::DelegationDenied, message).at("/recipient_id").by(SPEC));
    };
    let me = case.speaker.id();
    if case.state.registry.are_one(to, me) {
        return Err(cycle("nobody hands a task to itself, or to another instance of the same agent"));
    }
    let above = above_of(kept, me, message);
    let parent = above.as_ref().ok().copied().flatten();
    let rule = may_hand_to(case.state, me, parent, to)?;
    if let Some(rule) = &rule {
        ruling.find("cap.delegation", "delegate_rule", rule.clone());
    }
    let bonds = case.speaker.agent().map(|agent| bonds(case.state, agent)).unwrap_or_default();
    let above = above?;
    let parent = above.or_else(|| asked_below(&bonds));
    if let (None, Some(below)) = (above, parent.and_then(|parent| kept.task(parent))) {
        not_its_own(kept, me, message)?;
        ruling.find("cap.delegation", "asked_below", format!("it is a part of {}, for which it was asked", below.id));
    }
    stays_in_lineage(case, &bonds, parent)?;
    parent.map_or(Ok(()), |parent| is_open(kept, parent))?;
    no_cycle(case.state, parent, to)?;
    tools::look(case, message, parent, Some(case.state.next), ruling)?;
    let opener = parent.and_then(|parent| kept.task(parent)).map_or(me, |above| &above.opener);
    let known = kept.keyed(opener, &message.task_id).filter(|(_, task)| task.is_open());
    if let Some((task, known)) = known {
        same_again(known, me, to)?;
        on_same_terms(case, known, parent, message)?;
        note_shortened(message, known.deadline, ruling);
        ruling.change(Change::Repeated { task }.into());
        return rule.map_or(Ok(()), |rule| judge::heed(case, to, &rule, ruling));
    }
    within_limits(case, parent)?;
    rule.map_or(Ok(()), |rule| judge::heed(case, to, &rule, ruling))?;
    let due = deadline(case, message, parent)?;
    note_shortened(message, due, ruling);
    note_narrowed(case, message, parent, ruling);
    let task = Opened {
        id: message.task_id.to_string(),
        parent,
        delegator: me.to_owned(),
        asker: None,
        assignee: to.clone(),
        grant: message.grants.as_ref().map(Grant::from).unwrap_or_default(),
        deadline: due,
        waits: false,
    };
    // What is shown in a task comes after the task.
    ruling.changes.insert(0, Change::Opened(Box::new(task)).into());
    Ok(())
}

/// The task this one is a part of: one that the sender handed over or works on.
pub(super) fn above_of(kept: &Kept, me: &str, message: &Message) -> Result<Option<u64>, Rejection> {
    let Some(id) = message.parent_task() else { return Ok(None) };
    let mut own: Vec<_> = kept.seats(me, &id).collect();
    if own.iter().any(|(_, task)| task.is_open()) {
        own.retain(|(_, task)| task.is_open());
    }
    // Of several, the one the sender works on, and the newest of those.
    let works = own.iter().rev().find(|(_, task)| task.assignee == me);
    match works.or(own.last()) {
        Some((number, _)) => Ok(Some(*number)),
        None if kept.is_named(&id, me) => Err(foreign(&id)),
        None if message.parent_task_id.is_some() => {
            Err(Rejection::because(Code::UnknownTask, format!("nobody has a task {id}")).at("/parent_task_id"))
        }
        // Dots that lead to nobody's task are part of a name.
        None => Ok(None),
    }
}

/// Whether somebody may hand tasks to another, by its own manifest; and the rule that says when. People may.
pub(super) fn may_hand_to(state: &State, me: &str, parent: Option<u64>, to: &str) -> Result<Option<String>, Rejection> {
    if state.registry.agent(me).is_none() {
        return Ok(None);
    }
    rule_to(state, me, parent, to).map(Some).ok_or_else(|| {
        let message = format!("the manifest of {me:?} does not let it delegate to {to:?}");
        Rejection::because(Code::DelegationDenied, message).at("/recipient_id").by(SPEC)
    })
}

/// The rule by which an agent may hand tasks to another, in this task or in none.
pub(crate) fn rule_to(state: &State, me: &str, parent: Option<u64>, to: &str) -> Option<String> {
    let (kept, agent) = (&state.rules.cap, state.registry.agent(me)?);
    let working = parent.and_then(|parent| kept.task(parent)).filter(|above| above.assignee == me);
    let rights = match working {
        Some(above) => kept.rights_in(&state.registry, above),
        None => kept.rights(agent),
    };
    rule_for(state, &*rights?, to)
}

/// The rule for an agent, by any name of it, or of the agent it is an instance of, that references mean.
fn rule_for(state: &State, rights: &Rights, to: &str) -> Option<String> {
    let agent = state.registry.agent(to);
    let base = agent.and_then(|agent| state.registry.agent(agent.instance_of.as_ref()?));
    let known = agent.into_iter().chain(base).flat_map(|agent| state.registry.referable_names(agent));
    let mut names = known.chain([to]);
    names.find_map(|name| rights.allowed.get(name)).cloned()
}

/// What somebody hands on who holds no task, but works for somebody who does, is a part of that one's.
fn asked_below(bonds: &[Bond]) -> Option<u64> {
    let newest = bonds.first().map(|bond| bond.task());
    newest.filter(|_| !bonds.iter().any(|bond| bond.is_held()))
}

/// A task of one's own does not begin again below somebody else's: there would be two of one name.
fn not_its_own(kept: &Kept, me: &str, message: &Message) -> Result<(), Rejection> {
    let Some((_, own)) = kept.keyed(me, &message.task_id).filter(|(_, task)| task.is_open()) else { return Ok(()) };
    let message = format!("{} is a task of the sender's own, and what it was asked for is not a part of that", own.id);
    Err(Rejection::because(Code::TaskLineage, message).at("/task_id").by(SPEC))
}

/// Whoever holds a task hands on parts of it: a fresh id would leave its grants behind. Whoever holds none is bound
/// by those of its family, and waits for one of its own.
fn stays_in_lineage(case: &Case<'_>, bonds: &[Bond], parent: Option<u64>) -> Result<(), Rejection> {
    let (kept, me) = (&case.state.rules.cap, case.speaker.id());
    let extends =
        |number: u64, task: &Task| (task.is_open() && task.assignee == me) || bonds.contains(&Bond::Below(number));
    let mut line = parent.into_iter().flat_map(|parent| kept.line(parent));
    if bonds.is_empty() || line.any(|(number, task)| extends(number, task)) {
        return Ok(());
    }
    let held = bonds.iter().rev().find(|bond| bond.is_held()).and_then(|bond| kept.task(bond.task()));
    let message = match held.map(|held| (&held.assignee, &held.id)) {
        Some((holder, id)) if holder == me => {
            format!("the sender holds {id}: what it delegates is a part of that, such as {id}.1")
        }
        Some((holder, id)) => format!(
            "{holder:?} holds {id}, and is one with the sender: it delegates parts of that, and nobody else anything"
        ),
        None => "the sender has taken something on for somebody who holds a task, and delegates parts of that alone \
                 until it is over: under ids that are no part of another"
            .to_owned(),
    };
    Err(Rejection::because(Code::TaskLineage, message).at("/task_id").by(SPEC))
}

fn is_open(kept: &Kept, number: u64) -> Result<(), Rejection> {
    match kept.task(number).filter(|task| !task.is_open()) {
        None => Ok(()),
        Some(task) => {
            let message = format!("{} is {}: nothing is delegated below it", task.id, task.state());
            Err(Rejection::because(Code::TaskState, message).at("/task_id").by(SPEC))
        }
    }
}

/// A task comes back to nobody above it, nor to their instances.
pub(super) fn no_cycle(state: &State, parent: Option<u64>, to: &str) -> Result<(), Rejection> {
    let mut line = parent.into_iter().flat_map(|parent| state.rules.cap.line(parent));
    let is_it = |party: &str| state.registry.are_one(party, to);
    match line.find(|(_, task)| is_it(&task.assignee) || is_it(&task.delegator)) {
        None => Ok(()),
        Some((_, task)) => Err(cycle(format!("{to:?}, or one with it, has handed on, or works on, {} above", task.id))),
    }
}

fn cycle(message: impl Into<Cow<'static, str>>) -> Rejection {
    Rejection::because(Code::DelegationCycle, message).at("/recipient_id").by(SPEC)
}

/// A delegation that is there already may be sent again as it was.
fn same_again(known: &Task, me: &str, to: &str) -> Result<(), Rejection> {
    if known.waits {
        let message = format!("the delegation of {} is held already, and waits for somebody's word", known.id);
        return Err(Rejection::because(Code::TaskState, message).at("/task_id").by(SPEC));
    }
    if known.delegator == me && known.assignee == to {
        return Ok(());
    }
    let message = format!("{} is with {:?} already: have it reassigned, or use another id", known.id, known.assignee);
    Err(Rejection::because(Code::TaskState, message).at("/task_id").by(SPEC))
}

/// On the terms it was sent on: a limit that nobody reads is none, and who sends one is told.
fn on_same_terms(case: &Case<'_>, known: &Task, parent: Option<u64>, message: &Message) -> Result<(), Rejection> {
    let grant = message.grants.as_ref().map(Grant::from).unwrap_or_default();
    let wanted = named_deadline(case, message);
    // Handed over again, it may be due later than it was sent. Where the clocks differ, the same deadline comes out a little
    // different each time.
    let is_near =
        |one: Moment, other: Moment| one <= other.plus(Clocks::TOLERANCE) && other <= one.plus(Clocks::TOLERANCE);
    let is_first = |wanted: Moment| match (case.clocks().differing_machine(), known.first_deadline) {
        (Some(_), Some(first)) => is_near(first, wanted),
        (_, first) => first == Some(wanted),
    };
    let is_sooner = wanted.is_some_and(|wanted| wanted < known.deadline && !is_first(wanted));
    let (what, at) = match () {
        () if known.parent != parent => ("a part of another task", "/parent_task_id"),
        () if known.grant != grant => ("with other grants", "/grants"),
        () if is_sooner => ("due later", "/deadline"),
        () => return Ok(()),
    };
    let message = format!("{} is open already, and {what}: have it reassigned, or use another id", known.id);
    Err(Rejection::because(Code::TaskState, message).at(at).by(SPEC))
}

pub(super) fn within_limits(case: &Case<'_>, parent: Option<u64>) -> Result<(), Rejection> {
    check_family(case.state, case.policy, case.speaker.id(), Resource::Tasks)?;
    let kept = &case.state.rules.cap;
    let limit = |message: String| Err(Rejection::because(Code::DelegationLimit, message).at("/task_id").by(SPEC));
    match parent.and_then(|parent| kept.task(parent)) {
        Some(above) if above.depth >= DEPTH => limit(format!("tasks stand at most {DEPTH} deep")),
        Some(above) if above.open_parts >= FAN_OUT => limit(format!("{} has {FAN_OUT} open parts already", above.id)),
        Some(above) if kept.tree(above).is_some_and(|tree| tree.len() >= TREE) => {
            limit(format!("the tree of {} has {TREE} tasks already", above.id))
        }
        Some(_) => Ok(()),
        None => {
            let family = case.speaker.agent().into_iter().flat_map(|agent| case.state.registry.relatives(agent));
            let roots = family.flat_map(|one| kept.handed(&one.id)).filter_map(|number| kept.task(number));
            let open = roots.filter(|task| task.parent.is_none()).take(FAN_OUT).count();
            if open < FAN_OUT {
                Ok(())
            } else {
                limit(format!("{FAN_OUT} tasks of the sender, or of whoever it is one with, are open already"))
            }
        }
    }
}

/// The deadline that a sender named by a clock like the machine's, in the record's time.
fn named_deadline(case: &Case<'_>, message: &Message) -> Option<Moment> {
    message.deadline.as_ref().map(|named| case.clocks().in_record_time(Moment::of(named)))
}

/// When the task must be done: never later than the one it is a part of.
fn deadline(case: &Case<'_>, message: &Message, parent: Option<u64>) -> Result<Moment, Rejection> {
    let wanted = named_deadline(case, message);
    if wanted.is_some_and(|wanted| wanted <= case.now) {
        let message = format!("the deadline is over: it is {} here", case.machine);
        return Err(Rejection::because(Code::OutOfRange, message).at("/deadline").by(SPEC));
    }
    Ok(latest(case.policy, case.state, case.now, parent, wanted))
}

/// The code of a finding about a deadline that is cut to that of the task above.
const SHORTENED: &str = "deadline_shortened";
/// The code of a finding about grants of which the tasks above leave less.
const NARROWED: &str = "grants_narrowed";

/// Adds a finding, for sender and assignee, where a task is due before the deadline that its delegation says.
fn note_shortened(message: &Message, due: Moment, ruling: &mut Ruling) {
    if message.deadline.as_ref().map(Moment::of).is_some_and(|wanted| wanted > due) {
        let text = format!(
            "{} is due at {due}: no later than what it is a part of, or than it was due before.",
            message.task_id
        );
        ruling.find_at("cap.delegation", SHORTENED, text, "/deadline");
    }
}

/// Adds a finding, for sender and assignee, for tools and scopes that a delegation grants and the tasks above do not pass on.
fn note_narrowed(case: &Case<'_>, message: &Message, parent: Option<u64>, ruling: &mut Ruling) {
    let (Some(grants), kept) = (&message.grants, &case.state.rules.cap) else { return };
    let above: Vec<_> = parent.into_iter().flat_map(|parent| kept.grants(parent)).collect();
    // Strictly, nobody passes on what it is not bound to itself.
    let own = case.speaker.agent().filter(|_| case.policy.narrowing == Narrowing::Strict);
    let own = own.map(|agent| kept.rights(agent).map(Cow::into_owned).unwrap_or_default());
    let binds = |has: &dyn Fn(&Binding) -> bool| own.as_ref().is_none_or(|own| own.bindings.values().any(has));
    let tool_is_left = |tool: &String| {
        above.iter().all(|grant| grant.allows_tool(tool)) && binds(&|binding| binding.tools.contains(tool))
    };
    let scope_is_left = |scope: &String| {
        above.iter().all(|grant| grant.allows_scope(scope)) && binds(&|binding| binding.scopes.contains(scope))
    };
    narrowed("tools", grants.tools.as_deref(), tool_is_left, ruling);
    narrowed("scopes", grants.scopes.as_deref(), scope_is_left, ruling);
}

fn narrowed(name: &str, granted: Option<&[String]>, is_left: impl Fn(&String) -> bool, ruling: &mut Ruling) {
    let (left, lost): (Vec<_>, Vec<_>) = granted.into_iter().flatten().partition(|one| is_left(one));
    if lost.is_empty() {
        return;
    }
    let listed = |all: &[&String]| all.iter().map(|one| format!("{one:?}")).collect::<Vec<_>>().join(", ");
    let left = if left.is_empty() { "none".to_owned() } else { listed(&left) };
    let text = format!("The sender cannot pass on the {name} {}: of those granted, this leaves {left}.", listed(&lost));
    ruling.find_at("cap.delegation", NARROWED, text, &format!("/grants/{name}"));
}

/// Puts findings about changed terms beside what the exchange says for a delegation, too: its assignee reads only that.
pub(crate) fn mark_changed_terms(ruling: &mut Ruling) {
    let is_change = |found: &&Finding| [SHORTENED, NARROWED].contains(&found.code.as_str());
    let changed: Vec<_> = ruling.findings.iter().filter(is_change).cloned().collect();
    if changed.is_empty() {
        return;
    }
    let is_translation = |heard: &&mut Heard| heard.changes.iter().any(|change| change.translation().is_some());
    ruling.heard.iter_mut().filter(is_translation).for_each(|heard| heard.findings.extend_from_slice(&changed));
}

/// The deadline somebody wants, or the usual one, within that of the task above.
pub(super) fn latest(
    policy: &Policy,
    state: &State,
    now: Moment,
    parent: Option<u64>,
    wanted: Option<Moment>,
) -> Moment {
    let wanted = wanted.unwrap_or_else(|| now.plus(policy.task_deadline));
    let above = parent.and_then(|parent| state.rules.cap.task(parent)).map(|above| above.deadline);
    above.map_or(wanted, |above| wanted.min(above))
}
