//! What a letter says as far as a rule asks about it, and letters in the making.

use crate::house::uri;
use legation_exchange::Moment;
use legation_protocol::Format;
use legation_protocol::vcp::Severity;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Whom a letter is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum To {
    /// This one.
    One(&'static str),
    /// All peers of its sender.
    Peers,
    /// The exchange itself.
    Exchange,
    /// Everybody else in its session.
    Session,
}

/// What a letter says, as far as a rule asks about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Says {
    /// Nothing of the kind.
    Plain,
    /// An escalation.
    Alarm { severity: Severity, wants_ack: bool },
    /// That one has been seen.
    Ack,
    /// That an agent may go on, as far as this escalation is concerned.
    Resumes { of: String },
    /// A rule for one below.
    Constrains,
    /// A task, with these tools alone, until then.
    Delegates { tools: Option<BTreeSet<String>>, deadline: Option<Moment> },
    /// The result of a tool.
    Shows { tool: &'static str },
    /// The result of a task.
    Final,
    /// A word on the result of another.
    Decides { approves: bool },
    /// That a task went wrong.
    Fails,
    /// A request.
    Requests,
    /// An answer to one, and how long it will take.
    Answers { within: Option<u64> },
    /// Something that a person must see first, or not.
    Claims { waits: bool },
    /// That a session must not go on.
    Blocks,
}

/// A letter in the making.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) sender: &'static str,
    pub(crate) to: To,
    pub(crate) dialect: Format,
    /// Its kind within the dialect.
    pub(crate) kind: &'static str,
    /// The payload in VCP; in ACL that and what is `beside` it; in CAP and VLP members beside the usual ones.
    pub(crate) body: Value,
    pub(crate) says: Says,
    pub(crate) thread: Option<String>,
}

impl Draft {
    pub(crate) fn text(&self, id: &str, made: Moment) -> String {
        let (made, kind, body) = (made.to_string(), self.kind, &self.body);
        let to = match self.to {
            To::One(name) => name,
            To::Peers => "broadcast",
            To::Exchange => "legation",
            To::Session => "",
        };
        let mut message = match self.dialect {
            Format::Vcp => {
                let to = match self.to {
                    To::One(name) => uri(name),
                    To::Peers | To::Session => to.to_owned(),
                    To::Exchange => uri("exchange"),
                };
                json!({"vcp_message": "1.2", "type": kind, "message_id": id, "sender": uri(self.sender),
                    "recipient": to, "timestamp": made, "payload": body})
            }
            Format::Acl => json!({"mcp_version": "0.1.0", "message_id": id, "performative": kind,
                "sender": {"agent_id": self.sender}, "receiver": {"agent_id": to}, "language": "application/json",
                "ontology": "elizaos:housekeeping", "timestamp": made, "payload": body.get("payload")}),
            Format::Cap => json!({"type": kind, "sender_id": self.sender, "recipient_id": to, "message_id": id,
                "task_id": self.thread}),
            Format::Vlp | Format::Hello | Format::Manifest => json!({"id": id, "protocol": "VLP/1.1", "type": kind,
                "timestamp": made, "sender": self.sender, "receiver": to, "content": id, "confidence": 0.5}),
        };
        match self.dialect {
            Format::Acl => extend(&mut message, body.get("beside")),
            Format::Cap | Format::Vlp => {
                if let (To::Session, Some(message)) = (self.to, message.as_object_mut()) {
                    message.remove("receiver");
                }
                extend(&mut message, Some(body));
            }
            Format::Vcp | Format::Hello | Format::Manifest => {}
        }
        message.to_string()
    }
}

fn extend(message: &mut Value, more: Option<&Value>) {
    if let (Some(message), Some(more)) = (message.as_object_mut(), more.and_then(Value::as_object)) {
        message.extend(more.clone());
    }
}
