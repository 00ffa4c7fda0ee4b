//! Names that were an agent's or a group's once: nobody else comes by them but through an operator. Only a hash of each name's
//! confusable skeleton is kept, of so many names; beyond that the oldest is forgotten.

use crate::registry::look;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;

/// The most names that are kept: about 40 MiB in both copies of the state.
const MOST: usize = 250_000;

/// The hash of a name's skeleton.
pub(crate) type NameHash = (u64, u64);

/// Former names, in the order in which they were given up.
#[derive(Clone, Debug, Default)]
pub(crate) struct FormerNames {
    turns: BTreeMap<NameHash, u64>,
    order: BTreeMap<u64, NameHash>,
    next: u64,
}

impl PartialEq for FormerNames {
    /// Only the order counts, not how many there were before.
    fn eq(&self, other: &Self) -> bool {
        self.hashes().eq(other.hashes())
    }
}

impl FormerNames {
    /// Returns whether a name is, or looks like, one of them.
    pub(crate) fn contains(&self, name: &str) -> bool {
        !self.turns.is_empty() && self.turns.contains_key(&hash_of(&look(name)))
    }

    /// Adds a name as the newest.
    pub(crate) fn insert(&mut self, name: &str) {
        self.insert_hash(hash_of(&look(name)));
    }

    /// Adds a name that was read from a snapshot.
    pub(crate) fn insert_hash(&mut self, hash: NameHash) {
        let turn = self.next;
        self.next += 1;
        if let Some(before) = self.turns.insert(hash, turn) {
            self.order.remove(&before);
        }
        self.order.insert(turn, hash);
        if self.order.len() > MOST
            && let Some((_, oldest)) = self.order.pop_first()
        {
            self.turns.remove(&oldest);
        }
    }

    /// Removes the name with this skeleton: somebody has it again.
    pub(crate) fn remove_skeleton(&mut self, skeleton: &str) {
        if self.turns.is_empty() {
            return;
        }
        if let Some(turn) = self.turns.remove(&hash_of(skeleton)) {
            self.order.remove(&turn);
        }
    }

    /// Returns their hashes, oldest first.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = NameHash> {
        self.order.values().copied()
    }
}

fn hash_of(skeleton: &str) -> NameHash {
    let full: [u8; 32] = Sha256::digest(skeleton).into();
    let half = |from: usize| {
        let eight = full.get(from..from + 8).and_then(|bytes| bytes.try_into().ok());
        eight.map(u64::from_le_bytes).unwrap_or_default()
    };
    (half(0), half(8))
}

#[cfg(test)]
mod tests {
    use super::{FormerNames, MOST};

    #[test]
    fn of_a_million_former_names_the_newest_are_kept() {
        let mut names = FormerNames::default();
        for number in 0..1_000_000 {
            names.insert_hash((number, number));
        }
        assert_eq!((names.turns.len(), names.order.len()), (MOST, MOST));
        assert_eq!(names.hashes().next(), Some((1_000_000 - MOST as u64, 1_000_000 - MOST as u64)));
    }

    #[test]
    fn a_former_name_is_known_by_its_look_until_somebody_has_it_again() {
        let mut names = FormerNames::default();
        names.insert("archivist");
        names.insert("archivist");
        assert!(names.contains("Archivist.") && !names.contains("archive"));
        let mut read = FormerNames::default();
        names.hashes().for_each(|hash| read.insert_hash(hash));
        assert_eq!(read, names);
        names.remove_skeleton(&crate::registry::look("archivist"));
        assert!(!names.contains("archivist") && names.hashes().next().is_none());
    }
}
