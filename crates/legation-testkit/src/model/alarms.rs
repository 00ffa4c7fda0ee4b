//! Escalations and who is stopped by them: each clock fires once and not before its time, and nobody who is
//! suspended goes on unless somebody above it, or an operator, says so.

use super::order::By;
use super::{Check, Model, ensure};
use crate::asked::Asked;
use crate::letter::{Letter, Says};
use legation_exchange::rules::hold::Lifter;
use legation_exchange::rules::vcp::{AlarmChange, Standing, StandingChange, StopScope};
use legation_exchange::rules::{self, vcp};
use legation_exchange::{Moment, State};
use legation_protocol::vcp::Severity;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// How long a critical alarm that was seen may wait for somebody to deal with it.
const RESOLVE: Duration = Duration::from_mins(5);

/// An open escalation.
#[derive(Clone, Debug)]
pub(super) struct Alarm {
    id: String,
    pub(super) from: String,
    severity: Severity,
    /// Who was told; nobody means the operator.
    told: BTreeSet<String>,
    /// When the next above is told.
    pub(super) due: Option<Moment>,
    /// Whether nobody has answered since it was told last.
    unanswered: bool,
    /// Whether a block raised it, which stops nobody.
    ours: bool,
    /// Whether it may as well pass one on from below, and so stops nobody.
    beside: bool,
    /// Its words.
    reason: String,
    /// Who has told somebody of it.
    passed_by: BTreeSet<String>,
}

fn within(severity: Severity) -> Duration {
    Duration::from_secs(if is_grave(severity) { 5 } else { 60 })
}

fn is_grave(severity: Severity) -> bool {
    matches!(severity, Severity::Critical | Severity::Emergency)
}

impl Letter {
    /// Whether nothing holds it up: an alarm that is grave, or an answer to one.
    pub(super) fn is_grave(&self) -> bool {
        match &self.says {
            Says::Alarm { severity, .. } => is_grave(*severity),
            Says::Ack => self.received.bytes().windows(8).any(|part| part == b"critical" || part == b"emergenc"),
            _ => false,
        }
    }
}

impl Letter {
    /// The reason that an escalation gives.
    fn reason(&self) -> String {
        let read = serde_json::from_slice::<Value>(self.received.bytes()).ok();
        let reason = read.as_ref().and_then(|message| message.pointer("/payload/reason")).and_then(Value::as_str);
        reason.unwrap_or_default().to_owned()
    }

    /// Whether an escalation names another one, or repeats its words.
    fn passes_on(&self, id: &str, reason: &str) -> bool {
        let own = self.reason();
        own.contains(id) || own.trim() == reason.trim()
    }
}

impl Model {
    pub(super) fn is_suspended(&self, agent: &str) -> bool {
        let by_alarm = |alarm: &Alarm| alarm.from == agent && alarm.severity == Severity::Emergency && !alarm.beside;
        self.stopped.contains_key(agent) || self.alarms.values().any(by_alarm)
    }

    pub(super) fn is_paused(&self, agent: &str) -> bool {
        let stops = |alarm: &Alarm| alarm.severity == Severity::Critical && !alarm.ours && !alarm.beside;
        self.alarms.values().any(|alarm| alarm.from == agent && stops(alarm))
    }

    pub(super) fn suspended(&self) -> BTreeSet<String> {
        self.members.keys().filter(|agent| self.is_suspended(agent)).cloned().collect()
    }

    /// What whoever is suspended from now on said is taken back; what whoever no longer is said goes on.
    pub(super) fn turn(&mut self, before: &BTreeSet<String>) {
        let after = self.suspended();
        for agent in after.difference(before) {
            self.counts.suspended += 1;
            let since = self.members.get(agent).map(|member| member.since);
            self.freeze(|_, from| from == since, &Lifter::Resume(agent.clone()));
        }
        for agent in before.difference(&after) {
            self.thaw(&Lifter::Resume(agent.clone()));
        }
    }

