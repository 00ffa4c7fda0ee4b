//! Writing a copy: as one file, or as files in a directory.

use super::{Content, Piece};
use crate::error::Error;
use crate::files;
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

/// Where a copy goes.
pub enum Target<'t> {
    /// Into a tar archive.
    Tar(&'t mut dyn Write),
    /// Into a directory.
    Dir(&'t Path),
}

/// How many files a copy may have open at once, however few this process may open.
const LEAST: u64 = 256;

/// How many files a copy has open at once: the rest of what this process may open is for others.
fn most() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    limit.map_or(u64::MAX, |limit| (limit / 4).max(LEAST))
}

/// Pieces to be copied. Those that are open stay what they are, whatever takes the place of their files.
pub enum Ready {
    /// All of them are open.
    Open(Vec<(String, PathBuf, Opened)>),
    /// They are more than may be open at once, and each is opened when it is copied: until the last one is, no segment
    /// may be written anew.
    OneByOne(Vec<Piece>),
}

impl Ready {
    /// Opens pieces, as far as there are files for them. What has gone since it was listed is left out: only snapshots
    /// do, which can be done without, and secrets whose owners are gone.
    pub fn open(pieces: Vec<Piece>) -> Result<Ready, Error> {
        Ready::open_at_most(pieces, most())
    }

    /// The same with so many open at once.
    pub fn open_at_most(pieces: Vec<Piece>, most: u64) -> Result<Ready, Error> {
        if pieces.len() as u64 > most {
            return Ok(Ready::OneByOne(pieces));
        }
        let mut ready = Vec::with_capacity(pieces.len());
        for piece in &pieces {
            match piece.open() {
                Ok(opened) => ready.extend(opened.map(|opened| (piece.name.clone(), piece.place(), opened))),
                Err(error) if is_for_want_of_files(&error) => return Ok(Ready::OneByOne(pieces)),
                Err(error) => return Err(error),
            }
        }
        Ok(Ready::Open(ready))
    }

    /// Whether segments may be written anew while this is copied.
    pub fn is_open(&self) -> bool {
        matches!(self, Ready::Open(_))
    }
}

/// Whether the system has no more files for this process, or for any.
fn is_for_want_of_files(error: &Error) -> bool {
    let wanting = [Errno::MFILE, Errno::NFILE].map(|errno| Some(errno.raw_os_error()));
    matches!(error, Error::Io { source, .. } if wanting.contains(&source.raw_os_error()))
}

/// Writes pieces; `progress` hears of every few bytes.
pub fn pack(pieces: Ready, target: Target<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    let mut sink = match target {
        Target::Tar(out) => Sink::Tar(Box::new(tar::Builder::new(out))),
        Target::Dir(dir) => Sink::Dir(dir),
    };
    match pieces {
        Ready::Open(pieces) => {
            for (name, place, opened) in pieces {
                sink.copy(&name, place, opened, progress)?;
            }
        }
        Ready::OneByOne(pieces) => {
            for piece in pieces {
                if let Some(opened) = piece.open()? {
                    sink.copy(&piece.name, piece.place(), opened, progress)?;
                }
            }
        }
    }
    match sink {
        Sink::Tar(mut archive) => archive.finish().map_err(Error::room("finish", Path::new("the archive"))),
        Sink::Dir(dir) => files::sync_dir(&crate::Direct, dir),
    }
}

/// Bytes, and how many.
type Opened = (Box<dyn Read>, u64);

impl Piece {
    fn place(&self) -> PathBuf {
        match &self.content {
            Content::Bytes(_) => PathBuf::from(&self.name),
            Content::File(path) | Content::Part { path, .. } => path.clone(),
        }
    }

    /// Its bytes and how many they are.
    fn open(&self) -> Result<Option<Opened>, Error> {
        let may_be_gone = self.name.contains("/snapshots/") || self.name.contains("/safe/");
        match &self.content {
            Content::Bytes(bytes) => {
                let length = bytes.len() as u64;
                Ok(Some((Box::new(io::Cursor::new(bytes.clone())), length)))
            }
            Content::Part { file, path, length } => {
                let file = file.try_clone().map_err(Error::io("open", path))?;
                Ok(Some((Box::new(FromStart { file, offset: 0 }), *length)))
            }
            Content::File(path) => match File::open(path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && may_be_gone => Ok(None),
                file => {
                    let file = file.map_err(Error::io("open", path))?;
                    let length = file.metadata().map_err(Error::io("read", path))?.len();
                    Ok(Some((Box::new(file), length)))
                }
            },
        }
    }
}

/// A file read from its beginning, wherever others who share it are.
struct FromStart {
    file: File,
    offset: u64,
}

impl Read for FromStart {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read_at(buffer, self.offset)?;
        self.offset += read as u64;
        Ok(read)
    }
}

enum Sink<'t> {
    Tar(Box<tar::Builder<&'t mut dyn Write>>),
    Dir(&'t Path),
}

impl Sink<'_> {
    /// Copies a piece, all of it.
    fn copy(
        &mut self,
        name: &str,
        place: PathBuf,
        (source, length): Opened,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), Error> {
        let mut counted = Counted { source: source.take(length), read: 0, progress };
        self.put(name, length, &mut counted).map_err(Error::room("copy", &place))?;
        if counted.read != length {
            return Err(Error::Io { action: "copy", path: place, source: io::ErrorKind::UnexpectedEof.into() });
        }
        Ok(())
    }

    fn put(&mut self, name: &str, length: u64, bytes: &mut dyn Read) -> io::Result<()> {
        match self {
            Sink::Tar(archive) => {
                let mut head = tar::Header::new_gnu();
                head.set_size(length);
                head.set_mode(0o600);
                archive.append_data(&mut head, name, bytes)
            }
            Sink::Dir(dir) => write(&dir.join(name), bytes),
        }
    }
}

/// Writes a file that is not there yet, durably, for its owner alone.
pub(super) fn write(path: &Path, bytes: &mut dyn Read) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        files::create_dir(parent).map_err(io::Error::other)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    io::copy(bytes, &mut file)?;
    file.sync_all()?;
    path.parent().map_or(Ok(()), |parent| fs::File::open(parent)?.sync_all())
}

struct Counted<'p> {
    source: io::Take<Box<dyn Read>>,
    read: u64,
    progress: &'p mut dyn FnMut(u64),
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(buffer)?;
        self.read += read as u64;
        (self.progress)(read as u64);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::is_for_want_of_files;
    use crate::error::Error;
    use std::io;
    use std::path::Path;

    #[test]
    fn only_want_of_files_is_helped_by_opening_fewer() {
        for (number, want) in [(24, true), (23, true), (2, false), (13, false), (5, false)] {
            let error = Error::io("open", Path::new("x"))(io::Error::from_raw_os_error(number));
            assert_eq!(is_for_want_of_files(&error), want, "{number}");
        }
    }
}
