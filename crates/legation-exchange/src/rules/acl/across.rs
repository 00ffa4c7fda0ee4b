//! Conversations in which the exchange speaks for somebody of another dialect.

use super::machine::{Stage, Step};
use super::talk::{Change, Due, Moved, Opening, What};
use crate::rules::{Case, Ruling};
use crate::state::State;
use legation_protocol::acl::TaskStatus;
use legation_protocol::{Code, Rejection};

/// The sender answers, in another dialect, what this entry asked. Other dialects do not say that a task is taken
/// on: an answer says it too.
pub(crate) fn answers(case: &Case<'_>, talk: u64, step: Step, outcome: Option<&str>, ruling: &mut Ruling) {
    let Some(known) = case.state.rules.acl.get(talk) else { return };
    let (act, stage) = (known.opening.act, known.stage);
    let taken = stage.after(act, Step::Accept).filter(|_| stage.after(act, step).is_none());
    let Some(to) = taken.unwrap_or(stage).after(act, step) else { return };
    if let Some(taken) = taken {
        move_to(case, talk, taken, None, ruling);
    }
    // A result in another dialect is one that reached its goal, as it is said.
    let success = (step == Step::Result).then(|| TaskStatus::Success.as_str());
    move_to(case, talk, to, outcome.or(success), ruling);
}

/// Whether another may answer what this entry asked: nobody has taken it on, and whoever asked has heard nothing of it.
pub(crate) fn may_pass_on(state: &State, talk: u64) -> Result<(), Rejection> {
    let Some(known) = state.rules.acl.get(talk) else {
        return Err(Rejection::because(Code::TaskState, "the conversation it was asked in is over: it is asked anew"));
    };
    if known.stage == Stage::Requested {
        return Ok(());
    }
    let Opening { requester, .. } = &known.opening;
    let text = format!(
        "the conversation in which {requester:?} asked for it is {}, and goes back to nobody else: it is asked anew",
        known.stage.as_str()
    );
    Err(Rejection::because(Code::TaskState, text).by("ACL 4"))
}

fn move_to(case: &Case<'_>, talk: u64, to: Stage, outcome: Option<&str>, ruling: &mut Ruling) {
    let times = &case.policy.talks;
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
