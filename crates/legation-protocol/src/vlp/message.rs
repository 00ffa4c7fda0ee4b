//! The message (section III) and how it is read.

use super::confidence::Confidence;
use super::content::Content;
use super::id::{MessageId, SessionId};
use super::keyword;
use super::kind::{Kind, Version};
use super::provenance::Provenance;
use super::refers_to::RefersTo;
use super::safety::{Level, Safety};
use super::truth::{self, Facts};
use crate::code::Code;
use crate::finding::Findings;
use crate::id::{AgentId, is_reserved};
use crate::json::{Json, Kind as JsonKind, Node};
use crate::read::{At, Extra, Object, any_text, json, json_object};
use crate::stamp::Timestamp;
use crate::wire::Wire;
use serde::Serialize;

/// A VLP message (section III). Members the spec does not define are kept in `extra`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// At least three characters.
    pub id: MessageId,
    /// Always `VLP/1.1`.
    pub protocol: Version,
    /// What the message is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// When it was made.
    pub timestamp: Timestamp,
    /// Who says it.
    pub sender: AgentId,
    /// What it says.
    pub content: Content,
    /// How sure the sender is.
    pub confidence: Confidence,
    /// The session it belongs to (section VIII).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Place in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// Whom it is for. Never the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<AgentId>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Its sources (section X).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Vec<Provenance>>,
    /// Behavioural constraints, in whatever form the sender has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Vec<Json>>,
    /// What its sender thinks of its risk (section V).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<Safety>,
    /// The earlier messages it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refers_to: Option<RefersTo>,
    /// Words to find it by (section XI).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keywords: Option<Vec<String>>,
    /// Further data, an object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload: Option<Json>,
    /// Extension members, an object.
    #[serde(rename = "_extras", skip_serializing_if = "Option::is_none")]
    pub extras: Option<Json>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What only a validator may compute (section VII).
const METRICS: [&str; 4] = ["context_depth", "context_integrity", "context_debt", "gate"];

impl Wire for Message {
    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "VLP III", out }.object()?;
        let protocol = o.required("protocol", |at| at.named(Code::UnsupportedVersion));
        let kind = o.required("type", |at| at.named(Code::UnknownType));
        let id = o.required("id", message_id);
        let sender = o.required("sender", sender);
        let timestamp = o.required("timestamp", |at| filled(at, Code::BadTimestamp, Timestamp::utc));
        let content = o.required("content", Content::read);
        let confidence = o.required("confidence", Confidence::read);
        let session_id = o.nullable("session_id", session_id);
        let seq = o.nullable("seq", |at| at.integer(0));
        let receiver = o.nullable("receiver", |at| filled(at, Code::BadAgentId, AgentId::named));
        let topic = o.nullable("topic", any_text);
        let provenance = o.optional("provenance", |at| at.list(Provenance::read));
        let constraints = o.optional("constraints", |at| at.list(json));
        let safety = o.optional("safety", Safety::read);
        let refers_to = o.nullable("refers_to", |at| RefersTo::read(at, id.as_deref()));
        let keywords = o.optional("keywords", keyword::read);
        let payload = o.nullable("payload", json_object);
        let extras = o.optional("_extras", json_object);
        refuse_metrics(&mut o);
        refuse_talk_to_oneself(&mut o, sender.as_ref(), receiver.as_ref());
        recommend_metadata(&mut o, kind);
        let declared = declared(&o, safety.as_ref());
        truth::check(&mut o, &Facts { kind, confidence, declared });
        Some(Message {
            id: id?,
            protocol: protocol?,
            kind: kind?,
            timestamp: timestamp?,
            sender: sender?,
            content: content?,
            confidence: confidence?,
            session_id,
            seq,
            receiver,
            topic,
            provenance,
            constraints,
            safety,
            refers_to,
            keywords,
            payload,
            extras,
            extra: o.extra(),
        })
    }
}

impl Message {
    /// The id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Who says it.
    pub fn sender(&self) -> &AgentId {
        &self.sender
    }

