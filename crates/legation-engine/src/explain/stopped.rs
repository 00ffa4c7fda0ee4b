//! Who took a message back before all had it, or halted what it belongs to, and who let that go on: each with why.

use super::moved::Mover;
use super::ruled::because;
use super::{Step, ruled::WORDS};
use crate::exchange::{Error, Exchange};
use legation_exchange::rules::hold::{self, Lifter, Reason, Which};
use legation_exchange::rules::{Change, vcp, vlp};
use legation_exchange::{Accepted, Entry, Who};
use legation_store::index::{Finder, Order, Query};
use std::collections::BTreeMap;

/// A message, and where and when it was put into mailboxes.
pub(super) struct Way<'w> {
    pub(super) entry: &'w Entry,
    pub(super) message: &'w Accepted,
    pub(super) routed: &'w [(u64, String)],
}

impl Exchange {
    /// Who stopped it, or what it halted itself, and who let that go on.
    pub(super) fn stopped(&self, finder: &Finder, way: &Way<'_>) -> Result<Vec<Step>, Error> {
        let mut steps = Vec::new();
        let sender = self.registered(way);
        for found in takers(finder, way.entry.position, sender)? {
            let Some(entry) = self.entry(found)? else { continue };
            let Some(reason) = taken_back(&entry, way.entry.position, sender) else { continue };
            if !self.was_on_its_way(finder, way, found)? {
                continue;
            }
            let says = format!("It was stopped on its way: {}.", cause(&entry, &reason.lifts));
            steps.push(Step { step: "stopped", position: found, at: entry.at, says });
            steps.extend(self.went_on_after(finder, found, &reason.lifts)?);
        }
        for session in way.message.ruled.changes.iter().filter_map(halts) {
            let says = format!("It halted the session {session:?}, until a person lets it go on.");
            steps.push(Step { step: "halted", position: way.entry.position, at: way.entry.at, says });
            steps.extend(self.went_on_after(finder, way.entry.position, &Lifter::Session(session.to_owned()))?);
        }
        Ok(steps)
    }

    /// The entry that registered whoever says it. An alarm is never taken back with what else its sender said.
    fn registered(&self, Way { entry, message, .. }: &Way<'_>) -> Option<u64> {
        let translation = message.ruled.changes.iter().find_map(Change::translation);
        let sender = translation.map_or(&message.sender, |translation| &translation.from);
        let since = self.state().registry().agent(sender)?.since;
        (!message.is_alarm && since < entry.position).then_some(since)
    }

