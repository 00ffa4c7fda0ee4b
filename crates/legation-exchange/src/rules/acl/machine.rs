//! How a conversation goes (sections 4 and 7.1): each step once, in order. A task is requested, accepted or
//! rejected, and comes to a result or a failure; a query is asked, and answered, failed or not understood. Until then
//! whoever asked may take either back, where the exchange extends the language.

use serde::{Deserialize, Serialize};

/// What opened a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// A `TASK_REQUEST` (4.1).
    Task,
    /// A `QUERY_IF` (4.4).
    QueryIf,
    /// A `QUERY_REF` (4.4).
    QueryRef,
    /// A `QUERY_CAPABILITIES` (4.8).
    QueryCapabilities,
}

impl Act {
    /// How it begins.
    pub const fn begins(self) -> Stage {
        match self {
            Act::Task => Stage::Requested,
            Act::QueryIf | Act::QueryRef | Act::QueryCapabilities => Stage::Asked,
        }
    }

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Act::Task => "task",
            Act::QueryIf => "query_if",
            Act::QueryRef => "query_ref",
            Act::QueryCapabilities => "query_capabilities",
        }
    }
}

/// Where a conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// A task nobody has answered.
    Requested,
    /// A query nobody has answered.
    Asked,
    /// A task somebody does.
    Accepted,
    /// A task somebody does, for longer than they thought.
    Overdue,
    /// A task nobody does.
    Rejected,
    /// A task that was done, whether or not its goal was reached (4.3).
    Result,
    /// An action that broke down (4.6).
    Failed,
    /// A query that was answered.
    Answered,
    /// A query the exchange answered for an agent that was away. The agent's own answer is still taken.
    AnsweredFor,
    /// A message that made no sense to its receiver (4.7).
    NotUnderstood,
    /// A task or a query that whoever asked has taken back (8).
    Cancelled,
}

impl Stage {
    /// All of them.
    pub const ALL: [Stage; 11] = [
        Stage::Requested,
        Stage::Asked,
        Stage::Accepted,
        Stage::Overdue,
        Stage::Rejected,
        Stage::Result,
        Stage::Failed,
        Stage::Answered,
        Stage::AnsweredFor,
        Stage::NotUnderstood,
        Stage::Cancelled,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Stage::Requested => "requested",
            Stage::Asked => "asked",
            Stage::Accepted => "accepted",
            Stage::Overdue => "overdue",
            Stage::Rejected => "rejected",
            Stage::Result => "result",
            Stage::Failed => "failed",
            Stage::Answered => "answered",
            Stage::AnsweredFor => "answered_for",
            Stage::NotUnderstood => "not_understood",
            Stage::Cancelled => "cancelled",
        }
    }

    /// Whether somebody is still awaited.
    pub const fn is_open(self) -> bool {
        match self {
            Stage::Requested | Stage::Asked | Stage::Accepted | Stage::Overdue => true,
            Stage::Rejected
            | Stage::Result
            | Stage::Failed
            | Stage::Answered
            | Stage::AnsweredFor
            | Stage::NotUnderstood
            | Stage::Cancelled => false,
        }
    }

    /// Where it stands after a step; nothing if the step does not fit.
    pub fn after(self, act: Act, step: Step) -> Option<Stage> {
        let is_done = matches!(self, Stage::Accepted | Stage::Overdue);
        let asks = |acts: &[Act]| self == Stage::Asked && acts.contains(&act);
        let (fits, to) = match step {
            Step::Accept => (self == Stage::Requested, Stage::Accepted),
            Step::Reject => (self == Stage::Requested, Stage::Rejected),
            Step::NotUnderstood => (matches!(self, Stage::Requested | Stage::Asked), Stage::NotUnderstood),
            Step::Result if act == Act::Task => (is_done, Stage::Result),
            Step::Result => (asks(&[Act::QueryIf, Act::QueryRef]), Stage::Answered),
            Step::Failure => (is_done || self == Stage::Asked, Stage::Failed),
            Step::Capabilities => (asks(&[Act::QueryCapabilities]) || self == Stage::AnsweredFor, Stage::Answered),
            Step::RunLate => (self == Stage::Accepted, Stage::Overdue),
            Step::AnswerFor => (asks(&[Act::QueryCapabilities]), Stage::AnsweredFor),
            Step::GiveUp => (self.is_open(), Stage::Failed),
            Step::Cancel => (self.is_open(), Stage::Cancelled),
        };
        fits.then_some(to)
    }
}

impl Stage {
    /// Whether a word that was held and leads there still fits: what is over stays over, and each step comes once.
    pub(crate) fn takes(self, act: Act, to: Stage) -> bool {
        match to {
            Stage::Accepted | Stage::Rejected => self == Stage::Requested,
            Stage::NotUnderstood => matches!(self, Stage::Requested | Stage::Asked),
            Stage::Overdue => self == Stage::Accepted,
            Stage::Result => matches!(self, Stage::Accepted | Stage::Overdue),
            Stage::Failed | Stage::Cancelled => self.is_open(),
            // An agent's own word on what it can do is newer than the directory's.
            Stage::Answered => self == Stage::Asked || (self == Stage::AnsweredFor && act == Act::QueryCapabilities),
            Stage::AnsweredFor => self == Stage::Asked,
            Stage::Requested | Stage::Asked => false,
        }
    }
}

