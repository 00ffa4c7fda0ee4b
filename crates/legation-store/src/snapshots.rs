//! Snapshots of what the record was folded into, so that a start need not fold all of it again.
//! Each holds the point of the record it stands for. The newest two are kept. They are sealed with a key
//! of the ring; those of the former format, which lay open, are read too.

mod former;

use crate::chunks::{self, Chunks};
use crate::disk::{Direct, Disk};
use crate::error::Error;
use crate::files;
use crate::known::Known;
use crate::ring::Ring;
use legation_exchange::record::{Frontier, Hash};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const SNAPSHOT: [u8; 8] = *b"LEGSNAP2";
const PART: [u8; 8] = *b"LEGPART2";
const KEPT: usize = 2;

/// The directory of snapshots.
#[derive(Clone, Debug)]
pub struct Snapshots {
    dir: PathBuf,
    disk: Arc<dyn Disk>,
    ring: Arc<Ring>,
    turn: Arc<Mutex<()>>,
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
    pub fn open(dir: &Path, ring: Arc<Ring>) -> Result<Snapshots, Error> {
        Snapshots::on(dir, Arc::new(Direct), ring)
    }

    /// The same, on this disk.
    pub fn on(dir: &Path, disk: Arc<dyn Disk>, ring: Arc<Ring>) -> Result<Snapshots, Error> {
        let dir = place(dir);
        files::create_dir(&dir)?;
        Ok(Snapshots { dir, disk, ring, turn: Arc::default() })
    }

    /// Keeps others from writing snapshots while this is held, who ask for their turn as well.
    pub fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Removes, durably, all snapshots that stand for a point before this one.
    pub fn remove_before(&self, position: u64) -> Result<(), Error> {
        let before = format!("{position:020}");
        let stem = |path: &PathBuf| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        for old in list(&self.dir, "snap")?.iter().filter(|path| stem(path).is_some_and(|stem| stem < before)) {
            remove(old)?;
        }
        files::sync_dir(self.disk.as_ref(), &self.dir)
    }

    /// Writes a snapshot, durably, and removes all but the newest two.
    pub fn write(&self, known: &Known, bytes: &[u8]) -> Result<(), Error> {
        let (path, key) = (self.dir.join(format!("{:020}.snap", known.position)), self.ring.newest()?);
        chunks::write(self.disk.as_ref(), &path, SNAPSHOT, &key, &point(known), bytes)?;
        for old in list(&self.dir, "snap")?.into_iter().rev().skip(KEPT) {
            fs::remove_file(&old).map_err(Error::io("remove", &old))?;
        }
        Ok(())
    }

    /// The snapshots that are whole, newest first. One that is not is passed over: the log has it all.
    pub fn newest_first(&self) -> Result<impl Iterator<Item = Result<Snapshot, Error>>, Error> {
        Ok(list(&self.dir, "snap")?.into_iter().rev().filter_map(|path| self.read(&path).transpose()))
    }

    fn read(&self, path: &Path) -> Result<Option<Snapshot>, Error> {
        let snapshot = || {
            let Some(mut chunks) = Chunks::open(path, SNAPSHOT)? else { return former::snapshot(path) };
            let Some(known) = known(&mut chunks)? else { return Ok(None) };
            Ok(chunks.contents(&self.ring)?.map(|bytes| Snapshot { known, bytes }))
        };
        there(snapshot(), path)
    }

    /// Writes a part that several snapshots rest on, durably. Parts are known by number.
    pub fn write_part(&self, number: u64, bytes: &[u8]) -> Result<(), Error> {
        let (path, key) = (self.part(number), self.ring.newest()?);
        chunks::write(self.disk.as_ref(), &path, PART, &key, &number.to_le_bytes(), bytes)
    }

    /// A part, if it is there and whole.
    pub fn read_part(&self, number: u64) -> Option<Vec<u8>> {
        let path = self.part(number);
        let Some(mut chunks) = Chunks::open(&path, PART).ok()? else { return former::part(&path).ok()? };
        let own = chunks.more(8).ok()?? == number.to_le_bytes();
        chunks.contents(&self.ring).ok()?.filter(|_| own)
    }

    /// Whether a part is there.
    pub fn has_part(&self, number: u64) -> bool {
        self.part(number).exists()
    }

