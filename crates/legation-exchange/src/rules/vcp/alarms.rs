//! All escalations that are open, as a fold over what happens to them.

use super::alarm::{Alarm, Change, Stage, Telling};
use crate::moment::Moment;
use crate::rules::At;
use legation_protocol::vcp::Severity;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How many mild escalations an agent may raise or pass on in [`WINDOW`].
pub(super) const MILD: u32 = 60;
/// See [`MILD`].
const WINDOW: Duration = Duration::from_mins(1);
/// How many open critical ones of an agent have a clock.
pub(super) const MOST: usize = 1024;
/// How many mild ones of an agent are kept that wait for nothing.
const IDLE: usize = 64;
/// How many closed ones are remembered.
const REMEMBERED: usize = 4096;

/// All escalations that are open, and the last that were.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Alarms {
    /// By the entry that holds each.
    open: BTreeMap<u64, Alarm>,
    closed: BTreeMap<u64, Alarm>,
    deadlines: BTreeSet<(Moment, u64)>,
    /// Which one a message is about, by its id and whom it is by.
    named: BTreeMap<String, BTreeMap<String, u64>>,
    /// Whose are open.
    by: BTreeMap<String, BTreeSet<u64>>,
    /// Who was told which.
    told: BTreeMap<String, BTreeSet<u64>>,
    /// Since when, and how often, an agent has raised mild ones or passed them on.
    mild: BTreeMap<String, (Moment, u32)>,
    /// How many mild ones of an agent were refused since, and when whoever stands above it is told.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    cut: BTreeMap<String, Cut>,
}

/// Mild escalations that were refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Cut {
    pub(super) count: u64,
    pub(super) due: Moment,
}

impl Alarms {
    /// The open one in this entry.
    pub fn get(&self, alarm: u64) -> Option<&Alarm> {
        self.open.get(&alarm)
    }

    /// Those that are open, oldest first.
    pub fn open(&self) -> impl Iterator<Item = (u64, &Alarm)> {
        self.open.iter().map(|(position, alarm)| (*position, alarm))
    }

    /// The last that were open, oldest first.
    pub fn closed(&self) -> impl Iterator<Item = (u64, &Alarm)> {
        self.closed.iter().map(|(position, alarm)| (*position, alarm))
    }

    /// Whether the one in this entry is over, if that is not long ago.
    pub(super) fn is_closed(&self, alarm: u64) -> bool {
        self.closed.contains_key(&alarm)
    }

