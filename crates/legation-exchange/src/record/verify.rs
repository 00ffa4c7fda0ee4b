//! Checking proofs, after RFC 9162, sections 2.1.3.2 and 2.1.4.2, without any part of the prover.

use super::frontier::node;
use super::hash::Hash;

/// Whether `path` shows that `leaf` is at `index` among the `size` leaves under `root`.
pub fn verify_inclusion(leaf: Hash, index: u64, size: u64, root: Hash, path: &[Hash]) -> bool {
    if index >= size {
        return false;
    }
    let mut place = Place { first: index, last: size - 1 };
    let mut hash = leaf;
    for sibling in path {
        if place.last == 0 {
            return false;
        }
        hash = if place.is_right() { node(*sibling, hash) } else { node(hash, *sibling) };
        place.climb();
    }
    place.last == 0 && hash == root
}

/// Whether `proof` shows that the tree of `old` leaves under `old_root` is what the tree of `new`
/// leaves under `new_root` begins with. Every tree begins with the empty one.
pub fn verify_consistency(old: u64, new: u64, old_root: Hash, new_root: Hash, proof: &[Hash]) -> bool {
    if old == 0 {
        return proof.is_empty() && old_root == super::frontier::empty_root();
    }
    if old == new {
        return proof.is_empty() && old_root == new_root;
    }
    if old > new {
        return false;
    }
    let mut place = Place { first: old - 1, last: new - 1 };
    while place.first & 1 == 1 {
        place.up();
    }
    let mut hashes = proof.iter().copied();
    // A complete old tree is a node of the new one, and so is left out of the proof.
    let start = if old.is_power_of_two() { Some(old_root) } else { hashes.next() };
    let Some(start) = start else { return false };
    let (mut old_hash, mut new_hash) = (start, start);
    for sibling in hashes {
        if place.last == 0 {
            return false;
        }
        if place.is_right() {
            old_hash = node(sibling, old_hash);
            new_hash = node(sibling, new_hash);
        } else {
            new_hash = node(new_hash, sibling);
        }
        place.climb();
    }
    place.last == 0 && old_hash == old_root && new_hash == new_root
}

/// Where a node stands in its level, and where that level ends.
struct Place {
    first: u64,
    last: u64,
}

impl Place {
    /// Whether the sibling is at the left.
    fn is_right(&self) -> bool {
        self.first & 1 == 1 || self.first == self.last
    }

    /// To the parent, over the levels where a node at the right edge has no sibling.
    fn climb(&mut self) {
        if self.is_right() {
            while self.first & 1 == 0 && self.first != 0 {
                self.up();
            }
        }
        self.up();
    }

    fn up(&mut self) {
        self.first >>= 1;
        self.last >>= 1;
    }
}
