//! The truth rules (VLP V, VI): how far a message may go by itself. The stricter of what its sender declares
//! and what was found counts; a level is only ever raised.

use super::weighed::Weighed;
use crate::rules::hold::{Lifter, Reason};
use crate::rules::{Case, Ruling};
use legation_protocol::vlp::{Gate, Judgement, Level, Message, Metrics, UNPROVEN};
use serde::{Deserialize, Serialize};

/// How much waits for a person.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strictness {
    /// What asks for review, and assertions that are found to need it.
    #[default]
    Standard,
    /// Everything found to need review, queries and notices too, and what does not pass the gate.
    Strict,
}

/// Says how far the message may go, and holds it if that is not far.
pub(super) fn look(case: &Case<'_>, message: &Message, mut weighed: Weighed, ruling: &mut Ruling) -> Level {
    let Judgement { declared, computed, .. } = message.judged();
    if computed == Level::Review {
        let says = "Its confidence is 0.9 or more, and it names no source.".to_owned();
        weighed.issues.insert(0, super::weighed::Issue { rule: "VLP VI.3", code: UNPROVEN, says, grave: true });
    }
    let is_grave = weighed.issues.iter().any(|issue| issue.grave);
    let level = declared.max(if is_grave { Level::Review } else { Level::Safe });
    let metrics = weighed.metrics(level);
    ruling.raise(level);
    ruling.metrics = Some(metrics);
    let strict = case.policy.truth == Strictness::Strict;
    if level != Level::Block {
        if declared == Level::Review {
            hold("declared_review", "Its sender asks that a person look at it.", ruling);
        }
        if message.kind.asserts() || strict {
            for issue in weighed.issues.iter().filter(|issue| issue.grave) {
                hold(issue.code, &issue.says, ruling);
            }
        }
        if strict {
            hold_by(metrics, ruling);
        }
    }
    for issue in weighed.issues {
        ruling.find(issue.rule, issue.code, issue.says);
    }
    level
}

fn hold(code: &str, says: &str, ruling: &mut Ruling) {
    let reason = Reason { code: code.to_owned(), says: says.to_owned(), lifts: Lifter::Person };
    ruling.reasons.push(reason);
}

fn hold_by(metrics: Metrics, ruling: &mut Ruling) {
    match metrics.gate() {
        Gate::Pass => {}
        Gate::Review if Gate::at(metrics.integrity()) == Gate::Pass => {
            hold(
                "gate_review",
                "A hash in it is not that of what it stands beside, or a source was not checked.",
                ruling,
            );
        }
        Gate::Review => hold("gate_review", "Less than three quarters of what it rests on was verified.", ruling),
        Gate::Fail => hold("gate_fail", "Less than half of what it rests on was verified.", ruling),
    }
}
