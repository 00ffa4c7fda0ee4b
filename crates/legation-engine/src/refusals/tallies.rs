//! Rejections that are counted: those of strangers, and those of principals that do not get an entry of their own. Each
//! minute the counts go into the record. Until then they are in a [file](super::count_file), so that the sums agree
//! after a kill as well.

use super::Source;
use super::count_file::{CountFile, CountKey, LeftCounts, Place, close_left, left_in};
use crate::decider::now;
use legation_exchange::{Moment, Tally, TallyBatch};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How many pairs of code and source of strangers are told apart within a minute.
pub(super) const MOST: usize = 10_000;
/// The same for codes and principals.
const MOST_KNOWN: usize = 100_000;
/// How many rejections with one code a principal gets entries of their own for within a minute.
pub(super) const ALONE: u32 = 1000;
/// How many counts one entry has.
const CHUNK: usize = 4096;

/// The party that rejections are counted for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum CountedFor {
    /// Unauthenticated clients at one source.
    Source(Source),
    /// A principal, named as in entries of single rejections.
    Principal(String),
    /// All others, where there are too many to be told apart.
    Others,
}

/// Counts of a minute.
#[derive(Debug, Default)]
pub(crate) struct Tallies {
    counting: Mutex<Counting>,
    /// Where the counts are kept on disk, if they are.
    folder: Option<PathBuf>,
    /// Counts that are closed and not on the record yet. Whoever holds it brings them there.
    pub(super) closed: tokio::sync::Mutex<VecDeque<ClosedCounts>>,
}

