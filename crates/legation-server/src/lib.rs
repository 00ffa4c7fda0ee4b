//! The doors of the exchange: HTTP, and nothing that decides. Each route reads a request, asks the
//! engine and writes its answer. The caller owns listener, exchange and the end of it all.

mod accept;
mod agents;
mod body;
mod caller;
mod dead_letters;
mod door;
mod entries;
mod gate;
mod guest;
mod header;
mod health;
mod idempotency;
mod inbox;
mod keys;
mod leftover;
mod limits;
mod lines;
mod media;
mod message;
mod messages;
mod metrics;
mod openapi;
mod people;
mod record;
mod refusal;
mod routes;
mod run;
mod search;
mod settings;
mod shared;
mod status;
mod traces;
mod view;
mod visits;
mod watched;

pub use openapi::openapi;
pub use run::run;
pub use settings::{Limits, Settings};
