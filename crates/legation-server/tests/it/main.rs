//! The server over real sockets.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "tests stop at the first surprise"
)]

mod alerts;
mod attacks;
mod charters;
mod clocks;
mod connections;
mod console;
mod conversations;
mod core_features;
mod custody;
mod dead_letters;
mod demo;
mod door;
mod endpoint;
mod erase;
mod escalations;
mod evidence;
mod explained;
mod extensions;
mod feed;
mod handshake;
mod hidden;
mod house;
mod identity;
mod judge;
mod key_binding;
mod keys;
mod limits;
mod load;
mod mailbox;
mod mcp;
mod memory;
mod messages;
mod opacity;
mod openapi;
mod operations;
mod people;
#[cfg(unix)]
mod pki;
mod proxies;
mod push;
mod receipts;
mod record;
mod registry;
mod retention;
mod reviews;
mod revocation;
mod roles;
mod scanning;
mod search;
mod signin;
mod stop_many;
#[cfg(unix)]
mod strangers;
mod stream;
mod streams;
mod tasks;
mod tls;
mod tools;
mod translate;
mod truth;

#[cfg(unix)]
mod unix;
mod unread;
mod words;
mod ws;
