//! What of a mailbox has been read and done by a client and its clones. A mailbox lists by positions that only
//! rise, so whatever lies at or below the highest one seen and is not open is done: nothing needs to be
//! remembered of it, and it is never handed out again. Positions count within an epoch: in another, nothing
//! is known.

use crate::mark::{Epoch, Mark};
use std::collections::BTreeMap;

/// What has been read and done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Journal {
    epoch: Option<Epoch>,
    highest: Option<u64>,
    open: BTreeMap<u64, Open>,
}

/// A message that is not done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// Somebody has it.
    Out,
    /// Nobody has it: it was withheld, or left by a reader that ended.
    Left,
}

/// What to do with a message that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Hand it out.
    Wanted,
    /// Somebody has it.
    Out,
    /// It is done: only the acknowledgement has not arrived.
    Done,
}

/// What the epoch that the record is in means for what is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bound {
    /// It holds.
    Same,
    /// The record was restored: nothing is known of it any more.
    Anew,
}

impl Journal {
    /// The record is in this epoch.
    pub(crate) fn bind(&mut self, epoch: &Epoch) -> Bound {
        let known = self.epoch.replace(epoch.clone());
        if known.is_none_or(|known| known == *epoch) {
            return Bound::Same;
        }
        (self.highest, self.open) = (None, BTreeMap::new());
        Bound::Anew
    }

    /// Whether positions of this epoch mean anything here.
    pub(crate) fn is_in(&self, epoch: &Epoch) -> bool {
        self.epoch.as_ref() == Some(epoch)
    }

    pub(crate) fn listed(&self, position: u64) -> Listed {
        match self.open.get(&position) {
            Some(Open::Out) => Listed::Out,
            None if self.highest.is_some_and(|highest| position <= highest) => Listed::Done,
            Some(Open::Left) | None => Listed::Wanted,
        }
    }

    /// It is handed out.
    pub(crate) fn hand_out(&mut self, position: u64) {
        self.see(position);
        self.open.insert(position, Open::Out);
    }

    /// It is kept back.
    pub(crate) fn leave(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.see(mark.position);
            self.open.insert(mark.position, Open::Left);
        }
    }

    /// Nobody has what was out: their reader ended.
    pub(crate) fn leave_all(&mut self) {
        self.open.values_mut().for_each(|open| *open = Open::Left);
    }

    /// It is done.
    pub(crate) fn done(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.see(mark.position);
            self.open.remove(&mark.position);
        }
    }

    /// All up to this mark is done.
    pub(crate) fn done_up_to(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.see(mark.position);
            self.open.retain(|open, _| *open > mark.position);
        }
    }

    /// Where to read on so that nothing open is left out.
    pub(crate) fn cursor(&self) -> Option<u64> {
        match self.open.first_key_value() {
            Some((first, _)) => first.checked_sub(1),
            None => self.highest,
        }
    }

    fn see(&mut self, position: u64) {
        self.highest = self.highest.max(Some(position));
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Journal, Listed};
    use crate::mark::{Epoch, Mark};

    fn mark(epoch: u32, position: u64) -> Mark {
        Mark { epoch: Epoch { epoch, restore: None }, position }
    }

    #[test]
    fn in_another_epoch_nothing_is_known() {
        let mut journal = Journal::default();
        assert_eq!(journal.bind(&mark(1, 0).epoch), Bound::Same);
        journal.hand_out(7);
        journal.done_up_to(&mark(1, 22));
        assert_eq!((journal.bind(&mark(1, 0).epoch), journal.listed(5)), (Bound::Same, Listed::Done));
        assert_eq!(journal.bind(&mark(2, 0).epoch), Bound::Anew);
        // Somebody was still at it.
        journal.done(&mark(1, 22));
        journal.leave(&mark(1, 21));
        assert_eq!((journal.listed(5), journal.cursor()), (Listed::Wanted, None));
        let fork = Epoch { restore: Some("aa".to_owned()), ..mark(2, 0).epoch };
        assert_eq!(journal.bind(&fork), Bound::Anew);
    }

    #[test]
    fn what_is_done_is_never_wanted_again() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        assert_eq!((journal.listed(7), journal.cursor()), (Listed::Wanted, None));
        journal.hand_out(7);
        journal.hand_out(9);
        journal.leave(&mark(1, 12));
        assert_eq!(
            [7, 9, 12, 13].map(|at| journal.listed(at)),
            [Listed::Out, Listed::Out, Listed::Wanted, Listed::Wanted]
        );
        assert_eq!(journal.cursor(), Some(6));
        journal.done(&mark(1, 7));
        assert_eq!((journal.listed(7), journal.cursor()), (Listed::Done, Some(8)));
        journal.leave_all();
        assert_eq!((journal.listed(9), journal.listed(7)), (Listed::Wanted, Listed::Done));
        journal.done_up_to(&mark(1, 12));
        assert_eq!((journal.listed(9), journal.listed(12), journal.cursor()), (Listed::Done, Listed::Done, Some(12)));
        assert_eq!(journal.open.len(), 0);
    }
}
