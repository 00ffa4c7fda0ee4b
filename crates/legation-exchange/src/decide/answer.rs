//! The answer to a message beside its verdict and position: findings about it, and the terms of its hold.

use crate::effect::Accepted;
use crate::moment::Moment;
use crate::rules::hold::{Lifter, Reason};
use crate::rules::{Change, Finding, cap};
use crate::state::State;
use legation_protocol::{Message, Received, Recipients, Violation};
use serde::Serialize;
use std::collections::BTreeSet;

/// Details of an answer to the sender of a message. Empty for most messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnswerDetails {
    /// SHOULDs of the dialect that the message breaks, what the rules and the scan found, and what the exchange changed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<AnswerFinding>,
    /// Whether the message goes to the record and to nobody: it names no recipient, and there are no parties to hear it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub record_only: bool,
    /// The terms of the hold, if the message is held.
    #[serde(flatten)]
    pub hold: Option<AnswerHold>,
}

/// One finding about a message, as its sender is told of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerFinding {
    /// The finding's code.
    pub code: String,
    /// The finding in words.
    pub message: String,
    /// JSON pointer to the member it is about, if it is about one.
    pub at: Option<String>,
}

/// The terms of a hold: why, who decides, and by when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerHold {
    /// Every reason for the hold.
    pub reasons: Vec<AnswerReason>,
    /// The review's id: the position of the held entry, in decimal.
    pub review: String,
    /// The time at which an undecided hold is rejected, as RFC 3339; none if it has no deadline.
    pub decide_by: Option<String>,
    /// The roles that can lift the reasons: `operator`, `reviewer`, `overseer` or `parent`.
    pub decided_by_roles: Vec<&'static str>,
}

/// One reason for a hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnswerReason {
    /// The reason's code.
    pub code: String,
    /// The reason in words.
    pub message: String,
}

impl AnswerDetails {
    /// Builds the details of the answer to a message that is about to be committed at `position`. Returns `None` if
    /// there is nothing beyond verdict and position to tell.
    pub(super) fn of(
        state: &State,
        position: u64,
        accepted: &Accepted,
        received: &Received,
    ) -> Option<Box<AnswerDetails>> {
        let (ruled, record_only) = (&accepted.ruled, is_record_only(accepted, received.message()));
        // What a rule found too is told once.
        let is_found = |warning: &&Violation| ruled.findings.iter().any(|found| found.code == warning.code.as_str());
        let mut warnings = received.warnings().filter(|warning| !is_found(warning)).peekable();
        if ruled.findings.is_empty() && ruled.held.is_empty() && !record_only && warnings.peek().is_none() {
            return None;
        }
        let findings =
            warnings.map(AnswerFinding::from).chain(ruled.findings.iter().map(AnswerFinding::from)).collect();
        let hold = (!ruled.held.is_empty()).then(|| AnswerHold {
            reasons: ruled.held.iter().map(AnswerReason::from).collect(),
            review: position.to_string(),
            decide_by: decision_deadline(state, ruled.until, &ruled.changes).map(|until| until.to_string()),
            decided_by_roles: deciding_roles(&ruled.held),
        });
        Some(Box::new(AnswerDetails { findings, record_only, hold }))
    }
}

/// Whether a message reaches nobody because it is for nobody in particular, and nobody hears it in another dialect either.
fn is_record_only(accepted: &Accepted, message: &Message) -> bool {
    let is_translated = || accepted.ruled.findings.iter().any(|finding| finding.code == "translated");
    accepted.to.is_empty()
        && accepted.missed.is_empty()
        && matches!(message.recipients(), Recipients::Thread | Recipients::Peers)
        && !is_translated()
}

impl From<&Violation> for AnswerFinding {
    fn from(warning: &Violation) -> AnswerFinding {
        let Violation { code, at, message, .. } = warning;
        AnswerFinding { code: code.as_str().to_owned(), message: message.clone().into_owned(), at: at.clone() }
    }
}

impl From<&Finding> for AnswerFinding {
    fn from(finding: &Finding) -> AnswerFinding {
        let Finding { code, says, spot, about, .. } = finding;
        let at = spot.as_ref().map(|spot| &spot.at).or_else(|| about.first().map(|about| &about.at));
        AnswerFinding { code: code.clone(), message: says.clone(), at: at.cloned() }
    }
}

impl From<&Reason> for AnswerReason {
    fn from(reason: &Reason) -> AnswerReason {
        AnswerReason { code: reason.code.clone(), message: reason.says.clone() }
    }
}

/// The deadline of a hold: that of its review, or of the task whose result waits for an overseer, whichever is first.
fn decision_deadline(state: &State, until: Option<Moment>, changes: &[Change]) -> Option<Moment> {
    let task_deadline = |change: &Change| match change {
        Change::Cap(cap::Change::Waits { task, .. }) => state.rules.cap.task(*task).map(|task| task.deadline),
        _ => None,
    };
    until.into_iter().chain(changes.iter().filter_map(task_deadline)).min()
}

/// Roles that can lift at least one of these reasons, each once, in a fixed order.
fn deciding_roles(reasons: &[Reason]) -> Vec<&'static str> {
    let roles = reasons.iter().flat_map(|reason| roles_of(&reason.lifts));
    let roles: BTreeSet<_> = roles.copied().collect();
    roles.into_iter().collect()
}

/// Roles that can lift a reason of this kind.
const fn roles_of(lifter: &Lifter) -> &'static [&'static str] {
    match lifter {
        Lifter::Person | Lifter::Cleared(_) | Lifter::Original(_) | Lifter::Session(_) => &["operator", "reviewer"],
        Lifter::Overseer(_) => &["overseer"],
        Lifter::Resume(_) => &["operator", "parent"],
    }
}
