//! The envelope and its four bodies (Message Schema, Delegation Schema, Error Schema, Oversight).

use super::attachment::Attachment;
use super::error_code::ErrorCode;
use super::marks::{Decision, Grants, Marks, write_digest};
use super::member::{agent, somebody, task, utc};
use super::task::TaskId;
use crate::code::Code;
use crate::finding::Findings;
use crate::id::{AgentId, trimmed};
use crate::json::{Digest, Node};
use crate::names::names;
use crate::read::{At, Extra, Object, any_text, text};
use crate::stamp::Timestamp;
use crate::wire::Wire;
use serde::Serialize;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Plain talk.
    Message,
    /// Hands a task on.
    DelegationNotice,
    /// Reports a failure.
    ErrorResponse,
    /// An overseer's question.
    OversightInquiry,
}

names!(Kind {
    Message = "message",
    DelegationNotice = "delegation_notice",
    ErrorResponse = "error_response",
    OversightInquiry = "oversight_inquiry",
});

impl Kind {
    /// The section that defines messages of this kind.
    const fn section(self) -> &'static str {
        match self {
            Kind::Message => "CAP Message Schema",
            Kind::DelegationNotice => "CAP Delegation Schema",
            Kind::ErrorResponse => "CAP Error Schema",
            Kind::OversightInquiry => "CAP Oversight",
        }
    }
}

/// A CAP message (Message Schema). Members the spec does not define are kept in `extra`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Message {
    /// What is said, by the kind of message.
    #[serde(flatten)]
    pub body: Body,
    /// The task it belongs to; in a delegation, the task handed on.
    pub task_id: TaskId,
    /// Who says it: an agent, `user` or `orchestrator`.
    pub sender_id: AgentId,
    /// Whom it is for; never the sender.
    pub recipient_id: AgentId,
    /// What comes with it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attachments: Option<Vec<Attachment>>,
    /// The sender's own id for it, by which a repeat is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message_id: Option<String>,
    /// When it was written (Observability).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The task above the one handed on, for ids whose dots do not say so. On delegations only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent_task_id: Option<TaskId>,
    /// When a delegated task must be done. On delegations only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deadline: Option<Timestamp>,
    /// What a delegation passes on. On delegations only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grants: Option<Grants>,
    /// What an overseer decided. On plain talk only, and not on a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<Decision>,
    /// The result that was decided about. Only beside a decision.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "write_digest")]
    pub digest: Option<Digest>,
    /// Whether this is the task's result. On plain talk only.
    #[serde(rename = "final", skip_serializing_if = "Option::is_none")]
    pub is_final: Option<bool>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What is said, by the kind of message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Body {
    /// Plain talk between any two (Message Schema).
    Message {
        /// What is said; may be empty, for example beside attachments.
        content: String,
    },
    /// Hands responsibility for a task to the recipient (Delegation Schema).
    DelegationNotice {
        /// What was done and what remains.
        context_summary: String,
    },
    /// Reports a failure, a timeout or a missing permission (Error Schema).
    ErrorResponse {
        /// What went wrong.
        error_code: ErrorCode,
        /// The same in words.
        error_message: String,
    },
    /// An overseer's question to the agent it oversees (Oversight).
    OversightInquiry {
        /// The question.
        inquiry: String,
    },
}

impl Wire for Message {
    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let section = node.get("type").and_then(Node::text).and_then(|name| Kind::named(&name));
        let mut o = At { node, spec: section.unwrap_or(Kind::Message).section(), out }.object()?;
        let kind = o.required("type", |at| at.named(Code::UnknownType));
        let task_id = o.required("task_id", task);
        let sender_id = o.required("sender_id", sender);
        let recipient_id = o.required("recipient_id", agent);
        let body = kind.and_then(|kind| Body::read(kind, &mut o));
        let attachments = o.optional("attachments", |at| at.list(Attachment::read));
        let message_id = o.optional("message_id", message_id);
        let timestamp = o.optional("timestamp", |at| utc(At { spec: "CAP Observability", ..at }));
        let marks = Marks::read(kind, &mut o);
        refuse_talk_to_oneself(&mut o, sender_id.as_ref(), recipient_id.as_ref());
        refuse_second_lineage(&mut o, task_id.as_ref(), marks.parent_task_id.as_ref());
        Some(Message {
            body: body?,
            task_id: task_id?,
            sender_id: sender_id?,
            recipient_id: recipient_id?,
            attachments,
            message_id,
            timestamp,
            parent_task_id: marks.parent_task_id,
            deadline: marks.deadline,
            grants: marks.grants,
            decision: marks.decision,
            digest: marks.digest,
            is_final: marks.is_final,
            extra: o.extra(),
        })
    }
}

