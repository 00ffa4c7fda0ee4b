//! What people are to be told without asking: raised by entries of the record, or by the exchange's own
//! trouble. Those of one kind that come close together are one, with a count.

mod open;

use crate::effect::{Effect, Entry};
use crate::key::KeyState;
use crate::moment::Moment;
use crate::rules::hold::{self, Lifter};
use crate::rules::vcp::{self, Alerting};
use crate::rules::{Change, cap, notice_text};
use legation_protocol::Code;
use legation_protocol::vcp::Transition;
use legation_protocol::vlp::Level;
use serde::{Deserialize, Serialize, Serializer};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// What an alert is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// An agent asks for help at once.
    Emergency,
    /// Something waits for a person's decision.
    ReviewWaiting,
    /// A session is halted until a person lets it go on.
    Halted,
    /// A message reached nobody.
    DeadLetter,
    /// The disk is nearly full, or something on it was damaged.
    Storage,
    /// A key was revoked, or one that was is used.
    KeyRevoked,
    /// A sender used an id for two messages.
    Conflict,
    /// An agent that has nobody above it escalates.
    Escalation,
    /// Nobody above an agent answered what it escalated, or dealt with it.
    EscalationUnanswered,
    /// Somebody acknowledged an escalation that is not theirs, or not open.
    AckUnmatched,
    /// An agent goes on sending what is refused.
    Flood,
    /// Messages could not be brought to an agent's endpoint.
    PushFailed,
    /// The record's clock and the machine's differ.
    Clock,
    /// An emergency came too late to be accepted.
    StaleEmergency,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 14] = [
        Kind::Emergency,
        Kind::ReviewWaiting,
        Kind::Halted,
        Kind::DeadLetter,
        Kind::Storage,
        Kind::KeyRevoked,
        Kind::Conflict,
        Kind::Escalation,
        Kind::EscalationUnanswered,
        Kind::AckUnmatched,
        Kind::Flood,
        Kind::PushFailed,
        Kind::Clock,
        Kind::StaleEmergency,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Kind::Emergency => "emergency",
            Kind::ReviewWaiting => "review_waiting",
            Kind::Halted => "halted",
            Kind::DeadLetter => "dead_letter",
            Kind::Storage => "storage",
            Kind::KeyRevoked => "key_revoked",
            Kind::Conflict => "conflict",
            Kind::Escalation => "escalation",
            Kind::EscalationUnanswered => "escalation_unanswered",
            Kind::AckUnmatched => "ack_unmatched",
            Kind::Flood => "flood",
            Kind::PushFailed => "push_failed",
            Kind::Clock => "clock",
            Kind::StaleEmergency => "stale_emergency",
        }
    }

    /// How much hurry it has.
    pub const fn urgency(self) -> Urgency {
        match self {
            Kind::Emergency | Kind::StaleEmergency => Urgency::Emergency,
            Kind::Escalation
            | Kind::EscalationUnanswered
            | Kind::Halted
            | Kind::KeyRevoked
            | Kind::Storage
            | Kind::Clock => Urgency::Grave,
            Kind::ReviewWaiting
            | Kind::DeadLetter
            | Kind::Conflict
            | Kind::AckUnmatched
            | Kind::Flood
            | Kind::PushFailed => Urgency::Usual,
        }
    }

    /// Whether those about one agent never wait for those about another.
    const fn is_apart(self) -> bool {
        match self {
            Kind::Emergency
            | Kind::StaleEmergency
            | Kind::Escalation
            | Kind::EscalationUnanswered
            | Kind::PushFailed => true,
            Kind::ReviewWaiting
            | Kind::Halted
            | Kind::DeadLetter
            | Kind::Storage
            | Kind::KeyRevoked
            | Kind::Conflict
            | Kind::AckUnmatched
            | Kind::Flood
            | Kind::Clock => false,
        }
    }

    /// How close they come together to be one. An endpoint that stays away is told of now and then.
    const fn close(self) -> Duration {
        match self {
            Kind::PushFailed => Duration::from_mins(5),
            // Each has a text of its own, and there are few.
            Kind::StaleEmergency => Duration::ZERO,
            Kind::Emergency
            | Kind::ReviewWaiting
            | Kind::Halted
            | Kind::DeadLetter
            | Kind::Storage
            | Kind::KeyRevoked
            | Kind::Conflict
            | Kind::Escalation
            | Kind::EscalationUnanswered
            | Kind::AckUnmatched
            | Kind::Flood
            | Kind::Clock => Duration::from_secs(10),
        }
    }
}

