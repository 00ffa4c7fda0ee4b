//! The scanner as a whole: its corpus, its patterns one by one, its bounds.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests stop at the first surprise")]

mod bounds;
mod corpus;
mod fuzz;
mod patterns;
