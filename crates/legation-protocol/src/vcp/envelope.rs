//! The envelope every message travels in (section 3).

use super::escalation::Role;
use super::payload::Payload;
use super::{spelled, timestamp};
use crate::code::Code;
use crate::finding::Findings;
use crate::id::{AgentId, Uuid7, is_reserved};
use crate::json::Node;
use crate::names::names;
use crate::read::{At, Object, any_text, json_object};
use crate::sign::Signature;
use crate::stamp::Timestamp;
use crate::wire::Wire;
use serde::{Serialize, Serializer};

/// The one protocol version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// `1.2`
    #[default]
    V1_2,
}

names!(Version { V1_2 = "1.2" });

/// What a message does (section 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Shares the sender's situation.
    ContextShare,
    /// Announces the sender's constitution.
    ConstitutionAnnounce,
    /// Lays rules on a child.
    ConstraintPropagate,
    /// Raises an alarm, or acknowledges one.
    Escalation,
}

names!(Kind {
    ContextShare = "context_share",
    ConstitutionAnnounce = "constitution_announce",
    ConstraintPropagate = "constraint_propagate",
    Escalation = "escalation",
});

/// Whom a message is for (section 3.4).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recipient {
    /// All known peers of the sender.
    Broadcast,
    /// One agent.
    Agent(AgentId),
}

impl Recipient {
    /// The text on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            Recipient::Broadcast => "broadcast",
            Recipient::Agent(id) => id.as_str(),
        }
    }

    /// The agent, unless it is for all.
    pub const fn agent(&self) -> Option<&AgentId> {
        match self {
            Recipient::Broadcast => None,
            Recipient::Agent(id) => Some(id),
        }
    }
}

impl Serialize for Recipient {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A VCP message (section 3.2). The object is closed: no other members exist.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Envelope {
    /// Always `1.2`.
    pub vcp_message: Version,
    /// Unique for its sender.
    pub message_id: Uuid7,
    /// Who made it.
    pub sender: AgentId,
    /// Whom it is for.
    pub recipient: Recipient,
    /// When it was made.
    pub timestamp: Timestamp,
    /// The members `type` and `payload`.
    #[serde(flatten)]
    pub payload: Payload,
    /// The sender's signature over all else (section 7).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

/// Where a message stands among others: by time, then by id (section 5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Order {
    /// Its timestamp, in nanoseconds since 1970.
    pub unix_nanos: i128,
    /// Its message id.
    pub id: Uuid7,
}

impl Envelope {
    /// What it does.
    pub const fn kind(&self) -> Kind {
        self.payload.kind()
    }

    /// The name of what it does.
    pub const fn kind_name(&self) -> &'static str {
        self.kind().as_str()
    }

    /// Its place among others.
    pub const fn order(&self) -> Order {
        Order { unix_nanos: self.timestamp.unix_nanos(), id: self.message_id }
    }

    /// The message that this one acknowledges or passes on.
    pub fn refers_to(&self) -> Option<Uuid7> {
        let Payload::Escalation(escalation) = &self.payload else { return None };
        match escalation.role() {
            Ok(Role::Ack(id)) => Some(id),
            Ok(Role::Propagated(alarm)) => Some(alarm.id),
            Ok(Role::Alarm) | Err(_) => None,
        }
    }
}

impl Wire for Envelope {
    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "VCP 3.2", out }.object()?;
        let vcp_message = o.required("vcp_message", |at| at.named(Code::UnsupportedVersion));
        let kind = o.required("type", |at| at.named(Code::UnknownType));
        let message_id = o.required("message_id", message_id);
        let sender = o.required("sender", sender);
        let recipient = o.required("recipient", recipient);
        let timestamp = o.required("timestamp", timestamp);
        let payload = o.required("payload", |at| match kind {
            Some(kind) => Payload::read(kind, at),
            None => json_object(at).and(None),
        });
        let signature = o.optional("signature", signature);
        judge_addresses(&mut o, kind, sender.as_ref(), recipient.as_ref());
        o.closed();
        Some(Envelope {
            vcp_message: vcp_message?,
            message_id: message_id?,
            sender: sender?,
            recipient: recipient?,
            timestamp: timestamp?,
            payload: payload?,
            signature,
        })
    }
}

fn message_id(at: At<'_, '_>) -> Option<Uuid7> {
    let help = "make a UUIDv7 and write it in lower case with hyphens";
    spelled(At { spec: "VCP 3.3", ..at }, Code::BadMessageId, help, Uuid7::parse)
}

fn signature(at: At<'_, '_>) -> Option<Signature> {
    let help = "write \"base64:\" and the 64 signature bytes, or leave it out and sign with `legation sign`";
    let parsed = at.node.text().map(|text| Signature::parse(&text));
    match parsed {
        Some(Ok(signature)) => Some(signature),
        Some(Err(error)) => At { spec: "VCP 7.1", ..at }.fail_with(Code::SignatureFormat, error.to_string(), help),
        None => any_text(at).and(None),
    }
}

