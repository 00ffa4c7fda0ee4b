//! Copies of a record that goes on meanwhile: all that was durable at one point and nothing of what
//! came later. Segments are only ever added to or replaced whole, so each file that is read is sound.

mod pack;
mod unpack;

pub use pack::{Ready, Target, pack};
pub use unpack::{is_empty_or_absent, unpack};

use crate::decode;
use crate::error::Error;
use crate::format::{BATCH_HEAD, SEGMENT_HEAD, format_file, segment_first, segment_name};
use crate::reader::Reader;
use crate::safe;
use crate::segment::Segment;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

/// A file of a copy.
#[derive(Debug)]
pub struct Piece {
    /// Its name within the data directory.
    pub name: String,
    content: Content,
}

#[derive(Debug)]
enum Content {
    Bytes(Vec<u8>),
    /// A file as it is when it is opened.
    File(PathBuf),
    /// So much of a file that is open: whatever takes its name has other lengths.
    Part {
        file: File,
        path: PathBuf,
        length: u64,
    },
}

impl Piece {
    /// A file with these bytes.
    pub fn bytes(name: &str, bytes: impl Into<Vec<u8>>) -> Piece {
        Piece { name: name.to_owned(), content: Content::Bytes(bytes.into()) }
    }

    /// A file as it is, if it is there.
    pub fn file(name: &str, path: &Path) -> Option<Piece> {
        let content = Content::File(path.to_owned());
        path.is_file().then(|| Piece { name: name.to_owned(), content })
    }

    /// About how many bytes it has: a segment may be rewritten before it is copied.
    pub fn length(&self) -> u64 {
        match &self.content {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::Part { length, .. } => *length,
            Content::File(path) => fs::metadata(path).map_or(0, |file| file.len()),
        }
    }
}

impl Reader {
    /// Keeps segments from being written anew while this is held.
    pub fn pause(&self) -> MutexGuard<'_, ()> {
        self.shared.rewriting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The files of the record in `dir` as it was when it had `size` entries, which is where a batch
    /// ended. The tree is left out: it is made again.
    pub fn pieces(&self, dir: &Path, size: u64) -> Result<Vec<Piece>, Error> {
        let mut pieces: Vec<_> = Piece::file("record/format", &format_file(dir)).into_iter().collect();
        pieces.extend(snapshots(dir, size)?);
        pieces.extend(safe::pieces(dir)?);
        let segments = self.shared.segments.read().unwrap_or_else(PoisonError::into_inner).clone();
        let used = segments.partition_point(|segment| segment.head.first < size).max(1);
        for (index, segment) in segments.iter().take(used).enumerate() {
            let path = segment.path.clone();
            let content = if index + 1 == used {
                Content::Part { file: segment.file()?, path, length: end(segment, size)? }
            } else {
                Content::File(path)
            };
            pieces.push(Piece { name: format!("record/log/{}", segment_name(segment.head.first)), content });
        }
        Ok(pieces)
    }
}

/// The newest snapshot that the copy has all entries for, and what such rest on.
fn snapshots(dir: &Path, size: u64) -> Result<Vec<Piece>, Error> {
    let dir = dir.join("snapshots");
    let (mut newest, mut found) = (None, Vec::new());
    let listed = match fs::read_dir(&dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(found),
        listed => listed.map_err(Error::io("read", &dir))?,
    };
    for entry in listed {
        let path = entry.map_err(Error::io("read", &dir))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let piece = || Piece::file(&format!("record/snapshots/{name}"), &path);
        if numbered(name, ".part").is_some() {
            found.extend(piece());
        }
        let number = numbered(name, ".snap").filter(|number| *number <= size);
        if number > newest.as_ref().map(|(number, _)| *number) {
            newest = number.zip(piece());
        }
    }
    found.extend(newest.map(|(_, piece)| piece));
    Ok(found)
}

/// The number in a name of twenty digits and an ending.
fn numbered(name: &str, ending: &str) -> Option<u64> {
    segment_first(&format!("{}.seg", name.strip_suffix(ending)?))
}

/// Where the batch ends after which there are `size` entries.
fn end(segment: &Segment, size: u64) -> Result<u64, Error> {
    let Some(last) = size.checked_sub(1) else { return Ok(SEGMENT_HEAD as u64) };
    // By the file that is held: another may have come under its name, and not be known yet.
    let mut cursor = segment.cursor(segment.batch_near(last)?, 4 << 10)?;
    loop {
        let offset = cursor.offset();
        let damaged = |what: &str| Error::damaged(&segment.path, offset, what);
        let bytes = cursor.peek(BATCH_HEAD)?.ok_or_else(|| damaged("a batch is missing"))?;
        let head = decode::batch(bytes, segment.head.id).map_err(damaged)?;
        cursor.skip(BATCH_HEAD + head.size);
        let next = head.first + u64::from(head.count);
        if next == size {
            return Ok(cursor.offset());
        }
        if next > size {
            return Err(damaged(&format!("no batch ends at position {size}")));
        }
    }
}
