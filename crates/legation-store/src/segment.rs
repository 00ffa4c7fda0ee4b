//! A segment as readers see it: its file, and a sparse index from positions to bytes.

use crate::cursor::Cursor;
use crate::decode::{self, SegmentHead};
use crate::error::Error;
use crate::format::{self, BATCH_HEAD, BATCH_MARK, SEGMENT_HEAD};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// How many bytes of a segment share one point of its index.
const SPACING: u64 = 16 << 10;

/// Where a frame lies, and the header of its batch.
#[derive(Clone, Copy, Debug)]
struct Point {
    position: u64,
    offset: u64,
    batch: u64,
}

/// One file of the log.
#[derive(Debug)]
pub(crate) struct Segment {
    pub(crate) path: PathBuf,
    pub(crate) head: SegmentHead,
    points: RwLock<Points>,
}

#[derive(Debug, Default)]
struct Points {
    list: Vec<Point>,
    /// Whether the list reaches to the end, rather than being made when it is first needed.
    whole: bool,
}

/// What stands at a place among the batches.
pub(crate) enum Item {
    /// A batch's header.
    Batch,
    /// A frame of this size.
    Frame(usize),
    /// Nothing any more.
    End,
}

impl Segment {
    /// Reads the header of a segment; its index is made when it is needed.
    pub(crate) fn open(path: PathBuf, first: u64) -> Result<Segment, Error> {
        let mut cursor = Cursor::open(&path, 0, SEGMENT_HEAD)?;
        let head = decode::segment(cursor.peek(SEGMENT_HEAD)?.unwrap_or_default())
            .map_err(|what| Error::damaged(&path, 0, what))?;
        if head.first != first {
            return Err(Error::damaged(
                &path,
                0,
                format!("it begins at position {}, not where its name says", head.first),
            ));
        }
        Ok(Segment { path, head, points: RwLock::default() })
    }

    /// The segment that was just made or is read through: whoever does so adds its points.
    pub(crate) fn fresh(path: PathBuf, head: SegmentHead) -> Segment {
        Segment { path, head, points: RwLock::new(Points { list: Vec::new(), whole: true }) }
    }

    /// Adds the frames of the batch whose header lies at `batch`, in the order they lie in the file.
    pub(crate) fn add(&self, batch: u64, frames: impl Iterator<Item = (u64, u64)>) {
        let mut points = self.points.write().unwrap_or_else(PoisonError::into_inner);
        frames.for_each(|(position, offset)| points.add(Point { position, offset, batch }));
    }

    /// A place at or before the frame of this position, and not far from it.
    pub(crate) fn near(&self, position: u64) -> Result<u64, Error> {
        self.point(position).map(|point| point.map_or(SEGMENT_HEAD as u64, |point| point.offset))
    }

    /// The header of a batch at or before the one this position is in, and not far from it.
    pub(crate) fn batch_near(&self, position: u64) -> Result<u64, Error> {
        self.point(position).map(|point| point.map_or(SEGMENT_HEAD as u64, |point| point.batch))
    }

    fn point(&self, position: u64) -> Result<Option<Point>, Error> {
        {
            let points = self.points.read().unwrap_or_else(PoisonError::into_inner);
            if points.whole {
                return Ok(points.near(position));
            }
        }
        let made = self.walk()?;
        let near = made.near(position);
        *self.points.write().unwrap_or_else(PoisonError::into_inner) = made;
        Ok(near)
    }

    fn walk(&self) -> Result<Points, Error> {
        let mut points = Points { list: Vec::new(), whole: true };
        let mut cursor = Cursor::open(&self.path, SEGMENT_HEAD as u64, 256 << 10)?;
        let mut batch = SEGMENT_HEAD as u64;
        loop {
            let offset = cursor.offset();
            match item(&mut cursor)? {
                Item::End => return Ok(points),
                Item::Batch => {
                    batch = offset;
                    cursor.skip(BATCH_HEAD);
                }
                Item::Frame(size) => {
                    if let Some(position) = cursor.peek(format::FRAME_HEAD)?.and_then(decode::frame_position) {
                        points.add(Point { position, offset, batch });
                    }
                    cursor.skip(size);
                }
            }
        }
    }
}

impl Points {
    fn add(&mut self, point: Point) {
        if self.list.last().is_none_or(|last| point.offset >= last.offset + SPACING) {
            self.list.push(point);
        }
    }

    /// The last point at or before a position.
    fn near(&self, position: u64) -> Option<Point> {
        let after = self.list.partition_point(|point| point.position <= position);
        after.checked_sub(1).and_then(|at| self.list.get(at)).copied()
    }
}

/// What stands where the cursor is.
pub(crate) fn item(cursor: &mut Cursor) -> Result<Item, Error> {
    let Some(lead) = cursor.peek(4)?.and_then(|lead| lead.first_chunk::<4>()) else { return Ok(Item::End) };
    match u32::from_le_bytes(*lead) {
        0 => Ok(Item::End),
        BATCH_MARK => Ok(Item::Batch),
        _ => {
            let size = decode::frame_size(lead);
            size.map(Item::Frame).map_err(|what| Error::damaged(cursor.path(), cursor.offset(), what))
        }
    }
}

/// The segments in a directory with the positions their names say, in order.
pub(crate) fn list(dir: &Path) -> Result<Vec<(u64, PathBuf)>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let entry = entry.map_err(Error::io("read", dir))?;
        if let Some(first) = entry.file_name().to_str().and_then(format::segment_first) {
            found.push((first, entry.path()));
        }
    }
    found.sort();
    Ok(found)
}
