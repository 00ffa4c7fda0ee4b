//! A held message changes nothing but itself until it goes on, and then all that it was to change; refused, nothing.

use super::order::By;
use super::{Check, Model, ensure};
use crate::asked::Asked;
use crate::letter::{Letter, Says};
use legation_exchange::rules::hold::Lifter;
use legation_exchange::rules::{Change, acl, cap, hold, vlp};
use legation_exchange::{Accepted, State};

impl Model {
    /// What an entry with a held message changes at once is of that message alone.
    pub(super) fn changes_nothing_else(
        &mut self,
        position: u64,
        letter: Option<&Letter>,
        accepted: &Accepted,
    ) -> Check {
        let ruled = &accepted.ruled;
        if ruled.held.is_empty() {
            return ensure(ruled.later.is_empty(), || format!("{position} is not held, and changes something later"));
        }
        let for_a_person = ruled.held.iter().any(|reason| reason.lifts == Lifter::Person);
        let decides = letter.is_some_and(|letter| matches!(letter.says, Says::Decides { .. }));
        ensure(!decides, || format!("{position} decides, and waits for somebody"))?;
        let other = ruled.changes.iter().find(|change| !is_own(change, for_a_person));
        ensure(other.is_none(), || format!("{position} is held, and changes more than itself: {other:?}"))?;
        if letter.is_some_and(Letter::is_held_back) {
            self.counts.suspected += 1;
        }
        if !ruled.later.is_empty() {
            self.later.insert(position, (letter.map(|letter| letter.number), ruled.later.clone()));
        }
        Ok(())
    }

    /// A held message went on: what it changes now.
    pub(super) fn come_to_pass(&mut self, asked: &Asked, message: u64) -> Check {
        let Some((letter, mut changes)) = self.later.remove(&message) else { return Ok(()) };
        let is_late = |change: &Change| matches!(change, Change::Acl(change) if self.is_too_late(change));
        // Whoever asked hears one answer. What says twice that something is taken on may say more.
        let ends = changes.iter().rev().find(|change| matches!(change, Change::Acl(acl::Change::Moved(_))));
        ensure(!ends.is_some_and(is_late), || format!("{message} went on, and what it answers was over"))?;
        changes.retain(|change| !is_late(change));
        match letter {
            Some(number) => self.changes(asked, message, &changes, &By::Letter(asked.letter(number)?)),
            None => self.changes(asked, message, &changes, &By::Exchange),
        }
    }

    /// Nothing is kept for what is held no longer, and no result is held of a task that ended without it. One of a part waits
    /// on when that ended with what it is part of, and is looked at when it would go on.
    pub(super) fn nothing_else_waits(&self, state: &State) -> Check {
        let left = state.rules().deferred.messages().find(|message| !self.holds.contains_key(message));
        ensure(left.is_none(), || format!("{left:?} is not held, and something waits with it"))?;
        let held = self.later.iter().filter(|(message, _)| self.holds.contains_key(message));
        for (message, (_, changes)) in held {
            let finishes = changes.iter().find_map(|change| match change {
                Change::Cap(cap::Change::Finished { task }) => Some(*task),
                _ => None,
            });
            let late = finishes.is_some_and(|task| self.has_ended_since(task, *message));
            ensure(!late, || format!("{message} is held, and its task ended without it"))?;
        }
        Ok(())
    }

    /// A held message does not go on, and nor does what the exchange said because of it.
    pub(super) fn call_off(&mut self, message: u64) {
        self.later.remove(&message);
        self.no_delegation(message);
        self.drop_said(message, &[Lifter::Original(message), Lifter::Cleared(message)]);
    }

    /// What was said because of a message, and waits for this, goes nowhere.
    pub(super) fn drop_said(&mut self, message: u64, lifts: &[Lifter]) {
        let waits = |held: &super::holds::Held| lifts.iter().any(|lifts| held.waits_for(lifts));
        let said = self.holds.range(message..).filter(|(_, held)| waits(held));
        for said in said.map(|(said, _)| *said).collect::<Vec<_>>() {
            self.holds.remove(&said);
            self.later.remove(&said);
            self.ended.insert(said);
        }
    }
}

/// Whether a change is of the message alone that it is part of. Its author may take back its own work by what waits for
/// an overseer and no person.
fn is_own(change: &Change, for_a_person: bool) -> bool {
    match change {
        Change::Cap(cap::Change::Opened(opened)) => opened.waits,
        Change::Vlp(vlp::Change::Spoke(spoke)) => spoke.held,
        Change::Hold(hold::Change::Refused { .. }) => !for_a_person,
        Change::Cap(change) => matches!(change, cap::Change::Waits { .. } | cap::Change::Said { user: None, .. }),
        Change::Acl(change) => matches!(change, acl::Change::Opened(_)),
        Change::Vlp(change) => matches!(change, vlp::Change::Refers { .. } | vlp::Change::Forgotten { .. }),
        Change::Translated(translation) => translation.waits,
        Change::Hold(_) | Change::Vcp(_) | Change::BrokenOff { .. } | Change::Extension(_) | Change::Identity(_) => {
            false
        }
    }
}
