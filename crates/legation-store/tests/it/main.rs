//! The record on real files: what survives a crash, what is refused, and what a verifier says.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests stop at the first surprise"
)]

mod common;
mod crash;
mod damage;
mod disk;
mod fuzz;
mod index;
mod log;
mod proofs;
mod redacted;
mod rewrite;
mod ring;
mod running;
mod sealed;
mod snapshots;
mod verify;
