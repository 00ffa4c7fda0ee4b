//! Prover, verifier and frontier against a tree written straight from the definition.

use super::{Nodes, consistency, inclusion, root};
use crate::record::{Frontier, Hash, empty_root, node, verify_consistency, verify_inclusion};
use proptest::prelude::*;

fn at(index: u64) -> usize {
    usize::try_from(index).unwrap()
}

/// RFC 6962's definition, letter by letter.
fn naive_root(leaves: &[Hash]) -> Hash {
    match leaves {
        [] => empty_root(),
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(leaves.len().next_power_of_two() / 2);
            node(naive_root(left), naive_root(right))
        }
    }
}

struct Naive(Vec<Hash>);

impl Nodes for Naive {
    type Error = String;

    fn node(&self, level: u32, index: u64) -> Result<Hash, String> {
        let (from, to) = (at(index << level), at((index + 1) << level));
        let leaves = self.0.get(from..to).ok_or_else(|| format!("{level} {index} is not complete"))?;
        Ok(naive_root(leaves))
    }
}

fn leaves(count: usize) -> Naive {
    Naive((0..count).map(|index| Hash::of(&[&index.to_le_bytes()])).collect())
}

#[test]
fn the_frontier_has_the_root_of_the_definition_at_every_size() {
    let Naive(leaves) = leaves(70);
    let mut frontier = Frontier::default();
    for size in 0..=leaves.len() {
        assert_eq!(frontier.root(), naive_root(&leaves[..size]), "at {size}");
        assert_eq!(frontier.size(), size as u64);
        assert_eq!(root(&Naive(leaves.clone()), size as u64), Ok(frontier.root()));
        let again = Frontier::from_peaks(frontier.size(), frontier.peaks().to_vec());
        assert_eq!(again.as_ref(), Some(&frontier));
        if let Some(leaf) = leaves.get(size) {
            frontier.append(*leaf);
        }
    }
    assert_eq!(Frontier::from_peaks(3, vec![Hash::ZERO]), None);
}

#[test]
fn the_roots_of_the_known_test_vectors_come_out() {
    let inputs: [&[u8]; 8] = [
        b"",
        b"\x00",
        b"\x10",
        b"\x20\x21",
        b"\x30\x31",
        b"\x40\x41\x42\x43",
        b"\x50\x51\x52\x53\x54\x55\x56\x57",
        b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
    ];
    let roots = [
        "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
        "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
        "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
        "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
        "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
        "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
    ];
    let mut frontier = Frontier::default();
    let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(frontier.root().to_string(), empty);
    for (input, root) in inputs.into_iter().zip(roots) {
        frontier.append(Hash::of(&[&[0], input]));
        assert_eq!(frontier.root().to_string(), format!("sha256:{root}"), "after {} leaves", frontier.size());
    }
}

#[test]
fn every_leaf_of_every_tree_has_a_path_that_verifies() {
    let nodes = leaves(70);
    for size in 0..=70_u64 {
        let root = naive_root(&nodes.0[..at(size)]);
        for index in 0..size {
            let path = inclusion(&nodes, index, size).unwrap().unwrap();
            assert!(verify_inclusion(nodes.0[at(index)], index, size, root, &path), "{index} of {size}");
        }
        assert_eq!(inclusion(&nodes, size, size), Ok(None));
    }
}

#[test]
fn every_tree_is_shown_to_begin_with_every_smaller_one() {
    let nodes = leaves(70);
    for new in 0..=70_u64 {
        let new_root = naive_root(&nodes.0[..at(new)]);
        for old in 0..=new {
            let old_root = naive_root(&nodes.0[..at(old)]);
            let proof = consistency(&nodes, old, new).unwrap().unwrap();
            assert!(verify_consistency(old, new, old_root, new_root, &proof), "{old} of {new}");
        }
        assert_eq!(consistency(&nodes, new + 1, new), Ok(None));
    }
}

proptest! {
    #[test]
    fn a_path_verifies_nothing_but_its_own_leaf(
        size in 1..70_u64, place in 0..70_u64, other in 0..70_u64, grown in 1..70_u64, drop in any::<bool>(), hit in 0..8_usize,
    ) {
        let nodes = leaves(70);
        let (index, other) = (place % size, other % size);
        let root = naive_root(&nodes.0[..at(size)]);
        let mut path = inclusion(&nodes, index, size).unwrap().unwrap();
        let leaf = nodes.0[at(index)];
        prop_assert_eq!(verify_inclusion(leaf, other, size, root, &path), other == index);
        prop_assert_eq!(verify_inclusion(nodes.0[at(other)], index, size, root, &path), other == index);
        let grown_root = naive_root(&nodes.0[..at(grown)]);
        prop_assert_eq!(verify_inclusion(leaf, index, grown, grown_root, &path), grown == size);
        if drop && path.pop().is_none() || !drop && hit >= path.len() {
            path.push(Hash::ZERO);
        } else if let Some(hash) = path.get_mut(hit) {
            hash.0[3] ^= 1;
        }
        prop_assert!(!verify_inclusion(leaf, index, size, root, &path));
    }

    #[test]
    fn a_consistency_proof_fails_for_another_past(old in 1..69_u64, more in 1..70_u64, changed in 0..69_u64) {
        let new = (old + more).min(70);
        let changed = changed % old;
        let nodes = leaves(70);
        let proof = consistency(&nodes, old, new).unwrap().unwrap();
        let new_root = naive_root(&nodes.0[..at(new)]);
        let mut past = nodes.0[..at(old)].to_vec();
        past[at(changed)] = Hash::ZERO;
        prop_assert!(!verify_consistency(old, new, naive_root(&past), new_root, &proof));
    }
}
