//! The record: entries, their hashes, and the tree over them.
