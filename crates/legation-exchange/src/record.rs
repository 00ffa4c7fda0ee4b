//! The record's hashing: what an entry is, how it becomes a leaf, the chain and the tree over the
//! leaves, and the checkpoints that let anyone hold the exchange to them. Pure; the disk is the
//! store's. `docs/record.md` says the same in prose, for those who verify without this code.

mod batch;
mod checkpoint;
mod frame;
mod frontier;
mod hash;
mod included;
mod opening;
mod proof;
mod receipt;
mod verify;

pub use batch::{Committed, Seal};
pub use checkpoint::{BadCheckpoint, Checkpoint, SignedCheckpoint};
pub use frame::{
    Body, Commitments, Frame, body_commitment, effect_commitment, effect_salt, leaf, leaf_and_body, leaf_of,
};
pub use frontier::{Frontier, empty_root, node};
pub use hash::{BadHash, Hash};
pub use included::{BadProof, Included};
pub use opening::{Disclosed, Opening, Salt};
pub use proof::{Nodes, consistency, inclusion, root};
pub use receipt::{BadReceipt, Receipt, Ruling, Stated, Words};
pub use verify::{verify_consistency, verify_inclusion};

/// The chain after one more leaf. It starts at [`Hash::ZERO`].
pub fn chain(previous: Hash, leaf: Hash) -> Hash {
    Hash::of(&[&[2], &previous.0, &leaf.0])
}
