//! What an entry of the record does to the state. Effects never need the body, so a body can be
//! erased and the fold still gives the same state.

use crate::agent::Agent;
use crate::dead::Why;
use crate::epoch::Restored;
use crate::erased::{Erased, Span};
use crate::key::{Custody, Key};
use crate::mailbox::NOBODY;
use crate::moment::Moment;
use crate::person::Person;
use crate::push::Pushed;
use crate::record::{Ruling, Words};
use crate::rules::cap::Judged;
use crate::rules::revocation::WithdrawalScope;
use crate::rules::vlp::Keys;
use crate::rules::{Change, Ruled};
use crate::tool::{Answered, Called};
use legation_protocol::sign::PublicKey;
use legation_protocol::{Format, Rejection};
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
    /// What was refused within a minute and counted: to strangers, and to principals beyond what has entries of its own.
    Tallied {
        /// How often, by code and source or principal.
        refusals: Vec<Tally>,
        /// The name of the counts, by which they are known to be on the record.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        batch: Option<String>,
        /// When counting began.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since: Option<Moment>,
    },
    /// An agent was registered or changed.
    Registered {
        /// The agent as it is from now on.
        agent: Box<Agent>,
        /// Who did it.
        by: String,
    },
    /// An agent was removed, what waited for it with it.
    Removed {
        /// Its id.
        agent: String,
        /// Who did it.
        by: String,
        /// How many messages waited, and have reached nobody.
        #[serde(default, skip_serializing_if = "is_none")]
        left: u64,
    },
    /// Keys of an agent came, went, or changed their state.
    Keyed {
        /// Whose.
        agent: String,
        /// The keys that changed, as they are from now on.
        keys: Vec<Key>,
        /// Who did it.
        by: String,
        /// Why, where one was withdrawn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
        /// Where a withdrawn key ceases to count; older records do not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        scope: Option<WithdrawalScope>,
    },
    /// A person got a token, or another role.
    Granted {
        /// The person as they are from now on.
        person: Person,
        /// Who did it.
        by: String,
    },
    /// A person's token was withdrawn.
    Withdrawn {
        /// Whose.
        person: String,
        /// Who did it.
        by: String,
    },
    /// A new token was used for the first time, and the one before ended.
    Confirmed {
        /// The agent it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The person it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        person: Option<String>,
    },
    /// Messages were acknowledged.
    Acked(Acked),
    /// Messages were brought to an agent, or could not be.
    Pushed(Pushed),
    /// Messages reached nobody.
    Died {
        /// Whose they were.
        agent: String,
        /// Where they were routed.
        positions: Vec<u64>,
        /// Why.
        why: Why,
        /// Open tasks whose delegation was among them, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<u64>,
    },
    /// A message that had reached nobody was sent again.
    Resent(Resent),
    /// A mailbox was emptied.
    Purged {
        /// Whose.
        agent: String,
        /// All up to this position.
        up_to: u64,
        /// Who did it.
        by: String,
        /// Open tasks whose delegation was among them, by number.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tasks: Vec<u64>,
    },
    /// The record goes on from a copy.
    Restored(Restored),
    /// Messages were erased: nobody is shown them any more.
    Erased(Erased),
    /// What was erased is gone from the disk.
    Cleared {
        /// All that was erased up to this entry.
        up_to: u64,
    },
    /// Bodies of old messages went that had been kept long enough.
    Dropped {
        /// Those before this position.
        before: u64,
        /// But not these: they wait for somebody.
        kept: Vec<Span>,
    },
    /// A held message goes on.
    Released(Released),
    /// Something the rules keep has changed without a message.
    Changed {
        /// What.
        changes: Vec<Change>,
        /// Who did it; the exchange itself when a deadline passed.
        by: String,
    },
    /// The record is sealed with another key from here on.
    Rotated {
        /// The key's number.
        key: u32,
        /// Who did it.
        by: String,
    },
    /// A tool is called for an agent: from here on it may have been.
    Called(Called),
    /// What came of that.
    Answered(Answered),
    /// Somebody took a copy of the record.
    Copied {
        /// How many entries it holds.
        size: u64,
        /// Whether the secret keys are in it: whoever has it reads everything, and signs as the exchange.
        keys: bool,
        /// Who did it.
        by: String,
    },
}

/// How the effect of a message begins, as it is written.
const MESSAGE: &[u8] = br#"{"entry":"accepted","#;
/// Most effects of messages have no more bytes.
const USUAL: usize = 512;

impl Effect {
    /// Reads an effect as the record has it. Nearly all are of messages, and those are read straight, without finding out
    /// what they are first.
    pub fn read(bytes: &[u8]) -> serde_json::Result<Effect> {
        if bytes.starts_with(MESSAGE) {
            return serde_json::from_slice(bytes).map(Effect::Accepted);
        }
        serde_json::from_slice(bytes)
    }

