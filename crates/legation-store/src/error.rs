//! What can go wrong with the record, and what the caller may do about it.

use std::io;
use std::path::{Path, PathBuf};

/// A fault of the store. None of them is a sender's doing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another process, or another part of this one, has the directory.
    #[error("the record at {} is in use by another process", dir.display())]
    Locked {
        /// The record's directory.
        dir: PathBuf,
    },
    /// Written by something else than this version or the one before it.
    #[error("{} says {found:?}: this program reads \"legation-record 1\" to \"legation-record 3\", and nothing newer", file.display())]
    Format {
        /// The file that names the format.
        file: PathBuf,
        /// What it says.
        found: String,
    },
    /// Bytes are not what was written.
    #[error("{} is damaged at byte {offset}: {what}", file.display())]
    Damaged {
        /// The damaged file.
        file: PathBuf,
        /// Where in it.
        offset: u64,
        /// What is wrong there.
        what: String,
    },
    /// A part of an entry, or of a snapshot, does not open.
    #[error("entry {position} does not open, {} byte {offset}: {what}", file.display())]
    Sealed {
        /// Its file.
        file: PathBuf,
        /// Where in it.
        offset: u64,
        /// Which entry.
        position: u64,
        /// Why.
        what: String,
    },
    /// The key ring is gone, or lacks keys, and what is there was sealed with them.
    #[error("the key ring {} lacks {}: put the ring back that the record was sealed with", file.display(), numbers(wanted))]
    KeysLost {
        /// Where the ring should be.
        file: PathBuf,
        /// The keys that are wanted.
        wanted: Vec<u32>,
    },
    /// The directory of the key ring is gone, or another disk is where it was.
    #[error("the key ring is written in {} alone, which is not there or on another disk than before: mount it, or make it", dir.display())]
    RingPlace {
        /// The directory.
        dir: PathBuf,
    },
    /// Others can read the keys.
    #[error("the key ring {} can be read by others (mode {mode:o}): `chmod 600` it, and rotate the key if others may have", file.display())]
    KeysExposed {
        /// The ring.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// Others can read a secret that is no ring.
    #[error("{} can be read by others (mode {mode:o}): `chmod 600 {}`; they may have read it", file.display(), file.display())]
    Exposed {
        /// The secret.
        file: PathBuf,
        /// Its mode.
        mode: u32,
    },
    /// A key ring that does not read.
    #[error("line {line} of the key ring {} is no key", file.display())]
    Ring {
        /// The ring.
        file: PathBuf,
        /// Which line.
        line: usize,
    },
    /// The record ends before a point that is known to have existed.
    #[error("the record ends at position {next}, but there was a snapshot at {known}: entries are missing")]
    Behind {
        /// Where it ends.
        next: u64,
        /// Where it must reach.
        known: u64,
    },
    /// No room. Nothing was written; the same call may succeed later.
    #[error("no room for the record in {}", dir.display())]
    Full {
        /// The record's directory.
        dir: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What was written may or may not be durable. Only a new start can tell: end the process.
    #[error("{} could not be made durable", file.display())]
    Sync {
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// An earlier append left it open whether its entries are durable.
    #[error("the record takes no more entries since an append failed")]
    Broken,
    /// An entry out of order.
    #[error("the next position is {expected}, not {found}")]
    Sequence {
        /// The position that is next.
        expected: u64,
        /// The position that came.
        found: u64,
    },
    /// An entry or a batch beyond the format's limits.
    #[error("entry {position} makes {bytes} bytes where {limit} are the most")]
    TooLarge {
        /// The entry.
        position: u64,
        /// How many bytes it, or the batch up to it, has.
        bytes: u64,
        /// How many it may have.
        limit: u64,
    },
    /// Entries are still added to the segment, or there is none.
    #[error("no segment that is complete begins at position {first}")]
    Unsealed {
        /// Where it should begin.
        first: u64,
    },
    /// Anything else the system refused.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Io { action, path: path.to_owned(), source }
    }

    pub(crate) fn sync(file: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::Sync { file: file.to_owned(), source }
    }

    pub(crate) fn damaged(file: &Path, offset: u64, what: impl Into<String>) -> Error {
        Error::Damaged { file: file.to_owned(), offset, what: what.into() }
    }

    /// Keeps "no room" apart from all other refusals.
    pub(crate) fn room(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| {
            if is_full(&source) {
                Error::Full { dir: path.parent().unwrap_or(path).to_owned(), source }
            } else {
                Error::Io { action, path: path.to_owned(), source }
            }
        }
    }
}

fn numbers(wanted: &[u32]) -> String {
    let listed: Vec<_> = wanted.iter().map(u32::to_string).collect();
    if listed.is_empty() { "a key".to_owned() } else { format!("key {}", listed.join(", ")) }
}

/// Whether the system said that there is no room.
pub(crate) fn is_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge)
}
