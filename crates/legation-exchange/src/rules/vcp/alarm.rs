//! An escalation and what happens to it: who raised it, who was told, who answered, and when somebody else
//! must be told (messaging 1.2, section 6).

use crate::moment::Moment;
use crate::rules::Finding;
use legation_protocol::vcp::Severity;
use serde::{Deserialize, Serialize};

/// An escalation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alarm {
    /// The id of the message.
    pub id: String,
    /// Who raised it.
    pub from: String,
    /// How serious it is.
    pub severity: Severity,
    /// Whether an acknowledgement was asked for.
    pub wants_ack: bool,
    /// When it was taken.
    pub at: Moment,
    /// Who was told, the addressee first.
    pub told: Vec<Telling>,
    /// Where it stands.
    pub stage: Stage,
    /// Who acknowledged it first.
    pub acked_by: Option<String>,
    /// When the next above is told.
    pub due: Option<Moment>,
    /// Who is stopped by it, with their instances.
    pub stops: Option<String>,
    /// The halted session that the exchange raised it for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What was found in its text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<Finding>,
    /// Who closed it, and when.
    pub closed: Option<(String, Moment)>,
}

/// Somebody who was told of an escalation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Telling {
    /// Who; nobody means the operator.
    pub to: Option<String>,
    /// Who told them.
    pub by: String,
    /// The id of the message that did.
    pub id: Option<String>,
    /// Whether they acknowledged that.
    pub acked: bool,
}

/// Where an escalation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Nobody has acknowledged it since it was told last.
    Unanswered,
    /// Somebody has, and has not dealt with it yet.
    Answered,
    /// Somebody has dealt with it; what it stopped is not let go on yet.
    Handled,
    /// It is over.
    Closed,
}

impl Stage {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Stage::Unanswered => "unanswered",
            Stage::Answered => "answered",
            Stage::Handled => "handled",
            Stage::Closed => "closed",
        }
    }
}

/// What happens to an escalation. All but the first name it by the entry that holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Change {
    /// It is raised, by the entry this is part of.
    Raised {
        /// Its message id.
        id: String,
        /// By whom.
        from: String,
        /// How serious it is.
        severity: Severity,
        /// Who is told, the addressee first; nobody means the operator.
        told: Vec<Option<String>>,
        /// Whether an acknowledgement was asked for.
        wants_ack: bool,
        /// When the next above is told.
        due: Option<Moment>,
        /// Who is stopped by it, with their instances.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stops: Option<String>,
        /// Whether its sender may raise no more mild ones for a while.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last: bool,
        /// Where the exchange raises it, because of what its sender did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ours: Option<Ours>,
        /// What was found in its text, for whoever it is quoted to.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        found: Vec<Finding>,
    },
    /// The next above is told, since nobody answered or dealt with it; nobody means the operator.
    Told {
        /// Which.
        alarm: u64,
        /// Who.
        to: Option<String>,
        /// When the next above is told.
        due: Option<Moment>,
        /// Who raised it.
        from: String,
    },
    /// The exchange says so to one who is told, by the entry this is part of.
    Said {
        /// Which.
        alarm: u64,
        /// To whom.
        to: String,
        /// The exchange's own id.
        by: String,
        /// The id of the message.
        id: String,
    },
    /// One above passes it on, by the entry this is part of.
    Passed {
        /// Which.
        alarm: u64,
        /// Who.
        by: String,
        /// To whom; nobody means the operator.
        to: Option<String>,
        /// The id of the message.
        id: String,
        /// When the next above is told.
        due: Option<Moment>,
        /// Whether its sender may say no more mild ones for a while.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        last: bool,
    },
    /// One who was told acknowledges it.
    Acked {
        /// Which.
        alarm: u64,
        /// The id of the message that told them; an operator needs none.
        id: Option<String>,
        /// Who.
        by: String,
        /// When the next above is told, if nobody has dealt with it by then.
        due: Option<Moment>,
    },
    /// Somebody deals with it.
    Handled {
        /// Which.
        alarm: u64,
        /// Who.
        by: String,
    },
    /// Whoever stands above an agent is told how many of its mild ones were refused.
    Coalesced {
        /// Whose.
        agent: String,
        /// How many.
        count: u64,
    },
    /// It is over.
    Closed {
        /// Which.
        alarm: u64,
        /// Who said so.
        by: String,
        /// Whom it no longer stops.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        frees: Option<String>,
    },
}

/// An escalation that the exchange raises.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ours {
    /// The exchange's own id.
    pub by: String,
    /// The halted session it is about.
    pub session: String,
}

/// What people are to be told of an escalation.
#[derive(Clone, Copy)]
pub(crate) enum Alerting<'a> {
    /// Nobody above has answered it, or dealt with it.
    Unanswered(&'a str),
    /// It is raised or passed on to the operator.
    Told(&'a str),
    /// Its sender may raise no more for a while.
    Flood(&'a str),
}

impl Change {
    pub(super) fn alert(&self) -> Option<Alerting<'_>> {
        match self {
            Change::Told { to: None, from, .. } => Some(Alerting::Unanswered(from)),
            Change::Raised { from: by, last: true, .. } | Change::Passed { by, last: true, .. } => {
                Some(Alerting::Flood(by))
            }
            Change::Raised { from, told, severity, .. } => {
                // Nobody has to act on an info, and an emergency is told as one.
                let is_told = told.contains(&None) && matches!(severity, Severity::Warning | Severity::Critical);
                is_told.then_some(Alerting::Told(from))
            }
            Change::Passed { to: None, by, .. } => Some(Alerting::Told(by)),
            Change::Told { .. }
            | Change::Said { .. }
            | Change::Passed { .. }
            | Change::Acked { .. }
            | Change::Handled { .. }
            | Change::Coalesced { .. }
            | Change::Closed { .. } => None,
        }
    }

    /// Fills in the id of the message that says it.
    pub(crate) fn said_as(&mut self, said: &str) {
        if let Change::Said { id, .. } | Change::Raised { id, ours: Some(_), .. } = self {
            said.clone_into(id);
        }
    }
}
