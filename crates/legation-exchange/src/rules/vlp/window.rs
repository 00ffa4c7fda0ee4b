//! The newest messages, to be referred to: where one with an id, or with a digest, lies. Older ones are
//! looked up in the index. Only fingerprints are kept, so that no message is read to find another.

use super::Target;
use super::keyed::Keyed;
use crate::effect::Accepted;
use crate::rules;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::VecDeque;
use std::sync::OnceLock;

/// How many messages are known.
const KNOWN: usize = 65_536;
/// How many of its recipients a message is found with.
const PAIRS: usize = 8;
/// How many are known, where it goes on from something.
const HEARD: usize = 32;
/// How much of a digest it is found by: twice what is kept of it.
const DIGEST: usize = "sha256:".len() + 32;

/// The newest messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WireWindow", into = "WireWindow")]
pub struct Window {
    /// By position.
    known: VecDeque<Known>,
    /// Where they lie, by the keys of each in turn.
    keyed: Keyed,
    /// The last message that is known no more.
    gone: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Known {
    position: u64,
    /// How many keys lead to it.
    keys: usize,
    /// Most go on from nothing.
    origins: Option<Box<Origins>>,
}

/// What a message goes on from, and who got it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Origins {
    refers: Vec<Target>,
    /// What it rests on, with its hash.
    rests: Vec<u64>,
    /// So many as are known by themselves, by the entries that registered them.
    heard: Vec<u64>,
}

impl Origins {
    fn named(&self) -> impl Iterator<Item = u64> {
        self.refers.iter().filter_map(Target::position).chain(self.rests.iter().copied())
    }
}

