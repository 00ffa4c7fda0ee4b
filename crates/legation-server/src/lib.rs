//! The doors of the exchange: HTTP, and nothing that decides. Each route reads a request, asks the
//! engine and writes its answer. The caller owns listener, exchange and the end of it all.

mod agents;
mod body;
mod caller;
mod gate;
mod header;
mod health;
mod inbox;
mod leftover;
mod lines;
mod media;
mod message;
mod messages;
mod record;
mod refusal;
mod routes;
mod run;
mod search;
mod shared;
mod status;
mod view;

pub use run::{Error, Settings, run};
