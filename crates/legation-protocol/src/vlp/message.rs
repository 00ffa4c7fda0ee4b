//! The message (sections III and IV) and the truth rules (section VI).

use super::provenance::Provenance;
use super::safety::{Level, Safety};
use crate::code::Code;
use crate::finding::Findings;
use crate::id::{AgentId, is_reserved};
use crate::json::{Json, Kind as JsonKind, Node};
use crate::names::names;
use crate::read::{At, Extra, Object, json, text};
use crate::stamp::Timestamp;
use crate::wire::Wire;
use serde::Serialize;

/// What a message is (section IV).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A factual assertion or report of action.
    Claim,
    /// Sources for an earlier claim.
    Evidence,
    /// A question.
    Query,
    /// The answer to a query.
    Response,
    /// Mends an earlier message.
    Correction,
    /// Announces a condition.
    Notice,
    /// What a session leaves for the next.
    SessionContext,
}

names!(Kind {
    Claim = "claim",
    Evidence = "evidence",
    Query = "query",
    Response = "response",
    Correction = "correction",
    Notice = "notice",
    SessionContext = "session_context",
});

/// The one protocol version.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// `VLP/1.1`
    #[default]
    V1_1,
}

names!(Version { V1_1 = "VLP/1.1" });

/// A VLP message (section III). Members the spec does not define are kept in `extra`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// At least three characters.
    pub id: String,
    /// Always `VLP/1.1`.
    pub protocol: Version,
    /// What the message is.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// When it was made.
    pub timestamp: Timestamp,
    /// Who says it.
    pub sender: AgentId,
    /// A string or an object.
    pub content: Json,
    /// How sure the sender is, 0 to 1.
    pub confidence: f64,
    /// The session it belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Place in the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// Whom it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub receiver: Option<AgentId>,
    /// What it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub topic: Option<String>,
    /// Its sources (section X).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<Vec<Provenance>>,
    /// Behavioural constraints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub constraints: Option<Vec<Json>>,
    /// What its sender thinks of its risk (section V).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safety: Option<Safety>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What only the exchange may compute (section VII).
const METRICS: [&str; 4] = ["context_depth", "context_integrity", "context_debt", "gate"];

impl Wire for Message {
    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "VLP III", out }.object()?;
        let protocol = o.required("protocol", |at| at.named(Code::UnsupportedVersion));
        let kind = o.required("type", |at| at.named(Code::UnknownType));
        let id = o.required("id", text);
        let sender = o.required("sender", sender);
        let timestamp = o.required("timestamp", |at| at.parsed(Code::BadTimestamp, Timestamp::utc));
        let content = o.required("content", content);
        let confidence = o.required("confidence", |at| at.number(0.0, 1.0));
        let session_id = o.nullable("session_id", text);
        let seq = o.nullable("seq", |at| at.integer(0));
        let receiver = o.nullable("receiver", |at| at.parsed(Code::BadAgentId, AgentId::named));
        let topic = o.nullable("topic", text);
        let provenance = o.optional("provenance", |at| at.list(Provenance::read));
        let constraints = o.optional("constraints", |at| at.list(json));
        let safety = o.optional("safety", Safety::read);
        refuse_metrics(&mut o);
        let message = Message {
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
            extra: Extra::new(),
        };
        message.earns_its_confidence(&mut o);
        Some(Message { extra: o.extra(), ..message })
    }
}

fn sender(at: At<'_, '_>) -> Option<AgentId> {
    if at.node.text().is_some_and(|id| is_reserved(&id)) {
        return at.fail(Code::ReservedId, "no agent may send under this name");
    }
    at.parsed(Code::BadAgentId, AgentId::named)
}

fn content(at: At<'_, '_>) -> Option<Json> {
    match at.node.kind() {
        JsonKind::String | JsonKind::Object => json(at),
        other => at.fail(Code::SchemaInvalid, format!("expected a string or an object, found {}", other.noun())),
    }
}

fn refuse_metrics(o: &mut Object<'_, '_>) {
    for name in METRICS {
        if o.node.get(name).is_some() {
            o.wrong(Code::ReadOnlyField, name, "VLP VII", "only a validator sets this; a sender may not")
                .help("remove it");
        }
    }
}

impl Message {
    /// Rule 3: high confidence is earned by a source or by review.
    fn earns_its_confidence(&self, o: &mut Object<'_, '_>) {
        let sourced = self.provenance.as_ref().is_some_and(|list| !list.is_empty());
        let declared = self.safety.as_ref().map_or(Level::Safe, Safety::declared);
        if self.confidence < 0.9 || sourced || declared >= Level::Review {
            return;
        }
        let mut entered = o.wrong(
            Code::MissingProvenanceHighConfidence,
            "confidence",
            "VLP VI.3",
            "confidence of 0.9 or more needs a source, or review",
        );
        entered.help("add provenance, lower the confidence, or set safety.level to \"review\"");
        match self.kind {
            Kind::Query | Kind::Notice => {
                entered.warning();
            }
            Kind::Claim | Kind::Evidence | Kind::Response | Kind::Correction | Kind::SessionContext => {}
        }
    }
}
