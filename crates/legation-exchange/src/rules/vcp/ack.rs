//! Acknowledgements (messaging 1.2, section 6.2). One counts when it comes from whom the alarm went to, goes to
//! whom it came from, and names one that is open and not acknowledged yet, with its severity. It is never
//! acknowledged, acted on or passed on itself.

use super::alarm::{Alarm, Change};
use super::clock;
use crate::agent::Agent;
use crate::moment::Moment;
use crate::rules::voice::name_in;
use crate::rules::{Case, Ruling};
use crate::state::State;
use crate::who::Who;
use legation_protocol::id::{AgentId, Uuid7};
use legation_protocol::vcp::{Envelope, Escalation, Severity};
use legation_protocol::{Code, Format, Message, Rejection};

pub(super) fn look(
    case: &Case<'_>,
    agent: &Agent,
    severity: Severity,
    id: Uuid7,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let (id, exchange) = (id.to_string(), case.policy.exchange_id());
    let told_by = case.to.first().map_or(exchange.as_str(), String::as_str);
    let found = case.state.rules.vcp.alarms.by_message(&id, told_by);
    let waits = |alarm: &Alarm| {
        let own = alarm.told.iter().find(|told| told.id.as_ref() == Some(&id) && told.by == told_by);
        own.is_some_and(|told| told.to.as_ref() == Some(&agent.id) && !told.acked) && alarm.severity == severity
    };
    let Some((position, alarm)) = found.filter(|(_, alarm)| waits(alarm)) else {
        let message = "this acknowledges no open escalation that its recipient sent to its sender";
        return Err(Rejection::because(Code::AckUnmatched, message).at("/payload/reason").by("VCP 6.2"));
    };
    let due = to_resolve(alarm, case.now);
    ruling.change(Change::Acked { alarm: position, id: Some(id), by: agent.id.clone(), due }.into());
    Ok(())
}

/// A critical escalation is not only to be acknowledged, but dealt with.
fn to_resolve(alarm: &Alarm, now: Moment) -> Option<Moment> {
    (alarm.severity == Severity::Critical).then(|| now.plus(clock::RESOLVE))
}

/// An operator acknowledges; whoever raised the alarm hears it from the exchange.
pub(super) fn order(state: &State, now: Moment, which: &str, who: &Who) -> Result<Ruling, Rejection> {
    if !who.is_operator() {
        let message = "an operator acknowledges here; an agent sends the acknowledgement to whom the alarm is from";
        return Err(Rejection::because(Code::NotAllowed, message));
    }
    let (position, alarm) = find(state, which)?;
    if let Some(by) = &alarm.acked_by {
        return Err(Rejection::because(Code::AckUnmatched, format!("{by} has acknowledged it already")));
    }
    let mut ruling = Ruling::default();
    let (by, due) = (who.to_string(), to_resolve(alarm, now));
    ruling.change(Change::Acked { alarm: position, id: None, by, due }.into());
    // Of what the exchange raised, its sender has sent nothing that could be answered.
    let child = state.registry.agent(&alarm.from).filter(|_| alarm.session.is_none());
    if let (Some(child), Ok(id)) = (child, Uuid7::parse(&alarm.id)) {
        say(child, id, alarm.severity, &mut ruling);
    }
    Ok(ruling)
}

fn say(child: &Agent, id: Uuid7, severity: Severity, ruling: &mut Ruling) {
    let (name, context) = (name_in(child, Format::Vcp).to_owned(), clock::context());
    ruling.say(child.id.clone(), move |origin| {
        let ack = Escalation::ack(id, severity, context?);
        Some(Message::Vcp(Box::new(Envelope::to(AgentId::vcp(&name).ok()?, origin, ack))))
    });
}

/// The open escalation with this message id, or in this entry.
fn find<'s>(state: &'s State, which: &str) -> Result<(u64, &'s Alarm), Rejection> {
    let alarms = &state.rules.vcp.alarms;
    if let Some(found) = which.parse().ok().and_then(|position| Some((position, alarms.get(position)?))) {
        return Ok(found);
    }
    let mut named = alarms.named(which).map(|(_, position, alarm)| (position, alarm));
    match (named.next(), named.next()) {
        (Some(found), None) => Ok(found),
        (None, _) => Err(Rejection::because(Code::UnknownEscalation, "no open escalation has this id")),
        (Some(_), Some(_)) => {
            let message = "several open escalations have this id: name the entry instead";
            Err(Rejection::because(Code::AmbiguousReference, message))
        }
    }
}
