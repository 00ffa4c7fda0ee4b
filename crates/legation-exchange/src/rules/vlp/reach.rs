//! What goes on from what is halted, over any number of steps: by naming it, by resting on it with its hash, by saying it
//! or answering it in another dialect. It is followed from what is halted to what goes on from that, and never back: who
//! builds on something chose to, and what else it builds on has nothing to do with it. What was reached when something
//! was halted stays so until that is released, however much is said since.

use super::window::Window;
use crate::rules::translate::Links;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Over how many steps, from message to message, all that one sender has halted may reach, the oldest of each halt first.
pub(super) const MOST_REACHED: usize = 131_072;
/// How many names are followed for one block: whoever decides has others waiting.
const MOST_FOLLOWED: usize = 262_144;

/// What goes on from something, by position, each with what it goes on from.
pub(super) type Found = BTreeMap<u64, BTreeSet<u64>>;

/// What a halt stops by itself.
pub(super) struct Roots<'r> {
    /// The messages of its session.
    pub(super) said: Option<&'r BTreeSet<u64>>,
    /// Those outside, by position; the last is the block.
    pub(super) messages: &'r [u64],
}

impl Roots<'_> {
    fn all(&self) -> impl Iterator<Item = u64> {
        self.said.into_iter().flatten().chain(self.messages).copied()
    }

    fn are_one_with(&self, message: u64) -> bool {
        self.is_within(message) || self.messages.binary_search(&message).is_ok()
    }

    fn is_within(&self, message: u64) -> bool {
        self.said.is_some_and(|said| said.contains(&message))
    }
}

/// What goes on from these, as far as the window and the translations tell. All of it leads back, so that once through is
/// enough.
pub(super) fn going_on_from(roots: &Roots<'_>, window: &Window, links: &Links) -> Found {
    let mut walk = Walk { roots, links, found: Found::new(), ahead: Found::new() };
    roots.all().for_each(|root| walk.look_ahead(root));
    let (Some(first), mut followed) = (roots.all().min(), 0) else { return walk.found };
    for (message, named) in window.naming(first) {
        walk.go_up_to(message);
        let ahead = walk.ahead.remove(&message).unwrap_or_default();
        walk.come_to(message, named.inspect(|_| followed += 1).chain(ahead));
        if followed > MOST_FOLLOWED {
            break;
        }
    }
    walk.go_up_to(u64::MAX);
    walk.found
}

struct Walk<'w> {
    roots: &'w Roots<'w>,
    links: &'w Links,
    found: Found,
    /// What goes on from what was found in other dialects.
    ahead: Found,
}

impl Walk<'_> {
    fn look_ahead(&mut self, message: u64) {
        for next in self.links.going_on_from(message) {
            self.ahead.entry(next).or_default().insert(message);
        }
    }

    fn go_up_to(&mut self, message: u64) {
        while let Some(first) = self.ahead.first_entry().filter(|first| *first.key() < message) {
            let (next, from) = first.remove_entry();
            self.come_to(next, from);
        }
    }

    fn come_to(&mut self, message: u64, from: impl IntoIterator<Item = u64>) {
        let leads = |from: &u64| self.roots.are_one_with(*from) || self.found.contains_key(from);
        let from: BTreeSet<u64> = from.into_iter().filter(leads).collect();
        if !from.is_empty() && !self.roots.are_one_with(message) {
            self.found.insert(message, from);
            self.look_ahead(message);
        }
    }
}

/// What is stopped beside the sessions that are halted. A halt is known by the entry that began its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Reach {
    /// By position. How each came to it is kept, so that whoever releases one halt frees nothing that another stops.
    stopped: BTreeMap<u64, Stopped>,
    /// The sessions of the halts.
    sessions: BTreeMap<u64, String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Stopped {
    /// One of the halts that stop it.
    with: u64,
    /// Those that stop it by itself, or of whose sessions it names something.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    by: BTreeSet<u64>,
    /// What it goes on from that is stopped itself.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    over: BTreeSet<u64>,
    /// The halt that it is a block of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    blocks: Option<u64>,
}

impl Reach {
    /// The halted session that a message is stopped with.
    pub(super) fn stops(&self, message: u64) -> Option<&str> {
        let with = self.stopped.get(&message)?.with;
        self.sessions.get(&with).map(String::as_str)
    }

    /// Whether a message is a block, and what it halted is not released.
    pub(super) fn is_block(&self, message: u64) -> bool {
        self.stopped.get(&message).is_some_and(|stopped| stopped.blocks.is_some())
    }

    /// A session is halted, with these and what goes on from them.
    pub(super) fn halt(&mut self, halt: u64, session: &str, roots: &Roots<'_>, found: impl Iterator<Item = Came>) {
        self.sessions.insert(halt, session.to_owned());
        let begins = || Stopped { with: halt, ..Stopped::default() };
        for message in roots.messages {
            self.stopped.entry(*message).or_insert_with(begins).by.insert(halt);
        }
        if let Some(block) = roots.messages.last().and_then(|block| self.stopped.get_mut(block)) {
            block.blocks = Some(halt);
        }
        for (message, from) in found {
            let over: Vec<u64> = from.iter().copied().filter(|from| self.stopped.contains_key(from)).collect();
            let stopped = self.stopped.entry(message).or_insert_with(begins);
            stopped.over.extend(over);
            if from.into_iter().any(|from| roots.is_within(from)) {
                stopped.by.insert(halt);
            }
        }
    }

    /// A halt is over: what nothing else stops goes on.
    pub(super) fn release(&mut self, halt: u64) {
        self.sessions.remove(&halt);
        let mut left: BTreeMap<u64, Stopped> = BTreeMap::new();
        for (message, mut stopped) in std::mem::take(&mut self.stopped) {
            stopped.by.remove(&halt);
            stopped.over.retain(|over| left.contains_key(over));
            stopped.blocks = stopped.blocks.filter(|own| *own != halt);
            let over = || stopped.over.first().and_then(|over| left.get(over)).map(|over| over.with);
            if let Some(with) = stopped.by.first().copied().or_else(over) {
                left.insert(message, Stopped { with, ..stopped });
            }
        }
        self.stopped = left;
    }
}

/// A message, and what it goes on from.
type Came = (u64, BTreeSet<u64>);
