//! Appending: one write and one fdatasync for each batch. The two can be had apart, so that whoever decides goes on while
//! the disk works; one batch at a time is on its way, and readers see none of it before it is durable.

use super::{Active, FIRST_SEGMENT, Log};
use crate::decode::{Form, SegmentHead};
use crate::disk::Disk;
use crate::encode;
use crate::error::{Error, is_full};
use crate::format::{
    BATCH_HEAD, BATCH_MAX, BODY_MAX, EFFECT_MAX, PAGE, SEGMENT_HEAD, bytes_of, log_dir, page_end, segment_name,
};
use crate::key::Key;
use crate::segment::Segment;
use crate::spare::Zeros;
use legation_exchange::record::{Frame, Frontier, Hash, chain, leaf_of};
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};

/// What an append made durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The position after the batch.
    pub next: u64,
    /// The chain after it.
    pub chain: Hash,
    /// The root of the tree with it.
    pub root: Hash,
    /// The leaves of its entries, in order.
    pub leaves: Vec<Hash>,
    /// What the leaves say of the bodies, in order.
    pub bodies: Vec<Option<Hash>>,
}

/// A batch that is ready to be written.
#[derive(Debug)]
struct Prepared {
    chain: Hash,
    frontier: Frontier,
    leaves: Vec<Hash>,
    bodies: Vec<Option<Hash>>,
    nodes: Vec<Hash>,
    /// Position and place in the batch of each frame.
    places: Vec<(u64, u64)>,
}

/// A batch that is written, and may be gone with the next power cut. Until it is made durable and shown the log takes
/// no other.
#[derive(Debug)]
#[must_use]
pub struct Written {
    prepared: Prepared,
    segment: Arc<Segment>,
    file: Arc<File>,
    /// Where in the segment it lies.
    start: u64,
    disk: Arc<dyn Disk>,
}

/// A batch that is on the disk, and that nobody was shown yet.
#[derive(Debug)]
#[must_use]
pub struct Durable {
    prepared: Prepared,
    segment: Arc<Segment>,
    start: u64,
}

impl Written {
    /// Makes it durable, on any thread. After an error nobody knows what is on the disk, and the process must end.
    pub fn sync(self) -> Result<Durable, Error> {
        let Written { prepared, segment, file, start, disk } = self;
        disk.sync(&file).map_err(|source| Error::Sync { file: segment.path.clone(), source })?;
        Ok(Durable { prepared, segment, start })
    }
}

impl Log {
    /// Appends entries as one batch; when it returns, they are durable and readers see them.
    ///
    /// [`Error::Full`] leaves the log as it was. After [`Error::Sync`] or another error of the system
    /// it is unknown whether the batch is there: the log takes no more, and the process must end.
    pub fn append(&mut self, frames: &[Frame]) -> Result<Appended, Error> {
        if frames.is_empty() && !self.broken {
            let (next, chain, root) = (self.next(), self.chain, self.frontier.root());
            return Ok(Appended { next, chain, root, leaves: Vec::new(), bodies: Vec::new() });
        }
        let durable = self.write(frames)?.sync().inspect_err(|_| self.broken = true)?;
        Ok(self.show(durable))
    }

    /// Writes entries, of which there are some, as one batch, which is durable once it is synced, and seen once it is shown. The log itself goes on
    /// behind it at once. Errors are those of [`Log::append`].
    pub fn write(&mut self, frames: &[Frame]) -> Result<Written, Error> {
        if self.broken || self.underway {
            return Err(Error::Broken);
        }
        let size = self.check(frames)?;
        let key = self.make_room(size)?;
        self.settle()?;
        let prepared = self.prepare(frames, &key);
        let (start, length) = (self.active.end, self.buffer.len() as u64);
        self.put()?;
        self.active.end += length;
        (self.chain, self.frontier, self.underway) = (prepared.chain, prepared.frontier.clone(), true);
        let Active { segment, file, .. } = &self.active;
        let (segment, file, disk) = (Arc::clone(segment), Arc::clone(file), Arc::clone(&self.options.disk));
        Ok(Written { prepared, segment, file, start, disk })
    }

    /// Shows readers what is durable now.
    pub fn show(&mut self, durable: Durable) -> Appended {
        let Durable { prepared, segment, start } = durable;
        let Prepared { chain, frontier, leaves, bodies, nodes, places } = prepared;
        segment.add(start, places.into_iter().map(|(position, at)| (position, start + at)));
        self.shared().tree.push(&nodes);
        self.shared().next.store(frontier.size(), Ordering::Release);
        self.underway = false;
        Appended { next: frontier.size(), chain, root: frontier.root(), leaves, bodies }
    }

    /// Makes sure that batches of together this many bytes can be appended, or says that they
    /// cannot: then nothing changed. An entry takes what [`bytes_of`] says, a batch [`BATCH_HEAD`] more.
    pub fn reserve(&mut self, bytes: u64) -> Result<(), Error> {
        if self.broken {
            return Err(Error::Broken);
        }
        if !self.active.is_sealed_with(self.options.ring.newest()?.as_ref()) {
            return match self.spare.ensure(segment_for(bytes), self.small()) {
                Err(Error::Full { .. }) if self.older_key(bytes).is_some() => Ok(()),
                done => done,
            };
        }
        if self.active.has_room_for(bytes) {
            return Ok(());
        }
        let size = self.next_size();
        self.spare.ensure(segment_for(bytes), size)
    }

