//! VLP's side. It asks and answers; what is neither is a notice, whose topic tells what it does to a task.

use super::said::{Act, Said, Scene, value};
use legation_protocol::id::AgentId;
use legation_protocol::json::Json;
use legation_protocol::vcp::{Origin, Severity};
use legation_protocol::vlp::{
    Confidence, Content, Header, Issue, Kind, Level, Message, MessageId, Provenance, Reference, Safety, SessionId,
    SourceKind,
};
use serde_json::{Value, json};

/// The topics of notices about a task.
const TOPICS: [(&str, Act); 4] = [
    ("task_accepted", Act::Accept),
    ("task_rejected", Act::Reject),
    ("task_failed", Act::Failure),
    ("not_understood", Act::Puzzled),
];

/// The topic of a notice that a task is taken back. Only the exchange says it: nobody takes one back in VLP.
const CANCELLED: &str = "task_cancelled";

/// Who does not say how sure it is, is not sure.
const UNSAID: f64 = 0.5;

pub(super) fn read(message: &Message) -> Option<Said> {
    let act = match message.kind {
        // Whatever it says beside: it stops what follows.
        _ if message.judged().declared == Level::Block => Act::Block,
        Kind::Query => Act::Ask,
        Kind::Response => Act::Result,
        Kind::Notice => about_a_task(message.topic.as_deref()).unwrap_or(Act::Talk),
        Kind::Claim | Kind::Evidence | Kind::Correction | Kind::SessionContext => return None,
    };
    let (text, content) = match &message.content {
        Content::Text(text) => (text.clone(), None),
        Content::Object(object) => (object.as_str().to_owned(), Some(object.to_value())),
    };
    let (payload, code) = (message.payload.as_ref().map(Json::to_value), &message.safety);
    let code = code.as_ref().and_then(|safety| safety.issues.iter().flatten().next());
    Some(
        Said::new(act, text)
            .with("content", content)
            .with("payload", payload.filter(|payload| !payload.is_null()))
            .with("confidence", value(&message.confidence).filter(|_| act == Act::Result))
            .with("provenance", message.provenance.as_ref().and_then(value))
            .with("constraints", message.constraints.as_ref().and_then(value))
            .with("code", code.map(|issue| json!(issue.code))),
    )
}

fn about_a_task(topic: Option<&str>) -> Option<Act> {
    TOPICS.into_iter().find(|(name, _)| Some(*name) == topic).map(|(_, act)| act)
}

pub(super) fn write(said: &Said, scene: &Scene, origin: &Origin) -> Option<legation_protocol::Message> {
    let kind = match said.act {
        Act::Ask | Act::Question | Act::Inquire => Kind::Query,
        Act::Result => Kind::Response,
        Act::Ack | Act::Block => return None,
        Act::Accept | Act::Reject | Act::Failure | Act::Puzzled | Act::Talk | Act::Alarm(_) | Act::Rules => {
            Kind::Notice
        }
    };
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
        topic: topic(said.act).map(str::to_owned),
        refers_to: answered.map(|id| legation_protocol::vlp::RefersTo::One(id.to_string())),
        provenance: Some(vec![source(scene)]),
        constraints,
        safety: safety(said),
        payload: (!details.is_empty()).then(|| Value::Object(details).into()),
        extras: Some(json!({ "translated_from": scene.from }).into()),
        ..message
    };
    Some(legation_protocol::Message::Vlp(Box::new(message)))
}

/// A notice that nobody waits any more.
pub(super) fn take_back(said: &Said, scene: &Scene, origin: &Origin) -> Option<legation_protocol::Message> {
    let mut message = write(said, scene, origin)?;
    if let legation_protocol::Message::Vlp(message) = &mut message {
        message.topic = Some(CANCELLED.to_owned());
    }
    Some(message)
}

fn topic(act: Act) -> Option<&'static str> {
    match act {
        Act::Alarm(_) => Some("escalation"),
        Act::Rules => Some("constraints"),
        Act::Ask
        | Act::Question
        | Act::Inquire
        | Act::Accept
        | Act::Reject
        | Act::Result
        | Act::Failure
        | Act::Puzzled
        | Act::Talk
        | Act::Ack
        | Act::Block => TOPICS.into_iter().find(|(_, own)| *own == act).map(|(name, _)| name),
    }
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

/// An emergency stops what follows, and a critical alarm asks for a person; it does not wait for one.
fn safety(said: &Said) -> Option<Safety> {
    let (level, code) = match said.act {
        Act::Alarm(severity @ Severity::Emergency) => (Level::Block, format!("escalation_{severity}")),
        Act::Alarm(severity @ Severity::Critical) => (Level::Review, format!("escalation_{severity}")),
        Act::Alarm(severity @ (Severity::Info | Severity::Warning)) => (Level::Safe, format!("escalation_{severity}")),
        Act::Reject | Act::Failure | Act::Puzzled => (Level::Safe, said.code()?.to_owned()),
        Act::Ask
        | Act::Question
        | Act::Inquire
        | Act::Accept
        | Act::Result
        | Act::Talk
        | Act::Ack
        | Act::Rules
        | Act::Block => {
            return None;
        }
    };
    Some(Safety { issues: Some(vec![Issue::new(code, &*said.text)]), ..Safety::at(level) })
}
