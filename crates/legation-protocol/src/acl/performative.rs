//! The ten communicative acts (section 4) and which of them answers which; and one that is planned (section 8).

use crate::names::names;

/// What a sender does by sending a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Performative {
    /// Asks for a task (4.1).
    TaskRequest,
    /// Takes a task on (4.2).
    TaskAccept,
    /// Reports what came of a task, or answers a query (4.3).
    InformResult,
    /// Asks whether something is true (4.4).
    QueryIf,
    /// Asks for a value (4.4).
    QueryRef,
    /// Refuses a task (4.5).
    TaskReject,
    /// Tells that an agreed action broke down (4.6).
    Failure,
    /// Tells that a message made no sense (4.7).
    NotUnderstood,
    /// Asks what an agent can do (4.8).
    QueryCapabilities,
    /// Tells what an agent can do (4.9).
    InformCapabilities,
    /// Takes a request back (planned in 8). No version defines it: it is none of [`ALL`](Performative::ALL).
    Cancel,
}

names!(Performative {
    TaskRequest = "TASK_REQUEST",
    TaskAccept = "TASK_ACCEPT",
    InformResult = "INFORM_RESULT",
    QueryIf = "QUERY_IF",
    QueryRef = "QUERY_REF",
    TaskReject = "TASK_REJECT",
    Failure = "FAILURE",
    NotUnderstood = "NOT_UNDERSTOOD",
    QueryCapabilities = "QUERY_CAPABILITIES",
    InformCapabilities = "INFORM_CAPABILITIES",
} beyond {
    Cancel = "CANCEL"
});

impl Performative {
    /// The section that defines it.
    pub const fn section(self) -> &'static str {
        match self {
            Performative::TaskRequest => "ACL 4.1",
            Performative::TaskAccept => "ACL 4.2",
            Performative::InformResult => "ACL 4.3",
            Performative::QueryIf | Performative::QueryRef => "ACL 4.4",
            Performative::TaskReject => "ACL 4.5",
            Performative::Failure => "ACL 4.6",
            Performative::NotUnderstood => "ACL 4.7",
            Performative::QueryCapabilities => "ACL 4.8",
            Performative::InformCapabilities => "ACL 4.9",
            Performative::Cancel => "ACL 8",
        }
    }

    /// Whether it is always an answer, and so has to say to what.
    pub const fn is_answer(self) -> bool {
        match self {
            Performative::TaskAccept
            | Performative::InformResult
            | Performative::TaskReject
            | Performative::Failure
            | Performative::NotUnderstood
            | Performative::InformCapabilities => true,
            Performative::TaskRequest
            | Performative::QueryIf
            | Performative::QueryRef
            | Performative::QueryCapabilities
            | Performative::Cancel => false,
        }
    }

    /// What it answers, in a word.
    pub(super) const fn answered_noun(self) -> &'static str {
        match self {
            Performative::TaskAccept | Performative::TaskReject => "TASK_REQUEST",
            Performative::InformResult => "TASK_REQUEST or query",
            Performative::Failure => "request",
            Performative::InformCapabilities => "QUERY_CAPABILITIES",
            Performative::NotUnderstood
            | Performative::TaskRequest
            | Performative::QueryIf
            | Performative::QueryRef
            | Performative::QueryCapabilities
            | Performative::Cancel => "message",
        }
    }

    /// Whether it may stand in reply to `asked`. Two agents that do not understand each other stop
    /// there: nothing says that a `NOT_UNDERSTOOD` was not understood.
    pub const fn may_answer(self, asked: Performative) -> bool {
        match self {
            Performative::TaskAccept | Performative::TaskReject => matches!(asked, Performative::TaskRequest),
            Performative::InformResult => {
                matches!(asked, Performative::TaskRequest | Performative::QueryIf | Performative::QueryRef)
            }
            Performative::Failure => !asked.is_answer() && !matches!(asked, Performative::Cancel),
            Performative::NotUnderstood => !matches!(asked, Performative::NotUnderstood),
            Performative::InformCapabilities => matches!(asked, Performative::QueryCapabilities),
            // A new request or query may follow from anything.
            Performative::TaskRequest
            | Performative::QueryIf
            | Performative::QueryRef
            | Performative::QueryCapabilities => true,
            // It names what its own sender said.
            Performative::Cancel => false,
        }
    }
}
