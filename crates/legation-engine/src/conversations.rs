//! Reading conversations. Each sees its own, and nobody sees one whose request is held from them.

use crate::exchange::Exchange;
use legation_exchange::rules::acl::{Stage, Talk};
use legation_exchange::{State, Who};

/// A conversation and the entry that opened it.
pub type Conversation = (u64, Talk);

impl Exchange {
    /// Conversations beyond a position, oldest first: those of an agent, or all; in one state, or in any.
    pub fn conversations(
        &self,
        who: &Who,
        agent: Option<&str>,
        standing: Option<Stage>,
        after: Option<u64>,
        limit: usize,
    ) -> Vec<Conversation> {
        let state = self.state();
        let found = state.rules().acl.after(agent, after);
        let wanted = found.filter(|(_, talk)| standing.is_none_or(|wanted| talk.stage == wanted));
        let shown = wanted.filter(|(position, talk)| shows(&state, who, *position, talk));
        shown.take(limit).map(|(position, talk)| (position, talk.clone())).collect()
    }

    /// Conversations by the position or the id of the message that opened them: several, if senders chose
    /// the same id.
    pub fn conversation(&self, who: &Who, key: &str) -> Vec<Conversation> {
        let state = self.state();
        let kept = &state.rules().acl;
        let id = key.to_ascii_lowercase();
        let by_position = key.parse().ok().and_then(|position| Some((position, kept.get(position)?)));
        let found = by_position.into_iter().chain(kept.with_id(&id));
        let shown = found.filter(|(position, talk)| shows(&state, who, *position, talk));
        shown.map(|(position, talk)| (position, talk.clone())).collect()
    }
}

/// Whether somebody is shown a conversation. An agent sees those since it has its name.
fn shows(state: &State, who: &Who, position: u64, talk: &Talk) -> bool {
    // What was refused once it was held never goes on.
    let is_held = || !state.rules().holds.went_on(position);
    let is_new = |id: &str| state.registry().agent(id).is_some_and(|agent| position >= agent.since);
    match who {
        who if who.sees_all() => true,
        Who::Agent(id) => is_new(id) && (talk.opening.requester == *id || (talk.has_party(id) && !is_held())),
        Who::Person { .. } => talk.opening.offered.iter().any(|party| who.is_or_speaks_as(party)) && !is_held(),
        Who::Nobody => false,
    }
}
