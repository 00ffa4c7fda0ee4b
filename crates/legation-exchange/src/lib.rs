//! The rules of the exchange, and nothing else: a [`State`], decisions about it, and the hashing of
//! the record it is folded from. Nothing here reads a clock, a socket or a disk, and nothing waits.
//!
//! [`decide`] looks at the state and says what should happen; [`State::apply`] makes it so. Only
//! entries change the state, so folding the record gives the same state again.

mod agent;
mod decide;
mod dedup;
mod effect;
mod mailbox;
mod moment;
mod policy;
pub mod record;
mod registry;
mod snapshot;
mod state;
mod who;

pub use agent::{Agent, Key, KeyState, Registration, TokenHash};
pub use decide::{Decision, Input, Proof, Verdict, Verified, decide, tick};
pub use effect::{Accepted, Acked, Effect, Entry, Refused};
pub use mailbox::{Item, Mailbox};
pub use moment::Moment;
pub use policy::Policy;
pub use registry::Registry;
pub use state::State;
pub use who::{PRINCIPALS, Role, Who};
