//! Making messages: one function for each thing an agent has to say. What more a message carries is
//! set on its fields; [`build`](crate::build) checks the whole before it is sent.

use super::error_code::ErrorCode;
use super::marks::Decision;
use super::message::{Body, Message};
use super::task::TaskId;
use crate::id::AgentId;
use crate::json::Digest;
use crate::read::Extra;

impl Message {
    /// Plain talk.
    pub fn say(task_id: TaskId, from: AgentId, to: AgentId, content: impl Into<String>) -> Message {
        Message::new(task_id, from, to, Body::Message { content: content.into() })
    }

    /// The result of a task.
    pub fn result(task_id: TaskId, from: AgentId, to: AgentId, content: impl Into<String>) -> Message {
        Message { is_final: Some(true), ..Message::say(task_id, from, to, content) }
    }

    /// An overseer's decision about the result with this digest.
    pub fn decide(
        task_id: TaskId,
        from: AgentId,
        to: AgentId,
        decision: Decision,
        about: Digest,
        content: impl Into<String>,
    ) -> Message {
        let said = Message::say(task_id, from, to, content);
        Message { decision: Some(decision), digest: Some(about), ..said }
    }

    /// Hands a task on.
    pub fn delegate(task_id: TaskId, from: AgentId, to: AgentId, context_summary: impl Into<String>) -> Message {
        Message::new(task_id, from, to, Body::DelegationNotice { context_summary: context_summary.into() })
    }

    /// Reports a failure.
    pub fn fail(
        task_id: TaskId,
        from: AgentId,
        to: AgentId,
        error_code: ErrorCode,
        error_message: impl Into<String>,
    ) -> Message {
        Message::new(task_id, from, to, Body::ErrorResponse { error_code, error_message: error_message.into() })
    }

    /// An overseer's question.
    pub fn inquire(task_id: TaskId, from: AgentId, to: AgentId, inquiry: impl Into<String>) -> Message {
        Message::new(task_id, from, to, Body::OversightInquiry { inquiry: inquiry.into() })
    }

    fn new(task_id: TaskId, sender_id: AgentId, recipient_id: AgentId, body: Body) -> Message {
        Message {
            body,
            task_id,
            sender_id,
            recipient_id,
            attachments: None,
            message_id: None,
            timestamp: None,
            parent_task_id: None,
            deadline: None,
            grants: None,
            decision: None,
            digest: None,
            is_final: None,
            extra: Extra::new(),
        }
    }
}
