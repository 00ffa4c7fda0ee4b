//! Inclusion and consistency proofs (RFC 6962, sections 2.1.1 and 2.1.2), made from the hashes of
//! complete subtrees. The verifier is another file and shares nothing with this one but the node's hash.

use super::frontier::node;
use super::hash::Hash;

/// Where the hashes of complete subtrees come from.
pub trait Nodes {
    /// Why one cannot be had.
    type Error;

    /// The root of the complete subtree over the leaves `index << level` up to `(index + 1) << level`.
    fn node(&self, level: u32, index: u64) -> Result<Hash, Self::Error>;
}

/// The path from the leaf at `index` to the root of the first `size` leaves, or `None` if the leaf
/// is not among them.
pub fn inclusion<N: Nodes>(nodes: &N, index: u64, size: u64) -> Result<Option<Vec<Hash>>, N::Error> {
    if index >= size {
        return Ok(None);
    }
    let (mut from, mut to) = (0, size);
    let mut path = Vec::new();
    while to - from > 1 {
        let middle = from + left_size(to - from);
        if index < middle {
            path.push(root_of(nodes, middle, to)?);
            to = middle;
        } else {
            path.push(root_of(nodes, from, middle)?);
            from = middle;
        }
    }
    path.reverse();
    Ok(Some(path))
}

/// The proof that the first `old` leaves are where the first `new` begin with, or `None` if there
/// are more in the old tree than in the new.
pub fn consistency<N: Nodes>(nodes: &N, old: u64, new: u64) -> Result<Option<Vec<Hash>>, N::Error> {
    if old > new {
        return Ok(None);
    }
    let mut proof = Vec::new();
    if old == 0 || old == new {
        return Ok(Some(proof));
    }
    let (mut from, mut to) = (0, new);
    while to != old {
        let middle = from + left_size(to - from);
        if old <= middle {
            proof.push(root_of(nodes, middle, to)?);
            to = middle;
        } else {
            proof.push(root_of(nodes, from, middle)?);
            from = middle;
        }
    }
    // Where the old tree is a complete subtree of the new one, its root is known to who asks.
    if from != 0 {
        proof.push(root_of(nodes, from, to)?);
    }
    proof.reverse();
    Ok(Some(proof))
}

/// The root of the first `size` leaves.
pub fn root<N: Nodes>(nodes: &N, size: u64) -> Result<Hash, N::Error> {
    root_of(nodes, 0, size)
}

/// How many of `count` leaves (at least two) go to the left: the largest power of two below it.
fn left_size(count: u64) -> u64 {
    1 << (count - 1).ilog2()
}

/// The root over a range that begins where a subtree of its size may.
fn root_of<N: Nodes>(nodes: &N, from: u64, to: u64) -> Result<Hash, N::Error> {
    let (mut at, mut rest) = (from, to - from);
    let mut peaks = Vec::new();
    while let Some(level) = rest.checked_ilog2() {
        peaks.push(nodes.node(level, at >> level)?);
        at += 1 << level;
        rest -= 1 << level;
    }
    let whole = peaks.into_iter().rev().reduce(|right, left| node(left, right));
    Ok(whole.unwrap_or_else(super::frontier::empty_root))
}

#[cfg(test)]
mod tests;
