//! Secrets that are kept for others, each in a file of its own, sealed with a key of the ring under a name.
//! What is removed is gone: nothing else holds it.

use crate::backup::Piece;
use crate::chunks::{self, Chunks};
use crate::disk::Direct;
use crate::error::Error;
use crate::files;
use crate::key::Key;
use crate::ring::Ring;
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use zeroize::Zeroizing;

const MAGIC: [u8; 8] = *b"LEGSAFE1";
const ENDING: &str = "sealed";
/// How a name is written: a hash in hexadecimal digits.
const NAME: usize = 64;

/// Where secrets lie.
#[derive(Debug)]
pub struct Safe {
    dir: PathBuf,
    ring: Arc<Ring>,
    /// Held while files are written, so that no key leaves the ring in between.
    writing: Mutex<()>,
}

impl Safe {
    /// The secrets beside the record in this directory.
    pub fn of(record: &Path, ring: Arc<Ring>) -> Safe {
        Safe { dir: place(record), ring, writing: Mutex::default() }
    }

    /// Keeps a secret under a name of 64 hexadecimal digits, durably.
    pub fn put(&self, name: &str, secret: &[u8]) -> Result<(), Error> {
        let _writing = self.pause();
        files::create_dir(&self.dir)?;
        self.write(name, &*self.ring.newest()?, secret)
    }

    fn write(&self, name: &str, key: &Key, secret: &[u8]) -> Result<(), Error> {
        chunks::write(&Direct, &self.file(name), MAGIC, key, name.as_bytes(), secret)
    }

    /// The secret of this name, if there is one that opens.
    pub fn get(&self, name: &str) -> Result<Option<Zeroizing<Vec<u8>>>, Error> {
        if !is_name(name) {
            return Ok(None);
        }
        let path = self.file(name);
        match self.read(&path, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map_err(Error::io("read", &path)),
        }
    }

    fn read(&self, path: &Path, name: &str) -> io::Result<Option<Zeroizing<Vec<u8>>>> {
        let Some(mut chunks) = Chunks::open(path, MAGIC)? else { return Ok(None) };
        if chunks.more(NAME)?.is_none_or(|own| own != name.as_bytes()) {
            return Ok(None);
        }
        Ok(chunks.contents(&self.ring)?.map(Zeroizing::new))
    }

