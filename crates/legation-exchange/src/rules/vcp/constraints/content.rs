//! What of a message constraints are held against: how much it says, and of what it says it speaks.
//!
//! A token is taken to be four bytes of UTF-8. Texts count as they are and other values as canonical JSON;
//! everything counts that is not of the envelope, so that nothing is said in a member that nobody counts. What
//! the specs do not define counts with its name.

use super::topics;
use legation_protocol::vlp::Level;
use legation_protocol::{Format, Message, Received};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Bytes that count as a token.
const BYTES: u64 = 4;
/// How long a name may be and say nothing.
const NAME: usize = 256;

/// What somebody tells others otherwise than by a message.
pub(crate) struct Words<'w> {
    /// Whom, by canonical id.
    pub(crate) to: Vec<String>,
    /// All that they can read of it.
    pub(crate) texts: Vec<&'w str>,
    /// Of what it speaks.
    pub(crate) topics: Vec<&'w str>,
}

/// A message's content, looked into only when a constraint asks; or what is told otherwise.
pub(super) struct Content<'c> {
    source: Source<'c>,
    members: OnceCell<Map<String, Value>>,
    topics: OnceCell<BTreeSet<String>>,
}

enum Source<'c> {
    Message(&'c Received),
    Words(&'c Words<'c>),
}

impl<'c> Content<'c> {
    pub(super) fn of(received: &'c Received) -> Content<'c> {
        Content { source: Source::Message(received), members: OnceCell::new(), topics: OnceCell::new() }
    }

    pub(super) fn told(words: &'c Words<'c>) -> Content<'c> {
        Content { source: Source::Words(words), members: OnceCell::new(), topics: OnceCell::new() }
    }

    /// Whether it is a `block`: the brake is heard at any length, as alarms are.
    fn is_brake(&self) -> bool {
        match self.source {
            Source::Message(received) => {
                matches!(received.message(), Message::Vlp(message) if message.judged().declared == Level::Block)
            }
            Source::Words(_) => false,
        }
    }

    /// About how many tokens there are, if they are more than this.
    pub(super) fn more_than(&self, limit: u64) -> Option<u64> {
        if self.is_brake() {
            return None;
        }
        let bytes: usize = match self.source {
            Source::Message(received) => {
                let at_most = (received.signed_bytes().len() as u64).div_ceil(BYTES);
                if at_most <= limit {
                    return None;
                }
                let dialect = received.message().dialect();
                self.members().iter().map(|(name, value)| weight(dialect, name, value)).sum()
            }
            Source::Words(words) => words.texts.iter().map(|text| text.len()).sum(),
        };
        Some((bytes as u64).div_ceil(BYTES)).filter(|tokens| *tokens > limit)
    }

    /// What the message declares to speak of, without case and punctuation.
    pub(super) fn topics(&self) -> &BTreeSet<String> {
        self.topics.get_or_init(|| self.declared().iter().flat_map(|topic| topics::parts(topic)).collect())
    }

    fn declared(&self) -> Vec<String> {
        if let Source::Words(words) = self.source {
            return words.topics.iter().map(|topic| (*topic).to_owned()).collect();
        }
        topics::declared(self.members())
    }

    fn members(&self) -> &Map<String, Value> {
        self.members.get_or_init(|| match self.source {
            Source::Message(received) => serde_json::from_slice(received.signed_bytes()).unwrap_or_default(),
            Source::Words(_) => Map::new(),
        })
    }
}

/// How many bytes of content a member holds.
fn weight(dialect: Format, name: &str, value: &Value) -> usize {
    if said(dialect).contains(&name) {
        return size(value);
    }
    if !envelope(dialect).contains(&name) {
        return name.len() + size(value);
    }
    match value {
        // A name that is too long for one says something.
        Value::String(text) => text.len().saturating_sub(NAME),
        Value::Object(members) => {
            let beside = members.iter().filter(|(inner, _)| !plain_in(name).contains(&inner.as_str()));
            beside.map(|(inner, value)| inner.len() + size(value)).sum()
        }
        Value::Array(_) => size(value),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

fn size(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Null => 0,
        other => other.to_string().len(),
    }
}

/// The members in which something is said.
const fn said(dialect: Format) -> &'static [&'static str] {
    match dialect {
        Format::Vcp | Format::Acl => &["payload"],
        Format::Cap => &["content", "context_summary", "error_message", "inquiry", "attachments", "grants"],
        Format::Vlp => {
            &["content", "payload", "_extras", "topic", "keywords", "provenance", "constraints", "refers_to"]
        }
        Format::Hello | Format::Manifest => &[],
    }
}

/// The members that carry a message and say nothing: names, times, numbers and listed words.
const fn envelope(dialect: Format) -> &'static [&'static str] {
    match dialect {
        Format::Vcp => &["vcp_message", "type", "message_id", "sender", "recipient", "timestamp"],
        Format::Acl => &[
            "mcp_version",
            "message_id",
            "sender",
            "receiver",
            "in_reply_to",
            "reply_with",
            "performative",
            "language",
            "ontology",
            "timestamp",
        ],
        Format::Cap => &[
            "type",
            "task_id",
            "sender_id",
            "recipient_id",
            "message_id",
            "timestamp",
            "parent_task_id",
            "deadline",
            "decision",
            "digest",
            "final",
            "error_code",
        ],
        Format::Vlp => {
            &["id", "protocol", "type", "timestamp", "sender", "receiver", "session_id", "seq", "confidence", "safety"]
        }
        Format::Hello | Format::Manifest => &[],
    }
}

/// What says nothing in a member of the envelope that is an object.
const fn plain_in(name: &str) -> &'static [&'static str] {
    match name.as_bytes() {
        b"sender" | b"receiver" => &["agent_id"],
        b"safety" => &["level", "requires_human"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests;
