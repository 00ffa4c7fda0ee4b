//! Which messages have been taken. Kept until a message's own timestamp could no longer be accepted,
//! so that no copy of it ever comes in twice. Only a fingerprint and a position are kept of each:
//! whoever finds one looks the message up in the record and compares there.

use crate::moment::Moment;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::hash::{BuildHasherDefault, Hasher};

/// How long a bucket is: its content is forgotten together.
const BUCKET: u64 = 600_000_000;
/// Bytes of one message in a part.
const WIRE: usize = 24;

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
    /// By the time from which on they may be forgotten.
    buckets: BTreeMap<u64, Bucket>,
    /// Fingerprints that two messages share: both are to be looked at.
    shared: BTreeMap<(u64, u64), Vec<u64>>,
}

impl Dedup {
    /// Where messages lie that may have this sender and id, and can still come again.
    pub(crate) fn find(&self, sender: &str, id: &str, now: Moment) -> Vec<u64> {
        let (key, current) = (fingerprint(sender, id), now.micros() / BUCKET);
        let first = self.buckets.range(current..).filter_map(|(_, bucket)| bucket.get(&key).copied());
        let more = self.shared.range((current, 0)..).filter(|((_, shared), _)| *shared == key);
        let more = more.flat_map(|(_, positions)| positions);
        first.chain(more.copied()).collect()
    }

    pub(crate) fn take(&mut self, sender: &str, id: &str, position: u64, until: Moment) {
        self.put(until.micros() / BUCKET, fingerprint(sender, id), position);
    }

    fn put(&mut self, bucket: u64, key: u64, position: u64) {
        let old = *self.buckets.entry(bucket).or_default().entry(key).or_insert(position);
        if old != position {
            self.shared.entry((bucket, key)).or_default().push(position);
        }
    }

    /// Forgets what can no longer come again.
    pub(crate) fn forget(&mut self, now: Moment) {
        let current = now.micros() / BUCKET;
        while self.buckets.first_key_value().is_some_and(|(bucket, _)| *bucket < current) {
            self.buckets.pop_first();
        }
        while self.shared.first_key_value().is_some_and(|((bucket, _), _)| *bucket < current) {
            self.shared.pop_first();
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
    pub(crate) fn to_part(&self) -> (Vec<u8>, Moment) {
        let plain = self.buckets.iter().flat_map(|(bucket, all)| all.iter().map(|(key, at)| (*bucket, *key, *at)));
        let shared =
            self.shared.iter().flat_map(|((bucket, key), all)| all.iter().map(|position| (*bucket, *key, *position)));
        let mut all: Vec<_> = plain.chain(shared).collect();
        all.sort_unstable();
        let last = all.last().map_or(0, |(bucket, ..)| bucket + 1);
        let bytes = all
            .into_iter()
            .flat_map(|(bucket, key, position)| [bucket, key, position].into_iter().flat_map(u64::to_le_bytes));
        (bytes.collect(), Moment::from_micros(last * BUCKET))
    }

    /// Takes in what was written.
    pub(crate) fn take_part(&mut self, part: &[u8]) {
        let number = |bytes: &[u8]| bytes.try_into().map(u64::from_le_bytes).unwrap_or_default();
        for one in part.chunks_exact(WIRE) {
            let (bucket, rest) = one.split_at(8);
            let (key, position) = rest.split_at(8);
            self.put(number(bucket), number(key), number(position));
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
