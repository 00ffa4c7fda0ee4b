//! A file read from front to back, field by field.

use crate::error::Error;
use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

/// A file being read.
pub(super) struct Source {
    reader: BufReader<File>,
    path: PathBuf,
    offset: u64,
    length: u64,
}

impl Source {
    pub(super) fn open(path: &Path) -> Result<Source, Error> {
        let file = File::open(path).map_err(Error::io("open", path))?;
        let length = file.metadata().map_err(Error::io("read", path))?.len();
        Ok(Source { reader: BufReader::with_capacity(1 << 20, file), path: path.to_owned(), offset: 0, length })
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn left(&self) -> u64 {
        self.length.saturating_sub(self.offset)
    }

    /// Fills the buffer from where the file is; `false`, and nothing read, if it has not so many bytes.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<bool, Error> {
        if buffer.len() as u64 > self.left() {
            return Ok(false);
        }
        self.reader.read_exact(buffer).map_err(Error::io("read", &self.path))?;
        self.offset += buffer.len() as u64;
        Ok(true)
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Error> {
        let mut bytes = [0; N];
        Ok(self.read(&mut bytes)?.then_some(bytes))
    }
}
