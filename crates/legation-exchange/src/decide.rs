//! What should happen: pure, serial, one file a question. Every answer is a verdict and the entries
//! that make it so.

mod acknowledge;
mod message;
mod register;

use crate::agent::{Registration, TokenHash};
use crate::effect::{Effect, Entry, Refused};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use crate::who::Who;
use legation_protocol::json::Digest;
use legation_protocol::sign::PublicKey;
use legation_protocol::{Received, Rejection};

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
    pub spare_id: String,
    /// The trace it was sent in, as a W3C `traceparent`.
    pub trace: Option<String>,
}

/// Something the exchange is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Input {
    /// To take a message.
    Message(Box<Verified>),
    /// To register or change an agent.
    Register {
        /// Its id.
        id: String,
        /// What to register.
        registration: Box<Registration>,
        /// Who asks.
        who: Who,
        /// The token it gets if it is new.
        token: TokenHash,
    },
    /// To remove an agent.
    Remove {
        /// Its id.
        id: String,
        /// Who asks.
        who: Who,
    },
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

/// A verdict and the entries that make it so.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What to answer.
    pub verdict: Verdict,
    /// What to commit first.
    pub entries: Vec<Entry>,
}

/// Decides what comes of an input.
pub fn decide(state: &State, policy: &Policy, input: Input, now: Moment) -> Decision {
    // The record's clock never goes back, whatever the machine's does.
    let now = now.max(state.now);
    let desk = Desk { state, policy, now };
    let (by, digest) = asked(&input);
    let decided = match input {
        Input::Message(verified) => desk.message(*verified),
        Input::Register { id, registration, who, token } => desk.register(id, *registration, &who, token),
        Input::Remove { id, who } => desk.remove(id, &who),
        Input::Acknowledge { agent, up_to, positions, who } => desk.acknowledge(agent, up_to, positions, &who),
    };
    decided.unwrap_or_else(|rejection| {
        let code = rejection.code().as_str().to_owned();
        let entry = desk.entry(Effect::Refused(Refused { by, code, digest }), None);
        Decision { verdict: Verdict::Refused(rejection), entries: vec![entry] }
    })
}

fn asked(input: &Input) -> (String, Option<String>) {
    match input {
        Input::Message(verified) => {
            let digest: Digest = verified.received.digest();
            (verified.received.message().sender().to_owned(), Some(digest.to_string()))
        }
        Input::Register { who, .. } | Input::Remove { who, .. } | Input::Acknowledge { who, .. } => {
            (who.to_string(), None)
        }
    }
}

/// What has fallen due: messages that waited too long.
pub fn tick(state: &State, now: Moment) -> Vec<Entry> {
    let now = now.max(state.now);
    let expired = state.mailboxes.iter().filter_map(|(agent, mailbox)| {
        let positions: Vec<_> = mailbox.expired(now).collect();
        (!positions.is_empty()).then(|| Effect::Expired { agent: agent.clone(), positions })
    });
    (state.next..).zip(expired).map(|(position, effect)| Entry { position, at: now, effect, body: None }).collect()
}

/// Where decisions are made: everything they may look at.
struct Desk<'s> {
    state: &'s State,
    policy: &'s Policy,
    now: Moment,
}

type Decided = Result<Decision, Rejection>;

impl Desk<'_> {
    fn entry(&self, effect: Effect, body: Option<Box<[u8]>>) -> Entry {
        Entry { position: self.state.next, at: self.now, effect, body }
    }

    fn accepted(&self, id: String, new: bool, effect: Effect, body: Option<Box<[u8]>>) -> Decision {
        let entry = self.entry(effect, body);
        let verdict = Verdict::Accepted { position: entry.position, id, new };
        Decision { verdict, entries: vec![entry] }
    }
}
