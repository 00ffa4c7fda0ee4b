//! A point of the record from which a reader can go on without what came before.

use legation_exchange::record::{Frontier, Hash};

/// What is known of the record up to a position. It is the end of a batch: the log has no others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// How many entries there are before this point.
    pub position: u64,
    /// The chain after them.
    pub chain: Hash,
    /// The edge of the tree over them.
    pub frontier: Frontier,
}

impl Known {
    /// The point before the first entry.
    pub fn start() -> Known {
        Known { position: 0, chain: Hash::ZERO, frontier: Frontier::default() }
    }
}
