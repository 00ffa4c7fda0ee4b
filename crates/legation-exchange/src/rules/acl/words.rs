//! What the exchange says in the ElizaOS agent language: always an answer, as itself.

use crate::agent::Agent;
use crate::rules::Ruling;
use crate::rules::voice::name_in;
use legation_protocol::acl::{
    Answering, Capabilities, Failure, Head, InformCapabilities, MessageId, Misunderstanding, NotUnderstood, Reply,
    TaskReject,
};
use legation_protocol::id::AgentId;
use legation_protocol::json::Json;
use legation_protocol::{Format, Message};
use serde_json::Value;

impl Ruling {
    /// Answers a message of an agent.
    pub(crate) fn reply(&mut self, agent: &Agent, about: &str, payload: impl Answering + 'static) {
        let (name, about) = (name_in(agent, Format::Acl).to_owned(), about.to_owned());
        self.say(agent.id.clone(), move |origin| {
            let head = Head {
                message_id: MessageId::parse(&origin.message_id.to_string()).ok()?,
                sender: origin.sender.clone(),
                receiver: AgentId::named(&name).ok()?,
                timestamp: origin.timestamp.clone(),
            };
            Reply::to(head, about).with(payload).ok().map(|message| Message::Acl(Box::new(message)))
        });
    }
}

/// What was agreed will not be done, or not as agreed.
pub(super) fn failure(code: &str, text: String) -> Failure {
    Failure { error_code: Some(code.to_owned()), ..Failure::new(text) }
}

/// What was agreed is late. The conversation goes on, so this names the acceptance and not the request.
pub(super) fn late(request: &str) -> Failure {
    let mut failure = failure("overdue", "the time its assignee gave has passed; the task goes on".to_owned());
    failure.extra.insert("conversation".to_owned(), Json::from(Value::from(request)));
    failure
}

pub(super) fn reject(code: &str, text: &str) -> TaskReject {
    TaskReject::because(code, text)
}

pub(super) fn unknown_ontology(known: String) -> NotUnderstood {
    NotUnderstood::because(Misunderstanding::UnknownOntology, known)
}

/// What the directory says for an agent.
pub(super) fn for_agent(agent: &Agent, capabilities: Capabilities) -> InformCapabilities {
    let mut answer = InformCapabilities::from(capabilities);
    let name = name_in(agent, Format::Acl);
    answer.extra.insert("answered_for".to_owned(), Json::from(Value::from(name)));
    answer
}
