//! Reading what is durable, from any thread, while the log goes on.

use crate::cursor::Cursor;
use crate::decode::{self, BatchHead};
use crate::error::Error;
use crate::format::{BATCH_HEAD, FRAME_LEAD};
use crate::ring::Ring;
use crate::segment::{self, Item, Segment};
use crate::stored::{Said, Stored};
use crate::tree::Tree;
use legation_exchange::record::{self, Committed, Frame, Hash, Nodes as _, verify_consistency, verify_inclusion};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

/// What the log shows its readers.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) segments: RwLock<Vec<Arc<Segment>>>,
    /// The position after the last durable entry.
    pub(crate) next: AtomicU64,
    pub(crate) tree: Tree,
    pub(crate) ring: Arc<Ring>,
    /// Segments are written anew one at a time.
    pub(crate) rewriting: Mutex<()>,
}

impl Shared {
    /// The last segment that begins at or before a position.
    fn segment(&self, position: u64) -> Option<Arc<Segment>> {
        let segments = self.segments.read().unwrap_or_else(PoisonError::into_inner);
        let after = segments.partition_point(|segment| segment.head.first <= position);
        after.checked_sub(1).and_then(|at| segments.get(at)).map(Arc::clone)
    }
}

/// A view of the record that costs nothing to clone and can go to any thread.
#[derive(Clone, Debug)]
pub struct Reader {
    pub(crate) shared: Arc<Shared>,
}

impl Reader {
    /// The position after the last durable entry.
    pub fn next(&self) -> u64 {
        self.shared.next.load(Ordering::Acquire)
    }

    /// The entry at a position, if there is one yet.
    pub fn read(&self, position: u64) -> Result<Option<Frame>, Error> {
        self.within(position, self.next(), 16 << 10).next().transpose()
    }

    /// The entries from a position on, up to the last that is durable now.
    pub fn frames(&self, from: u64) -> Frames {
        self.within(from, self.next(), 256 << 10)
    }

    /// The same without their bodies, which stay sealed: for whoever folds them.
    pub fn effects(&self, from: u64) -> Frames<Said> {
        let (shared, to) = (Arc::clone(&self.shared), self.next());
        Frames {
            shared,
            next: from,
            to,
            window: 256 << 10,
            place: None,
            open: |stored, ring, segment| stored.said(ring, segment),
        }
    }

    /// The batch that made the entry at a position durable, if there is one yet. Its leaves are from
    /// the tree, and lead along the chain to where the batch says.
    pub fn batch(&self, position: u64) -> Result<Option<Committed>, Error> {
        let next = self.next();
        if position >= next {
            return Ok(None);
        }
        let segment = self.shared.segment(position).ok_or(Error::Broken)?;
        let Found { head, at } = find(&segment, position)?;
        let first = head.first;
        let before =
            if first == segment.head.first { segment.head.chain } else { find(&segment, first - 1)?.head.chain };
        let tree = &self.shared.tree;
        let leaves = (first..first + u64::from(head.count)).map(|position| tree.node(0, position));
        let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
        if leaves.iter().fold(before, |chain, leaf| record::chain(chain, *leaf)) != head.chain {
            return Err(tree.disagrees());
        }
        Ok(Some(Committed { first, at, leaves }))
    }

    /// The leaf of an entry, if there is one yet.
    pub fn leaf(&self, position: u64) -> Result<Option<Hash>, Error> {
        if position >= self.next() {
            return Ok(None);
        }
        self.shared.tree.node(0, position).map(Some)
    }

    /// The path from an entry's leaf to the root over the first `size` entries; `None` if there are
    /// not so many, or the entry is not among them.
    pub fn inclusion(&self, position: u64, size: u64) -> Result<Option<Vec<Hash>>, Error> {
        let tree = &self.shared.tree;
        if size > self.next() {
            return Ok(None);
        }
        let Some(path) = record::inclusion(tree, position, size)? else { return Ok(None) };
        let (leaf, root) = (tree.node(0, position)?, record::root(tree, size)?);
        if verify_inclusion(leaf, position, size, root, &path) { Ok(Some(path)) } else { Err(tree.disagrees()) }
    }

    /// The proof that the first `old` entries are what the first `new` begin with; `None` if there
    /// are not so many.
    pub fn consistency(&self, old: u64, new: u64) -> Result<Option<Vec<Hash>>, Error> {
        let tree = &self.shared.tree;
        if new > self.next() {
            return Ok(None);
        }
        let Some(proof) = record::consistency(tree, old, new)? else { return Ok(None) };
        let (from, to) = (record::root(tree, old)?, record::root(tree, new)?);
        if verify_consistency(old, new, from, to, &proof) { Ok(Some(proof)) } else { Err(tree.disagrees()) }
    }

