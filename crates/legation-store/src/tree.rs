//! The nodes of the Merkle tree on disk, so that a proof needs no walk through the log. They follow
//! from the log: nothing waits for them to be durable, and they are made again when they are short.

use crate::disk::Disk;
use crate::error::Error;
use crate::format::{NODE, node_offset, nodes_of, tree_file};
use legation_exchange::record::{Frontier, Hash, Nodes};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// How many bytes wait before they are written: readers find them in memory, and no commit pays for
/// a write of its own.
const WAITING: usize = 256 << 10;

/// The file of nodes, and those not in it yet.
#[derive(Debug)]
pub(crate) struct Tree {
    path: PathBuf,
    /// Where the file is until it is known to be whole.
    unfinished: Option<PathBuf>,
    file: File,
    disk: Arc<dyn Disk>,
    state: RwLock<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Bytes in the file.
    written: u64,
    /// Bytes that go after them. Also kept when they cannot be written: the entries are durable,
    /// and for want of room here no append may fail.
    waiting: Vec<u8>,
}

impl Tree {
    /// The nodes on disk, if they have the tree with this edge, without all that come later; else
    /// none, to be made anew. Until [`Tree::finish`] the old ones stay beside those.
    pub(crate) fn open(dir: &Path, frontier: &Frontier, disk: Arc<dyn Disk>) -> Result<Option<Tree>, Error> {
        let path = tree_file(dir);
        let file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("open", &path)(error)),
        };
        let written = file.metadata().map_err(Error::io("read", &path))?.len();
        let state = RwLock::new(State { written, waiting: Vec::new() });
        let tree = Tree { path, unfinished: None, file, disk, state };
        if !tree.has(frontier) {
            return Ok(None);
        }
        tree.cut(frontier.size())?;
        Ok(Some(tree))
    }

    /// A tree without nodes, that takes the place of what is there once it is finished.
    pub(crate) fn anew(dir: &Path, disk: Arc<dyn Disk>) -> Result<Tree, Error> {
        let path = tree_file(dir);
        let unfinished = path.with_extension("tmp");
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(true).mode(0o600).open(&unfinished);
        let file = file.map_err(Error::room("make", &unfinished))?;
        Ok(Tree { path, unfinished: Some(unfinished), file, disk, state: RwLock::default() })
    }

    /// All nodes of the log are in it. Where there was no room for all of them it keeps to its passing
    /// name, and the next start makes it again.
    pub(crate) fn finish(&mut self) -> Result<(), Error> {
        let whole = self.flush();
        match self.unfinished.take_if(|_| whole) {
            Some(unfinished) => {
                // Later starts look at the edge of what an older snapshot knows, and rely on the rest.
                self.disk.sync(&self.file).map_err(|source| Error::Sync { file: unfinished.clone(), source })?;
                self.disk.rename(&unfinished, &self.path).map_err(Error::io("name", &self.path))
            }
            None => Ok(()),
        }
    }

    /// Whether the file has the tree with this edge.
    fn has(&self, frontier: &Frontier) -> bool {
        let mut from = 0;
        frontier.peaks().iter().all(|peak| {
            let level = (frontier.size() - from).ilog2();
            let index = from >> level;
            from += 1 << level;
            self.node(level, index).is_ok_and(|node| node == *peak)
        })
    }

    /// Forgets all nodes that are not of the first `size` leaves.
    fn cut(&self, size: u64) -> Result<(), Error> {
        let bytes = nodes_of(size).and_then(|nodes| nodes.checked_mul(NODE)).unwrap_or(u64::MAX);
        self.file.set_len(bytes).map_err(Error::io("cut", &self.path))?;
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State { written: bytes, waiting: Vec::new() };
        Ok(())
    }

    /// Adds nodes, in the order leaves complete them.
    pub(crate) fn push(&self, nodes: &[Hash]) {
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        for node in nodes {
            state.waiting.extend(node.0);
        }
        if state.waiting.len() >= WAITING {
            self.write(&mut state);
        }
    }

    /// Writes what waits, and says whether there was room for all of it. What cannot be written goes on waiting.
    pub(crate) fn flush(&self) -> bool {
        self.write(&mut self.state.write().unwrap_or_else(PoisonError::into_inner))
    }

    fn write(&self, state: &mut State) -> bool {
        if state.waiting.is_empty() {
            return true;
        }
        let is_written = self.disk.write_at(&self.file, &state.waiting, state.written).is_ok();
        if is_written {
            state.written += state.waiting.len() as u64;
            state.waiting.clear();
        }
        is_written
    }

    /// Makes the nodes durable; an error if there was no room for all of them.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        if !self.flush() {
            return Err(Error::room("write", &self.path)(io::ErrorKind::StorageFull.into()));
        }
        self.disk.sync(&self.file).map_err(Error::io("sync", &self.path))
    }

    /// What to say when nodes do not agree with each other.
    pub(crate) fn disagrees(&self) -> Error {
        Error::damaged(
            &self.path,
            0,
            "its hashes do not agree; removed, it is made again from the log at the next start",
        )
    }
}

impl Nodes for Tree {
    type Error = Error;

    fn node(&self, level: u32, index: u64) -> Result<Hash, Error> {
        let missing = || Error::damaged(&self.path, 0, format!("it lacks node {index} of level {level}"));
        let offset = node_offset(level, index).ok_or_else(missing)?;
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let mut node = Hash::ZERO;
        if let Some(ahead) = offset.checked_sub(state.written) {
            let waiting = usize::try_from(ahead).ok().and_then(|ahead| state.waiting.get(ahead..));
            node.0 = *waiting.and_then(|bytes| bytes.first_chunk()).ok_or_else(missing)?;
        } else {
            self.file.read_exact_at(&mut node.0, offset).map_err(|_| missing())?;
        }
        Ok(node)
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;
    use crate::disk::Direct;
    use legation_exchange::record::Hash;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    #[test]
    fn what_comes_while_nodes_are_made_durable_is_not_taken_for_a_lack_of_room() {
        let dir = tempfile::tempdir().unwrap();
        let tree = Tree::anew(dir.path(), Arc::new(Direct)).unwrap();
        let done = AtomicBool::new(false);
        let outcome = std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    tree.push(&[Hash::ZERO]);
                }
            });
            let outcome = (0..200).try_for_each(|_| tree.sync());
            done.store(true, Ordering::Relaxed);
            outcome
        });
        outcome.unwrap();
    }
}