    /// Whether somebody it was for did not have it yet when this entry came.
    fn was_on_its_way(&self, finder: &Finder, way: &Way<'_>, at: u64) -> Result<bool, Error> {
        let is_held = !way.message.ruled.held.is_empty();
        // What was taken back before and went on again is in the mailbox by its last way.
        let earlier = way.routed.iter().filter(|(routed, _)| *routed < at);
        let earlier: BTreeMap<&String, u64> = earlier.map(|(routed, agent)| (agent, *routed)).collect();
        if is_held && earlier.is_empty() {
            return Ok(self
                .words_on(finder, way.entry.position, &Who::operator())?
                .iter()
                .all(|word| word.step != "refused" || word.position > at));
        }
        for (agent, routed) in earlier {
            if self.left(finder, agent, routed)?.is_none_or(|left| left.position > at) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Who let it go on after that, if anybody has.
    fn went_on_after(&self, finder: &Finder, after: u64, lifts: &Lifter) -> Result<Option<Step>, Error> {
        let Some(key) = lifts.key() else { return Ok(None) };
        let query = Query { frees: Some(key), after: Some(after), order: Order::Oldest, limit: 1, ..Query::default() };
        let found = finder.find(&query).map_err(Error::Index)?;
        let Some(entry) = found.first().map(|found| self.entry(*found)).transpose()?.flatten() else { return Ok(None) };
        let says = format!("{}.", cause(&entry, lifts));
        Ok(Some(Step { step: "let_go_on", position: entry.position, at: entry.at, says }))
    }
}

/// Why an entry took this message back, if it did.
fn taken_back(entry: &Entry, message: u64, sender: Option<u64>) -> Option<&Reason> {
    entry.effect.made().iter().find_map(|change| {
        let Change::Hold(hold::Change::Frozen { which, reason }) = change else { return None };
        let is_its = match which {
            Which::Messages(messages) => messages.contains(&message),
            Which::From(from) => sender == Some(*from),
        };
        is_its.then_some(reason)
    })
}

fn halts(change: &Change) -> Option<&str> {
    if let Change::Vlp(vlp::Change::Halted(halting)) = change { Some(&halting.session) } else { None }
}

/// Who stopped or freed something by an entry, and why.
fn cause(entry: &Entry, lifts: &Lifter) -> String {
    let Some(Mover { by, .. }) = Mover::of(entry) else { return format!("entry {} made it so", entry.position) };
    let all = || entry.effect.made().iter();
    let told = match lifts {
        // An order has a reason, so it comes before the escalations that it closes.
        Lifter::Resume(agent) => {
            all().find_map(by_order).or_else(|| all().find_map(|change| by_alarm(alarm_in(change)?, agent)))
        }
        Lifter::Session(session) => all().find_map(|change| by_session(change, session, by)),
        Lifter::Person | Lifter::Overseer(_) | Lifter::Original(_) | Lifter::Cleared(_) => None,
    };
    told.unwrap_or_else(|| format!("{by} made it so by entry {}", entry.position))
}

fn by_alarm(change: &vcp::AlarmChange, agent: &str) -> Option<String> {
    use vcp::AlarmChange::{Acked, Closed, Coalesced, Handled, Passed, Raised, Said, Told};
    match change {
        Raised { from, severity, id, stops: Some(stops), .. } if stops == agent => {
            Some(format!("{from} raised the {severity} escalation {id:?}, which suspends {stops:?}"))
        }
        Closed { by, alarm, frees: Some(frees), .. } if frees == agent => {
            Some(format!("{by} closed the escalation in entry {alarm}, and {frees:?} may go on"))
        }
        Raised { .. }
        | Coalesced { .. }
        | Told { .. }
        | Said { .. }
        | Passed { .. }
        | Acked { .. }
        | Handled { .. }
        | Closed { .. } => None,
    }
}

fn alarm_in(change: &Change) -> Option<&vcp::AlarmChange> {
    if let Change::Vcp(vcp::Change::Alarm(change)) = change { Some(change) } else { None }
}

fn by_order(change: &Change) -> Option<String> {
    let Change::Vcp(vcp::Change::Standing(change)) = change else { return None };
    Some(match change {
        vcp::StandingChange::Suspended { agent, by, why, .. } => format!("{by} suspended {agent:?}{}", because(why)),
        vcp::StandingChange::Resumed { agent, by, why } => format!("{by} let {agent:?} go on{}", because(why)),
        vcp::StandingChange::ExchangeSuspended { by, why } => format!("{by} suspended all agents{}", because(why)),
        vcp::StandingChange::ExchangeResumed { by, why } => format!("{by} resumed all agents{}", because(why)),
    })
}

fn by_session(change: &Change, id: &str, by: &str) -> Option<String> {
    let Change::Vlp(change) = change else { return None };
    match change {
        vlp::Change::Halted(halting) if halting.session == id => Some(format!("{by} blocked the session {id:?}")),
        vlp::Change::Released { session, why } if session == id => {
            Some(format!("{by} let the session {id:?} go on{}", because(why)))
        }
        vlp::Change::Halted(_)
        | vlp::Change::Released { .. }
        | vlp::Change::Spoke(_)
        | vlp::Change::Refers { .. }
        | vlp::Change::Forgotten { .. }
        | vlp::Change::Unheard { .. } => None,
    }
}

/// Entries that took something back that may be this: named itself, or all that its sender said.
fn takers(finder: &Finder, message: u64, sender: Option<u64>) -> Result<Vec<u64>, Error> {
    let mut found = Vec::new();
    for moved in [Some(message), sender].into_iter().flatten() {
        let after = Some(message);
        let query = Query { moves: Some(moved), after, order: Order::Oldest, limit: WORDS, ..Query::default() };
        found.extend(finder.find(&query).map_err(Error::Index)?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}
