//! Hosts of models, spoken to in raw JSON, in both generations of the protocol.

pub(crate) mod client;
mod extensions;
mod handshake;
mod resources;
mod sending;
mod tokens;

pub(crate) use client::{BOTH, Client};
