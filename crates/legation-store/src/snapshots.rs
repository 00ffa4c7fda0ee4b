//! Snapshots of what the record was folded into, so that a start need not fold all of it again.
//! Each holds the point of the record it stands for. The newest two are kept.

use crate::disk::{Direct, Disk};
use crate::error::Error;
use crate::files;
use crate::known::Known;
use legation_exchange::record::{Frontier, Hash};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const MAGIC: [u8; 8] = *b"LEGSNAP1";
const KEPT: usize = 2;

/// The directory of snapshots.
#[derive(Clone, Debug)]
pub struct Snapshots {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
}

/// One snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The point of the record it stands for.
    pub known: Known,
    /// What the caller put in.
    pub bytes: Vec<u8>,
}

impl Snapshots {
    /// The snapshots of the record in this directory.
    pub fn open(dir: &Path) -> Result<Snapshots, Error> {
        Snapshots::on(dir, Arc::new(Direct))
    }

    /// The same, on this disk.
    pub fn on(dir: &Path, disk: Arc<dyn Disk>) -> Result<Snapshots, Error> {
        let dir = dir.join("snapshots");
        files::create_dir(&dir)?;
        Ok(Snapshots { dir, disk })
    }

    /// Writes a snapshot, durably, and removes all but the newest two.
    pub fn write(&self, known: &Known, bytes: &[u8]) -> Result<(), Error> {
        let head = head(known, bytes.len());
        let mut crc = crc32fast::Hasher::new();
        crc.update(&head);
        crc.update(bytes);
        let path = self.dir.join(format!("{:020}.snap", known.position));
        files::atomic_write_parts(self.disk.as_ref(), &path, &[&head, bytes, &crc.finalize().to_le_bytes()], 0o600)?;
        for old in self.list("snap")?.into_iter().rev().skip(KEPT) {
            fs::remove_file(&old).map_err(Error::io("remove", &old))?;
        }
        Ok(())
    }

    /// The snapshots that are whole, newest first. One that is not is passed over: the log has it all.
    pub fn newest_first(&self) -> Result<impl Iterator<Item = Result<Snapshot, Error>>, Error> {
        let whole = |path: PathBuf| match fs::read(&path) {
            Ok(bytes) => read(bytes).map(Ok),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => Some(Err(Error::io("read", &path)(error))),
        };
        Ok(self.list("snap")?.into_iter().rev().filter_map(whole))
    }

    /// Writes a part that several snapshots rest on, durably. Parts are known by number.
    pub fn write_part(&self, number: u64, bytes: &[u8]) -> Result<(), Error> {
        let crc = crc32fast::hash(bytes).to_le_bytes();
        files::atomic_write_parts(self.disk.as_ref(), &self.part(number), &[bytes, &crc], 0o600)
    }

    /// A part, if it is there and whole.
    pub fn read_part(&self, number: u64) -> Option<Vec<u8>> {
        let mut bytes = fs::read(self.part(number)).ok()?;
        let (rest, crc) = bytes.split_last_chunk::<4>()?;
        let whole = crc32fast::hash(rest) == u32::from_le_bytes(*crc);
        let length = rest.len();
        bytes.truncate(length);
        whole.then_some(bytes)
    }

    /// Whether a part is there.
    pub fn has_part(&self, number: u64) -> bool {
        self.part(number).exists()
    }

    /// Removes all parts but these.
    pub fn keep_parts(&self, numbers: &[u64]) -> Result<(), Error> {
        let kept: Vec<_> = numbers.iter().map(|number| self.part(*number)).collect();
        for old in self.list("part")?.into_iter().filter(|path| !kept.contains(path)) {
            fs::remove_file(&old).map_err(Error::io("remove", &old))?;
        }
        Ok(())
    }

    fn part(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:020}.part"))
    }

    /// Oldest first: their names are positions of equal width.
    fn list(&self, kind: &str) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(Error::io("read", &self.dir))? {
            let path = entry.map_err(Error::io("read", &self.dir))?.path();
            if path.extension().is_some_and(|extension| extension == kind) {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }
}

fn head(known: &Known, length: usize) -> Vec<u8> {
    let peaks = known.frontier.peaks();
    let mut head = MAGIC.to_vec();
    head.extend(known.position.to_le_bytes());
    head.extend(known.chain.0);
    // One for each bit of the size: they are few.
    head.extend(u32::try_from(peaks.len()).unwrap_or(u32::MAX).to_le_bytes());
    head.extend(peaks.iter().flat_map(|peak| peak.0));
    head.extend((length as u64).to_le_bytes());
    head
}

fn read(mut bytes: Vec<u8>) -> Option<Snapshot> {
    let (rest, crc) = bytes.split_last_chunk::<4>()?;
    if crc32fast::hash(rest) != u32::from_le_bytes(*crc) {
        return None;
    }
    let (magic, rest) = rest.split_first_chunk::<8>()?;
    let (position, rest) = rest.split_first_chunk::<8>()?;
    let (chain, rest) = rest.split_first_chunk::<32>()?;
    let (count, mut rest) = rest.split_first_chunk::<4>()?;
    let position = u64::from_le_bytes(*position);
    let mut peaks = Vec::new();
    for _ in 0..position.count_ones() {
        let (peak, more) = rest.split_first_chunk::<32>()?;
        peaks.push(Hash(*peak));
        rest = more;
    }
    let (length, rest) = rest.split_first_chunk::<8>()?;
    if *magic != MAGIC || Ok(u32::from_le_bytes(*count)) != u32::try_from(peaks.len()) {
        return None;
    }
    if u64::from_le_bytes(*length) != rest.len() as u64 {
        return None;
    }
    let (chain, start) = (Hash(*chain), bytes.len() - 4 - rest.len());
    // A snapshot can be large: its bytes are moved to the front rather than copied.
    bytes.truncate(bytes.len() - 4);
    bytes.drain(..start);
    Some(Snapshot { known: Known { position, chain, frontier: Frontier::from_peaks(position, peaks)? }, bytes })
}
