//! The protocol against its fixtures, its schemas and its peers.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::missing_panics_doc,
    reason = "tests stop at the first surprise"
)]

mod acl;
mod agree;
mod cap;
mod fixtures;
mod hello;
mod json;
mod message;
mod seeds;
mod sign;
mod vcp;
mod vlp;
