//! Mild escalations that are cut, since their sender raised as many as it may: whoever stands above it is told how many,
//! once for each minute in which there were some.

use super::alarm::Change;
use super::alarms::{Cut, MILD};
use super::standing::above;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::Ruling;
use crate::state::State;
use legation_protocol::Message;
use legation_protocol::vcp::{Payload, Role};

/// Whose mild escalation a message is, if it comes to nothing because there were enough.
pub(crate) fn cut_of(state: &State, now: Moment, message: &Message) -> Option<String> {
    let Message::Vcp(envelope) = message else { return None };
    let Payload::Escalation(said) = &envelope.payload else { return None };
    let sender = state.registry.resolve(message.sender())?;
    let is_mild = !said.severity.is_grave() && !matches!(said.role(), Ok(Role::Ack(_)));
    let is_cut = is_mild && state.rules.vcp.alarms.mild_of(&sender.id, now) >= MILD;
    is_cut.then(|| sender.id.clone())
}

pub(super) fn due(state: &State, policy: &Policy, now: Moment) -> Option<Ruling> {
    let (agent, Cut { count, .. }) = state.rules.vcp.alarms.first_cut().filter(|(_, cut)| cut.due <= now)?;
    let mut ruling = Ruling::default();
    ruling.change(Change::Coalesced { agent: agent.to_owned(), count: *count }.into());
    let up = state.registry.agent(agent).and_then(|agent| above(&state.registry, agent));
    if let Some(up) = up {
        let text = format!(
            "{agent} raised or passed on {MILD} info and warning escalations in a minute, and {count} more, which were refused."
        );
        ruling.tell(policy, up, "escalations_cut", text);
    }
    Some(ruling)
}
