//! Writing a copy: as one file, or as files in a directory.

use super::{Content, Piece};
use crate::error::Error;
use crate::files;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

/// Where a copy goes.
pub enum Target<'t> {
    /// Into a tar archive.
    Tar(&'t mut dyn Write),
    /// Into a directory.
    Dir(&'t Path),
}

/// Pieces that are open: whatever takes the place of their files, these stay what they are.
pub struct Ready(Vec<(String, PathBuf, Opened)>);

impl Ready {
    /// Opens pieces. What has gone since it was listed is left out: only snapshots do, which can be
    /// done without, and secrets whose owners are gone.
    pub fn open(pieces: Vec<Piece>) -> Result<Ready, Error> {
        let mut ready = Vec::with_capacity(pieces.len());
        for piece in pieces {
            let (name, place) = (piece.name.clone(), piece.place());
            ready.extend(piece.open()?.map(|opened| (name, place, opened)));
        }
        Ok(Ready(ready))
    }
}

/// Writes pieces; `progress` hears of every few bytes.
pub fn pack(pieces: Ready, target: Target<'_>, progress: &mut dyn FnMut(u64)) -> Result<(), Error> {
    let mut sink = match target {
        Target::Tar(out) => Sink::Tar(Box::new(tar::Builder::new(out))),
        Target::Dir(dir) => Sink::Dir(dir),
    };
    for (name, place, (source, length)) in pieces.0 {
        let mut counted = Counted { source: source.take(length), read: 0, progress };
        sink.put(&name, length, &mut counted).map_err(Error::room("copy", &place))?;
        if counted.read != length {
            return Err(Error::Io { action: "copy", path: place, source: io::ErrorKind::UnexpectedEof.into() });
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
            Content::File { path, .. } => path.clone(),
        }
    }

    /// Its bytes and how many they are.
    fn open(self) -> Result<Option<Opened>, Error> {
        let may_be_gone = self.name.contains("/snapshots/") || self.name.contains("/safe/");
        match self.content {
            Content::Bytes(bytes) => {
                let length = bytes.len() as u64;
                Ok(Some((Box::new(io::Cursor::new(bytes)), length)))
            }
            Content::File { path, length } => match File::open(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && may_be_gone => Ok(None),
                file => {
                    let file = file.map_err(Error::io("open", &path))?;
                    let whole = file.metadata().map_err(Error::io("read", &path))?.len();
                    Ok(Some((Box::new(file), length.unwrap_or(whole))))
                }
            },
        }
    }
}

enum Sink<'t> {
    Tar(Box<tar::Builder<&'t mut dyn Write>>),
    Dir(&'t Path),
}

impl Sink<'_> {
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
