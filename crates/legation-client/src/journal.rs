//! What of a mailbox has been read and done by a client and its clones. A mailbox lists by positions that only
//! rise, so whatever lies at or below the highest one seen and is not open is done: nothing needs to be
//! remembered of it, and it is never handed out again. Positions count within an epoch: in another, nothing
//! is known. One that was taken back while its sender was stopped comes again at another position: so it is known where
//! messages lie that are open, one is with one reader at a time wherever it lies, and for a while it is remembered which are
//! done.

use crate::mark::{Epoch, Mark};
use std::collections::{BTreeMap, BTreeSet};

/// What has been read and done.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Journal {
    epoch: Option<Epoch>,
    highest: Option<u64>,
    open: BTreeMap<u64, Open>,
    /// The messages that are open, by the entries that hold them, and where each lies.
    lies: BTreeSet<(u64, u64)>,
    /// The newest messages that their handler has taken.
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

/// A position that is not done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Open {
    stands: Standing,
    /// The message that lies there, where that is known.
    message: Option<u64>,
}

/// How a position stands that is not done with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    /// This reader has it, for as long as it reads.
    Out(ReaderId),
    /// Somebody had the message from where it lay before: what becomes of it there counts here too.
    Waits,
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

/// What became of a message that was to be handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Handed {
    /// The reader has it.
    Out,
    /// Another has it, or had it.
    Not,
    /// It is done, from where it lay before: it is to be acknowledged here too.
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
        self.open.range(..=after).any(|(_, open)| match open.stands {
            Standing::Out(_) | Standing::Waits => !self.is_had(open),
            Standing::Left | Standing::Owed => false,
        })
    }

    /// The record is in this epoch.
    pub(crate) fn bind(&mut self, epoch: &Epoch) -> Bound {
        let known = self.epoch.replace(epoch.clone());
        if known.is_none_or(|known| known == *epoch) {
            return Bound::Same;
        }
        (self.highest, self.open) = (None, BTreeMap::new());
        (self.lies, self.did) = (BTreeSet::new(), BTreeSet::new());
        Bound::Anew
    }

    /// Whether positions of this epoch mean anything here.
    pub(crate) fn is_in(&self, epoch: &Epoch) -> bool {
        self.epoch.as_ref() == Some(epoch)
    }

    pub(crate) fn listed(&self, position: u64) -> Listed {
        match self.open.get(&position) {
            Some(open) if self.is_had(open) => Listed::Out,
            None if self.highest.is_some_and(|highest| position <= highest) => Listed::Done,
            Some(_) | None => Listed::Wanted,
        }
    }

    /// Hands it out to this reader, unless somebody is at the message or has done it from where it lay before. Since it was
    /// listed, another may have it or have done it, the record may have been restored, and the reader may have ended.
    pub(crate) fn hand_out(&mut self, mark: &Mark, message: Option<u64>, reader: ReaderId) -> Handed {
        let is_free = self.is_in(&mark.epoch) && self.listed(mark.position) == Listed::Wanted;
        if !is_free || !self.readers.contains(&reader) {
            return Handed::Not;
        }
        self.see(mark.position);
        if message.is_some_and(|message| self.is_at_work(message)) {
            self.put(mark.position, Standing::Waits, message);
            return Handed::Not;
        }
        if self.did(mark, message) {
            self.close(mark.position);
            return Handed::Done;
        }
        self.put(mark.position, Standing::Out(reader), message);
        Handed::Out
    }

    /// Whether this reader has it, and it is not done.
    pub(crate) fn has(&self, reader: ReaderId, mark: &Mark) -> bool {
        let is_out = |open: &Open| open.stands == Standing::Out(reader);
        self.is_in(&mark.epoch) && self.open.get(&mark.position).is_some_and(is_out)
    }

    /// It is kept back, wherever it lies.
    pub(crate) fn leave(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.see(mark.position);
            for position in self.same(mark.position) {
                self.put(position, Standing::Left, None);
            }
        }
    }

    /// Its handler has taken it: it is not handed out again, and stays in the mailbox until it is done.
    pub(crate) fn owe(&mut self, mark: &Mark) {
        if self.is_in(&mark.epoch) {
            self.put(mark.position, Standing::Owed, None);
            self.remember(mark.position);
        }
    }

    /// It is done, wherever it lies. Says where that is, to be acknowledged there.
    pub(crate) fn done(&mut self, mark: &Mark) -> Vec<Mark> {
        if !self.is_in(&mark.epoch) {
            return vec![mark.clone()];
        }
        self.see(mark.position);
        let same = self.same(mark.position);
        self.remember(mark.position);
        for position in &same {
            self.close(*position);
        }
        same.into_iter().map(|position| Mark { position, ..mark.clone() }).collect()
    }

    /// All up to this mark is done. Says where beyond it some of that lies too.
    pub(crate) fn done_up_to(&mut self, mark: &Mark) -> Vec<Mark> {
        if !self.is_in(&mark.epoch) {
            return Vec::new();
        }
        self.see(mark.position);
        let mut beyond = Vec::new();
        while let Some(position) = self.open.first_key_value().map(|(first, _)| *first) {
            if position > mark.position {
                break;
            }
            beyond.extend(self.done(&Mark { position, ..mark.clone() }));
        }
        beyond.retain(|done| done.position > mark.position);
        beyond
    }

    /// Where to read on so that nothing open is left out.
    pub(crate) fn cursor(&self) -> Option<u64> {
        match self.open.first_key_value() {
            Some((first, _)) => first.checked_sub(1),
            None => self.highest,
        }
    }

    /// Whether the handler has taken the message that lies here, from where it lay before.
    fn did(&self, mark: &Mark, message: Option<u64>) -> bool {
        self.is_in(&mark.epoch) && message.is_some_and(|message| self.did.contains(&message))
    }

    /// Whether somebody has it, here or where it lies too.
    fn is_had(&self, open: &Open) -> bool {
        self.is_held(open.stands) || open.message.is_some_and(|message| self.is_at_work(message))
    }

    /// Whether somebody is at this message, wherever it lies.
    fn is_at_work(&self, message: u64) -> bool {
        let mut at = self.positions(message).filter_map(|position| self.open.get(&position));
        at.any(|open| self.is_held(open.stands))
    }

    fn is_held(&self, stands: Standing) -> bool {
        match stands {
            Standing::Out(reader) => self.readers.contains(&reader),
            Standing::Owed => true,
            Standing::Waits | Standing::Left => false,
        }
    }

    /// Where a message lies.
    fn positions(&self, message: u64) -> impl Iterator<Item = u64> {
        self.lies.range((message, 0)..=(message, u64::MAX)).map(|(_, position)| *position)
    }

    /// Where the message lies that lies here, this place among them.
    fn same(&self, position: u64) -> Vec<u64> {
        match self.open.get(&position).and_then(|open| open.message) {
            Some(message) => self.positions(message).collect(),
            None => vec![position],
        }
    }

    /// A position stands so. What was known of its message stays known.
    fn put(&mut self, position: u64, stands: Standing, message: Option<u64>) {
        let message = message.or_else(|| self.open.get(&position)?.message);
        self.close(position);
        self.open.insert(position, Open { stands, message });
        self.lies.extend(message.map(|message| (message, position)));
    }

    /// Nothing is left to do about a position.
    fn close(&mut self, position: u64) {
        if let Some(Open { message: Some(message), .. }) = self.open.remove(&position) {
            self.lies.remove(&(message, position));
        }
    }

    /// The handler has taken the message that lies here.
    fn remember(&mut self, position: u64) {
        self.did.extend(self.open.get(&position).and_then(|open| open.message));
        if self.did.len() > DID {
            self.did.pop_first();
        }
    }

    fn see(&mut self, position: u64) {
        self.highest = self.highest.max(Some(position));
    }
}

