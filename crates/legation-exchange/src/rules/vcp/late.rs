//! Emergencies that came too late to be accepted: the sender's parent and the operators are told of each, once for its id,
//! and not more often than people can read.

use super::standing::above;
use super::{Change, Kept};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::voice::Notice;
use crate::rules::{At, Heard, Ruling, scan};
use crate::state::State;
use legation_protocol::vcp::{Envelope, Escalation, Payload, Role, Severity};
use legation_protocol::{Format, Message};
use legation_scan::Found;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::Duration;

/// How long one that was told counts against the limits.
const WINDOW: Duration = Duration::from_hours(1);
/// How many of one agent's are told within the window.
const OF_ONE: usize = 4;
/// How many of one quota family's.
const OF_FAMILY: usize = 16;
/// How many of all.
const OF_ALL: usize = 256;
/// The most characters of its text that are quoted.
const QUOTED: usize = 1000;

/// A stale emergency that people were told of.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StaleEmergencyTold {
    /// Its sender.
    pub agent: String,
    /// Its message id.
    pub id: String,
}

/// Those that people were told of lately. Older ones are found in the record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StaleEmergencies(VecDeque<(Moment, StaleEmergencyTold)>);

impl StaleEmergencies {
    pub(super) fn tell(&mut self, at: At, told: &StaleEmergencyTold) {
        while self.0.len() >= OF_ALL || self.0.front().is_some_and(|(first, _)| first.plus(WINDOW) <= at.at) {
            self.0.pop_front();
        }
        self.0.push_back((at.at, told.clone()));
    }

    /// Whether people are to be told of one more.
    fn has_room_for(&self, state: &State, one: &StaleEmergencyTold, now: Moment) -> bool {
        let recent = self.0.iter().filter(|(at, _)| at.plus(WINDOW) > now).map(|(_, told)| told);
        let family = state.registry.quota_family(&one.agent);
        let (mut all, mut own, mut related) = (0, 0, 0);
        for told in recent {
            if told == one {
                return false;
            }
            all += 1;
            own += usize::from(told.agent == one.agent);
            related += usize::from(state.registry.quota_family(&told.agent) == family);
        }
        all < OF_ALL && own < OF_ONE && related < OF_FAMILY
    }
}

/// The emergency that a message raises. An acknowledgement raises none.
pub(crate) fn emergency_of(message: &Message) -> Option<(&Envelope, &Escalation)> {
    let Message::Vcp(envelope) = message else { return None };
    let Payload::Escalation(said) = &envelope.payload else { return None };
    let is_ack = matches!(said.role(), Ok(Role::Ack(_)));
    (said.severity == Severity::Emergency && !is_ack).then_some((envelope, said))
}

/// Whether people were told of a stale emergency within the window: then nothing has to be searched for.
pub(crate) fn was_told_lately(state: &State, message: &Message) -> bool {
    let Some((envelope, _)) = emergency_of(message) else { return false };
    let Some(agent) = state.registry.resolve(message.sender()) else { return false };
    let id = envelope.message_id.to_string();
    state.rules.vcp.late.0.iter().any(|(_, told)| told.id == id && told.agent == agent.id)
}

/// The notice about an emergency that came too late: to its sender's parent, or to the record alone where the operator is
/// above it. Nothing if people were told of it, or of too many.
pub(crate) fn tell_stale(
    state: &State,
    policy: &Policy,
    now: Moment,
    message: &Message,
    scanned: &[Found],
) -> Option<Vec<Heard>> {
    let (envelope, said) = emergency_of(message)?;
    let agent = state.registry.resolve(message.sender())?;
    let told = StaleEmergencyTold { agent: agent.id.clone(), id: envelope.message_id.to_string() };
    if !state.rules.vcp.late.has_room_for(state, &told, now) {
        return None;
    }
    let text = format!(
        "{} sent the emergency {}, made at {}. It came too late: it was refused, and nobody is suspended for it. Its text: {}",
        agent.id,
        told.id,
        envelope.timestamp,
        quotable(&said.reason)
    );
    let mut ruling = Ruling::default();
    let about = Some(told.id.as_str());
    match above(&state.registry, agent) {
        Some(parent) => {
            let notice = Notice { code: "stale_emergency", text, rather: Format::Vcp, about, thread: None };
            ruling.notify(policy, parent, notice);
        }
        None => ruling.note(policy, text),
    }
    ruling.mark_last(scan::quoted(scanned));
    let mut heard = ruling.heard;
    heard.last_mut()?.changes.push(Change::StaleEmergency(told).into());
    Some(heard)
}

/// A text of somebody else's for a sentence of ours: without line breaks and what hides or turns characters, and not too long.
fn quotable(text: &str) -> String {
    let hides =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}');
    let plain = text.chars().map(|c| if c.is_control() || hides(c) { ' ' } else { c });
    plain.take(QUOTED).collect()
}

impl Kept {
    /// How many stale emergencies are remembered, for the test of the bound.
    pub fn stale_emergencies(&self) -> usize {
        self.late.0.len()
    }
}