impl Body {
    fn read(kind: Kind, o: &mut Object<'_, '_>) -> Option<Body> {
        match kind {
            Kind::Message => o.required("content", any_text).map(|content| Body::Message { content }),
            Kind::DelegationNotice => {
                o.required("context_summary", text).map(|context_summary| Body::DelegationNotice { context_summary })
            }
            Kind::ErrorResponse => {
                let error_code = o.required("error_code", error_code);
                let error_message = o.required("error_message", text);
                Some(Body::ErrorResponse { error_code: error_code?, error_message: error_message? })
            }
            Kind::OversightInquiry => o.required("inquiry", text).map(|inquiry| Body::OversightInquiry { inquiry }),
        }
    }

    /// Which kind of message has this body.
    pub const fn kind(&self) -> Kind {
        match self {
            Body::Message { .. } => Kind::Message,
            Body::DelegationNotice { .. } => Kind::DelegationNotice,
            Body::ErrorResponse { .. } => Kind::ErrorResponse,
            Body::OversightInquiry { .. } => Kind::OversightInquiry,
        }
    }
}

fn sender(at: At<'_, '_>) -> Option<AgentId> {
    somebody(at, "nobody may send under this name", "send under the agent's own id")
}

fn message_id(at: At<'_, '_>) -> Option<String> {
    let at = At { spec: "Legation message ids", ..at };
    if at.node.is_text("") {
        return text(at);
    }
    at.parsed(Code::BadMessageId, |id| trimmed(id).map(|()| id.to_owned()))
}

fn error_code(at: At<'_, '_>) -> Option<ErrorCode> {
    let At { node, spec, out } = at;
    let code = ErrorCode::from(At { node, spec, out: &mut *out }.integer(i64::MIN)?);
    if code.meaning().is_none() {
        let listed: Vec<_> = ErrorCode::LISTED.iter().map(|code| code.number().to_string()).collect();
        out.at(Code::ErrorCodeUnknown, node, "Legation error codes", "recipients will not know what this code means")
            .help(format!("use one of {}", listed.join(", ")))
            .warning();
    }
    Some(code)
}

fn refuse_talk_to_oneself(o: &mut Object<'_, '_>, sender: Option<&AgentId>, recipient: Option<&AgentId>) {
    if sender.is_some() && sender == recipient {
        o.wrong(
            Code::SelfAddressed,
            "recipient_id",
            "Legation self-addressing",
            "the recipient is the sender: nobody sends to itself",
        )
        .help("name the agent this is for");
    }
}

/// Dots and `parent_task_id` must tell one lineage, and no task hangs below itself.
fn refuse_second_lineage(o: &mut Object<'_, '_>, task: Option<&TaskId>, parent: Option<&TaskId>) {
    let (Some(task), Some(parent)) = (task, parent) else { return };
    let (wrong, help) = match task.parent() {
        Some(dotted) => (dotted != *parent, format!("write {:?}, or remove it: the dots of task_id say so", &*dotted)),
        None => (parent == task || parent.is_below(task), "name the task this one was split off from".to_owned()),
    };
    if wrong {
        o.wrong(
            Code::BadTaskId,
            "parent_task_id",
            "Legation task lineage",
            "this is not the parent that task_id can have",
        )
        .help(help);
    }
}

impl Message {
    /// The sender's own id for it.
    pub fn id(&self) -> Option<&str> {
        self.message_id.as_deref()
    }

    /// Who says it.
    pub fn sender(&self) -> &AgentId {
        &self.sender_id
    }

    /// Whom it is for.
    pub fn recipient(&self) -> &AgentId {
        &self.recipient_id
    }

    /// Which kind of message it is.
    pub const fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// The wire name of that kind.
    pub const fn kind_name(&self) -> &'static str {
        self.kind().as_str()
    }

    /// The task it belongs to.
    pub fn thread(&self) -> &str {
        &self.task_id
    }

    /// The task above its own, by the dots of the id or by name.
    pub fn parent_task(&self) -> Option<TaskId> {
        self.task_id.parent().or_else(|| self.parent_task_id.clone())
    }

    /// When it was written.
    pub fn time(&self) -> Option<&Timestamp> {
        self.timestamp.as_ref()
    }
}
