//! The wrapper all messages share (section 3).

use super::content::Content;
use super::language::Language;
use super::ontology::Ontology;
use super::performative::Performative;
use crate::code::Code;
use crate::finding::Findings;
use crate::id::{AgentId, is_reserved, legible, parse_hyphenated};
use crate::json::Node;
use crate::names::names;
use crate::read::{At, Extra, Object, json_object, text};
use crate::stamp::Timestamp;
use crate::wire::Wire;
use serde::Serialize;
use std::fmt;
use uuid::Uuid;

/// The one version of the language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// `0.1.0`
    #[default]
    V0_1_0,
}

names!(Version { V0_1_0 = "0.1.0" });

/// A UUID with hyphens, of any version and in either case, as written (section 3).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct MessageId(Box<str>);

/// Why a text is no message id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message id is a UUID with hyphens, like 5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10")]
pub struct BadMessageId;

impl MessageId {
    /// Reads an id.
    pub fn parse(text: &str) -> Result<MessageId, BadMessageId> {
        parse_hyphenated(text).map(|_| MessageId(text.into())).ok_or(BadMessageId)
    }

    /// Whether `text` is this id, in whichever case.
    pub fn is(&self, text: &str) -> bool {
        self.0.eq_ignore_ascii_case(text)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<Uuid> for MessageId {
    fn from(id: Uuid) -> Self {
        MessageId(id.hyphenated().to_string().into())
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// One side of a message (section 3).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Party {
    /// The agent, or a group of agents that is spoken to.
    pub agent_id: AgentId,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl From<AgentId> for Party {
    fn from(agent_id: AgentId) -> Self {
        Party { agent_id, extra: Extra::new() }
    }
}

/// An ACL message (section 3). Members the spec does not define are kept in `extra`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// Always `0.1.0`.
    pub mcp_version: Version,
    /// Names this message and no other.
    pub message_id: MessageId,
    /// Who speaks.
    pub sender: Party,
    /// Who is spoken to.
    pub receiver: Party,
    /// The message answered: its `message_id`, or its `reply_with`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub in_reply_to: Option<String>,
    /// What an answer is to have in `in_reply_to`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reply_with: Option<String>,
    /// In what the payload is written.
    pub language: Language,
    /// What the payload is about.
    pub ontology: Ontology,
    /// When it was made.
    pub timestamp: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub content: Content,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Message {
    /// The communicative act.
    pub const fn performative(&self) -> Performative {
        self.content.performative()
    }

    /// The name of the communicative act.
    pub const fn kind_name(&self) -> &'static str {
        self.performative().as_str()
    }

    /// The message it answers: a UUID in lower case, or a `reply_with` as it is.
    pub fn refers_to(&self) -> Option<String> {
        let named = self.in_reply_to.as_deref()?;
        let is_uuid = parse_hyphenated(named).is_some();
        Some(if is_uuid { named.to_ascii_lowercase() } else { named.to_owned() })
    }

    /// The message under another ontology term.
    #[must_use]
    pub fn about(mut self, ontology: impl Into<Ontology>) -> Self {
        self.ontology = ontology.into();
        self
    }

    /// The message with an identifier its answer is to carry.
    #[must_use]
    pub fn reply_with(mut self, identifier: impl Into<String>) -> Self {
        self.reply_with = Some(identifier.into());
        self
    }
}

impl Wire for Message {
    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "ACL 3", out }.object()?;
        let mcp_version = o.required("mcp_version", |at| filled(at, |at| at.named(Code::UnsupportedVersion)));
        let message_id = o.required("message_id", |at| checked(at, Code::BadMessageId, MessageId::parse, UUID));
        let performative = o.required("performative", |at| filled(at, performative));
        let sender = o.required("sender", |at| party(at, sender_id));
        let receiver = o.required("receiver", |at| party(at, agent_id));
        let in_reply_to = o.nullable("in_reply_to", identifier);
        let reply_with = o.nullable("reply_with", identifier);
        let language = o.required("language", |at| checked(at, Code::BadLanguage, Language::parse, LANGUAGE));
        let ontology = o.required("ontology", ontology);
        let timestamp = o.required("timestamp", |at| checked(at, Code::BadTimestamp, Timestamp::utc, TIME));
        let content = o.required("payload", |at| match performative {
            Some(performative) => Content::read(performative, at),
            None => json_object(at).and(None),
        });
        says_what_it_answers(performative, &mut o);
        answers_another(message_id.as_ref(), in_reply_to.as_deref(), &mut o);
        speaks_to_another(sender.as_ref(), receiver.as_ref(), &mut o);
        Some(Message {
            mcp_version: mcp_version?,
            message_id: message_id?,
            sender: sender?,
            receiver: receiver?,
            in_reply_to,
            reply_with,
            language: language?,
            ontology: ontology?,
            timestamp: timestamp?,
            content: content?,
            extra: o.extra(),
        })
    }
}

const UUID: &str = "make a new UUID for every message";
const LANGUAGE: &str = "write \"application/json\" for data, or a tag such as \"en\" or \"pt-BR\" for prose";
const TIME: &str = "write the time in UTC, with Z or +00:00 at its end";

/// A string with something in it, read by `read`.
fn filled<T>(at: At<'_, '_>, read: impl FnOnce(At<'_, '_>) -> Option<T>) -> Option<T> {
    if at.node.is_text("") { at.fail(Code::SchemaInvalid, "must not be empty") } else { read(at) }
}

/// A string with something in it that `parse` takes.
fn checked<T, E: fmt::Display>(
    at: At<'_, '_>,
    code: Code,
    parse: impl FnOnce(&str) -> Result<T, E>,
    help: &'static str,
) -> Option<T> {
    match at.node.text() {
        Some(written) if !written.is_empty() => match parse(&written) {
            Ok(value) => Some(value),
            Err(error) => at.fail_with(code, error.to_string(), help),
        },
        _ => text(at).and(None),
    }
}

/// An id that its maker may choose freely: it has to be told from others, no more.
pub(super) fn identifier(at: At<'_, '_>) -> Option<String> {
    const SHORT: &str = "use a short id that can be seen, such as a UUID or \"debug-1\"";
    // What is no text, or is empty, breaks the section read by; only the form is a rule of our own.
    let spec = if at.node.text().is_some_and(|id| !id.is_empty()) { "Legation message ids" } else { at.spec };
    checked(At { spec, ..at }, Code::BadMessageId, |id| legible(id).map(|()| id.to_owned()), SHORT)
}

fn performative(at: At<'_, '_>) -> Option<Performative> {
    let name = at.node.text();
    let spec = if name.is_some() { "ACL 4" } else { at.spec };
    // What is only planned is an error here too, but the rest of it can be read.
    let planned = name.and_then(|name| Performative::named(&name));
    At { spec, ..at }.named(Code::UnknownPerformative).or(planned)
}

fn party(at: At<'_, '_>, id: impl FnOnce(At<'_, '_>) -> Option<AgentId>) -> Option<Party> {
    if at.node.text().is_some() {
        let help = "write {\"agent_id\": …} around the name";
        return at.fail_with(Code::SchemaInvalid, "an agent is named by an object, not by a string", help);
    }
    let mut o = at.object()?;
    let agent_id = o.required("agent_id", id);
    Some(Party { agent_id: agent_id?, extra: o.extra() })
}

fn sender_id(at: At<'_, '_>) -> Option<AgentId> {
    if at.node.text().is_some_and(|id| is_reserved(&id)) {
        let help = "send under the agent's own id";
        let at = At { spec: "Legation reserved ids", ..at };
        return at.fail_with(Code::ReservedId, "no agent may send under this name", help);
    }
    agent_id(at)
}

fn agent_id(at: At<'_, '_>) -> Option<AgentId> {
    checked(at, Code::BadAgentId, AgentId::named, "use the id the agent is registered under")
}

fn ontology(at: At<'_, '_>) -> Option<Ontology> {
    const STRUCTURE: &str = "write elizaos:ontology:<domain>/<subdomain>/<concept>";
    let Some(written) = at.node.text() else { return text(at).and(None) };
    match Ontology::parse(&written) {
        Ok(term) => {
            if term.parts().is_none() {
                let off = "this term is off the proposed structure, so that others may not know it";
                at.out.at(Code::OntologyForm, at.node, "ACL 5", off).help(STRUCTURE).warning();
            }
            Some(term)
        }
        Err(error) => at.fail_with(Code::BadOntology, error.to_string(), STRUCTURE),
    }
}

fn says_what_it_answers(performative: Option<Performative>, o: &mut Object<'_, '_>) {
    let Some(act) = performative.filter(|act| act.is_answer()) else { return };
    if o.node.get("in_reply_to").is_none_or(Node::is_null) {
        let (message, answered) = (format!("{act} has to say what it answers"), act.answered_noun());
        o.wrong(Code::InReplyToMissing, "in_reply_to", act.section(), message)
            .help(format!("add \"in_reply_to\" with the message_id of the {answered} it answers"));
    }
}

/// Whoever follows replies would never come to an end.
fn answers_another(own: Option<&MessageId>, answered: Option<&str>, o: &mut Object<'_, '_>) {
    if own.zip(answered).is_some_and(|(own, answered)| own.is(answered)) {
        o.wrong(Code::Cycle, "in_reply_to", "Legation replies", "a message does not answer itself")
            .help("name the message it answers, and make a new message_id for every message");
    }
}

fn speaks_to_another(sender: Option<&Party>, receiver: Option<&Party>, o: &mut Object<'_, '_>) {
    let same = sender.zip(receiver).is_some_and(|(from, to)| from.agent_id == to.agent_id);
    let place = o.node.get("receiver").and_then(|receiver| receiver.get("agent_id"));
    if let Some(node) = place.filter(|_| same) {
        o.out
            .at(Code::SelfAddressed, node, "Legation self-addressing", "an agent does not write to itself")
            .help("name another agent as receiver");
    }
}
