//! The client against a real exchange, over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod alarms;
mod examples;
mod fencing;
mod house;
mod keys;
mod many;
mod receiving;
mod restores;
mod sending;
mod tools;
#[cfg(unix)]
mod ways;
