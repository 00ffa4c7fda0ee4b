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
        for old in self.list()?.into_iter().rev().skip(KEPT) {
            fs::remove_file(&old).map_err(Error::io("remove", &old))?;
        }
        Ok(())
    }

    /// The newest snapshot that is whole. One that is not is passed over: the log has it all.
    pub fn latest(&self) -> Result<Option<Snapshot>, Error> {
        for path in self.list()?.into_iter().rev() {
            match fs::read(&path) {
                Ok(bytes) => {
                    if let Some(snapshot) = read(bytes) {
                        return Ok(Some(snapshot));
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => (),
                Err(error) => return Err(Error::io("read", &path)(error)),
            }
        }
        Ok(None)
    }

    /// Oldest first: their names are positions of equal width.
    fn list(&self) -> Result<Vec<PathBuf>, Error> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(Error::io("read", &self.dir))? {
            let path = entry.map_err(Error::io("read", &self.dir))?.path();
            if path.extension().is_some_and(|extension| extension == "snap") {
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
