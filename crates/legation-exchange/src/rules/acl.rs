//! The rules of the ElizaOS agent language: conversations, and what the exchange says in them. A message
//! that asks opens one; a message that answers moves it, if it comes from the right agent at the right time. Where the
//! exchange extends the language, whoever asked may take it back.

mod across;
mod answer;
mod cancel;
mod directory;
mod due;
mod kept;
mod machine;
mod open;
mod talk;
mod urgency;
mod words;

pub use directory::Asked;
pub use kept::Kept;
pub use machine::{Act, Stage, Step};
pub use talk::{Change, Due, Loss, Moved, Opening, Talk, What};

pub(crate) use across::{answers, may_pass_on};
pub(crate) use answer::has_declined;
pub(crate) use cancel::{takes_back, withdraws};
pub(crate) use due::{answer_lost, breaks_off, due, was_unheard};
pub(crate) use open::ask_later;

use super::{Case, Ruling};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::state::State;
use crate::who::Who;
use legation_protocol::acl::{Message, Performative};
use legation_protocol::{Code, Rejection};
use std::time::Duration;

/// What can be ordered by people and agents beside messages.
#[derive(Clone, Debug, PartialEq)]
pub enum Order {}

/// How long things take in conversations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times {
    /// How long an agent has to answer a question about its capabilities before the directory does.
    pub directory_after: Duration,
    /// How long nothing may be heard of a conversation before it is given up.
    pub idle: Duration,
    /// How long a conversation that is over stays known.
    pub remembered: Duration,
}

impl Default for Times {
    fn default() -> Self {
        Times {
            directory_after: Duration::from_secs(2),
            idle: Duration::from_hours(720),
            remembered: Duration::from_hours(24),
        }
    }
}

impl Case<'_> {
    /// The group the message is for, if it is for one.
    fn group(&self) -> Option<&str> {
        let legation_protocol::Message::Acl(message) = self.received.message() else { return None };
        let name = message.receiver.agent_id.as_str();
        self.state.registry.is_group(name).then_some(name)
    }
}

pub(crate) fn look(case: &Case<'_>, message: &Message, ruling: &mut Ruling) -> Result<(), Rejection> {
    let act = open::act_of(&message.content);
    if case.group().is_some() && !matches!(act, Ok(Act::Task) | Err(Step::Cancel)) {
        let text = "this is a group: it takes a TASK_REQUEST and nothing else";
        return Err(Rejection::because(Code::UnknownRecipient, text).at("/receiver/agent_id"));
    }
    match act {
        Ok(act) => open::open(case, message, act, ruling),
        Err(Step::Cancel) => cancel::cancel(case, message, ruling),
        Err(step) => answer::answer(case, message, step, ruling),
    }
}

pub(crate) fn order(_: &State, _: &Policy, _: Moment, order: &Order, _: &Who) -> Result<Ruling, Rejection> {
    match *order {}
}

/// Where a message may lie that another says it did not understand.
pub(crate) fn puzzling(state: &State, message: &Message) -> Vec<u64> {
    let named = message.refers_to().filter(|_| message.performative() == Performative::NotUnderstood);
    named.map(|named| state.earlier(&message.receiver.agent_id, &named)).unwrap_or_default()
}

impl From<Change> for super::Change {
    fn from(change: Change) -> Self {
        super::Change::Acl(change)
    }
}
