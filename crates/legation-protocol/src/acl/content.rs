//! The ten payloads under their performatives (section 4), and the one that is planned.

use super::capabilities::{InformCapabilities, QueryCapabilities};
use super::ontology::Term;
use super::outcome::{Failure, InformResult, NotUnderstood, TaskStatus};
use super::performative::Performative;
use super::query::{QueryIf, QueryRef};
use super::task::{Cancel, TaskAccept, TaskReject, TaskRequest};
use crate::read::At;
use serde::Serialize;

/// A performative and its payload.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "performative", content = "payload", rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Content {
    /// Asks for a task (4.1).
    TaskRequest(TaskRequest),
    /// Takes a task on (4.2).
    TaskAccept(TaskAccept),
    /// Reports what came of a task, or answers a query (4.3).
    InformResult(InformResult),
    /// Asks whether something is true (4.4).
    QueryIf(QueryIf),
    /// Asks for a value (4.4).
    QueryRef(QueryRef),
    /// Refuses a task (4.5).
    TaskReject(TaskReject),
    /// Tells that an agreed action broke down (4.6).
    Failure(Failure),
    /// Tells that a message made no sense (4.7).
    NotUnderstood(NotUnderstood),
    /// Asks what an agent can do (4.8).
    QueryCapabilities(QueryCapabilities),
    /// Tells what an agent can do (4.9).
    InformCapabilities(InformCapabilities),
    /// Takes a request back (planned in 8).
    Cancel(Cancel),
}

impl Content {
    /// The performative.
    pub const fn performative(&self) -> Performative {
        match self {
            Content::TaskRequest(_) => Performative::TaskRequest,
            Content::TaskAccept(_) => Performative::TaskAccept,
            Content::InformResult(_) => Performative::InformResult,
            Content::QueryIf(_) => Performative::QueryIf,
            Content::QueryRef(_) => Performative::QueryRef,
            Content::TaskReject(_) => Performative::TaskReject,
            Content::Failure(_) => Performative::Failure,
            Content::NotUnderstood(_) => Performative::NotUnderstood,
            Content::QueryCapabilities(_) => Performative::QueryCapabilities,
            Content::InformCapabilities(_) => Performative::InformCapabilities,
            Content::Cancel(_) => Performative::Cancel,
        }
    }

    pub(super) fn read(performative: Performative, at: At<'_, '_>) -> Option<Content> {
        Some(match performative {
            Performative::TaskRequest => Content::TaskRequest(TaskRequest::read(at)?),
            Performative::TaskAccept => Content::TaskAccept(TaskAccept::read(at)?),
            Performative::InformResult => Content::InformResult(InformResult::read(at)?),
            Performative::QueryIf => Content::QueryIf(QueryIf::read(at)?),
            Performative::QueryRef => Content::QueryRef(QueryRef::read(at)?),
            Performative::TaskReject => Content::TaskReject(TaskReject::read(at)?),
            Performative::Failure => Content::Failure(Failure::read(at)?),
            Performative::NotUnderstood => Content::NotUnderstood(NotUnderstood::read(at)?),
            Performative::QueryCapabilities => Content::QueryCapabilities(QueryCapabilities::read(at)?),
            Performative::InformCapabilities => Content::InformCapabilities(InformCapabilities::read(at)?),
            Performative::Cancel => Content::Cancel(Cancel::read(at)?),
        })
    }
}

/// A question: a payload that opens an exchange. A task opens one too, by
/// [`Head::request`](super::Head::request), because not every task has a term in the spec.
pub trait Opening: Into<Content> {
    /// The spec's own term for it.
    fn term(&self) -> Term;
}

/// A payload that answers a message, and has to say which.
pub trait Answering: Into<Content> {
    /// The spec's own term for it.
    fn term(&self) -> Term;
}

impl Answering for InformResult {
    fn term(&self) -> Term {
        match self.task_status {
            TaskStatus::Success => Term::SolutionProvided,
            TaskStatus::Failure | TaskStatus::PartialSuccess => Term::DebugAnalysis,
        }
    }
}

macro_rules! payloads {
    ($($type:ident $(is $role:ident under $term:ident)?),+ $(,)?) => {
        $(
            impl From<$type> for Content {
                fn from(payload: $type) -> Self {
                    Content::$type(payload)
                }
            }

            $(impl $role for $type {
                fn term(&self) -> Term {
                    Term::$term
                }
            })?
        )+
    };
}

payloads! {
    TaskRequest,
    TaskAccept is Answering under TaskAcceptance,
    InformResult,
    QueryIf is Opening under GeneralQuery,
    QueryRef is Opening under GeneralQuery,
    TaskReject is Answering under TaskRejection,
    Failure is Answering under ActionExecutionFailure,
    NotUnderstood is Answering under MessageNotUnderstood,
    QueryCapabilities is Opening under CapabilityQuery,
    InformCapabilities is Answering under CapabilityInformation,
    Cancel,
}
