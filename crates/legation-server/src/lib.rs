//! The doors of the exchange: HTTP, and nothing that decides. Each route reads a request, asks the
//! engine and writes its answer. The caller owns listener, exchange and the end of it all.

mod accept;
mod agents;
mod body;
mod caller;
mod cookie;
mod dead_letters;
mod door;
mod entries;
mod gate;
mod guest;
mod header;
mod health;
mod html;
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
mod noted;
mod openapi;
mod overview;
mod page;
mod people;
mod record;
mod refusal;
mod routes;
mod run;
mod search;
mod sessions;
mod settings;
mod shared;
mod signin;
mod status;
mod traces;
mod view;
mod visits;
mod watched;

pub use openapi::openapi;
pub use run::run;
pub use settings::{Limits, Settings};
