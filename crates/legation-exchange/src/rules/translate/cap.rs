//! CAP's side. It knows neither acceptance nor refusal: who is handed a task has it, and an error gives it back.

use super::said::{Act, Said, Scene, filled, value};
use super::table::{self, About, InCap};
use crate::rules::cap::Answer;
use crate::rules::voice::IN_CAP;
use legation_protocol::cap::{Attachment, Body, ErrorCode, MAX_OBJECT, Message, TaskId};
use legation_protocol::id::AgentId;
use legation_protocol::vcp::Origin;
use serde_json::json;

/// What a message does.
pub(super) fn act(message: &Message, about: &About<'_>) -> Option<Act> {
    table::understood(|row| row.cap, about, |word| is(message, word))
}

fn is(message: &Message, word: InCap) -> bool {
    let body = &message.body;
    // A decision is neither talk nor a result.
    let is_said = matches!(body, Body::Message { .. }) && message.decision.is_none();
    match word {
        InCap::Delegation => matches!(body, Body::DelegationNotice { .. }),
        InCap::Inquiry => matches!(body, Body::OversightInquiry { .. }),
        InCap::Message => is_said && message.is_final != Some(true),
        InCap::Final => is_said && message.is_final == Some(true),
        InCap::Error(code) => matches!(body, Body::ErrorResponse { error_code, .. } if *error_code == code),
        InCap::AnyError => matches!(body, Body::ErrorResponse { .. }),
    }
}

pub(super) fn read(message: &Message, about: &About<'_>) -> Option<Said> {
    let act = act(message, about)?;
    let said = match &message.body {
        Body::DelegationNotice { context_summary } => Said::new(act, &**context_summary)
            .with("deadline", message.deadline.as_ref().and_then(value))
            .with("grants", message.grants.as_ref().and_then(value)),
        Body::Message { content } => Said::new(act, &**content),
        Body::ErrorResponse { error_code, error_message } => {
            Said::new(act, &**error_message).with("code", Some(json!(error_code.number().to_string())))
        }
        Body::OversightInquiry { inquiry } => Said::new(act, &**inquiry),
    };
    let attachments = message.attachments.as_ref().filter(|attachments| !attachments.is_empty());
    Some(said.with("attachments", attachments.and_then(value)))
}

pub(super) fn write(said: &Said, scene: &Scene, origin: &Origin) -> Option<legation_protocol::Message> {
    let task = scene.thread.clone().unwrap_or_else(|| task_of(scene.entry));
    let (task, from, to) = (TaskId::parse(&task).ok()?, AgentId::cap(IN_CAP).ok()?, AgentId::cap(&scene.to).ok()?);
    let text = |otherwise| filled(&said.text, otherwise);
    let mut message = match table::word_for(|row| row.cap, &scene.about(said), said.act)? {
        InCap::Delegation => Message::delegate(task, from, to, text("See the attachment.")),
        InCap::Inquiry => Message::inquire(task, from, to, text("See the attachment.")),
        InCap::Message => Message::say(task, from, to, content(said)),
        InCap::Final => Message { is_final: Some(true), ..Message::say(task, from, to, content(said)) },
        InCap::Error(code) => Message::fail(task, from, to, code, text(reason(said.act))),
        InCap::AnyError => return None,
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

/// What somebody's answer does to a task.
pub(super) fn answer(said: &Said, is_question: bool) -> Option<Answer> {
    if !said.act.answers() && said.act != Act::Talk {
        return None;
    }
    let about = About { answers: is_question, code: said.code(), ..About::default() };
    match table::word_for(|row| row.cap, &about, said.act)? {
        InCap::Final => Some(Answer::Result),
        InCap::Error(code) => Some(Answer::Error(code.number())),
        InCap::Message | InCap::Delegation | InCap::Inquiry => Some(Answer::Talk),
        InCap::AnyError => None,
    }
}

/// The code with which the exchange itself says an act, if it says it as an error.
pub(super) fn error(act: Act) -> Option<ErrorCode> {
    match table::word_for(|row| row.cap, &About::default(), act)? {
        InCap::Error(code) => Some(code),
        InCap::Message | InCap::Final | InCap::Delegation | InCap::Inquiry | InCap::AnyError => None,
    }
}

/// CAP has no word for an acceptance: it is put into words.
fn content(said: &Said) -> String {
    if said.act == Act::Accept {
        return format!("Accepted. {}", said.text).trim_end().to_owned();
    }
    said.text.clone()
}

/// The text of an error where whoever tells it has given none.
fn reason(act: Act) -> &'static str {
    match act {
        Act::Reject => "The task was refused.",
        Act::Puzzled => "It made no sense.",
        Act::Alarm(_) => "An alarm.",
        Act::Block => "Stop.",
        Act::Failure
        | Act::Ask
        | Act::Question
        | Act::Inquire
        | Act::Accept
        | Act::Result
        | Act::Cancel
        | Act::Talk
        | Act::Ack
        | Act::Rules => "It broke down.",
    }
}

fn attached(data: legation_protocol::json::Json) -> Attachment {
    if data.as_str().len() <= MAX_OBJECT {
        Attachment::python_object(data)
    } else {
        Attachment::text_snippet(data.as_str())
    }
}
