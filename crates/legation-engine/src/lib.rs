//! The running exchange. One thread decides and commits; everything else asks it and waits. What
//! in-process users embed, and what every door of the server stands on.

mod corridor;
mod decider;
mod exchange;
mod explain;
mod index;
mod ledger;
mod mailbox;
mod open;
mod search;
mod snapshots;
mod tokens;

pub use corridor::{Credential, Submission};
pub use exchange::{Error, Exchange, Head, Pending};
pub use explain::Step;
pub use ledger::{Batch, Ledger};
pub use mailbox::Delivery;
pub use open::{Opened, Settings};
pub use search::{Lookup, Page};
pub use tokens::Token;

pub use legation_store::index::{MOST_WORDS, Order, Query, What, words_in};
