//! Going through the log at start: every batch's checksum, every link of the chain.

use crate::decode::{self, BatchHead, Wrong};
use crate::error::Error;
use crate::format::{BATCH_HEAD, SEGMENT_HEAD};
use crate::known::Known;
use crate::segment::Segment;
use crate::stored::Stored;
use crate::tree::Tree;
use legation_exchange::record::{Frontier, Hash, chain};

/// Where the batches of a segment end, and what stands there if it is not nothing.
pub(crate) struct Stop {
    pub(crate) offset: u64,
    /// Where the last good batch begins; the segment itself, if there is none.
    pub(crate) last: u64,
    pub(crate) what: Option<Wrong>,
}

/// What the log came to so far.
pub(crate) struct Scan<'a> {
    pub(crate) next: u64,
    pub(crate) chain: Hash,
    pub(crate) frontier: Frontier,
    /// From where entries are hashed again; before it, checksums and links are enough.
    from: u64,
    /// A point the chain must lead through.
    through: &'a Known,
    tree: &'a Tree,
}

impl<'a> Scan<'a> {
    /// Hashes from `from` on, and checks that the chain leads through `through`.
    pub(crate) fn new(from: &Known, through: &'a Known, tree: &'a Tree) -> Scan<'a> {
        Scan { next: 0, chain: Hash::ZERO, frontier: from.frontier.clone(), from: from.position, through, tree }
    }

    /// Begins at a segment other than the first.
    pub(crate) fn begin_at(&mut self, segment: &Segment) {
        self.next = segment.head.first;
        self.chain = segment.head.chain;
    }

    /// Reads a segment's batches to the last good one.
    pub(crate) fn segment(&mut self, segment: &Segment) -> Result<Stop, Error> {
        let head = &segment.head;
        if head.first != self.next {
            let what = format!("it begins at position {}, but the one before ends at {}", head.first, self.next);
            return Err(Error::damaged(&segment.path, 0, what));
        }
        if head.chain != self.chain {
            return Err(Error::damaged(&segment.path, 0, "its chain does not go on from the one before"));
        }
        self.check_through(segment, 0)?;
        let mut cursor = segment.cursor(SEGMENT_HEAD as u64, 1 << 20)?;
        let mut last = 0;
        loop {
            let offset = cursor.offset();
            let stop = |what| Ok(Stop { offset, last, what });
            let Some(bytes) = cursor.peek(BATCH_HEAD)? else { return stop(None) };
            if bytes.first_chunk() == Some(&[0; 4]) {
                return stop(None);
            }
            let head = match decode::batch(bytes, head.id) {
                Ok(head) => head,
                Err(what) => return stop(Some(what)),
            };
            if head.first != self.next {
                let what = format!("position {} is next, but here is a batch from {}", self.next, head.first);
                return Err(Error::damaged(&segment.path, offset, what));
            }
            let size = BATCH_HEAD + head.size;
            match cursor.peek(size)?.and_then(|bytes| bytes.get(BATCH_HEAD..)) {
                None => return stop(Some("the batch is not whole")),
                Some(bytes) if !decode::matches(bytes, &head, segment.head.id) => {
                    return stop(Some("the batch does not match its checksum"));
                }
                Some(bytes) => self.batch(segment, offset, &head, bytes)?,
            }
            cursor.skip(size);
            last = offset;
        }
    }

    /// Takes a batch whose bytes are as they were written. What is wrong now is no accident of writing.
    fn batch(&mut self, segment: &Segment, offset: u64, head: &BatchHead, bytes: &[u8]) -> Result<(), Error> {
        let damaged = |what: String| Error::damaged(&segment.path, offset, what);
        let frames = decode::frames(bytes, head, &segment.head).map_err(|what| damaged(what.to_owned()))?;
        for ((_, frame), expected) in frames.iter().zip(self.next..) {
            if frame.position != expected {
                return Err(damaged(format!("position {expected} is next, but here is {}", frame.position)));
            }
        }
        let next = self.next + frames.len() as u64;
        if self.next < self.through.position && self.through.position < next {
            return Err(damaged(format!("the snapshot's position {} is inside this batch", self.through.position)));
        }
        if self.next >= self.from {
            for (_, frame) in &frames {
                self.hash(frame);
            }
        } else {
            self.chain = head.chain;
        }
        if self.chain != head.chain {
            return Err(damaged("the entries do not lead to the chain the batch says".to_owned()));
        }
        self.next = next;
        let start = offset + BATCH_HEAD as u64;
        segment.add(offset, frames.iter().map(|(at, frame)| (frame.position, start + *at as u64)));
        self.check_through(segment, offset)
    }

    fn hash(&mut self, frame: &Stored<'_>) {
        let leaf = frame.leaf();
        self.chain = chain(self.chain, leaf);
        let mut nodes = Vec::new();
        self.frontier.append_with(leaf, |node| nodes.push(node));
        self.tree.push(&nodes);
    }

    fn check_through(&self, segment: &Segment, offset: u64) -> Result<(), Error> {
        if self.next == self.through.position && self.chain != self.through.chain {
            let what = format!("the entries before position {} are not those of the snapshot", self.next);
            return Err(Error::damaged(&segment.path, offset, what));
        }
        Ok(())
    }
}
