//! Tasks in which the exchange speaks for somebody of another dialect.

use super::change::{Change, Opened};
use super::delegate::latest;
use super::rights::Grant;
use super::words;
use crate::rules::{Case, Ruling};
use crate::state::State;
use legation_protocol::cap::ErrorCode;

/// The exchange hands a task to an agent, for whoever asked it in another dialect: it works, is overseen and
/// answers as in any other.
pub(crate) fn asks(case: &Case<'_>, id: String, assignee: &str, ruling: &mut Ruling) {
    let opened = Opened {
        id,
        parent: None,
        delegator: case.policy.exchange_id(),
        assignee: assignee.to_owned(),
        grant: Grant::default(),
        deadline: latest(case.policy, case.state, case.now, None, None),
    };
    ruling.change(Change::Opened(Box::new(opened)).into());
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
    let known = case.state.rules.cap.task(task).filter(|known| known.is_open() && known.assignee == by);
    if known.is_none() {
        return;
    }
    ruling.change(Change::Said { task, user: None }.into());
    match answer {
        Answer::Result => ruling.change(Change::Finished { task }.into()),
        Answer::Error(code) => ruling.change(Change::Erred { task, code, by: by.to_owned(), fails: true }.into()),
        Answer::Talk => {}
    }
}

/// Nothing comes of the task that this entry opened, as the exchange knows.
pub(crate) fn breaks_off(state: &State, task: u64, text: &str, ruling: &mut Ruling) {
    let Some(known) = state.rules.cap.task(task).filter(|known| known.is_open()) else { return };
    let (code, by) = (ErrorCode::Internal, "the exchange".to_owned());
    ruling.change(Change::Erred { task, code: code.number(), by, fails: true }.into());
    words::error(state, known, &known.delegator, code, text.to_owned(), ruling);
}
