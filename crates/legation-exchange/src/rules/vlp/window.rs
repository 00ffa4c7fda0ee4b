//! The newest messages, to be referred to: where one with an id, or with a digest, lies. Older ones are
//! looked up in the index. Only fingerprints are kept, so that no message is read to find another.

use super::Target;
use crate::effect::Accepted;
use crate::rules;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// How many messages are known.
const KNOWN: usize = 65_536;
/// How many of its recipients a message is found with.
const PAIRS: usize = 8;

/// The newest messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WireWindow", into = "WireWindow")]
pub struct Window {
    known: BTreeMap<u64, Known>,
    /// What leads to which message.
    keys: BTreeSet<(u64, u64)>,
    /// The last message that is known no more.
    gone: Option<u64>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Known {
    keys: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refers: Vec<Target>,
}

#[derive(Serialize, Deserialize)]
struct WireWindow {
    known: Vec<(u64, Known)>,
    gone: Option<u64>,
}

impl From<WireWindow> for Window {
    fn from(wire: WireWindow) -> Self {
        let known: BTreeMap<_, _> = wire.known.into_iter().collect();
        let keys = known.iter().flat_map(|(at, known)| known.keys.iter().map(|key| (*key, *at))).collect();
        Window { known, keys, gone: wire.gone }
    }
}

impl From<Window> for WireWindow {
    fn from(window: Window) -> Self {
        WireWindow { known: window.known.into_iter().collect(), gone: window.gone }
    }
}

/// What a message is found by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Key<'k> {
    /// Its id, anywhere.
    Id(&'k str),
    /// Its id, in a session.
    InSession(&'k str, &'k str),
    /// Its id, between two.
    Between(&'k str, &'k str, &'k str),
    /// Its digest.
    Digest(&'k str),
}

impl Key<'_> {
    fn fingerprint(self) -> u64 {
        let parts = match self {
            Key::Id(id) => ["i", id, "", ""],
            Key::InSession(id, session) => ["s", id, session, ""],
            Key::Between(id, one, other) => ["p", id, one.min(other), one.max(other)],
            Key::Digest(digest) => ["d", digest, "", ""],
        };
        let mut hash = Sha256::new();
        for part in parts {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        let full: [u8; 32] = hash.finalize().into();
        full.first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
    }
}

impl Window {
    /// The last message that is known no more: what lies beyond it is known.
    pub fn gone(&self) -> Option<u64> {
        self.gone
    }

    /// Whether a message with this digest is known.
    pub fn has_digest(&self, digest: &str) -> bool {
        self.find(Key::Digest(digest)).next().is_some()
    }

    /// The newest two that a key leads to: one is found, two are not told apart.
    pub(super) fn find(&self, key: Key<'_>) -> impl Iterator<Item = u64> {
        let key = key.fingerprint();
        self.keys.range((key, 0)..=(key, u64::MAX)).rev().take(2).map(|(_, position)| *position)
    }

    /// What a message named.
    pub(super) fn named_by(&self, message: u64) -> &[Target] {
        self.known.get(&message).map_or(&[], |known| &known.refers)
    }

    /// Takes a message in, and says which one goes for it.
    pub(super) fn put(&mut self, position: u64, accepted: &Accepted) -> Option<u64> {
        let known = Known { keys: keys_of(accepted), refers: named(accepted) };
        self.keys.extend(known.keys.iter().map(|key| (*key, position)));
        self.known.insert(position, known);
        if self.known.len() <= KNOWN {
            return None;
        }
        let (gone, known) = self.known.pop_first()?;
        for key in known.keys {
            self.keys.remove(&(key, gone));
        }
        self.gone = Some(gone);
        self.gone
    }
}

fn keys_of(accepted: &Accepted) -> Vec<u64> {
    let Accepted { id, sender, to, thread, digest, .. } = accepted;
    let session = thread.iter().map(|session| Key::InSession(id, session));
    let pairs = to.iter().take(PAIRS).map(|recipient| Key::Between(id, sender, recipient));
    [Key::Id(id), Key::Digest(digest)].into_iter().chain(session).chain(pairs).map(Key::fingerprint).collect()
}

fn named(accepted: &Accepted) -> Vec<Target> {
    accepted.ruled.changes.iter().flat_map(rules::Change::targets).cloned().collect()
}
