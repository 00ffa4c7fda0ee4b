//! What a `block` stops (VLP VI, rule 4): its own session, what it names where its sender had a part in that, and what goes
//! on from these; nothing else. The message itself is delivered, since those it concerns must learn of it. A person
//! lets the session go on.

use super::reach::{Found, Roots, going_on_from};
use super::reference::Named;
use super::session::{Halting, MOST_STOPPED, Session, Sessions, Spoke};
use super::speaking::{is_party, others, since};
use super::{Change, outsiders};
use crate::agent::Agent;
use crate::decide::Earlier;
use crate::mailbox::Mailbox;
use crate::policy::Policy;
use crate::quota::{Resource, check_family};
use crate::rules::hold::{self, Lifter, Reason, Which};
use crate::rules::translate::Translation;
use crate::rules::vcp::{AlarmChange, Ours, family};
use crate::rules::voice::{Notice, name_in};
use crate::rules::{Case, Ruling};
use crate::state::State;
use crate::who::{Role, Who};
use legation_protocol::id::AgentId;
use legation_protocol::vcp::{Context, Envelope, Escalation, Severity};
use legation_protocol::vlp::Message;
use legation_protocol::{Code, Format, Rejection};
use std::collections::BTreeSet;

/// The exchange's situation in an escalation: it has no other than the realm it works for.
const SITUATION: &str = "📍🏢";

/// Nobody goes on from what is halted.
pub(super) fn may_go_on_from(case: &Case<'_>, named: &[Named<'_>]) -> Result<(), Rejection> {
    let sessions = &case.state.rules.vlp.sessions;
    for found in named.iter().filter_map(|named| named.found) {
        if let Some(session) = halted_as(sessions, found) {
            return Err(halted(case, found, session, "/refers_to"));
        }
    }
    Ok(())
}

/// Nobody is told the name of a session that it has no part in and that is not the message's own.
pub(super) fn halted(case: &Case<'_>, found: &Earlier, session: &str, at: &str) -> Rejection {
    let (sessions, id) = (&case.state.rules.vlp.sessions, &found.accepted.id);
    let has_part = || sessions.get(session).is_some_and(|known| is_party(case.state, known, case.speaker.id()));
    let text = if found.accepted.thread.as_deref() == Some(session) || has_part() {
        format!("{id:?} is halted, with the session {session:?}")
    } else {
        format!("{id:?} is halted, with what it goes on from")
    };
    Rejection::because(Code::Halted, text).at(at).by("VLP VI.4")
}

/// The halted session that a message is stopped with.
pub(super) fn halted_as<'s>(sessions: &'s Sessions, found: &'s Earlier) -> Option<&'s str> {
    let is_halted = |id: &&str| sessions.at(id, found.position).is_some_and(|session| session.halted.is_some());
    let session = found.accepted.thread.as_deref().filter(|_| found.accepted.dialect == Format::Vlp);
    session.filter(is_halted).or_else(|| sessions.stopped_with(found.position))
}

/// The VLP session that what the exchange said for a message belongs to: that of the original, or the one it is said in.
pub(crate) fn within(said: &Translation) -> Option<&str> {
    let places = [(said.dialect, &said.thread), (said.said_in, &said.said_thread)];
    places.into_iter().find(|(dialect, _)| *dialect == Format::Vlp).and_then(|(_, id)| id.as_deref())
}

/// The halted session that a message, what the exchange said for it, or the sessions of both belong to.
pub(crate) fn halted_with<'s>(
    state: &'s State,
    [original, said]: [u64; 2],
    within: impl IntoIterator<Item = &'s str>,
) -> Option<&'s str> {
    let sessions = &state.rules.vlp.sessions;
    let is_halted = |id: &&str| sessions.at(id, original).is_some_and(|session| session.halted.is_some());
    let stopped = [original, said].into_iter().find_map(|message| sessions.stopped_with(message));
    stopped.or_else(|| within.into_iter().find(is_halted))
}

