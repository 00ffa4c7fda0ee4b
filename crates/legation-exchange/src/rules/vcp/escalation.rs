//! Escalations (messaging 1.2, sections 4.4 and 6): they go to the parent, stop their sender in the same
//! commit, and an emergency goes up the whole line at once.

use super::ack;
use super::alarm::{Alarm, Change};
use super::alarms::{MILD, MOST};
use super::standing::{Standing, Turn, above, family, line};
use crate::agent::Agent;
use crate::decide::Earlier;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::voice::name_in;
use crate::rules::{Case, Finding, Heard, Ruling, scan};
use crate::state::State;
use legation_protocol::id::{AgentId, Uuid7};
use legation_protocol::vcp::{Context, Envelope, Escalation, Payload, Propagated, Role, Severity};
use legation_protocol::{Code, Format, Message, Received, Rejection};

pub(super) fn look(
    case: &Case<'_>,
    envelope: &Envelope,
    said: &Escalation,
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let Some(agent) = case.speaker.agent() else {
        return Err(Rejection::because(Code::NotParent, "only an agent escalates"));
    };
    let role = said.role().map_err(|bad| Rejection::because(Code::AckMalformed, bad.to_string()).by("VCP 6.2"))?;
    // An acknowledgement looks like an alarm: it is told apart before anything is done about alarms.
    if let Role::Ack(id) = role {
        return ack::look(case, agent, said.severity, id, ruling);
    }
    goes_up(case, agent)?;
    if !said.severity.is_grave() && case.state.rules.vcp.alarms.mild_of(&agent.id, case.now) >= MILD {
        let message = format!("an agent raises or passes on at most {MILD} escalations a minute that are not grave");
        return Err(Rejection::because(Code::RateLimited, message));
    }
    hear(case, agent, (envelope, said), &role, ruling);
    Ok(())
}

/// Whoever names what it passes on says nothing else; of what names nothing, only its sender knows what it is about.
fn hear(case: &Case<'_>, agent: &Agent, (envelope, said): (&Envelope, &Escalation), role: &Role, ruling: &mut Ruling) {
    let passed = passed_on(case, agent, said, role);
    if let Some(alarm) = passed {
        pass(case, agent, said.severity, alarm, ruling);
    }
    // The same emergency once more is no second one beside it.
    let is_again = passed.is_some_and(|alarm| said.severity == Severity::Emergency && is_passed_by(case, agent, alarm));
    if passed.is_none() || !(is_again || matches!(role, Role::Propagated(_))) {
        raise(case, agent, (envelope, said), passed.is_none(), ruling);
    }
}

/// Whether an agent has passed an alarm on before.
fn is_passed_by(case: &Case<'_>, agent: &Agent, alarm: u64) -> bool {
    let alarm = case.state.rules.vcp.alarms.get(alarm);
    alarm.is_some_and(|alarm| alarm.told.iter().any(|told| told.by == agent.id))
}

/// An alarm goes to the parent; the operator stands above those that have none.
fn goes_up(case: &Case<'_>, agent: &Agent) -> Result<(), Rejection> {
    let registry = &case.state.registry;
    let (parent, outside) = (registry.parent(agent), above(registry, agent).map(|other| &other.id));
    let is_right = match case.to.first() {
        Some(to) => parent == Some(to) || outside == Some(to),
        None => outside.is_none() && parent.is_none(),
    };
    if is_right {
        return Ok(());
    }
    let message = "an escalation goes to the sender's parent, or to the exchange if it has none";
    Err(Rejection::because(Code::NotParent, message).at("/recipient").by("VCP 4.4"))
}

