//! The server over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod door;
mod house;
mod identity;
mod mailbox;
mod messages;
mod registry;
mod search;
mod stream;
mod words;
