//! A window that moves over a file. It never asks for more bytes than the file has, so a hostile
//! length costs nothing.

use crate::error::Error;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

/// Reads a file from front to back, or skipping.
#[derive(Debug)]
pub(crate) struct Cursor {
    file: File,
    path: PathBuf,
    /// The file's length when it was opened.
    length: u64,
    /// Where the cursor is.
    offset: u64,
    window: usize,
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    start: u64,
}

impl Cursor {
    /// A window over a file that is open.
    pub(crate) fn over(file: File, path: &Path, offset: u64, window: usize) -> Result<Cursor, Error> {
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        Ok(Cursor { file, path: path.to_owned(), length, offset, window, buffer: Vec::new(), start: 0 })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// How many bytes are left.
    pub(crate) fn left(&self) -> u64 {
        self.length.saturating_sub(self.offset)
    }

    /// The next `count` bytes, without going past them; `None` if there are fewer.
    pub(crate) fn peek(&mut self, count: usize) -> Result<Option<&[u8]>, Error> {
        if !self.holds(count) {
            if count as u64 > self.left() {
                return Ok(None);
            }
            self.fill(count).map_err(Error::io("read", &self.path))?;
        }
        let from = usize::try_from(self.offset - self.start).unwrap_or(usize::MAX);
        Ok(self.buffer.get(from..).and_then(|bytes| bytes.get(..count)))
    }

    /// Goes on without reading what is between.
    pub(crate) fn skip(&mut self, count: usize) {
        self.offset = self.offset.saturating_add(count as u64);
    }

    fn holds(&self, count: usize) -> bool {
        self.start <= self.offset && self.offset + count as u64 <= self.start + self.buffer.len() as u64
    }

    fn fill(&mut self, count: usize) -> io::Result<()> {
        let left = usize::try_from(self.left()).unwrap_or(usize::MAX);
        self.buffer.resize(count.max(self.window).min(left), 0);
        self.start = self.offset;
        let mut filled = 0;
        while let Some(rest) = self.buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.file.read_at(rest, self.start + filled as u64) {
                // A segment that is complete loses its unused end, also under a reader.
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(error) => return Err(error),
            }
        }
        self.buffer.truncate(filled);
        Ok(())
    }
}