    /// Whom it is for; without one, the parties of its session.
    pub fn recipient(&self) -> Option<&AgentId> {
        self.receiver.as_ref()
    }

    /// The name of its type.
    pub fn kind_name(&self) -> &'static str {
        self.kind.as_str()
    }

    /// The session it belongs to.
    pub fn thread(&self) -> Option<&str> {
        self.session_id.as_deref()
    }

    /// The ids of the messages it is about.
    pub fn references(&self) -> impl Iterator<Item = &str> {
        self.refers_to.iter().flat_map(RefersTo::ids)
    }

    /// When it was made.
    pub fn time(&self) -> &Timestamp {
        &self.timestamp
    }
}

fn message_id(at: At<'_, '_>) -> Option<MessageId> {
    let (node, out) = (at.node, at.out);
    let id = filled(At { node, spec: at.spec, out }, Code::BadMessageId, MessageId::parse)?;
    if !id.has_usual_form() {
        out.at(Code::MessageIdForm, node, "VLP VIII", "message ids usually read PREFIX-session-0001")
            .help("write it like CLM-abc123-0001, or MSG001")
            .warning();
    }
    Some(id)
}

fn session_id(at: At<'_, '_>) -> Option<SessionId> {
    let (node, out) = (at.node, at.out);
    let id = filled(At { node, spec: at.spec, out }, Code::SchemaInvalid, SessionId::parse)?;
    if !id.has_usual_form() {
        out.at(Code::SessionIdForm, node, "VLP VIII", "session ids usually read S-date-agent-shortid")
            .help("write it like S-2025-01-04-observer-abc123")
            .warning();
    }
    Some(id)
}

fn sender(at: At<'_, '_>) -> Option<AgentId> {
    if at.node.text().is_some_and(|id| is_reserved(&id)) {
        let at = At { spec: "Legation reserved ids", ..at };
        return at.fail_with(Code::ReservedId, "no agent may send under this name", "send under the agent's own name");
    }
    filled(at, Code::BadAgentId, AgentId::named)
}

/// A string with something in it that `parse` takes.
pub(super) fn filled<T, E: std::fmt::Display>(
    at: At<'_, '_>,
    code: Code,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Option<T> {
    if at.node.is_text("") {
        return at.fail(Code::SchemaInvalid, "must not be empty");
    }
    at.parsed(code, parse)
}

/// What the sender declares; `None` when its `safety` cannot be read.
fn declared(o: &Object<'_, '_>, safety: Option<&Safety>) -> Option<Level> {
    match safety {
        Some(safety) => Some(safety.declared()),
        None if o.node.get("safety").is_none() => Some(Level::Safe),
        None => None,
    }
}

fn refuse_talk_to_oneself(o: &mut Object<'_, '_>, sender: Option<&AgentId>, receiver: Option<&AgentId>) {
    if sender.is_some() && sender == receiver {
        o.wrong(Code::SelfAddressed, "receiver", "Legation self-addressing", "an agent does not speak to itself")
            .help("name the agent this is for, or leave the receiver out");
    }
}

fn refuse_metrics(o: &mut Object<'_, '_>) {
    for name in METRICS {
        if o.has_unknown(name) {
            o.wrong(Code::ReadOnlyField, name, "VLP VII", "only a validator sets this; a sender may not")
                .help("remove it");
        }
    }
}

/// Section IV: a session context has its metadata in the payload. A payload of the wrong type has been told so.
fn recommend_metadata(o: &mut Object<'_, '_>, kind: Option<Kind>) {
    let payload = o.node.get("payload");
    let told = payload.is_some_and(|p| !matches!(p.kind(), JsonKind::Object | JsonKind::Null));
    let empty = payload.is_none_or(|p| p.members().next().is_none());
    if kind == Some(Kind::SessionContext) && empty && !told {
        o.wrong(
            Code::SessionMetadataMissing,
            "payload",
            "VLP IV session_context",
            "a session context has its metadata in payload",
        )
        .help("say in payload what was completed and what is pending")
        .warning();
    }
}
