//! VLP 1.1: claims that carry their confidence and their sources.

mod message;
mod provenance;
mod safety;

pub use message::{Kind, Message, Version};
pub use provenance::{Provenance, Reference};
pub use safety::{Issue, Level, Safety};
