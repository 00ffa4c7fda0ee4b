//! What waits for an agent. Listed by the position that routed it here, acknowledged by position.

use crate::moment::Moment;
use std::collections::BTreeMap;
use std::ops::Bound;

/// A message that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// The entry that holds the message.
    pub message: u64,
    /// When it stops waiting.
    pub expires: Moment,
}

/// Everything that waits for one agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mailbox {
    items: BTreeMap<u64, Item>,
}

impl Mailbox {
    /// What waits beyond `after`, oldest first; everything without one.
    pub fn after(&self, after: Option<u64>) -> impl Iterator<Item = (u64, Item)> {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.items.range((from, Bound::Unbounded)).map(|(position, item)| (*position, *item))
    }

    /// How many messages wait.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    pub(crate) fn put(&mut self, position: u64, item: Item) {
        self.items.insert(position, item);
    }

    pub(crate) fn take_up_to(&mut self, position: u64) {
        self.items = self.items.split_off(&position.saturating_add(1));
    }

    pub(crate) fn take(&mut self, position: u64) {
        self.items.remove(&position);
    }

    pub(crate) fn expired(&self, now: Moment) -> impl Iterator<Item = u64> {
        self.items.iter().filter(move |(_, item)| item.expires <= now).map(|(position, _)| *position)
    }
}
