//! What of a mailbox has been read and done by a client and its clones. A mailbox lists by positions that only
//! rise, so whatever lies at or below the highest one seen and is not open is done: nothing needs to be
//! remembered of it, and it is never handed out again. Positions count within an epoch: in another, nothing
//! is known. One that was taken back while its sender was stopped comes again at another position: so for a while it is
//! remembered which messages are done.

use crate::mark::{Epoch, Mark};
use std::collections::{BTreeMap, BTreeSet};

/// What has been read and done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Journal {
    epoch: Option<Epoch>,
    highest: Option<u64>,
    open: BTreeMap<u64, Open>,
    /// The messages at positions that are out, by the entries that hold them.
    said: BTreeMap<u64, u64>,
    /// The newest messages that are done.
    did: BTreeSet<u64>,
    /// Those who read now. What one has that is not among them, nobody has.
    readers: BTreeSet<ReaderId>,
    next_reader: ReaderId,
}

/// How many messages are remembered that are done.
const DID: usize = 65_536;

/// One that reads, of those that share a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ReaderId(u64);

/// A message that is not done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Open {
    /// This reader has it, for as long as it reads.
    Out(ReaderId),
    /// Nobody has it: it was withheld.
    Left,
    /// Its handler has taken it, and its sender is still to be told so.
    Owed,
}

