//! The key ring: the keys the record is sealed with, newest first, in one file that only its owner may
//! read. New things are sealed with the newest; the others open what is older, until nothing is.

use crate::error::Error;
use crate::files;
use crate::key::Key;
use crate::segment;
use crate::{format, safe, snapshots};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use legation_exchange::Moment;
use legation_protocol::Timestamp;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use zeroize::Zeroizing;

/// The keys of a record.
#[derive(Debug)]
pub struct Ring {
    /// Where it lies; nowhere, for one in memory alone.
    file: Option<PathBuf>,
    /// The data directory of its record, where that is known: directories are made in there, and nowhere else.
    home: Option<PathBuf>,
    /// The disk that its directory was on when it was read.
    disk: Option<u64>,
    /// Newest first.
    keys: RwLock<Vec<Arc<Key>>>,
}

impl Ring {
    /// Opens the ring of the record in a directory. Where there is none one is made, unless something
    /// is sealed already: then the ring is lost, and a new one would open nothing.
    pub fn open(file: &Path, record: &Path, now: Moment) -> Result<Ring, Error> {
        let read = || Ring::read(file).map(|ring| Ring { home: record.parent().map(Path::to_owned), ..ring });
        let found = read()?;
        if !found.list().is_empty() {
            return Ok(found);
        }
        let wanted = Ring::wanted(record)?;
        if !wanted.is_empty() {
            return Err(Error::KeysLost { file: file.to_owned(), wanted });
        }
        found.settle(file)?;
        let key = fresh(1, now, file)?;
        // Whoever comes second takes what the first one made.
        files::create_new(file, written(std::slice::from_ref(&key)).as_bytes(), 0o600)?;
        read()
    }

    /// Makes sure that it has every key that entries of a record, and what is kept beside them, were sealed with.
    /// Snapshots can be done without.
    pub fn must_open(&self, record: &Path) -> Result<(), Error> {
        let wanted = needed(record)?;
        if self.without(&wanted).is_empty() {
            return Ok(());
        }
        // An exchange that runs may have changed keys since the file was read.
        let lacking = self.renewed()?.without(&wanted);
        if lacking.is_empty() { Ok(()) } else { Err(self.lacks(lacking)) }
    }

    /// The key that a segment is sealed with, where this ring lacks it.
    pub fn lacks_for(&self, segment: &Path) -> Result<Option<u32>, Error> {
        let first = segment.file_name().and_then(|name| name.to_str()).and_then(format::segment_first);
        let Some(first) = first else { return Ok(None) };
        let key = segment::Segment::open(segment.to_owned(), first)?.head.form.key();
        Ok(key.filter(|id| self.key(*id).is_none()))
    }

    fn without(&self, wanted: &BTreeSet<u32>) -> Vec<u32> {
        wanted.iter().copied().filter(|id| self.key(*id).is_none()).collect()
    }

    /// The keys that what lies in a record's directory was sealed with.
    pub fn wanted(record: &Path) -> Result<Vec<u32>, Error> {
        let mut wanted = needed(record)?;
        wanted.extend(snapshots::keys_in(record)?);
        Ok(wanted.into_iter().collect())
    }

