//! What a held message would have moved. A conversation or a task stands still while an answer in it waits for
//! somebody's word: it moves when the answer goes on, and not at all if it does not.

use super::{Change, acl, cap, vcp};
use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::Duration;

/// What waits, by the entry of the message that is held.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Deferred(BTreeMap<u64, Waiting>);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Waiting {
    since: Moment,
    changes: Vec<Change>,
}

impl Deferred {
    /// Keeps what of these changes waits with the message, and gives back the rest.
    pub(crate) fn keep<'c>(&mut self, message: u64, since: Moment, changes: &'c [Change]) -> Vec<&'c Change> {
        let (later, now): (Vec<_>, Vec<_>) = changes.iter().partition(|change| waits(change));
        if !later.is_empty() {
            self.0.insert(message, Waiting { since, changes: later.into_iter().cloned().collect() });
        }
        now
    }

    /// The message goes on: what it changes now.
    pub(crate) fn take(&mut self, message: u64, now: Moment) -> Vec<Change> {
        let Some(Waiting { since, mut changes }) = self.0.remove(&message) else { return Vec::new() };
        let held = Duration::from_micros(now.micros().saturating_sub(since.micros()));
        for change in &mut changes {
            later(change, held);
        }
        changes
    }

    /// The message does not go on.
    pub(crate) fn drop_one(&mut self, message: u64) {
        self.0.remove(&message);
    }

    /// Those that were erased change nothing.
    pub(crate) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        self.0.retain(|message, _| !is_erased(*message));
    }
}

/// Whether a change moves what others wait for.
fn waits(change: &Change) -> bool {
    match change {
        Change::Acl(change) => match change {
            acl::Change::Moved(_) | acl::Change::Declined { .. } => true,
            acl::Change::Opened(_) | acl::Change::Waits { .. } => false,
        },
        Change::Cap(cap::Change::Finished { .. } | cap::Change::Erred { .. })
        | Change::Vcp(vcp::Change::ConstitutionAnnounced(_) | vcp::Change::ContextShared(_)) => true,
        Change::Cap(_)
        | Change::Hold(_)
        | Change::Vcp(_)
        | Change::Vlp(_)
        | Change::Translated(_)
        | Change::BrokenOff { .. }
        | Change::Extension(_)
        | Change::Identity(_) => false,
    }
}

/// The time of a message stops while it is held, and so does what it says about time.
fn later(change: &mut Change, held: Duration) {
    let Change::Acl(acl::Change::Moved(moved)) = change else { return };
    if let Some(due) = &mut moved.due {
        due.at = due.at.plus(held);
    }
    moved.until = moved.until.map(|until| until.plus(held));
    moved.estimate = moved.estimate.map(|estimate| estimate.plus(held));
}
