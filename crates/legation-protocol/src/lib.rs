//! Five agent messaging specs as Rust types.
//!
//! Bytes enter through the [front door](json), are read into the types of their dialect, and keep
//! their received form for signatures and digests. Nothing here reads a clock, a socket or a disk.

pub mod acl;
pub mod cap;
mod check;
pub mod code;
pub mod csm1;
pub mod finding;
mod format;
pub mod id;
pub mod json;
mod message;
mod names;
pub mod ndjson;
pub mod negotiation;
mod read;
pub mod sign;
pub mod stamp;
pub mod token;
pub mod vcp;
pub mod vlp;
mod wire;

pub use check::{Checked, Content, check, check_doc, unwrapped};
pub use code::Code;
pub use finding::{Findings, Rejection, Severity, Violation};
pub use format::Format;
pub use message::{Message, Received, Recipients};
pub use read::Extra;
pub use stamp::Timestamp;
pub use wire::{Built, Parsed, Wire, build, parse, read};

/// The guide's examples, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/messages.md")]
struct Guide;
