//! Which messages have been taken. Kept until a message's own timestamp could no longer be accepted, by the machine's clock
//! and by the record's, so that no copy of it ever comes in twice. Only a fingerprint and a position are kept of each:
//! whoever finds one looks the message up in the record and compares there.

use crate::clock_history::{ClockHistory, DedupEnd};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Bytes of one message in a part.
const WIRE: usize = 32;

/// Fingerprints are hashes already.
#[derive(Clone, Debug, Default)]
struct AsIs(u64);

impl Hasher for AsIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 << 8) | u64::from(*byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}

#[expect(clippy::disallowed_types, reason = "millions of pairs; what is written of it is sorted first")]
type Bucket = std::collections::HashMap<u64, u64, BuildHasherDefault<AsIs>>;

/// The messages taken within their windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Dedup {
    /// By the times from which on they may be forgotten.
    buckets: BTreeMap<DedupEnd, Bucket>,
    /// Fingerprints that two messages share: both are to be looked at.
    shared: BTreeMap<(DedupEnd, u64), Vec<u64>>,
}

impl Dedup {
    /// Where messages lie that may have this sender and id. All that is not forgotten is looked at: the machine's clock may
    /// have been set back to before what the record's has passed.
    pub(crate) fn find(&self, sender: &str, id: &str) -> Vec<u64> {
        let key = fingerprint(sender, id);
        let first = self.buckets.values().filter_map(|bucket| bucket.get(&key).copied());
        let more = self.shared.iter().filter(|((_, shared), _)| *shared == key);
        let more = more.flat_map(|(_, positions)| positions);
        first.chain(more.copied()).collect()
    }

    pub(crate) fn take(&mut self, sender: &str, id: &str, position: u64, end: DedupEnd) {
        self.put(end, fingerprint(sender, id), position);
    }

    fn put(&mut self, bucket: DedupEnd, key: u64, position: u64) {
        let old = *self.buckets.entry(bucket).or_default().entry(key).or_insert(position);
        if old != position {
            self.shared.entry((bucket, key)).or_default().push(position);
        }
    }

    /// Forgets what both clocks are past.
    pub(crate) fn forget(&mut self, clocks: &ClockHistory) {
        if self.buckets.keys().any(|end| clocks.is_past(*end)) {
            self.buckets.retain(|end, _| !clocks.is_past(*end));
            self.shared.retain(|(end, _), _| !clocks.is_past(*end));
        }
    }

    /// Forgets everything from a position on, which never came to be.
    pub(crate) fn undo(&mut self, from: u64) {
        for positions in self.shared.values_mut() {
            positions.retain(|position| *position < from);
        }
        for bucket in self.buckets.values_mut() {
            bucket.retain(|_, position| *position < from);
        }
        self.shared.retain(|_, positions| !positions.is_empty());
        self.buckets.retain(|_, bucket| !bucket.is_empty());
    }

    /// All of it as bytes, and until when they are of use.
    pub(crate) fn to_part(&self) -> (Vec<u8>, DedupEnd) {
        let plain = self.buckets.iter().flat_map(|(end, all)| all.iter().map(|(key, at)| (*end, *key, *at)));
        let shared =
            self.shared.iter().flat_map(|((end, key), all)| all.iter().map(|position| (*end, *key, *position)));
        let mut all: Vec<_> = plain.chain(shared).collect();
        all.sort_unstable();
        let last = all.iter().fold(DedupEnd::default(), |last, (end, ..)| last.latest(*end));
        let bytes = all
            .into_iter()
            .flat_map(|(end, key, position)| [end.machine, end.record, key, position])
            .flat_map(u64::to_le_bytes);
        (bytes.collect(), last)
    }

    /// Takes in what was written.
    pub(crate) fn take_part(&mut self, part: &[u8]) {
        for one in part.chunks_exact(WIRE) {
            let mut numbers = one.as_chunks::<8>().0.iter().map(|bytes| u64::from_le_bytes(*bytes));
            let mut next = || numbers.next().unwrap_or_default();
            let end = DedupEnd { machine: next(), record: next() };
            let (key, position) = (next(), next());
            self.put(end, key, position);
        }
    }
}

fn fingerprint(sender: &str, id: &str) -> u64 {
    let mut hash = Sha256::new();
    hash.update((sender.len() as u64).to_le_bytes());
    hash.update(sender);
    hash.update(id);
    let full: [u8; 32] = hash.finalize().into();
    full.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}
