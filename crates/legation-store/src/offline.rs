//! Reading a record that nobody has open, or a copy of one: without the lock, changing nothing.

use crate::cursor::Cursor;
use crate::error::Error;
use crate::format::{SEGMENT_HEAD, log_dir};
use crate::ring::Ring;
use crate::segment::{self, Segment};
use legation_exchange::record::Frame;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

/// The entries of a record in order. Ends after the first error, and before an append at the end of
/// the last segment that never returned, or is under way. Checksums are checked; that nothing is
/// missing or rewritten is for [`crate::verify::verify`] to say.
#[derive(Debug)]
pub struct Offline {
    /// Those ahead, by their first positions. Each is opened when it is come to: it may be written anew until then.
    segments: IntoIter<(u64, PathBuf)>,
    place: Option<(Segment, Cursor)>,
    batch: IntoIter<Frame>,
    from: u64,
    ring: Ring,
}

impl Offline {
    /// The entries of the record in a directory, from a position on, opened with these keys.
    pub fn open(dir: &Path, from: u64, ring: Ring) -> Result<Offline, Error> {
        let mut segments = segment::list(&log_dir(dir))?;
        let skipped = segments.partition_point(|(first, _)| *first <= from).saturating_sub(1);
        segments.drain(..skipped);
        Ok(Offline { segments: segments.into_iter(), place: None, batch: Vec::new().into_iter(), from, ring })
    }

    fn advance(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            if let Some(frame) = self.batch.find(|frame| frame.position >= self.from) {
                return Ok(Some(frame));
            }
            if self.place.is_none() {
                let Some((first, path)) = self.segments.next() else { return Ok(None) };
                let segment = self.begin(first, &path)?;
                let cursor = segment.cursor(SEGMENT_HEAD as u64, 1 << 20)?;
                self.place = Some((segment, cursor));
            }
            let Some((segment, cursor)) = &mut self.place else { return Ok(None) };
            match segment::opened_batch(segment, cursor, &self.ring) {
                Ok(Some((_, frames))) => self.batch = frames.into_iter(),
                Ok(None) => self.place = None,
                Err(Error::Damaged { .. }) if self.segments.len() == 0 => return Ok(None),
                Err(error) => return Err(error),
            }
        }
    }

    /// Opens a segment. Where the ring lacks its key, an exchange that runs may have changed keys since the ring was
    /// read, and even written the segment anew: both are read again until the segment is the one that was there before.
    fn begin(&mut self, first: u64, path: &Path) -> Result<Segment, Error> {
        let mut before = None;
        loop {
            let segment = Segment::open_held(path, first)?;
            let lacks = segment.head.form.key().is_some_and(|key| self.ring.key(key).is_none());
            if !lacks || before == Some(segment.head.id) {
                return Ok(segment);
            }
            before = Some(segment.head.id);
            self.ring = self.ring.renewed()?;
        }
    }
}

impl Iterator for Offline {
    type Item = Result<Frame, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let found = self.advance();
        if !matches!(found, Ok(Some(_))) {
            (self.segments, self.place) = (Vec::new().into_iter(), None);
        }
        found.transpose()
    }
}
