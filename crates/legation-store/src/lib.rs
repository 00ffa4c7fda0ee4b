//! The record on disk, and the only crate that touches the disk: a segmented, hash-chained log as
//! the truth, the tree's nodes beside it, snapshots to start from, an offline verifier that shares no
//! reading code with the writer, and an index that is made again from the log whenever it is not
//! sound. `docs/record.md` describes every file.
//!
//! Invariants: what [`Log::append`] returned for is durable; what a [`Reader`] shows is durable;
//! damage is refused by name, and only a batch whose append never returned may be cut away.

pub mod backup;
mod chunks;
mod cursor;
mod decode;
mod disk;
mod encode;
mod error;
mod files;
mod format;
pub mod index;
mod key;
mod known;
mod log;
mod offline;
mod reader;
mod rewrite;
mod ring;
mod safe;
mod scan;
mod seal;
mod segment;
mod snapshots;
mod spare;
mod stored;
mod tail;
mod tree;
pub mod verify;

pub use disk::{Direct, Disk};
pub use error::Error;
pub use files::{atomic_write, may_be_changed_by_others, must_be_private};
pub use format::{BATCH_HEAD, BATCH_MAX, BODY_MAX, EFFECT_MAX, FORMAT_NUMBER, bytes_of};
pub use key::Key;
pub use known::Known;
pub use log::{Appended, Cut, Durable, Log, Options, Recovered, Written};
pub use offline::Offline;
pub use reader::{Frames, Reader};
pub use rewrite::{Rewrite, Rewriter, Rewritten, Standing};
pub use ring::Ring;
pub use safe::Safe;
pub use snapshots::{Snapshot, Snapshots};
pub use stored::Said;
