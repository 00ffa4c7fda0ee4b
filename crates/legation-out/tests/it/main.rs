//! The guarded client, against real sockets.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests stop at the first surprise")]

mod endpoint;
mod guard;
mod posting;
