//! VLP messages, and what the exchange made of them.

use crate::desk::{Desk, by};
use legation_exchange::rules::Ruled;
use legation_exchange::{Effect, Verdict};
use serde_json::{Value, json};

/// A message of `sender` with these members beside those that every message has.
pub(crate) fn said(kind: &str, sender: &str, id: &str, members: &Value) -> String {
    let mut message = json!({
        "id": id, "protocol": "VLP/1.1", "type": kind, "timestamp": "2026-02-15T10:30:00Z",
        "sender": sender, "content": "x", "confidence": 0.5,
    });
    let own = message.as_object_mut().unwrap();
    own.extend(members.as_object().unwrap().clone());
    message.to_string()
}

/// Three who know each other.
pub(crate) fn three() -> Desk {
    let mut desk = Desk::new();
    for id in ["ann", "bob", "cat"] {
        desk.agent(id);
    }
    desk
}

impl Desk {
    /// Sends as whoever it is by.
    pub(crate) fn say(&mut self, kind: &str, sender: &str, id: &str, members: &Value) -> Verdict {
        self.send(&said(kind, sender, id, members), by(sender))
    }

    /// What stands beside the message in an entry.
    pub(crate) fn beside(&self, position: u64) -> &Ruled {
        match &self.record[usize::try_from(position).unwrap()].effect {
            Effect::Accepted(accepted) => &accepted.ruled,
            other => panic!("no message: {other:?}"),
        }
    }

    /// The codes of what was found.
    pub(crate) fn found(&self, position: u64) -> Vec<&str> {
        self.beside(position).findings.iter().map(|finding| finding.code.as_str()).collect()
    }

    /// The codes of why it waits.
    pub(crate) fn reasons(&self, position: u64) -> Vec<&str> {
        self.beside(position).held.iter().map(|reason| reason.code.as_str()).collect()
    }

    /// The id of the message in an entry.
    pub(crate) fn id(&self, position: u64) -> String {
        match &self.record[usize::try_from(position).unwrap()].effect {
            Effect::Accepted(accepted) => accepted.id.clone(),
            other => panic!("no message: {other:?}"),
        }
    }

    /// The digest of the message in an entry.
    pub(crate) fn digest(&self, position: u64) -> String {
        match &self.record[usize::try_from(position).unwrap()].effect {
            Effect::Accepted(accepted) => accepted.digest.clone(),
            other => panic!("no message: {other:?}"),
        }
    }

    /// What the exchange said to somebody.
    pub(crate) fn told(&self, agent: &str) -> Vec<Value> {
        let own = self.policy.exchange_id();
        let heard = self.record.iter().filter(|entry| match &entry.effect {
            Effect::Accepted(accepted) => accepted.sender == own && accepted.to == [agent],
            _ => false,
        });
        heard.map(|entry| serde_json::from_slice(entry.body.as_ref().unwrap()).unwrap()).collect()
    }
}

#[track_caller]
pub(crate) fn held(verdict: &Verdict) -> u64 {
    match verdict {
        Verdict::Held { position, .. } => *position,
        other => panic!("not held: {other:?}"),
    }
}
