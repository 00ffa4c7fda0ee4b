//! What goes wrong (Observability, Error Schema): errors that are reported, tasks that are late, parties that
//! are gone. Nothing is tried again by itself.

use super::change::Change;
use super::place::Place;
use super::task::{Stage, Task};
use super::{tools, words};
use crate::agent::Agent;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::hold::{self, Lifter, Reason, Which};
use crate::rules::{Case, Ruling, acl, translate};
use crate::state::State;
use legation_protocol::cap::{Body, ErrorCode, Message};
use legation_protocol::{Code, Rejection};

/// An error response. From whoever works on the task to whom it is for, it ends the task.
pub(super) fn look(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    let place = Place::of_talk(case, &message.task_id);
    let number = place.task().map(|(number, _)| number);
    tools::look_in_talk(case, message, number, ruling)?;
    let (Some((task, known)), Body::ErrorResponse { error_code, .. }) = (place.task(), &message.body) else {
        return Ok(());
    };
    let me = case.speaker.id();
    if !known.is_open() {
        let text = format!("{} is {} already: no error ends it again", known.id, known.state());
        return Err(Rejection::because(Code::TaskState, text).at("/task_id").by("CAP Observability"));
    }
    let fails = known.assignee == me && case.goes_to(&known.delegator);
    ruling.change(Change::Said { task, user: None, by_assignee: known.assignee == me, held: false }.into());
    ruling.change(Change::Erred { task, code: error_code.number(), by: me.to_owned(), fails, rejected: false }.into());
    Ok(())
}

/// What has to be done about the tasks now, one thing at a time.
pub(crate) fn due(state: &State, policy: &Policy, now: Moment) -> Option<Ruling> {
    let kept = &state.rules.cap;
    if let Some(message) = kept.stale.first() {
        return Some(stale(state, policy, now, *message));
    }
    if let Some(message) = kept.stranded.first() {
        return Some(stranded(state, *message));
    }
    if let Some((number, task)) = kept.lost.first().and_then(|number| Some((*number, kept.task(*number)?))) {
        return Some(lost(state, policy, now, (number, task)));
    }
    let Some((number, task)) = kept.overdue(now) else {
        let (number, loss) = kept.undelivered.first_key_value()?;
        return Some(undelivered(state, policy, now, (*number, kept.task(*number)?), *loss));
    };
    let mut ruling = Ruling::default();
    let text = format!("{} was not done by {}.", task.id, task.deadline);
    ruling.change(
        Change::Erred { task: number, code: 504, by: "the exchange".to_owned(), fails: false, rejected: false }.into(),
    );
    ruling.change(Change::Expired { task: number }.into());
    tell(state, policy, now, (number, task), (ErrorCode::Timeout, text), &mut ruling);
    Some(ruling)
}

/// The delegation of an open task reached nobody: the task has failed, and its delegator is told.
fn undelivered(state: &State, policy: &Policy, now: Moment, (number, task): (u64, &Task), loss: acl::Loss) -> Ruling {
    let mut ruling = Ruling::default();
    let (code, by) = (undelivered_code(loss), "the exchange".to_owned());
    ruling.change(Change::Erred { task: number, code: code.number(), by, fails: true, rejected: false }.into());
    let text = format!("{:?} never got {}: {}.", task.assignee, task.id, loss.says());
    tell(state, policy, now, (number, task), (code, text), &mut ruling);
    ruling
}

/// A delegation that waited too long is late; one that was taken away is not to be found.
fn undelivered_code(loss: acl::Loss) -> ErrorCode {
    match loss {
        acl::Loss::Expired => ErrorCode::Timeout,
        acl::Loss::MailboxFull
        | acl::Loss::Removed
        | acl::Loss::RequesterRemoved
        | acl::Loss::Purged
        | acl::Loss::Erased
        | acl::Loss::Refused
        | acl::Loss::Crowded => ErrorCode::NotFound,
    }
}

/// Tells whoever handed a task over that it failed; and if the exchange did that for somebody of another dialect, them.
pub(super) fn tell(
    state: &State,
    policy: &Policy,
    now: Moment,
    (number, task): (u64, &Task),
    (code, text): (ErrorCode, String),
    ruling: &mut Ruling,
) {
    let name = code.number().to_string();
    let why = translate::Why { code: &name, text: &text, failed: Some(code) };
    if !translate::work_failed(state, policy, now, number, why, ruling) {
        words::error(state, task, &task.delegator, code, text, ruling);
    }
}

