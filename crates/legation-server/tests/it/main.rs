//! The server over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod connections;
mod door;
mod house;
mod identity;
mod limits;
mod mailbox;
mod messages;
mod operations;
mod receipts;
mod record;
mod registry;
mod search;
mod stream;
mod words;
