//! Sessions in the order in which they go when there are too many: the oldest first, each owner's by itself.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Sessions by the entry that counts for their age.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Shelf {
    all: BTreeMap<u64, String>,
    own: BTreeMap<String, BTreeSet<u64>>,
}

impl Shelf {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// How many somebody has here.
    pub(super) fn len_of(&self, owner: &str) -> usize {
        self.own.get(owner).map_or(0, BTreeSet::len)
    }

    /// How many each has here.
    pub(super) fn lengths(&self) -> impl Iterator<Item = (&str, usize)> {
        self.own.iter().map(|(owner, own)| (owner.as_str(), own.len()))
    }

    /// Returns how many more there are.
    pub(super) fn put(&mut self, age: u64, owner: &str, id: &str) -> i64 {
        self.all.insert(age, id.to_owned());
        i64::from(self.own.entry(owner.to_owned()).or_default().insert(age))
    }

    /// Returns how many more there are: one less, if it was there.
    pub(super) fn take(&mut self, age: u64, owner: &str) -> i64 {
        self.all.remove(&age);
        let Some(own) = self.own.get_mut(owner) else { return 0 };
        let was_there = own.remove(&age);
        if own.is_empty() {
            self.own.remove(owner);
        }
        -i64::from(was_there)
    }

    /// Somebody's oldest.
    pub(super) fn oldest_of(&self, owner: &str) -> Option<&str> {
        let age = self.own.get(owner)?.first()?;
        self.all.get(age).map(String::as_str)
    }

    /// Which goes when somebody has brought one more: one of theirs, if they have others.
    pub(super) fn to_go(&self, owner: &str) -> Option<&str> {
        if self.len_of(owner) > 1 { self.oldest_of(owner) } else { self.all.values().next().map(String::as_str) }
    }
}
