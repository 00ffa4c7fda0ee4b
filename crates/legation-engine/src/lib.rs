//! The running exchange. One thread decides and commits; everything else asks it and waits. What
//! in-process users embed, and what every door of the server stands on.

mod asks;
mod corridor;
mod decider;
mod draft;
mod exchange;
mod ledger;
mod mailbox;
mod open;
mod refusals;
pub mod snapshots;
mod tokens;

pub use corridor::{Credential, Submission};
pub use exchange::{Error, Exchange, Head, Pending};
pub use ledger::{Batch, Ledger};
pub use mailbox::Delivery;
pub use open::{Opened, Settings};
pub use refusals::Source;
pub use tokens::Token;
