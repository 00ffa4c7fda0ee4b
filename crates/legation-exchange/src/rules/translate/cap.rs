//! CAP's side. It knows neither acceptance nor refusal: who is handed a task has it, and an error gives it back.

use super::said::{Act, Said, Scene, filled, value};
use crate::rules::voice::IN_CAP;
use legation_protocol::cap::{Attachment, Body, ErrorCode, MAX_OBJECT, Message, TaskId};
use legation_protocol::id::AgentId;
use legation_protocol::vcp::{Origin, Severity};
use serde_json::json;

pub(super) fn read(message: &Message) -> Option<Said> {
    let said = match &message.body {
        Body::DelegationNotice { context_summary } => Said::new(Act::Ask, &**context_summary)
            .with("deadline", message.deadline.as_ref().and_then(value))
            .with("grants", message.grants.as_ref().and_then(value)),
        Body::Message { .. } if message.decision.is_some() => return None,
        Body::Message { content } if message.is_final == Some(true) => Said::new(Act::Result, &**content),
        Body::Message { content } => Said::new(Act::Talk, &**content),
        Body::ErrorResponse { error_code, error_message } => {
            Said::new(Act::Failure, &**error_message).with("code", Some(json!(error_code.number().to_string())))
        }
        Body::OversightInquiry { inquiry } => Said::new(Act::Inquire, &**inquiry),
    };
    let attachments = message.attachments.as_ref().filter(|attachments| !attachments.is_empty());
    Some(said.with("attachments", attachments.and_then(value)))
}

pub(super) fn write(said: &Said, scene: &Scene, origin: &Origin) -> Option<legation_protocol::Message> {
    let task = scene.thread.clone().unwrap_or_else(|| task_of(scene.entry));
    let (task, from, to) = (TaskId::parse(&task).ok()?, AgentId::cap(IN_CAP).ok()?, AgentId::cap(&scene.to).ok()?);
    let text = |otherwise| filled(&said.text, otherwise);
    let mut message = match said.act {
        Act::Ask => Message::delegate(task, from, to, text("See the attachment.")),
        Act::Question | Act::Talk | Act::Alarm(Severity::Info | Severity::Warning) => {
            Message::say(task, from, to, &*said.text)
        }
        Act::Inquire => Message::inquire(task, from, to, text("See the attachment.")),
        // What answers a question finishes no task.
        Act::Result if scene.is_question => Message::say(task, from, to, &*said.text),
        Act::Accept => Message::say(task, from, to, format!("Accepted. {}", said.text).trim_end()),
        Act::Result => Message { is_final: Some(true), ..Message::say(task, from, to, &*said.text) },
        Act::Reject => Message::fail(task, from, to, refusal(said.code()), text("The task was refused.")),
        Act::Failure => Message::fail(task, from, to, ErrorCode::Internal, text("It broke down.")),
        Act::Puzzled => Message::fail(task, from, to, ErrorCode::BadRequest, text("It made no sense.")),
        // Whoever raises a grave alarm is stopped by it.
        Act::Alarm(Severity::Critical | Severity::Emergency) => {
            Message::fail(task, from, to, ErrorCode::Locked, text("An alarm."))
        }
        // And whatever a block concerns.
        Act::Block => Message::fail(task, from, to, ErrorCode::Locked, text("Stop.")),
        Act::Ack | Act::Rules => return None,
    };
    message.message_id = Some(origin.message_id.to_string());
    message.timestamp = Some(origin.timestamp.clone());
    message.attachments = said.data().map(|data| vec![attached(data)]);
    message.extra.insert("translated_from".to_owned(), scene.from.clone().into());
    Some(legation_protocol::Message::Cap(Box::new(message)))
}

/// The task that the exchange opens for what is asked in this entry.
pub(super) fn task_of(entry: u64) -> String {
    format!("legation-{entry}")
}

/// What a refusal asks of whoever handed the task on: wait, ask for a right, or give it to somebody else.
pub(super) fn refusal(code: Option<&str>) -> ErrorCode {
    match code {
        Some("busy") => ErrorCode::Unavailable,
        Some("unauthorized") => ErrorCode::Forbidden,
        Some(_) | None => ErrorCode::NotFound,
    }
}

fn attached(data: legation_protocol::json::Json) -> Attachment {
    if data.as_str().len() <= MAX_OBJECT {
        Attachment::python_object(data)
    } else {
        Attachment::text_snippet(data.as_str())
    }
}