/// The open alarm of one below that this passes on: the one it names; or a critical one, the first that its sender was
/// told of and has not passed on yet. An emergency that neither names nor repeats one is its sender's own (section 6.3).
fn passed_on(case: &Case<'_>, agent: &Agent, said: &Escalation, role: &Role) -> Option<u64> {
    let (alarms, registry) = (&case.state.rules.vcp.alarms, &case.state.registry);
    let fits = |alarm: &Alarm| {
        let from = registry.agent(&alarm.from);
        alarm.severity == said.severity && from.is_some_and(|from| line(registry, from).any(|up| up.id == agent.id))
    };
    match role {
        Role::Propagated(Propagated { id, child, .. }) => {
            let child = child.as_ref().and_then(|name| registry.resolve(name)).map(|child| &child.id);
            let is_it = |alarm: &Alarm| fits(alarm) && child.is_none_or(|child| *child == alarm.from);
            alarms.named(&id.to_string()).find(|(_, _, alarm)| is_it(alarm)).map(|(_, position, _)| position)
        }
        Role::Alarm if said.severity == Severity::Emergency => {
            let repeated = emergencies_below(case.state, agent).filter(|(position, alarm)| {
                names(&said.reason, alarm)
                    || case.earlier.iter().any(|one| one.position == *position && says(one, said))
            });
            let (old, new): (Vec<_>, Vec<_>) =
                repeated.map(|(position, _)| position).partition(|position| is_passed_by(case, agent, *position));
            new.into_iter().chain(old).next()
        }
        Role::Alarm if said.severity.is_grave() => {
            let is_new = |alarm: &Alarm| alarm.told.iter().all(|told| told.by != agent.id);
            alarms.told_to(&agent.id).find(|(_, alarm)| fits(alarm) && is_new(alarm)).map(|(position, _)| position)
        }
        Role::Alarm | Role::Ack(_) => None,
    }
}

/// Open emergencies of agents below that an agent was told of, oldest first.
fn emergencies_below<'s>(state: &'s State, agent: &'s Agent) -> impl Iterator<Item = (u64, &'s Alarm)> {
    let is_below = |from: &str| {
        let from = state.registry.agent(from);
        from.is_some_and(|from| line(&state.registry, from).any(|up| up.id == agent.id))
    };
    let told = state.rules.vcp.alarms.told_to(&agent.id);
    told.filter(move |(_, alarm)| alarm.severity == Severity::Emergency && is_below(&alarm.from))
}

/// Whether a text names an alarm, by its own id or that of a message which told of it.
fn names(text: &str, alarm: &Alarm) -> bool {
    let ids = alarm.told.iter().filter_map(|told| told.id.as_deref()).chain([alarm.id.as_str()]);
    ids.filter(|id| !id.is_empty()).any(|id| text.contains(id))
}

/// Whether an earlier message escalated with the same reason.
fn says(earlier: &Earlier, said: &Escalation) -> bool {
    let received = earlier.body.as_deref().and_then(|body| Received::read(body).ok());
    received.is_some_and(|received| match received.message() {
        Message::Vcp(envelope) => match &envelope.payload {
            Payload::Escalation(earlier) => earlier.reason.trim() == said.reason.trim(),
            Payload::ContextShare(_) | Payload::ConstitutionAnnounce(_) | Payload::ConstraintPropagate(_) => false,
        },
        Message::Acl(_) | Message::Cap(_) | Message::Vlp(_) => false,
    })
}

/// How many emergencies a new one is compared with, the newest of those that its sender was told of.
const COMPARED: usize = 64;

/// Where the emergencies lie that a message may repeat: their words decide whether it does.
pub(crate) fn repeatable(state: &State, message: &Message) -> Vec<u64> {
    let Some(agent) = own_emergency(message).and_then(|sender| state.registry.resolve(sender)) else {
        return Vec::new();
    };
    let mut all: Vec<_> = emergencies_below(state, agent).map(|(position, _)| position).collect();
    all.split_off(all.len().saturating_sub(COMPARED))
}

/// The sender of an emergency that names none.
pub(crate) fn own_emergency(message: &Message) -> Option<&str> {
    let Message::Vcp(envelope) = message else { return None };
    let Payload::Escalation(said) = &envelope.payload else { return None };
    (said.severity == Severity::Emergency && matches!(said.role(), Ok(Role::Alarm))).then(|| message.sender())
}

/// One alarm, whoever passes it on: nobody is stopped for it again, and it has one clock.
fn pass(case: &Case<'_>, agent: &Agent, severity: Severity, alarm: u64, ruling: &mut Ruling) {
    let to = case.to.first().cloned();
    let due = to.as_ref().map(|_| case.now.plus(severity.ack_within()));
    let (by, id) = (agent.id.clone(), case.id.to_owned());
    let last = is_last_mild(case, agent, severity);
    ruling.change(Change::Passed { alarm, by, to, id, due, last }.into());
}

