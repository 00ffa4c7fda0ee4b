//! What the rules of the dialects keep of what is translated: a task that the exchange hands over for somebody is
//! one, and an answer in another dialect answers.

use super::conversation::{Conversation, place};
use super::said::{Act, Said};
use crate::rules::{Case, Ruling, acl, cap};
use legation_protocol::{Format, Rejection};

/// What somebody has to see first waits, and so does what is said for it.
pub(super) fn gate(
    case: &Case<'_>,
    talk: &Conversation<'_>,
    said: &Said,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let Some(number) = answered_task(case, talk).filter(|_| said.act.answers()) else { return Ok(()) };
    cap::may_answer(case, number).map_err(|rejection| rejection.at(place(case)))?;
    if said.act == Act::Result { cap::waits(case, number, &said.text, ruling) } else { Ok(()) }
}

/// The task that the sender was asked to do, where its answer is in another dialect than tasks are kept in.
fn answered_task(case: &Case<'_>, talk: &Conversation<'_>) -> Option<u64> {
    let is_other = case.received.message().dialect() != Format::Cap;
    talk.ask.filter(|_| is_other && talk.is_asked())?.task()
}

/// A task that is handed over for whoever asks.
pub(super) fn open(
    case: &Case<'_>,
    talk: &Conversation<'_>,
    act: Act,
    said_in: Format,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    if act == Act::Ask && said_in == Format::Cap {
        return cap::asks(case, super::cap::task_of(case.state.next), talk.hearer.id(), ruling);
    }
    Ok(())
}

pub(super) fn follow(case: &Case<'_>, talk: &Conversation<'_>, said: &Said, ruling: &mut Ruling) {
    let Some(ask) = talk.ask.filter(|_| talk.is_asked()) else { return };
    let answer = super::cap::answer(said, ask.is_question());
    if let (Some(task), Some(answer)) = (answered_task(case, talk), answer) {
        cap::answers(case, task, answer, ruling);
    }
    let step = super::acl::step(said).filter(|_| ask.translation.dialect == Format::Acl);
    if let Some(step) = step {
        acl::answers(case, ask.translation.original, step, said.code(), ruling);
    }
}
