//! How things ended: a result (section 4.3), a breakdown (4.6), or a message that made no sense (4.7).

use crate::code::Code;
use crate::finding::Rejection;
use crate::json::{Json, Kind};
use crate::names::names;
use crate::read::{At, Extra, any_text, json_object, text};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

/// Whether a task reached its goal (section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskStatus {
    /// It did.
    Success,
    /// It was tried and did not.
    Failure,
    /// In part.
    PartialSuccess,
}

names!(TaskStatus { Success = "success", Failure = "failure", PartialSuccess = "partial_success" });

/// Reports what came of a task, or answers a query (sections 4.3 and 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InformResult {
    /// Whether the goal was reached.
    pub task_status: TaskStatus,
    /// The outcome, for a person to read.
    pub result_summary: String,
    /// The outcome, for a program to read: an object whose members the ontology term decides.
    pub result_details: Json,
    /// What was made or changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifacts: Option<Vec<Artifact>>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A file, log or other thing a task made or changed. Never opened or fetched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Artifact {
    /// A path or another reference.
    Reference(String),
    /// An object that describes it, for example by `type` and `path`.
    Described(Json),
}

impl InformResult {
    /// The outcome of a task.
    pub fn new(status: TaskStatus, summary: impl Into<String>, details: Map<String, Value>) -> Self {
        InformResult {
            task_status: status,
            result_summary: summary.into(),
            result_details: Json::from(Value::Object(details)),
            artifacts: None,
            extra: Extra::new(),
        }
    }

    /// The answer to a `QUERY_IF` or `QUERY_REF`, for which the spec has no act of its own.
    pub fn answer(summary: impl Into<String>, value: Value) -> Self {
        InformResult::new(TaskStatus::Success, summary, Map::from_iter([("value".to_owned(), value)]))
    }

    /// The answer to a `QUERY_IF` or `QUERY_REF`, if this is one.
    pub fn value(&self) -> Option<Value> {
        match self.result_details.to_value() {
            Value::Object(mut details) => details.remove("value"),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => None,
        }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<InformResult> {
        let mut o = At { spec: "ACL 4.3", ..at }.object()?;
        let task_status = o.required("task_status", |at| at.named(Code::SchemaInvalid));
        let result_summary = o.required("result_summary", text);
        let result_details = o.required("result_details", json_object);
        let artifacts = o.nullable("artifacts", |at| at.list(artifact));
        Some(InformResult {
            task_status: task_status?,
            result_summary: result_summary?,
            result_details: result_details?,
            artifacts,
            extra: o.extra(),
        })
    }
}

fn artifact(at: At<'_, '_>) -> Option<Artifact> {
    match at.node.kind() {
        Kind::String => text(at).map(Artifact::Reference),
        Kind::Object => json_object(at).map(Artifact::Described),
        found @ (Kind::Null | Kind::Bool | Kind::Number | Kind::Array) => {
            let message = format!("expected an object or a reference, found {}", found.noun());
            at.fail_with(Code::SchemaInvalid, message, "describe it like {\"type\": \"file\", \"path\": …}")
        }
    }
}

/// The one status of a breakdown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Failed {
    /// `failure`
    #[default]
    Failure,
}

names!(Failed { Failure = "failure" });

/// Tells that an agreed action broke down (section 4.6). A task that was tried and did not reach
/// its goal is an [`InformResult`] instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Failure {
    /// Always `failure`.
    pub status: Failed,
    /// What broke, for a program to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// What broke, for a person to read.
    pub error_text: String,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Failure {
    /// A breakdown.
    pub fn new(text: impl Into<String>) -> Self {
        Failure { status: Failed::Failure, error_code: None, error_text: text.into(), extra: Extra::new() }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Failure> {
        let mut o = At { spec: "ACL 4.6", ..at }.object()?;
        let status = o.required("status", |at| at.named(Code::SchemaInvalid));
        let error_code = o.nullable("error_code", text);
        let error_text = o.required("error_text", text);
        Some(Failure { status: status?, error_code, error_text: error_text?, extra: o.extra() })
    }
}

/// Why a message made no sense (section 4.7). The four codes are the spec's examples, the most telling
/// first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Misunderstanding {
    /// An act nobody knows.
    UnknownPerformative,
    /// Not readable at all.
    ParsingError,
    /// A term nobody knows.
    UnknownOntology,
    /// A payload of the wrong shape.
    InvalidPayloadStructure,
    /// A code of the sender's own.
    Other(String),
}

impl Misunderstanding {
    /// The code.
    pub fn as_str(&self) -> &str {
        match self {
            Misunderstanding::UnknownPerformative => "unknown_performative",
            Misunderstanding::ParsingError => "parsing_error",
            Misunderstanding::UnknownOntology => "unknown_ontology",
            Misunderstanding::InvalidPayloadStructure => "invalid_payload_structure",
            Misunderstanding::Other(code) => code,
        }
    }
}

impl From<String> for Misunderstanding {
    fn from(code: String) -> Self {
        match code.as_str() {
            "unknown_performative" => Misunderstanding::UnknownPerformative,
            "parsing_error" => Misunderstanding::ParsingError,
            "unknown_ontology" => Misunderstanding::UnknownOntology,
            "invalid_payload_structure" => Misunderstanding::InvalidPayloadStructure,
            _ => Misunderstanding::Other(code),
        }
    }
}

impl Serialize for Misunderstanding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// Tells that a message made no sense (section 4.7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NotUnderstood {
    /// Why, for a program to read.
    pub reason_code: Misunderstanding,
    /// Why, for a person to read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason_text: Option<String>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl NotUnderstood {
    /// For this reason.
    pub fn because(reason: Misunderstanding, text: impl Into<String>) -> Self {
        NotUnderstood { reason_code: reason, reason_text: Some(text.into()), extra: Extra::new() }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<NotUnderstood> {
        let mut o = At { spec: "ACL 4.7", ..at }.object()?;
        let reason_code = o.required("reason_code", text);
        let reason_text = o.nullable("reason_text", any_text);
        Some(NotUnderstood { reason_code: reason_code?.into(), reason_text, extra: o.extra() })
    }
}

impl From<&Rejection> for NotUnderstood {
    /// What to tell the sender of a message that was refused: of several reasons the first of
    /// [`Misunderstanding`], since what is wrong with a payload means little while the act is unknown.
    fn from(rejection: &Rejection) -> Self {
        let reasons = rejection.violations().map(|violation| (reason(violation.code), violation));
        let first = reasons.min_by(|(one, _), (other, _)| one.cmp(other));
        let (reason, violation) = first.unwrap_or((reason(rejection.code()), rejection.first()));
        NotUnderstood::because(reason, violation.to_string())
    }
}

fn reason(code: Code) -> Misunderstanding {
    match code {
        Code::UnknownPerformative => Misunderstanding::UnknownPerformative,
        Code::BadOntology => Misunderstanding::UnknownOntology,
        code if is_unreadable(code) => Misunderstanding::ParsingError,
        _ => Misunderstanding::InvalidPayloadStructure,
    }
}

/// Whether the front door refused: nothing behind it saw the message.
const fn is_unreadable(code: Code) -> bool {
    matches!(
        code,
        Code::TooLarge
            | Code::TooDeep
            | Code::DuplicateKey
            | Code::NumberOutOfRange
            | Code::BadUnicode
            | Code::BadJson
            | Code::TrailingBytes
            | Code::NotAnObject
    )
}
