//! The steps of a task: handed over, handed over again, done, failed, late, taken to somebody else.

use super::{Mover, Told, named};
use legation_exchange::rules::cap::{Change, Escalation};

/// What a message does about tasks: it hands one over, or moves another.
pub(super) fn own(change: &Change, is_held: bool) -> Option<Told> {
    let later = if is_held { ", once nothing holds it" } else { "" };
    match change {
        Change::Opened(opened) => {
            let says = format!(
                "It handed the task {:?} to {:?}, to be done by {}.",
                opened.id, opened.assignee, opened.deadline
            );
            Some(("opened", says))
        }
        Change::Repeated { task } => Some(("moves", format!("It hands the task that entry {task} opened over again."))),
        Change::Finished { task } => {
            Some(("moves", format!("The task that entry {task} opened is done with it{later}.")))
        }
        Change::Erred { task, code, fails, .. } => {
            let fails = if *fails { ", which fails by it" } else { "" };
            Some(("moves", format!("It reports the error {code} in the task that entry {task} opened{fails}{later}.")))
        }
        Change::Waits { .. }
        | Change::Said { .. }
        | Change::Shown { .. }
        | Change::Requested { .. }
        | Change::Stranded { .. }
        | Change::Expired { .. }
        | Change::Closed { .. }
        | Change::Retried { .. }
        | Change::Reassigned { .. }
        | Change::Escalated { .. } => None,
    }
}

/// What happened to a task later.
pub(super) fn since(change: &Change, mover: &Mover<'_>) -> Option<Told> {
    let (by, message) = (mover.by, mover.message());
    let says = match change {
        Change::Repeated { .. } => format!("{by} handed the task over again{message}."),
        // A result that waited for a word is told once it has gone on.
        Change::Finished { .. } | Change::Waits { is_final: true, .. } => {
            format!("The task was done: by {by}{message}.")
        }
        Change::Erred { by, code, fails, .. } => {
            let fails = if *fails { " The task failed by it." } else { "" };
            format!("{by} reported the error {code}{message}.{fails}")
        }
        Change::Expired { .. } => "The task was not done in time.".to_owned(),
        Change::Closed { .. } => "The task was closed: whoever it was done for is gone.".to_owned(),
        Change::Retried { deadline, .. } => format!("{by} handed the task over again, to be done by {deadline}."),
        Change::Reassigned { to, deadline, .. } => {
            format!("{by} handed the task to {to:?} instead, to be done by {deadline}.")
        }
        Change::Escalated { to: Escalation::Party(to), .. } => format!("{by} took the task to {}.", named(Some(to))),
        Change::Escalated { to: Escalation::Operator, .. } => format!("{by} took the task to {}.", named(None)),
        Change::Opened(_)
        | Change::Waits { .. }
        | Change::Said { .. }
        | Change::Shown { .. }
        | Change::Requested { .. }
        | Change::Stranded { .. } => return None,
    };
    Some(("task", says))
}
