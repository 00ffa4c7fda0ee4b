//! Escalations and constraints that reach nobody (messaging 1.2, section 5.2: a failed delivery that matters for safety
//! is escalated). They climb: to whoever stands above their sender and has not got them, one after the other, and to
//! the operator, who hears of every letter that reached nobody, when nobody is left.

use super::alarm::Change as AlarmChange;
use super::standing::line;
use super::{At, Change};
use crate::effect::Accepted;
use crate::mailbox::NOBODY;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::rules::{self, Again, Ruling};
use crate::state::State;
use legation_protocol::Format;
use legation_protocol::vcp::Kind;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// How many are known at most; the oldest make room.
const MOST: usize = 100_000;
/// How long one is known beyond its own time: what is held does not grow older.
const KNOWN: Duration = Duration::from_hours(24 * 90);

/// Escalations and constraints on their way, by the entry that holds each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Letters {
    known: BTreeMap<u64, Letter>,
    /// Those that have just reached nobody, and whom they did not reach.
    lost: BTreeMap<u64, String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Letter {
    from: String,
    expires: Moment,
    /// Whom it went to.
    told: BTreeSet<String>,
}

/// A letter that reached nobody goes up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Climbing {
    /// The entry that holds it.
    pub message: u64,
    /// To whom; nobody is left without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

impl Letters {
    /// A message was taken.
    pub(crate) fn took(&mut self, at: At, accepted: &Accepted) {
        if accepted.dialect != Format::Vcp || accepted.proof == "exchange" {
            return;
        }
        let raised =
            |change: &rules::Change| matches!(change, rules::Change::Vcp(Change::Alarm(AlarmChange::Raised { .. })));
        let matters = accepted.kind == Kind::ConstraintPropagate.as_str() || accepted.ruled.changes.iter().any(raised);
        if !matters || (accepted.to.is_empty() && accepted.missed.is_empty()) {
            return;
        }
        let told = accepted.to.iter().chain(&accepted.missed).cloned().collect();
        self.known.insert(at.position, Letter { from: accepted.sender.clone(), expires: accepted.expires, told });
        let is_old = |letter: &Letter| letter.expires.plus(KNOWN) < at.at;
        while self.known.len() > MOST || self.known.values().next().is_some_and(is_old) {
            self.known.pop_first();
        }
    }

    /// A message did not reach somebody.
    pub(crate) fn lose(&mut self, message: u64, to: &str) {
        if self.known.contains_key(&message) {
            self.lost.insert(message, to.to_owned());
        }
    }

    /// Those that were erased say nothing to anybody.
    pub(crate) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        self.known.retain(|message, _| !is_erased(*message));
        self.lost.retain(|message, _| !is_erased(*message));
    }

    pub(super) fn climb(&mut self, climbing: &Climbing) {
        self.lost.remove(&climbing.message);
        match (&climbing.to, self.known.get_mut(&climbing.message)) {
            (Some(to), Some(letter)) => drop(letter.told.insert(to.clone())),
            (None, _) => drop(self.known.remove(&climbing.message)),
            (Some(_), None) => {}
        }
    }

    /// Whether something has to go up.
    pub(super) fn is_due(&self) -> bool {
        !self.lost.is_empty()
    }
}

pub(super) fn due(state: &State, policy: &Policy) -> Option<Ruling> {
    let letters = &state.rules.vcp.letters;
    let (message, missed) = letters.lost.first_key_value()?;
    let mut ruling = Ruling::default();
    let alarms = &state.rules.vcp.alarms;
    // What was dealt with is nobody's concern any more.
    let letter = letters.known.get(message).filter(|_| !alarms.is_closed(*message));
    let alarm = alarms.get(*message);
    let was_told = |id: &String| {
        let by_alarm = alarm.is_some_and(|alarm| alarm.told.iter().any(|told| told.to.as_ref() == Some(id)));
        by_alarm || letter.is_some_and(|letter| letter.told.contains(id))
    };
    let from = letter.and_then(|letter| state.registry.agent(&letter.from));
    let above = from.and_then(|from| line(&state.registry, from).find(|up| !was_told(&up.id)));
    let to = above.map(|above| above.id.clone());
    ruling.change(Change::LetterClimbed(Climbing { message: *message, to }).into());
    if let (Some(above), Some(from)) = (above, from) {
        let text = format!(
            "The message of {:?} in entry {message} did not reach {missed:?}. You stand above its sender: it comes to you.",
            from.id
        );
        // No suspension takes a grave escalation back.
        let from = if alarm.is_some_and(|alarm| alarm.severity.is_grave()) { NOBODY } else { from.since };
        ruling.again.push(Again { message: *message, to: above.id.clone(), from });
        ruling.tell(policy, above, "undelivered", text);
    }
    Some(ruling)
}
