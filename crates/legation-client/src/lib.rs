#![doc = include_str!("../README.md")]

mod acks;
mod address;
mod alarm;
mod builder;
mod client;
mod clock;
mod deliveries;
mod dial;
mod error;
#[cfg(test)]
mod fake;
mod http;
mod inbox;
mod incoming;
mod journal;
mod letter;
mod lines;
mod many;
mod mark;
mod owed;
mod parked;
mod poll;
mod reader;
mod receipts;
mod refused;
mod registration;
mod registry;
mod retry;
mod revocation;
mod senders;
mod sent;
mod session;
mod socket;
mod task;
#[cfg(test)]
mod tests;
mod tls;
mod tool;
mod trust;
mod verified;
mod warning;

pub use crate::http::{Call, Download, Reply, encoded};
pub use ::http::{HeaderMap, HeaderName, HeaderValue, Method};
pub use builder::Builder;
pub use bytes::Bytes;
pub use client::Client;
pub use deliveries::Deliveries;
pub use error::{Error, ReceiptFault};
pub use inbox::{Inbox, Unverified};
pub use incoming::{Incoming, ItemReview, Withheld};
pub use legation_exchange::record::{Hash, Receipt, Stated};
pub use legation_exchange::revocation::{BadStaple, List, Listed, Of, Signed, Staple, key_hash};
pub use legation_exchange::{Custody, KeyState, Moment};
pub use legation_protocol as protocol;
pub use letter::Sendable;
pub use many::Answers;
pub use mark::Mark;
pub use reader::Transport;
pub use refused::Refused;
pub use registration::Registration;
pub use registry::{Agent, AgentKey, Registered};
pub use revocation::verify_staple;
pub use sent::{AnswerFinding, AnswerHold, AnswerReason, Sent, Status};
pub use session::Session;
pub use tool::{ToolAnswer, ToolCall};
pub use verified::{Doubt, Verified};
pub use warning::Warning;

/// The guide's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/rust.md")]
struct Guide;
