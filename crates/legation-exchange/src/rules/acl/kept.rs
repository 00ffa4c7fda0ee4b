//! Every conversation there is, found by what its parties call it. What is over stays known for a while, so
//! that a second result is told from a stray one, and is then forgotten: when, the record says.

use super::machine::Stage;
use super::talk::{Change, Due, Loss, Moved, Opening, Talk, What};
use crate::by_name::ByName;
use crate::moment::Moment;
use crate::quota::{Resource, UsageChanges};
use crate::rules::At;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Conversations, by the entry that opened each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WireKept")]
pub struct Kept {
    talks: BTreeMap<u64, Talk>,
    /// By the opening message's id, and who asked.
    #[serde(skip)]
    ids: ByName<BTreeMap<String, u64>>,
    /// By who asked, and what they want to read in an answer.
    #[serde(skip)]
    replies: ByName<ByName<BTreeSet<u64>>>,
    /// Those each agent has a part in.
    #[serde(skip)]
    parties: ByName<BTreeSet<u64>>,
    /// Those that are open and whose grants bind whoever has taken them on, by whom that is.
    #[serde(skip)]
    below: ByName<BTreeSet<u64>>,
    /// Those that are open, by who asked.
    #[serde(skip)]
    open: ByName<BTreeSet<u64>>,
    #[serde(skip)]
    due: BTreeSet<(Moment, u64)>,
    #[serde(skip)]
    closed: BTreeSet<(Moment, u64)>,
    /// Changes of how many are in `open` that were not counted yet.
    #[serde(skip)]
    usage: UsageChanges,
}

/// What of it is written: the rest follows.
#[derive(Deserialize)]
struct WireKept {
    #[serde(default)]
    talks: BTreeMap<u64, Talk>,
}

impl From<WireKept> for Kept {
    fn from(wire: WireKept) -> Self {
        let mut kept = Kept::default();
        for (position, talk) in wire.talks {
            kept.put(position, talk);
        }
        kept
    }
}

/// How many that are over are remembered at most.
const CLOSED: usize = 100_000;
/// How many are forgotten by one change, so that none takes long.
const FORGOTTEN: usize = 8;
/// How many entries of one are listed.
const ENTRIES: usize = 64;

impl Kept {
    /// The conversation this entry opened.
    pub fn get(&self, position: u64) -> Option<&Talk> {
        self.talks.get(&position)
    }

    /// The conversation an agent opened by the message with this id.
    pub fn opened_by(&self, requester: &str, id: &str) -> Option<(u64, &Talk)> {
        let position = *self.ids.get(id)?.get(requester)?;
        self.talks.get(&position).map(|talk| (position, talk))
    }

    /// All that messages with this id opened.
    pub fn with_id(&self, id: &str) -> impl Iterator<Item = (u64, &Talk)> {
        let positions = self.ids.get(id).into_iter().flat_map(BTreeMap::values);
        positions.filter_map(|position| Some((*position, self.talks.get(position)?)))
    }

    /// Those in which an agent asked for this in an answer.
    pub(super) fn awaiting(&self, requester: &str, reply_with: &str) -> impl Iterator<Item = (u64, &Talk)> {
        let positions = self.replies.get(requester).and_then(|replies| replies.get(reply_with)).into_iter().flatten();
        positions.filter_map(|position| Some((*position, self.talks.get(position)?)))
    }

