//! The right edge of an RFC 6962 Merkle tree: all that is needed to append and to say the root.

use super::hash::Hash;

/// The roots of the complete subtrees a tree of this size is made of, largest first: one for each
/// bit set in the size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

/// The root of the tree without leaves.
pub fn empty_root() -> Hash {
    Hash::of(&[])
}

/// The hash of an inner node.
pub fn node(left: Hash, right: Hash) -> Hash {
    Hash::of(&[&[1], &left.0, &right.0])
}

impl Frontier {
    /// The frontier with these peaks, if a tree of this size has as many.
    pub fn from_peaks(size: u64, peaks: Vec<Hash>) -> Option<Frontier> {
        (usize::try_from(size.count_ones()).ok()? == peaks.len()).then_some(Frontier { size, peaks })
    }

    /// How many leaves there are.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// The roots of the complete subtrees, largest first.
    pub fn peaks(&self) -> &[Hash] {
        &self.peaks
    }

    /// Appends a leaf.
    pub fn append(&mut self, leaf: Hash) {
        self.append_with(leaf, |_| ());
    }

    /// Appends a leaf and tells the nodes this completes: the leaf, then what it closes, upwards.
    pub fn append_with(&mut self, leaf: Hash, mut completed: impl FnMut(Hash)) {
        let mut hash = leaf;
        completed(hash);
        // Each bit that is set at the low end is a subtree this leaf makes one larger of.
        for _ in 0..self.size.trailing_ones() {
            if let Some(left) = self.peaks.pop() {
                hash = node(left, hash);
                completed(hash);
            }
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// The root of the tree.
    pub fn root(&self) -> Hash {
        let whole = self.peaks.iter().rev().copied().reduce(|right, left| node(left, right));
        whole.unwrap_or_else(empty_root)
    }
}
