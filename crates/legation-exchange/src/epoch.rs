//! Epochs: a record that goes on from a copy begins a new one, so that what it says from then on is
//! never taken for what the lost end said.

use crate::record::Hash;
use serde::{Deserialize, Serialize};

/// What an epoch began with: the record was restored from a copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restored {
    /// The epoch that begins. A record begins with 1.
    pub epoch: u32,
    /// How many entries the copy had: this entry is the next.
    pub size: u64,
    /// The root over them.
    pub root: String,
    /// SHA-256 of the checkpoint that came with the copy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
    /// Drawn at random: two records that go on from the same copy differ in it.
    pub restore: String,
    /// Who did it.
    pub by: String,
    /// Keys that were revoked after the copy was made and that it does not have, by
    /// [`key_hash`](crate::revocation::key_hash).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub revoked_keys: Vec<Hash>,
}

/// One epoch of a record.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epoch {
    /// Its number, from 1.
    pub epoch: u32,
    /// Its first position.
    pub first: u64,
    /// What was drawn for the restore it began with; nothing for the first.
    pub restore: Option<String>,
}

/// All epochs of a record, the first one aside.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Epochs {
    later: Vec<Epoch>,
}

impl Epochs {
    /// All of them, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = Epoch> {
        [Epoch { epoch: 1, first: 0, restore: None }].into_iter().chain(self.later.iter().cloned())
    }

    /// The one an entry at this position is in, or would be.
    pub fn at(&self, position: u64) -> Epoch {
        let begun = |epoch: &&Epoch| epoch.first <= position;
        let later = self.later.iter().rev().find(begun).cloned();
        later.unwrap_or(Epoch { epoch: 1, first: 0, restore: None })
    }

    /// The newest.
    pub fn last(&self) -> Epoch {
        self.at(u64::MAX)
    }

    pub(crate) fn begin(&mut self, first: u64, restored: &Restored) {
        self.later.push(Epoch { epoch: restored.epoch, first, restore: Some(restored.restore.clone()) });
    }
}

#[cfg(test)]
mod tests {
    use super::{Epochs, Restored};

    #[test]
    fn an_entry_is_in_the_epoch_that_had_begun() {
        let mut epochs = Epochs::default();
        for (epoch, size) in [(2, 10), (3, 11)] {
            let (root, restore, by) = (String::new(), format!("r{epoch}"), String::new());
            epochs
                .begin(size, &Restored { epoch, size, root, checkpoint: None, restore, by, revoked_keys: Vec::new() });
        }
        let at = |position| (epochs.at(position).epoch, epochs.at(position).restore);
        assert_eq!(at(9), (1, None));
        assert_eq!(at(10), (2, Some("r2".to_owned())));
        assert_eq!(at(11), (3, Some("r3".to_owned())));
        assert_eq!(epochs.last().epoch, 3);
        assert_eq!(epochs.iter().map(|epoch| epoch.first).collect::<Vec<_>>(), [0, 10, 11]);
    }
}
