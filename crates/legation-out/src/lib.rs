//! The way out of the exchange: one post at a time, to addresses that may be posted to and to no others.
//! All that knows TLS and how to open connections to elsewhere is here.

mod address;
mod allow;
mod connect;
mod courier;
mod resolve;
mod target;
mod tls;
mod tools;

pub use allow::{Allow, BadAllow};
pub use courier::{Courier, Error, Options};
pub use resolve::{Found, Resolve, System};
pub use tools::{ToolServer, Toolbox, Way};