#[derive(Debug, Default)]
struct Counting {
    counts: BTreeMap<(&'static str, CountedFor), Counted>,
    /// Entries of their own within this minute.
    alone: BTreeMap<(&'static str, String), u32>,
    known: usize,
    batch: String,
    since: Moment,
    file: Option<CountFile>,
}

#[derive(Debug, Default)]
struct Counted {
    count: u64,
    digest: Option<String>,
    place: Option<Place>,
}

/// Counts that are on their way into the record, in one entry or several.
#[derive(Debug)]
pub(super) struct ClosedCounts {
    path: Option<PathBuf>,
    pub(super) batches: VecDeque<TallyBatch>,
}

impl Tallies {
    /// Counts in files of this folder.
    pub(crate) fn in_folder(folder: PathBuf) -> Tallies {
        Tallies { folder: Some(folder), ..Tallies::default() }
    }

    /// Takes over what another process counted. `size` is the length of the record, and `recorded` tells the batches that
    /// it has from a position on.
    pub(super) fn take_over(&self, size: u64, recorded: impl Fn(u64) -> BTreeSet<String>) {
        let Some(folder) = &self.folder else { return };
        match left_in(folder) {
            Ok(left) => {
                let closed = left.into_iter().map(|left| ClosedCounts::left(left, size, &recorded));
                // Nobody else has it while the exchange is being opened.
                if let Ok(mut all) = self.closed.try_lock() {
                    all.extend(closed);
                }
            }
            Err(error) => tracing::error!(%error, folder = %folder.display(), "cannot read counts of rejections"),
        }
    }

    /// Counts a rejection of a stranger.
    pub(super) fn count_stranger(&self, code: &'static str, source: Source, digest: Option<String>) {
        let mut counting = self.counting();
        let strangers = counting.counts.len() - counting.known;
        let wanted = CountedFor::Source(source);
        let has_place = strangers < MOST || counting.counts.contains_key(&(code, wanted.clone()));
        let counted_for = if has_place { wanted } else { CountedFor::Others };
        counting.count((code, counted_for), digest, self.folder.as_ref());
    }

    /// Counts a rejection of a principal.
    pub(super) fn count_known(&self, code: &'static str, by: &str, digest: Option<String>) {
        let mut counting = self.counting();
        let wanted = (code, CountedFor::Principal(by.to_owned()));
        let is_new = !counting.counts.contains_key(&wanted);
        let key = if is_new && counting.known >= MOST_KNOWN { (code, CountedFor::Others) } else { wanted };
        if is_new && key.1 != CountedFor::Others {
            counting.known += 1;
        }
        counting.count(key, digest, self.folder.as_ref());
    }

    /// Whether another rejection of a principal may have an entry of its own.
    pub(super) fn may_stand_alone(&self, code: &'static str, by: &str) -> bool {
        let mut counting = self.counting();
        let alone = counting.alone.entry((code, by.to_owned())).or_default();
        *alone = alone.saturating_add(1);
        *alone <= ALONE
    }

    /// Closes what was counted so far. `size` is the length of the record.
    pub(super) fn close(&self, size: u64) -> Option<ClosedCounts> {
        let Counting { counts, batch, since, file, .. } = std::mem::take(&mut *self.counting());
        if counts.is_empty() {
            return None;
        }
        let tallies = counts.into_iter().map(|((code, counted_for), Counted { count, digest, .. })| {
            let CountKey { code, source, by } = key_of(code, &counted_for);
            Tally { code, source, count, digest, by }
        });
        let path = file.map(|file| file.close(size));
        Some(ClosedCounts { path, batches: batches(&batch, since, &tallies.collect::<Vec<_>>()) })
    }

    fn counting(&self) -> MutexGuard<'_, Counting> {
        self.counting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Counting {
    fn count(&mut self, key: (&'static str, CountedFor), digest: Option<String>, folder: Option<&PathBuf>) {
        if self.counts.is_empty() {
            self.begin(folder);
        }
        let line = key_of(key.0, &key.1);
        let counted = self.counts.entry(key).or_default();
        counted.count += 1;
        counted.digest = digest.or(counted.digest.take());
        let Some(file) = &mut self.file else { return };
        let written = match counted.place {
            Some(place) => file.set(place, counted.count),
            None => file.add(&line, counted.count).map(|place| counted.place = Some(place)),
        };
        if let Err(error) = written {
            tracing::warn!(%error, "a count of rejections would not outlive this process");
        }
    }

    fn begin(&mut self, folder: Option<&PathBuf>) {
        let mut drawn = [0; 8];
        // Without randomness the time alone tells batches apart.
        let _ = getrandom::fill(&mut drawn);
        self.since = now();
        self.batch = format!("{:016x}{:016x}", self.since.micros(), u64::from_le_bytes(drawn));
        let Some(folder) = folder else { return };
        match CountFile::create(folder, &self.batch, self.since) {
            Ok(file) => self.file = Some(file),
            Err(error) => tracing::warn!(%error, folder = %folder.display(), "cannot keep counts of rejections"),
        }
    }
}

impl ClosedCounts {
    fn left(left: LeftCounts, size: u64, recorded: impl Fn(u64) -> BTreeSet<String>) -> ClosedCounts {
        let LeftCounts { path, batch, since, closed_at, closed_place, tallies } = left;
        let recorded = closed_at.map(recorded).unwrap_or_default();
        if closed_at.is_none()
            && let Err(error) = close_left(&path, closed_place, size)
        {
            tracing::warn!(%error, path = %path.display(), "counts of rejections may be recorded twice after a kill");
        }
        let mut batches = batches(&batch, since, &tallies);
        batches.retain(|batch| batch.batch.as_ref().is_none_or(|name| !recorded.contains(name)));
        ClosedCounts { path: Some(path), batches }
    }

    /// All of it is on the record: the file has served.
    pub(super) fn remove_file(self) {
        if let Some(path) = self.path
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(%error, path = %path.display(), "cannot remove counts that are on the record");
        }
    }
}

fn batches(batch: &str, since: Moment, tallies: &[Tally]) -> VecDeque<TallyBatch> {
    let chunk = |(number, chunk): (usize, &[Tally])| TallyBatch {
        refusals: chunk.to_vec(),
        batch: Some(format!("{batch}-{number}")),
        since: Some(since),
    };
    tallies.chunks(CHUNK).enumerate().map(chunk).collect()
}

fn key_of(code: &str, counted_for: &CountedFor) -> CountKey {
    let (source, by) = match counted_for {
        CountedFor::Source(Source::Address(address)) => (address.to_string(), None),
        CountedFor::Source(Source::InProcess) => ("in process".to_owned(), None),
        CountedFor::Principal(by) => ("known".to_owned(), Some(by.clone())),
        CountedFor::Others => ("others".to_owned(), None),
    };
    CountKey { code: code.to_owned(), source, by }
}

#[cfg(test)]
mod tests;
