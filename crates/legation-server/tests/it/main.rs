//! The server over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod alerts;
mod attacks;
mod connections;
mod dead_letters;
mod door;
mod endpoint;
mod house;
mod identity;
mod keys;
mod limits;
mod mailbox;
mod messages;
mod openapi;
mod operations;
mod people;
mod push;
mod receipts;
mod record;
mod registry;
mod roles;
mod search;
mod signin;
mod stream;
mod words;