    /// An effect as the record has it, written as straight.
    pub fn to_json(&self) -> serde_json::Result<Vec<u8>> {
        let Effect::Accepted(accepted) = self else { return serde_json::to_vec(self) };
        let mut bytes = Vec::with_capacity(USUAL);
        // The members of the message follow where its own object would begin.
        let (tag, comma) = MESSAGE.split_at(MESSAGE.len() - 1);
        bytes.extend_from_slice(tag);
        serde_json::to_writer(&mut bytes, accepted)?;
        bytes.get_mut(tag.len()..=tag.len()).into_iter().for_each(|brace| brace.copy_from_slice(comma));
        Ok(bytes)
    }

    /// What the receipt for a message says, which takes its id along.
    pub fn words(&mut self) -> Option<Words> {
        if let Effect::Accepted(accepted) = self { accepted.words() } else { None }
    }

    /// What it changes of what the rules keep once a message that is held goes on.
    pub fn makes_later(&self) -> &[Change] {
        if let Effect::Accepted(accepted) = self { &accepted.ruled.later } else { &[] }
    }

    /// What it changes of what the rules keep.
    pub fn made(&self) -> &[Change] {
        match self {
            Effect::Accepted(accepted) => &accepted.ruled.changes,
            Effect::Changed { changes, .. } => changes,
            Effect::Refused(_)
            | Effect::Tallied { .. }
            | Effect::Registered { .. }
            | Effect::Removed { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Acked(_)
            | Effect::Pushed(_)
            | Effect::Died { .. }
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Released(_)
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => &[],
        }
    }

    /// Whose mailboxes it puts something into.
    pub fn reaches(self) -> Vec<String> {
        match self {
            Effect::Accepted(accepted) => accepted.to,
            Effect::Resent(resent) => vec![resent.agent],
            Effect::Released(released) => released.to,
            // Whoever brings messages hears of those that go once more.
            Effect::Pushed(pushed) if !pushed.again.is_empty() => vec![pushed.agent],
            Effect::Refused(_)
            | Effect::Tallied { .. }
            | Effect::Registered { .. }
            | Effect::Removed { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Acked(_)
            | Effect::Pushed(_)
            | Effect::Died { .. }
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Changed { .. }
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => Vec::new(),
        }
    }

    /// Who may be another, or may do something else, than before.
    pub fn changes(&self) -> Option<Party> {
        match self {
            Effect::Registered { agent, .. } => Some(Party::Agent(agent.id.clone())),
            Effect::Keyed { scope: Some(WithdrawalScope::Everywhere), .. } => Some(Party::Everybody),
            Effect::Removed { agent, .. }
            | Effect::Keyed { agent, .. }
            | Effect::Confirmed { agent: Some(agent), .. } => Some(Party::Agent(agent.clone())),
            Effect::Granted { .. } | Effect::Withdrawn { .. } | Effect::Confirmed { agent: None, .. } => {
                Some(Party::Person)
            }
            Effect::Accepted(accepted) => stopped_by(&accepted.ruled.changes),
            Effect::Changed { changes, .. } => stopped_by(changes),
            Effect::Refused(_)
            | Effect::Tallied { .. }
            | Effect::Acked(_)
            | Effect::Died { .. }
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Pushed(_)
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Released(_)
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => None,
        }
    }
}

/// Who may go on no longer, or again.
fn stopped_by(changes: &[Change]) -> Option<Party> {
    changes.iter().find_map(|change| match change {
        Change::Vcp(change) => change.stops().map(|agent| Party::Stopped(agent.to_owned())),
        Change::Hold(_)
        | Change::Cap(_)
        | Change::Acl(_)
        | Change::Vlp(_)
        | Change::Translated(_)
        | Change::BrokenOff { .. }
        | Change::Extension(_)
        | Change::Identity(_) => None,
    })
}

/// Somebody whose standing has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Party {
    /// An agent, by id.
    Agent(String),
    /// An agent that may go on no longer, or again, and its instances with it.
    Stopped(String),
    /// A person. They may read any mailbox.
    Person,
    /// Any agent: a key that was withdrawn counts for nobody any more.
    Everybody,
}

/// A message that was taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Whose mailboxes had no room for it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missed: Vec<String>,
    /// The task or session it belongs to.
    pub thread: Option<String>,
    /// SHA-256 of its canonical form.
    pub digest: String,
    /// How its sender proved to be it.
    pub proof: String,
    /// Who keeps the key it is signed with, where it is.
    #[serde(default, skip_serializing_if = "Custody::is_own")]
    pub custody: Custody,
    /// The person who spoke as a principal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// How long it waits.
    pub expires: Moment,
    /// How long its id is remembered; not at all when the id is ours.
    pub remembered: Option<Moment>,
    /// The machine's time, where it differed from the record's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Moment>,
    /// The trace it was sent in, as a W3C `traceparent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<String>,
    /// Whether it raises an emergency.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub emergency: bool,
    /// Whether it is an escalation that nothing holds up, or the acknowledgement of one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_alarm: bool,
    /// What the rules made of it.
    #[serde(default, skip_serializing_if = "is_plain")]
    pub ruled: Box<Ruled>,
    /// The key it is signed with, where the sender had not shown yet that it holds that key: bound to it from now on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proves: Option<Box<PublicKey>>,
    /// What it is found by, if it is of VLP.
    #[serde(skip)]
    pub keys: Keys,
}