/// How much hurry an alert has: the most comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Urgency {
    /// Somebody asks for help at once.
    Emergency,
    /// Something is wrong with an agent, or with the exchange itself.
    Grave,
    /// Something waits, or went wrong.
    Usual,
}

/// Something people are to be told. Its members are in the order of canonical JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Alert {
    /// Whom it is about: an agent, where there is one.
    pub about: Option<String>,
    /// Whether it was raised before a start, and may have been told then.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// When it was raised.
    #[serde(serialize_with = "written")]
    pub at: Moment,
    /// How many alerts this one stands for.
    pub count: u64,
    /// Its id. One that is told again has the same.
    pub id: String,
    /// What it is about.
    pub kind: Kind,
    /// The first entry of the record that raised it.
    pub position: Option<u64>,
    /// Whose record it is; told by whoever tells it.
    pub realm: String,
    /// What happened, in words of ours. Only that of a stale emergency quotes what was sent.
    pub text: String,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like this")]
fn written<S: Serializer>(at: &Moment, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(at)
}

/// Whom an entry is by, as others name them.
fn party(by: &str) -> String {
    by.strip_prefix("agent ").unwrap_or(by).to_owned()
}

/// What a change of the rules is to be told as.
fn alerting(changes: &[Change]) -> Option<Alerting<'_>> {
    changes.iter().find_map(|change| match change {
        Change::Vcp(change) => change.alert(),
        Change::Hold(_)
        | Change::Cap(_)
        | Change::Acl(_)
        | Change::Vlp(_)
        | Change::Translated(_)
        | Change::BrokenOff { .. }
        | Change::Extension(_)
        | Change::Identity(_) => None,
    })
}

fn told(alerting: Alerting<'_>) -> (Kind, String, usize, String) {
    let (kind, about, text) = match alerting {
        Alerting::Told(agent) => (Kind::Escalation, agent, "an agent escalates, and only the operator is above it"),
        Alerting::Unanswered(agent) => {
            (Kind::EscalationUnanswered, agent, "nobody above answered an escalation in time, or dealt with it")
        }
        Alerting::Flood(agent) => (Kind::Flood, agent, "an agent escalates as often as it may: more are refused"),
    };
    (kind, about.to_owned(), 1, text.to_owned())
}

/// What is said of a message that waits.
const WAITS: &str = "a message waits for a person";

/// What people are asked by a change of what the rules keep.
fn asks_a_person(change: &Change) -> Option<&'static str> {
    match change {
        Change::Hold(hold::Change::Frozen { reason, .. }) if reason.lifts == Lifter::Person => {
            Some("held messages wait for a person now")
        }
        Change::Cap(cap::Change::Escalated { to: cap::Escalation::Operator, .. }) => {
            Some("a task was taken to the operators")
        }
        Change::Hold(_)
        | Change::Vcp(_)
        | Change::Cap(_)
        | Change::Acl(_)
        | Change::Vlp(_)
        | Change::Translated(_)
        | Change::BrokenOff { .. }
        | Change::Extension(_)
        | Change::Identity(_) => None,
    }
}

