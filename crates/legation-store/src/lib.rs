//! STAND-IN until the store branch is merged.
use legation_exchange::record::{Frame, Frontier, Hash};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
/// Error
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// full
    #[error("full")]
    Full,
    /// io
    #[error("io")]
    Io(#[from] std::io::Error),
}
impl Error {
    /// is full
    pub fn is_full(&self) -> bool {
        matches!(self, Error::Full)
    }
}
/// Cut
#[derive(Debug)]
pub struct Cut {
    /// file
    pub file: PathBuf,
    /// bytes
    pub bytes: u64,
}
/// Recovered
#[derive(Debug)]
pub struct Recovered {
    /// next
    pub next: u64,
    /// chain
    pub chain: Hash,
    /// frontier
    pub frontier: Frontier,
    /// cut
    pub cut: Option<Cut>,
}
/// Appended
#[derive(Debug)]
pub struct Appended {
    /// chain
    pub chain: Hash,
}
/// Log
#[derive(Debug)]
pub struct Log(Reader);
/// Reader
#[derive(Clone, Debug)]
pub struct Reader(Arc<Mutex<Vec<Frame>>>);
impl Log {
    /// open
    pub fn open(dir: &Path) -> Result<(Log, Recovered), Error> {
        std::fs::create_dir_all(dir)?;
        Ok((
            Log(Reader(Arc::default())),
            Recovered { next: 0, chain: Hash::default(), frontier: Frontier::default(), cut: None },
        ))
    }
    /// reserve
    pub fn reserve(&mut self, _bytes: usize) -> Result<(), Error> {
        Ok(())
    }
    /// append
    pub fn append(&mut self, frames: &[Frame]) -> Result<Appended, Error> {
        self.0.0.lock().map_err(|_| Error::Full)?.extend_from_slice(frames);
        Ok(Appended { chain: Hash::default() })
    }
    /// reader
    pub fn reader(&self) -> Reader {
        self.0.clone()
    }
    /// frames
    pub fn frames(&self, _from: u64) -> impl Iterator<Item = Result<Frame, Error>> {
        std::iter::empty()
    }
}
impl Reader {
    /// read
    pub fn read(&self, position: u64) -> Result<Option<Frame>, Error> {
        Ok(self.0.lock().map_err(|_| Error::Full)?.get(position as usize).cloned())
    }
}
/// write
pub fn atomic_write(path: &Path, bytes: &[u8], _mode: u32) -> Result<(), Error> {
    Ok(std::fs::write(path, bytes)?)
}
