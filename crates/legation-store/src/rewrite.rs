//! Writing segments anew: with the newest key, and without the bodies and effects that are to go. What is hashed stays
//! what it is, so every proof, receipt and checkpoint holds as before. A crash leaves the old file or the
//! new one; who reads the old one meanwhile reads it to the end. No append waits for any of it.

mod copy;

use crate::decode::{Form, SegmentHead};
use crate::disk::Disk;
use crate::error::Error;
use crate::files;
use crate::format::log_dir;
use crate::key::Key;
use crate::log::random_id;
use crate::reader::Shared;
use crate::segment::Segment;
use copy::{Copied, copy};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};

/// Room that is left to others.
const MARGIN: u64 = 1 << 20;

/// Which bodies go, and which effects give way. What is asked for twice, or is gone already, does no harm.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rewrite {
    /// Entries whose bodies go.
    pub erase: BTreeSet<u64>,
    /// All bodies of entries before this position go too.
    pub drop_bodies_before: Option<u64>,
    /// Entries before it whose bodies stay all the same.
    pub keep: BTreeSet<u64>,
    /// Effects that take the place of those of other entries, whose bodies go too.
    pub redact: BTreeMap<u64, Vec<u8>>,
}

impl Rewrite {
    /// Whether the body of this entry goes.
    pub fn takes(&self, position: u64) -> bool {
        let before = self.drop_bodies_before.is_some_and(|before| position < before);
        self.erase.contains(&position) || (before && !self.keep.contains(&position))
    }
}

/// What came of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rewritten {
    /// Its first position.
    pub first: u64,
    /// The position after its last.
    pub next: u64,
    /// How many entries lost something.
    pub gone: u64,
    /// How many bytes it had.
    pub before: u64,
    /// How many it has now.
    pub after: u64,
}

/// How a segment stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Its first position.
    pub first: u64,
    /// The position after its last.
    pub next: u64,
    /// The key its entries are sealed with; none, where they lie open.
    pub key: Option<u32>,
    /// Whether entries are still added to it. Such a one cannot be written anew.
    pub active: bool,
}

/// Writes segments anew, one at a time, on whatever thread has the time for it.
#[derive(Clone, Debug)]
pub struct Rewriter {
    pub(crate) dir: PathBuf,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) shared: Arc<Shared>,
    /// The size of the segment that the log goes on in when its key changes.
    pub(crate) next: u64,
    /// Nothing may write to the directory once nobody has the lock.
    pub(crate) _lock: Arc<File>,
}

impl Rewriter {
    /// All segments, in order.
    pub fn segments(&self) -> Vec<Standing> {
        let segments = self.shared.segments.read().unwrap_or_else(PoisonError::into_inner);
        let ends = segments.iter().skip(1).map(|segment| (segment.head.first, false));
        let ends = ends.chain([(self.shared.next.load(std::sync::atomic::Ordering::Acquire), true)]);
        let standing = |(segment, (next, active)): (&Arc<Segment>, (u64, bool))| {
            let SegmentHead { first, form, .. } = segment.head;
            Standing { first, next, key: form.key(), active }
        };
        segments.iter().zip(ends).map(standing).collect()
    }

    /// How many bytes a segment has.
    pub fn bytes(&self, first: u64) -> Result<u64, Error> {
        let path = log_dir(&self.dir).join(crate::format::segment_name(first));
        Ok(fs::metadata(&path).map_err(Error::io("read", &path))?.len())
    }

    /// That there is room for the log to go on with another key.
    pub fn check_next(&self) -> Result<(), Error> {
        self.check_room(self.next)
    }

    /// Keeps segments from being written anew, and copies from being begun, while this is held.
    pub fn pause(&self) -> MutexGuard<'_, ()> {
        self.shared.rewriting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the segment anew that begins at this position.
    pub fn segment(&self, first: u64, rewrite: &Rewrite) -> Result<Rewritten, Error> {
        let _turn = self.pause();
        let old = self.sealed(first)?;
        let before = self.bytes(first)?;
        self.check_room_for(&old, before, rewrite)?;
        let tmp = unfinished(&self.dir);
        let done = self.write(&tmp, &old, rewrite).and_then(|(new, copied)| {
            old.hold()?;
            self.disk.rename(&tmp, &old.path).map_err(Error::room("name", &old.path))?;
            // While a power cut may bring the old file back, nobody may think that it is gone.
            self.sync()?;
            self.swap(&old, new);
            let Copied { next, gone, end } = copied;
            Ok(Rewritten { first, next, gone, before, after: end })
        });
        if done.is_err() {
            // What is left of the attempt is of no use, and its room is wanted.
            let _ = fs::remove_file(&tmp);
        }
        done
    }

