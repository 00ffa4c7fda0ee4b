//! What of a held message waits with it. It changes nothing but itself until it goes on: what it would do to others is
//! done then, and what the exchange says because of it is said then. Refused, it never does. What cannot wait is refused
//! at once.

use super::hold::{Lifter, Reason};
use super::{Case, Change, Heard, Ruling, acl, cap, vcp, vlp};
use legation_protocol::Rejection;

/// Leaves for later what a message does that is held.
pub(super) fn settle(case: &Case<'_>, ruling: &mut Ruling) -> Result<(), Rejection> {
    cap::must_not_wait(case)?;
    vcp::must_not_wait(case.received.message())?;
    ruling.changes.iter_mut().for_each(Change::hold);
    let for_a_person = ruling.reasons.iter().any(|reason| reason.lifts == Lifter::Person);
    let all = std::mem::take(&mut ruling.changes).into_iter();
    (ruling.later, ruling.changes) = all.partition(|change| waits(change, for_a_person));
    ruling.later.extend(ruling.changes.iter_mut().filter_map(|change| acl::ask_later(case, change)));
    // What it lifts goes on when it does.
    ruling.released.clear();
    for heard in &mut ruling.heard {
        wait_with(case.state.next, for_a_person, heard);
    }
    Ok(())
}

/// What the exchange says because of a held message waits with it. Work is shown to its overseer at once, unless a person
/// looks at it first.
fn wait_with(message: u64, for_a_person: bool, heard: &mut Heard) {
    if heard.shows {
        if for_a_person {
            let says = format!("a person looks at the message in entry {message} first, which it shows");
            heard.held.push(Reason { code: "shown".to_owned(), says, lifts: Lifter::Cleared(message) });
        }
        return;
    }
    // A translation is known from now on: answers to it are told from strays.
    if heard.changes.iter().any(|change| change.translation().is_some()) {
        return;
    }
    heard.later = std::mem::take(&mut heard.changes);
    let says = format!("waits with the message in entry {message}, because of which it is said");
    heard.held.push(Reason { code: "said_because".to_owned(), says, lifts: Lifter::Original(message) });
}

/// Whether a change is of more than the message itself. `for_a_person` is whether a person has to look at it; an author
/// may take its own work back by what waits for an overseer alone.
fn waits(change: &Change, for_a_person: bool) -> bool {
    match change {
        Change::Hold(_) => for_a_person,
        Change::Cap(change) => waits_in_cap(change),
        // A session knows which of what is said in it is held, and a reference stands beside the message.
        Change::Acl(acl::Change::Opened(_))
        | Change::Translated(_)
        | Change::Vlp(vlp::Change::Spoke(_) | vlp::Change::Refers { .. } | vlp::Change::Forgotten { .. }) => false,
        Change::Vcp(_)
        | Change::Acl(
            acl::Change::Moved(_)
            | acl::Change::Declined { .. }
            | acl::Change::Passed { .. }
            | acl::Change::Waits { .. },
        )
        | Change::Vlp(vlp::Change::Halted(_) | vlp::Change::Released { .. } | vlp::Change::Unheard { .. })
        | Change::BrokenOff { .. }
        | Change::Extension(_)
        | Change::Identity(_) => true,
    }
}

/// A task whose delegation is held is there, and binds nobody; that something was said in a task is known; and so is
/// what waits for an overseer.
fn waits_in_cap(change: &cap::Change) -> bool {
    match change {
        cap::Change::Opened(_) | cap::Change::Waits { .. } | cap::Change::Said { user: None, .. } => false,
        cap::Change::Said { user: Some(_), .. }
        | cap::Change::Repeated { .. }
        | cap::Change::Shown { .. }
        | cap::Change::Requested { .. }
        | cap::Change::Stranded { .. }
        | cap::Change::Finished { .. }
        | cap::Change::Erred { .. }
        | cap::Change::Expired { .. }
        | cap::Change::Closed { .. }
        | cap::Change::Retried { .. }
        | cap::Change::Reassigned { .. }
        | cap::Change::Escalated { .. } => true,
    }
}
