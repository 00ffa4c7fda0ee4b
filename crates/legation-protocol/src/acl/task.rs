//! Tasks: asked for, taken on, refused (sections 4.1, 4.2 and 4.5); and taken back, which is planned (section 8).

use super::estimate::Estimate;
use super::message::identifier;
use super::ontology::Term;
use crate::code::Code;
use crate::json::Json;
use crate::names::names;
use crate::read::{At, Extra, any_text, json_object, text};
use serde::Serialize;
use serde_json::{Map, Value};

/// How urgent a task is (section 4.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Priority {
    /// When there is time.
    Low,
    /// In its turn.
    Medium,
    /// Before others.
    High,
}

names!(Priority { Low = "low", Medium = "medium", High = "high" });

/// Asks the receiver to do something (section 4.1).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TaskRequest {
    /// What kind of task it is, for example `debug_code`.
    pub task_type: String,
    /// What is to be done, for a person to read.
    pub task_description: String,
    /// What the task needs: an object whose members its kind decides.
    pub task_parameters: Json,
    /// How urgent it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// What a debugging task needs (section 4.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DebugCode {
    /// The code, or the path to it.
    pub code_to_debug: String,
    /// The language it is written in.
    pub programming_language: String,
    /// What went wrong, as far as it is known.
    pub error_log: Option<String>,
    /// What would count as done.
    pub desired_outcome: String,
}

impl TaskRequest {
    /// A task of any kind. It is sent by [`Head::request_about`](super::Head::request_about), or by
    /// [`Head::request`](super::Head::request) if the spec has a term for it.
    pub fn new(kind: impl Into<String>, description: impl Into<String>, parameters: Map<String, Value>) -> Self {
        TaskRequest {
            task_type: kind.into(),
            task_description: description.into(),
            task_parameters: Json::from(Value::Object(parameters)),
            priority: None,
            extra: Extra::new(),
        }
    }

    /// The spec's own kind of task: some code is to be debugged.
    pub fn debug_code(description: impl Into<String>, task: DebugCode) -> Self {
        let members = [
            ("code_to_debug", Some(task.code_to_debug)),
            ("programming_language", Some(task.programming_language)),
            ("error_log", task.error_log),
            ("desired_outcome", Some(task.desired_outcome)),
        ];
        let given = members.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::String(text?))));
        TaskRequest::new("debug_code", description, given.collect())
    }

    /// The spec's own term for such a task. It has one for debugging Python (`debug_code`, with
    /// `python` as programming language or with none) and one for refactoring (a kind that begins
    /// with `refactor`).
    pub fn term(&self) -> Option<Term> {
        if self.task_type.starts_with("refactor") {
            return Some(Term::RefactorRequest);
        }
        let is_python = || match self.task_parameters.to_value().get("programming_language") {
            None | Some(Value::Null) => true,
            Some(named) => named.as_str().is_some_and(|named| named.eq_ignore_ascii_case("python")),
        };
        (self.task_type == "debug_code" && is_python()).then_some(Term::DebugRequest)
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<TaskRequest> {
        let mut o = At { spec: "ACL 4.1", ..at }.object()?;
        let task_type = o.required("task_type", text);
        let task_description = o.required("task_description", text);
        let task_parameters = o.required("task_parameters", json_object);
        let priority = o.nullable("priority", |at| at.named(Code::SchemaInvalid));
        Some(TaskRequest {
            task_type: task_type?,
            task_description: task_description?,
            task_parameters: task_parameters?,
            priority,
            extra: o.extra(),
        })
    }
}

/// The one status of an acceptance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accepted {
    /// `accepted`
    #[default]
    Accepted,
}

names!(Accepted { Accepted = "accepted" });

/// Takes a task on (section 4.2).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TaskAccept {
    /// Always `accepted`.
    pub status: Accepted,
    /// The accepting agent's own id for the task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id_assigned: Option<String>,
    /// How long it will take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimated_completion_time: Option<Estimate>,
    /// Anything to add, for a person to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub comments: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TaskAccept {
    /// Takes a task on that will take about so long.
    pub fn within(estimate: impl Into<Estimate>) -> Self {
        TaskAccept { estimated_completion_time: Some(estimate.into()), ..TaskAccept::default() }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<TaskAccept> {
        let mut o = At { spec: "ACL 4.2", ..at }.object()?;
        let status = o.required("status", |at| at.named(Code::SchemaInvalid));
        let task_id_assigned = o.nullable("task_id_assigned", identifier);
        let estimated_completion_time = o.nullable("estimated_completion_time", Estimate::read);
        let comments = o.nullable("comments", any_text);
        Some(TaskAccept { status: status?, task_id_assigned, estimated_completion_time, comments, extra: o.extra() })
    }
}

/// The one status of a refusal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rejected {
    /// `rejected`
    #[default]
    Rejected,
}

names!(Rejected { Rejected = "rejected" });

/// Refuses a task (section 4.5).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TaskReject {
    /// Always `rejected`.
    pub status: Rejected,
    /// Why, for a program to read: `busy`, `incapable`, `unauthorized` or another code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_code: Option<String>,
    /// Why, for a person to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_text: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl TaskReject {
    /// Refuses for a reason.
    pub fn because(code: impl Into<String>, text: impl Into<String>) -> Self {
        TaskReject { reason_code: Some(code.into()), reason_text: Some(text.into()), ..TaskReject::default() }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<TaskReject> {
        let mut o = At { spec: "ACL 4.5", ..at }.object()?;
        let status = o.required("status", |at| at.named(Code::SchemaInvalid));
        let reason_code = o.nullable("reason_code", text);
        let reason_text = o.nullable("reason_text", any_text);
        Some(TaskReject { status: status?, reason_code, reason_text, extra: o.extra() })
    }
}

/// Takes back a request or a query of its own sender, which the message names by `in_reply_to`. Section 8 plans it and
/// says nothing of its payload.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Cancel {
    /// Why, for a person to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Cancel {
    pub(super) fn read(at: At<'_, '_>) -> Option<Cancel> {
        let mut o = At { spec: "ACL 8", ..at }.object()?;
        let reason = o.nullable("reason", any_text);
        Some(Cancel { reason, extra: o.extra() })
    }
}
