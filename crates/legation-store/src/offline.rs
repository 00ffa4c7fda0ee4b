//! Reading a record that nobody has open, or a copy of one: without the lock, changing nothing.

use crate::cursor::Cursor;
use crate::error::Error;
use crate::format::{SEGMENT_HEAD, log_dir};
use crate::ring::Ring;
use crate::segment::{self, Segment};
use legation_exchange::record::Frame;
use std::path::Path;
use std::vec::IntoIter;

/// The entries of a record in order. Ends after the first error, and before an append at the end of
/// the last segment that never returned, or is under way. Checksums are checked; that nothing is
/// missing or rewritten is for [`crate::verify::verify`] to say.
#[derive(Debug)]
pub struct Offline {
    segments: IntoIter<Segment>,
    place: Option<(Segment, Cursor)>,
    batch: IntoIter<Frame>,
    from: u64,
    ring: Ring,
}

impl Offline {
    /// The entries of the record in a directory, from a position on, opened with these keys.
    pub fn open(dir: &Path, from: u64, ring: Ring) -> Result<Offline, Error> {
        let mut segments = Vec::new();
        for (first, path) in segment::list(&log_dir(dir))? {
            segments.push(Segment::open(path, first)?);
        }
        let skipped = segments.partition_point(|segment| segment.head.first <= from).saturating_sub(1);
        segments.drain(..skipped);
        Ok(Offline { segments: segments.into_iter(), place: None, batch: Vec::new().into_iter(), from, ring })
    }

    fn advance(&mut self) -> Result<Option<Frame>, Error> {
        loop {
            if let Some(frame) = self.batch.find(|frame| frame.position >= self.from) {
                return Ok(Some(frame));
            }
            if self.place.is_none() {
                let Some(segment) = self.segments.next() else { return Ok(None) };
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
