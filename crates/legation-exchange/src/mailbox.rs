//! What waits for an agent. Listed by the position that routed it here, acknowledged by position.

use crate::moment::Moment;
use std::collections::{BTreeSet, VecDeque};

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
}

/// No agent.
pub const NOBODY: u64 = u64::MAX;

/// Everything that waits for one agent, by position. Positions only rise, so new items go to the end.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    items: VecDeque<Item>,
    /// No item expires before this.
    earliest: Option<Moment>,
    /// Positions of items that are no longer pushed, since that failed too often. They wait for a reader.
    given_up: BTreeSet<u64>,
}

impl PartialEq for Mailbox {
    /// The bound on expiry may lag behind what was taken out.
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items && self.given_up == other.given_up
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
        self.after(after).filter(|item| !self.given_up.contains(&item.position))
    }

    /// Positions of what waits and is not pushed any more.
    pub fn given_up(&self) -> impl Iterator<Item = u64> {
        self.given_up.iter().copied()
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn put(&mut self, item: Item) {
        self.earliest = Some(self.earliest.map_or(item.expires, |earliest| earliest.min(item.expires)));
        self.items.push_back(item);
    }

    pub(crate) fn take_up_to(&mut self, position: u64) {
        let taken = self.items.partition_point(|item| item.position <= position);
        self.items.drain(..taken);
        self.given_up = self.given_up.split_off(&position.saturating_add(1));
        self.tidy();
    }

    /// Takes several out at once.
    pub(crate) fn take_all(&mut self, positions: &[u64]) {
        if positions.is_empty() {
            return;
        }
        let mut sorted = positions.to_vec();
        sorted.sort_unstable();
        self.items.retain(|item| sorted.binary_search(&item.position).is_err());
        self.given_up.retain(|position| sorted.binary_search(position).is_err());
        self.tidy();
    }

    /// Takes out every message that is one of those.
    pub(crate) fn take_messages(&mut self, is_one: &impl Fn(u64) -> bool) {
        let given_up = &mut self.given_up;
        self.items.retain(|item| {
            let goes = is_one(item.message);
            if goes {
                given_up.remove(&item.position);
            }
            !goes
        });
        self.tidy();
    }

    /// Takes out those on their way and gives them back.
    pub(crate) fn take_back(&mut self, is_one: impl Fn(&Item) -> bool) -> Vec<Item> {
        let (taken, left) = std::mem::take(&mut self.items).into_iter().partition::<Vec<_>, _>(is_one);
        self.items = left.into();
        for item in &taken {
            self.given_up.remove(&item.position);
        }
        taken
    }

    pub(crate) fn take(&mut self, position: u64) -> Option<Item> {
        let at = self.items.binary_search_by_key(&position, |item| item.position).ok()?;
        let item = self.items.remove(at);
        self.given_up.remove(&position);
        self.tidy();
        item
    }

    /// These wait for a reader from now on.
    pub(crate) fn give_up(&mut self, positions: &[u64]) {
        let waits = |position: &&u64| self.items.binary_search_by_key(*position, |item| item.position).is_ok();
        let given_up: Vec<_> = positions.iter().filter(waits).copied().collect();
        self.given_up.extend(given_up);
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

    pub(crate) fn expired(&self, now: Moment) -> impl Iterator<Item = u64> {
        self.items.iter().filter(move |item| item.expires <= now).map(|item| item.position)
    }

    /// Looks again when the first item expires.
    pub(crate) fn look_again(&mut self) {
        self.earliest = self.items.iter().map(|item| item.expires).min();
    }
}
