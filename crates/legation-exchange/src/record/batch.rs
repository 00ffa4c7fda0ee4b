//! What one commit made durable, stated by the exchange once for all of it: the tree over its leaves
//! and a signature over the root, from which the receipts of its entries are cut.

use super::frontier::{empty_root, node};
use super::hash::Hash;
use super::opening::Opening;
use super::receipt::{Receipt, Stamp, Words};
use legation_protocol::sign::SecretKey;
use serde::Serialize;

/// What no message can have in this place, so that neither is ever taken for the other.
const KIND: &str = "legation-batch-1";

/// What one commit made durable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Committed {
    /// The position of its first entry.
    pub first: u64,
    /// The time of that entry.
    pub at: u64,
    /// The leaves of its entries, in order.
    pub leaves: Vec<Hash>,
}

/// What the exchange says of a batch: the members of canonical JSON (RFC 8785), in their order.
#[derive(Debug, Serialize)]
pub(super) struct Statement<'a> {
    pub(super) at: u64,
    pub(super) count: u64,
    pub(super) epoch: u32,
    pub(super) first: u64,
    pub(super) kind: &'static str,
    pub(super) realm: &'a str,
    pub(super) root: Hash,
}

impl<'a> Statement<'a> {
    pub(super) fn of(realm: &'a str, epoch: u32, stamp: &Stamp) -> Statement<'a> {
        let Stamp { first, count, root, at, .. } = *stamp;
        Statement { at, count, epoch, first, kind: KIND, realm, root }
    }

    /// The bytes that are signed.
    pub(super) fn to_canonical(&self) -> String {
        // Strings and integers only: there is nothing in it that could fail to be written.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A batch that is signed: receipts of all its entries at no further signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    realm: String,
    epoch: u32,
    stamp: Stamp,
    levels: Vec<Vec<Hash>>,
}

impl Seal {
    /// Signs a batch.
    pub fn new(realm: &str, epoch: u32, committed: Committed, key: &SecretKey) -> Seal {
        let Committed { first, at, leaves } = committed;
        let count = leaves.len() as u64;
        let levels = levels(leaves);
        let root = levels.last().and_then(|top| top.first()).copied().unwrap_or_else(empty_root);
        let statement = Statement { at, count, epoch, first, kind: KIND, realm, root };
        let signature = key.sign_bytes(statement.to_canonical().as_bytes());
        let stamp = Stamp { first, count, root, at, signature };
        Seal { realm: realm.to_owned(), epoch, stamp, levels }
    }

    /// The position of the first entry.
    pub fn first(&self) -> u64 {
        self.stamp.first
    }

    /// How many entries it covers.
    pub fn count(&self) -> u64 {
        self.stamp.count
    }

    /// Whether the entry at this position is one of them.
    pub fn covers(&self, position: u64) -> bool {
        position.checked_sub(self.stamp.first).is_some_and(|index| index < self.stamp.count)
    }

    /// The receipt for the message at a position; `None` if it is not in this batch, or the entry
    /// there took no message.
    pub fn receipt(&self, position: u64, at: u64, entry: Opening) -> Option<Receipt> {
        let words = Words::of(&entry.effect)?;
        self.receipt_saying(words, position, at, entry)
    }

    /// The same, by whoever knows already what the entry says.
    pub fn receipt_saying(&self, words: Words, position: u64, at: u64, entry: Opening) -> Option<Receipt> {
        let index = usize::try_from(position.checked_sub(self.stamp.first)?).ok()?;
        let leaf = *self.levels.first()?.get(index)?;
        let path = path(&self.levels, index);
        Some(Receipt::cut((&self.realm, self.epoch), (position, at), (leaf, path), (entry, words), self.stamp))
    }
}

/// The tree over some leaves, level by level up to the root. A last node without a sibling is its
/// own parent, which gives the tree of RFC 6962 at any size.
fn levels(leaves: Vec<Hash>) -> Vec<Vec<Hash>> {
    let mut levels = vec![leaves];
    while let Some(below) = levels.last().filter(|below| below.len() > 1) {
        let (pairs, rest) = below.as_chunks::<2>();
        let mut level: Vec<_> = pairs.iter().map(|[left, right]| node(*left, *right)).collect();
        level.extend(rest);
        levels.push(level);
    }
    levels
}

/// The path from the leaf at `index` to the root.
fn path(levels: &[Vec<Hash>], index: usize) -> Vec<Hash> {
    let mut at = index;
    let mut path = Vec::with_capacity(levels.len());
    for level in levels {
        path.extend(level.get(at ^ 1).filter(|_| level.len() > 1));
        at >>= 1;
    }
    path
}

#[cfg(test)]
mod tests {
    use super::{levels, path};
    use crate::record::{Frontier, Hash, verify_inclusion};

    #[test]
    fn the_tree_of_a_batch_is_the_tree_of_the_definition_at_every_size() {
        let leaves: Vec<_> = (0..70_u8).map(|index| Hash::of(&[&[index]])).collect();
        let mut frontier = Frontier::default();
        for size in 1..=leaves.len() {
            frontier.append(leaves[size - 1]);
            let levels = levels(leaves[..size].to_vec());
            assert_eq!(levels.last().unwrap()[..], [frontier.root()], "at {size}");
            for (index, leaf) in leaves[..size].iter().enumerate() {
                let path = path(&levels, index);
                assert!(
                    verify_inclusion(*leaf, index as u64, size as u64, frontier.root(), &path),
                    "{index} of {size}"
                );
            }
        }
    }
}
