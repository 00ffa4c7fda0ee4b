//! A file read from front to back, field by field.

use crate::error::Error;
use std::fs::File;
use std::io::{self, BufReader, Read as _, Seek as _, SeekFrom};
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

    /// The file itself, whatever has its name by now.
    pub(super) fn file(&self) -> &File {
        self.reader.get_ref()
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    pub(super) fn left(&self) -> u64 {
        self.length.saturating_sub(self.offset)
    }

    /// Fills the buffer from where the file is; `false` if it has not so many bytes, or no longer: an exchange that
    /// runs gives back the room behind the last batch when it goes on in another segment.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<bool, Error> {
        if buffer.len() as u64 > self.left() {
            return Ok(false);
        }
        match self.reader.read_exact(buffer) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(false),
            read => read.map_err(Error::io("read", &self.path))?,
        }
        self.offset += buffer.len() as u64;
        Ok(true)
    }

    /// Goes back to a byte, and forgets what was read ahead: what is read from here on is what the file has now.
    pub(super) fn back_to(&mut self, offset: u64) -> Result<(), Error> {
        self.reader.seek(SeekFrom::Start(offset)).map_err(Error::io("read", &self.path))?;
        self.length = self.file().metadata().map_err(Error::io("read", &self.path))?.len();
        self.offset = offset;
        Ok(())
    }

    /// The next `N` bytes.
    pub(super) fn array<const N: usize>(&mut self) -> Result<Option<[u8; N]>, Error> {
        let mut bytes = [0; N];
        Ok(self.read(&mut bytes)?.then_some(bytes))
    }
}
