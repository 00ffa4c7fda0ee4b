//! What waits for somebody's word. A hold is a set of reasons, each with whoever can lift it: all must be
//! lifted, any refusal refuses, and what nobody decides in time is refused. A message's own time stops
//! meanwhile.

mod review;
mod said;

pub use review::{Review, Says};

pub(crate) use review::{refuse, review, turn_back};

use super::Ruling;
use crate::before::{Before, Place};
use crate::moment::Moment;
use crate::policy::Policy;
use crate::quota::Uncounted;
use crate::state::State;
use crate::who::Role;
use legation_protocol::Format;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Why a message waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reason {
    /// A name for programs.
    pub code: String,
    /// In words.
    pub says: String,
    /// Who can lift it.
    pub lifts: Lifter,
}

impl Reason {
    /// The code of a constraint that asks for a person's look at every message.
    pub const SAFETY_FLOOR: &str = "safety_floor";
    /// What is said of it.
    pub const UNDER_A_FLOOR: &str = "The sender is under a constraint by which a person looks at this.";
}

/// Who can lift a reason.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifter {
    /// A person, by a review.
    Person,
    /// The overseer of the sender.
    Overseer(String),
    /// Whoever lets this agent go on.
    Resume(String),
    /// Whoever lets this session go on.
    Session(String),
    /// Whoever lets the message in this entry go on, which it translates.
    Original(u64),
    /// A person who approves the message in this entry, which it shows to the overseer.
    Cleared(u64),
}

impl Lifter {
    /// Whether whoever lifts this has looked at the message: a person or an overseer. The exchange itself, which lifts the
    /// reason of an overseer that is gone, approves nothing.
    fn reviews(&self) -> bool {
        matches!(self, Lifter::Person | Lifter::Overseer(_))
    }
}

/// The name of a person as others are told it: the role alone, where names are not shown. Agents keep their names.
pub fn reviewer_name<'b>(policy: &Policy, by: &'b str) -> &'b str {
    let role = by.split_once(' ').map(|(role, _)| role).filter(|role| Role::named(role).is_some());
    match role {
        Some(role) if !policy.show_reviewer_names => role,
        _ => by,
    }
}

/// A message that waits.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hold {
    /// SHA-256 of its canonical form; not known of what was on its way already.
    pub digest: Option<String>,
    /// The entry that registered its sender.
    pub from: u64,
    /// The entry that began the session it belongs to; [`OUTSIDE`](crate::OUTSIDE) if it belongs to none.
    pub session: u64,
    /// Where it goes once it is released.
    pub to: BTreeSet<String>,
    /// Why it waits.
    pub reasons: Vec<Reason>,
    /// Since when.
    pub since: Moment,
    /// Until when somebody must have decided.
    pub until: Option<Moment>,
    /// How many microseconds it may still wait for its recipient, once released.
    pub left: u64,
    /// Who is looking at it, and until when that keeps others from deciding.
    pub claimed: Option<(String, Moment)>,
    /// Its dialect, in which its sender is told what becomes of it; not known of what was on its way already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dialect: Option<Format>,
    /// Its id, as its sender knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The task it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// The person or the overseer who approved it last, where something else holds it still.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approved_by: Option<String>,
}

impl Hold {
    fn waits_for(&self, lifts: &Lifter) -> bool {
        self.reasons.iter().any(|reason| reason.lifts == *lifts)
    }

    /// Whether a person has to decide.
    pub fn is_review(&self) -> bool {
        self.reasons.iter().any(|reason| reason.lifts == Lifter::Person)
    }
}

/// Everything that is held, by the entry that holds the message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Holds {
    held: BTreeMap<u64, Hold>,
    /// Those with nothing left to lift.
    ready: BTreeSet<u64>,
    deadlines: BTreeSet<(Moment, u64)>,
    /// What became of the last few.
    decided: BTreeMap<u64, Decided>,
    /// All that were refused: nobody but their senders sees them.
    refused: BTreeSet<u64>,
    /// Those that came to wait for somebody's word, by the entry that registered their sender.
    queued: BTreeMap<u64, BTreeSet<u64>>,
    /// Where messages lay in whose mailboxes before they were taken back, by the entries that hold them.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    back: BTreeMap<String, Before>,
    /// Changes of how many are in `queued`, by the entry that registered their sender, that were not counted yet.
    #[serde(skip)]
    usage: Uncounted<(u64, i64)>,
}