#[cfg(test)]
mod tests {
    use super::{Bound, Handed, Journal, Listed, ReaderId};
    use crate::mark::{Epoch, Mark};

    fn mark(epoch: u32, position: u64) -> Mark {
        Mark { epoch: Epoch { epoch, restore: None }, position }
    }

    fn hands_out(journal: &mut Journal, position: u64, message: Option<u64>, reader: ReaderId) -> bool {
        journal.hand_out(&mark(1, position), message, reader) == Handed::Out
    }

    #[test]
    fn in_another_epoch_nothing_is_known() {
        let mut journal = Journal::default();
        assert_eq!(journal.bind(&mark(1, 0).epoch), Bound::Same);
        let reader = journal.begin();
        assert!(hands_out(&mut journal, 7, None, reader));
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
        assert!(hands_out(&mut journal, 7, None, reader));
        assert!(hands_out(&mut journal, 9, None, reader));
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
        assert!(hands_out(&mut journal, 1, None, first));
        assert!(hands_out(&mut journal, 2, None, second));
        journal.end(first);
        assert_eq!([1, 2].map(|at| journal.listed(at)), [Listed::Wanted, Listed::Out]);
        assert_eq!([None, Some(0), Some(1), Some(2)].map(|after| journal.has_left(after)), [false, false, true, true]);
        assert!(journal.has(second, &mark(1, 2)) && !journal.has(second, &mark(1, 1)));
        // It was at it when it was ended.
        assert!(!hands_out(&mut journal, 3, None, first));
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
            assert!(hands_out(&mut journal, position, None, first));
        }
        journal.done(&mark(1, 1));
        journal.owe(&mark(1, 2));
        journal.leave(&mark(1, 3));
        assert_eq!([1, 2, 3, 4].map(|at| hands_out(&mut journal, at, None, second)), [false, false, true, false]);
        assert_eq!([1, 2, 4].map(|at| journal.listed(at)), [Listed::Done, Listed::Out, Listed::Out]);
        assert!(journal.has(first, &mark(1, 4)));
        // It was listed before the record was restored.
        journal.bind(&mark(2, 0).epoch);
        assert!(!hands_out(&mut journal, 9, None, second));
        assert_eq!((journal.listed(5), journal.cursor()), (Listed::Wanted, None));
    }

    #[test]
    fn a_message_that_is_done_is_known_where_it_comes_again() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let reader = journal.begin();
        for position in [7, 9, 11] {
            assert!(hands_out(&mut journal, position, Some(position), reader));
        }
        assert!(!journal.did(&mark(1, 20), Some(7)), "somebody has it");
        journal.done(&mark(1, 7));
        journal.owe(&mark(1, 9));
        let did = |journal: &Journal| [7, 9, 11, 20].map(|message| journal.did(&mark(1, 20), Some(message)));
        assert_eq!((did(&journal), journal.did(&mark(1, 20), None)), ([true, true, false, false], false));
        // It is done from where it lies now, too.
        assert!(hands_out(&mut journal, 21, Some(3), reader));
        journal.done_up_to(&mark(1, 21));
        assert_eq!((did(&journal), journal.did(&mark(1, 30), Some(3))), ([true, true, true, false], true));
        assert!(journal.lies.is_empty());
        journal.bind(&mark(2, 0).epoch);
        assert_eq!((did(&journal), journal.did.len()), ([false; 4], 0));
    }

    #[test]
    fn a_message_is_with_one_reader_wherever_it_lies_and_done_everywhere_at_once() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let (first, second) = (journal.begin(), journal.begin());
        assert!(hands_out(&mut journal, 7, Some(7), first));
        for (position, reader) in [(20, first), (21, second)] {
            assert_eq!(journal.hand_out(&mark(1, position), Some(7), reader), Handed::Not);
        }
        assert_eq!([7, 20, 21].map(|at| journal.listed(at)), [Listed::Out; 3]);
        assert!(!journal.has_left(Some(21)) && !journal.has(second, &mark(1, 21)));
        // Whoever was at it ended: it is for the next, from where it lies now.
        journal.end(first);
        assert_eq!(([7, 20, 21].map(|at| journal.listed(at)), journal.cursor()), ([Listed::Wanted; 3], Some(6)));
        assert!(journal.has_left(Some(21)));
        assert!(hands_out(&mut journal, 21, Some(7), second));
        assert!(!journal.has_left(Some(21)), "the second is at it");
        assert_eq!(journal.done(&mark(1, 21)), [7, 20, 21].map(|at| mark(1, at)));
        assert_eq!((journal.listed(7), journal.cursor()), (Listed::Done, Some(21)));
        assert_eq!(journal.hand_out(&mark(1, 30), Some(7), second), Handed::Done);
        assert_eq!((journal.listed(30), journal.open.len(), journal.lies.len()), (Listed::Done, 0, 0));
    }

    #[test]
    fn what_its_handler_took_waits_elsewhere_until_its_sender_is_told() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let reader = journal.begin();
        assert!(hands_out(&mut journal, 7, Some(7), reader));
        journal.owe(&mark(1, 7));
        assert_eq!(journal.hand_out(&mark(1, 20), Some(7), reader), Handed::Not);
        journal.end(reader);
        assert_eq!((journal.listed(20), journal.has_left(Some(20))), (Listed::Out, false));
        assert_eq!(journal.done(&mark(1, 7)), [7, 20].map(|at| mark(1, at)));
    }

    #[test]
    fn what_is_withheld_is_withheld_wherever_it_lies() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let reader = journal.begin();
        assert!(hands_out(&mut journal, 7, Some(7), reader));
        assert!(!hands_out(&mut journal, 20, Some(7), reader));
        journal.leave(&mark(1, 7));
        assert_eq!([7, 20].map(|at| journal.listed(at)), [Listed::Wanted; 2]);
        assert!(!journal.has_left(Some(20)), "nobody begins again with it");
        // It is judged again when it is listed again, and its receipt does not come along then.
        assert!(hands_out(&mut journal, 20, None, reader));
        assert_eq!((journal.listed(7), journal.done_up_to(&mark(1, 7))), (Listed::Out, vec![mark(1, 20)]));
        assert_eq!((journal.open.len(), journal.lies.len()), (0, 0));
    }

    #[test]
    fn not_every_message_is_remembered_for_ever() {
        let mut journal = Journal::default();
        journal.bind(&mark(1, 0).epoch);
        let reader = journal.begin();
        for position in 0..=super::DID as u64 {
            assert!(hands_out(&mut journal, position, Some(position), reader));
            journal.done(&mark(1, position));
        }
        assert_eq!((journal.did.len(), journal.did.first()), (super::DID, Some(&1)));
    }
}
