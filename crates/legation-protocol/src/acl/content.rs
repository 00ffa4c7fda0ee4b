//! The ten payloads under their performatives (section 4).

use super::capabilities::{InformCapabilities, QueryCapabilities};
use super::ontology::Term;
use super::outcome::{Failure, InformResult, NotUnderstood, TaskStatus};
use super::performative::Performative;
use super::query::{QueryIf, QueryRef};
use super::task::{TaskAccept, TaskReject, TaskRequest};
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
        }
    }

    /// The spec's own term for it. Of its two terms for requests, the one for refactoring goes
    /// with tasks named so.
    pub fn term(&self) -> Term {
        match self {
            Content::TaskRequest(request) if request.task_type.starts_with("refactor") => Term::RefactorRequest,
            Content::TaskRequest(_) => Term::DebugRequest,
            Content::TaskAccept(_) => Term::TaskAcceptance,
            Content::InformResult(result) => match result.task_status {
                TaskStatus::Success => Term::SolutionProvided,
                TaskStatus::Failure | TaskStatus::PartialSuccess => Term::DebugAnalysis,
            },
            Content::QueryIf(_) | Content::QueryRef(_) => Term::GeneralQuery,
            Content::TaskReject(_) => Term::TaskRejection,
            Content::Failure(_) => Term::ActionExecutionFailure,
            Content::NotUnderstood(_) => Term::MessageNotUnderstood,
            Content::QueryCapabilities(_) => Term::CapabilityQuery,
            Content::InformCapabilities(_) => Term::CapabilityInformation,
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
        })
    }
}

/// A payload that opens an exchange.
pub trait Opening: Into<Content> {}

/// A payload that answers a message, and has to say which.
pub trait Answering: Into<Content> {}

macro_rules! payloads {
    ($role:ident: $($type:ident),+) => {
        $(
            impl From<$type> for Content {
                fn from(payload: $type) -> Self {
                    Content::$type(payload)
                }
            }

            impl $role for $type {}
        )+
    };
}

payloads!(Opening: TaskRequest, QueryIf, QueryRef, QueryCapabilities);
payloads!(Answering: TaskAccept, InformResult, TaskReject, Failure, NotUnderstood, InformCapabilities);
