//! The side of the ElizaOS agent language. It has no words for plain talk, alarms, rules and blocks.

use super::said::{Said, Scene, filled, value};
use super::table::{self, About};
use crate::rules::acl::Step;
use legation_protocol::acl::{
    Answering, Content, Failure, Head, InformResult, Message, MessageId, Misunderstanding, NotUnderstood, Ontology,
    Performative, Reply, TaskAccept, TaskReject, TaskRequest, TaskStatus, Term,
};
use legation_protocol::id::AgentId;
use legation_protocol::vcp::Origin;
use serde_json::{Value, json};

/// The term for a task that was asked for in another dialect.
const TASK: &str = "elizaos:ontology:general/task_request";

pub(super) fn read(message: &Message, about: &About<'_>) -> Option<Said> {
    let act = table::understood(|row| row.acl, about, |word| word == message.performative())?;
    Some(match &message.content {
        Content::TaskRequest(task) => Said::new(act, &*task.task_description)
            .with("task_type", Some(json!(task.task_type)))
            .with("task_parameters", Some(task.task_parameters.to_value()))
            .with("priority", task.priority.map(|priority| json!(priority.as_str())))
            .with("ontology", Some(json!(message.ontology.as_str()))),
        Content::QueryIf(query) => {
            let condition = query.condition.to_value();
            Said::new(act, format!("Is this so? {condition}")).with("condition", Some(condition))
        }
        Content::QueryRef(query) => {
            let text = format!("What is the value of {:?}?", query.reference);
            Said::new(act, text).with("reference", Some(json!(query.reference)))
        }
        Content::TaskAccept(accept) => Said::new(act, accept.comments.clone().unwrap_or_default())
            .with("task_id_assigned", accept.task_id_assigned.as_ref().map(|id| json!(id)))
            .with("estimated_completion_time", accept.estimated_completion_time.as_ref().and_then(value)),
        Content::TaskReject(reject) => Said::new(act, reject.reason_text.clone().unwrap_or_default())
            .with("code", reject.reason_code.as_ref().map(|code| json!(code))),
        Content::InformResult(result) => Said::new(act, &*result.result_summary)
            .with("task_status", Some(json!(result.task_status.as_str())))
            .with("result_details", Some(result.result_details.to_value()))
            .with("artifacts", result.artifacts.as_ref().and_then(value)),
        Content::Failure(failure) => {
            Said::new(act, &*failure.error_text).with("code", failure.error_code.as_ref().map(|code| json!(code)))
        }
        Content::NotUnderstood(puzzled) => Said::new(act, puzzled.reason_text.clone().unwrap_or_default())
            .with("code", Some(json!(puzzled.reason_code.as_str()))),
        // In words of our own: they need no look.
        Content::Cancel(_) => Said::new(act, "Nobody waits for an answer to this any more."),
        // What an agent can do is told to whoever speaks the language.
        Content::QueryCapabilities(_) | Content::InformCapabilities(_) => return None,
    })
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
    let mut message = worded(said, scene, head)?;
    message.extra.insert("translated_from".to_owned(), scene.from.clone().into());
    Some(legation_protocol::Message::Acl(Box::new(message)))
}

fn worded(said: &Said, scene: &Scene, head: Head) -> Option<Message> {
    let text = |otherwise| filled(&said.text, otherwise);
    let code = said.code().map(str::to_owned);
    match table::word_for(|row| row.acl, &scene.about(said), said.act)? {
        Performative::TaskRequest => {
            let task = TaskRequest::new("delegated", text("See the parameters."), said.details.clone());
            Some(head.request_about(task, Ontology::parse(TASK).ok()?))
        }
        Performative::TaskAccept => {
            let comments = Some(said.text.clone()).filter(|text| !text.is_empty());
            answer(head, scene, TaskAccept { comments, ..TaskAccept::default() })
        }
        Performative::TaskReject => {
            let reason_text = Some(said.text.clone());
            answer(head, scene, TaskReject { reason_code: code, reason_text, ..TaskReject::default() })
        }
        Performative::InformResult => {
            let message = answer(head, scene, result(said, scene))?;
            let field = field(scene, &message.ontology)?;
            Some(message.about(field))
        }
        Performative::Failure => {
            answer(head, scene, Failure { error_code: code, ..Failure::new(text("It broke down.")) })
        }
        Performative::NotUnderstood => {
            let reason = Misunderstanding::from(code.unwrap_or_else(|| "not_understood".to_owned()));
            answer(head, scene, NotUnderstood::because(reason, text("It made no sense.")))
        }
        // What these want cannot be told from what others say.
        Performative::QueryIf
        | Performative::QueryRef
        | Performative::QueryCapabilities
        | Performative::InformCapabilities
        | Performative::Cancel => None,
    }
}

/// What somebody's answer does to a conversation of the language.
pub(super) fn step(said: &Said) -> Option<Step> {
    let about = About { code: said.code(), ..About::default() };
    match table::word_for(|row| row.acl, &about, said.act)? {
        Performative::TaskAccept => Some(Step::Accept),
        Performative::TaskReject => Some(Step::Reject),
        Performative::InformResult => Some(Step::Result),
        Performative::Failure => Some(Step::Failure),
        Performative::NotUnderstood => Some(Step::NotUnderstood),
        Performative::TaskRequest
        | Performative::QueryIf
        | Performative::QueryRef
        | Performative::QueryCapabilities
        | Performative::InformCapabilities
        | Performative::Cancel => None,
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
