//! Sessions (VLP VIII). One belongs to whoever spoke first in it, those addressed are its parties, and its
//! owner's `session_context` closes it. Of those that are over, or that nobody speaks in any more, only so
//! many are kept, and whoever begins more loses their own first; one that is halted stays.

use super::reach::{Found, MOST_REACHED, Reach, Roots};
use super::shelf::Shelf;
use crate::moment::Moment;
use crate::quota::{Resource, UsageChanges};
use crate::rules::At;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

/// How many parties a session may have.
pub const MOST_PARTIES: usize = 1000;
/// How many sessions that are not over are kept, those spoken in last.
const OPEN: usize = 100_000;
/// How many that are over.
const CLOSED: usize = 10_000;
/// How many of one owner that are over.
const OWN_CLOSED: usize = 1000;
/// How many messages outside it one halt may stop.
pub(super) const MOST_STOPPED: usize = 1024;

/// A session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Session {
    /// Who spoke first, by canonical id.
    pub owner: String,
    /// Who has a part in it.
    pub parties: BTreeMap<String, Party>,
    /// Since when.
    pub since: Moment,
    /// The entry with its first message.
    pub first: u64,
    /// The entry with its last message.
    pub last: u64,
    /// When that was.
    pub spoke_at: Moment,
    /// How many messages it has.
    pub messages: u64,
    /// The highest sequence number in it.
    pub highest: Option<i64>,
    /// The same counts over the messages that nothing holds.
    pub(super) public: PublicCounts,
    /// The entry that closed it.
    pub closed: Option<u64>,
    /// Why it must not go on.
    pub halted: Option<Halt>,
    /// Its messages within the window.
    pub(in crate::rules) said: BTreeSet<u64>,
    /// Numbers that nobody heard, since what they were given to does not go on; until their sender goes on counting.
    unheard: BTreeSet<(String, i64)>,
}

/// Counts over those messages of a session that nothing held, or that were released. All that its parties may know.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct PublicCounts {
    messages: u64,
    first: u64,
    since: Moment,
    last: u64,
    spoke_at: Moment,
    highest: Option<i64>,
}

impl PublicCounts {
    fn count(&mut self, message: u64, at: Moment, seq: Option<i64>) {
        if self.messages == 0 || message < self.first {
            (self.first, self.since) = (message, at);
        }
        self.messages += 1;
        self.last = self.last.max(message);
        self.spoke_at = self.spoke_at.max(at);
        self.highest = self.highest.max(seq);
    }
}

impl Session {
    /// Its messages that are not long ago, by position.
    pub fn said(&self) -> impl Iterator<Item = u64> {
        self.said.iter().copied()
    }

    /// The last number of a party that others heard or may still hear.
    pub(super) fn heard_of(&self, id: &str) -> Option<i64> {
        let last = self.parties.get(id)?.seq?;
        self.before(last, |seq| self.unheard.contains(&(id.to_owned(), seq)))
    }

    /// Whether a number is the next after the last of somebody: no party's leap makes another's number follow. Numbers of
    /// others' held messages do not count: the answer would tell that they are there.
    pub(super) fn follows_somebody(&self, seq: i64, speaker: &str) -> bool {
        let others = self.parties.iter().filter(|(id, _)| *id != speaker).filter_map(|(_, party)| party.public_seq);
        self.heard_of(speaker).into_iter().chain(others).any(|last| last.checked_add(1) == Some(seq))
    }

    fn before(&self, last: i64, is_unheard: impl Fn(i64) -> bool) -> Option<i64> {
        let mut down = (0..=self.unheard.len()).filter_map(|back| last.checked_sub(i64::try_from(back).ok()?));
        down.find(|seq| !is_unheard(*seq))
    }
}

/// Somebody who has a part in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Party {
    /// The entry that registered it: another of its name is no party.
    pub since: u64,
    /// Its last sequence number.
    pub seq: Option<i64>,
    /// The last that nothing holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) public_seq: Option<i64>,
}

/// Why a session must not go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halt {
    /// The message that blocked it.
    pub by: u64,
    /// Since when.
    pub at: Moment,
    /// The messages outside the session that nobody may go on from either.
    pub messages: Vec<u64>,
    /// Who blocked it; of an instance, whom it is one of.
    #[serde(default)]
    pub who: String,
    /// Whether it was begun for what its sender blocks outside sessions.
    #[serde(default)]
    pub outside: bool,
    /// Those beside the parties who are told when it goes on.
    #[serde(default)]
    pub told: BTreeSet<String>,
    /// Those outside who had taken what goes on from it and were told, by the entries that registered them.
    #[serde(default)]
    pub outsiders: BTreeSet<u64>,
    /// Over how many steps it reached what goes on from it.
    #[serde(default)]
    pub(super) reached: usize,
}