/// What to do with a message that is listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Listed {
    /// Hand it out.
    Wanted,
    /// Somebody has it, or it is taken and something is left to do about it.
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
    /// Somebody begins to read.
    pub(crate) fn begin(&mut self) -> ReaderId {
        let reader = self.next_reader;
        self.next_reader.0 += 1;
        self.readers.insert(reader);
        reader
    }

    /// This reader ended: nobody has what it had. What others have stays theirs.
    pub(crate) fn end(&mut self, reader: ReaderId) {
        self.readers.remove(&reader);
    }

    /// Whether something one had that ended lies no further than this, where whoever has read so far does not see it.
    pub(crate) fn has_left(&self, after: Option<u64>) -> bool {
        let Some(after) = after else { return false };
        self.open.range(..=after).any(|(_, open)| match open {
            Open::Out(reader) => !self.readers.contains(reader),
            Open::Left | Open::Owed => false,
        })
    }

    /// The record is in this epoch.
    pub(crate) fn bind(&mut self, epoch: &Epoch) -> Bound {
        let known = self.epoch.replace(epoch.clone());
        if known.is_none_or(|known| known == *epoch) {
            return Bound::Same;
        }
        (self.highest, self.open) = (None, BTreeMap::new());
        (self.said, self.did) = (BTreeMap::new(), BTreeSet::new());
        Bound::Anew
    }

    /// Whether positions of this epoch mean anything here.
    pub(crate) fn is_in(&self, epoch: &Epoch) -> bool {
        self.epoch.as_ref() == Some(epoch)
    }

    pub(crate) fn listed(&self, position: u64) -> Listed {
        match self.open.get(&position) {
            Some(Open::Out(reader)) if self.readers.contains(reader) => Listed::Out,
            Some(Open::Owed) => Listed::Out,
            None if self.highest.is_some_and(|highest| position <= highest) => Listed::Done,
            Some(Open::Out(_) | Open::Left) | None => Listed::Wanted,
        }
    }

    /// Whether the message that lies here is done, from where it lay before.
    pub(crate) fn did(&self, mark: &Mark, message: Option<u64>) -> bool {
        self.is_in(&mark.epoch) && message.is_some_and(|message| self.did.contains(&message))
    }

    /// Hands it out to this reader; says whether it did. Since it was listed, another may have it or have done it,
    /// the record may have been restored, and the reader may have ended.
    pub(crate) fn hand_out(&mut self, mark: &Mark, message: Option<u64>, reader: ReaderId) -> bool {
        let is_free = self.is_in(&mark.epoch) && self.listed(mark.position) == Listed::Wanted;
        if !is_free || !self.readers.contains(&reader) {
            return false;
        }
        self.see(mark.position);
        self.open.insert(mark.position, Open::Out(reader));
        if let Some(message) = message {
            self.said.insert(mark.position, message);
        }
        true
    }

    /// Whether this reader has it, and it is not done.
    pub(crate) fn has(&self, reader: ReaderId, mark: &Mark) -> bool {
        self.is_in(&mark.epoch) && self.open.get(&mark.position) == Some(&Open::Out(reader))
    }

    /// It is kept back.
    pub(crate) fn leave(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.see(mark.position);
            self.open.insert(mark.position, Open::Left);
        }
    }

    /// Its handler has taken it: it is not handed out again, and stays in the mailbox until it is done.
    pub(crate) fn owe(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.open.insert(mark.position, Open::Owed);
            self.remember(mark.position);
        }
    }

    /// It is done.
    pub(crate) fn done(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.see(mark.position);
            self.open.remove(&mark.position);
            self.remember(mark.position);
        }
    }

    /// All up to this mark is done.
    pub(crate) fn done_up_to(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.see(mark.position);
            self.open.retain(|open, _| *open > mark.position);
            let out: Vec<u64> = self.said.range(..=mark.position).map(|(position, _)| *position).collect();
            for position in out {
                self.remember(position);
            }
        }
    }

    /// The message that lies here is done.
    fn remember(&mut self, position: u64) {
        self.did.extend(self.said.remove(&position));
        if self.did.len() > DID {
            self.did.pop_first();
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
        let reader = journal.begin();
        assert!(journal.hand_out(&mark(1, 7), None, reader));
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
        let reader = journal.begin();
        assert!(journal.hand_out(&mark(1, 7), None, reader));
        assert!(journal.hand_out(&mark(1, 9), None, reader));
        journal.leave(&mark(1, 12));
        assert_eq!(
            [7, 9, 12, 13].map(|at| journal.listed(at)),
            [Listed::Out, Listed::Out, Listed::Wanted, Listed::Wanted]
        );
        assert_eq!(journal.cursor(), Some(6));
        journal.done(&mark(1, 7));
        assert_eq!((journal.listed(7), journal.cursor()), (Listed::Done, Some(8)));
        journal.end(reader);
        assert_eq!((journal.listed(9), journal.listed(7)), (Listed::Wanted, Listed::Done));
        journal.done_up_to(&mark(1, 12));
        assert_eq!((journal.listed(9), journal.listed(12), journal.cursor()), (Listed::Done, Listed::Done, Some(12)));
        assert_eq!(journal.open.len(), 0);
    }

    #[test]
    fn what_a_reader_has_is_left_when_it_ends_and_not_when_another_does() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let (first, second) = (journal.begin(), journal.begin());
        assert!(journal.hand_out(&mark(1, 1), None, first));
        assert!(journal.hand_out(&mark(1, 2), None, second));
        journal.end(first);
        assert_eq!([1, 2].map(|at| journal.listed(at)), [Listed::Wanted, Listed::Out]);
        assert_eq!([None, Some(0), Some(1), Some(2)].map(|after| journal.has_left(after)), [false, false, true, true]);
        assert!(journal.has(second, &mark(1, 2)) && !journal.has(second, &mark(1, 1)));
        // It was at it when it was ended.
        assert!(!journal.hand_out(&mark(1, 3), None, first));
        assert_eq!(journal.listed(3), Listed::Wanted);
        journal.done_up_to(&mark(1, 3));
        assert!(!journal.has(second, &mark(1, 2)), "another said that it is done");
        // Nobody has these, and nobody is to begin with them.
        journal.owe(&mark(1, 4));
        journal.leave(&mark(1, 5));
        assert!(!journal.has_left(Some(5)));
    }
    #[test]
    fn what_another_has_or_had_is_not_handed_out() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let (first, second) = (journal.begin(), journal.begin());
        for position in 1..=4 {
            assert!(journal.hand_out(&mark(1, position), None, first));
        }
        journal.done(&mark(1, 1));
        journal.owe(&mark(1, 2));
        journal.leave(&mark(1, 3));
        assert_eq!([1, 2, 3, 4].map(|at| journal.hand_out(&mark(1, at), None, second)), [false, false, true, false]);
        assert_eq!([1, 2, 4].map(|at| journal.listed(at)), [Listed::Done, Listed::Out, Listed::Out]);
        assert!(journal.has(first, &mark(1, 4)));
        // It was listed before the record was restored.
        journal.bind(&mark(2, 0).epoch);
        assert!(!journal.hand_out(&mark(1, 9), None, second));
        assert_eq!((journal.listed(5), journal.cursor()), (Listed::Wanted, None));
    }

    #[test]
    fn a_message_that_is_done_is_known_where_it_comes_again() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let reader = journal.begin();
        for position in [7, 9, 11] {
            assert!(journal.hand_out(&mark(1, position), Some(position), reader));
        }
        assert!(!journal.did(&mark(1, 20), Some(7)), "somebody has it");
        journal.done(&mark(1, 7));
        journal.owe(&mark(1, 9));
        let did = |journal: &Journal| [7, 9, 11, 20].map(|message| journal.did(&mark(1, 20), Some(message)));
        assert_eq!((did(&journal), journal.did(&mark(1, 20), None)), ([true, true, false, false], false));
        // It is done from where it lies now, too.
        assert!(journal.hand_out(&mark(1, 21), Some(3), reader));
        journal.done_up_to(&mark(1, 21));
        assert_eq!((did(&journal), journal.did(&mark(1, 30), Some(3))), ([true, true, true, false], true));
        assert!(journal.said.is_empty());
        journal.bind(&mark(2, 0).epoch);
        assert_eq!((did(&journal), journal.did.len()), ([false; 4], 0));
    }

    #[test]
    fn not_every_message_is_remembered_for_ever() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let reader = journal.begin();
        for position in 0..=super::DID as u64 {
            assert!(journal.hand_out(&mark(1, position), Some(position), reader));
            journal.done(&mark(1, position));
        }
        assert_eq!((journal.did.len(), journal.did.first()), (super::DID, Some(&1)));
    }
}
