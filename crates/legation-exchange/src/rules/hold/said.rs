//! What the exchange says because of a held message: it waits with it, and goes where it goes. Work that a person has to see
//! first is shown to its overseer afterwards.

use super::{Hold, Holds, Lifter};

impl Holds {
    /// It does not go on, and nor does what is said because of it. Says what that is.
    pub(crate) fn refuse(&mut self, message: u64) -> Vec<u64> {
        let with = self.said_with(message);
        for one in with.iter().chain([&message]) {
            self.take(*one);
            self.refused.insert(*one);
        }
        with
    }

    /// It goes on, and so does what is said because of it; nobody need be shown it any more.
    pub(crate) fn go_on(&mut self, message: u64) {
        let by = self.held.get(&message).and_then(|hold| hold.approved_by.clone());
        for said in self.said_with(message) {
            self.lift(said, &Lifter::Original(message));
            if let Some(by) = &by {
                self.note_approval(said, by);
            }
            if self.held.get(&said).is_some_and(|hold| hold.waits_for(&Lifter::Cleared(message))) {
                self.refuse(said);
            }
        }
        self.take(message);
    }

    /// What was said because of a held message and waits with it: nothing that is held lies between.
    pub(crate) fn said_with(&self, message: u64) -> Vec<u64> {
        let with = [Lifter::Original(message), Lifter::Cleared(message)];
        let waits = |hold: &Hold| with.iter().any(|lifts| hold.waits_for(lifts));
        let said = self.held.range(message.saturating_add(1)..);
        let said = said.take_while(|(_, hold)| hold.reasons.is_empty() || waits(hold));
        said.filter(|(_, hold)| waits(hold)).map(|(said, _)| *said).collect()
    }

    /// A person has approved it: its overseer may look at it now, if one is to decide.
    pub(super) fn clear(&mut self, message: u64) {
        let Some(hold) = self.held.get(&message) else { return };
        let awaits_overseer = hold.reasons.iter().any(|reason| matches!(reason.lifts, Lifter::Overseer(_)));
        if hold.is_review() || !awaits_overseer {
            return;
        }
        for said in self.said_with(message) {
            self.lift(said, &Lifter::Cleared(message));
        }
    }
}
