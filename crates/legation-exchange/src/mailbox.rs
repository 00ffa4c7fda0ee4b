//! What waits for an agent. Listed by the position that routed it here, acknowledged by position.

use crate::before::{Before, Place};
use crate::mailboxes::UnreadCounts;
use crate::moment::Moment;
use crate::push::{Standing, Try};
use std::collections::{BTreeMap, VecDeque};

/// A message that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The entry that routed it here.
    pub position: u64,
    /// The entry that holds the message.
    pub message: u64,
    /// When it stops waiting.
    pub expires: Moment,
    /// The entry that registered its sender; [`NOBODY`] if no agent's suspension stops it.
    pub from: u64,
    /// The entry that began the session it belongs to; [`OUTSIDE`] if it belongs to none.
    pub session: u64,
}

/// No agent.
pub const NOBODY: u64 = u64::MAX;

/// No session.
pub const OUTSIDE: u64 = u64::MAX;

/// Everything that waits for one agent, by position. Positions only rise, so new items go to the end.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    items: VecDeque<Item>,
    /// No item expires before this.
    earliest: Option<Moment>,
    /// How those stand that could not be pushed, by position.
    unpushed: BTreeMap<u64, Standing>,
    /// Where those lay that were taken back once, by position.
    before: Before,
    /// How often some of them went once more, since the state was read.
    turns: u64,
}

impl PartialEq for Mailbox {
    /// The bound on expiry may lag behind what was taken out, and turns are counted for those who look on.
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items && self.unpushed == other.unpushed && self.before == other.before
    }
}

impl Mailbox {
    /// What waits beyond `after`, oldest first; everything without one.
    pub fn after(&self, after: Option<u64>) -> impl Iterator<Item = Item> {
        let from = after.map_or(0, |after| self.items.partition_point(|item| item.position <= after));
        self.items.range(from..).copied()
    }

    /// What waits beyond `after` and may still be pushed.
    pub fn pushable(&self, after: Option<u64>) -> impl Iterator<Item = Item> {
        self.after(after).filter(|item| self.unpushed.get(&item.position).is_none_or(|standing| standing.goes()))
    }

    /// How those stand that wait and could not be pushed, by position.
    pub fn unpushed(&self) -> impl Iterator<Item = (u64, Standing)> {
        self.unpushed.iter().map(|(position, standing)| (*position, *standing))
    }

    /// What waits and could not be pushed, and stands so.
    pub fn standing(&self, wanted: Standing) -> impl Iterator<Item = Item> {
        let so = self.unpushed.iter().filter(move |(_, standing)| **standing == wanted);
        so.filter_map(|(position, _)| self.items.get(self.place(*position)?).copied())
    }

