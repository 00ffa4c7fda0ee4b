//! Files that are sealed as wholes: a head that anyone can read, then the contents in chunks, each sealed
//! with a key of its own. A chunk opens with its file's head and in its place alone, and the last one
//! only as the last. What is written or read needs no second copy in memory.

use crate::disk::Disk;
use crate::error::Error;
use crate::files;
use crate::key::Key;
use crate::log::random_id;
use crate::ring::Ring;
use crate::seal::{self, Once, sealed_len};
use legation_exchange::record::Hash;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

/// How many bytes are sealed at once.
const CHUNK: usize = 1 << 20;
/// What every head begins with: eight letters, the key's number, zeros, random bytes.
pub(crate) const LEAD: usize = 8 + 4 + 4 + 16;

/// Writes a file, durably: whole, or not at all.
pub(crate) fn write(
    disk: &dyn Disk,
    path: &Path,
    magic: [u8; 8],
    key: &Key,
    more: &[u8],
    bytes: &[u8],
) -> Result<(), Error> {
    let mut head = magic.to_vec();
    head.extend(key.id().to_le_bytes());
    head.extend([0; 4]);
    head.extend(random_id(path)?);
    head.extend_from_slice(more);
    files::atomic_write_with(disk, path, 0o600, |file| {
        file.write_all(&head)?;
        each(bytes, |index, last, chunk| {
            let mut sealed = Vec::with_capacity(4 + sealed_len(chunk.len()));
            sealed.extend(u32::try_from(sealed_len(chunk.len())).unwrap_or(u32::MAX).to_le_bytes());
            seal::seal(&once(key, &head, index, last), 0, chunk, &mut sealed);
            file.write_all(&sealed)
        })
    })
}

/// The contents in chunks, in order; without any, one that is empty.
fn each(bytes: &[u8], mut take: impl FnMut(u64, bool, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let (mut rest, mut index) = (bytes, 0);
    loop {
        let (chunk, more) = rest.split_at(rest.len().min(CHUNK));
        take(index, more.is_empty(), chunk)?;
        if more.is_empty() {
            return Ok(());
        }
        (rest, index) = (more, index + 1);
    }
}

/// A file that was written so, its head read.
pub(crate) struct Chunks {
    file: BufReader<File>,
    head: Vec<u8>,
}

impl Chunks {
    /// Begins to read a file, if it has a head that begins so.
    pub(crate) fn open(path: &Path, magic: [u8; 8]) -> io::Result<Option<Chunks>> {
        let mut chunks = Chunks { file: BufReader::new(File::open(path)?), head: Vec::new() };
        let begins = chunks.more(LEAD)?.is_some_and(|lead| lead.starts_with(&magic));
        Ok(begins.then_some(chunks))
    }

    /// The number of the key it is sealed with.
    pub(crate) fn key(&self) -> u32 {
        self.head.get(8..12).and_then(|id| id.try_into().ok()).map_or(0, u32::from_le_bytes)
    }

    /// So many bytes more of the head.
    pub(crate) fn more(&mut self, count: usize) -> io::Result<Option<&[u8]>> {
        let start = self.head.len();
        self.head.resize(start + count, 0);
        let room = self.head.get_mut(start..).unwrap_or_default();
        Ok(whole(self.file.read_exact(room))?.and_then(|()| self.head.get(start..)))
    }

    /// The contents, if every byte of the file is as it was written.
    pub(crate) fn contents(mut self, ring: &Ring) -> io::Result<Option<Vec<u8>>> {
        let Some(key) = ring.key(self.key()) else { return Ok(None) };
        let (mut bytes, mut index, mut sealed) = (Vec::new(), 0, Vec::new());
        loop {
            let mut length = [0; 4];
            if whole(self.file.read_exact(&mut length))?.is_none() {
                return Ok(None);
            }
            let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
            if length > sealed_len(CHUNK) {
                return Ok(None);
            }
            sealed.resize(length, 0);
            if whole(self.file.read_exact(&mut sealed))?.is_none() {
                return Ok(None);
            }
            let last = length < sealed_len(CHUNK) || self.is_over()?;
            let Some(chunk) = seal::open(&once(&key, &self.head, index, last), &sealed) else { return Ok(None) };
            bytes.extend(chunk);
            if last {
                return Ok(self.is_over()?.then_some(bytes));
            }
            index += 1;
        }
    }

    fn is_over(&mut self) -> io::Result<bool> {
        use std::io::BufRead as _;
        Ok(self.file.fill_buf()?.is_empty())
    }
}

/// What was read whole; nothing, where the file was too short.
fn whole(read: io::Result<()>) -> io::Result<Option<()>> {
    match read {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

fn once(key: &Key, head: &[u8], index: u64, last: bool) -> Once {
    key.once(&[b"legation chunk 1\n", &Hash::of(&[head]).0, &index.to_le_bytes(), &[u8::from(last)]])
}
