//! The rules of the exchange, and nothing else: a [`State`], decisions about it, and the hashing of
//! the record it is folded from. Nothing here reads a clock, a socket or a disk, and nothing waits.
//!
//! [`decide`] looks at the state and says what should happen; [`State::apply`] makes it so. Only
//! entries change the state, so folding the record gives the same state again.

mod agent;
mod alert;
mod before;
mod by_name;
mod clock_history;
mod clocks;
mod dead;
mod decide;
mod dedup;
mod effect;
mod epoch;
mod erased;
mod extension;
pub mod extensions;
mod former_names;
mod key;
mod key_index;
mod lately;
mod mailbox;
mod mailboxes;
mod moment;
mod names;
mod opacity;
mod person;
mod policy;
mod push;
mod quota;
pub mod record;
mod redaction;
mod registration;
mod registry;
pub mod revocation;
mod route;
pub mod rules;
mod said;
mod snapshot;
mod state;
mod token;
pub mod tool;
mod who;
mod wire_integer;

pub use agent::Agent;
pub use alert::{Alert, Alerts, Kind, Urgency};
pub use clock_history::DedupEnd;
pub use clocks::Clocks;
pub use dead::{DeadLetter, DeadLetters, Why};
pub use decide::{
    Answer, AnswerDetails, AnswerFinding, AnswerHold, AnswerReason, Below, Call, Decision, Directive, ERASED_AT_ONCE,
    Earlier, Erasure, Input, KeyChange, Misunderstood, Proof, Restore, SpareId, Verdict, Verified, decide,
    earlier_than, key_statement, needs_words, quoted_by, tick,
};
pub use decide::{IdSearch, IdSearched, id_search};
pub use effect::{Accepted, Acked, Effect, Entry, Party, Refused, Released, Resent, ReviewOutcome, Tally, TallyBatch};
pub use epoch::{Epoch, Epochs, Restored};
pub use erased::{Dropped, Erased, Erasures, Redacted, Span, Unbound, covers, spans};
pub use extension::BUILT;
pub use key::{Custody, Key, KeyEvent, KeyState, NewKey};
pub use mailbox::{Item, Mailbox, NOBODY, OUTSIDE};
pub use moment::Moment;
pub use names::{Collision, NameKind};
pub use opacity::{Clearance, Opacity};
pub use person::{People, Person};
pub use policy::{Policy, Shares, StaleEmergency};
pub use push::{Fate, Lost, Outcome, Push, Pushed, Pushing, Standing, Try};
pub use quota::{FamilyQuotas, Quotas, Resource};
pub use redaction::Redaction;
pub use registration::Registration;
pub use registry::{QuotaFamily, Registry};
pub use route::{Event, Order, Route};
pub use rules::Voice;
pub use said::Said;
pub use state::State;
pub use token::{TokenHash, Tokens};
pub use who::{OPERATOR, PRINCIPALS, Role, Who};
