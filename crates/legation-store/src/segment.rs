//! A segment as readers see it: its file, and a sparse index from positions to bytes.

use crate::cursor::Cursor;
use crate::decode::{self, BatchHead, SegmentHead};
use crate::error::Error;
use crate::format::{self, BATCH_HEAD, BATCH_MARK, SEGMENT_HEAD};
use crate::ring::Ring;
use legation_exchange::record::Frame;
use std::fs::{self, File};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{OnceLock, PoisonError, RwLock};

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
    /// Its file, once another is about to take its name.
    held: OnceLock<File>,
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
        let file = File::open(&path).map_err(Error::io("open", &path))?;
        Segment::of(file, path, first)
    }

    /// The same, and the file stays at hand, whatever takes its name.
    pub(crate) fn open_held(path: &Path, first: u64) -> Result<Segment, Error> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let held = file.try_clone().map_err(Error::io("open", path))?;
        Ok(Segment { held: OnceLock::from(held), ..Segment::of(file, path.to_owned(), first)? })
    }

    fn of(file: File, path: PathBuf, first: u64) -> Result<Segment, Error> {
        let mut cursor = Cursor::over(file, &path, 0, SEGMENT_HEAD)?;
        let head = decode::segment(cursor.peek(SEGMENT_HEAD)?.unwrap_or_default())
            .map_err(|what| Error::damaged(&path, 0, what))?;
        if head.first != first {
            return Err(Error::damaged(
                &path,
                0,
                format!("it begins at position {}, not where its name says", head.first),
            ));
        }
        Ok(Segment { path, head, held: OnceLock::new(), points: RwLock::default() })
    }

    /// The segment that was just made or is read through: whoever does so adds its points.
    pub(crate) fn fresh(path: PathBuf, head: SegmentHead) -> Segment {
        let points = RwLock::new(Points { list: Vec::new(), whole: true });
        Segment { path, head, held: OnceLock::new(), points }
    }

    /// A window over its file, which may have lost its name to one that was written anew.
    pub(crate) fn cursor(&self, offset: u64, window: usize) -> Result<Cursor, Error> {
        Cursor::over(self.file()?, &self.path, offset, window)
    }

    /// Its file. What is open stays what it is, whatever takes its name.
    pub(crate) fn file(&self) -> Result<File, Error> {
        if let Some(file) = self.held.get() {
            return file.try_clone().map_err(Error::io("open", &self.path));
        }
        let file = File::open(&self.path).map_err(Error::io("open", &self.path))?;
        let mut id = [0; 16];
        if file.read_exact_at(&mut id, 16).is_ok() && id == self.head.id {
            return Ok(file);
        }
        // Another took the name just now; before it did, this one was held.
        match self.held.get() {
            Some(file) => file.try_clone().map_err(Error::io("open", &self.path)),
            None => Err(Error::damaged(&self.path, 16, "it is not the segment it was")),
        }
    }

    /// Keeps the file at hand before another takes its name.
    pub(crate) fn hold(&self) -> Result<(), Error> {
        let file = self.file()?;
        // Held already is held.
        let _ = self.held.set(file);
        Ok(())
    }

    /// What to say of an entry that does not open.
    pub(crate) fn sealed(&self, offset: u64, position: u64, what: String) -> Error {
        Error::Sealed { file: self.path.clone(), offset, position, what }
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
        let mut cursor = self.cursor(SEGMENT_HEAD as u64, 256 << 10)?;
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
                    if let Some(position) = cursor.peek(format::FRAME_LEAD + 8)?.and_then(decode::frame_position) {
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

/// The next batch of a segment, opened; nothing at its end.
pub(crate) fn opened_batch(
    segment: &Segment,
    cursor: &mut Cursor,
    ring: &Ring,
) -> Result<Option<(BatchHead, Vec<Frame>)>, Error> {
    let offset = cursor.offset();
    let damaged = |what: &str| Error::damaged(&segment.path, offset, what);
    let Some(bytes) = cursor.peek(BATCH_HEAD)?.filter(|bytes| bytes.first_chunk() != Some(&[0; 4])) else {
        return Ok(None);
    };
    let head = decode::batch(bytes, segment.head.id).map_err(damaged)?;
    let whole = cursor.peek(BATCH_HEAD + head.size)?.and_then(|bytes| bytes.get(BATCH_HEAD..));
    let bytes = whole.ok_or_else(|| damaged("the batch is not whole"))?;
    if !decode::matches(bytes, &head, segment.head.id) {
        return Err(damaged("the batch does not match its checksum"));
    }
    let stored = decode::frames(bytes, &head, &segment.head).map_err(damaged)?;
    let frames = stored.iter().map(|(at, stored)| {
        let offset = offset + (BATCH_HEAD + at) as u64;
        stored.open(ring, segment.head.id).map_err(|what| segment.sealed(offset, stored.position, what))
    });
    let frames = frames.collect::<Result<_, _>>()?;
    cursor.skip(BATCH_HEAD + head.size);
    Ok(Some((head, frames)))
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