    /// Removes all parts but these.
    pub fn keep_parts(&self, numbers: &[u64]) -> Result<(), Error> {
        let kept: Vec<_> = numbers.iter().map(|number| self.part(*number)).collect();
        for old in list(&self.dir, "part")?.into_iter().filter(|path| !kept.contains(path)) {
            fs::remove_file(&old).map_err(Error::io("remove", &old))?;
        }
        Ok(())
    }

    /// The keys that snapshots and parts are sealed with; `None` for what lies open.
    pub fn keys(&self) -> Result<BTreeSet<Option<u32>>, Error> {
        keys_at(&self.dir)
    }

    /// Seals everything with the newest key that is not, and removes what does not read: it is of no
    /// use. Whoever writes snapshots calls this, so that nobody does at the same time.
    pub fn reseal(&self) -> Result<(), Error> {
        let newest = Some(self.ring.newest()?.id());
        for path in list(&self.dir, "snap")?.into_iter().filter(|path| key_of(path) != newest) {
            match self.read(&path)? {
                Some(Snapshot { known, bytes }) => self.write(&known, &bytes)?,
                None => remove(&path)?,
            }
        }
        for path in list(&self.dir, "part")?.into_iter().filter(|path| key_of(path) != newest) {
            let number = path.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.parse().ok());
            match number.and_then(|number| Some((number, self.read_part(number)?))) {
                Some((number, bytes)) => self.write_part(number, &bytes)?,
                None => remove(&path)?,
            }
        }
        list(&self.dir, "tmp")?.iter().try_for_each(|path| remove(path))
    }

    fn part(&self, number: u64) -> PathBuf {
        self.dir.join(format!("{number:020}.part"))
    }
}

fn place(record: &Path) -> PathBuf {
    record.join("snapshots")
}

/// The keys that the snapshots of a record are sealed with.
pub(crate) fn keys_in(record: &Path) -> Result<BTreeSet<u32>, Error> {
    let dir = place(record);
    let keys = if dir.is_dir() { keys_at(&dir)? } else { BTreeSet::new() };
    Ok(keys.into_iter().flatten().collect())
}

fn keys_at(dir: &Path) -> Result<BTreeSet<Option<u32>>, Error> {
    let files = [list(dir, "snap")?, list(dir, "part")?].concat();
    Ok(files.iter().map(|path| key_of(path)).collect())
}

fn key_of(path: &Path) -> Option<u32> {
    let opened = |magic| Chunks::open(path, magic).ok().flatten();
    opened(SNAPSHOT).or_else(|| opened(PART)).map(|chunks| chunks.key())
}

/// Oldest first: their names are positions of equal width.
fn list(dir: &Path, kind: &str) -> Result<Vec<PathBuf>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(Error::io("read", dir))? {
        let path = entry.map_err(Error::io("read", dir))?.path();
        if path.extension().is_some_and(|extension| extension == kind) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

/// What was read from a file, unless it went meanwhile.
fn there<T>(read: io::Result<Option<T>>, path: &Path) -> Result<Option<T>, Error> {
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map_err(Error::io("read", path)),
    }
}

fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// The point of the record a snapshot stands for, as its head has it.
fn point(known: &Known) -> Vec<u8> {
    let mut head = known.position.to_le_bytes().to_vec();
    head.extend(known.chain.0);
    // One for each bit of the size: they are few.
    head.extend(known.frontier.peaks().iter().flat_map(|peak| peak.0));
    head
}

fn known(chunks: &mut Chunks) -> io::Result<Option<Known>> {
    let Some(position) = array(chunks)?.map(u64::from_le_bytes) else { return Ok(None) };
    let Some(chain) = array(chunks)?.map(Hash) else { return Ok(None) };
    let mut peaks = Vec::new();
    for _ in 0..position.count_ones() {
        let Some(peak) = array(chunks)?.map(Hash) else { return Ok(None) };
        peaks.push(peak);
    }
    Ok(Frontier::from_peaks(position, peaks).map(|frontier| Known { position, chain, frontier }))
}

fn array<const N: usize>(chunks: &mut Chunks) -> io::Result<Option<[u8; N]>> {
    Ok(chunks.more(N)?.and_then(|bytes| bytes.try_into().ok()))
}
