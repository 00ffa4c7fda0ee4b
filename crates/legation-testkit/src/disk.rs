//! A disk that crashes and fills up. Writes reach the files at once, as they reach the page cache,
//! and so do names; what was not synced when the machine stops may be there, partly there, or gone.

mod names;

use crate::rng::Rng;
use legation_store::Disk;
use names::Named;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};

/// What goes wrong, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The machine stops within a write, at any of its bytes, or while a file is named.
    InWrite,
    /// It stops when a file or directory is about to be synced.
    BeforeSync,
    /// It stops when one has just been synced, and nobody was told.
    AfterSync,
    /// A write finds no room half way, though the file has its size already; or a name finds none.
    NoRoom,
}

impl Fault {
    pub(crate) const ALL: [Fault; 4] = [Fault::InWrite, Fault::BeforeSync, Fault::AfterSync, Fault::NoRoom];

    const fn strikes_writes(self) -> bool {
        match self {
            Fault::InWrite | Fault::NoRoom => true,
            Fault::BeforeSync | Fault::AfterSync => false,
        }
    }
}

/// The disk. Only what the thread that made it does can fail: what the log prepares on a thread of
/// its own has a result that does not depend on when it runs.
#[derive(Debug)]
pub(crate) struct Flaky {
    owner: ThreadId,
    /// Whether work of other threads succeeds.
    helpful: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    rng: Rng,
    /// What comes, after so many calls it could strike.
    planned: Option<(Fault, u64)>,
    /// Whether files can grow.
    full: bool,
    dead: bool,
    unsynced: Vec<Write>,
    /// Names whose directories were not synced since.
    named: Vec<Named>,
}

/// A write that may not outlive a crash.
#[derive(Debug)]
struct Write {
    file: File,
    inode: u64,
    offset: u64,
    /// What was there before.
    old: Vec<u8>,
    /// How long the file was before.
    length: u64,
}

impl Flaky {
    pub(crate) fn new(mut rng: Rng) -> Flaky {
        let helpful = rng.chance(50);
        let state = State { rng, planned: None, full: false, dead: false, unsynced: Vec::new(), named: Vec::new() };
        Flaky { owner: thread::current().id(), helpful, state: Mutex::new(state) }
    }

    /// Lets a fault strike after so many calls.
    pub(crate) fn plan(&self, fault: Fault, after: u64) {
        self.state().planned = Some((fault, after));
    }

    pub(crate) fn fill(&self, full: bool) {
        self.state().full = full;
    }

    pub(crate) fn is_full(&self) -> bool {
        self.state().full
    }

    /// Nothing more goes wrong until something is planned again.
    pub(crate) fn calm(&self) {
        let mut state = self.state();
        (state.dead, state.planned, state.full) = (false, None, false);
    }

    /// The machine starts again: of what was not synced, anything may be missing.
    pub(crate) fn restart(&self) -> Result<()> {
        self.calm();
        let mut state = self.state();
        let mut files: BTreeMap<u64, Vec<Write>> = BTreeMap::new();
        for write in std::mem::take(&mut state.unsynced) {
            files.entry(write.inode).or_default().push(write);
        }
        files.into_values().try_for_each(|writes| lose(&writes, &mut state.rng))?;
        let named = std::mem::take(&mut state.named);
        names::lose(named, &mut state.rng)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn background(&self) -> Option<Result<()>> {
        let own = thread::current().id() == self.owner;
        (!own).then(|| if self.helpful { Ok(()) } else { Err(ErrorKind::StorageFull.into()) })
    }
}

impl Disk for Flaky {
    fn write_at(&self, file: &File, bytes: &[u8], offset: u64) -> Result<()> {
        if let Some(result) = self.background() {
            return result.and_then(|()| file.write_all_at(bytes, offset));
        }
        let mut state = self.state();
        let grows = offset + bytes.len() as u64 > file.metadata()?.len();
        match state.strike(Fault::strikes_writes)? {
            Some(fault) => {
                let reached = state.rng.index(bytes.len() + 1);
                state.write(file, bytes.get(..reached).unwrap_or_default(), offset)?;
                state.dead = fault == Fault::InWrite;
                Err(if state.dead { stopped() } else { ErrorKind::StorageFull.into() })
            }
            None if state.full && grows => Err(ErrorKind::StorageFull.into()),
            None => state.write(file, bytes, offset),
        }
    }

    /// What a crash undoes is read first, which takes the cache.
    fn past_cache(&self, _path: &Path) -> Option<File> {
        None
    }