/// What became of a hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Decided {
    /// Whether the message went on.
    pub released: bool,
    /// Who decided.
    pub by: String,
}

/// The exchange itself, as who decides.
const BY_EXCHANGE: &str = "the exchange";

/// How many decisions are remembered, to tell who comes late.
const REMEMBERED: usize = 10_000;

/// What changes a hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
pub enum Change {
    /// One lifted what they could.
    Lifted {
        /// The message.
        message: u64,
        /// As whom.
        lifts: Lifter,
        /// Who.
        by: String,
        /// What they gave as their reason.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        why: Option<String>,
    },
    /// It does not go on.
    Refused {
        /// The message.
        message: u64,
        /// Who.
        by: String,
        /// What they gave as their reason.
        why: String,
    },
    /// Somebody looks at it.
    Claimed {
        /// The message.
        message: u64,
        /// Who.
        by: String,
        /// Until when.
        until: Moment,
    },
    /// What was on its way to its recipients is not any more.
    Frozen {
        /// Which messages.
        which: Which,
        /// Why.
        reason: Reason,
    },
    /// Everything that waited for this goes on, unless it waits for something else.
    Thawed {
        /// For what.
        lifts: Lifter,
    },
}

impl Change {
    /// The message it is about.
    pub fn message(&self) -> Option<u64> {
        match self {
            Change::Lifted { message, .. } | Change::Refused { message, .. } | Change::Claimed { message, .. } => {
                Some(*message)
            }
            Change::Frozen { .. } | Change::Thawed { .. } => None,
        }
    }
}

impl Change {
    /// The message that does not go on by it.
    pub(crate) fn refuses(&self) -> Option<u64> {
        if let Change::Refused { message, .. } = self { Some(*message) } else { None }
    }
}

/// Messages on their way.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Which {
    /// All of the sender that this entry registered.
    From(u64),
    /// Those in these entries.
    Messages(Vec<u64>),
}

impl Which {
    /// The same, in an order that is quick to look through: there may be many, and more that are looked at.
    pub(crate) fn sorted(&self) -> Which {
        match self {
            Which::From(sender) => Which::From(*sender),
            Which::Messages(messages) => {
                let mut messages = messages.clone();
                messages.sort_unstable();
                Which::Messages(messages)
            }
        }
    }

    /// Whether it is one of them, if they are [`sorted`](Which::sorted).
    pub(crate) fn covers(&self, from: u64, message: u64) -> bool {
        match self {
            Which::From(sender) => *sender == from,
            Which::Messages(messages) => messages.binary_search(&message).is_ok(),
        }
    }
}

impl Holds {
    /// The hold on the message in this entry.
    pub fn get(&self, message: u64) -> Option<&Hold> {
        self.held.get(&message)
    }

