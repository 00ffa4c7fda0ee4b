//! Whether an agent goes, and what goes with it: its instances. What waited for them reached nobody,
//! and those below it go to whom it stood below.

use super::{Decided, Desk};
use crate::effect::Effect;
use crate::who::Who;
use legation_protocol::{Code, Rejection};

impl Desk<'_> {
    pub(super) fn remove(&self, id: String, who: &Who) -> Decided {
        let agent = self.state.registry.agent(&id);
        match who {
            _ if who.is_operator() => {}
            Who::Agent(by) if agent.is_some_and(|agent| agent.parent.as_ref() == Some(by)) => {}
            Who::Agent(_) | Who::Person { .. } => {
                let message = "only an operator, or the agent above, removes an agent";
                return Err(Rejection::because(Code::NotAllowed, message));
            }
            Who::Nobody => return Err(Rejection::because(Code::Unauthenticated, "this takes an operator's token")),
        }
        if agent.is_none() {
            return Err(Rejection::because(Code::UnknownAgent, "there is no such agent"));
        }
        let left = |id: &str| self.state.mailbox(id).map_or(0, |mailbox| mailbox.len() as u64);
        let removed = |id: &str| Effect::Removed { agent: id.to_owned(), by: who.to_string(), left: left(id) };
        let instances = self.state.registry.instances(&id).map(|instance| removed(&instance.id));
        let effects = instances.chain([removed(&id)]).collect();
        Ok(self.all(id, effects))
    }
}
