//! Checking a record without trusting the program that wrote it: offline, read-only, without the
//! lock, on the record itself or a copy. It shares types and constants with the writer, and has its
//! own reading; memory does not grow with the record.

mod entry;
mod redacted;
mod rest;
mod source;
mod walk;

use crate::error::Error;
use crate::format::{FORMAT, FORMER, format_file, log_dir, segment_first};
use crate::ring::Ring;
use legation_exchange::record::{Checkpoint, Hash};
use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use walk::{State, Stop, Walk};

/// What to check.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The first entry. Checking begins with the segment it is in, from the chain that segment says
    /// it continues. With a checkpoint everything is read.
    pub from: u64,
    /// The entry to stop before; checking ends with the batch that reaches it.
    pub to: Option<u64>,
    /// A checkpoint from elsewhere, its signature verified: the record must begin with what it covers.
    pub checkpoint: Option<Checkpoint>,
    /// The keys, to open every entry with and hold it to its hash. Without them, hashes, chain and tree
    /// are checked, and what is sealed stays so.
    pub ring: Option<Arc<Ring>>,
}

/// How far it got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The position reached.
    pub position: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Bytes there are.
    pub of: u64,
}

/// What was covered and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The first position covered.
    pub from: u64,
    /// The position after the last good entry.
    pub to: u64,
    /// How many segments were read.
    pub segments: u64,
    /// Whether what the entries say was held to their hashes, and not the hashes alone to each other.
    pub contents: bool,
    /// The chain after the last good entry.
    pub chain: Hash,
    /// The root over all entries up to there, if everything from the first was covered.
    pub root: Option<Hash>,
    /// The first thing wrong.
    pub fault: Option<Fault>,
    /// What an append that never returned left at the end, or one that was under way when a copy was made.
    pub unfinished: Option<Unfinished>,
    /// Whether the record begins with what the checkpoint covers.
    pub checkpoint: Option<Agreement>,
}

/// The first thing wrong with a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// In which file.
    pub file: PathBuf,
    /// At which byte.
    pub offset: u64,
    /// The first entry that is not as it was.
    pub position: u64,
    /// What is wrong.
    pub what: String,
}

/// Bytes after the last batch that are no batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unfinished {
    /// In which file.
    pub file: PathBuf,
    /// From which byte on.
    pub offset: u64,
}

/// How the record stands to a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Agreement {
    /// It begins with exactly what the checkpoint covers.
    Prefix,
    /// It ends before: entries were cut off.
    Truncated {
        /// How many entries there are.
        size: u64,
    },
    /// It has other entries than the checkpoint covers.
    Rewritten {
        /// The root over as many entries as the checkpoint covers.
        root: Hash,
    },
    /// Checking ended before the entries the checkpoint covers did.
    NotReached,
}

impl Report {
    /// Whether nothing is wrong with what was covered.
    pub fn is_sound(&self) -> bool {
        self.fault.is_none() && matches!(self.checkpoint, None | Some(Agreement::Prefix))
    }
}

/// Checks the record in a directory. What is wrong with the record is in the report; an error means
/// that it could not be read.
pub fn verify(dir: &Path, options: &Options, progress: &mut dyn FnMut(Progress)) -> Result<Report, Error> {
    check_format(dir)?;
    let log = log_dir(dir);
    let mut ahead = list(&log)?;
    let from = if options.checkpoint.is_some() { 0 } else { options.from };
    ahead.drain(..ahead.partition_point(|segment| segment.first <= from).saturating_sub(1));
    let watched = options.checkpoint.as_ref().map(|checkpoint| checkpoint.size);
    // Where even the first segment begins later, what should come before it is missing.
    let start = ahead.front().map(|segment| segment.first).filter(|first| *first <= from);
    let mut walk = Walk::new(dir, start.unwrap_or(0), watched, options.ring.clone());
    let (mut read, mut before, mut stop) = (0, 0, Stop::End);
    while let Some(segment) = ahead.pop_front() {
        read += 1;
        let of = before + segment.length + ahead.iter().map(|segment| segment.length).sum::<u64>();
        let mut tell = |position, bytes| {
            let bytes = before + bytes;
            progress(Progress { position, bytes, of: of.max(bytes) });
        };
        stop = walk.segment(&segment.path, ahead.is_empty(), options.to, &mut tell)?;
        if ahead.is_empty() && stop.is_end() {
            // An exchange that runs may have gone on in another since they were listed.
            ahead = list(&log)?;
            ahead.retain(|other| other.first > segment.first);
            if !ahead.is_empty() {
                stop = walk.go_on(&segment, options.to, &mut tell)?;
            }
        }
        if !matches!(stop, Stop::End) {
            break;
        }
        before += segment.length;
    }
    Ok(report(walk, stop, read, options.checkpoint.as_ref()))
}

fn report(walk: Walk, stop: Stop, segments: u64, checkpoint: Option<&Checkpoint>) -> Report {
    let ended = stop.is_end();
    let unordered = walk.redactions.fault(ended);
    let (from, contents, State { next, chain, frontier, seen }) = walk.finish();
    let checkpoint = checkpoint.map(|checkpoint| match seen {
        Some((root, chain)) if (root, chain) == (checkpoint.root, checkpoint.chain) => Agreement::Prefix,
        Some((root, _)) => Agreement::Rewritten { root },
        None if ended => Agreement::Truncated { size: next },
        None => Agreement::NotReached,
    });
    let root = (from == 0).then(|| frontier.root());
    let (fault, unfinished) = match stop {
        Stop::End | Stop::Reached => (None, None),
        Stop::Unfinished(unfinished) => (None, Some(unfinished)),
        Stop::Fault(fault) => (Some(fault), None),
    };
    let fault = fault.or(unordered);
    Report { from, to: next, segments, contents, chain, root, fault, unfinished, checkpoint }
}

fn check_format(dir: &Path) -> Result<(), Error> {
    let file = format_file(dir);
    let found = fs::read(&file).map_err(Error::io("read", &file))?;
    if found == FORMAT.as_bytes() || FORMER.iter().any(|former| found == former.as_bytes()) {
        return Ok(());
    }
    Err(Error::Format { file, found: String::from_utf8_lossy(&found).trim_end().to_owned() })
}

struct SegmentFile {
    first: u64,
    path: PathBuf,
    length: u64,
}

fn list(dir: &Path) -> Result<VecDeque<SegmentFile>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let path = entry.map_err(Error::io("read", dir))?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        if let Some(first) = segment_first(name) {
            let length = fs::metadata(&path).map_err(Error::io("read", &path))?.len();
            found.push(SegmentFile { first, path, length });
        }
    }
    found.sort_by_key(|segment| segment.first);
    Ok(found.into())
}
