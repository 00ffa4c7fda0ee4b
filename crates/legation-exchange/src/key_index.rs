//! An index of public keys: which agents list a key, and which removed or forgotten key is bound to whom.

use crate::agent::Agent;
use crate::key::Key;
use legation_protocol::sign::PublicKey;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How many bindings are kept of keys that no agent lists any more. The oldest go first.
pub(crate) const FORMER_BINDINGS: usize = 65_536;

/// The 32 bytes of a public key.
type KeyBytes = [u8; 32];

/// Public keys by agent. An entry costs 40 bytes; an agent lists 16 keys at most.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct KeyIndex {
    /// Which agents list a key, by the entry that registered them.
    holders: BTreeSet<(KeyBytes, u64)>,
    /// To whom a key is bound that its agent lists no longer.
    former: BTreeMap<KeyBytes, String>,
    /// The same keys, oldest first.
    order: VecDeque<KeyBytes>,
}

impl KeyIndex {
    /// The agents that list a key, by the entry that registered them.
    pub(crate) fn holders(&self, key: &PublicKey) -> impl Iterator<Item = u64> {
        let key = *key.as_bytes();
        self.holders.range((key, 0)..=(key, u64::MAX)).map(|(_, since)| *since)
    }

    /// Keys that more than one agent lists.
    pub(crate) fn shared(&self) -> impl Iterator<Item = (&KeyBytes, u64)> {
        let mut before = None;
        let mut next = self.holders.iter().peekable();
        std::iter::from_fn(move || {
            loop {
                let (key, since) = next.next()?;
                let is_shared = before == Some(key) || next.peek().is_some_and(|(other, _)| other == key);
                before = Some(key);
                if is_shared {
                    return Some((key, *since));
                }
            }
        })
    }

    /// To whom a key is bound that its agent lists no longer.
    pub(crate) fn former_owner(&self, key: &PublicKey) -> Option<&str> {
        self.former.get(key.as_bytes()).map(String::as_str)
    }

    /// All such keys, oldest first.
    pub(crate) fn former(&self) -> impl Iterator<Item = (KeyBytes, &str)> {
        self.order.iter().filter_map(|key| Some((*key, self.former.get(key)?.as_str())))
    }

    pub(crate) fn put_former(&mut self, key: KeyBytes, agent: String) {
        if self.former.insert(key, agent).is_none() {
            self.order.push_back(key);
        }
        while self.order.len() > FORMER_BINDINGS {
            if let Some(oldest) = self.order.pop_front() {
                self.former.remove(&oldest);
            }
        }
    }

    fn take_former(&mut self, key: &KeyBytes) {
        if self.former.remove(key).is_some() {
            self.order.retain(|other| other != key);
        }
    }

    /// Adds an agent's keys.
    pub(crate) fn add(&mut self, agent: &Agent) {
        for key in &agent.keys {
            self.holders.insert((*key.public.as_bytes(), agent.since));
            if key.proven {
                self.take_former(key.public.as_bytes());
            }
        }
    }

    /// Changes an agent's keys. One that it lists no longer stays bound to it.
    pub(crate) fn replace(&mut self, before: &Agent, after: &Agent) {
        for key in before.keys.iter().filter(|key| after.key(&key.public).is_none()) {
            self.drop_key(before, key);
        }
        if before.since != after.since || before.keys != after.keys {
            for key in &before.keys {
                self.holders.remove(&(*key.public.as_bytes(), before.since));
            }
            self.add(after);
        }
    }

    fn drop_key(&mut self, agent: &Agent, key: &Key) {
        self.holders.remove(&(*key.public.as_bytes(), agent.since));
        if key.proven {
            self.put_former(*key.public.as_bytes(), agent.id.clone());
        }
    }

    /// Takes an agent's keys out. Those that were bound to it stay so.
    pub(crate) fn take(&mut self, agent: &Agent) {
        for key in &agent.keys {
            self.drop_key(agent, key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FORMER_BINDINGS, KeyIndex};

    #[test]
    fn bindings_of_keys_that_nobody_lists_are_bounded_and_the_oldest_go_first() {
        let mut index = KeyIndex::default();
        let key = |n: usize| {
            let mut bytes = [0; 32];
            bytes[..8].copy_from_slice(&n.to_le_bytes());
            bytes
        };
        for n in 0..FORMER_BINDINGS + 10 {
            index.put_former(key(n), "ann".to_owned());
        }
        assert_eq!(index.former().count(), FORMER_BINDINGS);
        assert_eq!(index.former().next(), Some((key(10), "ann")));
    }
}