    /// Everything that is held, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Hold)> {
        self.held.iter().map(|(message, hold)| (*message, hold))
    }

    /// What became of the hold on the message in this entry, if that is not long ago.
    pub fn decided(&self, message: u64) -> Option<&Decided> {
        self.decided.get(&message)
    }

    /// What became of the last few, by the entry that holds each message, oldest first.
    pub fn last_decided(&self) -> impl DoubleEndedIterator<Item = (u64, &Decided)> {
        self.decided.iter().map(|(message, decided)| (*message, decided))
    }

    /// Whether a message that was held once has gone on.
    pub fn went_on(&self, message: u64) -> bool {
        !self.held.contains_key(&message) && !self.refused.contains(&message)
    }

    /// Whether a message was held when it came and has not gone on since, if it ever will.
    pub(crate) fn never_went(&self, message: u64) -> bool {
        self.refused.contains(&message) || self.held.get(&message).is_some_and(|hold| hold.digest.is_some())
    }

    /// Whether a message has gone on to one of those it was for. What was taken back again from some may have
    /// reached others before.
    pub fn went_to(&self, message: u64, agent: &str) -> bool {
        let kept = |hold: &Hold| hold.digest.is_some() || hold.to.contains(agent);
        !self.refused.contains(&message) && !self.held.get(&message).is_some_and(kept)
    }

    pub(crate) fn earliest(&self) -> Option<Moment> {
        if self.ready.is_empty() { self.deadlines.first().map(|(at, _)| *at) } else { Some(Moment::default()) }
    }

    /// How many messages of the sender that this entry registered came to wait for somebody's word.
    pub(crate) fn queued_of(&self, sender: u64) -> usize {
        self.queued.get(&sender).map_or(0, BTreeSet::len)
    }

    /// How many messages came to wait for somebody's word, by the entry that registered their sender.
    pub(crate) fn usage(&self) -> impl Iterator<Item = (u64, usize)> {
        self.queued.iter().map(|(sender, messages)| (*sender, messages.len()))
    }

    /// Takes the changes of that which were not counted yet.
    pub(crate) fn take_usage(&mut self) -> Vec<(u64, i64)> {
        self.usage.take()
    }

    pub(crate) fn put(&mut self, message: u64, hold: Hold) {
        if hold.reasons.iter().any(|reason| matches!(reason.lifts, Lifter::Person | Lifter::Overseer(_)))
            && self.queued.entry(hold.from).or_default().insert(message)
        {
            self.usage.push((hold.from, 1));
        }
        if let Some(until) = hold.until {
            self.deadlines.insert((until, message));
        }
        self.held.insert(message, hold);
    }

    /// Adds a reason to what is held already, or holds what was on its way to this recipient, in whose mailbox it lay at these
    /// places.
    pub(crate) fn freeze(&mut self, message: u64, to: Option<(&str, Vec<Place>)>, reason: &Reason, frozen: Hold) {
        let hold = self.held.entry(message).or_insert(frozen);
        if let Some((agent, places)) = to {
            hold.to.insert(agent.to_owned());
            self.back.entry(agent.to_owned()).or_default().put(message, places);
        }
        if !hold.reasons.contains(reason) {
            hold.reasons.push(reason.clone());
        }
        self.ready.remove(&message);
    }

    /// Those of these that are held already.
    pub(crate) fn covered(&self, which: &Which) -> Vec<u64> {
        let covered = self.held.iter().filter(|(message, hold)| which.covers(hold.from, **message));
        covered.map(|(message, _)| *message).collect()
    }

    pub(crate) fn take(&mut self, message: u64) -> Option<Hold> {
        let hold = self.held.remove(&message)?;
        for agent in &hold.to {
            take_places(&mut self.back, agent, message);
        }
        self.ready.remove(&message);
        if let Some(queued) = self.queued.get_mut(&hold.from) {
            if queued.remove(&message) {
                self.usage.push((hold.from, -1));
            }
            if queued.is_empty() {
                self.queued.remove(&hold.from);
            }
        }
        if let Some(until) = hold.until {
            self.deadlines.remove(&(until, message));
        }
        Some(hold)
    }

    /// Drops every message that is one of those. What was said because of them does not go on: says what that is.
    pub(crate) fn take_messages(&mut self, is_one: &impl Fn(u64) -> bool) -> Vec<u64> {
        let gone: Vec<_> = self.held.keys().copied().filter(|message| is_one(*message)).collect();
        let mut with = Vec::new();
        for message in gone {
            for said in self.said_with(message) {
                with.extend(self.refuse(said));
                with.push(said);
            }
            // What was never released stays unknown to others after it is erased.
            if self.never_went(message) {
                self.refused.insert(message);
            }
            self.take(message);
        }
        with
    }

    /// Where messages lay in a recipient's mailbox before they were taken back, by the entries that hold them.
    pub(crate) fn before(&self, agent: &str) -> Option<&Before> {
        self.back.get(agent)
    }

    /// Where a message lay in a recipient's mailbox, which is not known here any more.
    pub(crate) fn take_places(&mut self, message: u64, agent: &str) -> Vec<Place> {
        take_places(&mut self.back, agent, message)
    }

    /// A recipient has a message that was taken back: it does not go there again.
    pub(crate) fn took(&mut self, message: u64, agent: &str) {
        take_places(&mut self.back, agent, message);
        if let Some(hold) = self.held.get_mut(&message) {
            hold.to.remove(agent);
        }
    }

    /// A recipient is gone.
    pub(crate) fn forget_recipient(&mut self, agent: &str) {
        self.back.remove(agent);
        self.held.values_mut().for_each(|hold| {
            hold.to.remove(agent);
        });
    }

    /// What is held until the sender that this entry registered may go on.
    pub(crate) fn suspended(&self, sender: u64) -> impl Iterator<Item = u64> {
        let suspended = |hold: &Hold| hold.reasons.iter().any(|own| matches!(own.lifts, Lifter::Resume(_)));
        let own = self.held.iter().filter(move |(_, hold)| hold.from == sender && suspended(hold));
        own.map(|(message, _)| *message)
    }

    /// A sender is gone: what was to wait until it may go on never does. Says which, and what was said because of it.
    pub(crate) fn forget_suspended(&mut self, sender: u64) -> (Vec<u64>, Vec<u64>) {
        let gone: Vec<_> = self.suspended(sender).collect();
        let with = gone.iter().flat_map(|message| self.refuse(*message)).collect();
        (gone, with)
    }

    pub(crate) fn remember(&mut self, message: u64, released: bool, by: &str) {
        self.decided.insert(message, Decided { released, by: by.to_owned() });
        if self.decided.len() > REMEMBERED {
            self.decided.pop_first();
        }
    }

    /// Says what was said because of a message and does not go on with it.
    pub(crate) fn apply(&mut self, change: &Change) -> Vec<u64> {
        match change {
            Change::Lifted { message, lifts, by, .. } => {
                self.lift(*message, lifts);
                if lifts.reviews() && by != BY_EXCHANGE {
                    self.note_approval(*message, by);
                }
                if *lifts == Lifter::Person {
                    self.clear(*message);
                }
                if self.ready.contains(message) {
                    self.remember(*message, true, by);
                }
            }
            Change::Refused { message, by, .. } => {
                self.remember(*message, false, by);
                return self.refuse(*message);
            }
            Change::Claimed { message, by, until } => {
                if let Some(hold) = self.held.get_mut(message) {
                    hold.claimed = Some((by.clone(), *until));
                }
            }
            Change::Thawed { lifts } => {
                let waiting = self.held.iter().filter(|(_, hold)| hold.reasons.iter().any(|own| own.lifts == *lifts));
                for message in waiting.map(|(message, _)| *message).collect::<Vec<_>>() {
                    self.lift(message, lifts);
                }
            }
            // The state takes back what was on its way.
            Change::Frozen { .. } => {}
        }
        Vec::new()
    }

    /// Notes who approved a held message.
    pub(crate) fn note_approval(&mut self, message: u64, by: &str) {
        if let Some(hold) = self.held.get_mut(&message) {
            hold.approved_by = Some(by.to_owned());
        }
    }

    pub(crate) fn lift(&mut self, message: u64, lifts: &Lifter) {
        let Some(hold) = self.held.get_mut(&message) else { return };
        hold.reasons.retain(|reason| reason.lifts != *lifts);
        // A person has decided: what is left to lift has no such time.
        if let (Lifter::Person, Some(until)) = (lifts, hold.until) {
            hold.until = None;
            self.deadlines.remove(&(until, message));
        }
        if hold.reasons.is_empty() {
            self.ready.insert(message);
        }
    }
}

