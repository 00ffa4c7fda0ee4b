//! Conversations in which the exchange speaks for somebody of another dialect.

use super::machine::Step;
use super::talk::{Change, Due, Moved, What};
use crate::rules::{Case, Ruling};

/// The sender answers, in another dialect, what this entry asked. Other dialects do not say that a task is taken
/// on: an answer says it too.
pub(crate) fn answers(case: &Case<'_>, talk: u64, step: Step, outcome: Option<&str>, ruling: &mut Ruling) {
    let Some(known) = case.state.rules.acl.get(talk) else { return };
    let (act, stage, times) = (known.opening.act, known.stage, &case.policy.talks);
    let taken = || stage.after(act, Step::Accept).and_then(|stage| stage.after(act, step));
    let Some(to) = stage.after(act, step).or_else(taken) else { return };
    let due = Due { at: case.now.plus(times.idle), what: What::Idle };
    let moved = Moved {
        talk,
        to,
        by: Some(case.speaker.id().to_owned()),
        answer: Some(case.id.to_owned()),
        outcome: outcome.map(str::to_owned),
        estimate: None,
        due: to.is_open().then_some(due),
        until: (!to.is_open()).then(|| case.now.plus(times.remembered)),
    };
    ruling.change(Change::Moved(Box::new(moved)).into());
}