/// A session must not go on. One that is halted already is so for this as well.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Halting {
    /// Which.
    pub session: String,
    /// The messages outside it that nobody may go on from either.
    pub messages: Vec<u64>,
    /// Who blocks it; of an instance, whom it is one of.
    #[serde(default)]
    pub who: String,
    /// Whether it was begun for what its sender blocks outside sessions.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub outside: bool,
    /// Those beside the parties who are told when it goes on.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub told: BTreeSet<String>,
    /// Those outside who have taken what goes on from it and are told, by the entries that registered them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub outsiders: BTreeSet<u64>,
}

/// Somebody spoke in a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spoke {
    /// Which.
    pub session: String,
    /// Who, by canonical id.
    pub by: String,
    /// The message's sequence number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// Who has a part in it from now on, and the entries that registered them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub joins: Vec<(String, u64)>,
    /// Whether this closes it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub closes: bool,
    /// Whether it is held: nobody joins, and nothing is closed, before it goes on.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held: bool,
}

/// The sessions there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Sessions {
    all: BTreeMap<String, Session>,
    /// Those that can be spoken in, by the entry that was last spoken in them.
    open: Shelf,
    /// Those that are over, by the entry that closed them.
    closed: Shelf,
    /// Those that must not go on, by who blocked them.
    halted: BTreeMap<String, BTreeSet<String>>,
    /// Messages outside them that nobody may go on from.
    reach: Reach,
    /// The session of each message in the window.
    places: BTreeMap<u64, String>,
    /// Held messages, that others join by or that close a session once they go on.
    waiting: BTreeMap<u64, Spoke>,
    /// Changes of how many are in `open` and `halted` that were not counted yet.
    #[serde(skip)]
    usage: UsageChanges,
}

impl Sessions {
    /// A session by its id.
    pub fn get(&self, id: &str) -> Option<&Session> {
        self.all.get(id)
    }

    /// The session of this name that a message in an entry may belong to: another may have the name of one that was
    /// forgotten since.
    pub fn at(&self, id: &str, message: u64) -> Option<&Session> {
        self.get(id).filter(|session| session.first <= message)
    }

    /// Those beyond an id, by id; all of them without one.
    pub fn after(&self, id: Option<&str>) -> impl Iterator<Item = (&str, &Session)> {
        let from = id.map_or(Bound::Unbounded, Bound::Excluded);
        self.all.range::<str, _>((from, Bound::Unbounded)).map(|(id, session)| (id.as_str(), session))
    }

