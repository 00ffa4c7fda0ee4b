//! What people go by who let a halted session go on: the message that halted it, what that names and what names it,
//! and what else was said in the session or is stopped with it. Of a session that is not halted nothing is told.

use crate::exchange::{Error, Exchange};
use crate::search::Scope;
use crate::truth::{Chain, Truth};
use legation_exchange::{Accepted, Entry, Who};
use std::collections::BTreeSet;

/// How many messages beside the chain are told, the last ones.
const MOST: usize = 100;

/// What a halted session rests on.
#[derive(Clone, Debug, PartialEq)]
pub struct HaltEvidence {
    /// The message that halted it.
    pub by: u64,
    /// That message, what it names and what names it.
    pub truth: Truth,
    /// What else was said in the session, or is stopped with it, oldest first.
    pub said: Vec<(Entry, Accepted)>,
    /// Whether there is more of that.
    pub more: bool,
}

impl Exchange {
    /// What a halted session rests on, for somebody who may see reviews; nothing if it is not halted.
    pub async fn halt_evidence(&self, session: &str, who: &Who) -> Result<Option<HaltEvidence>, Error> {
        let Some((by, messages)) = self.halted_messages(session) else { return Ok(None) };
        self.index_follows().await;
        let (exchange, sees_all) = (self.clone(), who.sees_all());
        self.asked(move |finder| {
            let chain = Chain { exchange: &exchange, finder, scope: &Scope::All };
            let truth = if sees_all { chain.told(by)? } else { chain.about(by)? };
            let told: BTreeSet<u64> = truth.chain.iter().map(|link| link.entry.position).collect();
            let mut rest: Vec<_> =
                messages.iter().rev().filter(|one| !told.contains(one)).take(MOST + 1).copied().collect();
            let more = rest.len() > MOST;
            rest.truncate(MOST);
            let said = rest.into_iter().rev().filter_map(|position| exchange.taken_at(position).transpose());
            Ok(Some(HaltEvidence { by, truth, said: said.collect::<Result<_, _>>()?, more }))
        })
        .await
    }

    fn halted_messages(&self, session: &str) -> Option<(u64, BTreeSet<u64>)> {
        let state = self.state();
        let session = state.rules().vlp.sessions.get(session)?;
        let halt = session.halted.as_ref()?;
        Some((halt.by, session.said().chain(halt.messages.iter().copied()).collect()))
    }
}
