//! What should happen: pure, serial, one file a question. Every answer is a verdict and the entries
//! that make it so.

mod acknowledge;
mod call;
mod dead_letters;
mod erase;
mod keys;
mod message;
mod misunderstood;
mod order;
mod people;
mod push;
mod register;
mod remove;
mod rotate;
mod upkeep;

use crate::effect::{Accepted, Effect, Entry, Refused, Tally};
use crate::erased::Span;
use crate::extensions;
use crate::key::{KeyEvent, NewKey};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::push::Pushed;
use crate::registration::Registration;
use crate::rules::{self, Ruling, acl, cap, hold, identity, vcp, vlp};
use crate::state::{State, remembered_as};
use crate::token::TokenHash;
use crate::who::{Role, Who};
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Message, Received, Rejection};
use legation_scan::Found;

pub use call::{Answer, Call};
pub use erase::{ERASED_AT_ONCE, Erasure};
pub use keys::key_statement;
pub use misunderstood::Misunderstood;
pub use upkeep::Restore;

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
    /// Messages that it may name and that lie too far back for the state to know.
    pub found: Vec<Earlier>,
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
    fn given(&self) -> Option<String> {
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
    /// To note what strangers were refused.
    Tally(Vec<Tally>),
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
    fn judged(&self) -> Option<&cap::Judged> {
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
    },
    /// On the record at this position, where it waits for somebody's word.
    Held {
        /// Where.
        position: u64,
        /// The message's id.
        id: String,
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
    /// The same for what waits for somebody's word.
    fn held(self) -> Verdict {
        match self {
            Verdict::Accepted { position, id, .. } => Verdict::Held { position, id },
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

/// Decides what comes of an input. `earlier` are the messages at the positions that
/// [`earlier_than`] named.
pub fn decide(state: &State, policy: &Policy, input: Input, earlier: &[Earlier], now: Moment) -> Decision {
    // The record's clock never goes back, whatever the machine's does.
    let now = now.max(state.now);
    let desk = Desk { state, policy, earlier, now };
    let asked = Desk::asked(&input);
    let decided = match input {
        Input::Message(verified) => return desk.take(*verified),
        Input::Misunderstood(misunderstood) => Ok(desk.misunderstood(*misunderstood)),
        Input::Register { id, registration, who, token } => desk.register(id, *registration, &who, token),
        Input::Remove { id, who } => desk.remove(id, &who),
        Input::Key { agent, change, who } => desk.change_key(agent, *change, &who),
        Input::Grant { name, role, who, token } => desk.grant(name, role, &who, token),
        Input::Withdraw { name, who } => desk.withdraw(name, &who),
        Input::Rotate { key, who } => desk.rotate(key, &who),
        Input::Confirm(token) => Ok(desk.confirm(token)),
        Input::Acknowledge { agent, up_to, positions, who } => desk.acknowledge(agent, up_to, positions, &who),
        Input::Pushed(pushed) => Ok(desk.pushed(pushed)),
        Input::Resend { agent, positions, who } => desk.resend(agent, &positions, &who),
        Input::Purge { agent, up_to, who } => desk.purge(agent, up_to, &who),
        Input::Erase { erasure, who } => desk.erase(*erasure, &who),
        Input::Clear { up_to } => Ok(desk.cleared(up_to)),
        Input::Drop { before, kept } => Ok(desk.dropped(before, kept)),
        Input::Restore(restore) => Ok(desk.restore(*restore)),
        Input::Order { order, who } => desk.order(&order, &who),
        Input::Call { call, who } => desk.call(*call, &who),
        Input::Answer(answer) => desk.answer(*answer),
        Input::Refusal(refused) => Ok(desk.noted(Effect::Refused(refused))),
        Input::Tally(refusals) => Ok(desk.noted(Effect::Tallied { refusals })),
    };
    decided.unwrap_or_else(|why| desk.refused(asked, why))
}

/// Where messages lie that a decision about this input must know.
pub fn earlier_than(state: &State, input: &Input) -> Vec<u64> {
    if needs_words(input) {
        return asked_in(state, input).into_iter().collect();
    }
    let Input::Message(verified) = input else { return Vec::new() };
    let message = verified.received.message();
    let mut earlier = match (message.id(), &verified.spare_id) {
        (Some(id), _) => {
            let id = remembered_as(message.dialect(), &id, message.thread());
            state.earlier(message.sender(), &id)
        }
        (None, SpareId::Keyed(id)) => state.earlier(message.sender(), id),
        (None, SpareId::Fresh(_)) => Vec::new(),
    };
    if let Message::Vlp(message) = message {
        earlier.extend(vlp::named_by(state, message));
    }
    if let Message::Acl(message) = message {
        earlier.extend(acl::puzzling(state, message));
    }
    earlier
}

/// Whether a decision about this input needs the bytes of what [`earlier_than`] names.
pub fn needs_words(input: &Input) -> bool {
    matches!(input, Input::Order { order, .. } if matches!(**order, Directive::Cap(_)))
}

/// Where the message lies that asked for what is to be done again.
fn asked_in(state: &State, input: &Input) -> Option<u64> {
    let Input::Order { order, .. } = input else { return None };
    let Directive::Cap(order) = &**order else { return None };
    cap::words_of_order(state, order)
}

/// Where a message lies that is quoted in what falls due first.
pub fn quoted_by(state: &State, now: Moment) -> Option<u64> {
    vcp::quotes(state, now.max(state.now))
}

/// How many of a mailbox's messages expire by one entry. The rest are due again at once.
const EXPIRED: usize = 100_000;

/// What has fallen due first: messages that waited too long, or a deadline of the rules. Ask again once this
/// is applied, until nothing is due. `quoted` is the message at the position that [`quoted_by`] named.
pub fn tick(state: &State, policy: &Policy, now: Moment, quoted: Option<&[u8]>) -> Vec<Entry> {
    let now = now.max(state.now);
    let due = state.mailboxes.filter(|mailbox| mailbox.earliest().is_some_and(|first| first <= now));
    let died = due.filter_map(|(agent, mailbox)| {
        let positions: Vec<_> = mailbox.expired(now).take(EXPIRED).collect();
        let why = crate::dead::Why::Expired;
        (!positions.is_empty()).then(|| Effect::Died { agent: agent.to_owned(), positions, why })
    });
    let died = (state.next..).zip(died).map(|(position, effect)| Entry { position, at: now, effect, body: None });
    let died: Vec<_> = died.collect();
    if !died.is_empty() {
        return died;
    }
    let desk = Desk { state, policy, earlier: &[], now };
    rules::due(state, policy, now, quoted).map(|ruling| desk.follow(ruling, "the exchange")).unwrap_or_default()
}

/// Where decisions are made: everything they may look at.
struct Desk<'s> {
    state: &'s State,
    policy: &'s Policy,
    earlier: &'s [Earlier],
    now: Moment,
}

/// Who asked what, for the record of a refusal.
struct Asked {
    by: String,
    digest: Option<String>,
    judged: Option<cap::Judged>,
    id: Option<String>,
    /// Whose mild escalation is cut.
    cut: Option<String>,
}

type Decided = Result<Decision, Rejection>;

impl Desk<'_> {
    /// Nothing if nobody proved to be somebody, or a message is brought: who sends it is worked out only if it is
    /// refused, and most are not.
    fn asked(input: &Input) -> Option<Asked> {
        let mut judged = None;
        let who = match input {
            Input::Order { order, who } => {
                judged = order.judged().cloned();
                who
            }
            Input::Register { who, .. }
            | Input::Remove { who, .. }
            | Input::Key { who, .. }
            | Input::Grant { who, .. }
            | Input::Withdraw { who, .. }
            | Input::Rotate { who, .. }
            | Input::Acknowledge { who, .. }
            | Input::Resend { who, .. }
            | Input::Purge { who, .. }
            | Input::Erase { who, .. }
            | Input::Call { who, .. } => who,
            Input::Message(_)
            | Input::Confirm(_)
            | Input::Misunderstood(_)
            | Input::Pushed(_)
            | Input::Refusal(_)
            | Input::Tally(_)
            | Input::Clear { .. }
            | Input::Drop { .. }
            | Input::Restore(_)
            | Input::Answer(_) => return None,
        };
        (*who != Who::Nobody).then(|| Asked { by: who.to_string(), digest: None, id: None, cut: None, judged })
    }

    /// A stranger's refusals are counted elsewhere: they are no reason to let the record grow.
    fn refused(&self, asked: Option<Asked>, rejection: Rejection) -> Decision {
        let digest = asked.as_ref().and_then(|asked| asked.digest.clone());
        let refused = asked.map(|Asked { by, digest, id, cut, judged }| {
            let refused = Refused::of(by, &rejection);
            Refused { digest, judged, id, cut, ..refused }
        });
        let entries = refused.map(|refused| self.entry(Effect::Refused(refused), None)).into_iter().collect();
        let rejection = match digest {
            Some(digest) => rejection.about(digest),
            None => rejection,
        };
        Decision { verdict: Verdict::Refused(rejection), entries }
    }

    fn entry(&self, effect: Effect, body: Option<Box<[u8]>>) -> Entry {
        Entry { position: self.state.next, at: self.now, effect, body }
    }

    fn accepted(&self, id: String, new: bool, effect: Effect, body: Option<Box<[u8]>>) -> Decision {
        let entry = self.entry(effect, body);
        let verdict = Verdict::Accepted { position: entry.position, id, new };
        Decision { verdict, entries: vec![entry] }
    }

    fn noted(&self, effect: Effect) -> Decision {
        self.accepted(String::new(), false, effect, None)
    }

    /// Several entries for one answer.
    fn all(&self, id: String, effects: Vec<Effect>) -> Decision {
        let position = self.state.next;
        let entries = (position..).zip(effects);
        let entries = entries.map(|(position, effect)| Entry { position, at: self.now, effect, body: None });
        Decision { verdict: Verdict::Accepted { position, id, new: false }, entries: entries.collect() }
    }
}
