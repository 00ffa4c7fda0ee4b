//! Letting a stopped agent go on (messaging 1.2, section 6.4): only by naming the escalation, only by whoever
//! stands above, or by an operator. Nothing else a parent says does it.

use super::alarm::{Alarm, Change};
use super::standing::{self, Standing, Turn, above, family};
use crate::agent::Agent;
use crate::policy::Policy;
use crate::rules::{Case, Ruling};
use crate::state::State;
use crate::who::Who;
use legation_protocol::id::Uuid7;
use legation_protocol::vcp::{Constraint, ConstraintPropagate, Payload, Rule};
use legation_protocol::{Code, Message, Rejection};
use std::collections::BTreeSet;

/// Looks at rules for those that deal with an escalation.
pub(super) fn look(case: &Case<'_>, rules: &ConstraintPropagate, ruling: &mut Ruling) -> Result<(), Rejection> {
    let mut closed = Vec::new();
    for (index, Constraint { rule, .. }) in rules.constraints.iter().enumerate() {
        let at = |rejection: Rejection| rejection.at(format!("/payload/constraints/{index}/value")).by("VCP 6.4");
        match rule {
            Rule::Resume(resume) => closed.push(named(case, resume.escalation_id).map_err(at)?),
            Rule::Other(other) => handle(case, other.value.as_str(), ruling),
            Rule::TopicBlock(_) | Rule::TokenLimit(_) | Rule::AudienceRestrict(_) | Rule::SafetyFloor(_) => {}
        }
    }
    let Some(child) = case.to.first().and_then(|id| case.state.registry.agent(id)) else { return Ok(()) };
    if !closed.is_empty() {
        let by = case.speaker.id();
        close(case.state, case.policy, family(child), &closed, by, format!("{by} resumed it."), ruling);
    }
    Ok(())
}

/// Nobody goes on by a message that is held: the state it was decided on may be gone when it is released.
pub(super) fn must_not_wait(message: &Message) -> Result<(), Rejection> {
    let Message::Vcp(envelope) = message else { return Ok(()) };
    let Payload::ConstraintPropagate(rules) = &envelope.payload else { return Ok(()) };
    match rules.constraints.iter().position(|one| matches!(one.rule, Rule::Resume(_))) {
        None => Ok(()),
        Some(index) => {
            let text = "this waits for a person, and a resume does not: send the resume in a message of its own";
            Err(Rejection::because(Code::BadConstraint, text).at(format!("/payload/constraints/{index}")).by("VCP 6.4"))
        }
    }
}

/// The open escalation that is resumed, if the one who says so stands above.
fn named(case: &Case<'_>, id: Uuid7) -> Result<u64, Rejection> {
    let not_parent = |message: &'static str| Rejection::because(Code::NotParent, message);
    let (registry, alarms) = (&case.state.registry, &case.state.rules.vcp.alarms);
    let child = case.to.first().and_then(|id| registry.agent(id));
    let (Some(child), Some(agent)) = (child, case.speaker.agent()) else {
        return Err(not_parent("an agent is resumed by the one above it, in a message to it"));
    };
    if !stands_above(case.state, agent, child) {
        return Err(not_parent("only the agent above, or an operator, lets an agent go on"));
    }
    let is_own = |alarm: &Alarm| registry.agent(&alarm.from).is_some_and(|from| family(from) == family(child));
    let id = id.to_string();
    let mut all = alarms.named(&id).peekable();
    if all.peek().is_none() {
        return Err(Rejection::because(Code::UnknownEscalation, "no open escalation has this id"));
    }
    let own = all.find(|(_, _, alarm)| is_own(alarm)).map(|(_, position, _)| position);
    own.ok_or_else(|| not_parent("this escalation is another agent's"))
}

/// Instances do not let each other go on.
fn stands_above(state: &State, agent: &Agent, child: &Agent) -> bool {
    let is_parent = state.registry.parent(child) == Some(&*agent.id);
    let is_above = above(&state.registry, child).is_some_and(|up| up.id == agent.id);
    family(agent) != family(child) && (is_parent || is_above)
}

/// A rule that names an escalation of the child deals with it, but lets nobody go on.
fn handle(case: &Case<'_>, value: &str, ruling: &mut Ruling) {
    let id = serde_json::from_str::<serde_json::Value>(value).ok();
    let id = id.as_ref().and_then(|value| value.get("escalation_id")).and_then(serde_json::Value::as_str);
    let (Some(id), Some(child)) = (id, case.to.first()) else { return };
    let mut named = case.state.rules.vcp.alarms.named(id);
    let Some((_, alarm, _)) = named.find(|(_, _, alarm)| alarm.from == *child) else { return };
    let parties = case.speaker.agent().zip(case.state.registry.agent(child));
    if parties.is_some_and(|(agent, child)| stands_above(case.state, agent, child)) {
        ruling.change(Change::Handled { alarm, by: case.speaker.id().to_owned() }.into());
    }
}

/// Closes escalations; whoever they stopped goes on if nothing else is in the way.
pub(super) fn close(
    state: &State,
    policy: &Policy,
    family: &str,
    closed: &[u64],
    by: &str,
    why: String,
    ruling: &mut Ruling,
) {
    for alarm in closed {
        ruling.change(closed_by(state, *alarm, by));
    }
    let stop = state.rules.vcp.standing.stop(family);
    let before = stop.map_or(Standing::Running, |stop| stop.without(&[]));
    let after = stop.map_or(Standing::Running, |stop| stop.without(closed));
    Turn { state, policy, family, before, after, why }.follow(ruling);
}

