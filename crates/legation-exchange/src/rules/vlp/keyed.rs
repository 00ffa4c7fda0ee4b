//! Where messages lie by key, the newest first. Whoever comes is put before those of the same key, and the oldest goes by
//! being counted out: nothing is looked for to forget it, which is half of what a window costs.

use std::collections::VecDeque;
use std::hash::BuildHasher as _;

/// How many chains there are at first.
const FIRST: usize = 1 << 10;

/// Positions by key.
#[derive(Clone, Debug, Default)]
pub(super) struct Keyed {
    /// In the order in which they came.
    nodes: VecDeque<Node>,
    /// How many have gone.
    gone: u64,
    /// The newest of each chain: how many had come with it. Zero is none.
    heads: Vec<u64>,
    /// Nobody outside chooses which keys share a chain.
    hash: foldhash::fast::RandomState,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    key: u64,
    position: u64,
    /// The next of its chain, which is older. It may have gone.
    before: u64,
}

impl PartialEq for Keyed {
    /// Chains differ from one to the other; what they lead to does not.
    fn eq(&self, other: &Self) -> bool {
        let told = |node: &Node| (node.key, node.position);
        self.nodes.iter().map(told).eq(other.nodes.iter().map(told))
    }
}

impl Eq for Keyed {}

impl Keyed {
    /// What lies by a key, the newest first. A position that has it twice is there twice.
    pub(super) fn find(&self, key: u64) -> impl Iterator<Item = u64> {
        let first = self.head(key).map_or(0, |head| *head);
        let chain = std::iter::successors(self.node(first), |node| self.node(node.before));
        chain.filter(move |node| node.key == key).map(|node| node.position)
    }

    /// All keys, in the order in which they came.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.nodes.iter().map(|node| node.key)
    }

    /// The newest comes.
    pub(super) fn put(&mut self, key: u64, position: u64) {
        if self.nodes.len() >= self.heads.len() {
            self.grow();
        }
        self.nodes.push_back(Node { key, position, before: 0 });
        self.chain(self.gone + self.nodes.len() as u64);
    }

    /// The oldest of them go.
    pub(super) fn let_go(&mut self, count: usize) {
        let count = count.min(self.nodes.len());
        self.nodes.drain(..count);
        self.gone += count as u64;
    }

    /// The node that so many had come with, if it has not gone.
    fn node(&self, number: u64) -> Option<&Node> {
        self.nodes.get(self.place(number)?)
    }

    fn place(&self, number: u64) -> Option<usize> {
        usize::try_from(number.checked_sub(self.gone + 1)?).ok()
    }

    fn slot(&self, key: u64) -> usize {
        let mask = self.heads.len().wrapping_sub(1) as u64;
        usize::try_from(self.hash.hash_one(key) & mask).unwrap_or_default()
    }

    fn head(&self, key: u64) -> Option<&u64> {
        self.heads.get(self.slot(key))
    }

    /// Puts the node of a number at the beginning of its chain.
    fn chain(&mut self, number: u64) {
        let Some(place) = self.place(number) else { return };
        let Some(key) = self.nodes.get(place).map(|node| node.key) else { return };
        let slot = self.slot(key);
        if let (Some(node), Some(head)) = (self.nodes.get_mut(place), self.heads.get_mut(slot)) {
            node.before = std::mem::replace(head, number);
        }
    }

    /// There are about as many chains as keys, so that most have one.
    fn grow(&mut self) {
        let chains = (self.heads.len() * 4).max(FIRST);
        self.heads.clear();
        self.heads.resize(chains, 0);
        for number in self.gone + 1..=self.gone + self.nodes.len() as u64 {
            self.chain(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST, Keyed};

    #[test]
    fn all_are_found_however_many_come_and_go() {
        let (mut keyed, most) = (Keyed::default(), 3 * FIRST);
        for position in 0..20 * FIRST as u64 {
            keyed.put(position % 7_001, position);
            if keyed.nodes.len() > most {
                keyed.let_go(1);
            }
        }
        let oldest = 20 * FIRST as u64 - most as u64;
        for key in 0..7_001 {
            let want: Vec<u64> = (oldest..20 * FIRST as u64).rev().filter(|position| position % 7_001 == key).collect();
            assert_eq!(keyed.find(key).collect::<Vec<_>>(), want, "{key}");
        }
        keyed.let_go(usize::MAX);
        assert_eq!((keyed.find(1).next(), Keyed::default().find(1).next()), (None, None));
        assert_eq!(keyed, Keyed::default());
    }
}