impl Alert {
    /// The alert an entry raises. A rule whose entries people must hear of has its arm here.
    pub fn raised_by(entry: &Entry) -> Option<Alert> {
        if let Some(told) = stale_emergency(entry) {
            return Some(Alert::stale_emergency(entry, &told.agent));
        }
        let (kind, about, count, text) = match &entry.effect {
            Effect::Died { agent, positions, why, .. } => {
                let text = format!("messages reached nobody: {}", why.as_str());
                (Kind::DeadLetter, agent.clone(), positions.len(), text)
            }
            Effect::Accepted(accepted) if accepted.emergency => {
                (Kind::Emergency, accepted.sender.clone(), 1, "an agent raised an emergency".to_owned())
            }
            Effect::Accepted(accepted) if accepted.ruled.changes.iter().any(is_emergency) => {
                (Kind::Emergency, accepted.sender.clone(), 1, "an agent's context became an emergency".to_owned())
            }
            Effect::Removed { agent, left, .. } if *left > 0 => {
                let left = usize::try_from(*left).unwrap_or(usize::MAX);
                (Kind::DeadLetter, agent.clone(), left, "messages reached nobody: removed".to_owned())
            }
            Effect::Accepted(accepted) if accepted.ruled.held.iter().any(|reason| reason.lifts == Lifter::Person) => {
                (Kind::ReviewWaiting, accepted.sender.clone(), 1, WAITS.to_owned())
            }
            // An emergency that is said in VLP blocks too, and halts nothing.
            Effect::Accepted(accepted) if accepted.ruled.level == Some(Level::Block) && !accepted.is_alarm => {
                (Kind::Halted, accepted.sender.clone(), 1, "a session is halted".to_owned())
            }
            Effect::Accepted(accepted) if alerting(&accepted.ruled.changes).is_some() => {
                told(alerting(&accepted.ruled.changes)?)
            }
            Effect::Accepted(accepted) => {
                let about = accepted.missed.first()?.clone();
                (Kind::DeadLetter, about, accepted.missed.len(), "messages reached nobody: mailbox_full".to_owned())
            }
            Effect::Refused(refused) if refused.code == Code::MessageIdConflict.as_str() => {
                (Kind::Conflict, party(&refused.by), 1, "an id was used for a second message".to_owned())
            }
            Effect::Refused(refused) if refused.code == Code::AckUnmatched.as_str() => {
                (Kind::AckUnmatched, party(&refused.by), 1, "an acknowledgement matched no open escalation".to_owned())
            }
            Effect::Refused(refused) if refused.code == Code::AgentSuspended.as_str() => {
                (Kind::Flood, party(&refused.by), 1, "a suspended agent goes on sending".to_owned())
            }
            Effect::Refused(refused) if refused.code == Code::KeyRevoked.as_str() => {
                (Kind::KeyRevoked, party(&refused.by), 1, "a key that is out of use was used".to_owned())
            }
            Effect::Pushed(pushed) if !pushed.given_up.is_empty() => {
                let text = "messages could not be brought to an endpoint, and wait in the mailbox".to_owned();
                (Kind::PushFailed, pushed.agent.clone(), pushed.given_up.len(), text)
            }
            Effect::Keyed { agent, keys, .. } => {
                let ended = |state| matches!(state, KeyState::Revoked | KeyState::Compromised);
                let key = keys.iter().find(|key| ended(key.state))?;
                (Kind::KeyRevoked, agent.clone(), 1, format!("a key became {}", key.state.as_str()))
            }
            Effect::Changed { changes, by } => match alerting(changes) {
                Some(alerting) => told(alerting),
                None => (Kind::ReviewWaiting, party(by), 1, changes.iter().find_map(asks_a_person)?.to_owned()),
            },
            Effect::Refused(_)
            | Effect::Tallied { .. }
            | Effect::Registered { .. }
            | Effect::Removed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Acked(_)
            | Effect::Pushed(_)
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Released(_)
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => return None,
        };
        let (position, count) = (Some(entry.position), count as u64);
        let (about, id, realm) = (Some(about), entry.position.to_string(), String::new());
        Some(Alert { about, again: false, at: entry.at, count, id, kind, position, realm, text })
    }

    fn stale_emergency(entry: &Entry, agent: &str) -> Alert {
        let text = "an emergency came too late, and was refused".to_owned();
        let (about, id, position) = (Some(agent.to_owned()), entry.position.to_string(), Some(entry.position));
        let alert = Alert::own(Kind::StaleEmergency, entry.at, text);
        Alert { about, id, position, ..alert }.quoting(entry.body.as_deref())
    }

    /// The same with the text of the entry that raised it, where its kind quotes one and the body is kept.
    #[must_use]
    pub fn quoting(self, body: Option<&[u8]>) -> Alert {
        match body.filter(|_| self.kind == Kind::StaleEmergency).and_then(notice_text) {
            Some(text) => Alert { text, ..self },
            None => self,
        }
    }

    /// One about the exchange's own disk.
    pub fn storage(at: Moment, text: impl Into<String>) -> Alert {
        Alert::own(Kind::Storage, at, text.into())
    }