    /// What an agent has taken on for somebody who works on a task, and that task.
    pub(crate) fn asked_below(&self, agent: &str) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        let positions = self.below.get(agent).into_iter().flatten();
        positions.filter_map(move |position| Some((*position, self.talks.get(position)?.binds()?)))
    }

    /// Those beyond a position, oldest first: an agent's, or all.
    pub fn after<'k>(
        &'k self,
        agent: Option<&str>,
        after: Option<u64>,
    ) -> Box<dyn Iterator<Item = (u64, &'k Talk)> + 'k> {
        let from = after.map_or(0, |after| after.saturating_add(1));
        match agent {
            None => Box::new(self.talks.range(from..).map(|(position, talk)| (*position, talk))),
            Some(agent) => {
                let own = self.parties.get(agent).into_iter().flat_map(move |own| own.range(from..));
                Box::new(own.filter_map(|position| Some((*position, self.talks.get(position)?))))
            }
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.talks.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.talks.is_empty()
    }

    /// The oldest that an agent has opened and that is not to go yet, if it has opened so many.
    pub(super) fn crowded_out(&self, requester: &str, most: usize) -> Option<u64> {
        let own = self.open.get(requester).filter(|own| own.len() >= most)?;
        let goes = |talk: &Talk| talk.due.is_some_and(|due| matches!(due.what, What::Lost(_)));
        own.iter().copied().find(|position| self.talks.get(position).is_some_and(|talk| !goes(talk)))
    }

    /// How many open conversations each has opened.
    pub(crate) fn usage(&self) -> impl Iterator<Item = (&str, usize)> {
        self.open.iter().map(|(requester, talks)| (requester, talks.len()))
    }

    /// The changes of that which were not counted yet.
    pub(crate) const fn usage_changes(&mut self) -> &mut UsageChanges {
        &mut self.usage
    }

    pub(crate) fn earliest(&self) -> Option<Moment> {
        self.due.first().map(|(at, _)| *at)
    }

    /// What has fallen due first.
    pub(super) fn first_due(&self, now: Moment) -> Option<(u64, &Talk, What)> {
        let (_, position) = self.due.first().filter(|(at, _)| *at <= now)?;
        let talk = self.talks.get(position)?;
        talk.due.map(|due| (*position, talk, due.what))
    }

    pub(crate) fn apply(&mut self, at: At, change: &Change) {
        match change {
            Change::Opened(opening) => self.open(at, (**opening).clone()),
            Change::Moved(moved) => self.step(at, moved),
            Change::Declined { talk, by } => self.decline(*talk, by, at),
            Change::Passed { talk, to } => self.pass(*talk, to, at),
            Change::Waits { talk, due } => self.set_due(*talk, Some(*due)),
        }
        self.forget(at.at);
    }

    fn open(&mut self, at: At, opening: Opening) {
        let talk = Talk {
            stage: opening.act.begins(),
            opened_at: at.at,
            moved_at: at.at,
            assignee: None,
            declined: BTreeSet::new(),
            answer: None,
            outcome: None,
            estimate: None,
            moved_in: at.position,
            entries: vec![at.position],
            due: Some(opening.due),
            until: None,
            opening,
        };
        self.put(at.position, talk);
    }

    /// Whether an answer that was held can still be one: what is over stays over, and a task is taken on once.
    pub(crate) fn may_still_move(&self, moved: &Moved) -> bool {
        let begins = matches!(moved.to, Stage::Accepted | Stage::Rejected);
        let is_news = |talk: &Talk| talk.stage == Stage::AnsweredFor && moved.to == Stage::Answered;
        let fits = |talk: &Talk| is_news(talk) || talk.stage.is_open() && !(begins && talk.assignee.is_some());
        self.talks.get(&moved.talk).is_some_and(fits)
    }

    fn step(&mut self, at: At, moved: &Moved) {
        self.set_due(moved.talk, moved.due);
        let Some(talk) = self.talks.get_mut(&moved.talk) else { return };
        let before = std::mem::replace(&mut talk.until, moved.until);
        talk.stage = moved.to;
        (talk.moved_at, talk.moved_in) = (at.at, at.position);
        talk.answer.clone_from(&moved.answer);
        talk.outcome.clone_from(&moved.outcome);
        talk.estimate = moved.estimate.or(talk.estimate);
        if moved.to == Stage::Accepted {
            talk.assignee.clone_from(&moved.by);
        }
        if let (Some(_), Some(assignee)) = (talk.binds(), &talk.assignee) {
            self.below.or_default(assignee).insert(moved.talk);
        }
        note(talk, at.position);
        if !moved.to.is_open() {
            if drop_from(&mut self.open, &talk.opening.requester, moved.talk) {
                self.usage.add(&talk.opening.requester, Resource::Conversations, -1);
            }
            if let Some(assignee) = &talk.assignee {
                drop_from(&mut self.below, assignee, moved.talk);
            }
        }
        if let Some(before) = before {
            self.closed.remove(&(before, moved.talk));
        }
        if let Some(until) = moved.until {
            self.closed.insert((until, moved.talk));
        }
    }

    fn decline(&mut self, position: u64, by: &str, at: At) {
        let Some(talk) = self.talks.get_mut(&position) else { return };
        talk.declined.insert(by.to_owned());
        talk.moved_at = at.at;
        note(talk, at.position);
    }

    /// Another is asked in place of whoever was.
    fn pass(&mut self, position: u64, to: &str, at: At) {
        let Some(talk) = self.talks.get_mut(&position) else { return };
        for before in std::mem::take(&mut talk.opening.offered) {
            if before != talk.opening.requester {
                drop_from(&mut self.parties, &before, position);
            }
        }
        talk.opening.offered.insert(to.to_owned());
        talk.declined.clear();
        talk.moved_at = at.at;
        note(talk, at.position);
        self.parties.or_default(to).insert(position);
    }

    /// A request never comes to one of those it was for.
    pub(crate) fn lose(&mut self, position: u64, agent: &str, loss: Loss, at: Moment) {
        let Some(talk) = self.talks.get_mut(&position) else { return };
        if !matches!(talk.stage, Stage::Requested | Stage::Asked) || !talk.awaited().any(|awaited| awaited == agent) {
            return;
        }
        if talk.awaited().any(|awaited| awaited != agent) {
            talk.declined.insert(agent.to_owned());
        } else {
            self.set_due(position, Some(Due { at, what: What::Lost(loss) }));
        }
    }

    /// A request comes to nobody.
    pub(crate) fn lose_all(&mut self, position: u64, loss: Loss, at: Moment) {
        if self.talks.get(&position).is_some_and(|talk| matches!(talk.stage, Stage::Requested | Stage::Asked)) {
            self.set_due(position, Some(Due { at, what: What::Lost(loss) }));
        }
    }

    /// Requests that were erased before anybody answered come to nobody.
    pub(crate) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool, at: Moment) {
        let erased: Vec<_> = self.talks.keys().copied().filter(|position| is_erased(*position)).collect();
        for position in erased {
            self.lose_all(position, Loss::Erased, at);
        }
    }

    /// What was asked in these entries, and how they said it ended, is kept no longer.
    pub(crate) fn redact(&mut self, is_redacted: &impl Fn(u64) -> bool) {
        for (position, talk) in &mut self.talks {
            if is_redacted(*position) {
                talk.opening.asked = None;
            }
            if is_redacted(talk.moved_in) {
                talk.outcome = None;
            }
        }
    }

    /// An agent is gone: it asks and does nothing any more.
    pub(crate) fn gone(&mut self, agent: &str, at: Moment) {
        for position in self.parties.get(agent).cloned().unwrap_or_default() {
            let Some(talk) = self.talks.get(&position).filter(|talk| talk.stage.is_open()) else { continue };
            if talk.opening.requester == agent {
                self.set_due(position, Some(Due { at, what: What::Lost(Loss::RequesterRemoved) }));
            } else if talk.assignee.as_deref() == Some(agent) {
                self.set_due(position, Some(Due { at, what: What::Lost(Loss::Removed) }));
            } else {
                self.lose(position, agent, Loss::Removed, at);
            }
        }
    }

    fn set_due(&mut self, position: u64, due: Option<Due>) {
        let Some(talk) = self.talks.get_mut(&position) else { return };
        if let Some(before) = std::mem::replace(&mut talk.due, due) {
            self.due.remove(&(before.at, position));
        }
        if let Some(due) = due {
            self.due.insert((due.at, position));
        }
    }

    fn put(&mut self, position: u64, talk: Talk) {
        let Opening { id, requester, reply_with, .. } = &talk.opening;
        self.ids.or_default(id).insert(requester.clone(), position);
        if let Some(reply_with) = reply_with {
            self.replies.or_default(requester).or_default(reply_with).insert(position);
        }
        for party in talk.opening.offered.iter().chain([requester]) {
            self.parties.or_default(party).insert(position);
        }
        if talk.stage.is_open() && self.open.or_default(requester).insert(position) {
            self.usage.add(requester, Resource::Conversations, 1);
        }
        if let (Some(_), Some(assignee)) = (talk.binds(), &talk.assignee) {
            self.below.or_default(assignee).insert(position);
        }
        self.due.extend(talk.due.map(|due| (due.at, position)));
        self.closed.extend(talk.until.map(|until| (until, position)));
        self.talks.insert(position, talk);
    }

    /// Forgets what is over long enough.
    fn forget(&mut self, now: Moment) {
        for _ in 0..FORGOTTEN {
            let over = self.closed.first().filter(|(until, _)| *until <= now || self.closed.len() > CLOSED);
            let Some((_, position)) = over.copied() else { return };
            self.take(position);
        }
    }

    fn take(&mut self, position: u64) {
        let Some(talk) = self.talks.remove(&position) else { return };
        let Opening { id, requester, reply_with, offered, .. } = &talk.opening;
        if let Some(ids) = self.ids.get_mut(id) {
            ids.remove(requester);
            if ids.is_empty() {
                self.ids.remove(id);
            }
        }
        if let (Some(reply_with), Some(replies)) = (reply_with, self.replies.get_mut(requester)) {
            drop_from(replies, reply_with, position);
            if replies.is_empty() {
                self.replies.remove(requester);
            }
        }
        for party in offered.iter().chain([requester]) {
            drop_from(&mut self.parties, party, position);
            drop_from(&mut self.below, party, position);
        }
        if drop_from(&mut self.open, requester, position) {
            self.usage.add(requester, Resource::Conversations, -1);
        }
        talk.due.map(|due| self.due.remove(&(due.at, position)));
        talk.until.map(|until| self.closed.remove(&(until, position)));
    }
}

fn note(talk: &mut Talk, entry: u64) {
    if talk.entries.len() < ENTRIES && talk.entries.last() != Some(&entry) {
        talk.entries.push(entry);
    }
}

/// Returns whether it was there.
fn drop_from(index: &mut ByName<BTreeSet<u64>>, name: &str, position: u64) -> bool {
    let Some(positions) = index.get_mut(name) else { return false };
    let was_there = positions.remove(&position);
    if positions.is_empty() {
        index.remove(name);
    }
    was_there
}