    /// How many are kept.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Those that somebody has halted.
    pub fn halted_by<'s>(&'s self, who: &str) -> impl Iterator<Item = (&'s str, &'s Halt)> {
        let own = self.halted.get(who).into_iter().flatten();
        own.filter_map(|id| Some((id.as_str(), self.all.get(id)?.halted.as_ref()?)))
    }

    /// Those that must not go on, by id.
    pub fn halted(&self) -> impl Iterator<Item = (&str, &Session)> {
        let ids: BTreeSet<&String> = self.halted.values().flatten().collect();
        ids.into_iter().filter_map(|id| Some((id.as_str(), self.all.get(id)?)))
    }

    /// How many must not go on.
    pub fn halted_len(&self) -> usize {
        self.halted.values().map(BTreeSet::len).sum()
    }

    /// The halted session that a message outside it is stopped with: named by a block, or going on from what is halted.
    pub(super) fn stopped_with(&self, message: u64) -> Option<&str> {
        self.reach.stops(message)
    }

    /// Whether a message is a block, and what it halted is not released.
    pub(super) fn is_block(&self, message: u64) -> bool {
        self.reach.is_block(message)
    }

    /// The halted session that a message belongs to, by the entry that began it, or is stopped with. A block itself goes
    /// to whom it concerns.
    pub(crate) fn halts(&self, first: u64, message: u64) -> Option<&str> {
        let within = || self.halted().find(|(_, session)| session.first == first).map(|(id, _)| id);
        self.stopped_with(message).or_else(within).filter(|_| !self.is_block(message))
    }

    /// What a halt stops by itself.
    pub(super) fn roots<'h>(&'h self, halting: &'h Halting) -> Option<Roots<'h>> {
        Some(Roots { said: Some(&self.all.get(&halting.session)?.said), messages: &halting.messages })
    }

    /// The one that somebody's next takes the place of, if they own so many.
    pub(super) fn crowded_out(&self, owner: &str, most: usize) -> Option<&str> {
        self.open.oldest_of(owner).filter(|_| self.open.len_of(owner) >= most)
    }

    /// How many sessions each owns that can be spoken in.
    pub(crate) fn open_usage(&self) -> impl Iterator<Item = (&str, usize)> {
        self.open.lengths()
    }

    /// How many sessions each has halted.
    pub(crate) fn halt_usage(&self) -> impl Iterator<Item = (&str, usize)> {
        self.halted.iter().map(|(who, sessions)| (who.as_str(), sessions.len()))
    }

    /// The changes of both that were not counted yet.
    pub(crate) const fn usage_changes(&mut self) -> &mut UsageChanges {
        &mut self.usage
    }

    pub(super) fn speak(&mut self, at: At, spoke: &Spoke) {
        let session = self.all.entry(spoke.session.clone()).or_insert_with(|| Session {
            owner: spoke.by.clone(),
            since: at.at,
            first: at.position,
            ..Session::default()
        });
        let mut open = self.open.take(session.last, &session.owner);
        (session.last, session.spoke_at) = (at.position, at.at);
        session.messages += 1;
        session.highest = session.highest.max(spoke.seq);
        session.said.insert(at.position);
        for (id, since) in spoke.joins.iter().filter(|(id, _)| !spoke.held || *id == spoke.by) {
            session.parties.insert(id.clone(), Party { since: *since, ..Party::default() });
        }
        if spoke.held {
            self.waiting.insert(at.position, spoke.clone());
        } else {
            session.unheard.retain(|(by, seq)| *by != spoke.by || Some(*seq) > spoke.seq);
            session.public.count(at.position, at.at, spoke.seq);
        }
        if let Some(party) = session.parties.get_mut(&spoke.by) {
            party.seq = party.seq.max(spoke.seq);
            if !spoke.held {
                party.public_seq = party.public_seq.max(spoke.seq);
            }
        }
        if spoke.closes && !spoke.held {
            session.closed = Some(at.position);
            self.closed.put(at.position, &session.owner, &spoke.session);
        } else {
            open += self.open.put(at.position, &session.owner, &spoke.session);
        }
        self.usage.add(&session.owner, Resource::Sessions, open);
        let owner = session.owner.clone();
        self.places.insert(at.position, spoke.session.clone());
        self.prune(&owner);
    }

    /// A held message goes on, and does what it was to do.
    pub(crate) fn go_on(&mut self, message: u64, at: Moment) {
        let Some(spoke) = self.waiting.remove(&message) else { return };
        // As `at` has it.
        let session = self.all.get_mut(&spoke.session).filter(|session| session.first <= message);
        let Some(session) = session else { return };
        session.public.count(message, at, spoke.seq);
        if let Some(party) = session.parties.get_mut(&spoke.by) {
            party.public_seq = party.public_seq.max(spoke.seq);
        }
        for (id, since) in spoke.joins {
            if session.parties.len() < MOST_PARTIES {
                session.parties.entry(id).or_insert(Party { since, ..Party::default() });
            }
        }
        if spoke.closes && session.closed.is_none() {
            session.closed = Some(message);
            let open = self.open.take(session.last, &session.owner);
            self.usage.add(&session.owner, Resource::Sessions, open);
            self.closed.put(message, &session.owner, &spoke.session);
        }
        let owner = session.owner.clone();
        self.prune(&owner);
    }

    /// A session as one of its parties may see it: without others' messages that are held, or were rejected while they
    /// were.
    pub fn as_seen_by(&self, party: &str, session: &Session) -> Session {
        let mut public = session.public.clone();
        let own = session.said.iter().filter_map(|message| self.waiting.get_key_value(message));
        for (message, spoke) in own.filter(|(_, spoke)| spoke.by == party) {
            public.count(*message, session.since.max(public.spoke_at), spoke.seq);
        }
        let mut seen = session.clone();
        seen.parties.iter_mut().filter(|(id, _)| *id != party).for_each(|(_, other)| other.seq = other.public_seq);
        let PublicCounts { messages, first, since, last, spoke_at, highest } = public;
        Session { since, first, last, spoke_at, messages, highest, ..seen }
    }

    /// The number of a message that waits: in which session, and by whom.
    pub(crate) fn number_of(&self, message: u64) -> Option<(&str, &str, i64)> {
        let spoke = self.waiting.get(&message)?;
        Some((&spoke.session, &spoke.by, spoke.seq?))
    }

    pub(super) fn unheard(&mut self, session: &str, by: &str, seq: i64) {
        if let Some(session) = self.all.get_mut(session).filter(|session| session.unheard.len() < MOST_PARTIES) {
            session.unheard.insert((by.to_owned(), seq));
        }
    }

    /// A held message never goes on.
    pub(crate) fn stays_held(&mut self, message: u64) {
        self.waiting.remove(&message);
    }

    pub(crate) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        self.waiting.retain(|message, _| !is_erased(*message));
    }

    /// The exchange said something into a session, for the message in another entry.
    pub(super) fn hear(&mut self, id: &str, original: u64, message: u64) {
        // As `at` has it.
        if let Some(session) = self.all.get_mut(id).filter(|session| session.first <= original) {
            session.said.insert(message);
            self.places.insert(message, id.to_owned());
        }
    }

    /// A session must not go on, nor what was found to go on from it.
    pub(super) fn halt(&mut self, at: At, halting: &Halting, found: Found) {
        let Halting { session: id, messages, who, outside, told, outsiders } = halting;
        let reached: usize = self.halted_by(who).map(|(_, halt)| halt.reached).sum();
        let (room, mut steps) = (MOST_REACHED.saturating_sub(reached), 0);
        let fits = |(_, from): &(u64, BTreeSet<u64>)| {
            steps += from.len();
            steps <= room
        };
        let found: Vec<_> = found.into_iter().take_while(fits).collect();
        let Some(session) = self.all.get_mut(id) else { return };
        let begins = || Halt { by: at.position, at: at.at, who: who.clone(), outside: *outside, ..Halt::default() };
        let halt = session.halted.get_or_insert_with(begins);
        halt.messages.extend(messages);
        halt.told.extend(told.iter().cloned());
        halt.outsiders.extend(outsiders);
        halt.reached += found.iter().map(|(_, from)| from.len()).sum::<usize>();
        let open = self.open.take(session.last, &session.owner);
        self.usage.add(&session.owner, Resource::Sessions, open);
        if let Some(closed) = session.closed {
            self.closed.take(closed, &session.owner);
        }
        if self.halted.entry(halt.who.clone()).or_default().insert(id.clone()) {
            self.usage.add(&halt.who, Resource::Halts, 1);
        }
        let roots = Roots { said: Some(&session.said), messages };
        self.reach.halt(session.first, id, &roots, found.into_iter());
    }

    pub(super) fn release(&mut self, id: &str) {
        let Some(session) = self.all.get_mut(id) else { return };
        let Some(halt) = session.halted.take() else { return };
        if let Some(own) = self.halted.get_mut(&halt.who) {
            let was_there = own.remove(id);
            if own.is_empty() {
                self.halted.remove(&halt.who);
            }
            self.usage.add(&halt.who, Resource::Halts, -i64::from(was_there));
        }
        let open = match session.closed {
            Some(closed) => {
                self.closed.put(closed, &session.owner, id);
                0
            }
            None => self.open.put(session.last, &session.owner, id),
        };
        self.usage.add(&session.owner, Resource::Sessions, open);
        let owner = session.owner.clone();
        self.reach.release(session.first);
        self.prune(&owner);
    }

    /// A message has left the window.
    pub(super) fn forget(&mut self, message: u64) {
        if let Some(session) = self.places.remove(&message).and_then(|id| self.all.get_mut(&id)) {
            session.said.remove(&message);
        }
    }

    /// Makes room where somebody has brought one more than is kept.
    fn prune(&mut self, owner: &str) {
        let idle = (self.open.len() > OPEN).then(|| self.open.to_go(owner)).flatten();
        let is_full = self.closed.len() > CLOSED || self.closed.len_of(owner) > OWN_CLOSED;
        let over = is_full.then(|| self.closed.to_go(owner)).flatten();
        let gone: Vec<_> = idle.into_iter().chain(over).map(str::to_owned).collect();
        for id in gone {
            self.drop_one(&id);
        }
    }

    /// Forgets one that is not halted.
    pub(super) fn drop_one(&mut self, id: &str) {
        let Some(session) = self.all.remove(id) else { return };
        let open = match session.closed {
            Some(closed) => {
                self.closed.take(closed, &session.owner);
                0
            }
            None => self.open.take(session.last, &session.owner),
        };
        self.usage.add(&session.owner, Resource::Sessions, open);
        for message in session.said {
            self.places.remove(&message);
        }
    }
}
