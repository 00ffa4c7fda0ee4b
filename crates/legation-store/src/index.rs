//! The index: from what is known of an entry to its position. It follows the log and holds nothing
//! that the log does not, so one that is lost, damaged, of another record or of another format is made
//! again. No commit waits for it.
//!
//! It is one inverted list. Everything an entry can be found by is a term: its sender, its kind, each
//! word of its message. A question is a set of terms that an entry must all have, and positions come out
//! in order. Terms are keyed hashes, so the files tell nothing of what was said, by whom or to whom.

mod base;
mod erase;
mod error;
mod facet;
mod find;
mod fit;
mod keyword;
mod query;
mod terms;
mod words;

pub use error::Error;
pub use find::Finder;
pub use fit::Fit;
pub use keyword::{BEGINNING, FOUND_BY, Keyword};
pub use query::{Decided, MOST_WORDS, Order, Query, What};
pub use words::words_in;

use crate::files;
use crate::reader::Reader;
use base::Base;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use terms::Terms;

/// How many entries, and how many bytes of them, go into one transaction at most.
const BATCH: usize = 4096;
const BATCH_BYTES: usize = 16 << 20;

/// The index, open for following the log. There is one per directory at a time.
#[derive(Debug)]
pub struct Index {
    reader: Reader,
    base: Base,
    shared: Arc<Shared>,
}

/// What the one who follows and those who find have in common.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) dir: Box<Path>,
    terms: RwLock<Arc<Terms>>,
    /// Counts how often the index was begun, so that a finder sees when its files are gone.
    pub(crate) begun: AtomicU64,
    /// Set by a finder that came upon damage.
    pub(crate) doubted: AtomicBool,
    /// Held while its files are thrown away and made again, so that nobody reads half of them.
    pub(crate) making: RwLock<()>,
}

/// How an index came to be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// It goes on where it was.
    Continued,
    /// There was none.
    New,
    /// There was one that cannot be used: damaged, of another record, or of another format.
    Anew,
}

impl Shared {
    pub(crate) fn terms(&self) -> Arc<Terms> {
        Arc::clone(&self.terms.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Index {
    /// Opens the index in a directory, or begins one there. It belongs to the record that is read, and
    /// its terms are made with a key of that record's ring.
    pub fn open(dir: &Path, reader: Reader) -> Result<(Index, Origin), Error> {
        files::create_dir(dir)?;
        forget_former_key(dir)?;
        let keys = reader.ring().list().into_iter().map(|key| Terms::of(&key)).collect();
        let anew = || {
            let terms = Terms::of(&*reader.ring().newest()?);
            Ok::<_, Error>((Base::create(dir, &terms)?, terms))
        };
        let ((base, terms), origin) = match Base::open(dir, keys, &reader) {
            Ok(Some(opened)) => (opened, Origin::Continued),
            Ok(None) => (anew()?, Origin::New),
            Err(error) if error.is_damage() => (anew()?, Origin::Anew),
            Err(error) => return Err(error),
        };
        let terms = RwLock::new(Arc::new(terms));
        let (begun, doubted, making) = (AtomicU64::new(0), AtomicBool::new(false), RwLock::new(()));
        let shared = Shared { dir: dir.into(), terms, begun, doubted, making };
        Ok((Index { reader, base, shared: Arc::new(shared) }, origin))
    }

    /// The position after the last entry that can be found.
    pub fn indexed(&self) -> u64 {
        self.base.indexed()
    }

    /// What finds entries, for other threads.
    pub fn finder(&self) -> Finder {
        Finder::new(Arc::clone(&self.shared), self.reader.clone())
    }

    /// Takes in the next entries of the log, at most one transaction of them, and says how far it is
    /// now. Where that is no further than before, there is nothing more to take in.
    ///
    /// An error that [is damage](Error::is_damage) calls for [`start_over`](Index::start_over); after any
    /// other the same call may succeed later.
    pub fn follow(&mut self) -> Result<u64, Error> {
        self.follow_at_ease(&mut || {})
    }

    /// The same with a pause after every few entries, for whoever is to leave the processor to others.
    pub fn follow_at_ease(&mut self, pause: &mut dyn FnMut()) -> Result<u64, Error> {
        if self.shared.doubted.load(Ordering::Acquire) {
            return Err(Error::damaged("a search came upon damage"));
        }
        // The database would go on writing to a file that has no name any more.
        if !base::path(&self.shared.dir).exists() {
            return Err(Error::damaged("its file is gone"));
        }
        self.base.follow(&self.reader, &self.shared.terms(), (BATCH, BATCH_BYTES), pause)
    }

    /// The number of the ring's key that its terms are made with.
    pub fn key(&self) -> u32 {
        self.shared.terms().from
    }

    /// Whether there is a newer key than that: [`start_over`](Index::start_over) changes to it.
    pub fn is_outdated(&self) -> Result<bool, Error> {
        Ok(self.key() != self.reader.ring().newest()?.id())
    }

    /// Throws everything away and begins again at the first entry, with the newest key.
    pub fn start_over(&mut self) -> Result<(), Error> {
        let terms = Arc::new(Terms::of(&*self.reader.ring().newest()?));
        let _alone = self.shared.making.write().unwrap_or_else(PoisonError::into_inner);
        self.base = Base::create(&self.shared.dir, &terms)?;
        *self.shared.terms.write().unwrap_or_else(PoisonError::into_inner) = terms;
        self.shared.begun.fetch_add(1, Ordering::AcqRel);
        self.shared.doubted.store(false, Ordering::Release);
        Ok(())
    }
}

/// The key lay beside the index in the former format, as a file of its own.
fn forget_former_key(dir: &Path) -> Result<(), crate::Error> {
    let path = dir.join("key");
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(crate::Error::io("remove", &path)(error)),
        Ok(()) | Err(_) => Ok(()),
    }
}
