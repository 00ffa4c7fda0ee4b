//! The record on real files: what survives a crash, what is refused, and what a verifier says.

mod common;
mod crash;
mod damage;
mod disk;
mod log;
mod proofs;
mod snapshots;
mod verify;