    /// Makes the names of all segments durable: none of them is then one that was written anew since.
    pub fn sync(&self) -> Result<(), Error> {
        files::sync_dir(self.disk.as_ref(), &log_dir(&self.dir))
    }

    fn sealed(&self, first: u64) -> Result<Arc<Segment>, Error> {
        let segments = self.shared.segments.read().unwrap_or_else(PoisonError::into_inner);
        let at = segments.iter().position(|segment| segment.head.first == first);
        let at = at.filter(|at| at + 1 < segments.len()).ok_or(Error::Unsealed { first })?;
        segments.get(at).cloned().ok_or(Error::Unsealed { first })
    }

    /// That there is room for so many bytes, and a little more for everybody else.
    fn check_room(&self, bytes: u64) -> Result<(), Error> {
        let dir = log_dir(&self.dir);
        let room = self.disk.room(&dir).map_err(Error::io("look for room in", &dir))?;
        if room < bytes.saturating_add(MARGIN) {
            return Err(Error::Full { dir, source: io::ErrorKind::StorageFull.into() });
        }
        Ok(())
    }

    /// That there is room to write a segment of so many bytes anew. Where bodies go it ends with more room
    /// than it began with, and asks for the copy alone, as large as it will be. Sealing what lay open makes
    /// it larger; and a change of keys can wait rather than take the last room from the log.
    fn check_room_for(&self, old: &Segment, bytes: u64, rewrite: &Rewrite) -> Result<(), Error> {
        let once = matches!(old.head.form, Form::Sealed { .. }) && *rewrite != Rewrite::default();
        if !once {
            return self.check_room(bytes.saturating_mul(2));
        }
        match self.check_room(bytes) {
            Err(Error::Full { .. }) => self.check_room(self.measure(old, rewrite)?),
            enough => enough,
        }
    }

    /// How many bytes a segment will have. That takes as long as writing it, so it is asked where room is scarce.
    fn measure(&self, old: &Segment, rewrite: &Rewrite) -> Result<u64, Error> {
        let key = self.shared.ring.newest()?;
        let new = successor(old, &key)?;
        copy(old, &new, (&self.shared.ring, &key), rewrite, &mut |_, _| Ok(())).map(|copied| copied.end)
    }

    fn write(&self, tmp: &Path, old: &Segment, rewrite: &Rewrite) -> Result<(Segment, Copied), Error> {
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(tmp);
        let file = file.map_err(Error::room("make", tmp))?;
        let key = self.shared.ring.newest()?;
        let new = successor(old, &key)?;
        let mut out =
            |bytes: &[u8], offset| self.disk.write_at(&file, bytes, offset).map_err(Error::room("write", tmp));
        let copied = copy(old, &new, (&self.shared.ring, &key), rewrite, &mut out)?;
        self.disk.sync(&file).map_err(Error::room("sync", tmp))?;
        Ok((new, copied))
    }

    /// From here on readers find the new one.
    fn swap(&self, old: &Arc<Segment>, new: Segment) {
        let mut segments = self.shared.segments.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = segments.iter_mut().find(|segment| Arc::ptr_eq(segment, old)) {
            *place = Arc::new(new);
        }
    }
}

/// The segment that comes in the place of another, without anything in it.
fn successor(old: &Segment, key: &Key) -> Result<Segment, Error> {
    let head = SegmentHead { form: Form::Sealed { key: key.id() }, id: random_id(&old.path)?, ..old.head };
    Ok(Segment::fresh(old.path.clone(), head))
}

fn unfinished(dir: &Path) -> PathBuf {
    log_dir(dir).join("rewrite.tmp")
}

/// Removes what an interrupted attempt left.
pub(crate) fn clear(dir: &Path) -> Result<(), Error> {
    let path = unfinished(dir);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