    /// Checks order and limits, and gives the size of the batch.
    fn check(&self, frames: &[Frame]) -> Result<u64, Error> {
        let mut size = 0;
        for (frame, expected) in frames.iter().zip(self.next()..) {
            let position = frame.position;
            if position != expected {
                return Err(Error::Sequence { expected, found: position });
            }
            size += bytes_of(frame);
            for (bytes, limit) in [(frame.effect.len(), EFFECT_MAX), (frame.body.len(), BODY_MAX), (size, BATCH_MAX)] {
                if bytes > limit {
                    return Err(Error::TooLarge { position, bytes: bytes as u64, limit: limit as u64 });
                }
            }
        }
        Ok((size + BATCH_HEAD) as u64)
    }

    /// Goes on in a new segment, so that all there is so far can be written anew.
    pub fn seal_active(&mut self) -> Result<(), Error> {
        if self.broken || self.underway {
            return Err(Error::Broken);
        }
        if self.active.end == SEGMENT_HEAD as u64 {
            return Ok(());
        }
        let key = self.options.ring.newest()?;
        self.begin_with(0, &key)?;
        self.settle()
    }

    /// Sees to a segment with room for this many bytes, and says which key it is sealed with: the newest,
    /// or where there is no room to go on with that, the one it has.
    fn make_room(&mut self, bytes: u64) -> Result<Arc<Key>, Error> {
        let key = self.options.ring.newest()?;
        if !self.active.is_sealed_with(&key) {
            return match self.begin_with(bytes, &key) {
                Err(Error::Full { dir, source }) => self.older_key(bytes).ok_or(Error::Full { dir, source }),
                done => done.map(|()| key),
            };
        }
        if !self.active.has_room_for(bytes) {
            let zeros = self.spare.take(segment_for(bytes), self.next_size())?;
            self.roll(zeros, &key)?;
        } else if self.active.end > self.active.size / 2 {
            self.spare.start(self.next_size());
        }
        Ok(key)
    }

    /// Goes on with this key in a segment that nobody foresaw.
    fn begin_with(&mut self, bytes: u64, key: &Key) -> Result<(), Error> {
        let zeros = self.spare.take(segment_for(bytes), self.small())?;
        self.roll(zeros, key)
    }

    /// The key of the active segment, if this many bytes still fit there.
    fn older_key(&self, bytes: u64) -> Option<Arc<Key>> {
        let key = self.active.segment.head.form.key().filter(|_| self.active.has_room_for(bytes))?;
        self.options.ring.key(key)
    }

    /// The same, if what there is in the last one is not sealed with the newest key.
    pub fn seal_outdated(&mut self) -> Result<(), Error> {
        let key = self.options.ring.newest()?;
        if self.active.is_sealed_with(&key) { Ok(()) } else { self.seal_active() }
    }

    /// The size of a segment that nobody foresaw: whoever waits for its zeros does not wait long.
    pub(super) fn small(&self) -> u64 {
        FIRST_SEGMENT.min(self.options.segment)
    }

    fn next_size(&self) -> u64 {
        self.active.size.saturating_mul(2).max(FIRST_SEGMENT).min(self.options.segment)
    }

    /// Goes on in a new segment. The one before is whole and durable: each append saw to that.
    fn roll(&mut self, zeros: Zeros, key: &Key) -> Result<(), Error> {
        self.forget_torn()?;
        let first = self.next();
        let head = SegmentHead { form: Form::Sealed { key: key.id() }, id: [0; 16], first, chain: self.chain };
        let made = Active::make(&self.dir, zeros, head, self.options.disk.as_ref());
        // Where it failed otherwise, a file with the new name may or may not be there.
        let active = made.inspect_err(|error| self.broken = !matches!(error, Error::Full { .. }))?;
        let before = std::mem::replace(&mut self.active, active);
        let mut segments = self.shared().segments.write().unwrap_or_else(PoisonError::into_inner);
        if before.segment.head.first == first {
            // It was empty and too small, and is now replaced under its name.
            segments.pop();
        } else {
            // Its unused end is of no use any more; that it stays would do no harm.
            let _ = before.file.set_len(before.end);
        }
        segments.push(Arc::clone(&self.active.segment));
        Ok(())
    }

    /// What a write left that found no room may be on the disk still, whatever was written over it
    /// since. At the end of the last segment a start cuts it away; before another it would be damage.
    fn forget_torn(&mut self) -> Result<(), Error> {
        let Active { segment, file, end, torn, .. } = &self.active;
        if !torn {
            return Ok(());
        }
        let gone = file.set_len(*end).and_then(|()| self.options.disk.sync(file));
        gone.map_err(|source| {
            self.broken = true;
            Error::Sync { file: segment.path.clone(), source }
        })
    }

