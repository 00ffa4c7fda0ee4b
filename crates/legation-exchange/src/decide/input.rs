//! What is asked for, and what is answered.

use super::answer::AnswerDetails;
use super::{Answer, Call, Erasure, IdSearched, Misunderstood, Restore};
use crate::effect::{Accepted, Entry, Refused, TallyBatch};
use crate::erased::Span;
use crate::extensions;
use crate::key::{KeyEvent, NewKey};
use crate::push::Pushed;
use crate::registration::Registration;
use crate::rules::{acl, cap, hold, identity, vcp, vlp};
use crate::token::TokenHash;
use crate::who::{Role, Who};
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Received, Rejection};
use legation_scan::Found;
use serde::Deserialize;

/// How the sender of a message proved to be it.
#[derive(Clone, Debug, PartialEq)]
pub enum Proof {
    /// By a signature that verified under this key.
    Signature(PublicKey),
    /// By a bearer token.
    Bearer(Who),
    /// By being part of this process.
    InProcess,
}

/// A valid message and the proof of who sent it. Only verification makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The message with its bytes.
    pub received: Received,
    /// The proof.
    pub proof: Proof,
    /// The id it gets if its sender gave it none.
    pub spare_id: SpareId,
    /// The trace it was sent in, as a W3C `traceparent`.
    pub trace: Option<String>,
    /// Messages that it may name, or may be a copy of, and that lie too far back for the state to know.
    pub found: Vec<Earlier>,
    /// What a search of the whole record for its id told, where there was one.
    pub searched: Option<IdSearched>,
    /// What a judge said of it, if one was asked.
    pub opinion: Option<Box<cap::Opinion>>,
    /// What was found in its texts.
    pub scanned: Vec<Found>,
}

/// An id for a message whose sender gave it none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpareId {
    /// One of ours: a copy of the message gets another.
    Fresh(String),
    /// One the sender gave beside the message: a copy of the message has the same.
    Keyed(String),
}

impl SpareId {
    /// The id, if the sender gave it.
    pub(super) fn given(&self) -> Option<String> {
        match self {
            SpareId::Keyed(id) => Some(id.clone()),
            SpareId::Fresh(_) => None,
        }
    }
}

/// An earlier message that a new one may be a copy of, or may name, as the record has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Earlier {
    /// Where.
    pub position: u64,
    /// What came of it.
    pub accepted: Accepted,
    /// Its bytes, where a decision needs its words and they are kept.
    pub body: Option<Box<[u8]>>,
}

/// Something the exchange is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// To take a message.
    Message(Box<Verified>),
    /// To tell an agent that what it sent was not understood.
    Misunderstood(Box<Misunderstood>),
    /// To register or change an agent.
    Register {
        /// Its id.
        id: String,
        /// What to register.
        registration: Box<Registration>,
        /// Who asks.
        who: Who,
        /// The token it gets if it is new, or asks for another.
        token: TokenHash,
    },
    /// To remove an agent and do something about those below it.
    RemoveWith {
        /// Its id.
        id: String,
        /// What becomes of those below it.
        below: Below,
        /// Who asks.
        who: Who,
    },
    /// To remove an agent.
    Remove {
        /// Its id.
        id: String,
        /// Who asks.
        who: Who,
    },
    /// To change an agent's keys.
    Key {
        /// Whose.
        agent: String,
        /// What to change.
        change: Box<KeyChange>,
        /// Who asks.
        who: Who,
    },
    /// To give a person a token, or another role.
    Grant {
        /// Their name.
        name: String,
        /// What they may do.
        role: Role,
        /// Who asks.
        who: Who,
        /// The token.
        token: TokenHash,
    },
    /// To withdraw a person's token.
    Withdraw {
        /// Their name.
        name: String,
        /// Who asks.
        who: Who,
    },
    /// To note that the record is sealed with another key.
    Rotate {
        /// The key's number.
        key: u32,
        /// Who asks.
        who: Who,
    },
    /// To note that a new token has been used.
    Confirm(TokenHash),
    /// To acknowledge messages.
    Acknowledge {
        /// Whose mailbox.
        agent: String,
        /// All up to this position.
        up_to: Option<u64>,
        /// These positions.
        positions: Vec<u64>,
        /// Who asks.
        who: Who,
    },
    /// To note how messages were brought to an agent.
    Pushed(Pushed),
    /// To send letters again that reached nobody.
    Resend {
        /// Whose.
        agent: String,
        /// Where they were routed.
        positions: Vec<u64>,
        /// Who asks.
        who: Who,
    },
    /// To empty a mailbox.
    Purge {
        /// Whose.
        agent: String,
        /// All up to this position; everything without one.
        up_to: Option<u64>,
        /// Who asks.
        who: Who,
    },
    /// To erase messages.
    Erase {
        /// Which.
        erasure: Box<Erasure>,
        /// Who asks.
        who: Who,
    },
    /// To note that what was erased up to an entry is gone from the disk.
    Clear {
        /// The entry.
        up_to: u64,
    },
    /// To note that bodies went that had been kept long enough.
    Drop {
        /// Those before this position.
        before: u64,
        /// But not these.
        kept: Vec<Span>,
    },
    /// To go on from a copy.
    Restore(Box<Restore>),
    /// To decide something that the rules leave to people, or to agents beside messages.
    Order {
        /// What.
        order: Box<Directive>,
        /// Who asks.
        who: Who,
    },
    /// To call a tool through the gateway.
    Call {
        /// Which, and with what.
        call: Box<Call>,
        /// Who asks.
        who: Who,
    },
    /// To note what came of a call.
    Answer(Box<Answer>),
    /// To note that somebody known was refused something.
    Refusal(Refused),
    /// To note what was refused and counted.
    Tally(TallyBatch),
}

