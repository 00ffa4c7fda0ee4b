//! What an entry of the record does to the state. Effects never need the body, so a body can be
//! erased and the fold still gives the same state.

use crate::agent::Agent;
use crate::moment::Moment;
use legation_protocol::Format;
use serde::{Deserialize, Serialize};

/// One element of the record.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its place.
    pub position: u64,
    /// When it was decided.
    pub at: Moment,
    /// What it does.
    pub effect: Effect,
    /// The bytes as received.
    pub body: Option<Box<[u8]>>,
}

/// What an entry does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "snake_case")]
pub enum Effect {
    /// A message was taken and routed.
    Accepted(Accepted),
    /// Something was refused.
    Refused(Refused),
    /// An agent was registered or changed.
    Registered {
        /// The agent as it is from now on.
        agent: Box<Agent>,
        /// Who did it.
        by: String,
    },
    /// An agent was removed, and its mailbox with it.
    Removed {
        /// Its id.
        agent: String,
        /// Who did it.
        by: String,
    },
    /// Messages were acknowledged.
    Acked(Acked),
    /// Messages waited too long.
    Expired {
        /// Whose they were.
        agent: String,
        /// Where they were routed.
        positions: Vec<u64>,
    },
}

/// A message that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accepted {
    /// Its dialect.
    pub dialect: Format,
    /// Its kind within the dialect.
    pub kind: String,
    /// Its id; one of ours when the sender gave none.
    pub id: String,
    /// Who sent it, by canonical id.
    pub sender: String,
    /// Whose mailboxes it went to.
    pub to: Vec<String>,
    /// The task or session it belongs to.
    pub thread: Option<String>,
    /// SHA-256 of its canonical form, in hex.
    pub digest: String,
    /// How its sender proved to be it.
    pub proof: String,
    /// How long it waits.
    pub expires: Moment,
    /// How long its id is remembered; not at all when the id is ours.
    pub remembered: Option<Moment>,
    /// The trace it was sent in, as a W3C `traceparent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
}

/// Something that was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Who asked.
    pub by: String,
    /// Why.
    pub code: String,
    /// SHA-256 of what was asked, in hex, if it was read.
    pub digest: Option<String>,
}

/// Messages that were acknowledged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acked {
    /// Who acknowledged.
    pub agent: String,
    /// All up to this position.
    pub up_to: Option<u64>,
    /// These positions.
    pub positions: Vec<u64>,
}
