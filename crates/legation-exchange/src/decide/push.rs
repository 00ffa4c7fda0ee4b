//! What came of bringing messages to an agent. It has happened: nothing is left to be refused.

use super::{Decision, Desk, Verdict};
use crate::effect::Effect;
use crate::push::Pushed;

impl Desk<'_> {
    /// Nothing where the agent is gone, and its mailbox with it.
    pub(super) fn pushed(&self, pushed: Pushed) -> Decision {
        if self.state.registry.agent(&pushed.agent).is_none() {
            let verdict = Verdict::Accepted { position: self.state.next, id: pushed.agent, new: false, details: None };
            return Decision { verdict, entries: Vec::new() };
        }
        self.noted(Effect::Pushed(pushed))
    }

    /// What could not be brought goes once more to whoever says anew where it takes its messages.
    pub(super) fn goes_again(&self, agent: &str) -> Option<Effect> {
        let unpushed = self.state.mailbox(agent)?.unpushed();
        let again: Vec<_> = unpushed.filter(|(_, standing)| standing.may_go()).map(|(position, _)| position).collect();
        let pushed = Pushed { agent: agent.to_owned(), again, ..Pushed::default() };
        (!pushed.is_empty()).then_some(Effect::Pushed(pushed))
    }
}