fn closed_by(state: &State, alarm: u64, by: &str) -> crate::rules::Change {
    let frees = state.rules.vcp.alarms.get(alarm).and_then(|alarm| alarm.stops.clone());
    Change::Closed { alarm, by: by.to_owned(), frees }.into()
}

/// Lets an agent go on, in somebody's own name.
pub(super) fn order(
    state: &State,
    policy: &Policy,
    (agent, escalation): (&str, Option<&str>),
    why: &str,
    who: &Who,
) -> Result<Ruling, Rejection> {
    match (who, escalation) {
        (Who::Agent(id), _) => {
            let child = existing(state, agent, why)?;
            if !state.registry.agent(id).is_some_and(|up| stands_above(state, up, child)) {
                let message = "only the agent above, or an operator, lets an agent go on";
                return Err(Rejection::because(Code::NotParent, message).by("VCP 6.4"));
            }
            one(state, policy, (child, escalation), why, id)
        }
        (Who::Person { .. } | Who::Nobody, Some(_)) => {
            one(state, policy, (ordered(state, agent, why, who)?, escalation), why, &who.to_string())
        }
        (Who::Person { .. } | Who::Nobody, None) => all(state, policy, ordered(state, agent, why, who)?, why, who),
    }
}

/// Closes one escalation of an agent: the one that is named, or the only one there is.
fn one(
    state: &State,
    policy: &Policy,
    (agent, escalation): (&Agent, Option<&str>),
    why: &str,
    by: &str,
) -> Result<Ruling, Rejection> {
    let alarms = &state.rules.vcp.alarms;
    let is_it = |position: u64| {
        escalation.is_none_or(|which| {
            which.parse() == Ok(position) || alarms.named(which).any(|(_, named, _)| named == position)
        })
    };
    let mut named = grave(state, family(agent)).into_iter().filter(|position| is_it(*position));
    let found = match (named.next(), named.next()) {
        (Some(found), None) => found,
        (None, _) => {
            let message = "the agent has no open escalation like that: an operator's word alone may stop it";
            return Err(Rejection::because(Code::UnknownEscalation, message));
        }
        (Some(_), Some(_)) => {
            let message = "the agent has several open escalations: name one";
            return Err(Rejection::because(Code::AmbiguousReference, message).at("/escalation"));
        }
    };
    let mut ruling = Ruling::default();
    close(state, policy, family(agent), &[found], by, format!("{by} resumed it: {why}"), &mut ruling);
    Ok(ruling)
}

/// An operator lets an agent go on, whatever stopped it; grave escalations that stop nobody are over as well.
pub(super) fn all(state: &State, policy: &Policy, agent: &Agent, why: &str, who: &Who) -> Result<Ruling, Rejection> {
    let (family, by) = (family(agent).to_owned(), who.to_string());
    let mut ruling = Ruling::default();
    let (stop, closed) = (state.rules.vcp.standing.stop(&family), grave(state, &family));
    if stop.is_none() && closed.is_empty() {
        return Err(Rejection::because(Code::UnknownEscalation, "the agent is running: nothing stops it"));
    }
    for alarm in &closed {
        ruling.change(closed_by(state, *alarm, &by));
    }
    let before = stop.map_or(Standing::Running, |stop| stop.without(&[]));
    if stop.is_some() {
        let resumed = standing::Change::Resumed { agent: family.clone(), by: by.clone(), why: why.to_owned() };
        ruling.change(resumed.into());
    }
    let why = format!("{by} resumed it: {why}");
    Turn { state, policy, family: &family, before, after: Standing::Running, why }.follow(&mut ruling);
    Ok(ruling)
}

/// The open escalations of an agent and its instances that somebody has to deal with. What the exchange raised for a
/// block is over with the halt.
fn grave(state: &State, family: &str) -> BTreeSet<u64> {
    let own = standing::members(&state.registry, family).flat_map(|agent| state.rules.vcp.alarms.of(&agent.id));
    let own = own.filter(|(_, alarm)| alarm.severity.is_grave() && alarm.session.is_none()).map(|(alarm, _)| alarm);
    let stop = state.rules.vcp.standing.stop(family);
    own.chain(stop.into_iter().flat_map(|stop| stop.alarms.keys().copied())).collect()
}

/// An operator stops an agent.
pub(super) fn suspend(state: &State, policy: &Policy, agent: &str, why: &str, who: &Who) -> Result<Ruling, Rejection> {
    let agent = ordered(state, agent, why, who)?;
    let (family, by) = (family(agent).to_owned(), who.to_string());
    let mut ruling = Ruling::default();
    let suspended = standing::Change::Suspended {
        agent: family.clone(),
        by: by.clone(),
        why: why.to_owned(),
        scope: standing::StopScope::Agent,
    };
    ruling.change(suspended.into());
    let (before, why) = (state.rules.vcp.standing.of(agent), format!("{by} suspended it: {why}"));
    Turn { state, policy, family: &family, before, after: Standing::Suspended, why }.follow(&mut ruling);
    Ok(ruling)
}

fn ordered<'s>(state: &'s State, agent: &str, why: &str, who: &Who) -> Result<&'s Agent, Rejection> {
    if !who.is_operator() {
        return Err(Rejection::because(Code::NotAllowed, "only an operator does this here"));
    }
    existing(state, agent, why)
}

fn existing<'s>(state: &'s State, agent: &str, why: &str) -> Result<&'s Agent, Rejection> {
    if why.trim().is_empty() {
        return Err(Rejection::because(Code::SchemaInvalid, "say why: the agent is told").at("/reason"));
    }
    state.registry.agent(agent).ok_or_else(|| Rejection::because(Code::UnknownAgent, "there is no such agent"))
}
