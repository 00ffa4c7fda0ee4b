//! VLP 1.1: claims that carry their confidence and their sources.
//!
//! A [`Message`] is read whole, with everything that is wrong with it; [`Judgement`] is what the
//! truth rules make of it. Whatever a validator computes stands beside the message, never in it.

mod confidence;
mod construct;
mod content;
mod id;
mod keyword;
mod kind;
mod message;
mod metrics;
pub mod ndjson;
mod provenance;
mod refers_to;
mod safety;
mod truth;

pub use confidence::Confidence;
pub use construct::Header;
pub use content::Content;
pub use id::{BadIdentifier, BadPrefix, MessageId, SessionId};
pub use keyword::{Status, normalise, normalise_all};
pub use kind::{Kind, Version};
pub use message::Message;
pub use metrics::{Gate, Layer, Metrics, Tally};
pub use provenance::{Provenance, Reference, SourceKind};
pub use refers_to::RefersTo;
pub use safety::{Issue, Level, Safety};
pub use truth::{Judgement, UNPROVEN};
