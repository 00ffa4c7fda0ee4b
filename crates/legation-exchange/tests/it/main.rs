//! The rules, asked one question at a time.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests stop at the first surprise")]

mod dead;
mod desk;
mod fold;
mod keys;
mod messages;
mod people;
mod registration;
mod route;
mod tokens;
mod translate;
