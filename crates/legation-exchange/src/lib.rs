//! The rules of the exchange, and nothing else: a state, decisions about it, and the hashing of
//! the record it is folded from. Nothing here reads a clock, a socket or a disk, and nothing waits.

pub mod record;
