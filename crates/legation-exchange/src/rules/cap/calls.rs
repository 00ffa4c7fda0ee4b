//! Calls of tools that were made through the gateway: those that are under way, and the newest answers by their digests,
//! which results that are shown are held against.

use crate::by_name::ByName;
use crate::tool::{Answered, Called};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many answers are remembered of one agent, and of all.
const OF_ONE: usize = 256;
const IN_ALL: usize = 32_768;

/// What is kept of calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Calls {
    /// Those under way, by their entries.
    open: BTreeMap<u64, Called>,
    /// Those under way that were erased: nothing is kept of what comes of them but how they ended.
    erased: BTreeSet<u64>,
    /// Answers, by their entries.
    answers: BTreeMap<u64, Heard>,
    /// The same, by who got them.
    of: ByName<BTreeSet<u64>>,
}

/// An answer of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Heard {
    agent: String,
    digest: String,
    /// The task the call was made in.
    task: Option<u64>,
    /// The entry of the call.
    call: u64,
}

impl Calls {
    /// A call that is under way.
    pub fn open(&self, call: u64) -> Option<&Called> {
        self.open.get(&call)
    }

    /// All that are under way, oldest first.
    pub fn all_open(&self) -> impl Iterator<Item = (u64, &Called)> {
        self.open.iter().map(|(call, called)| (*call, called))
    }

    /// Whether a call that is under way was erased.
    pub fn is_erased(&self, call: u64) -> bool {
        self.erased.contains(&call)
    }

    /// How many answers are remembered.
    pub fn answers_len(&self) -> usize {
        self.answers.len()
    }

    /// The newest answer with this digest that an agent got, in a task that fits or in none.
    pub(super) fn answer_to(&self, agent: &str, digest: &str, fits: &dyn Fn(u64) -> bool) -> Option<u64> {
        let own = self.of.get(agent)?.iter().rev();
        let is_it = |heard: &Heard| heard.digest == digest && heard.task.is_none_or(fits);
        own.copied().find(|answer| self.answers.get(answer).is_some_and(is_it))
    }

    pub(crate) fn begin(&mut self, call: u64, called: &Called) {
        self.open.insert(call, called.clone());
    }

    /// What came of a call. It is remembered if whoever made it is still there and there is a result.
    pub(crate) fn end(&mut self, position: u64, answered: &Answered, remembered: bool) {
        let Some(called) = self.open.remove(&answered.call) else { return };
        self.erased.remove(&answered.call);
        let Some(digest) = answered.digest.clone().filter(|_| remembered) else { return };
        let Called { agent, task, .. } = called;
        let own = self.of.or_default(&agent);
        own.insert(position);
        let oldest = if own.len() > OF_ONE { own.first().copied() } else { None };
        self.answers.insert(position, Heard { agent, digest, task, call: answered.call });
        if let Some(oldest) = oldest {
            self.drop_one(oldest);
        }
        while self.answers.len() > IN_ALL {
            let Some((oldest, _)) = self.answers.first_key_value() else { return };
            self.drop_one(*oldest);
        }
    }

    /// An agent is gone: what it was answered is nobody's.
    pub(super) fn forget(&mut self, agent: &str) {
        for answer in self.of.remove(agent).unwrap_or_default() {
            self.answers.remove(&answer);
        }
    }

    /// What was erased, of a call or of its answer, bears nothing out any more.
    pub(super) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        self.erased.extend(self.open.keys().copied().filter(|call| is_erased(*call)));
        let gone = |(answer, heard): (&u64, &Heard)| (is_erased(*answer) || is_erased(heard.call)).then_some(*answer);
        let gone: Vec<_> = self.answers.iter().filter_map(gone).collect();
        for answer in gone {
            self.drop_one(answer);
        }
    }

    fn drop_one(&mut self, answer: u64) {
        let Some(Heard { agent, .. }) = self.answers.remove(&answer) else { return };
        let Some(own) = self.of.get_mut(&agent) else { return };
        own.remove(&answer);
        if own.is_empty() {
            self.of.remove(&agent);
        }
    }
}