    /// The root over the first `size` entries; `None` if there are not so many.
    pub fn root(&self, size: u64) -> Result<Option<Hash>, Error> {
        if size > self.next() {
            return Ok(None);
        }
        record::root(&self.shared.tree, size).map(Some)
    }

    /// Makes the tree's nodes durable. Called before a snapshot is written, it spares the start
    /// after a power failure a walk through the whole log; no append waits for it.
    pub fn sync_tree(&self) -> Result<(), Error> {
        self.shared.tree.sync()
    }

    /// The keys the record is sealed with.
    pub fn ring(&self) -> &Arc<Ring> {
        &self.shared.ring
    }

    fn within(&self, from: u64, to: u64, window: usize) -> Frames {
        Frames {
            shared: Arc::clone(&self.shared),
            next: from,
            to,
            window,
            place: None,
            open: |stored, ring, segment| stored.open(ring, segment),
        }
    }
}

/// Entries in order. Ends after the first error, and at what was durable when it was made.
#[derive(Debug)]
pub struct Frames<T = Frame> {
    shared: Arc<Shared>,
    next: u64,
    to: u64,
    window: usize,
    place: Option<(Arc<Segment>, Cursor)>,
    open: fn(&Stored<'_>, &Ring, [u8; 16]) -> Result<T, String>,
}

impl<T> Iterator for Frames<T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next >= self.to {
            return None;
        }
        let found = self.find();
        self.next = if found.is_ok() { self.next + 1 } else { self.to };
        Some(found)
    }
}

impl<T> Frames<T> {
    /// The frame of the next position, from where the cursor is or near it.
    fn find(&mut self) -> Result<T, Error> {
        let moved = self.shared.segment(self.next).ok_or(Error::Broken)?;
        let (segment, mut cursor) = match self.place.take() {
            Some((segment, cursor)) if Arc::ptr_eq(&segment, &moved) => (segment, cursor),
            _ => {
                let near = moved.near(self.next)?;
                let cursor = moved.cursor(near, self.window)?;
                (moved, cursor)
            }
        };
        let frame = seek(&segment, &mut cursor, self.next, |stored, offset| {
            let opened = (self.open)(stored, &self.shared.ring, segment.head.id);
            opened.map_err(|what| segment.sealed(offset, stored.position, what))
        })?;
        self.place = Some((segment, cursor));
        Ok(frame)
    }
}

/// A batch's header, and the time of its first entry.
struct Found {
    head: BatchHead,
    at: u64,
}

/// The batch of a segment that a position is in.
fn find(segment: &Segment, position: u64) -> Result<Found, Error> {
    let mut cursor = segment.cursor(segment.batch_near(position)?, 4 << 10)?;
    loop {
        let offset = cursor.offset();
        let damaged = |what: &str| Error::damaged(&segment.path, offset, what);
        let bytes = cursor.peek(BATCH_HEAD)?.ok_or_else(|| damaged("a batch is missing"))?;
        let head = decode::batch(bytes, segment.head.id).map_err(damaged)?;
        cursor.skip(BATCH_HEAD);
        if position < head.first + u64::from(head.count) {
            let at = seek(segment, &mut cursor, head.first, |stored, _| Ok(stored.at))?;
            return Ok(Found { head, at });
        }
        cursor.skip(head.size);
    }
}

/// Goes to the frame of a position, and takes from it what is wanted.
fn seek<T>(
    segment: &Segment,
    cursor: &mut Cursor,
    position: u64,
    take: impl FnOnce(&Stored<'_>, u64) -> Result<T, Error>,
) -> Result<T, Error> {
    loop {
        let offset = cursor.offset();
        let damaged = |what: &str| Error::damaged(&segment.path, offset, what);
        match segment::item(cursor)? {
            Item::End => return Err(damaged(&format!("position {position} is missing"))),
            Item::Batch => cursor.skip(BATCH_HEAD),
            Item::Frame(size) => {
                let at = cursor.peek(FRAME_LEAD + 8)?.and_then(decode::frame_position);
                if at == Some(position) {
                    let bytes = cursor.peek(size)?.ok_or_else(|| damaged("a frame is not whole"))?;
                    let taken = take(&decode::frame(bytes, &segment.head).map_err(damaged)?, offset)?;
                    cursor.skip(size);
                    return Ok(taken);
                }
                if at.is_none_or(|at| at > position) {
                    return Err(damaged(&format!("position {position} is missing")));
                }
                cursor.skip(size);
            }
        }
    }
}
