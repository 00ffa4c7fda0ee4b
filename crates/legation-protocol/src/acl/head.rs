//! Opening an exchange: who writes to whom, when, and under which term (sections 3 and 5).

use super::content::{Content, Opening};
use super::language::Language;
use super::message::{Message, MessageId, Version};
use super::ontology::Ontology;
use super::task::TaskRequest;
use crate::id::AgentId;
use crate::read::Extra;
use crate::stamp::Timestamp;

/// What every new message needs besides its content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// A new id.
    pub message_id: MessageId,
    /// Who speaks.
    pub sender: AgentId,
    /// Who is spoken to.
    pub receiver: AgentId,
    /// When.
    pub timestamp: Timestamp,
}

/// A task for which the spec has no ontology term.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the spec has no ontology term for a task of the kind {kind:?}: name one with `request_about`")]
pub struct NoTerm {
    /// The kind of task.
    pub kind: String,
}

impl Head {
    /// A question, in JSON and under the spec's own term.
    pub fn open(self, question: impl Opening) -> Message {
        let term = question.term();
        self.write(None, question.into(), term.into())
    }

    /// Asks for a task, in JSON and under the spec's own term. The spec has terms for debugging
    /// Python and for refactoring; any other task needs [`request_about`](Head::request_about).
    pub fn request(self, task: TaskRequest) -> Result<Message, NoTerm> {
        match task.term() {
            Some(term) => Ok(self.request_about(task, term)),
            None => Err(NoTerm { kind: task.task_type }),
        }
    }

    /// Asks for a task, in JSON and under the caller's own term.
    pub fn request_about(self, task: TaskRequest, about: impl Into<Ontology>) -> Message {
        self.write(None, task.into(), about.into())
    }

    pub(super) fn write(self, in_reply_to: Option<String>, content: Content, ontology: Ontology) -> Message {
        Message {
            mcp_version: Version::V0_1_0,
            message_id: self.message_id,
            sender: self.sender.into(),
            receiver: self.receiver.into(),
            in_reply_to,
            reply_with: None,
            language: Language::json(),
            ontology,
            timestamp: self.timestamp,
            content,
            extra: Extra::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Head, NoTerm};
    use crate::acl::{MessageId, Ontology, TaskRequest, Term};
    use crate::id::AgentId;
    use crate::stamp::Timestamp;
    use crate::wire::build;
    use serde_json::{Map, Value, json};

    fn head() -> Head {
        let [sender, receiver] = ["Eddy", "Jules"].map(|name| AgentId::named(name).unwrap());
        let message_id = MessageId::parse("5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10").unwrap();
        Head { message_id, sender, receiver, timestamp: Timestamp::utc("2025-06-18T09:14:05Z").unwrap() }
    }

    #[track_caller]
    fn check_request(kind: &str, parameters: Value, want: Option<Term>) {
        let Value::Object(parameters) = parameters else { panic!("parameters are an object") };
        match (head().request(TaskRequest::new(kind, "Do it.", parameters)), want) {
            (Ok(request), Some(want)) => assert_eq!(build(&request).unwrap().value().ontology, Ontology::from(want)),
            (Err(none), None) => assert_eq!(none, NoTerm { kind: kind.to_owned() }),
            (found, want) => panic!("{kind}: {found:?}, not {want:?}"),
        }
    }

    #[test]
    fn a_task_is_sent_under_the_specs_term_only_if_it_is_meant() {
        check_request("debug_code", json!({}), Some(Term::DebugRequest));
        check_request("debug_code", json!({"programming_language": null}), Some(Term::DebugRequest));
        check_request("debug_code", json!({"programming_language": "Python"}), Some(Term::DebugRequest));
        check_request("debug_code", json!({"programming_language": "rust"}), None);
        check_request("debug_code", json!({"programming_language": 3}), None);
        check_request("refactor_code_snippet", json!({"programming_language": "rust"}), Some(Term::RefactorRequest));
        check_request("tidy_up", json!({}), None);
        let own = Ontology::parse("elizaos:ontology:code/rust/debug_request").unwrap();
        let task = TaskRequest::new("debug_code", "Mend it.", Map::new());
        assert_eq!(head().request_about(task, own.clone()).ontology, own);
    }
}
