//! Tools that agents have called, as the engine does it: what is on the record is sent, once; what came of it is written down
//! until it is there; and what a stop left open is closed at the next start. A process that ends takes with it what it waited for.

use super::World;
use super::asking::Ask;
use crate::asked::Wished;
use crate::house::{NAMES, SERVER, TOOLS};
use legation_exchange::tool::Outcome;
use legation_exchange::{Answer, Call, Input, Verdict, Who};
use legation_protocol::Code;
use std::collections::BTreeSet;

/// What the running exchange knows of calls.
#[derive(Debug, Default)]
pub(super) struct Bench {
    /// Sent, and not answered on the record as far as it was told.
    under_way: BTreeSet<u64>,
    /// Left open by the stop before.
    left: BTreeSet<u64>,
}

impl Bench {
    /// That of an exchange that starts.
    pub(super) fn left(open: impl Iterator<Item = u64>) -> Bench {
        Bench { under_way: BTreeSet::new(), left: open.collect() }
    }

    pub(super) fn is_idle(&self) -> bool {
        self.under_way.is_empty() && self.left.is_empty()
    }

    /// What the last process left open.
    pub(super) fn all_left(&self) -> impl Iterator<Item = u64> + '_ {
        self.left.iter().copied()
    }
}

/// What may come of a call.
const OUTCOMES: [Outcome; 5] = [Outcome::Result, Outcome::Result, Outcome::Error, Outcome::Silent, Outcome::Broken];

impl World {
    /// An agent wants a tool called.
    pub(super) fn wish(&mut self) -> Option<Ask> {
        let (agent, tool) = (*self.rng.pick(&NAMES)?, *self.rng.pick(&TOOLS)?);
        let number = self.asked.wishes.len();
        self.asked.wishes.push(Wished { agent, tool });
        Some(Ask::Call(number))
    }

    /// What is to be written down of calls; all of it, or some and some of that twice.
    pub(super) fn answers(&mut self, all: bool) -> Vec<Ask> {
        let mut asks: Vec<_> = self.bench.left.iter().map(|call| Ask::Answer(*call)).collect();
        for call in self.bench.under_way.clone() {
            if all || self.rng.chance(40) {
                let outcome = self.rng.pick(&OUTCOMES).copied().unwrap_or(Outcome::Silent);
                self.asked.came.entry(call).or_insert(outcome);
                asks.push(Ask::Answer(call));
                if self.rng.chance(10) {
                    asks.push(Ask::Answer(call));
                }
            }
        }
        asks
    }

    pub(super) fn call(&self, number: usize) -> Result<Input, String> {
        let wished = self.asked.wish(number)?;
        let call = Call {
            server: SERVER.to_owned(),
            tool: wished.tool.to_owned(),
            task: None,
            scopes: Vec::new(),
            arguments: format!(r#"{{"number":{number}}}"#).into_bytes().into(),
            digest: Wished::digest(number),
            is_known: true,
        };
        Ok(Input::Call { call: Box::new(call), who: Who::Agent(wished.agent.to_owned()) })
    }

    pub(super) fn came(&self, call: u64) -> Result<Input, String> {
        let ended = |outcome, body| Answer { call, outcome, why: None, body, scanned: Vec::new() };
        let answer = if self.bench.left.contains(&call) {
            ended(Outcome::Interrupted, None)
        } else {
            let outcome = *self.asked.came.get(&call).ok_or_else(|| format!("nothing came of {call}"))?;
            let number = *self.asked.sent.get(&call).ok_or_else(|| format!("{call} was never sent"))?;
            let body = if outcome.is_answer() { self.asked.wish(number)?.answer(number) } else { None };
            ended(outcome, body)
        };
        Ok(Input::Answer(Box::new(answer)))
    }

    /// What is on the record goes out, once.
    pub(super) fn hear_of_call(&mut self, number: usize, verdict: &Verdict) -> Result<(), String> {
        match verdict {
            Verdict::Accepted { position, .. } => {
                let again = self.asked.sent.values().any(|sent| *sent == number);
                if again || self.asked.sent.insert(*position, number).is_some() {
                    return Err(format!("call {number} went out twice, the second time for {position}"));
                }
                self.bench.under_way.insert(*position);
                Ok(())
            }
            Verdict::Refused(_) => Ok(()),
            Verdict::Held { .. } | Verdict::Duplicate { .. } => Err(format!("call {number} is told {verdict:?}")),
        }
    }

    /// Whoever called is told what is on the record, or is not to be told.
    pub(super) fn hear_of_answer(&mut self, call: u64, verdict: &Verdict) -> Result<(), String> {
        let is_known = |code: Code| matches!(code, Code::NotFound | Code::AgentSuspended | Code::Unauthenticated);
        match verdict {
            Verdict::Accepted { position, .. } => drop(self.asked.answered.insert(call, *position)),
            Verdict::Refused(why) if is_known(why.code()) => {}
            Verdict::Refused(_) | Verdict::Held { .. } | Verdict::Duplicate { .. } => {
                return Err(format!("what came of {call} is told {verdict:?}"));
            }
        }
        self.bench.under_way.remove(&call);
        self.bench.left.remove(&call);
        Ok(())
    }
}
