//! The next segment, made ahead on a thread of its own: zeros written once, so that a commit
//! changes no metadata and its fdatasync is one write to the disk. They go past the page cache where that can be:
//! nobody reads them, and what is written over them, header or batch, fills its pages itself.

use crate::disk::Disk;
use crate::error::{Error, is_full};
use crate::format::{PAGE, log_dir};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// What is written and synced at once, and the rest after it: whoever commits on the same disk waits for no more.
const PORTION: usize = 1 << 20;
const REST: Duration = Duration::from_millis(2);

/// A file of zeros without a name of its own yet.
#[derive(Debug)]
pub(crate) struct Zeros {
    pub(crate) file: File,
    pub(crate) path: PathBuf,
    pub(crate) size: u64,
}

/// The next segment: none, in the making, or there.
#[derive(Debug)]
pub(crate) struct Spare {
    path: PathBuf,
    disk: Arc<dyn Disk>,
    told: Arc<Told>,
    state: State,
}

/// What whoever makes one is told meanwhile.
#[derive(Debug, Default)]
struct Told {
    /// It is waited for.
    hurry: AtomicBool,
    stop: AtomicBool,
}

#[derive(Debug)]
enum State {
    None,
    Making(JoinHandle<io::Result<Zeros>>),
    Ready(Zeros),
}

impl Spare {
    /// Removes what an earlier process left.
    pub(crate) fn open(dir: &Path, disk: Arc<dyn Disk>) -> Result<Spare, Error> {
        let path = log_dir(dir).join("spare.tmp");
        match fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("remove", &path)(error)),
            _ => Ok(Spare { path, disk, told: Arc::default(), state: State::None }),
        }
    }

    /// Whether there is none, and none in the making.
    pub(crate) fn is_none(&self) -> bool {
        matches!(self.state, State::None)
    }

    /// Begins to make one, if there is none.
    pub(crate) fn start(&mut self, size: u64) {
        if self.is_none() {
            let (path, disk, told) = (self.path.clone(), Arc::clone(&self.disk), Arc::clone(&self.told));
            told.hurry.store(false, Ordering::Relaxed);
            let made = thread::Builder::new().name("record-spare".to_owned());
            // Without a thread it is made when it is needed.
            if let Ok(handle) = made.spawn(move || zeros(path, size, disk.as_ref(), &told)) {
                self.state = State::Making(handle);
            }
        }
    }

    /// Makes sure that one of at least this size is there; a new one has the other size.
    pub(crate) fn ensure(&mut self, at_least: u64, size: u64) -> Result<(), Error> {
        self.told.hurry.store(true, Ordering::Relaxed);
        self.state = match std::mem::replace(&mut self.state, State::None) {
            State::Making(handle) => match handle.join() {
                Ok(Ok(zeros)) => State::Ready(zeros),
                // What went wrong behind the scenes shows itself again, or has passed.
                Ok(Err(_)) | Err(_) => State::None,
            },
            other => other,
        };
        if !matches!(&self.state, State::Ready(zeros) if zeros.size >= at_least) {
            self.state = State::None;
            let made = zeros(self.path.clone(), size.max(at_least), self.disk.as_ref(), &self.told);
            self.state = State::Ready(made.map_err(Error::room("make", &self.path))?);
        }
        Ok(())
    }

    /// Takes one of at least this size.
    pub(crate) fn take(&mut self, at_least: u64, size: u64) -> Result<Zeros, Error> {
        self.ensure(at_least, size)?;
        match std::mem::replace(&mut self.state, State::None) {
            State::Ready(zeros) => Ok(zeros),
            State::None | State::Making(_) => Err(Error::Broken),
        }
    }
}

impl Drop for Spare {
    /// Nothing may write to the directory once its lock is gone.
    fn drop(&mut self) {
        self.told.hurry.store(true, Ordering::Relaxed);
        self.told.stop.store(true, Ordering::Relaxed);
        if let State::Making(handle) = std::mem::replace(&mut self.state, State::None) {
            let _ = handle.join();
        }
        let _ = fs::remove_file(&self.path);
    }
}

fn zeros(path: PathBuf, size: u64, disk: &dyn Disk, told: &Told) -> io::Result<Zeros> {
    let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    let filled = check_room(&path, size, disk).and_then(|()| fill(&path, &file, size, disk, told));
    if let Err(error) = filled {
        drop(file);
        // The room it took is wanted back at once.
        let _ = fs::remove_file(&path);
        return Err(error);
    }
    Ok(Zeros { file, path, size })
}

/// Room is looked for first: to find out by filling the disk, batch after batch, would leave none to
/// anybody else.
fn check_room(path: &Path, size: u64, disk: &dyn Disk) -> io::Result<()> {
    let room = path.parent().map_or(Ok(u64::MAX), |dir| disk.room(dir));
    if room.is_ok_and(|room| room < size) { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
}

fn fill(path: &Path, file: &File, size: u64, disk: &dyn Disk, told: &Told) -> io::Result<()> {
    let room = vec![0; PORTION.min(usize::try_from(size).unwrap_or(PORTION)) + PAGE];
    // Past the cache, memory is written by whole pages that begin where pages do.
    let block = room.get(room.as_ptr().align_offset(PAGE)..).unwrap_or_default();
    let mut direct = disk.past_cache(path);
    let mut at = 0;
    while at < size {
        if told.stop.load(Ordering::Relaxed) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let left = usize::try_from(size - at).unwrap_or(PORTION);
        let part = block.get(..left.min(PORTION)).unwrap_or_default();
        match direct.as_ref().map(|direct| disk.write_at(direct, part, at)) {
            // It can, but not so, or cannot after all: which of the two file systems say differs. Want of room is the
            // same either way.
            Some(Err(error)) if !is_full(&error) => {
                direct = None;
                disk.write_at(file, part, at)?;
            }
            Some(done) => done?,
            None => disk.write_at(file, part, at)?,
        }
        disk.sync(file)?;
        at += part.len() as u64;
        if !told.hurry.load(Ordering::Relaxed) {
            thread::sleep(REST);
        }
    }
    Ok(())
}