    /// Makes the name of the active segment durable. Where that finds no room, the segment stays as
    /// it is, empty, and the next append tries again: a start takes it, or the one before it.
    fn settle(&mut self) -> Result<(), Error> {
        if self.active.named {
            return Ok(());
        }
        let done = self.options.disk.sync_dir(&log_dir(&self.dir));
        self.active.named = done.is_ok();
        done.map_err(|source| {
            if is_full(&source) {
                return Error::Full { dir: self.dir.clone(), source };
            }
            self.broken = true;
            Error::Sync { file: log_dir(&self.dir), source }
        })
    }

    fn prepare(&mut self, frames: &[Frame], key: &Key) -> Prepared {
        let (mut now, mut frontier) = (self.chain, self.frontier.clone());
        let (mut leaves, mut nodes) = (Vec::with_capacity(frames.len()), Vec::with_capacity(2 * frames.len()));
        let (mut bodies, mut places) = (Vec::with_capacity(frames.len()), Vec::with_capacity(frames.len()));
        let mut batch = encode::Batch::begin(&mut self.buffer, self.active.segment.head.id, key);
        for frame in frames {
            let said = frame.commitments();
            let leaf = leaf_of(frame.position, frame.at, said.effect, said.body);
            bodies.push(said.body);
            now = chain(now, leaf);
            frontier.append_with(leaf, |node| nodes.push(node));
            leaves.push(leaf);
            places.push((frame.position, batch.push(frame, &said) as u64));
        }
        batch.end(self.frontier.size(), frames.len(), now);
        Prepared { chain: now, frontier, leaves, bodies, nodes, places }
    }

    /// Puts the batch where it belongs, with zeros up to the end of its last page. They are there already, but not in memory:
    /// of a page that is written as a whole nothing is read from the disk first.
    fn put(&mut self) -> Result<(), Error> {
        let Active { segment, file, end, size, .. } = &self.active;
        let last = *end + self.buffer.len() as u64;
        let rest = usize::try_from(page_end(last, *size) - last).unwrap_or_default();
        self.buffer.resize(self.buffer.len() + rest, 0);
        let disk = self.options.disk.as_ref();
        let Err(source) = disk.write_at(file, &self.buffer, *end) else { return Ok(()) };
        // Where part of it was written, zeros say again that nothing is there; durably, since only the padding of a
        // whole batch may be what found no room, and a start after a power cut would take such a batch for committed.
        let erased = disk.write_at(file, &vec![0; self.buffer.len()], *end).and_then(|()| disk.sync(file));
        if is_full(&source) && (erased.is_ok() || erased.is_err_and(|error| is_full(&error))) {
            self.active.torn = true;
            return Err(Error::Full { dir: self.dir.clone(), source });
        }
        self.broken = true;
        Err(Error::io("write", &segment.path)(source))
    }
}

impl Active {
    fn has_room_for(&self, bytes: u64) -> bool {
        self.end.saturating_add(bytes) <= self.size
    }

    fn is_sealed_with(&self, key: &Key) -> bool {
        self.segment.head.form == Form::Sealed { key: key.id() }
    }

    /// Makes a segment of zeros that are durable: header, then name. That the name is durable is to
    /// be seen to before anything goes in.
    pub(super) fn make(dir: &Path, zeros: Zeros, head: SegmentHead, disk: &dyn Disk) -> Result<Active, Error> {
        let path = log_dir(dir).join(segment_name(head.first));
        let head = SegmentHead { id: random_id(&path)?, ..head };
        if let Err(error) = begin(&zeros, &head, &path, disk) {
            // It has no name yet, and the room it took is wanted back at once.
            let _ = fs::remove_file(&zeros.path);
            return Err(error);
        }
        let segment = Arc::new(Segment::fresh(path, head));
        let Zeros { file, size, .. } = zeros;
        Ok(Active { segment, file: Arc::new(file), end: SEGMENT_HEAD as u64, size, torn: false, named: false })
    }
}

/// What every checksum of a segment begins with, and every key of it is derived with.
pub(crate) fn random_id(path: &Path) -> Result<[u8; 16], Error> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).map_err(|error| Error::io("draw a number for", path)(io::Error::other(error)))?;
    Ok(id)
}

/// Writes the header, with zeros up to the end of its page as [`Log::put`] does, and gives the segment its name.
fn begin(zeros: &Zeros, head: &SegmentHead, path: &Path, disk: &dyn Disk) -> Result<(), Error> {
    let mut page = encode::segment(head);
    page.resize(usize::try_from(page_end(page.len() as u64, zeros.size)).unwrap_or(PAGE), 0);
    disk.write_at(&zeros.file, &page, 0).map_err(Error::room("write", path))?;
    disk.sync(&zeros.file).map_err(|source| {
        if is_full(&source) { Error::room("write", path)(source) } else { Error::sync(path)(source) }
    })?;
    disk.rename(&zeros.path, path).map_err(Error::room("name", path))
}

/// The size of a segment that has room for this many bytes.
fn segment_for(bytes: u64) -> u64 {
    bytes.saturating_add(SEGMENT_HEAD as u64).checked_next_multiple_of(4096).unwrap_or(u64::MAX)
}