    /// One about the exchange's own clock.
    pub fn clock(at: Moment, text: impl Into<String>) -> Alert {
        Alert::own(Kind::Clock, at, text.into())
    }

    /// One about the exchange itself.
    fn own(kind: Kind, at: Moment, text: String) -> Alert {
        let (id, realm) = (format!("{}-{}", kind.as_str(), at.micros()), String::new());
        Alert { about: None, again: false, at, count: 1, id, kind, position: None, realm, text }
    }

    /// Takes in a later one of its kind.
    fn join(&mut self, later: &Alert) {
        self.count += later.count;
        self.again &= later.again;
        if self.about != later.about {
            self.about = None;
        }
        self.position = self.position.or(later.position);
    }
}

/// The stale emergency that people are told of by an entry.
fn stale_emergency(entry: &Entry) -> Option<&vcp::StaleEmergencyTold> {
    let Effect::Accepted(accepted) = &entry.effect else { return None };
    accepted
        .ruled
        .changes
        .iter()
        .find_map(|change| if let Change::Vcp(vcp::Change::StaleEmergency(told)) = change { Some(told) } else { None })
}

/// Whether an agent's situation became an emergency.
fn is_emergency(change: &Change) -> bool {
    matches!(change, Change::Vcp(vcp::Change::ContextShared(shared)) if shared.transition == Transition::Emergency)
}

/// How many are kept.
const KEPT: usize = 4096;

/// The alerts there are, numbered as they come, the last few thousand of them. Times are those of a clock
/// that only rises.
#[derive(Clone, Debug, Default)]
pub struct Alerts {
    kept: VecDeque<(u64, Alert)>,
    last: u64,
    close: BTreeMap<(Kind, Option<String>), Close>,
}

/// The time after an alert in which others like it gather.
#[derive(Clone, Debug)]
struct Close {
    until: Duration,
    gathered: Option<Alert>,
}

impl Alerts {
    /// Takes one in. The first of a kind, for some kinds of an agent, is there at once; others gather for a while
    /// and are one then.
    pub fn raise(&mut self, alert: Alert, now: Duration) {
        self.pass(now);
        match self.close.get_mut(&like(&alert)) {
            Some(Close { gathered: Some(gathered), .. }) => gathered.join(&alert),
            Some(Close { gathered, .. }) => *gathered = Some(alert),
            None => self.put(alert, now),
        }
    }

    /// Lists one that is open since before a start.
    pub fn list(&mut self, alert: Alert) {
        self.number(alert);
    }

    /// Lets time pass.
    pub fn pass(&mut self, now: Duration) {
        let over = self.close.iter().filter(|(_, close)| close.until <= now).map(|(like, _)| like.clone());
        for like in over.collect::<Vec<_>>() {
            if let Some(gathered) = self.close.remove(&like).and_then(|close| close.gathered) {
                self.put(gathered, now);
            }
        }
    }

    fn put(&mut self, alert: Alert, now: Duration) {
        self.close.insert(like(&alert), Close { until: now + alert.kind.close(), gathered: None });
        self.number(alert);
    }

    fn number(&mut self, alert: Alert) {
        // Numbers go on rising from one start to the next.
        self.last = (self.last + 1).max(alert.at.micros());
        self.kept.push_back((self.last, alert));
        if self.kept.len() > KEPT {
            self.kept.pop_front();
        }
    }

    /// Those beyond a number, oldest first.
    pub fn after(&self, number: Option<u64>) -> impl Iterator<Item = (u64, &Alert)> {
        let from = number.map_or(0, |number| self.kept.partition_point(|(own, _)| *own <= number));
        self.kept.range(from..).map(|(number, alert)| (*number, alert))
    }

    /// The number of the last one.
    pub fn last(&self) -> Option<u64> {
        self.kept.back().map(|(number, _)| *number)
    }

    /// Those that are not numbered yet.
    pub fn gathered(&self) -> impl Iterator<Item = &Alert> {
        self.close.values().filter_map(|close| close.gathered.as_ref())
    }
}

/// What it shares with those it is one with.
fn like(alert: &Alert) -> (Kind, Option<String>) {
    (alert.kind, alert.about.clone().filter(|_| alert.kind.is_apart()))
}

#[cfg(test)]
mod tests;
