//! Tasks in which the exchange speaks for somebody of another dialect.

use super::bonds::bonds;
use super::change::{Change, Opened};
use super::delegate::{latest, may_hand_to, no_cycle, within_limits};
use super::oversight::{self, Work};
use super::rights::Grant;
use super::task::Task;
use super::words;
use crate::policy::Policy;
use crate::rules::{Case, Ruling, translate};
use crate::state::State;
use legation_protocol::cap::ErrorCode;
use legation_protocol::{Code, Format, Rejection};

/// The exchange hands a task to an agent, for whoever asked it in another dialect: it works, is overseen and
/// answers as in any other. It is a part of what the asker works on, so that no grant is left behind. Whoever asks
/// back, in a task, somebody who stands above it there passes nothing on.
pub(crate) fn asks(case: &Case<'_>, id: String, assignee: &str, ruling: &mut Ruling) -> Result<(), Rejection> {
    let held = passes_on(case);
    let is_open = |number: &u64| case.state.rules.cap.task(*number).is_some_and(Task::is_open);
    let parent = held.filter(is_open).filter(|_| no_cycle(case.state, held, assignee).is_ok());
    let grant = if parent == held { Grant::default() } else { Grant::nothing() };
    within_limits(case, parent)?;
    let opened = Opened {
        id,
        parent,
        delegator: case.policy.exchange_id(),
        asker: Some(case.speaker.id().to_owned()),
        assignee: assignee.to_owned(),
        grant,
        deadline: latest(case.policy, case.state, case.now, parent, None),
        waits: false,
    };
    ruling.change(Change::Opened(Box::new(opened)).into());
    Ok(())
}

/// The task whose grants go with what the sender asks for: the newest that binds it.
pub(crate) fn passes_on(case: &Case<'_>) -> Option<u64> {
    bonds(case.state, case.speaker.agent()?).first().map(|bond| bond.task())
}

/// Whether the sender may ask somebody to do something, in any dialect: its manifest says whom (Delegation).
/// Whoever has none is bound by none.
pub(crate) fn may_ask(case: &Case<'_>, to: &str) -> Result<Option<String>, Rejection> {
    match case.speaker.agent().filter(|agent| case.state.rules.cap.rights(agent).is_some()) {
        Some(agent) => may_hand_to(case.state, &agent.id, passes_on(case), to),
        None => Ok(None),
    }
}

/// The task that a message hands over again.
pub(crate) fn repeats(ruling: &Ruling) -> Option<u64> {
    let task = |change: &crate::rules::Change| {
        if let crate::rules::Change::Cap(Change::Repeated { task }) = change { Some(*task) } else { None }
    };
    ruling.changes.iter().find_map(task)
}

/// Whether the sender may answer in a task, in another dialect: it works on it, and it is open (Oversight).
pub(crate) fn may_answer(case: &Case<'_>, task: u64) -> Result<(), Rejection> {
    let refuse = |code, text: String| Err(Rejection::because(code, text).by("CAP Oversight"));
    match case.state.rules.cap.task(task) {
        Some(known) if known.assignee != case.speaker.id() => {
            refuse(Code::NotAParty, format!("{} is {:?}'s to finish", known.id, known.assignee))
        }
        Some(known) if !known.is_open() => {
            refuse(Code::TaskState, format!("{} is {} already", known.id, known.state()))
        }
        Some(_) => Ok(()),
        None => refuse(Code::TaskState, "the task that this answers is over".to_owned()),
    }
}

/// A result in another dialect waits for the overseer as any other.
pub(crate) fn waits(case: &Case<'_>, task: u64, content: &str, ruling: &mut Ruling) -> Result<(), Rejection> {
    let known = answered(case, task);
    if let Some(known) = known {
        oversight::has_no_part_in_review(case, task, known)?;
    }
    match known.filter(|task| oversight::is_overseen(case, task)) {
        Some(known) => {
            let work = Work { content: Some(content), attachments: None, is_final: true };
            oversight::wait(case, &work, task, known, ruling)
        }
        None => Ok(()),
    }
}

/// The open task that the sender works on.
fn answered<'c>(case: &Case<'c>, task: u64) -> Option<&'c Task> {
    let known = case.state.rules.cap.task(task)?;
    Some(known).filter(|known| known.is_open() && known.assignee == case.speaker.id())
}

/// What somebody of another dialect answered in a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answer {
    /// It is done.
    Result,
    /// It is not, for a reason with this code.
    Error(i64),
    /// Anything else.
    Talk,
}

/// The sender answers in the task that this entry opened.
pub(crate) fn answers(case: &Case<'_>, task: u64, answer: Answer, ruling: &mut Ruling) {
    let by = case.speaker.id();
    let Some(known) = answered(case, task) else { return };
    ruling.change(Change::Said { task, user: None, by_assignee: true, held: false }.into());
    match answer {
        Answer::Result if oversight::is_overseen(case, known) => {}
        Answer::Result => {
            oversight::withdraw(case, task, known, ruling);
            ruling.change(Change::Finished { task }.into());
        }
        Answer::Error(code) => {
            ruling.change(Change::Erred { task, code, by: by.to_owned(), fails: true, rejected: false }.into());
        }
        Answer::Talk => {}
    }
}

/// Whoever the task that this entry opened was for waits no longer: it is over, and its assignee is told, by an error
/// if that has a code.
pub(crate) fn calls_off(state: &State, policy: &Policy, task: u64, code: Option<ErrorCode>, ruling: &mut Ruling) {
    let Some(known) = state.rules.cap.task(task).filter(|known| known.is_open()) else { return };
    ruling.change(Change::Closed { task }.into());
    let text = format!("Nobody waits for {} any more.", known.id);
    match code.filter(|_| translate::speaks(state, &known.assignee, Format::Cap)) {
        Some(code) => words::error(state, known, &known.assignee, code, text, ruling),
        None => words::not_awaited(state, policy, (task, known), text, ruling),
    }
}

/// Nothing comes of the task that this entry opened, as the exchange knows: whoever handed it over is told. It ends by that
/// with a code, unless it has failed already, with another.
pub(crate) fn breaks_off(
    state: &State,
    task: u64,
    (failed, otherwise): (Option<ErrorCode>, ErrorCode),
    text: &str,
    ruling: &mut Ruling,
) {
    let Some(known) = state.rules.cap.task(task).filter(|known| known.is_open()) else { return };
    let code = failed.unwrap_or(otherwise);
    if failed.is_none() {
        let by = "the exchange".to_owned();
        ruling.change(Change::Erred { task, code: code.number(), by, fails: true, rejected: false }.into());
    }
    words::error(state, known, &known.delegator, code, text.to_owned(), ruling);
}
