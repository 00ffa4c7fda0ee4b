//! What rules make of a message.

use super::Change;
use super::cap::Judged;
use super::hold::{Lifter, Reason};
use crate::moment::Moment;
use legation_protocol::vcp::Origin;
use legation_protocol::vlp::{Level, Metrics};
use legation_protocol::{Format, Message};
use legation_scan::{Found, How, Severity};
use serde::{Deserialize, Serialize};

/// What the rules add up to for one message, or for a deadline or an order.
#[derive(Default)]
pub(crate) struct Ruling {
    /// What it changes, in the same entry.
    pub(crate) changes: Vec<Change>,
    /// What it changes once it goes on, where it waits.
    pub(crate) later: Vec<Change>,
    /// Why it waits. None: it goes on.
    pub(crate) reasons: Vec<Reason>,
    /// What stands beside the message.
    pub(crate) findings: Vec<Finding>,
    /// How far it may go by itself.
    pub(crate) level: Option<Level>,
    /// How much of what it rests on was verified.
    pub(crate) metrics: Option<Metrics>,
    /// Where it goes instead of where it is addressed.
    pub(crate) instead: Option<Vec<String>>,
    /// What the exchange says because of it.
    pub(crate) heard: Vec<Heard>,
    /// What a judge said of it.
    pub(crate) judged: Option<Judged>,
    /// Held messages that go on.
    pub(crate) released: Vec<u64>,
    /// Messages of the record that go to somebody again, or to somebody else.
    pub(crate) again: Vec<Again>,
}

/// A message of the record that goes to somebody again, or to somebody else.
pub(crate) struct Again {
    /// The entry that holds it.
    pub(crate) message: u64,
    /// To whom.
    pub(crate) to: String,
    /// The entry that registered its sender.
    pub(crate) from: u64,
}

/// Something the exchange says.
pub(crate) struct Heard {
    /// To whom, by canonical id.
    pub(crate) to: String,
    /// What.
    pub(crate) words: Words,
    /// What else changes with it, in the same entry.
    pub(crate) changes: Vec<Change>,
    /// What changes with it once it goes on, where it waits.
    pub(crate) later: Vec<Change>,
    /// What stands beside it.
    pub(crate) findings: Vec<Finding>,
    /// Why it waits.
    pub(crate) held: Vec<Reason>,
    /// Whether it shows work that waits, to whoever decides on that.
    pub(crate) shows: bool,
}

impl Heard {
    /// These words, to whom.
    pub(crate) fn new(to: impl Into<String>, words: Words) -> Heard {
        let (changes, later, findings, held) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Heard { to: to.into(), words, changes, later, findings, held, shows: false }
    }
}

/// The words, given who says them and when. Names in them are the recipient's dialect's.
pub(crate) type Words = Box<dyn FnOnce(Origin) -> Option<Message>>;

impl Ruling {
    /// One more change.
    pub(crate) fn change(&mut self, change: Change) {
        self.changes.push(change);
    }

    /// One more thing that stands beside the message.
    pub(crate) fn find(&mut self, rule: &str, code: &str, says: impl Into<String>) {
        let (rule, code, says) = (rule.to_owned(), code.to_owned(), says.into());
        self.findings.push(Finding { rule, code, says, ..Finding::default() });
    }

    /// One more thing that stands beside the message, about one of its members.
    pub(crate) fn find_at(&mut self, rule: &str, code: &str, says: impl Into<String>, at: &str) {
        self.find(rule, code, says);
        if let Some(last) = self.findings.last_mut() {
            last.about.push(About { at: at.to_owned(), entry: None });
        }
    }

    /// Something the exchange says because of it.
    pub(crate) fn say(&mut self, to: impl Into<String>, words: impl FnOnce(Origin) -> Option<Message> + 'static) {
        self.heard.push(Heard::new(to, Box::new(words)));
    }

    /// What the exchange says because of it, from this on, waits until somebody lets the session go on.
    pub(crate) fn wait_from(&mut self, first: usize, session: &str) {
        for heard in self.heard.iter_mut().skip(first) {
            let says = format!("the session {session:?} is halted, and this belongs to it");
            let lifts = Lifter::Session(session.to_owned());
            heard.held.push(Reason { code: "halted".to_owned(), says, lifts });
        }
    }

    /// Puts findings beside what the exchange says because of it, from this on.
    pub(crate) fn mark_from(&mut self, first: usize, findings: &[Finding]) {
        self.heard.iter_mut().skip(first).for_each(|heard| heard.findings.extend_from_slice(findings));
    }

    /// Puts findings beside what the exchange was last made to say.
    pub(crate) fn mark_last(&mut self, findings: Vec<Finding>) {
        if let Some(last) = self.heard.last_mut() {
            last.findings = findings;
        }
    }

    /// One more change, in the entry of what the exchange was last made to say.
    pub(crate) fn change_with_last(&mut self, change: Change) {
        if let Some(last) = self.heard.last_mut() {
            last.changes.push(change);
        }
    }

    /// What the exchange was last made to say shows work to whoever decides on it.
    pub(crate) fn shows_last(&mut self) {
        if let Some(last) = self.heard.last_mut() {
            last.shows = true;
        }
    }

    /// Raises the level.
    pub(crate) fn raise(&mut self, level: Level) {
        self.level = self.level.max(Some(level));
    }
}

/// Something a rule found that stands beside a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// Which rule.
    pub rule: String,
    /// Its code, for programs.
    pub code: String,
    /// In words.
    pub says: String,
    /// The text it is about, if it is about a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spot: Option<Spot>,
    /// The members it is about, where it is about some of several.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<About>,
}

/// A member of a message that a finding is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// Which, as a JSON pointer.
    pub at: String,
    /// The entry of the record that bears it out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<u64>,
}

/// A place in a message's text that was found suspicious. It never quotes the text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spot {
    /// How much it means.
    pub severity: Severity,
    /// The member, as a JSON pointer.
    pub at: String,
    /// The first byte, of the member's text as UTF-8.
    pub offset: usize,
    /// How many bytes.
    pub length: usize,
    /// How it was found.
    pub how: How,
}

impl From<Found> for Spot {
    fn from(Found { severity, at, offset, length, how, .. }: Found) -> Spot {
        Spot { severity, at, offset, length, how }
    }
}

/// What stands beside a message in the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Ruled {
    /// How far it may go by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<Level>,
    /// How much of what it rests on was verified.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metrics: Option<Metrics>,
    /// What rules found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// Why it waits.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub held: Vec<Reason>,
    /// Until when somebody must have lifted that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<Moment>,
    /// What it changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What it changes once it goes on; never, if it is refused.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub later: Vec<Change>,
    /// What a judge said of it, if one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// The entry that made the exchange say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub because: Option<u64>,
}

impl Ruled {
    /// Whether no rule had anything to say.
    pub fn is_plain(&self) -> bool {
        *self == Ruled::default()
    }
}

/// The dialect the exchange speaks to somebody who speaks these, where it may choose.
pub(crate) fn dialect_for(spoken: &std::collections::BTreeSet<Format>, rather: Format) -> Format {
    if spoken.is_empty() || spoken.contains(&rather) {
        return rather;
    }
    [Format::Vlp, Format::Cap, Format::Vcp].into_iter().find(|dialect| spoken.contains(dialect)).unwrap_or(rather)
}