    /// An escalation is raised, unless it passes on one from below.
    pub(super) fn alarm(
        &mut self,
        position: u64,
        letter: &Letter,
        (severity, wants_ack): (Severity, bool),
        changes: &[rules::Change],
    ) -> Check {
        let passed = changes.iter().find_map(|change| match change {
            rules::Change::Vcp(vcp::Change::Alarm(AlarmChange::Passed { alarm, .. })) => Some(*alarm),
            _ => None,
        });
        let sender = letter.sender;
        let above = self.members.get(sender).and_then(|member| member.parent.clone());
        let due = (wants_ack && above.is_some()).then(|| self.now.plus(within(severity)));
        if let Some(below) = passed {
            let open = self.alarms.get(&below).filter(|alarm| alarm.severity == severity);
            let from = open.map(|alarm| alarm.from.clone()).unwrap_or_default();
            let is_above = self.line(&from).any(|up| up == sender);
            if severity == Severity::Emergency {
                let is_it = open.is_some_and(|alarm| letter.passes_on(&alarm.id, &alarm.reason));
                ensure(is_it, || {
                    format!("{sender} neither names nor repeats {below} at {position}, and is not stopped")
                })?;
            }
            ensure(is_above, || format!("{sender} passed on nothing at {position}, and is not stopped"))?;
            let Some(alarm) = self.alarms.get_mut(&below) else { return Ok(()) };
            if above.as_ref().is_none_or(|above| alarm.told.insert(above.clone())) {
                (alarm.due, alarm.unanswered) = (due, true);
            }
            let names = letter.received.bytes().windows(11).any(|part| part == b"PROPAGATED:");
            let is_again = !alarm.passed_by.insert(sender.to_owned()) && severity == Severity::Emergency;
            if names || is_again {
                return Ok(());
            }
        }
        let mut told: BTreeSet<_> = above.into_iter().collect();
        if severity == Severity::Emergency {
            told.extend(self.line(sender).cloned());
        }
        let id = letter.id.clone().unwrap_or_default();
        let alarm = Alarm {
            id,
            from: sender.to_owned(),
            severity,
            told,
            due,
            unanswered: true,
            ours: false,
            beside: passed.is_some(),
            reason: letter.reason(),
            passed_by: BTreeSet::from([sender.to_owned()]),
        };
        self.alarms.insert(position, alarm);
        Ok(())
    }

    /// Only whoever stands above lets an agent go on, by naming the escalation.
    pub(super) fn resume(&mut self, position: u64, letter: &Letter, of: &str) -> Check {
        let named = self.alarms.iter().find(|(_, alarm)| alarm.id == of).map(|(at, alarm)| (*at, alarm.from.clone()));
        let (alarm, from) = named.ok_or_else(|| format!("{position} resumes nothing"))?;
        let above = self.members.get(&from).and_then(|member| member.parent.as_deref());
        ensure(above == Some(letter.sender), || format!("{} resumed {from} at {position}", letter.sender))?;
        self.alarms.remove(&alarm);
        Ok(())
    }

    pub(super) fn alarm_change(&mut self, asked: &Asked, position: u64, change: &AlarmChange, by: &By<'_>) -> Check {
        match change {
            AlarmChange::Told { alarm, to, .. } => self.tell(position, *alarm, to.as_deref()),
            AlarmChange::Acked { alarm, .. } => {
                match by {
                    By::Letter(letter) => {
                        let told = self.alarms.get(alarm).is_some_and(|alarm| alarm.told.contains(letter.sender));
                        ensure(told, || format!("{} was not told of {alarm}", letter.sender))?;
                    }
                    By::Order(_) | By::Exchange => by.asked(asked, &format!("ack {alarm}"), position)?,
                }
                self.acked(*alarm);
                Ok(())
            }
            AlarmChange::Handled { alarm, .. } => {
                if let Some(alarm) = self.alarms.get_mut(alarm) {
                    (alarm.due, alarm.unanswered) = (None, false);
                }
                Ok(())
            }
            AlarmChange::Closed { alarm, .. } => {
                let Some(open) = self.alarms.get(alarm) else { return Ok(()) };
                let (from, ours) = (open.from.clone(), open.ours);
                match by {
                    // A person let the session go on.
                    By::Order(_) if ours => {}
                    By::Order(_) if asked.removals.contains(from.as_str()) => {}
                    By::Letter(_) | By::Order(_) | By::Exchange => {
                        let tree = by.asked(asked, &format!("resume {from} and below"), position);
                        tree.or_else(|_| by.asked(asked, &format!("resume {from}"), position))?;
                    }
                }
                self.alarms.remove(alarm);
                Ok(())
            }
            AlarmChange::Raised { ours: Some(_), id, from, severity, due, .. } => {
                let above = self.members.get(from).and_then(|member| member.parent.clone());
                let in_time = *severity == Severity::Critical && *due == Some(self.now.plus(within(*severity)));
                ensure(above.is_some() && in_time, || format!("{position} raises what is no alarm of a block"))?;
                let (id, from, told) = (id.clone(), from.clone(), above.into_iter().collect());
                let alarm = Alarm {
                    id,
                    from,
                    severity: *severity,
                    told,
                    due: *due,
                    unanswered: true,
                    ours: true,
                    beside: false,
                    reason: String::new(),
                    passed_by: BTreeSet::new(),
                };
                self.alarms.insert(position, alarm);
                Ok(())
            }
            AlarmChange::Coalesced { count, .. } => ensure(*count > 0, || format!("{position} tells of nothing")),
            // By what the letter says.
            AlarmChange::Raised { ours: None, .. } | AlarmChange::Said { .. } | AlarmChange::Passed { .. } => Ok(()),
        }
    }