fn take_places(back: &mut BTreeMap<String, Before>, agent: &str, message: u64) -> Vec<Place> {
    let Some(before) = back.get_mut(agent) else { return Vec::new() };
    let places = before.take(message);
    if before.is_empty() {
        back.remove(agent);
    }
    places
}

impl From<Change> for super::Change {
    fn from(change: Change) -> Self {
        super::Change::Hold(change)
    }
}

impl Ruling {
    /// Lifts a reason; the message goes on if that was the last.
    pub(crate) fn lift(&mut self, state: &State, message: u64, lifts: Lifter, by: String, why: Option<String>) {
        let is_last = |hold: &Hold| hold.reasons.iter().all(|reason| reason.lifts == lifts);
        if state.rules.holds.get(message).is_some_and(is_last) {
            self.released.push(message);
        }
        self.change(Change::Lifted { message, lifts, by, why }.into());
    }
}

/// What goes on since nothing holds it any more, or does not since nobody decided in time.
pub(crate) fn due(state: &State, policy: &Policy, now: Moment) -> Option<Ruling> {
    let (holds, mut ruling) = (&state.rules.holds, Ruling::default());
    if let Some(message) = holds.ready.first() {
        ruling.released.push(*message);
        return Some(ruling);
    }
    let (_, message) = holds.deadlines.first().filter(|(until, _)| *until <= now)?;
    let by_nobody = ("the exchange".to_owned(), "nobody decided in time".to_owned());
    refuse(state, policy, now, *message, by_nobody, &mut ruling);
    Some(ruling)
}

#[cfg(test)]
mod tests;
