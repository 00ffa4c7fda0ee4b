//! What of a message constraints are held against: how much it says, and of what it says it speaks.
//!
//! A token is taken to be four bytes of UTF-8. Texts count as they are and other values as canonical JSON;
//! everything counts that is not of the envelope, so that nothing is said in a member that nobody counts.

use crate::registry::look;
use legation_protocol::{Format, Received};
use serde_json::{Map, Value};
use std::cell::OnceCell;
use std::collections::BTreeSet;

/// Bytes that count as a token.
const BYTES: u64 = 4;

/// A message's content, looked into only when a constraint asks.
pub(super) struct Content<'c> {
    received: &'c Received,
    members: OnceCell<Map<String, Value>>,
    topics: OnceCell<BTreeSet<String>>,
}

impl<'c> Content<'c> {
    pub(super) fn of(received: &'c Received) -> Content<'c> {
        Content { received, members: OnceCell::new(), topics: OnceCell::new() }
    }

    /// About how many tokens there are, if they are more than this.
    pub(super) fn more_than(&self, limit: u64) -> Option<u64> {
        let at_most = (self.received.signed_bytes().len() as u64).div_ceil(BYTES);
        if at_most <= limit {
            return None;
        }
        let envelope = envelope(self.received.message().dialect());
        let content = self.members().iter().filter(|(name, _)| !envelope.contains(&name.as_str()));
        let bytes: u64 = content.map(|(_, value)| size(value)).sum();
        Some(bytes.div_ceil(BYTES)).filter(|tokens| *tokens > limit)
    }

    /// What the message declares to speak of, without case and punctuation.
    pub(super) fn topics(&self) -> &BTreeSet<String> {
        self.topics.get_or_init(|| self.declared().iter().flat_map(|topic| parts(topic)).collect())
    }

    fn declared(&self) -> Vec<String> {
        let members = self.members();
        let task = members.get("payload").and_then(|payload| payload.get("task_type"));
        let named = ["topic", "topics", "keywords", "ontology"].into_iter().filter_map(|name| members.get(name));
        named.chain(task).flat_map(texts).collect()
    }

    fn members(&self) -> &Map<String, Value> {
        self.members.get_or_init(|| serde_json::from_slice(self.received.signed_bytes()).unwrap_or_default())
    }
}

/// A text, or the texts of a list.
fn texts(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match value {
        Value::Array(list) => list.iter().filter_map(text).collect(),
        other => text(other).into_iter().collect(),
    }
}

/// A topic, and each part of its path.
fn parts(topic: &str) -> Vec<String> {
    std::iter::once(topic).chain(topic.split(['/', ':'])).map(plain).filter(|part| !part.is_empty()).collect()
}

/// A topic as it is compared: case, signs between words and letters that look alike make no difference.
pub(super) fn plain(topic: &str) -> String {
    let words = topic.split(|c: char| c.is_whitespace() || matches!(c, '_' | '-')).filter(|word| !word.is_empty());
    // Small letters first: a capital looks like another letter than its own small one.
    look(&words.collect::<Vec<_>>().join(" ").to_lowercase())
}

fn size(value: &Value) -> u64 {
    match value {
        Value::String(text) => text.len() as u64,
        other => other.to_string().len() as u64,
    }
}

/// The members that carry a message and say nothing.
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
            "grants",
            "decision",
            "digest",
            "final",
            "error_code",
        ],
        Format::Vlp => &[
            "id",
            "protocol",
            "type",
            "timestamp",
            "sender",
            "receiver",
            "session_id",
            "seq",
            "topic",
            "keywords",
            "confidence",
            "provenance",
            "safety",
            "refers_to",
        ],
        Format::Hello | Format::Manifest => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::{Content, plain};
    use legation_protocol::Received;

    #[track_caller]
    fn check(text: &str, tokens: u64) {
        let received = Received::read(text.as_bytes()).unwrap();
        let content = Content::of(&received);
        assert_eq!(content.more_than(tokens - 1), Some(tokens), "{text}");
        assert_eq!(content.more_than(tokens), None, "{text}");
    }

    #[test]
    fn four_bytes_of_content_are_a_token_in_every_dialect() {
        let cap = |members: &str| {
            format!(r#"{{"type":"message","task_id":"T1","sender_id":"a","recipient_id":"b",{members}}}"#)
        };
        check(&cap(r#""content":"12345678""#), 2);
        check(&cap(r#""content":"123456789""#), 3);
        check(&cap(r#""content":"éé""#), 1);
        check(&cap(r#""content":"1234","note":"5678""#), 2);
        check(&cap(r#""content":"1234","attachments":[{"type":"text_snippet","text":"12345678"}]"#), 12);
        check(
            r#"{"id":"MSG1","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"a","content":{"a": 12345},"confidence":0.5,"topic":"long and of no weight"}"#,
            3,
        );
        check(
            r#"{"mcp_version":"0.1.0","message_id":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10","sender":{"agent_id":"a"},"receiver":{"agent_id":"b"},"language":"application/json","ontology":"elizaos:general_query","timestamp":"2026-02-15T10:30:00Z","performative":"QUERY_REF","payload":{"reference":"1234"}}"#,
            5,
        );
    }

    #[test]
    fn spellings_of_a_topic_are_one() {
        for same in ["Illegal_Substances", "illegal substances", " ILLEGAL-substances ", "іllegal substances"] {
            assert_eq!(plain(same), plain("illegal_substances"), "{same}");
        }
        assert_ne!(plain("weapon"), plain("weapons"));
    }
}