impl Accepted {
    /// What its receipt says. Its id goes along.
    fn words(&mut self) -> Option<Words> {
        let verdict = if self.ruled.held.is_empty() { Ruling::Accepted } else { Ruling::Held };
        let digest = self.digest.parse().ok()?;
        Some(Words { verdict, message_id: std::mem::take(&mut self.id), digest })
    }

    /// Where the messages lie that it names, as far as they were found.
    pub fn named(&self) -> impl Iterator<Item = u64> {
        self.ruled.changes.iter().flat_map(Change::named)
    }

    /// Where those lie that it takes the place of.
    pub fn amended(&self) -> impl Iterator<Item = u64> {
        self.ruled.changes.iter().flat_map(Change::amended)
    }
}

fn is_plain(ruled: &Ruled) -> bool {
    ruled.is_plain()
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// Something that was refused to somebody known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// Who asked.
    pub by: String,
    /// Why.
    pub code: String,
    /// SHA-256 of what was asked, if it was read.
    pub digest: Option<String>,
    /// What a judge said of it, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// Why, in the words they were told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub says: Option<String>,
    /// The member that is to blame, as a JSON pointer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The section that has the rule.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spec: Option<String>,
    /// The id of the message that was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Whose mild escalation it was, if it is cut because its sender raised enough of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<String>,
    /// The machine's time, where it differed from the record's and a timestamp was judged by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Moment>,
    /// Whether it was a stale emergency that people were told of.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale_emergency: bool,
}

/// How many characters of a reason, or of a pointer, are kept.
const KEPT: usize = 1024;

impl Refused {
    /// The agent that asked, where it was one.
    pub fn agent(&self) -> Option<&str> {
        self.by.strip_prefix("agent ")
    }

    /// What somebody was told.
    pub fn of(by: String, rejection: &Rejection) -> Refused {
        let first = rejection.first();
        let cut = |text: &str| text.chars().take(KEPT).collect::<String>();
        Refused {
            by,
            code: rejection.code().as_str().to_owned(),
            says: Some(cut(&first.message)),
            at: first.at.as_deref().map(cut),
            spec: first.spec.map(str::to_owned),
            ..Refused::default()
        }
    }
}

/// Rejections that were counted together, as they go into the record.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TallyBatch {
    /// How often, by code and source or principal.
    pub refusals: Vec<Tally>,
    /// The name of the counts.
    pub batch: Option<String>,
    /// When counting began.
    pub since: Option<Moment>,
}

/// How often one code was given to strangers at one source, or to one principal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Why.
    pub code: String,
    /// Where they came from; `known` of a principal, `others` of more than can be told apart.
    pub source: String,
    /// How often.
    pub count: u64,
    /// SHA-256 of the last of what was asked, if it was read.
    pub digest: Option<String>,
    /// The principal, as in the entry of a single rejection.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
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

/// A message that goes to a mailbox again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resent {
    /// Whose mailbox.
    pub agent: String,
    /// Where it was routed before.
    pub routed: u64,
    /// The entry that holds it.
    pub message: u64,
    /// How long it waits.
    pub expires: Moment,
    /// Who sent it again.
    pub by: String,
    /// The entry that registered its sender; [`NOBODY`] if no agent's suspension stops it.
    #[serde(default = "nobody", with = "crate::wire_integer::sender")]
    pub from: u64,
}

pub(crate) const fn nobody() -> u64 {
    NOBODY
}

/// A held message that goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Released {
    /// The entry that holds the message.
    pub message: u64,
    /// Whose mailboxes it goes to.
    pub to: Vec<String>,
    /// The entry that registered its sender; [`NOBODY`] if no agent's suspension stops it.
    #[serde(with = "crate::wire_integer::sender")]
    pub from: u64,
    /// How long it waits.
    pub expires: Moment,
    /// The decision by which it goes on, if a person or an overseer decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<ReviewOutcome>,
}

/// The decision by which a held message was released, as its recipients are told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReviewOutcome {
    /// `approve`.
    pub decision: String,
    /// The person or the overseer who decided last; a person's role where names are not shown.
    pub by: String,
    /// SHA-256 of the message's canonical form.
    pub digest: String,
}
