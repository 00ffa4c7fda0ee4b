//! VLP's side. It asks and answers; what is neither is a notice, whose topic tells what it does to a task.

use super::said::{Act, Said, Scene, value};
use super::table::{self, About, InVlp};
use legation_protocol::id::AgentId;
use legation_protocol::json::Json;
use legation_protocol::vcp::Origin;
use legation_protocol::vlp::{
    Confidence, Content, Header, Issue, Kind, Level, Message, MessageId, Provenance, Reference, Safety, SessionId,
    SourceKind,
};
use serde_json::{Value, json};

/// Who does not say how sure it is, is not sure.
const UNSAID: f64 = 0.5;

/// Whether a message does this.
pub(super) fn does(message: &Message, act: Act, about: &About<'_>) -> bool {
    table::does(act, |row| row.vlp, about, |word| is(message, word))
}

fn is(message: &Message, InVlp { kind, topic, level }: InVlp) -> bool {
    let declared = || message.safety.as_ref().map_or(Level::Safe, Safety::declared);
    kind.is_none_or(|kind| kind == message.kind)
        && topic.is_none_or(|topic| message.topic.as_deref() == Some(topic))
        && level.is_none_or(|level| level == declared())
}

pub(super) fn read(message: &Message, about: &About<'_>) -> Option<Said> {
    let act = table::understood(|row| row.vlp, about, |word| is(message, word))?;
    let (text, content) = match &message.content {
        Content::Text(text) => (text.clone(), None),
        Content::Object(object) => (object.as_str().to_owned(), Some(object.to_value())),
    };
    let (payload, code) = (message.payload.as_ref().map(Json::to_value), &message.safety);
    let code = code.as_ref().and_then(|safety| safety.issues.iter().flatten().next());
    // Of a notice nobody is told how sure it is.
    let answers = act == Act::Result && message.kind == Kind::Response;
    Some(
        Said::new(act, text)
            .with("content", content)
            .with("payload", payload.filter(|payload| !payload.is_null()))
            .with("confidence", value(&message.confidence).filter(|_| answers))
            .with("provenance", message.provenance.as_ref().and_then(value))
            .with("constraints", message.constraints.as_ref().and_then(value))
            .with("code", code.map(|issue| json!(issue.code))),
    )
}

pub(super) fn write(said: &Said, scene: &Scene, origin: &Origin) -> Option<legation_protocol::Message> {
    let InVlp { kind, topic, level } = table::word_for(|row| row.vlp, &scene.about(said), said.act)?;
    let kind = kind?;
    let header = Header {
        id: MessageId::parse(&format!("{}-{}", kind.prefix(), origin.message_id)).ok()?,
        timestamp: origin.timestamp.clone(),
        sender: origin.sender.clone(),
    };
    let answered = scene.refers_to.as_deref().map(MessageId::parse).transpose().ok()?;
    let message = match kind {
        Kind::Query => Message::query(header, &*said.text),
        Kind::Response => Message::response(header, &*said.text, Confidence::new(UNSAID)?, answered.as_ref()?, vec![]),
        Kind::Notice => Message::notice(header, &*said.text, Confidence::CERTAIN),
        Kind::Claim | Kind::Evidence | Kind::Correction | Kind::SessionContext => return None,
    };
    let mut details = said.details.clone();
    let constraints = details.remove("constraints").and_then(|constraints| match constraints {
        Value::Array(constraints) => Some(constraints.into_iter().map(Json::from).collect()),
        _ => None,
    });
    let message = Message {
        receiver: Some(AgentId::named(&scene.to).ok()?),
        session_id: scene.thread.as_deref().map(SessionId::parse).transpose().ok()?,
        topic: topic.map(str::to_owned),
        refers_to: answered.map(|id| legation_protocol::vlp::RefersTo::One(id.to_string())),
        provenance: Some(vec![source(scene)]),
        constraints,
        safety: safety(said, level),
        payload: (!details.is_empty()).then(|| Value::Object(details).into()),
        extras: Some(json!({ "translated_from": scene.from }).into()),
        ..message
    };
    Some(legation_protocol::Message::Vlp(Box::new(message)))
}

/// The original, by id and digest.
fn source(scene: &Scene) -> Provenance {
    Provenance::Reference(Reference {
        target: scene.id.clone(),
        kind: Some(SourceKind::Document.as_str().to_owned()),
        hash: scene.digest.clone(),
        ..Reference::default()
    })
}

/// How grave it is, and why, with a code for programs. Where neither is told, nothing is.
fn safety(said: &Said, level: Option<Level>) -> Option<Safety> {
    let code = match said.act {
        Act::Alarm(severity) => Some(format!("escalation_{severity}")),
        Act::Reject | Act::Failure | Act::Puzzled => said.code().map(str::to_owned),
        Act::Ask
        | Act::Question
        | Act::Inquire
        | Act::Accept
        | Act::Result
        | Act::Cancel
        | Act::Talk
        | Act::Ack
        | Act::Rules
        | Act::Block => None,
    };
    let issues = code.map(|code| vec![Issue::new(code, &*said.text)]);
    let level = level.or(issues.is_some().then_some(Level::Safe))?;
    Some(Safety { issues, ..Safety::at(level) })
}
