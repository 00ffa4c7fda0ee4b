//! Letters that reached nobody: kept in a list until somebody sends them again or drops them. The
//! messages themselves stay in the record whatever becomes of the list.

use crate::effect::nobody;
use crate::mailbox::Item;
use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Bound;

/// How many are listed; the oldest make room for new ones.
const MOST: usize = 100_000;

/// Why a letter reached nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// It waited as long as it was to wait.
    Expired,
    /// Its recipient was removed.
    Removed,
    /// The mailbox was full.
    MailboxFull,
}

impl Why {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Why::Expired => "expired",
            Why::Removed => "removed",
            Why::MailboxFull => "mailbox_full",
        }
    }
}

/// A message that did not reach a recipient.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadLetter {
    /// The entry that holds the message.
    pub message: u64,
    /// Why.
    pub why: Why,
    /// Since when.
    pub at: Moment,
    /// The entry that registered its sender; [`NOBODY`](crate::NOBODY) if no agent's suspension stops it.
    #[serde(default = "nobody", with = "crate::wire_integer::sender")]
    pub from: u64,
    /// The entry that began the session it belongs to; [`OUTSIDE`](crate::OUTSIDE) if it belongs to none.
    pub session: u64,
}

impl DeadLetter {
    /// What waited, and reaches nobody any more.
    pub(crate) fn of(item: Item, why: Why, at: Moment) -> DeadLetter {
        DeadLetter { message: item.message, why, at, from: item.from, session: item.session }
    }
}

/// The list, by where each letter was routed and whom to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeadLetters {
    letters: BTreeMap<(u64, String), DeadLetter>,
}

impl DeadLetters {
    /// Those beyond a position, oldest first.
    pub fn after(&self, after: Option<u64>) -> impl Iterator<Item = (u64, &str, DeadLetter)> {
        let from = (after.map_or(0, |position| position.saturating_add(1)), String::new());
        self.letters.range(from..).map(|((position, agent), letter)| (*position, agent.as_str(), *letter))
    }

    /// Those that come after the one routed to an agent at a position.
    pub fn beyond(&self, position: u64, agent: &str) -> impl Iterator<Item = (u64, &str, DeadLetter)> {
        let from = Bound::Excluded((position, agent.to_owned()));
        let letters = self.letters.range((from, Bound::Unbounded));
        letters.map(|((position, agent), letter)| (*position, agent.as_str(), *letter))
    }

    /// The one that was routed to an agent at a position.
    pub fn find(&self, position: u64, agent: &str) -> Option<DeadLetter> {
        self.letters.get(&(position, agent.to_owned())).copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.letters.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.letters.is_empty()
    }

    pub(crate) fn put(&mut self, position: u64, agent: &str, letter: DeadLetter) {
        self.letters.insert((position, agent.to_owned()), letter);
        if self.letters.len() > MOST {
            self.letters.pop_first();
        }
    }

    /// Takes every message off the list that is one of those.
    pub(crate) fn take_messages(&mut self, is_one: &impl Fn(u64) -> bool) {
        self.letters.retain(|_, letter| !is_one(letter.message));
    }

    pub(crate) fn take(&mut self, position: u64, agent: &str) -> Option<DeadLetter> {
        self.letters.remove(&(position, agent.to_owned()))
    }
}
