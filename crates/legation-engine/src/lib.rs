//! The running exchange. One thread decides and commits; everything else asks it and waits. What
//! in-process users embed, and what every door of the server stands on.

mod corridor;
mod decider;
mod exchange;
mod ledger;
mod limiter;
mod mailbox;
mod open;
mod snapshots;
mod stats;
mod tokens;

pub use corridor::{Credential, Submission};
pub use exchange::{Error, Exchange, Head, Pending};
pub use ledger::{Batch, Ledger};
pub use limiter::{Limiter, Rate};
pub use mailbox::{Delivery, Waiting};
pub use open::{Opened, Settings};
pub use stats::{Histogram, Stats, Verdicts};
pub use tokens::Token;
