//! What people have to deal with still, whenever they were first told of it: open emergencies, what only they can
//! answer, halted sessions, and what waits for a person.

use super::{Alert, Kind, WAITS};
use crate::moment::Moment;
use crate::rules::vcp::Alarm;
use crate::state::State;
use legation_protocol::vcp::Severity;
use std::collections::BTreeMap;

impl Alert {
    /// Those that a state has, oldest first, under the ids that they were raised with.
    pub fn still_open(state: &State) -> Vec<Alert> {
        let rules = state.rules();
        let alarms = rules.vcp.alarms.open().filter_map(|(position, alarm)| of_alarm(position, alarm));
        let halts = rules.vlp.sessions.halted().filter_map(|(_, session)| session.halted.as_ref()).map(|halt| {
            let about = Some(halt.who.clone()).filter(|who| !who.is_empty());
            open(Kind::Halted, about, (halt.by, halt.at), "a session is halted")
        });
        let names: BTreeMap<_, _> = state.registry().agents().map(|agent| (agent.since, &agent.id)).collect();
        let reviews = rules.holds.iter().filter(|(_, hold)| hold.is_review()).map(|(message, hold)| {
            let about = names.get(&hold.from).map(|id| (*id).clone());
            open(Kind::ReviewWaiting, about, (message, hold.since), WAITS)
        });
        let mut all: Vec<_> = alarms.chain(halts).chain(reviews).collect();
        all.sort_by_key(|alert| (alert.at, alert.position));
        all
    }
}

/// Nothing if somebody above its sender has to deal with it first.
fn of_alarm(position: u64, alarm: &Alarm) -> Option<Alert> {
    let is_operators = alarm.told.iter().any(|told| told.to.is_none());
    let (kind, text) = match alarm.severity {
        Severity::Emergency => (Kind::Emergency, "an agent raised an emergency"),
        Severity::Warning | Severity::Critical if is_operators && alarm.told.len() == 1 => {
            (Kind::Escalation, "an agent escalates, and only the operator is above it")
        }
        Severity::Info | Severity::Warning | Severity::Critical if is_operators && alarm.told.len() > 1 => {
            (Kind::EscalationUnanswered, "nobody above answered an escalation in time, or dealt with it")
        }
        Severity::Info | Severity::Warning | Severity::Critical => return None,
    };
    Some(open(kind, Some(alarm.from.clone()), (position, alarm.at), text))
}

fn open(kind: Kind, about: Option<String>, (position, at): (u64, Moment), text: &str) -> Alert {
    let (id, realm, text) = (position.to_string(), String::new(), text.to_owned());
    Alert { about, again: false, at, count: 1, id, kind, position: Some(position), realm, text }
}
