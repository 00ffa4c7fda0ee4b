//! The clocks of escalations (messaging 1.2, sections 6.1 to 6.3): where nobody answers in time, or nobody deals
//! with what was answered, the next above is told, and in the end the operator. Each deadline fires once.

use super::alarm::Change;
use super::escalation::Quoted;
use super::standing::line;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::Ruling;
use crate::state::State;
use legation_protocol::id::Uuid7;
use legation_protocol::vcp::{Context, Escalation, Payload};
use legation_protocol::{Message, Received};
use std::time::Duration;

/// How long an acknowledged critical escalation may wait for somebody to deal with it.
pub(super) const RESOLVE: Duration = Duration::from_mins(5);

/// The entry whose message is to be quoted by what falls due first.
pub(super) fn quotes(state: &State, now: Moment) -> Option<u64> {
    state.rules.vcp.alarms.first_due().filter(|(due, _)| *due <= now).map(|(_, alarm)| alarm)
}

pub(super) fn due(state: &State, policy: &Policy, now: Moment, quoted: Option<&[u8]>) -> Option<Ruling> {
    let position = quotes(state, now)?;
    let alarm = state.rules.vcp.alarms.get(position)?;
    let from = state.registry.agent(&alarm.from);
    let was_told = |id: &String| alarm.told.iter().any(|told| told.to.as_ref() == Some(id));
    let next = from.and_then(|from| line(&state.registry, from).find(|up| !was_told(&up.id)));
    let mut ruling = Ruling::default();
    let due = next.map(|_| now.plus(alarm.severity.ack_within()));
    ruling.change(
        Change::Told { alarm: position, to: next.map(|up| up.id.clone()), due, from: alarm.from.clone() }.into(),
    );
    let (Some(up), Some(from), Ok(id)) = (next, from, Uuid7::parse(&alarm.id)) else { return Some(ruling) };
    let said = quoted.and_then(escalation);
    // What was erased is not quoted.
    let lost = || match &alarm.session {
        Some(session) => format!("{} blocked the session {session:?}, and nobody dealt with that in time", alarm.from),
        None => format!("nobody dealt with this in time, and its text is gone; it is entry {position}"),
    };
    let (reason, context) = match said {
        Some(said) => (said.reason, Some(said.context)),
        None => (lost(), context()),
    };
    let found = if quoted.is_some() { alarm.found.as_slice() } else { &[] };
    if let Some(context) = context {
        let quoted = Quoted { id, severity: alarm.severity, reason: &reason, context: &context, found };
        ruling.heard.push(quoted.said_to(policy, up, from, position));
    }
    Some(ruling)
}

fn escalation(bytes: &[u8]) -> Option<Escalation> {
    let Message::Vcp(envelope) = Received::read(bytes).ok()?.message().clone() else { return None };
    match envelope.payload {
        Payload::Escalation(said) => Some(said),
        Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) | Payload::ConstraintPropagate(_) => None,
    }
}

/// The exchange's own situation, which is always the same.
pub(super) fn context() -> Option<Context> {
    Context::parse("📍🏢").ok()
}
