//! A record in a directory of its own.

use legation_exchange::record::{Body, Frame, Hash};
use legation_store::{Direct, Disk, Error, Known, Log, Options, Recovered, Ring};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

/// Small segments, so that tests see many.
pub(crate) const SEGMENT: u64 = 8 << 10;

pub(crate) fn options() -> Options {
    on(Arc::new(Direct))
}

pub(crate) fn on(disk: Arc<dyn Disk>) -> Options {
    Options { segment: SEGMENT, disk, ring: ring() }
}

/// The same keys each time.
pub(crate) fn ring() -> Arc<Ring> {
    Arc::new(Ring::fixed([1; 32]))
}

pub(crate) fn open(dir: &Path) -> Result<(Log, Recovered), Error> {
    options().open(dir, &Known::start())
}

pub(crate) fn frame(position: u64, body: usize) -> Frame {
    let [a, b, ..] = Hash::of(&[&position.to_le_bytes()]).0;
    let effect = format!("{{\"position\":{position}}}").into_bytes();
    let bytes = (0..body).map(|at| a ^ u8::try_from(at % 251).unwrap());
    let body = if body > 0 { Body::Here(bytes.collect()) } else { Body::None };
    Frame { position, at: 1_790_000_000_000_000 + position, salt: [b; 16], effect, was: None, body }
}

pub(crate) fn batch(first: u64, count: u64, body: usize) -> Vec<Frame> {
    (first..first + count).map(|position| frame(position, body)).collect()
}

/// A record of batches of three entries with bodies of this size, closed again.
pub(crate) fn record(batches: u64, body: usize) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    let (mut log, _) = open(dir.path()).unwrap();
    for index in 0..batches {
        log.append(&batch(index * 3, 3, body)).unwrap();
    }
    dir
}

/// The files of the log, in order.
pub(crate) fn segments(dir: &Path) -> Vec<PathBuf> {
    let mut found: Vec<_> = fs::read_dir(dir.join("log")).unwrap().map(|entry| entry.unwrap().path()).collect();
    found.retain(|path| path.extension().is_some_and(|extension| extension == "seg"));
    found.sort();
    found
}

/// Where the batches of a segment begin, and where the last ends.
pub(crate) fn batches(segment: &Path) -> Vec<usize> {
    let bytes = fs::read(segment).unwrap();
    let mut places = vec![80];
    while let Some(head) = bytes.get(*places.last().unwrap()..).filter(|rest| rest.starts_with(b"LGB1")) {
        let size = u32::from_le_bytes(head[4..8].try_into().unwrap());
        places.push(places.last().unwrap() + 64 + size as usize);
    }
    places
}

pub(crate) fn all(log: &Log) -> Vec<Frame> {
    log.frames(0).collect::<Result<_, _>>().unwrap()
}