    /// Rises whenever some that were given up go once more.
    pub fn turns(&self) -> u64 {
        self.turns
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Whether any of these waits: all up to a position, or those at some.
    pub(crate) fn has_any(&self, up_to: Option<u64>, positions: &[u64]) -> bool {
        let at = |position: &u64| self.items.binary_search_by_key(position, |item| item.position).is_ok();
        let first = self.items.front();
        up_to.is_some_and(|up_to| first.is_some_and(|first| first.position <= up_to)) || positions.iter().any(at)
    }

    pub(crate) fn put(&mut self, item: Item) {
        self.earliest = Some(self.earliest.map_or(item.expires, |earliest| earliest.min(item.expires)));
        self.items.push_back(item);
    }

    /// What is at a position lay at these places before.
    pub(crate) fn lay(&mut self, position: u64, places: Vec<Place>) {
        self.before.put(position, places);
    }

    /// Where all lay that were taken back once.
    pub(crate) fn lay_before(&mut self, before: Before) {
        self.before = before;
    }

    /// Where those lay that were taken back once.
    pub(crate) fn before(&self) -> &Before {
        &self.before
    }

    pub(crate) fn take_up_to(&mut self, position: u64, unread: &mut UnreadCounts) {
        let taken = self.items.partition_point(|item| item.position <= position);
        self.items.drain(..taken).for_each(|item| unread.remove(&item));
        self.unpushed = self.unpushed.split_off(&position.saturating_add(1));
        self.before.take_up_to(position);
        self.tidy();
    }

    /// Takes several out at once.
    pub(crate) fn take_all(&mut self, positions: &[u64], unread: &mut UnreadCounts) {
        if positions.is_empty() {
            return;
        }
        let mut sorted = positions.to_vec();
        sorted.sort_unstable();
        self.items.retain(|item| {
            let stays = sorted.binary_search(&item.position).is_err();
            if !stays {
                unread.remove(item);
            }
            stays
        });
        self.unpushed.retain(|position, _| sorted.binary_search(position).is_err());
        for position in sorted {
            self.before.take(position);
        }
        self.tidy();
    }

    /// Takes out every message that is one of those.
    pub(crate) fn take_messages(&mut self, is_one: &impl Fn(u64) -> bool, unread: &mut UnreadCounts) {
        let (unpushed, before) = (&mut self.unpushed, &mut self.before);
        self.items.retain(|item| {
            let goes = is_one(item.message);
            if goes {
                unpushed.remove(&item.position);
                before.take(item.position);
                unread.remove(item);
            }
            !goes
        });
        self.tidy();
    }

    /// Takes out those on their way and gives them back, each with where it lay before.
    pub(crate) fn take_back(
        &mut self,
        is_one: impl Fn(&Item) -> bool,
        unread: &mut UnreadCounts,
    ) -> Vec<(Item, Vec<Place>)> {
        let (taken, left) = std::mem::take(&mut self.items).into_iter().partition::<Vec<_>, _>(is_one);
        self.items = left.into();
        let lay = |item: Item| {
            self.unpushed.remove(&item.position);
            unread.remove(&item);
            (item, self.before.take(item.position))
        };
        taken.into_iter().map(lay).collect()
    }

    pub(crate) fn take(&mut self, position: u64, unread: &mut UnreadCounts) -> Option<Item> {
        let at = self.place(position)?;
        let item = self.items.remove(at);
        if let Some(item) = &item {
            unread.remove(item);
        }
        self.unpushed.remove(&position);
        self.before.take(position);
        self.tidy();
        item
    }

    /// These wait for a reader from now on.
    pub(crate) fn give_up(&mut self, tries: &[Try]) {
        for Try { position, outcome, .. } in tries {
            let before = self.unpushed.get(position).copied();
            self.stand(*position, Standing::given_up(before, *outcome));
        }
    }

    /// Those of these that were given up go once more.
    pub(crate) fn go_again(&mut self, positions: &[u64]) {
        self.turns += u64::from(!positions.is_empty());
        for position in positions {
            if let Some(standing) = self.unpushed.get_mut(position).filter(|standing| standing.may_go()) {
                *standing = Standing::Again;
            }
        }
    }

    /// Says how one stands, if it waits.
    pub(crate) fn stand(&mut self, position: u64, standing: Standing) {
        if self.place(position).is_some() {
            self.unpushed.insert(position, standing);
        }
    }

    fn place(&self, position: u64) -> Option<usize> {
        self.items.binary_search_by_key(&position, |item| item.position).ok()
    }

    /// A mailbox that was once full does not keep the room.
    fn tidy(&mut self) {
        if self.items.capacity() > 64 && self.items.len() < self.items.capacity() / 4 {
            self.items.shrink_to(self.items.len() * 2);
        }
    }

    /// No item expires before this.
    pub(crate) fn earliest(&self) -> Option<Moment> {
        self.earliest
    }

    pub(crate) fn expired(&self, now: Moment) -> impl Iterator<Item = Item> {
        self.items.iter().filter(move |item| item.expires <= now).copied()
    }

    /// Looks again when the first item expires.
    pub(crate) fn look_again(&mut self) {
        self.earliest = self.items.iter().map(|item| item.expires).min();
    }
}