/// Halts what a block stops.
pub(super) fn look(
    case: &Case<'_>,
    message: &Message,
    named: &[Named<'_>],
    ruling: &mut Ruling,
) -> Result<(), Rejection> {
    let sessions = &case.state.rules.vlp.sessions;
    let who = case.speaker.agent().map_or(case.speaker.id(), family).to_owned();
    let (session, outside) = match message.thread() {
        Some(session) => (session.to_owned(), false),
        None => (outside(case, &who, ruling), true),
    };
    let before = sessions.get(&session);
    let chain: Vec<&Earlier> = named.iter().filter_map(|named| named.found).filter(|one| has_part(case, one)).collect();
    let mut messages: Vec<u64> = chain.iter().map(|one| one.position).chain([case.state.next]).collect();
    messages.sort_unstable();
    messages.dedup();
    has_room(case, &who, before, messages.len())?;
    let halt = before.and_then(|session| session.halted.as_ref());
    // Those of an earlier block outside sessions have no part in this one.
    let before = before.filter(|_| !outside);
    let concerned = concerned(case, before, &chain);
    let roots = Roots { said: before.map(|session| &session.said), messages: &messages };
    let from_it = going_on_from(&roots, &case.state.rules.vlp.window, &case.state.rules.translations);
    let frozen = undelivered(case.state, before, &messages, &from_it, &concerned);
    let told: BTreeSet<String> = if outside { case.to.iter().cloned().collect() } else { BTreeSet::new() };
    let is_told = |agent: &Agent| {
        [&concerned, &told].into_iter().chain(halt.map(|halt| &halt.told)).any(|told| told.contains(&agent.id))
    };
    let beyond = outsiders::look(case.state, &from_it, halt, is_told);
    let outsiders = beyond.keys().copied().collect();
    ruling.change(Change::Halted(Halting { session: session.clone(), messages, who, outside, told, outsiders }).into());
    freeze(case, &session, frozen, ruling);
    tell_all(case, &session, &concerned, ruling);
    let by = halt.map_or(case.state.next, |halt| halt.by);
    outsiders::tell(case.state, case.policy, by, &beyond, ruling);
    Ok(())
}

/// Takes back what is on its way.
fn freeze(case: &Case<'_>, session: &str, frozen: Vec<u64>, ruling: &mut Ruling) {
    if frozen.is_empty() {
        return;
    }
    // It is shown to whoever sent or gets one of them, and these may have no part in the session.
    let says =
        format!("It is halted, by itself or with what it goes on from, by the message in entry {}.", case.state.next);
    let reason = Reason { code: "halted".to_owned(), says, lifts: Lifter::Session(session.to_owned()) };
    ruling.change(hold::Change::Frozen { which: Which::Messages(frozen), reason }.into());
}

/// Those concerned are told, and whoever stands above the sender.
fn tell_all(case: &Case<'_>, session: &str, concerned: &BTreeSet<String>, ruling: &mut Ruling) {
    let text = format!(
        "{} blocked the session {session:?} at {} with the message in entry {}. It is halted until a person lets it go on: act on nothing of it.",
        case.speaker.id(),
        case.now,
        case.state.next
    );
    for agent in concerned.iter().filter(|id| *id != case.speaker.id()) {
        tell(case.state, case.policy, agent, "halted", &text, session, ruling);
    }
    tell_parent(case, &text, session, ruling);
}

/// Nobody halts so much that people cannot look at it; what others halt is not counted.
fn has_room(case: &Case<'_>, who: &str, before: Option<&Session>, stops: usize) -> Result<(), Rejection> {
    let refuse = |text: String| Err(Rejection::because(Code::RateLimited, text).by("VLP VI.4"));
    if let Some(halt) = before.and_then(|session| session.halted.as_ref()) {
        if halt.messages.len() + stops > MOST_STOPPED {
            return refuse(format!("{who:?} stops {MOST_STOPPED} messages already, until a person looks at them"));
        }
        return Ok(());
    }
    let most = case.policy.shares.halts;
    if case.state.rules.vlp.sessions.halted_by(who).count() >= most {
        return refuse(format!("{who:?} has halted {most} sessions already, until a person looks at them"));
    }
    check_family(case.state, case.policy, who, Resource::Halts)
}

/// What a sender blocks outside any session is one halt, of a session that is begun for it.
fn outside(case: &Case<'_>, who: &str, ruling: &mut Ruling) -> String {
    let sessions = &case.state.rules.vlp.sessions;
    if let Some((session, _)) = sessions.halted_by(who).find(|(_, halt)| halt.outside) {
        return session.to_owned();
    }
    let mut session = format!("message {}", case.state.next);
    while sessions.get(&session).is_some() {
        session.push('+');
    }
    let parties = std::iter::once(case.speaker.id()).chain(case.to.iter().map(String::as_str));
    let joins = parties.map(|id| (id.to_owned(), since(case.state, id))).collect();
    let by = case.speaker.id().to_owned();
    ruling.change(Change::Spoke(Spoke { session: session.clone(), by, joins, ..Spoke::default() }).into());
    session
}

/// Whether the sender had a part in a message: a stranger's is not for it to stop.
fn has_part(case: &Case<'_>, one: &Earlier) -> bool {
    let me = case.speaker.id();
    one.position > since(case.state, me) && (one.accepted.sender == me || one.accepted.to.iter().any(|to| to == me))
}

/// Whoever may have something of what is halted.
fn concerned(case: &Case<'_>, session: Option<&Session>, chain: &[&Earlier]) -> BTreeSet<String> {
    let parties = session.map(|session| others(case.state, session, case.speaker)).unwrap_or_default();
    let named = chain.iter().flat_map(|one| one.accepted.to.iter().chain([&one.accepted.sender])).cloned();
    let links = &case.state.rules.translations;
    let said = chain.iter().flat_map(|one| links.said_for(one.position)).filter_map(|said| links.get(said));
    let hearers = said.map(|link| link.translation.to.clone());
    // Work that was asked for in it may be another's by now.
    let asked = session.into_iter().flat_map(|session| &session.said).flat_map(|asked| links.said_for(*asked));
    let passed = asked.filter_map(|said| links.get(said)).filter(|link| link.translation.task.is_some());
    let is_same = |id: &str, at: u64| case.state.registry.agent(id).is_some_and(|agent| agent.since < at);
    let passed = passed.filter(|link| is_same(&link.translation.to, link.position));
    let passed = passed.map(|link| link.translation.to.clone());
    let me = case.speaker.id().to_owned();
    parties.into_iter().chain(named).chain(hearers).chain(passed).chain([me]).collect()
}

/// What of it has not reached its recipients, with what the exchange said for it, or into it, in another dialect; and what
/// is on its way to anybody and goes on from it.
fn undelivered(
    state: &State,
    within: Option<&Session>,
    chain: &[u64],
    from_it: &Found,
    concerned: &BTreeSet<String>,
) -> Vec<u64> {
    let is_named = |message: u64| chain.binary_search(&message).is_ok();
    let translation = |message: u64| state.rules.translations.get(message).map(|link| &link.translation);
    // Those concerned must learn of another block, whatever it goes on from, and whatever they speak.
    let is_block = |message: u64| {
        let original = translation(message).map(|said| said.original);
        [Some(message), original].into_iter().flatten().any(|message| state.rules.vlp.sessions.is_block(message))
    };
    let is_one = |message: u64| is_named(message) || (from_it.contains_key(&message) && !is_block(message));
    let is_said = |said: &Translation| !said.is_alarm && is_one(said.original);
    let is_within = |first: u64| within.is_some_and(|session| session.first == first);
    let is_halted = |(session, message): &(u64, u64)| {
        is_within(*session) || is_one(*message) || translation(*message).is_some_and(is_said)
    };
    // What goes on from it may be for anybody.
    let mailboxes: Vec<&Mailbox> = if from_it.is_empty() {
        concerned.iter().filter_map(|id| state.mailbox(id)).collect()
    } else {
        state.mailboxes().map(|(_, mailbox)| mailbox).collect()
    };
    let waiting =
        mailboxes.into_iter().flat_map(|mailbox| mailbox.after(None)).map(|item| (item.session, item.message));
    let held = state.rules.holds.iter().map(|(message, hold)| (hold.session, message));
    let frozen: BTreeSet<u64> = waiting.chain(held).filter(is_halted).map(|(_, message)| message).collect();
    frozen.into_iter().collect()
}

fn tell(state: &State, policy: &Policy, id: &str, code: &str, text: &str, session: &str, ruling: &mut Ruling) {
    let Some(agent) = state.registry.agent(id) else { return };
    let (text, rather) = (text.to_owned(), Format::Vlp);
    ruling.notify(policy, agent, Notice { code, text, rather, about: None, thread: Some(session) });
}

/// A critical escalation to whoever stands above the sender, that nobody is stopped by. A halt has one.
fn tell_parent(case: &Case<'_>, text: &str, session: &str, ruling: &mut Ruling) {
    let Some(sender) = case.speaker.agent() else { return };
    let above = case.state.registry.parent(sender).and_then(|id| case.state.registry.agent(id));
    let Some(parent) = above else { return };
    let name = name_in(parent, Format::Vcp).to_owned();
    let mut raised_before = case.state.rules.vcp.alarms.of(&sender.id);
    let is_first = raised_before.all(|(_, alarm)| alarm.session.as_deref() != Some(session));
    if !is_first || AgentId::vcp(&name).is_err() {
        ruling.tell(case.policy, parent, "halted", text.to_owned());
    } else {
        let reason: String = text.chars().take(4000).collect();
        ruling.say(parent.id.clone(), move |origin| {
            let alarm = Escalation::critical(reason, Context::parse(SITUATION).ok()?);
            let envelope = Envelope::to(AgentId::vcp(&name).ok()?, origin, alarm);
            Some(legation_protocol::Message::Vcp(Box::new(envelope)))
        });
    }
    if let (true, Some(said)) = (is_first, ruling.heard.last_mut()) {
        said.changes.push(raised(case, sender, parent, session).into());
    }
}

fn raised(case: &Case<'_>, sender: &Agent, parent: &Agent, session: &str) -> AlarmChange {
    AlarmChange::Raised {
        id: String::new(),
        from: sender.id.clone(),
        severity: Severity::Critical,
        told: vec![Some(parent.id.clone())],
        wants_ack: true,
        due: Some(case.now.plus(Severity::Critical.ack_within())),
        stops: None,
        last: false,
        ours: Some(Ours { by: case.policy.exchange_id(), session: session.to_owned() }),
        found: Vec::new(),
    }
}

/// Lets a halted session go on, and what waited for that.
pub(super) fn release(state: &State, policy: &Policy, id: &str, why: &str, who: &Who) -> Result<Ruling, Rejection> {
    let Who::Person { role: Role::Operator | Role::Reviewer, .. } = who else {
        return Err(Rejection::because(Code::NotAllowed, "only an operator or a reviewer lets a session go on"));
    };
    let session = state.rules.vlp.sessions.get(id);
    let session = session.ok_or_else(|| Rejection::because(Code::UnknownSession, "there is no such session"))?;
    let Some(halt) = &session.halted else {
        return Err(Rejection::because(Code::ReviewConflict, "the session is not halted"));
    };
    let mut ruling = Ruling::default();
    ruling.change(Change::Released { session: id.to_owned(), why: why.to_owned() }.into());
    ruling.change(hold::Change::Thawed { lifts: Lifter::Session(id.to_owned()) }.into());
    for (alarm, _) in state.rules.vcp.alarms.open().filter(|(_, alarm)| alarm.session.as_deref() == Some(id)) {
        ruling.change(AlarmChange::Closed { alarm, by: who.to_string(), frees: None }.into());
    }
    let text = format!("{who} lets the session {id:?} go on.");
    let parties = session.parties.keys().filter(|party| is_party(state, session, party));
    let told: BTreeSet<_> = parties.chain(&halt.told).collect();
    for party in &told {
        tell(state, policy, party, "released", &text, id, &mut ruling);
    }
    let is_told = |id: &str| told.iter().any(|told| *told == id);
    outsiders::tell_released(state, policy, halt, who, is_told, &mut ruling);
    Ok(ruling)
}
