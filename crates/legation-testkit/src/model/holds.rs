//! What waits for somebody's word, and who may give it. Nothing of it is delivered before an entry releases it, and
//! none does while a reason is left.

use super::mail::{Item, Lay, Named, TIMES};
use super::order::By;
use super::{Check, Model, ensure};
use crate::asked::Asked;
use crate::letter::{Letter, Says};
use legation_exchange::rules::hold::{Change, Lifter, Which};
use legation_exchange::rules::{self};
use legation_exchange::{Accepted, Moment, Released};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Who turns back what nobody refused.
const US: &str = "the exchange";
/// What is said of an answer that came too late.
const OUTDATED: &str = "what it answers went on without it";
/// What is said of what waits in a task that is over.
const ENDED: &str = "the task has ended";
/// What is said of what nobody decided on.
const UNDECIDED: &str = "nobody decided in time";

/// A message that waits.
#[derive(Clone, Debug)]
pub(super) struct Held {
    from: Option<u64>,
    to: BTreeSet<String>,
    /// Where it lay with whom before it was taken back.
    lay: BTreeMap<String, Lay>,
    reasons: BTreeSet<Lifter>,
    /// When a person must have decided.
    pub(super) until: Option<Moment>,
    /// How many microseconds it may wait for its recipient afterwards.
    left: u64,
}

impl Held {
    fn is_ready(&self) -> bool {
        self.reasons.is_empty()
    }

    pub(super) fn waits_for(&self, lifts: &Lifter) -> bool {
        self.reasons.contains(lifts)
    }
}

impl Model {
    /// Some letters are never delivered by themselves.
    pub(super) fn must_wait(&self, position: u64, letter: &Letter, accepted: &Accepted) -> Check {
        let lifts = |fits: fn(&Lifter) -> bool| accepted.ruled.held.iter().any(|reason| fits(&reason.lifts));
        let suspected = !letter.is_held_back() || lifts(|lifter| *lifter == Lifter::Person);
        ensure(suspected, || format!("{position} should wait for a person, and does not"))?;
        let waits = match letter.says {
            Says::Claims { waits } => !waits || lifts(|lifter| *lifter == Lifter::Person),
            Says::Final if self.members.get(letter.sender).is_some_and(|member| member.overseen) => {
                lifts(|lifter| matches!(lifter, Lifter::Person | Lifter::Overseer(_)))
            }
            _ => true,
        };
        ensure(waits, || format!("{position} should be held, and is not"))
    }

    pub(super) fn hold(&mut self, position: u64, accepted: &Accepted, from: Option<u64>) {
        let reasons: BTreeSet<_> = accepted.ruled.held.iter().map(|reason| reason.lifts.clone()).collect();
        let until = reasons.contains(&Lifter::Person).then(|| self.now.plus(self.policy.review_time));
        let left = u64::try_from(self.policy.time_to_live.as_micros()).unwrap_or(u64::MAX);
        self.counts.held += 1;
        self.hidden.insert(position, from);
        let to = accepted.to.iter().cloned().collect();
        self.holds.insert(position, Held { from, to, lay: BTreeMap::new(), reasons, until, left });
    }

    /// Takes back what is on its way.
    pub(super) fn freeze(&mut self, is_one: impl Fn(u64, Option<u64>) -> bool, lifts: &Lifter) {
        for (message, held) in &mut self.holds {
            if is_one(*message, held.from) {
                held.reasons.insert(lifts.clone());
            }
        }
        let (now, entry) = (self.now.micros(), self.next - 1);
        let taken = self.mail.take_back(|item| item.from.is_some() && is_one(item.message, item.from));
        for (agent, position, Item { message, expires, from, lay: before }) in taken {
            let left = expires.micros().saturating_sub(now);
            let (to, lay, reasons) = (BTreeSet::new(), BTreeMap::new(), BTreeSet::new());
            let held = self.holds.entry(message).or_insert(Held { from, to, lay, reasons, until: None, left });
            held.to.insert(agent.clone());
            held.reasons.insert(lifts.clone());
            let lay = held.lay.entry(agent).or_default();
            lay.extend(before.into_iter().chain([(position, entry)]));
            lay.drain(..lay.len().saturating_sub(TIMES));
        }
    }