    /// Reads a ring; one that is not there has no keys.
    pub fn read(file: &Path) -> Result<Ring, Error> {
        let text = match fs::read_to_string(file) {
            Ok(text) => Zeroizing::new(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Ring::of(Some(file), Vec::new())),
            Err(error) => return Err(Error::io("read", file)(error)),
        };
        let mode = fs::metadata(file).map_err(Error::io("read", file))?.permissions().mode() & 0o777;
        if mode & 0o077 != 0 {
            return Err(Error::KeysExposed { file: file.to_owned(), mode });
        }
        let mut keys = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let key = parsed(line).ok_or_else(|| Error::Ring { file: file.to_owned(), line: index + 1 })?;
            keys.push(Arc::new(key));
        }
        if !keys.is_sorted_by(|newer, older| newer.id() > older.id()) {
            return Err(Error::Ring { file: file.to_owned(), line: 1 });
        }
        Ok(Ring::of(Some(file), keys))
    }

    /// This ring with the keys as well that came into its file since it was read. None is forgotten: what was opened
    /// before may be sealed with a key that has left the file.
    pub(crate) fn renewed(&self) -> Result<Ring, Error> {
        let mut keys = self.list();
        let Some(file) = self.file.as_deref() else { return Ok(Ring::of(None, keys)) };
        let found = Ring::read(file)?.list();
        keys.extend(found.into_iter().filter(|key| self.key(key.id()).is_none()));
        keys.sort_by_key(|key| std::cmp::Reverse(key.id()));
        Ok(Ring::of(Some(file), keys))
    }

    /// A ring in memory with this one key, for records that nobody keeps.
    pub fn fixed(master: [u8; 32]) -> Ring {
        Ring::of(None, vec![Arc::new(Key::new(1, Moment::default(), Zeroizing::new(master)))])
    }

    fn of(file: Option<&Path>, keys: Vec<Arc<Key>>) -> Ring {
        let disk = file.and_then(|file| disk_of(parent(file)));
        Ring { file: file.map(Path::to_owned), home: None, disk, keys: RwLock::new(keys) }
    }

    /// The key that new things are sealed with.
    pub fn newest(&self) -> Result<Arc<Key>, Error> {
        let newest = self.keys().first().cloned();
        newest.ok_or_else(|| self.lacks(Vec::new()))
    }

    /// What to say when these keys are wanted, and not here.
    pub(crate) fn lacks(&self, wanted: Vec<u32>) -> Error {
        Error::KeysLost { file: self.file.clone().unwrap_or_default(), wanted }
    }

    /// Whether the file still holds the key that new things are sealed with, for its owner alone.
    pub fn check(&self) -> Result<(), Error> {
        let Some(file) = self.file.as_deref() else { return Ok(()) };
        // The one in memory first: a key that comes meanwhile is in the file before it is here.
        let newest = self.newest()?;
        let found = Ring::read(file)?.key(newest.id());
        match found {
            Some(key) if key.master() == newest.master() => Ok(()),
            Some(_) | None => Err(self.lacks(vec![newest.id()])),
        }
    }

    /// Writes the file again where it is gone, and says where. What has its name stays as it is.
    pub fn put_back(&self) -> Result<Option<&Path>, Error> {
        let Some(file) = self.file.as_deref() else { return Ok(None) };
        // No key comes or goes while this is held.
        let keys = self.keys();
        if file.try_exists().map_err(Error::io("read", file))? {
            return Ok(None);
        }
        self.settle(file)?;
        files::create_new(file, written(&keys).as_bytes(), 0o600)?;
        Ok(Some(file))
    }

    /// The keys as their file has them.
    pub fn to_text(&self) -> Zeroizing<String> {
        written(&self.keys())
    }

    /// All keys, newest first.
    pub fn list(&self) -> Vec<Arc<Key>> {
        self.keys().clone()
    }

    /// The key with this number.
    pub(crate) fn key(&self, id: u32) -> Option<Arc<Key>> {
        self.keys().iter().find(|key| key.id() == id).cloned()
    }

    /// Makes a key, durably, that everything is sealed with from now on.
    pub fn add(&self, now: Moment) -> Result<Arc<Key>, Error> {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        let file = self.file.as_deref().unwrap_or(Path::new("the key ring"));
        let id = keys.first().map_or(0, |key| key.id()).checked_add(1);
        let key = fresh(id.ok_or_else(|| Error::Ring { file: file.to_owned(), line: 1 })?, now, file)?;
        let all: Vec<_> = [Arc::clone(&key)].into_iter().chain(keys.iter().cloned()).collect();
        self.write(&all)?;
        *keys = all;
        Ok(key)
    }

    /// Forgets all keys but these and the newest, and says which. What they sealed opens never again.
    pub fn retain(&self, used: &BTreeSet<u32>) -> Result<Vec<u32>, Error> {
        let mut keys = self.keys.write().unwrap_or_else(PoisonError::into_inner);
        let newest = keys.first().map(|key| key.id());
        let stays = |key: &Arc<Key>| Some(key.id()) == newest || used.contains(&key.id());
        let (kept, gone): (Vec<_>, Vec<_>) = keys.iter().cloned().partition(stays);
        if !gone.is_empty() {
            self.write(&kept)?;
            *keys = kept;
        }
        Ok(gone.iter().map(|key| key.id()).collect())
    }

    fn write(&self, keys: &[Arc<Key>]) -> Result<(), Error> {
        let Some(file) = self.file.as_deref() else { return Ok(()) };
        if !file.try_exists().map_err(Error::io("read", file))? {
            self.settle(file)?;
        }
        files::atomic_write(file, written(keys).as_bytes(), 0o600)
    }

    /// Sees that a file that is gone may be written where it lay, and makes its directory again in the data directory.
    /// A directory elsewhere that is gone, or suddenly on another disk, lay on one that is not mounted: keys written
    /// there would stay in the open, and be hidden by the next mount.
    fn settle(&self, file: &Path) -> Result<(), Error> {
        let dir = parent(file);
        let below = || self.home.as_deref().filter(|home| lies_in(dir, home));
        let base = if dir.is_dir() { Some(dir) } else { below() };
        let is_ours = match self.disk {
            None => base.is_some(),
            Some(disk) => base.and_then(disk_of) == Some(disk),
        };
        if is_ours { files::create_dir(dir) } else { Err(Error::RingPlace { dir: dir.to_owned() }) }
    }

    fn keys(&self) -> std::sync::RwLockReadGuard<'_, Vec<Arc<Key>>> {
        self.keys.read().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The keys that a record's entries, and what is kept beside them, were sealed with.