/// An alarm of its sender's own. It stops nobody where it may as well pass one on from below.
fn raise(
    case: &Case<'_>,
    agent: &Agent,
    (envelope, said): (&Envelope, &Escalation),
    may_stop: bool,
    ruling: &mut Ruling,
) {
    let Case { state, policy, .. } = *case;
    let severity = said.severity;
    let stopped_by = state.rules.vcp.standing.stop(family(agent)).map_or(0, |stop| stop.alarms.len());
    if severity == Severity::Critical && stopped_by >= MOST {
        // Its sender is paused, and it reaches whom it is for; but nobody answers a thousand of them one by one.
        let text = format!("its sender has {MOST} open escalations already: this one has no clock of its own");
        ruling.find("escalation", "uncounted", text);
        return;
    }
    let (mut told, found) = (vec![case.to.first().cloned()], scan::quoted(case.scanned));
    if severity == Severity::Emergency {
        let others = line(&state.registry, agent).filter(|up| case.to.first() != Some(&up.id));
        for up in others {
            told.push(Some(up.id.clone()));
            let (id, reason, context) = (envelope.message_id, said.reason.as_str(), &said.context);
            let quoted = Quoted { id, severity, reason, context, found: &found };
            ruling.heard.push(quoted.said_to(policy, up, agent, state.next));
        }
    }
    let after = if may_stop { Standing::after(severity) } else { Standing::Running };
    let stops = (after != Standing::Running).then(|| family(agent).to_owned());
    let last = is_last_mild(case, agent, severity);
    let (id, from, due) = (case.id.to_owned(), agent.id.clone(), deadline(case, said));
    let wants_ack = said.requires_ack;
    ruling.change(Change::Raised { id, from, severity, told, wants_ack, due, stops, last, ours: None, found }.into());
    let before = state.rules.vcp.standing.of(agent);
    let why = format!("{} raised the {severity} escalation {}.", agent.id, case.id);
    Turn { state, policy, family: family(agent), before, after: after.max(before), why }.follow(ruling);
}

/// Whether this is the last mild one that an agent raises or passes on for a while.
fn is_last_mild(case: &Case<'_>, agent: &Agent, severity: Severity) -> bool {
    !severity.is_grave() && case.state.rules.vcp.alarms.mild_of(&agent.id, case.now) + 1 == MILD
}

/// When the next above is told. Nobody is above the operator, who is told at once.
fn deadline(case: &Case<'_>, said: &Escalation) -> Option<Moment> {
    (said.requires_ack && !case.to.is_empty()).then(|| case.now.plus(said.severity.ack_within()))
}

/// What is quoted of an alarm that is passed upward.
pub(super) struct Quoted<'q> {
    pub(super) id: Uuid7,
    pub(super) severity: Severity,
    pub(super) reason: &'q str,
    pub(super) context: &'q Context,
    /// What was found in it.
    pub(super) found: &'q [Finding],
}

impl Quoted<'_> {
    /// What the exchange says to one above (section 6.3): an envelope of its own, since another recipient
    /// would break the child's signature.
    pub(super) fn said_to(&self, policy: &Policy, up: &Agent, child: &Agent, alarm: u64) -> Heard {
        let name = name_in(up, Format::Vcp).to_owned();
        let child = AgentId::vcp(name_in(child, Format::Vcp)).ok();
        let passed = Propagated { id: self.id, child, reason: self.reason.to_owned() };
        let escalation = Escalation::propagated(&passed, self.severity, self.context.clone());
        let words = move |origin| {
            let envelope = Envelope::to(AgentId::vcp(&name).ok()?, origin, escalation);
            Some(Message::Vcp(Box::new(envelope)))
        };
        let said = Change::Said { alarm, to: up.id.clone(), by: policy.exchange_id(), id: String::new() };
        let (changes, findings) = (vec![said.into()], self.found.to_vec());
        Heard { changes, findings, ..Heard::new(&*up.id, Box::new(words)) }
    }
}
