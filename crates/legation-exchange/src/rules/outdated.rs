//! Held answers that have come too late. When a conversation moves on without one, or a task ends without one, it never
//! goes on: whoever asked hears one answer. Its sender is told.

use super::{Change, Ruling, acl, cap, hold};
use crate::agent::Agent;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use std::collections::{BTreeMap, BTreeSet};

/// Refuses what is held and fits no longer, once all that a ruling does is done.
pub(super) fn look(state: &State, policy: &Policy, now: Moment, ruling: &mut Ruling) {
    if state.rules.deferred.is_empty() {
        return;
    }
    decline(state, policy, now, ruling);
    let after = After::of(state, ruling);
    let refused: BTreeSet<_> = ruling.changes.iter().filter_map(Change::refused).collect();
    let waits = |message: &u64| !refused.contains(message) && !ruling.released.contains(message);
    let late: Vec<_> = after.outdated(state).filter(waits).collect();
    refuse(state, policy, late, ruling);
}

/// The same of what a ruling without a message releases: what waited from a time when nobody looked at this.
pub(crate) fn look_at_released(state: &State, policy: &Policy, now: Moment, ruling: &mut Ruling) {
    let (released, late) = std::mem::take(&mut ruling.released).into_iter().partition(|message| {
        let changes = state.rules.deferred.changes_of(*message);
        After::default().takes(state, *message, changes)
    });
    ruling.released = released;
    refuse(state, policy, late, ruling);
    look(state, policy, now, ruling);
}

fn refuse(state: &State, policy: &Policy, late: Vec<u64>, ruling: &mut Ruling) {
    let rest = std::mem::take(&mut ruling.changes);
    for message in late {
        let by_us = ("the exchange".to_owned(), "what it answers went on without it".to_owned());
        hold::turn_back(state, policy, message, by_us, ruling);
    }
    // First: what a refusal gives back to a translated request, the rest of the ruling may take again.
    ruling.changes.extend(rest);
}

/// Members of a group whose held words go on now have declined. If they were the last, the group has.
fn decline(state: &State, policy: &Policy, now: Moment, ruling: &mut Ruling) {
    let deferred = &state.rules.deferred;
    let mut declined: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for change in ruling.released.iter().flat_map(|message| deferred.changes_of(*message)) {
        if let Change::Acl(acl::Change::Declined { talk, by }) = change {
            declined.entry(*talk).or_default().insert(by);
        }
    }
    let own = ruling.released.iter().flat_map(|message| deferred.changes_of(*message));
    let moved: BTreeSet<_> = own.chain(&ruling.changes).filter_map(Change::moved).map(|moved| moved.talk).collect();
    declined.retain(|talk, _| !moved.contains(talk));
    for (position, by) in declined {
        acl::has_declined(state, policy, now, position, &by, ruling);
    }
}

/// How conversations and tasks stand once a ruling is done, where it moves them.
#[derive(Default)]
struct After {
    talks: BTreeMap<u64, acl::Stage>,
    ended: BTreeSet<u64>,
}

impl After {
    fn of(state: &State, ruling: &Ruling) -> After {
        let mut after = After::default();
        let released = ruling.released.iter().flat_map(|message| state.rules.deferred.changes_of(*message));
        for change in ruling.changes.iter().chain(released) {
            after.ended.extend(change.ends());
            if let Some(moved) = change.moved() {
                after.talks.insert(moved.talk, moved.to);
            }
        }
        after
    }

    fn outdated<'s>(&'s self, state: &'s State) -> impl Iterator<Item = u64> + 's {
        let idle = self.talks.is_empty() && self.ended.is_empty();
        let held = state.rules.deferred.iter().take(if idle { 0 } else { usize::MAX });
        held.filter(|(message, changes)| !self.takes(state, *message, changes)).map(|(message, _)| message)
    }

    /// Whether a held message is the result of a task that has ended, also where its author is gone; or an overseer's word on
    /// one that was handed over again since.
    fn has_ended(&self, state: &State, message: u64, task: u64) -> bool {
        let (Some(known), Some(hold)) = (state.rules.cap.task(task), state.rules.holds.get(message)) else {
            return false;
        };
        let is_over = !known.is_open() || self.ended.contains(&task);
        let is_again = known.handed > message;
        // Another may have the name of whoever worked on it then.
        let is_new = |assignee: &Agent| assignee.since > message;
        match state.registry.since(hold.from) {
            Some(author) if author.id == known.assignee => is_over,
            Some(_) => is_again,
            None => is_again || (is_over && state.registry.agent(&known.assignee).is_none_or(is_new)),
        }
    }

    /// Whether a held message still says something that was not said: the last step it takes fits.
    fn takes(&self, state: &State, message: u64, changes: &[Change]) -> bool {
        if changes.iter().filter_map(Change::finishes).any(|task| self.has_ended(state, message, task)) {
            return false;
        }
        let mut fits = true;
        let mut own = self.talks.clone();
        for moved in changes.iter().filter_map(Change::moved) {
            let Some(talk) = state.rules.acl.get(moved.talk) else { return false };
            let stands = own.entry(moved.talk).or_insert(talk.stage);
            fits = stands.takes(talk.opening.act, moved.to);
            if fits {
                *stands = moved.to;
            }
        }
        fits
    }
}

impl Change {
    fn moved(&self) -> Option<&acl::Moved> {
        if let Change::Acl(acl::Change::Moved(moved)) = self { Some(moved) } else { None }
    }

    fn refused(&self) -> Option<u64> {
        if let Change::Hold(change) = self { change.refuses() } else { None }
    }

    fn finishes(&self) -> Option<u64> {
        if let Change::Cap(cap::Change::Finished { task }) = self { Some(*task) } else { None }
    }

    /// The task that ends by it.
    fn ends(&self) -> Option<u64> {
        use cap::Change::{Closed, Erred, Expired, Finished, Reassigned};
        match self {
            Change::Cap(
                Finished { task }
                | Erred { task, fails: true, .. }
                | Expired { task }
                | Closed { task }
                | Reassigned { task, .. },
            ) => Some(*task),
            Change::Cap(_)
            | Change::Hold(_)
            | Change::Vcp(_)
            | Change::Acl(_)
            | Change::Vlp(_)
            | Change::Translated(_)
            | Change::BrokenOff { .. }
            | Change::Extension(_)
            | Change::Identity(_) => None,
        }
    }
}