    /// Removes all secrets but those with these names, and says how many went.
    pub fn retain(&self, kept: &BTreeSet<String>) -> Result<usize, Error> {
        let _writing = self.pause();
        let gone: Vec<_> = names(&self.dir)?.into_iter().filter(|name| !kept.contains(name)).collect();
        for path in gone.iter().map(|name| self.file(name)) {
            fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        if !gone.is_empty() {
            files::sync_dir(&Direct, &self.dir)?;
        }
        Ok(gone.len())
    }

    /// Removes the secret of this name, if there is one.
    pub fn remove(&self, name: &str) -> Result<(), Error> {
        if !is_name(name) {
            return Ok(());
        }
        let (_writing, path) = (self.pause(), self.file(name));
        match fs::remove_file(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => {
                removed.map_err(Error::io("remove", &path))?;
                files::sync_dir(&Direct, &self.dir)
            }
        }
    }

    /// Seals everything with the newest key that is not.
    pub fn reseal(&self) -> Result<(), Error> {
        let _writing = self.pause();
        let newest = self.ring.newest()?;
        for name in names(&self.dir)?.into_iter().filter(|name| key_of(&self.file(name)) != Some(newest.id())) {
            if let Some(secret) = self.get(&name)? {
                self.write(&name, &newest, &secret)?;
            }
        }
        Ok(())
    }

    /// Lets nothing be written while this is held.
    pub fn pause(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The keys that secrets are sealed with.
    pub fn keys(&self) -> Result<BTreeSet<u32>, Error> {
        keys_at(&self.dir)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(format!("{name}.{ENDING}"))
    }
}

fn place(record: &Path) -> PathBuf {
    record.join("safe")
}

/// The keys that the secrets beside a record are sealed with.
pub(crate) fn keys_in(record: &Path) -> Result<BTreeSet<u32>, Error> {
    keys_at(&place(record))
}

/// The secrets beside a record as files of a copy: sealed, as they lie there.
pub(crate) fn pieces(record: &Path) -> Result<Vec<Piece>, Error> {
    let dir = place(record);
    let piece =
        |name: String| Piece::file(&format!("record/safe/{name}.{ENDING}"), &dir.join(format!("{name}.{ENDING}")));
    Ok(names(&dir)?.into_iter().filter_map(piece).collect())
}

/// Whether a file of this name may lie there.
pub(crate) fn is_ours(name: &str) -> bool {
    name.strip_suffix(ENDING).and_then(|name| name.strip_suffix('.')).is_some_and(is_name)
}

fn is_name(name: &str) -> bool {
    name.len() == NAME && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn keys_at(dir: &Path) -> Result<BTreeSet<u32>, Error> {
    Ok(names(dir)?.into_iter().filter_map(|name| key_of(&dir.join(format!("{name}.{ENDING}")))).collect())
}

fn key_of(path: &Path) -> Option<u32> {
    Chunks::open(path, MAGIC).ok().flatten().map(|chunks| chunks.key())
}

fn names(dir: &Path) -> Result<Vec<String>, Error> {
    let listed = match fs::read_dir(dir) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        listed => listed.map_err(Error::io("read", dir))?,
    };
    let mut found = Vec::new();
    for entry in listed {
        let name = entry.map_err(Error::io("read", dir))?.file_name();
        let name = name.to_str().filter(|name| is_ours(name)).and_then(|name| name.strip_suffix(ENDING));
        found.extend(name.map(|name| name.trim_end_matches('.').to_owned()));
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::Safe;
    use crate::ring::Ring;
    use legation_exchange::Moment;
    use std::collections::BTreeSet;
    use std::fs;
    use std::sync::Arc;

    const SECRET: &[u8] = b"quetzalcoatlus";

    #[test]
    fn a_secret_opens_under_its_name_and_with_its_ring_alone() {
        let dir = tempfile::tempdir().unwrap();
        let (one, two) = ("a1".repeat(32), "b2".repeat(32));
        let ring = || Arc::new(Ring::open(&dir.path().join("ring"), dir.path(), Moment::default()).unwrap());
        let safe = Safe::of(dir.path(), ring());
        assert_eq!(safe.get(&one).unwrap(), None);
        safe.put(&one, SECRET).unwrap();
        let found = || Safe::of(dir.path(), ring()).get(&one).unwrap();
        assert_eq!(found().unwrap().as_slice(), SECRET);
        assert_eq!(safe.get(&two).unwrap(), None);
        let file = safe.file(&one);
        let bytes = fs::read(&file).unwrap();
        assert!(!bytes.windows(SECRET.len()).any(|window| window == SECRET));
        fs::copy(&file, safe.file(&two)).unwrap();
        assert_eq!(safe.get(&two).unwrap(), None);
        let other = Safe::of(dir.path(), Arc::new(Ring::fixed([7; 32])));
        assert_eq!(other.get(&one).unwrap(), None);
        assert_eq!(safe.retain(&BTreeSet::from([one.clone()])).unwrap(), 1);
        assert!(found().is_some());
        assert_eq!(safe.retain(&BTreeSet::new()).unwrap(), 1);
        assert_eq!((found(), file.exists()), (None, false));
    }

    #[test]
    fn secrets_go_along_when_the_key_of_the_ring_changes() {
        let dir = tempfile::tempdir().unwrap();
        let name = "0f".repeat(32);
        let ring = Arc::new(Ring::open(&dir.path().join("ring"), dir.path(), Moment::default()).unwrap());
        let safe = Safe::of(dir.path(), Arc::clone(&ring));
        safe.put(&name, SECRET).unwrap();
        ring.add(Moment::default()).unwrap();
        assert_eq!(safe.keys().unwrap(), [1].into());
        safe.reseal().unwrap();
        assert_eq!(safe.keys().unwrap(), [2].into());
        ring.retain(&safe.keys().unwrap()).unwrap();
        assert_eq!(safe.get(&name).unwrap().unwrap().as_slice(), SECRET);
    }
}
