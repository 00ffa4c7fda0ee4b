//! Whether an agent goes, and what goes with it: its instances. What waited for them reached nobody,
//! and those below it go to whom it stood below.

use super::{Below, Decided, Decision, Desk, Verdict};
use crate::agent::Agent;
use crate::effect::{Effect, Entry};
use crate::rules::{Ruling, vcp};
use crate::who::Who;
use legation_protocol::{Code, Rejection};
use std::collections::BTreeMap;

impl Desk<'_> {
    pub(super) fn remove(&self, id: String, below: Below, who: &Who) -> Decided {
        let agent = self.state.registry.agent(&id);
        match who {
            _ if who.is_operator() => {}
            Who::Agent(by) if agent.is_some_and(|agent| agent.parent.as_ref() == Some(by)) => {
                vcp::may_act(self.state, by)?;
            }
            Who::Agent(_) | Who::Person { .. } => {
                let message = "only an operator, or the agent above, removes an agent";
                return Err(Rejection::because(Code::NotAllowed, message));
            }
            Who::Nobody => return Err(Rejection::because(Code::Unauthenticated, "this takes an operator's token")),
        }
        let Some(agent) = agent else {
            return Err(Rejection::because(Code::UnknownAgent, "there is no such agent"));
        };
        let left = |id: &str| self.state.mailbox(id).map_or(0, |mailbox| mailbox.len() as u64);
        let removed = |id: &str| Effect::Removed { agent: id.to_owned(), by: who.to_string(), left: left(id) };
        let own: Vec<_> = self.state.registry.instances(&id).chain([agent]).collect();
        let (gone, stopped) = self.removed_with(agent, own, below, who)?;
        let mut ruling = vcp::leave(self.state, self.policy, &gone, &who.to_string());
        crate::rules::leave(self.state, &gone, &mut ruling);
        // What is said of it comes after it: that is why it is said.
        let heard = std::mem::take(&mut ruling.heard);
        let mut entries = Vec::new();
        for ruling in stopped {
            self.follow_onto(ruling, &who.to_string(), &mut entries);
        }
        self.follow_onto(ruling, &who.to_string(), &mut entries);
        for agent in gone {
            let position = self.state.next + entries.len() as u64;
            entries.push(Entry { position, at: self.now, effect: removed(&agent.id), body: None });
        }
        let position = entries.iter().find(|entry| matches!(entry.effect, Effect::Removed { .. }));
        let position = position.map_or(self.state.next, |entry| entry.position);
        self.consequences(position, Vec::new(), heard, &mut entries);
        Ok(Decision { verdict: Verdict::Accepted { position, id, new: false, details: None }, entries })
    }

    /// All that are removed with an agent, and what becomes of those below it that stay.
    fn removed_with<'d>(
        &'d self,
        agent: &'d Agent,
        own: Vec<&'d Agent>,
        below: Below,
        who: &Who,
    ) -> Result<(Vec<&'d Agent>, Vec<Ruling>), Rejection> {
        match below {
            Below::Keep => Ok((own, Vec::new())),
            Below::Suspend if !who.is_operator() => {
                let message = "only an operator suspends what is below an agent that is removed";
                Err(Rejection::because(Code::NotAllowed, message).at("/below"))
            }
            Below::Suspend => {
                let stopped = vcp::suspend_below(self.state, self.policy, &own, agent, who);
                Ok((own, stopped))
            }
            Below::Remove => {
                let below: BTreeMap<_, _> = vcp::agents_below(self.state, agent)
                    .flat_map(|below| self.state.registry.instances(&below.id).chain([below]))
                    .chain(own)
                    .map(|agent| (agent.id.as_str(), agent))
                    .collect();
                Ok((below.into_values().collect(), Vec::new()))
            }
        }
    }
}