/// What becomes of the agents below one that is removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Below {
    /// They stand below its parent from now on.
    #[default]
    Keep,
    /// The same, and they are suspended.
    Suspend,
    /// They are removed with it.
    Remove,
}

/// What the rules leave to people, or to agents beside messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Directive {
    /// A word on a held message.
    Review(hold::Review),
    /// What the rules of VCP ask.
    Vcp(vcp::Order),
    /// What the rules of CAP ask.
    Cap(cap::Order),
    /// What the rules of the ElizaOS agent language ask.
    Acl(acl::Order),
    /// What the rules of VLP ask.
    Vlp(vlp::Order),
    /// What is asked of an extension.
    Extension(extensions::Order),
    /// What is asked of identity tokens.
    Identity(identity::Order),
    /// To note that a copy of the record is taken.
    Copy {
        /// How many entries it holds.
        size: u64,
        /// Whether the secret keys are in it.
        keys: bool,
    },
}

impl Directive {
    pub(super) fn judged(&self) -> Option<&cap::Judged> {
        match self {
            Directive::Cap(order) => order.opinion.as_ref().map(|opinion| &opinion.judged),
            Directive::Review(_)
            | Directive::Vcp(_)
            | Directive::Acl(_)
            | Directive::Vlp(_)
            | Directive::Extension(_)
            | Directive::Identity(_)
            | Directive::Copy { .. } => None,
        }
    }
}

/// What becomes of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum KeyChange {
    /// A new one. It takes over from the one in use, unless it is to wait.
    Add {
        /// The key.
        key: NewKey,
        /// A signature of the one in use over [`key_statement`].
        proof: Option<Signature>,
    },
    /// Something happens to one that is there.
    Event {
        /// The key.
        key: PublicKey,
        /// What.
        event: KeyEvent,
        /// A signature of the one in use, where one comes into use.
        proof: Option<Signature>,
        /// Why, where it is withdrawn.
        why: Option<String>,
    },
}

/// What was decided.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Done, by the entry at this position.
    Accepted {
        /// Where.
        position: u64,
        /// The message's id, or the agent's.
        id: String,
        /// Whether it made something new.
        new: bool,
        /// What a message's sender is told beyond that; none if there is nothing.
        details: Option<Box<AnswerDetails>>,
    },
    /// On the record at this position, where it waits for somebody's word.
    Held {
        /// Where.
        position: u64,
        /// The message's id.
        id: String,
        /// Why, who decides, and by when.
        details: Option<Box<AnswerDetails>>,
    },
    /// A copy of a message that was taken at this position.
    Duplicate {
        /// Where.
        position: u64,
        /// The message's id.
        id: String,
    },
    /// Refused.
    Refused(Rejection),
}

impl Verdict {
    /// The same with details for the sender of a message.
    pub(super) fn with_details(mut self, new_details: Option<Box<AnswerDetails>>) -> Verdict {
        if let Verdict::Accepted { details, .. } | Verdict::Held { details, .. } = &mut self {
            *details = new_details;
        }
        self
    }

    /// The same for what waits for somebody's word.
    pub(super) fn held(self) -> Verdict {
        match self {
            Verdict::Accepted { position, id, details, .. } => Verdict::Held { position, id, details },
            Verdict::Held { .. } | Verdict::Duplicate { .. } | Verdict::Refused(_) => self,
        }
    }
}

/// A verdict and the entries that make it so.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to answer.
    pub verdict: Verdict,
    /// What to commit first.
    pub entries: Vec<Entry>,
}
