//! The server over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod attacks;
mod connections;
mod dead_letters;
mod door;
mod erase;
mod house;
mod identity;
mod keys;
mod limits;
mod mailbox;
mod messages;
mod openapi;
mod operations;
mod people;
mod receipts;
mod record;
mod registry;
mod retention;
mod roles;
mod search;
mod signin;
mod stream;
mod words;
