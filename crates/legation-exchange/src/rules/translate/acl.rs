//! The side of the ElizaOS agent language. It has no words for plain talk, alarms, rules and blocks.

use super::said::{Act, Said, Scene, filled, value};
use legation_protocol::acl::{
    Answering, Content, Failure, Head, InformResult, Message, MessageId, Misunderstanding, NotUnderstood, Ontology,
    Reply, TaskAccept, TaskReject, TaskRequest, TaskStatus, Term,
};
use legation_protocol::id::AgentId;
use legation_protocol::vcp::Origin;
use serde_json::{Value, json};

/// The term for a task that was asked for in another dialect.
const TASK: &str = "elizaos:ontology:general/task_request";

pub(super) fn read(message: &Message) -> Option<Said> {
    let about = Some(json!(message.ontology.as_str()));
    match &message.content {
        Content::TaskRequest(task) => Some(
            Said::new(Act::Ask, &*task.task_description)
                .with("task_type", Some(json!(task.task_type)))
                .with("task_parameters", Some(task.task_parameters.to_value()))
                .with("priority", task.priority.map(|priority| json!(priority.as_str())))
                .with("ontology", about),
        ),
        Content::QueryIf(query) => {
            let condition = query.condition.to_value();
            Some(Said::new(Act::Question, format!("Is this so? {condition}")).with("condition", Some(condition)))
        }
        Content::QueryRef(query) => {
            let text = format!("What is the value of {:?}?", query.reference);
            Some(Said::new(Act::Question, text).with("reference", Some(json!(query.reference))))
        }
        Content::TaskAccept(accept) => Some(
            Said::new(Act::Accept, accept.comments.clone().unwrap_or_default())
                .with("task_id_assigned", accept.task_id_assigned.as_ref().map(|id| json!(id)))
                .with("estimated_completion_time", accept.estimated_completion_time.as_ref().and_then(value)),
        ),
        Content::TaskReject(reject) => Some(
            Said::new(Act::Reject, reject.reason_text.clone().unwrap_or_default())
                .with("code", reject.reason_code.as_ref().map(|code| json!(code))),
        ),
        Content::InformResult(result) => Some(
            Said::new(Act::Result, &*result.result_summary)
                .with("task_status", Some(json!(result.task_status.as_str())))
                .with("result_details", Some(result.result_details.to_value()))
                .with("artifacts", result.artifacts.as_ref().and_then(value)),
        ),
        Content::Failure(failure) => Some(
            Said::new(Act::Failure, &*failure.error_text)
                .with("code", failure.error_code.as_ref().map(|code| json!(code))),
        ),
        Content::NotUnderstood(puzzled) => Some(
            Said::new(Act::Puzzled, puzzled.reason_text.clone().unwrap_or_default())
                .with("code", Some(json!(puzzled.reason_code.as_str()))),
        ),
        // Whoever asked takes it back by the rules of the language, which tell whoever was asked.
        Content::QueryCapabilities(_) | Content::InformCapabilities(_) | Content::Cancel(_) => None,
    }
}

/// What an answer to it is to carry, and the field it is in.
pub(super) fn marks(message: &legation_protocol::Message) -> (Option<String>, Option<String>) {
    match message {
        legation_protocol::Message::Acl(message) => {
            (message.reply_with.clone(), Some(message.ontology.as_str().to_owned()))
        }
        legation_protocol::Message::Vcp(_)
        | legation_protocol::Message::Cap(_)
        | legation_protocol::Message::Vlp(_) => (None, None),
    }
}

pub(super) fn write(said: &Said, scene: &Scene, origin: &Origin) -> Option<legation_protocol::Message> {
    let head = Head {
        message_id: MessageId::parse(&origin.message_id.to_string()).ok()?,
        sender: origin.sender.clone(),
        receiver: AgentId::named(&scene.to).ok()?,
        timestamp: origin.timestamp.clone(),
    };
    let mut message = if said.act == Act::Ask {
        let task = TaskRequest::new("delegated", filled(&said.text, "See the parameters."), said.details.clone());
        head.request_about(task, Ontology::parse(TASK).ok()?)
    } else {
        answered(said, scene, head)?
    };
    message.extra.insert("translated_from".to_owned(), scene.from.clone().into());
    Some(legation_protocol::Message::Acl(Box::new(message)))
}

fn answered(said: &Said, scene: &Scene, head: Head) -> Option<Message> {
    let text = |otherwise| filled(&said.text, otherwise);
    let code = said.code().map(str::to_owned);
    match said.act {
        Act::Accept => {
            let comments = Some(said.text.clone()).filter(|text| !text.is_empty());
            answer(head, scene, TaskAccept { comments, ..TaskAccept::default() })
        }
        Act::Reject => {
            let reason_text = Some(said.text.clone());
            answer(head, scene, TaskReject { reason_code: code, reason_text, ..TaskReject::default() })
        }
        Act::Result => {
            let message = answer(head, scene, result(said, scene))?;
            let field = field(scene, &message.ontology)?;
            Some(message.about(field))
        }
        Act::Failure => answer(head, scene, Failure { error_code: code, ..Failure::new(text("It broke down.")) }),
        Act::Puzzled => {
            let reason = Misunderstanding::from(code.unwrap_or_else(|| "not_understood".to_owned()));
            answer(head, scene, NotUnderstood::because(reason, text("It made no sense.")))
        }
        Act::Ask | Act::Question | Act::Inquire | Act::Talk | Act::Alarm(_) | Act::Ack | Act::Rules | Act::Block => {
            None
        }
    }
}

fn answer(head: Head, scene: &Scene, payload: impl Answering) -> Option<Message> {
    Reply::to(head, scene.refers_to.as_deref()?).with(payload).ok()
}

/// A question is answered by a value (section 4.4). Nobody else says whether a goal was reached.
fn result(said: &Said, scene: &Scene) -> InformResult {
    let mut details = said.details.clone();
    if scene.is_question && !details.contains_key("value") {
        let content = details.get("content").cloned();
        details.insert("value".to_owned(), content.unwrap_or_else(|| Value::String(said.text.clone())));
    }
    InformResult::new(TaskStatus::Success, filled(&said.text, "See the details."), details)
}

/// A result stays in the field it was asked for in.
fn field(scene: &Scene, own: &Ontology) -> Option<Ontology> {
    let asked = Ontology::parse(scene.ontology.as_deref()?).ok()?;
    Some(match asked.term() {
        Some(Term::DebugRequest) => own.clone(),
        Some(Term::RefactorRequest) => Term::RefactorSuggestion.into(),
        _ => asked,
    })
}
