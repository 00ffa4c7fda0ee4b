//! Speak to a Legation exchange: register, send, receive.

mod address;
mod builder;
mod client;
mod clock;
mod dial;
mod error;
mod http;
mod letter;
mod refused;
mod retry;
mod sent;
mod tls;
mod trust;
mod verified;

pub use crate::http::{Call, Reply, encoded};
pub use builder::Builder;
pub use client::Client;
pub use error::{Error, ReceiptFault};
pub use letter::Sendable;
pub use refused::Refused;
pub use sent::{Sent, Status};
