//! What held messages are to change. It comes to pass when the message goes on, and not at all if it does not.

use super::{Change, Ruled, acl, cap, vcp};
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
    /// Keeps what waits with a held message, and gives back what does not.
    pub(crate) fn keep<'c>(&mut self, message: u64, since: Moment, ruled: &'c Ruled) -> Vec<&'c Change> {
        let (later, now): (Vec<_>, Vec<_>) = ruled.changes.iter().partition(|change| waits(change));
        let changes: Vec<_> = later.into_iter().chain(&ruled.later).cloned().collect();
        if !changes.is_empty() {
            self.0.insert(message, Waiting { since, changes });
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

    /// Whether nothing waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The messages that something waits with.
    pub fn messages(&self) -> impl Iterator<Item = u64> {
        self.0.keys().copied()
    }

    /// What waits with each held message.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &[Change])> {
        self.0.iter().map(|(message, waiting)| (*message, waiting.changes.as_slice()))
    }

    /// What waits with this one.
    pub(crate) fn changes_of(&self, message: u64) -> &[Change] {
        self.0.get(&message).map_or(&[], |waiting| waiting.changes.as_slice())
    }

    /// Held messages that are to finish a task.
    pub(crate) fn results_of(&self, task: u64) -> impl Iterator<Item = u64> {
        let finishes =
            move |change: &Change| matches!(change, Change::Cap(cap::Change::Finished { task: own }) if *own == task);
        self.0.iter().filter(move |(_, waiting)| waiting.changes.iter().any(finishes)).map(|(message, _)| *message)
    }

    /// The message does not go on.
    pub(crate) fn drop_one(&mut self, message: u64) {
        self.0.remove(&message);
    }

    /// An agent is gone: what was to be laid on it is not laid on another of its name.
    pub(crate) fn forget(&mut self, agent: &str) {
        let is_on =
            |change: &Change| matches!(change, Change::Vcp(vcp::Change::ConstraintsLaid(laid)) if laid.agent == agent);
        self.0.values_mut().for_each(|waiting| waiting.changes.retain(|change| !is_on(change)));
        self.0.retain(|_, waiting| !waiting.changes.is_empty());
    }

    /// Those that were erased change nothing.
    pub(crate) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        self.0.retain(|message, _| !is_erased(*message));
    }
}

/// Whether a change waits in an entry that does not say so itself, as older ones do not.
fn waits(change: &Change) -> bool {
    match change {
        Change::Acl(change) => match change {
            acl::Change::Moved(_) | acl::Change::Declined { .. } => true,
            acl::Change::Opened(_) | acl::Change::Passed { .. } | acl::Change::Waits { .. } => false,
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
    if let Change::Acl(acl::Change::Waits { due, .. }) = change {
        due.at = due.at.plus(held);
    }
    let Change::Acl(acl::Change::Moved(moved)) = change else { return };
    if let Some(due) = &mut moved.due {
        due.at = due.at.plus(held);
    }
    moved.until = moved.until.map(|until| until.plus(held));
    moved.estimate = moved.estimate.map(|estimate| estimate.plus(held));
}