    fn sync(&self, file: &File) -> Result<()> {
        if let Some(result) = self.background() {
            return result;
        }
        let mut state = self.state();
        let fault = state.strike(|fault| !fault.strikes_writes())?;
        state.dead = fault.is_some();
        if fault != Some(Fault::BeforeSync) {
            let inode = file.metadata()?.ino();
            state.unsynced.retain(|write| write.inode != inode);
        }
        if state.dead { Err(stopped()) } else { Ok(()) }
    }

    fn rename(&self, from: &Path, to: &Path) -> Result<()> {
        let mut state = self.state();
        match state.strike(Fault::strikes_writes)? {
            Some(Fault::NoRoom) => return Err(ErrorKind::StorageFull.into()),
            Some(Fault::InWrite | Fault::BeforeSync | Fault::AfterSync) => state.dead = true,
            None => (),
        }
        if !state.dead || state.rng.chance(50) {
            let named = Named::give(from, to)?;
            state.named.push(named);
        }
        if state.dead { Err(stopped()) } else { Ok(()) }
    }

    fn sync_dir(&self, dir: &Path) -> Result<()> {
        let mut state = self.state();
        let fault = state.strike(|fault| !fault.strikes_writes())?;
        state.dead = fault.is_some();
        if fault != Some(Fault::BeforeSync) {
            state.named.retain(|named| !named.is_in(dir));
        }
        if state.dead { Err(stopped()) } else { Ok(()) }
    }
}

impl State {
    /// The fault that strikes now, if one does.
    fn strike(&mut self, fits: impl Fn(Fault) -> bool) -> Result<Option<Fault>> {
        if self.dead {
            return Err(stopped());
        }
        match self.planned {
            Some((fault, 0)) if fits(fault) => {
                self.planned = None;
                Ok(Some(fault))
            }
            Some((fault, after)) if fits(fault) => {
                self.planned = Some((fault, after - 1));
                Ok(None)
            }
            _ => Ok(None),
        }
    }

    fn write(&mut self, file: &File, bytes: &[u8], offset: u64) -> Result<()> {
        let (inode, length) = (file.metadata()?.ino(), file.metadata()?.len());
        let mut old = vec![0; bytes.len()];
        read(file, &mut old, offset)?;
        self.unsynced.push(Write { file: file.try_clone()?, inode, offset, old, length });
        file.write_all_at(bytes, offset)
    }
}

fn stopped() -> Error {
    Error::other("the machine has stopped")
}

/// Fills the buffer; what is beyond the end of the file is zeros.
fn read(file: &File, buffer: &mut [u8], offset: u64) -> Result<()> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, offset + filled as u64)? {
            0 => break,
            count => filled += count,
        }
    }
    Ok(())
}

/// Loses some of a file's writes. Each block ends up as it was after some number of them.
fn lose(writes: &[Write], rng: &mut Rng) -> Result<()> {
    let Some(first) = writes.first() else { return Ok(()) };
    let from = writes.iter().map(|write| write.offset).min().unwrap_or(0);
    let to = writes.iter().map(|write| write.offset + write.old.len() as u64).max().unwrap_or(0);
    let all = writes.len() as u64;
    let (cut, mode) = (from + rng.below(to - from + 1), rng.below(4));
    let mut at = from;
    while at < to {
        let block = [64, 512, 4096].get(rng.index(3)).copied().unwrap_or(64);
        let size = if at < cut { block.min(cut - at) } else { block }.min(to - at);
        let kept = match mode {
            0 => all,
            1 => 0,
            2 => {
                if at < cut {
                    all
                } else {
                    0
                }
            }
            _ => rng.below(all + 1),
        };
        let mut bytes = vec![0; usize::try_from(size).unwrap_or(0)];
        read(&first.file, &mut bytes, at)?;
        let lost = writes.iter().skip(usize::try_from(kept).unwrap_or(0));
        lost.rev().for_each(|write| undo(write, &mut bytes, at));
        first.file.write_all_at(&bytes, at)?;
        at += size;
    }
    if mode == 1 && first.length < to { first.file.set_len(first.length) } else { Ok(()) }
}

/// Puts back what was there before a write, as far as it lies in this block.
fn undo(write: &Write, block: &mut [u8], at: u64) {
    let end = at + block.len() as u64;
    let (from, to) = (write.offset.max(at), (write.offset + write.old.len() as u64).min(end));
    let range = |start: u64| Some(usize::try_from(from - start).ok()?..usize::try_from(to.checked_sub(start)?).ok()?);
    if from >= to {
        return;
    }
    let old = range(write.offset).and_then(|range| write.old.get(range));
    let place = range(at).and_then(|range| block.get_mut(range));
    if let (Some(old), Some(place)) = (old, place) {
        place.copy_from_slice(old);
    }
}
