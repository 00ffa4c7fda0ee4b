//! Acknowledgements (messaging 1.2, section 6.2). One counts when it comes from whom the alarm went to, goes to
//! whom it came from, and names one that is open and not acknowledged yet, with its severity. It is never
//! acknowledged, acted on or passed on itself.

use super::alarm::{Alarm, Change, Telling};
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
    let waits = |alarm: &Alarm| {
        let own = alarm.told.iter().find(|told| told.id.as_ref() == Some(&id) && told.by == told_by);
        own.is_some_and(|told| told.to.as_ref() == Some(&agent.id) && !told.acked) && alarm.severity == severity
    };
    let alarms = &case.state.rules.vcp.alarms;
    let told = match alarms.by_message(&id, told_by).filter(|(_, alarm)| waits(alarm)) {
        Some(found) if found.1.stops.is_some() => vec![found],
        // One message may have told of two: its sender's own, and the one from below that it was sent for.
        Some(_) | None => alarms.told_to(&agent.id).filter(|(_, alarm)| waits(alarm)).collect(),
    };
    if told.is_empty() {
        let message = "this acknowledges no open escalation that its recipient sent to its sender";
        return Err(Rejection::because(Code::AckUnmatched, message).at("/payload/reason").by("VCP 6.2"));
    }
    for (position, alarm) in told {
        let (id, due) = (Some(id.clone()), to_resolve(alarm, case.now));
        ruling.change(Change::Acked { alarm: position, id, by: agent.id.clone(), due }.into());
    }
    Ok(())
}

/// A critical escalation is not only to be acknowledged, but dealt with.
fn to_resolve(alarm: &Alarm, now: Moment) -> Option<Moment> {
    (alarm.severity == Severity::Critical).then(|| now.plus(clock::RESOLVE))
}

/// An operator acknowledges, or an agent that was told; whoever told it hears that from the exchange.
pub(super) fn order(state: &State, now: Moment, which: &str, who: &Who) -> Result<Ruling, Rejection> {
    if let Who::Agent(id) = who {
        return told(state, now, which, id);
    }
    if !who.is_operator() {
        let message = "an operator acknowledges here, or an agent that was told";
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

/// An agent acknowledges what it was told, as it would by a message; it need not speak VCP for that.
fn told(state: &State, now: Moment, which: &str, agent: &str) -> Result<Ruling, Rejection> {
    let (mut ruling, found) = (Ruling::default(), waiting(state, which, agent));
    for (position, alarm, own) in &found {
        let (by, due) = (agent.to_owned(), to_resolve(alarm, now));
        ruling.change(Change::Acked { alarm: *position, id: own.id.clone(), by, due }.into());
    }
    let Some((_, alarm, own)) = found.first() else {
        let message = "no open escalation that the sender was told of and has not acknowledged has this id";
        return Err(Rejection::because(Code::AckUnmatched, message).by("VCP 6.2"));
    };
    let teller = state.registry.agent(&own.by);
    if let (Some(teller), Some(Ok(id))) = (teller, own.id.as_deref().map(Uuid7::parse)) {
        say(teller, id, alarm.severity, &mut ruling);
    }
    Ok(ruling)
}

/// The open escalations that an agent means by an id or an entry, was told of, and has not acknowledged; and what told it.
fn waiting<'s>(state: &'s State, which: &str, agent: &str) -> Vec<(u64, &'s Alarm, &'s Telling)> {
    let since = state.registry.agent(agent).map_or(u64::MAX, |agent| agent.since);
    // What the exchange said of it in another dialect has an id of its own.
    let said = state
        .rules
        .translations
        .named(agent, which, |link| state.is_hidden_from(link, agent))
        .map(|(_, link)| link.translation.original)
        .next();
    let is_it = |position: u64, alarm: &Alarm, told: &Telling| {
        let by_name = alarm.id == which || told.id.as_deref() == Some(which);
        by_name || which.parse() == Ok(position) || said == Some(position)
    };
    let waits = |told: &Telling, alarm: &Alarm| {
        let is_mine = told.to.as_deref() == Some(agent) && !told.acked;
        is_mine && (told.id.is_some() || alarm.acked_by.as_deref() != Some(agent))
    };
    let all = state.rules.vcp.alarms.told_to(agent).filter(|(position, _)| since < *position);
    let own = all.filter_map(|(position, alarm)| {
        let own = alarm.told.iter().find(|told| waits(told, alarm) && is_it(position, alarm, told))?;
        Some((position, alarm, own))
    });
    own.collect()
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