    /// What somebody has taken who named where it lay does not go there again.
    pub(super) fn took_back(&mut self, agent: &str, up_to: Option<u64>, positions: &[u64]) {
        let held = self.holds.values().filter_map(|held| held.lay.get(agent));
        let until = |last: u64| held.chain(self.mail.lay(agent)).flatten().find(|(at, _)| *at == last).copied();
        let named = Named { positions, up_to: up_to.and_then(until) };
        self.mail.took_back(agent, &named);
        for held in self.holds.values_mut() {
            if held.lay.get(agent).is_some_and(|lay| named.has(lay)) {
                held.to.remove(agent);
                held.lay.remove(agent);
            }
        }
    }

    pub(super) fn thaw(&mut self, lifts: &Lifter) {
        for held in self.holds.values_mut() {
            held.reasons.remove(lifts);
        }
    }

    pub(super) fn forget_holds(&mut self, agent: &str, since: u64) {
        let resume = |held: &Held| held.reasons.iter().any(|lifts| matches!(lifts, Lifter::Resume(_)));
        let gone = self.holds.iter().filter(|(_, held)| held.from == Some(since) && resume(held));
        for message in gone.map(|(message, _)| *message).collect::<Vec<_>>() {
            self.holds.remove(&message);
            self.call_off(message);
        }
        for held in self.holds.values_mut() {
            held.to.remove(agent);
            held.lay.remove(agent);
        }
    }

    pub(super) fn hold_change(
        &mut self,
        asked: &Asked,
        position: u64,
        change: &Change,
        beside: &[rules::Change],
        by: &By<'_>,
    ) -> Check {
        match change {
            Change::Claimed { message, .. } => by.asked(asked, &format!("claim {message}"), position),
            Change::Lifted { message, lifts, .. } => {
                self.may_lift(asked, position, *message, lifts, by)?;
                if let (Lifter::Person | Lifter::Overseer(_), Change::Lifted { by: name, .. }) = (lifts, change)
                    && name != US
                {
                    self.approved.insert(*message, name.clone());
                }
                let held = self.holds.get_mut(message).ok_or_else(|| format!("{message} was not held"))?;
                let lifted = held.reasons.remove(lifts);
                if *lifts == Lifter::Person {
                    held.until = None;
                    if held.reasons.iter().any(|left| matches!(left, Lifter::Overseer(_))) {
                        self.thaw(&Lifter::Cleared(*message));
                    }
                }
                ensure(lifted, || format!("what was lifted at {position} did not hold {message}"))
            }
            Change::Refused { message, why, by: who } if who == US => {
                self.turned_back(position, *message, why, beside, by)
            }
            Change::Refused { message, .. } => self.refused(asked, position, *message, by),
            Change::Frozen { which: Which::From(since), reason } => {
                let Lifter::Resume(agent) = &reason.lifts else { return Err(format!("{position} stops nobody")) };
                let own = self.members.get(agent).is_some_and(|member| member.since == *since);
                ensure(own && self.is_suspended(agent), || format!("{agent} was stopped at {position} for nothing"))
            }
            Change::Frozen { which: Which::Messages(messages), reason } => {
                let stranded = reason.lifts == Lifter::Person && beside.len() > 1 && matches!(by, By::Exchange);
                let halted = matches!(&reason.lifts, Lifter::Session(session) if self.sessions.contains(session));
                ensure(stranded || halted, || format!("{messages:?} were taken back at {position} for nothing"))?;
                let lifts = reason.lifts.clone();
                self.freeze(|message, _| messages.contains(&message), &lifts);
                Ok(())
            }
            Change::Thawed { lifts: Lifter::Resume(agent) } => {
                ensure(!self.is_suspended(agent), || format!("{agent} is suspended, and was let go on at {position}"))
            }
            Change::Thawed { lifts: lifts @ Lifter::Session(session) } => {
                ensure(!self.sessions.contains(session), || format!("{session} is halted, and goes on at {position}"))?;
                self.thaw(lifts);
                Ok(())
            }
            Change::Thawed { .. } => Err(format!("what was let go on at {position} cannot be")),
        }
    }