/// The result, or the error, of an agent in this entry, which ended a task, never comes.
pub(crate) fn answer_lost(state: &State, agent: &Agent, message: u64, ruling: &mut Ruling) {
    let ended_by = |task: &Task| {
        let failed = task.errors.back().filter(|_| task.stage == Stage::Failed).map(|failure| failure.position);
        task.assignee == agent.id && (task.result == Some(message) || failed == Some(message))
    };
    let ended = state.rules.cap.tasks().filter(|(_, task)| ended_by(task));
    ended.for_each(|(number, _)| was_unheard(state, number, ruling));
}

/// Whoever handed this over has not heard how it ended, and never will. What goes on tells of a loss itself.
pub(crate) fn was_unheard(state: &State, number: u64, ruling: &mut Ruling) {
    let Some(task) = state.rules.cap.task(number).filter(|task| !task.is_open()) else { return };
    let is_same = state.registry.agent(&task.delegator).is_none_or(|delegator| delegator.since < number);
    if is_same {
        words::error(state, task, &task.delegator, ErrorCode::NotFound, acl::Loss::UNHEARD.to_owned(), ruling);
    }
}

/// Work that waits in a task that has ended goes nowhere, and nor does a delegation of one.
fn stale(state: &State, policy: &Policy, now: Moment, message: u64) -> Ruling {
    let mut ruling = Ruling::default();
    let (by, why) = ("the exchange".to_owned(), "the task has ended".to_owned());
    if state.rules.cap.task(message).is_some() {
        hold::refuse(state, policy, now, message, (by, why), &mut ruling);
        return ruling;
    }
    if let Some((number, task)) = state.rules.cap.reviewed(message) {
        let text = format!("Your work in entry {message} does not go on: {} is {}.", task.id, task.state());
        words::of_work(state, policy, (number, task), message, text, &mut ruling);
    }
    ruling.change(hold::Change::Refused { message, by, why }.into());
    translate::stays_over(state, message, &mut ruling);
    ruling
}

/// The overseer of held work is gone: it stays held, and a person decides.
fn stranded(state: &State, message: u64) -> Ruling {
    let mut ruling = Ruling::default();
    let review = state.rules.cap.reviewed(message).and_then(|(_, task)| task.reviews.get(&message));
    let lifts = review.and_then(|review| review.overseer.clone()).map(Lifter::Overseer);
    let waits = |lifts: &Lifter| {
        let hold = state.rules.holds.get(message);
        hold.is_some_and(|hold| hold.reasons.iter().any(|reason| reason.lifts == *lifts))
    };
    // Where the overseer has approved it already, something else holds it.
    if let Some(lifts) = lifts.filter(waits) {
        let says = "its overseer is gone: waits for a person".to_owned();
        let reason = Reason { code: "oversight".to_owned(), says, lifts: Lifter::Person };
        ruling.change(hold::Change::Frozen { which: Which::Messages(vec![message]), reason }.into());
        let by = "the exchange".to_owned();
        ruling.change(hold::Change::Lifted { message, lifts, by, why: None }.into());
    }
    ruling.change(Change::Stranded { message }.into());
    ruling
}

/// A party of an open task is gone.
fn lost(state: &State, policy: &Policy, now: Moment, (number, task): (u64, &Task)) -> Ruling {
    let mut ruling = Ruling::default();
    let (code, by) = (ErrorCode::NotFound, "the exchange".to_owned());
    let is_awaited = match task.asker.as_deref().map(|asker| state.registry.agent(asker)) {
        // Another may have the name since.
        Some(asker) => asker.is_some_and(|asker| asker.since < number),
        None => policy.is_exchange(&task.delegator) || super::order::is_still_here(state, &task.delegator, number),
    };
    if task.is_open() && is_awaited {
        let text = format!("{:?}, who worked on {}, is not registered any more.", task.assignee, task.id);
        ruling.change(Change::Erred { task: number, code: code.number(), by, fails: true, rejected: false }.into());
        tell(state, policy, now, (number, task), (code, text), &mut ruling);
    } else {
        let text = format!("{:?}, who wanted {} done, is not registered any more.", task.counts_for(), task.id);
        ruling.change(Change::Closed { task: number }.into());
        words::not_awaited(state, policy, (number, task), text, &mut ruling);
    }
    ruling
}
