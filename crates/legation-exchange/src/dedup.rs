//! Which messages have been taken. Kept until a message's own timestamp could no longer be
//! accepted, so that no copy of it ever comes in twice.

use crate::moment::Moment;
use legation_protocol::json::Digest;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// A sender and an id, in sixteen bytes. Two different pairs share one with probability 2^-64 only
/// after billions of messages within one window, and the digest is compared on top.
type Fingerprint = [u8; 16];

/// What is known of a message that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    pub(crate) position: u64,
    digest: [u8; 16],
}

impl Taken {
    /// Whether a message with this digest is the same one.
    pub(crate) fn is(&self, digest: Digest) -> bool {
        digest.0.starts_with(&self.digest)
    }
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<WireTaken>", into = "Vec<WireTaken>")]
pub(crate) struct Dedup {
    taken: BTreeMap<Fingerprint, Taken>,
    /// By the minute in which they may be forgotten.
    until: BTreeMap<u64, Vec<Fingerprint>>,
}

/// Minute, fingerprint, digest, position.
#[derive(Serialize, Deserialize)]
struct WireTaken(u64, u128, u128, u64);

impl From<Dedup> for Vec<WireTaken> {
    fn from(dedup: Dedup) -> Self {
        let minutes = dedup.until.iter().flat_map(|(minute, keys)| keys.iter().map(move |key| (*minute, key)));
        let wire = minutes.filter_map(|(minute, key)| {
            let taken = dedup.taken.get(key)?;
            let number = u128::from_be_bytes;
            Some(WireTaken(minute, number(*key), number(taken.digest), taken.position))
        });
        wire.collect()
    }
}

impl From<Vec<WireTaken>> for Dedup {
    fn from(wire: Vec<WireTaken>) -> Self {
        let mut dedup = Dedup::default();
        for WireTaken(minute, key, digest, position) in wire {
            let key = key.to_be_bytes();
            dedup.taken.insert(key, Taken { position, digest: digest.to_be_bytes() });
            dedup.until.entry(minute).or_default().push(key);
        }
        dedup
    }
}

const MINUTE: u64 = 60_000_000;

impl Dedup {
    pub(crate) fn find(&self, sender: &str, id: &str) -> Option<Taken> {
        self.taken.get(&fingerprint(sender, id)).copied()
    }

    pub(crate) fn take(&mut self, sender: &str, id: &str, digest: Digest, position: u64, until: Moment) {
        let key = fingerprint(sender, id);
        let mut short = [0; 16];
        short.iter_mut().zip(digest.0).for_each(|(to, from)| *to = from);
        self.taken.insert(key, Taken { position, digest: short });
        self.until.entry(until.micros() / MINUTE).or_default().push(key);
    }

    /// Forgets what can no longer come again.
    pub(crate) fn forget(&mut self, now: Moment) {
        let later = self.until.split_off(&(now.micros() / MINUTE));
        for key in std::mem::replace(&mut self.until, later).into_values().flatten() {
            self.taken.remove(&key);
        }
    }
}

fn fingerprint(sender: &str, id: &str) -> Fingerprint {
    let mut hash = Sha256::new();
    hash.update((sender.len() as u64).to_le_bytes());
    hash.update(sender);
    hash.update(id);
    let full: [u8; 32] = hash.finalize().into();
    let mut short = [0; 16];
    short.iter_mut().zip(full).for_each(|(to, from)| *to = from);
    short
}