fn sender(at: At<'_, '_>) -> Option<AgentId> {
    if at.node.text().is_some_and(|id| id.is_empty() || is_reserved(&id)) {
        let help = "send under the agent's own id, like agent://home.local/kitchen-agent";
        return At { spec: "Legation reserved names", ..at }.fail_with(
            Code::ReservedId,
            "no agent may send under this name",
            help,
        );
    }
    agent(at, EXAMPLE)
}

fn recipient(at: At<'_, '_>) -> Option<Recipient> {
    if at.node.is_text("broadcast") {
        return Some(Recipient::Broadcast);
    }
    let meant = at.node.text().is_some_and(|text| is_nearly_broadcast(&text));
    let help = if meant { "did you mean \"broadcast\"?" } else { EXAMPLE };
    if at.node.is_text("*") {
        let message = "no agent has this name, and it does not stand for all of them";
        return At { spec: "Legation reserved names", ..at }.fail_with(Code::ReservedId, message, help);
    }
    agent(at, help).map(Recipient::Agent)
}

/// What people write for everybody elsewhere. Here it would be the name of one agent.
fn is_nearly_broadcast(text: &str) -> bool {
    ["broadcast", "all", "*"].iter().any(|word| word.eq_ignore_ascii_case(text))
}

const EXAMPLE: &str = "write it like agent://home.local/kitchen-agent";

fn agent(at: At<'_, '_>, help: &'static str) -> Option<AgentId> {
    let At { node, out, .. } = at;
    let id = spelled(At { node, spec: "VCP 3.4", out: &mut *out }, Code::BadAgentId, EXAMPLE, AgentId::vcp)?;
    if !id.is_uri() {
        let message = if id.contains(':') {
            "a URI, but not agent://host/id"
        } else {
            "an opaque id means something only inside one process; an agent URI is better"
        };
        out.at(Code::OpaqueAgentId, node, "VCP 3.4", message).warning().help(help);
    }
    Some(id)
}

/// What sender, recipient and type say about each other.
fn judge_addresses(
    o: &mut Object<'_, '_>,
    kind: Option<Kind>,
    sender: Option<&AgentId>,
    recipient: Option<&Recipient>,
) {
    match recipient {
        Some(Recipient::Agent(to)) if sender == Some(to) => {
            o.wrong(Code::SelfAddressed, "recipient", "Legation self-addressing", "sender and recipient are the same")
                .help("name another agent");
        }
        Some(Recipient::Broadcast) => judge_broadcast(o, kind),
        Some(Recipient::Agent(_)) | None => {}
    }
}

fn judge_broadcast(o: &mut Object<'_, '_>, kind: Option<Kind>) {
    match kind {
        Some(Kind::ConstraintPropagate) => {
            o.wrong(Code::WrongDirection, "recipient", "VCP 4.3", "constraints go from a parent to one child")
                .help("send it to each child by its id");
        }
        Some(Kind::Escalation) => {
            let help = if is_ack(o) {
                "an acknowledgement goes to the one who escalated: send it there by its id"
            } else {
                "send it to the parent by its id"
            };
            o.wrong(Code::WrongDirection, "recipient", "VCP 4.4", "escalations go from a child to its parent")
                .help(help);
        }
        Some(Kind::ContextShare) => warn_of_private_state(o),
        Some(Kind::ConstitutionAnnounce) | None => {}
    }
}

/// Whether the payload claims to acknowledge an escalation.
fn is_ack(o: &Object<'_, '_>) -> bool {
    let member = |name| o.node.get("payload").and_then(|payload| payload.get(name));
    let unflagged = member("requires_ack").and_then(Node::boolean) == Some(false);
    unflagged && member("reason").and_then(Node::text).is_some_and(|reason| reason.starts_with("ACK:"))
}

fn warn_of_private_state(o: &mut Object<'_, '_>) {
    if let Some(state) = o.node.get("payload").and_then(|payload| payload.get("personal_state")) {
        let message = "personal state is private, and a broadcast goes to everybody";
        o.out
            .at(Code::PersonalStateBroadcast, state, "Legation personal state", message)
            .warning()
            .help("leave it out, or send it to one agent");
    }
}

#[cfg(test)]
mod tests {
    use super::Order;
    use crate::id::Uuid7;

    #[test]
    fn order_is_by_time_and_then_by_id() {
        let of = |unix_nanos, last: &str| {
            let id = Uuid7::parse(&format!("019502a4-7e5c-7000-8000-00000000000{last}")).unwrap();
            Order { unix_nanos, id }
        };
        assert!(of(1, "9") < of(2, "1"));
        assert!(of(1, "1") < of(1, "2"));
        assert_eq!(of(1, "1"), of(1, "1"));
    }
}