#[derive(Serialize, Deserialize)]
struct WireWindow {
    known: Vec<(u64, WireKnown)>,
    gone: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct WireKnown {
    keys: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    refers: Vec<Target>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rests: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    heard: Vec<u64>,
}

impl From<WireWindow> for Window {
    fn from(wire: WireWindow) -> Self {
        let mut window = Window { gone: wire.gone, ..Window::default() };
        for (position, WireKnown { keys, refers, rests, heard }) in wire.known {
            window.add(position, &keys, Origins { refers, rests, heard });
        }
        window
    }
}

impl From<Window> for WireWindow {
    fn from(Window { known, keyed, gone }: Window) -> Self {
        let mut keys = keyed.keys();
        let known = known.into_iter().map(|Known { position, keys: count, origins }| {
            let Origins { refers, rests, heard } = origins.map(|origins| *origins).unwrap_or_default();
            (position, WireKnown { keys: keys.by_ref().take(count).collect(), refers, rests, heard })
        });
        WireWindow { known: known.collect(), gone }
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
        let (kind, parts) = match self {
            Key::Id(id) => (0, [id, "", ""]),
            Key::InSession(id, session) => (1, [id, session, ""]),
            Key::Between(id, one, other) => (2, [id, one.min(other), one.max(other)]),
            Key::Digest(digest) => (3, [digest.get(..DIGEST).unwrap_or(digest), "", ""]),
        };
        let [first, second, _] = parts;
        // What tells the parts apart is short, so that most keys are hashed in one step.
        let lengths = ((kind << 28 | first.len() as u64) << 28) | second.len() as u64;
        let mut hash = Sha256::new();
        hash.update(lengths.to_le_bytes());
        for part in parts {
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
        self.led_to(key.fingerprint())
    }

    fn led_to(&self, key: u64) -> impl Iterator<Item = u64> {
        let mut last = None;
        self.keyed.find(key).filter(move |position| last.replace(*position) != Some(*position)).take(2)
    }

    /// What a message named.
    pub(super) fn named_by(&self, message: u64) -> &[Target] {
        self.origins_of(message).map_or(&[], |origins| &origins.refers)
    }

    fn origins_of(&self, message: u64) -> Option<&Origins> {
        let found = self.known.binary_search_by_key(&message, |known| known.position);
        found.ok().and_then(|at| self.known.get(at)).and_then(|known| known.origins.as_deref())
    }

    /// The known messages behind one that go on from something, oldest first, each with those it names, or rests on with
    /// their hashes.
    pub(super) fn naming(&self, behind: u64) -> impl Iterator<Item = (u64, impl Iterator<Item = u64>)> {
        let first = self.known.partition_point(|known| known.position <= behind);
        self.known.range(first..).filter_map(|known| Some((known.position, known.origins.as_deref()?.named())))
    }

    /// Who got a message that goes on from something.
    pub(super) fn heard(&self, message: u64) -> &[u64] {
        self.origins_of(message).map_or(&[], |origins| &origins.heard)
    }

    /// What these messages named and nothing had is kept no longer.
    pub(crate) fn redact(&mut self, is_redacted: &impl Fn(u64) -> bool) {
        for known in self.known.iter_mut().filter(|known| is_redacted(known.position)) {
            let Some(origins) = &mut known.origins else { continue };
            origins.refers = origins.refers.iter().map(Target::redacted).collect();
        }
    }

    /// Takes a message in, and says which one goes for it. `since` tells the entry that registered an agent.
    pub(super) fn put(
        &mut self,
        position: u64,
        accepted: &Accepted,
        since: &impl Fn(&str) -> Option<u64>,
    ) -> Option<u64> {
        let changes = &accepted.ruled.changes;
        let refers: Vec<Target> = changes.iter().flat_map(rules::Change::targets).cloned().collect();
        let rests: Vec<u64> = changes.iter().flat_map(rules::Change::rests).copied().collect();
        let is_plain = refers.is_empty() && rests.is_empty();
        let known = accepted.to.iter().take(HEARD).filter(|_| !is_plain);
        let heard = known.filter_map(|id| since(id)).collect();
        self.add(position, keys_of(accepted), Origins { refers, rests, heard });
        if self.known.len() > KNOWN { self.let_go() } else { None }
    }

    /// The oldest goes.
    fn let_go(&mut self) -> Option<u64> {
        let Known { position, keys, .. } = self.known.pop_front()?;
        self.keyed.let_go(keys);
        self.gone = Some(position);
        self.gone
    }

    fn add(&mut self, position: u64, keys: &[u64], origins: Origins) {
        for key in keys {
            self.keyed.put(*key, position);
        }
        let origins = (origins != Origins::default()).then(|| Box::new(origins));
        self.known.push_back(Known { position, keys: keys.len(), origins });
    }
}

/// What a message is found by, once somebody asked. An entry is folded by who decides and again for who reads, and to find
/// the keys takes longer than all else of either. They follow from what stands beside them: they make no difference, and a
/// copy, which may be changed, finds its own.
#[derive(Debug, Default)]
pub struct Keys(OnceLock<Box<[u64]>>);

impl Clone for Keys {
    fn clone(&self) -> Self {
        Keys::default()
    }
}

impl PartialEq for Keys {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

fn keys_of(accepted: &Accepted) -> &[u64] {
    accepted.keys.0.get_or_init(|| {
        let Accepted { id, sender, to, thread, digest, .. } = accepted;
        let session = thread.iter().map(|session| Key::InSession(id, session));
        let pairs = to.iter().take(PAIRS).map(|recipient| Key::Between(id, sender, recipient));
        [Key::Id(id), Key::Digest(digest)].into_iter().chain(session).chain(pairs).map(Key::fingerprint).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::{Keys, Origins, Window, WireWindow};
    use proptest::prelude::*;

    /// The newest two of those that have a key, the plain way.
    fn plainly(all: &[(u64, Vec<u64>)], key: u64) -> Vec<u64> {
        let has = |(position, keys): &(u64, Vec<u64>)| keys.contains(&key).then_some(*position);
        all.iter().rev().filter_map(has).take(2).collect()
    }

    proptest! {
        /// A message comes with its keys, or the oldest goes.
        #[test]
        fn a_key_leads_to_the_newest_two(steps in proptest::collection::vec(
            proptest::option::weighted(0.7, proptest::collection::vec(0_u64..6, 0..4)), 0..60,
        )) {
            let (mut window, mut all) = (Window::default(), Vec::new());
            for (position, step) in (0..).zip(steps) {
                if let Some(keys) = step {
                    window.add(position, &keys, Origins::default());
                    all.push((position, keys));
                } else {
                    let gone = (!all.is_empty()).then(|| all.remove(0).0);
                    prop_assert_eq!(window.let_go(), gone);
                }
                for key in 0..6 {
                    prop_assert_eq!(window.led_to(key).collect::<Vec<_>>(), plainly(&all, key));
                }
                let wire: WireWindow = window.clone().into();
                prop_assert_eq!(&Window::from(wire), &window);
            }
        }
    }

    #[test]
    fn a_copy_that_may_be_changed_finds_its_own_keys() {
        let keys = Keys::default();
        keys.0.get_or_init(|| [1].into());
        assert!(keys.clone().0.get().is_none());
        assert_eq!(keys, Keys::default());
    }
}
