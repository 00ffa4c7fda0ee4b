//! What a message says, whatever its dialect: the middle between any two.

use super::links::Step;
use super::table::About;
use legation_protocol::json::Json;
use legation_protocol::vcp::Severity;
use serde_json::{Map, Value};

/// What somebody does by saying something. Each is a row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    /// Asks for something to be done or found out.
    Ask,
    /// Asks whether something is so, or what it is.
    Question,
    /// Asks, as an overseer, about work that waits for its word.
    Inquire,
    /// Takes on what was asked.
    Accept,
    /// Does not.
    Reject,
    /// Tells what came of it.
    Result,
    /// Tells that it broke down.
    Failure,
    /// Tells that the question made no sense.
    Puzzled,
    /// Takes back what was asked.
    Cancel,
    /// Anything else.
    Talk,
    /// Raises an alarm.
    Alarm(Severity),
    /// Has heard one.
    Ack,
    /// Lays rules on somebody.
    Rules,
    /// Stops what follows.
    Block,
}

impl Act {
    /// Whether it goes to its recipient even in a dialect that one does not speak.
    pub(super) const fn must_arrive(self) -> bool {
        matches!(self, Act::Alarm(_) | Act::Ack | Act::Rules | Act::Block)
    }

    /// What it does to what was asked.
    pub(super) const fn step(self) -> Step {
        match self {
            Act::Ask => Step::Asks,
            Act::Question | Act::Inquire => Step::Questions,
            Act::Accept => Step::Accepts,
            Act::Reject | Act::Result | Act::Failure | Act::Puzzled => Step::Ends,
            Act::Cancel | Act::Talk | Act::Alarm(_) | Act::Ack | Act::Rules | Act::Block => Step::Says,
        }
    }

    /// Whether it answers something that was asked.
    pub(super) const fn answers(self) -> bool {
        matches!(self.step(), Step::Accepts | Step::Ends)
    }
}

/// What is said.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Said {
    pub(super) act: Act,
    /// For people.
    pub(super) text: String,
    /// For programs: what has a place of its own in the original.
    pub(super) details: Map<String, Value>,
}

impl Said {
    pub(super) fn new(act: Act, text: impl Into<String>) -> Said {
        Said { act, text: text.into(), details: Map::new() }
    }

    /// The same with one more detail, if there is one.
    pub(super) fn with(mut self, name: &str, value: Option<Value>) -> Said {
        if let Some(value) = value {
            self.details.insert(name.to_owned(), value);
        }
        self
    }

    /// What an answer implies of whoever gives it.
    pub(super) fn taken_on() -> Said {
        Said::new(Act::Accept, "")
    }

    /// Why, for programs.
    pub(super) fn code(&self) -> Option<&str> {
        self.details.get("code").and_then(Value::as_str)
    }

    /// All that is for programs, if there is any.
    pub(super) fn data(&self) -> Option<Json> {
        (!self.details.is_empty()).then(|| Value::Object(self.details.clone()).into())
    }
}

/// A text that a dialect wants filled.
pub(super) fn filled(text: &str, otherwise: &str) -> String {
    if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
}

/// A value as details hold it.
pub(super) fn value<T: serde::Serialize>(of: &T) -> Option<Value> {
    serde_json::to_value(of).ok()
}

/// To whom it is said, about what.
pub(super) struct Scene {
    /// The recipient, as this dialect names it.
    pub(super) to: String,
    /// The message it answers or goes on from, by the id the recipient knows.
    pub(super) refers_to: Option<String>,
    /// The task or session, by the id the recipient knows.
    pub(super) thread: Option<String>,
    /// The entry of the original.
    pub(super) entry: u64,
    /// The field of knowledge it was asked in.
    pub(super) ontology: Option<String>,
    /// Whether a question was asked.
    pub(super) is_question: bool,
    /// The original's id.
    pub(super) id: String,
    /// The original's digest, if it is said for one.
    pub(super) digest: Option<String>,
    /// All that is told of the original.
    pub(super) from: Value,
}

impl Scene {
    /// What the words for it depend on.
    pub(super) fn about<'s>(&self, said: &'s Said) -> About<'s> {
        About { answers: self.is_question, code: said.code(), ..About::default() }
    }
}