    /// A clock has run out: the next above is told, or the operator, and not before.
    fn tell(&mut self, position: u64, which: u64, to: Option<&str>) -> Check {
        let alarm = self.alarms.get(&which).ok_or_else(|| format!("{which} is over, and was told at {position}"))?;
        let over = alarm.due.is_some_and(|due| due <= self.now);
        ensure(over, || format!("the alarm of {which} fired at {position}, before its time or once too often"))?;
        let next = self.line(&alarm.from).find(|up| !alarm.told.contains(*up)).cloned();
        ensure(next.as_deref() == to, || format!("{to:?} was told of {which}, and {next:?} comes next"))?;
        let due = next.as_ref().map(|_| self.now.plus(within(alarm.severity)));
        self.counts.alarms_fired += 1;
        if let Some(alarm) = self.alarms.get_mut(&which) {
            alarm.told.extend(next);
            (alarm.due, alarm.unanswered) = (due, true);
        }
        Ok(())
    }

    fn acked(&mut self, which: u64) {
        let now = self.now;
        let Some(alarm) = self.alarms.get_mut(&which) else { return };
        if !is_grave(alarm.severity) {
            self.alarms.remove(&which);
        } else if alarm.unanswered {
            let due = (alarm.severity == Severity::Critical).then(|| now.plus(RESOLVE));
            (alarm.due, alarm.unanswered) = (due, false);
        }
    }

    pub(super) fn standing_change(
        &mut self,
        asked: &Asked,
        position: u64,
        change: &StandingChange,
        by: &By<'_>,
    ) -> Check {
        match change {
            StandingChange::Suspended { agent, scope, .. } => {
                by.asked(asked, &self.ordered("suspend", agent, *scope, asked, by), position)?;
                self.stopped.insert(agent.clone(), *scope);
            }
            StandingChange::Resumed { agent, .. } => {
                let scope = self.stopped.get(agent).copied().unwrap_or_default();
                by.asked(asked, &self.ordered("resume", agent, scope, asked, by), position)?;
                self.stopped.remove(agent);
            }
            StandingChange::ExchangeSuspended { .. } => by.asked(asked, "suspend all", position)?,
            StandingChange::ExchangeResumed { .. } => by.asked(asked, "resume all", position)?,
        }
        Ok(())
    }

    /// The order that an agent was stopped by, or resumed: one that names it; or, where the order was for more, one for all
    /// or for the subtree of one above it.
    fn ordered(&self, what: &str, agent: &str, scope: StopScope, asked: &Asked, by: &By<'_>) -> String {
        let own = format!("{what} {agent}");
        let tree = |of: &str| format!("{what} {of} and below");
        // Whose subtree it is stops with it, and goes on with it whatever it was stopped by.
        let mut wider = vec![tree(agent)];
        if scope <= StopScope::Subtree {
            wider.extend(self.line(agent).map(|up| tree(up)));
        }
        if scope == StopScope::All {
            wider.push(format!("{what} all"));
        }
        wider.into_iter().find(|order| by.asked(asked, order, 0).is_ok()).unwrap_or(own)
    }

    pub(super) fn standings_agree(&self, state: &State) -> Check {
        for agent in state.registry().agents() {
            let found = state.rules().vcp.standing.of(agent);
            let should = match (self.is_suspended(&agent.id), self.is_paused(&agent.id)) {
                (true, _) => Standing::Suspended,
                (false, true) => Standing::Paused,
                (false, false) => Standing::Running,
            };
            ensure(found == should, || format!("{} is {found:?}, and should be {should:?}", agent.id))?;
        }
        Ok(())
    }
}
