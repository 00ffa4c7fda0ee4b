//! Calls of tools: asked for by somebody who may speak, answered at most once, with what the tool answered, and closed as not
//! known if a stop came between, and only then.

use super::{Check, Model, ensure};
use crate::asked::{Asked, Wished};
use legation_exchange::State;
use legation_exchange::tool::{Answered, Called, Outcome};
use legation_protocol::json::Digest;
use std::collections::{BTreeMap, BTreeSet};

/// What must be so of calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    /// All that were made, by position: which wish it is.
    made: BTreeMap<u64, usize>,
    /// Those that were answered, by the position of the call: where.
    answered: BTreeMap<u64, u64>,
}

impl Model {
    pub(super) fn called(&mut self, asked: &Asked, at: u64, called: &Called, stopped: &BTreeSet<String>) -> Check {
        let wished = asked.wishes.iter().enumerate().find(|(number, _)| Wished::digest(*number) == called.digest);
        let (number, wished) = wished.ok_or_else(|| format!("nobody wished for the call at {at}"))?;
        ensure(called.agent == wished.agent && called.tool == wished.tool, || format!("{at} is another call"))?;
        ensure(!stopped.contains(&called.agent), || format!("{} was stopped, and called at {at}", called.agent))?;
        let bound = self.members.get(&called.agent).is_some_and(|agent| agent.tools.contains(&called.tool));
        ensure(bound, || format!("{} is not bound to what it called at {at}", called.agent))?;
        let again = self.calls.made.values().any(|made| *made == number);
        ensure(!again, || format!("call {number} was made twice, the second time at {at}"))?;
        self.calls.made.insert(at, number);
        self.counts.called += 1;
        Ok(())
    }

    pub(super) fn call_ended(&mut self, asked: &Asked, at: u64, answered: &Answered) -> Check {
        let Answered { call, outcome, digest, .. } = answered;
        let number = *self.calls.made.get(call).ok_or_else(|| format!("{at} answers no call"))?;
        let before = self.calls.answered.insert(*call, at);
        ensure(before.is_none(), || format!("{call} was answered at {before:?}, and again at {at}"))?;
        if *outcome == Outcome::Interrupted {
            self.counts.interrupted += 1;
            return ensure(asked.stopped.contains(call), || format!("nothing stopped between {call} and {at}"));
        }
        ensure(asked.sent.get(call) == Some(&number), || format!("{call} was answered at {at} and never sent"))?;
        ensure(asked.came.get(call) == Some(outcome), || format!("another thing came of {call} than {at} says"))?;
        let told = asked.wish(number)?.answer(number).filter(|_| outcome.is_answer());
        let want = told.map(|told| Digest::of_bytes(&told).to_string());
        self.counts.answered += 1;
        ensure(*digest == want, || format!("{at} has another answer than came"))
    }

    /// What was sent was on the record before, and what callers were told is there.
    pub(crate) fn calls_were_told(&self, asked: &Asked) -> Check {
        for (call, number) in &asked.sent {
            let made = self.calls.made.get(call);
            ensure(made == Some(number), || format!("call {number} went out for {call} and is not on the record"))?;
        }
        for (call, at) in &asked.answered {
            let found = self.calls.answered.get(call);
            ensure(found == Some(at), || format!("what came of {call} was told at {at} and is lost"))?;
        }
        Ok(())
    }

    pub(super) fn calls_agree(&self, state: &State) -> Check {
        let open: Vec<_> = state.rules().cap.calls().all_open().map(|(call, _)| call).collect();
        let own: Vec<_> =
            self.calls.made.keys().filter(|call| !self.calls.answered.contains_key(call)).copied().collect();
        ensure(open == own, || format!("{open:?} are under way, and {own:?} should be"))
    }
}