    /// An agent's own that are open.
    pub fn of<'a>(&'a self, agent: &str) -> impl Iterator<Item = (u64, &'a Alarm)> {
        let own = self.by.get(agent).into_iter().flatten();
        own.filter_map(|position| Some((*position, self.open.get(position)?)))
    }

    /// Those that are open and that an agent was told of.
    pub(super) fn told_to<'a>(&'a self, agent: &str) -> impl Iterator<Item = (u64, &'a Alarm)> {
        let told = self.told.get(agent).into_iter().flatten();
        told.filter_map(|position| Some((*position, self.open.get(position)?)))
    }

    /// Those that are open and that a message with this id is about, with whom the message is by.
    pub(super) fn named<'a>(&'a self, id: &str) -> impl Iterator<Item = (&'a str, u64, &'a Alarm)> {
        let named = self.named.get(id).into_iter().flatten();
        named.filter_map(|(by, position)| Some((by.as_str(), *position, self.open.get(position)?)))
    }

    /// The one that a message with this id by this sender is about.
    pub(super) fn by_message(&self, id: &str, by: &str) -> Option<(u64, &Alarm)> {
        let position = self.named.get(id)?.get(by)?;
        Some((*position, self.open.get(position)?))
    }

    /// How many mild ones an agent has raised of late.
    pub(super) fn mild_of(&self, agent: &str, now: Moment) -> u32 {
        let recent = self.mild.get(agent).filter(|(since, _)| since.plus(WINDOW) > now);
        recent.map_or(0, |(_, count)| *count)
    }

    /// Whose refused ones are to be told of first.
    pub(super) fn first_cut(&self) -> Option<(&str, &Cut)> {
        self.cut.iter().map(|(agent, cut)| (agent.as_str(), cut)).min_by_key(|(_, cut)| cut.due)
    }

    /// One more is refused.
    pub(super) fn cut(&mut self, agent: &str, now: Moment) {
        let due = self.mild.get(agent).map_or(now, |(since, _)| since.plus(WINDOW)).max(now);
        self.cut.entry(agent.to_owned()).or_insert(Cut { count: 0, due }).count += 1;
    }

    /// When somebody must be told next, and of which.
    pub(super) fn first_due(&self) -> Option<(Moment, u64)> {
        self.deadlines.first().copied()
    }

    /// Folds in what happened. Gives back whom it stops, or no longer stops.
    pub(super) fn apply(&mut self, at: At, change: &Change) -> Option<Stopping> {
        match change {
            Change::Raised { .. } => self.raise(at, change),
            Change::Told { alarm, to, due, .. } => {
                let known = |told: &Telling| told.to == *to && told.to.is_some();
                let alarm_told = self.open.get(alarm).is_some_and(|alarm| alarm.told.iter().any(known));
                if !alarm_told {
                    self.tell(*alarm, Telling { to: to.clone(), by: String::new(), id: None, acked: false });
                }
                self.set(*alarm, Stage::Unanswered, *due);
                None
            }
            Change::Said { alarm, to, by, id } => {
                self.name(*alarm, to, by, id);
                None
            }
            Change::Passed { alarm, by, to, id, due, .. } => {
                self.pass(
                    at,
                    *alarm,
                    Telling { to: to.clone(), by: by.clone(), id: Some(id.clone()), acked: false },
                    *due,
                );
                None
            }
            Change::Acked { alarm, id, by, due } => self.ack(at, *alarm, id.as_deref(), by, *due),
            Change::Handled { alarm, .. } => {
                self.set(*alarm, Stage::Handled, None);
                None
            }
            Change::Coalesced { agent, .. } => {
                self.cut.remove(agent);
                None
            }
            Change::Closed { alarm, by, .. } => self.close(*alarm, by, at.at),
        }
    }

    fn raise(&mut self, at: At, change: &Change) -> Option<Stopping> {
        let Change::Raised { id, from, severity, told, wants_ack, due, stops, ours, found, .. } = change else {
            return None;
        };
        let (id, from, stops) = (id.clone(), from.clone(), stops.clone());
        let said_by = ours.as_ref().map_or(&from, |ours| &ours.by).clone();
        if !severity.is_grave() {
            self.count_mild(&from, at.at);
        }
        let stopping = stops.clone().map(|agent| Stopping { agent, alarm: at.position, by: Some(*severity) });
        let alarm = Alarm {
            id: id.clone(),
            from: from.clone(),
            severity: *severity,
            wants_ack: *wants_ack,
            at: at.at,
            told: Vec::new(),
            stage: Stage::Unanswered,
            acked_by: None,
            due: None,
            stops,
            session: ours.as_ref().map(|ours| ours.session.clone()),
            found: found.clone(),
            closed: None,
        };
        self.open.insert(at.position, alarm);
        self.by.entry(from.clone()).or_default().insert(at.position);
        for (index, to) in told.iter().enumerate() {
            let first = index == 0;
            let by = if first { said_by.clone() } else { String::new() };
            self.tell(at.position, Telling { to: to.clone(), by, id: first.then(|| id.clone()), acked: false });
        }
        self.named.entry(id).or_default().insert(said_by, at.position);
        self.set(at.position, Stage::Unanswered, *due);
        self.forget_mild(&from);
        stopping
    }

    fn count_mild(&mut self, agent: &str, now: Moment) {
        let (since, count) = self.mild.entry(agent.to_owned()).or_insert((now, 0));
        if since.plus(WINDOW) <= now {
            (*since, *count) = (now, 0);
        }
        *count += 1;
    }

    /// Mild ones that wait for nothing go once there are too many of them.
    fn forget_mild(&mut self, agent: &str) {
        let idle = |(_, alarm): &(u64, &Alarm)| !alarm.severity.is_grave() && alarm.due.is_none();
        let mut waiting = self.of(agent).filter(idle).map(|(position, _)| position);
        if let (Some(oldest), true) = (waiting.next(), waiting.count() >= IDLE) {
            self.take(oldest);
        }
    }

    fn tell(&mut self, alarm: u64, telling: Telling) {
        let Some(open) = self.open.get_mut(&alarm) else { return };
        if let Some(to) = &telling.to {
            self.told.entry(to.clone()).or_default().insert(alarm);
        }
        open.told.push(telling);
    }

    /// Notes which message told somebody.
    fn name(&mut self, alarm: u64, to: &str, by: &str, id: &str) {
        let Some(open) = self.open.get_mut(&alarm) else { return };
        let waits = |told: &&mut Telling| told.to.as_deref() == Some(to) && told.id.is_none();
        if let Some(told) = open.told.iter_mut().find(waits) {
            (told.by, told.id) = (by.to_owned(), Some(id.to_owned()));
        }
        self.named.entry(id.to_owned()).or_default().insert(by.to_owned(), alarm);
    }

    /// Whoever was told already is told again, but the clock is the same. The last word between two counts.
    fn pass(&mut self, at: At, alarm: u64, telling: Telling, due: Option<Moment>) {
        let Some(open) = self.open.get_mut(&alarm) else { return };
        let is_mild = !open.severity.is_grave();
        let is_new = telling.to.is_none() || open.told.iter().all(|told| told.to != telling.to);
        let (by, id) = (telling.by.clone(), telling.id.clone());
        match open.told.iter_mut().find(|told| told.by == telling.by && told.to == telling.to) {
            Some(told) => {
                let before = std::mem::replace(told, telling);
                before.id.into_iter().for_each(|id| self.unname(&id, &by, alarm));
            }
            None => self.tell(alarm, telling),
        }
        if let Some(id) = id {
            self.named.entry(id).or_default().insert(by.clone(), alarm);
        }
        if is_mild {
            self.count_mild(&by, at.at);
        }
        if is_new {
            self.set(alarm, Stage::Unanswered, due);
        }
    }

    /// The message names another now if it raised one of its own.
    fn unname(&mut self, id: &str, by: &str, alarm: u64) {
        let Some(named) = self.named.get_mut(id) else { return };
        if named.get(by) == Some(&alarm) {
            named.remove(by);
        }
        if named.is_empty() {
            self.named.remove(id);
        }
    }

    fn ack(&mut self, at: At, alarm: u64, id: Option<&str>, by: &str, due: Option<Moment>) -> Option<Stopping> {
        let open = self.open.get_mut(&alarm)?;
        open.acked_by.get_or_insert_with(|| by.to_owned());
        let named = |told: &&mut Telling| id.is_some() && told.id.as_deref() == id;
        open.told.iter_mut().filter(named).for_each(|told| told.acked = true);
        if !open.severity.is_grave() {
            return self.close(alarm, by, at.at);
        }
        if open.stage == Stage::Unanswered {
            self.set(alarm, Stage::Answered, due);
        }
        None
    }

    fn set(&mut self, alarm: u64, stage: Stage, due: Option<Moment>) {
        let Some(open) = self.open.get_mut(&alarm) else { return };
        open.stage = stage;
        if let Some(before) = std::mem::replace(&mut open.due, due) {
            self.deadlines.remove(&(before, alarm));
        }
        if let Some(due) = due {
            self.deadlines.insert((due, alarm));
        }
    }

    fn close(&mut self, alarm: u64, by: &str, at: Moment) -> Option<Stopping> {
        let mut over = self.take(alarm)?;
        let stopping = over.stops.clone().map(|agent| Stopping { agent, alarm, by: None });
        (over.stage, over.closed) = (Stage::Closed, Some((by.to_owned(), at)));
        self.closed.insert(alarm, over);
        if self.closed.len() > REMEMBERED {
            self.closed.pop_first();
        }
        stopping
    }

    fn take(&mut self, alarm: u64) -> Option<Alarm> {
        self.set(alarm, Stage::Closed, None);
        let over = self.open.remove(&alarm)?;
        unlist(&mut self.by, &over.from, alarm);
        for told in &over.told {
            if let Some(to) = &told.to {
                unlist(&mut self.told, to, alarm);
            }
            if let Some(id) = &told.id
                && let Some(named) = self.named.get_mut(id)
            {
                named.retain(|_, position| *position != alarm);
                if named.is_empty() {
                    self.named.remove(id);
                }
            }
        }
        Some(over)
    }

    /// What was found in the texts of these is kept no longer.
    pub(in crate::rules) fn redact(&mut self, is_redacted: &impl Fn(u64) -> bool) {
        let all = self.open.iter_mut().chain(&mut self.closed);
        all.filter(|(position, _)| is_redacted(**position)).for_each(|(_, alarm)| alarm.found.clear());
    }

    /// An agent is gone, and what it raised is over.
    pub(super) fn forget(&mut self, agent: &str, at: Moment) {
        let own: Vec<_> = self.of(agent).map(|(position, _)| position).collect();
        for alarm in own {
            self.close(alarm, "removal", at);
        }
        self.mild.remove(agent);
        self.cut.remove(agent);
    }
}

fn unlist(lists: &mut BTreeMap<String, BTreeSet<u64>>, name: &str, alarm: u64) {
    if let Some(list) = lists.get_mut(name) {
        list.remove(&alarm);
        if list.is_empty() {
            lists.remove(name);
        }
    }
}

/// An escalation begins or ceases to stop somebody.
pub(super) struct Stopping {
    pub(super) agent: String,
    pub(super) alarm: u64,
    /// How serious it is; nothing when it ceases.
    pub(super) by: Option<Severity>,
}
