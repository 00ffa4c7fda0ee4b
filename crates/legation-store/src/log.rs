//! The log: one writer, batches in, durable entries out.

mod append;
mod open;

use crate::disk::{Direct, Disk};
use crate::error::Error;
use crate::known::Known;
use crate::reader::{Frames, Reader, Shared};
use crate::rewrite::Rewriter;
use crate::ring::Ring;
use crate::segment::Segment;
use crate::spare::Spare;
use legation_exchange::record::{Frame, Frontier, Hash};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use append::random_id;
pub use append::{Appended, Durable, Written};

/// The size of a realm's first segment; each is twice the one before, up to [`Options::segment`].
const FIRST_SEGMENT: u64 = 4 << 20;

/// How a log is kept.
#[derive(Clone, Debug)]
pub struct Options {
    /// Most bytes of a segment, unless one batch needs more.
    pub segment: u64,
    /// The disk.
    pub disk: Arc<dyn Disk>,
    /// The keys everything is sealed with.
    pub ring: Arc<Ring>,
}

impl Options {
    /// Most bytes of a segment, where nobody says otherwise.
    pub const SEGMENT: u64 = 64 << 20;

    /// What works, with these keys.
    pub fn with(ring: Arc<Ring>) -> Options {
        Options { segment: Options::SEGMENT, disk: Arc::new(Direct), ring }
    }
}

/// The record's log, open for appending. There is one per directory at a time.
#[derive(Debug)]
pub struct Log {
    dir: PathBuf,
    options: Options,
    reader: Reader,
    active: Active,
    chain: Hash,
    frontier: Frontier,
    /// Kept from batch to batch for its room.
    buffer: Vec<u8>,
    /// Set when an append failed so that nobody knows what is on the disk.
    broken: bool,
    /// Whether a batch is written that nobody was shown yet.
    underway: bool,
    // Dropped in this order: nothing may write to the directory once the lock is gone.
    spare: Spare,
    lock: Arc<File>,
}

/// The segment that batches go to.
#[derive(Debug)]
struct Active {
    segment: Arc<Segment>,
    file: Arc<File>,
    /// Where the next batch goes.
    end: u64,
    size: u64,
    /// Whether a write that found no room may have left something after the end.
    torn: bool,
    /// Whether its name is durable. Until it is, nothing may go into it.
    named: bool,
}

/// What a log had when it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// The position after the last entry.
    pub next: u64,
    /// The chain after it.
    pub chain: Hash,
    /// The edge of the tree over all entries.
    pub frontier: Frontier,
    /// What an append that never returned had left behind, and is gone.
    pub cut: Option<Cut>,
}

/// Bytes that were cut from the end of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// From which file.
    pub file: PathBuf,
    /// From where on.
    pub offset: u64,
    /// How many.
    pub bytes: u64,
}

impl Log {
    /// Opens the record in a directory, or begins one there, and goes through all of it.
    pub fn open(dir: &Path, ring: Arc<Ring>) -> Result<(Log, Recovered), Error> {
        Options::with(ring).open(dir, &Known::start())
    }

    /// The position of the next entry, behind what is written and not shown yet too.
    pub fn next(&self) -> u64 {
        self.frontier.size()
    }

    /// The chain after the last entry.
    pub fn chain(&self) -> Hash {
        self.chain
    }

    /// The edge of the tree over all entries.
    pub fn frontier(&self) -> &Frontier {
        &self.frontier
    }

    /// All that a later start needs to know of the record up to here.
    pub fn known(&self) -> Known {
        Known { position: self.next(), chain: self.chain, frontier: self.frontier.clone() }
    }

    /// A view of what is durable, for other threads.
    pub fn reader(&self) -> Reader {
        self.reader.clone()
    }

    /// The entry at a position, if there is one.
    pub fn read(&self, position: u64) -> Result<Option<Frame>, Error> {
        self.reader.read(position)
    }

    /// The entries from a position on.
    pub fn frames(&self, from: u64) -> Frames {
        self.reader.frames(from)
    }

    /// What writes complete segments anew, for other threads. While there is one, the directory stays
    /// locked.
    pub fn rewriter(&self) -> Rewriter {
        let (disk, lock) = (Arc::clone(&self.options.disk), Arc::clone(&self.lock));
        let (dir, shared) = (self.dir.clone(), Arc::clone(&self.reader.shared));
        Rewriter { dir, disk, shared, next: self.small(), _lock: lock }
    }

    fn shared(&self) -> &Shared {
        &self.reader.shared
    }
}

impl Drop for Log {
    /// Nodes that wait are written while the directory is still locked. Without them they would be
    /// made again.
    fn drop(&mut self) {
        let _ = self.shared().tree.flush();
    }
}