    /// A reason is lifted by whoever may: a person who was asked to, or the overseer it names.
    fn may_lift(&self, asked: &Asked, position: u64, message: u64, lifts: &Lifter, by: &By<'_>) -> Check {
        match (lifts, by) {
            (Lifter::Person, _) => by.asked(asked, &format!("approve {message}"), position),
            (Lifter::Overseer(overseer), By::Letter(letter)) => {
                let fits = letter.sender == overseer && letter.says == Says::Decides { approves: true };
                ensure(fits, || format!("{} approved {message} at {position}", letter.sender))?;
                let was_shown = self.shown.contains(&(message, overseer.clone()));
                ensure(was_shown, || format!("{overseer} approved {message} at {position}, and was never shown it"))
            }
            (Lifter::Overseer(overseer), By::Exchange) => {
                ensure(!self.members.contains_key(overseer), || format!("{overseer} was passed over at {position}"))
            }
            (
                Lifter::Overseer(_) | Lifter::Resume(_) | Lifter::Session(_) | Lifter::Original(_) | Lifter::Cleared(_),
                _,
            ) => Err(format!("nobody may lift what was lifted at {position}")),
        }
    }

    /// It does not go on by itself: what it answers is over, its task is, or nobody decided in time.
    fn turned_back(&mut self, position: u64, message: u64, why: &str, beside: &[rules::Change], by: &By<'_>) -> Check {
        let late = self.is_outdated(message, beside);
        let by_itself = matches!(by, By::Exchange);
        let own = self.results.get(&message).map_or(message, |(task, _)| *task);
        let ended = self.tasks.get(&own).is_some_and(|task| !task.open || task.handed > message);
        let held = self.take_held(position, message)?;
        let undecided = held.until.is_some_and(|until| until <= self.now);
        let fits = match why {
            OUTDATED => late,
            ENDED => by_itself && ended,
            UNDECIDED => by_itself && undecided,
            // What was said of it is erased.
            "" => late || (by_itself && (ended || undecided)),
            _ => false,
        };
        ensure(fits, || format!("{message} was refused at {position} for nothing: {why:?}"))?;
        if why == UNDECIDED {
            self.counts.reviews_fired += 1;
        }
        self.goes_nowhere(message);
        Ok(())
    }

    /// It does not go on, since somebody said so.
    fn refused(&mut self, asked: &Asked, position: u64, message: u64, by: &By<'_>) -> Check {
        let held = self.take_held(position, message)?;
        match by {
            By::Order(_) => by.asked(asked, &format!("refuse {message}"), position)?,
            // Its author has given another result.
            By::Letter(letter) if letter.says == Says::Final => {
                let own = self.members.get(letter.sender).is_some_and(|member| Some(member.since) == held.from);
                ensure(own, || format!("{} withdrew {message} of another at {position}", letter.sender))?;
            }
            By::Letter(letter) => {
                let fits = held.reasons.contains(&Lifter::Overseer(letter.sender.to_owned()));
                let refuses = letter.says == Says::Decides { approves: false };
                ensure(fits && refuses, || format!("{} refused {message} at {position}", letter.sender))?;
            }
            By::Exchange => return Err(format!("nobody refused {message} at {position}")),
        }
        self.goes_nowhere(message);
        Ok(())
    }

    /// Whether a held answer comes too late: what it answers is over, or is moved by the same entry, or by what goes on
    /// with it.
    fn is_outdated(&self, message: u64, beside: &[rules::Change]) -> bool {
        let changes = |message: &u64| self.later.get(message).map_or(&[][..], |(_, changes)| changes);
        let own: BTreeSet<_> = changes(&message).iter().filter_map(moves).collect();
        let lifted = |other: &u64| {
            let is_it = |change: &rules::Change| matches!(change, rules::Change::Hold(Change::Lifted { message, .. }) if message == other);
            beside.iter().any(is_it) || self.holds.get(other).is_some_and(Held::is_ready)
        };
        let others = self.later.keys().filter(|other| **other != message && lifted(other));
        let moved = beside.iter().chain(others.flat_map(changes)).filter_map(moves);
        let over = |moved: &Moves| match moved {
            Moves::Talk(talk) => self.is_over(*talk),
            Moves::Task(task) => self.tasks.get(task).is_none_or(|task| !task.open || task.handed > message),
        };
        own.iter().any(over) || moved.into_iter().any(|moved| own.contains(&moved))
    }