fn needed(record: &Path) -> Result<BTreeSet<u32>, Error> {
    let log = format::log_dir(record);
    let mut needed = safe::keys_in(record)?;
    if log.is_dir() {
        for (first, path) in segment::list(&log)? {
            needed.extend(segment::Segment::open(path, first)?.head.form.key());
        }
    }
    Ok(needed)
}

fn parent(file: &Path) -> &Path {
    file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn disk_of(dir: &Path) -> Option<u64> {
    fs::metadata(dir).ok().map(|about| about.dev())
}

/// Whether a directory is below another, by its name.
fn lies_in(dir: &Path, home: &Path) -> bool {
    let below = dir.strip_prefix(home).ok().filter(|_| !home.as_os_str().is_empty());
    below.is_some_and(|below| below.components().all(|part| matches!(part, Component::Normal(_))))
}

fn fresh(id: u32, now: Moment, file: &Path) -> Result<Arc<Key>, Error> {
    let mut master = Zeroizing::new([0; 32]);
    let random = |error: getrandom::Error| Error::io("make a key for", file)(io::Error::other(error.to_string()));
    getrandom::fill(master.as_mut_slice()).map_err(random)?;
    Ok(Arc::new(Key::new(id, now, master)))
}

/// One line for each key: number, when it was made, and the key in base64.
fn written(keys: &[Arc<Key>]) -> Zeroizing<String> {
    let mut text = Zeroizing::new(String::with_capacity(keys.len() * 96));
    for key in keys {
        let master = Zeroizing::new(BASE64_STANDARD.encode(key.master().as_slice()));
        // Writing to a text does not fail.
        let _ = writeln!(text, "{} {} {}", key.id(), key.created(), *master);
    }
    text
}

fn parsed(line: &str) -> Option<Key> {
    let mut words = line.split(' ');
    let (id, created, master) = (words.next()?, words.next()?, words.next()?);
    if words.next().is_some() {
        return None;
    }
    let created = Moment::of(&Timestamp::utc(created).ok()?);
    let master = Zeroizing::new(BASE64_STANDARD.decode(master).ok()?);
    Some(Key::new(id.parse().ok()?, created, Zeroizing::new(master.as_slice().try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::Ring;
    use crate::error::Error;
    use legation_exchange::Moment;
    use std::fs;

    #[test]
    fn a_ring_is_not_written_where_another_disk_is_mounted_than_before() {
        let dir = tempfile::tempdir().unwrap();
        let (file, kept) = (dir.path().join("ring"), dir.path().join("kept"));
        let ring = Ring::open(&file, &dir.path().join("record"), Moment::default()).unwrap();
        let ring = Ring { disk: ring.disk.map(|disk| disk + 1), ..ring };
        fs::rename(&file, &kept).unwrap();
        for error in [ring.put_back().err(), ring.add(Moment::default()).err()] {
            assert!(matches!(error, Some(Error::RingPlace { .. })), "{error:?}");
        }
        assert!(!file.exists() && ring.list().len() == 1);
        // One that is there again is written to, whatever its disk is called by now.
        fs::rename(&kept, &file).unwrap();
        assert_eq!(ring.put_back().unwrap(), None);
        assert_eq!(ring.add(Moment::default()).unwrap().id(), 2);
    }
}
