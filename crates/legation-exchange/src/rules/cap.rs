//! The rules of CAP: who hands tasks to whom, with which rights, who reviews what comes of them, and what
//! happens when nothing comes. Plain talk is free (Messaging); a handoff, a result and a decision are not.

mod across;
mod bonds;
mod call;
mod calls;
mod change;
mod delegate;
mod failure;
mod judge;
mod order;
mod oversight;
mod place;
mod rights;
mod standing;
mod task;
mod tasks;
mod tools;
mod undelivered;
mod words;

pub use calls::Calls;
pub use change::{Change, Escalation};
pub use judge::{Judged, Opinion, Question, Silence, Word, question};
pub use order::{Order, Step, question_of_order};
pub use rights::{Binding, Grant, Rights};
pub use task::{Failure, Review, Stage, Task};
pub use tasks::Kept;

pub(crate) use across::{Answer, answers, asks, breaks_off, calls_off, may_answer, may_ask, passes_on, repeats, waits};
pub(crate) use call::may_call;
pub(crate) use delegate::mark_changed_terms;
pub(crate) use failure::{answer_lost, due, was_unheard};
pub(crate) use judge::heed;
pub(crate) use order::{order, words_of_order};
pub(super) use oversight::{Inquiry, asks_in_vlp, decide_in_acl, decide_in_vlp, mark_unreviewed, must_not_wait};
pub(crate) use undelivered::{erased_delegations, undelivered_tasks};

use super::{At, Case, Ruling};
use legation_protocol::Rejection;
use legation_protocol::cap::{Kind, Message};

/// How far an overseer's word is asked for (Oversight).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Oversight {
    /// An overseer's plain message to the delegator approves too, as in the spec's own story.
    Implied,
    /// A result waits for a decision that says so.
    #[default]
    Marked,
    /// So does everything with attachments.
    Strict,
}

/// What a handed-on task leaves of its holder's rights (Delegation).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Narrowing {
    /// Its own bindings, as far as every grant above lets them through.
    #[default]
    Grants,
    /// And as far as everybody above is bound to the same.
    Strict,
}

pub(crate) fn look(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    match message.kind() {
        Kind::DelegationNotice => delegate::look(case, message, ruling),
        Kind::Message => oversight::talk(case, message, ruling),
        Kind::OversightInquiry => oversight::inquiry(case, message, ruling),
        Kind::ErrorResponse => failure::look(case, message, ruling),
    }
}

impl From<Change> for super::Change {
    fn from(change: Change) -> Self {
        super::Change::Cap(change)
    }
}
