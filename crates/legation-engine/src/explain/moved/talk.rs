//! The steps of a conversation: opened, declined, and where each answer took it.

use super::{Mover, Told};
use legation_exchange::rules::acl::{Change, Moved};

/// What a message does about conversations: it opens one, or moves another's.
pub(super) fn own(change: &Change, is_held: bool) -> Option<Told> {
    let later = if is_held { ", once nothing holds it" } else { "" };
    match change {
        Change::Opened(opening) => {
            let offered: Vec<_> = opening.offered.iter().map(|agent| format!("{agent:?}")).collect();
            let says =
                format!("It opened a conversation ({}), for {} to answer.", opening.act.as_str(), offered.join(" or "));
            Some(("opened", says))
        }
        Change::Moved(moved) => {
            let says =
                format!("It takes the conversation that entry {} opened to {}{later}.", moved.talk, stands(moved));
            Some(("moves", says))
        }
        Change::Declined { talk, .. } => {
            let says = format!("It declines what entry {talk} asked for{later}; others of the group may take it on.");
            Some(("moves", says))
        }
        Change::Passed { .. } | Change::Waits { .. } => None,
    }
}

/// What happened in a conversation later.
pub(super) fn since(change: &Change, mover: &Mover<'_>) -> Option<Told> {
    match change {
        Change::Moved(step) => {
            let by = step.by.as_ref().map_or_else(|| "The exchange".to_owned(), |by| format!("{by:?}"));
            let estimate = step.estimate.map(|at| format!(" It was to be done by {at}.")).unwrap_or_default();
            let says = format!("{by} took the conversation to {}{}.{estimate}", stands(step), mover.message());
            Some(("conversation", says))
        }
        Change::Declined { by, .. } => {
            let says = format!("{by:?} declined{}; others of the group may take it on.", mover.message());
            Some(("conversation", says))
        }
        Change::Passed { to, .. } => Some(("conversation", format!("It is {to:?} who is to answer from now on."))),
        Change::Opened(_) | Change::Waits { .. } => None,
    }
}

/// Where it stands, and what came of it in a word.
fn stands(moved: &Moved) -> String {
    match &moved.outcome {
        Some(outcome) => format!("{} ({outcome})", moved.to.as_str()),
        None => moved.to.as_str().to_owned(),
    }
}
