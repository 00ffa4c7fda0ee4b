//! The rules, asked one question at a time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests stop at the first surprise")]

mod desk;
mod fold;
mod messages;
mod registration;
