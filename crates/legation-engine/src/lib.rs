//! The running exchange. One thread decides and commits; everything else asks it and waits. What
//! in-process users embed, and what every door of the server stands on.

mod alerts;
mod arrivals;
mod asks;
mod audit;
mod carrier;
mod corridor;
mod dead_letters;
mod decider;
mod draft;
mod exchange;
mod explain;
mod index;
mod ledger;
mod limiter;
mod mailbox;
mod open;
mod push;
mod receipt;
mod refusals;
mod search;
pub mod snapshots;
mod stats;
mod tokens;

pub use alerts::{AlertSettings, Webhook};
pub use audit::{Consistency, Inclusion};
pub use carrier::{Carrier, Parcel, Posting, Reach, Reply};
pub use corridor::{Credential, Submission};
pub use dead_letters::{Beyond, Letter};
pub use exchange::{Error, Exchange, Head, Pending, Settled};
pub use explain::Step;
pub use ledger::{Batch, LOOK, Ledger};
pub use limiter::{Limiter, Rate};
pub use mailbox::{Delivery, Waiting};
pub use open::{Opened, Settings};
pub use receipt::Fresh;
pub use refusals::Source;
pub use search::{Lookup, Page};
pub use stats::{Histogram, Stats, Verdicts};
pub use tokens::Token;

pub use legation_store::index::{MOST_WORDS, Order, Query, What, words_in};