/// What moves a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// `TASK_ACCEPT`
    Accept,
    /// `TASK_REJECT`
    Reject,
    /// `INFORM_RESULT`
    Result,
    /// `FAILURE`
    Failure,
    /// `NOT_UNDERSTOOD`
    NotUnderstood,
    /// `INFORM_CAPABILITIES`
    Capabilities,
    /// The estimate has passed.
    RunLate,
    /// The exchange answers from the directory.
    AnswerFor,
    /// The exchange tells that nothing will come of it.
    GiveUp,
    /// `CANCEL`, by whoever asked.
    Cancel,
}

#[cfg(test)]
mod tests {
    use super::{Act, Stage, Step};

    #[track_caller]
    fn check(act: Act, steps: &[Step], want: Option<Stage>) {
        let stage = steps.iter().try_fold(act.begins(), |stage, step| stage.after(act, *step));
        assert_eq!(stage, want, "{act:?} {steps:?}");
    }

    #[test]
    fn a_task_is_accepted_or_rejected_and_then_ends_once() {
        use Step::{Accept, Failure, GiveUp, NotUnderstood, Reject, Result, RunLate};
        check(Act::Task, &[Accept], Some(Stage::Accepted));
        check(Act::Task, &[Reject], Some(Stage::Rejected));
        check(Act::Task, &[NotUnderstood], Some(Stage::NotUnderstood));
        check(Act::Task, &[Accept, Result], Some(Stage::Result));
        check(Act::Task, &[Accept, Failure], Some(Stage::Failed));
        check(Act::Task, &[Accept, RunLate], Some(Stage::Overdue));
        check(Act::Task, &[Accept, RunLate, Result], Some(Stage::Result));
        check(Act::Task, &[Accept, RunLate, Failure], Some(Stage::Failed));
        check(Act::Task, &[GiveUp], Some(Stage::Failed));
        check(Act::Task, &[Accept, GiveUp], Some(Stage::Failed));
        for wrong in [
            &[Result][..],
            &[Failure],
            &[Accept, Accept],
            &[Accept, Reject],
            &[Reject, Accept],
            &[Accept, NotUnderstood],
            &[Accept, Result, Result],
            &[Accept, Result, Failure],
            &[Accept, Failure, Result],
            &[Accept, Result, GiveUp],
            &[Accept, RunLate, RunLate],
            &[Step::Capabilities],
            &[Step::AnswerFor],
        ] {
            check(Act::Task, wrong, None);
        }
    }

    #[test]
    fn what_is_open_may_be_taken_back_and_is_over_then() {
        use Step::{Accept, AnswerFor, Cancel, Capabilities, Failure, GiveUp, NotUnderstood, Reject, Result, RunLate};
        let all = [Accept, Reject, Result, Failure, NotUnderstood, Capabilities, RunLate, AnswerFor, GiveUp, Cancel];
        for act in [Act::Task, Act::QueryIf, Act::QueryRef, Act::QueryCapabilities] {
            check(act, &[Cancel], Some(Stage::Cancelled));
            for step in all {
                check(act, &[Cancel, step], None);
            }
        }
        check(Act::Task, &[Accept, Cancel], Some(Stage::Cancelled));
        check(Act::Task, &[Accept, RunLate, Cancel], Some(Stage::Cancelled));
        for over in [&[Reject][..], &[NotUnderstood], &[GiveUp], &[Accept, Result], &[Accept, Failure]] {
            check(Act::Task, &[over, &[Cancel]].concat(), None);
        }
        check(Act::QueryIf, &[Result, Cancel], None);
        check(Act::QueryCapabilities, &[AnswerFor, Cancel], None);
        for stage in Stage::ALL {
            assert_eq!(stage.takes(Act::Task, Stage::Cancelled), stage.is_open(), "{stage:?}");
            assert!(!Stage::Cancelled.takes(Act::QueryCapabilities, stage), "{stage:?}");
        }
    }

    #[test]
    fn a_query_is_answered_failed_or_not_understood_once() {
        use Step::{Accept, AnswerFor, Capabilities, Failure, GiveUp, NotUnderstood, Reject, Result};
        for act in [Act::QueryIf, Act::QueryRef] {
            check(act, &[Result], Some(Stage::Answered));
            check(act, &[Capabilities], None);
            check(act, &[AnswerFor], None);
            check(act, &[Result, Result], None);
        }
        check(Act::QueryCapabilities, &[Capabilities], Some(Stage::Answered));
        check(Act::QueryCapabilities, &[Result], None);
        check(Act::QueryCapabilities, &[AnswerFor], Some(Stage::AnsweredFor));
        check(Act::QueryCapabilities, &[AnswerFor, Capabilities], Some(Stage::Answered));
        check(Act::QueryCapabilities, &[AnswerFor, Capabilities, Capabilities], None);
        for act in [Act::QueryIf, Act::QueryRef, Act::QueryCapabilities] {
            check(act, &[Failure], Some(Stage::Failed));
            check(act, &[NotUnderstood], Some(Stage::NotUnderstood));
            check(act, &[GiveUp], Some(Stage::Failed));
            for wrong in [Accept, Reject, Step::RunLate] {
                check(act, &[wrong], None);
            }
        }
    }
}
