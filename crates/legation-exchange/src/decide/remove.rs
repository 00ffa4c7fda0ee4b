//! Whether an agent goes, and what goes with it: its instances. What waited for them reached nobody,
//! and those below it go to whom it stood below.

use super::{Decided, Decision, Desk, Verdict};
use crate::effect::{Effect, Entry};
use crate::rules::vcp;
use crate::who::Who;
use legation_protocol::{Code, Rejection};

impl Desk<'_> {
    pub(super) fn remove(&self, id: String, who: &Who) -> Decided {
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
        let gone: Vec<_> = self.state.registry.instances(&id).chain([agent]).collect();
        let mut ruling = vcp::leave(self.state, self.policy, &gone, &who.to_string());
        crate::rules::leave(self.state, &gone, &mut ruling);
        // What is said of it comes after it: that is why it is said.
        let heard = std::mem::take(&mut ruling.heard);
        let mut entries = self.follow(ruling, &who.to_string());
        for agent in gone {
            let position = self.state.next + entries.len() as u64;
            entries.push(Entry { position, at: self.now, effect: removed(&agent.id), body: None });
        }
        let position = entries.iter().find(|entry| matches!(entry.effect, Effect::Removed { .. }));
        let position = position.map_or(self.state.next, |entry| entry.position);
        self.consequences(position, Vec::new(), heard, &mut entries);
        Ok(Decision { verdict: Verdict::Accepted { position, id, new: false, details: None }, entries })
    }
}