    fn take_held(&mut self, position: u64, message: u64) -> Result<Held, String> {
        let held = self.holds.remove(&message);
        let held = held.ok_or_else(|| format!("{message} was refused at {position}, and was not held"))?;
        self.rejections.extend(held.from.map(|since| (position, since)));
        Ok(held)
    }

    fn goes_nowhere(&mut self, message: u64) {
        self.ended.insert(message);
        self.results.remove(&message);
        self.lose(message);
        self.call_off(message);
    }

    /// The exchange puts held work into a mailbox, at once or when what shows it is released.
    pub(super) fn note_shown(&mut self, position: u64, accepted: &Accepted) {
        let (Some(work), [to], "exchange") = (accepted.ruled.because, &accepted.to[..], accepted.proof.as_str()) else {
            return;
        };
        if accepted.ruled.held.is_empty() {
            self.shown.insert((work, to.clone()));
        } else {
            self.shows.insert(position, (work, to.clone()));
        }
    }

    pub(super) fn release(&mut self, position: u64, released: &Released) -> Check {
        let message = released.message;
        self.hidden.remove(&message);
        self.shown.extend(self.shows.remove(&message));
        if let Some(by) = self.approved.remove(&message) {
            let told = released.review.as_ref().map(|review| &review.by);
            ensure(told == Some(&by), || format!("{message} was approved by {by}, and {position} says {told:?}"))?;
        }
        let held = self.holds.remove(&message);
        let held = held.ok_or_else(|| format!("{message} was released at {position}, and was not held"))?;
        let Held { from, to, mut lay, reasons, left, .. } = held;
        ensure(reasons.is_empty(), || format!("{message} went on at {position}, and {reasons:?} hold it"))?;
        ensure(released.to.iter().eq(to.iter()), || format!("{message} went on to {:?}", released.to))?;
        let sender = self.members.iter().find(|(_, member)| Some(member.since) == from).map(|(name, _)| name);
        let silent = sender.is_some_and(|sender| self.is_suspended(sender));
        ensure(!silent, || format!("{sender:?} is suspended, and was heard at {position}"))?;
        let expires = self.now.plus(Duration::from_micros(left));
        ensure(released.expires == expires, || format!("{message} has another time left at {position}"))?;
        self.counts.released += 1;
        for agent in to {
            let lay = lay.remove(&agent).unwrap_or_default();
            self.deliver(&agent, position, Item { message, expires, from, lay });
        }
        self.thaw(&Lifter::Original(message));
        self.drop_said(message, &[Lifter::Cleared(message)]);
        self.went_on(message);
        Ok(())
    }
}

/// What a change moves or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moves {
    Talk(u64),
    Task(u64),
}

fn moves(change: &rules::Change) -> Option<Moves> {
    use rules::cap::Change::{Closed, Erred, Expired, Finished, Reassigned};
    match change {
        rules::Change::Acl(rules::acl::Change::Moved(moved)) => Some(Moves::Talk(moved.talk)),
        rules::Change::Cap(
            Finished { task }
            | Erred { task, fails: true, .. }
            | Expired { task }
            | Closed { task }
            | Reassigned { task, .. },
        ) => Some(Moves::Task(*task)),
        rules::Change::Acl(_)
        | rules::Change::Cap(_)
        | rules::Change::Hold(_)
        | rules::Change::Vcp(_)
        | rules::Change::Vlp(_)
        | rules::Change::Translated(_)
        | rules::Change::BrokenOff { .. }
        | rules::Change::Extension(_)
        | rules::Change::Identity(_) => None,
    }
}
