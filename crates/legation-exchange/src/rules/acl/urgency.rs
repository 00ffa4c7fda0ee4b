//! What waits for an agent in the order of its urgency (section 4.1). Priority orders between senders alone:
//! what one sender said first stays first, and goes along with the more urgent that follows it. Nothing
//! starves: whatever has waited long is as urgent as anything.

use crate::mailbox::{Item, NOBODY};
use crate::moment::Moment;
use crate::state::State;
use legation_protocol::acl::Priority;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// How many microseconds something waits before it is as urgent as anything.
const LONG: u64 = 600_000_000;

impl State {
    /// What waits for an agent, the most urgent first.
    pub fn by_urgency(&self, agent: &str, now: Moment) -> Vec<Item> {
        let mut items: Vec<_> = self.mailbox(agent).into_iter().flat_map(|mailbox| mailbox.after(None)).collect();
        // By the record's own time: how long it waits, whatever it is.
        let long_ago = self.lately.since(Moment::from_micros(now.micros().saturating_sub(LONG)));
        let mut followed: BTreeMap<u64, Priority> = BTreeMap::new();
        let mut urgency = BTreeMap::new();
        for item in items.iter().rev() {
            let by_all = followed.entry(item.from).or_insert(Priority::Low);
            *by_all = self.priority(item, long_ago).max(*by_all);
            urgency.insert(item.position, *by_all);
        }
        items.sort_by_key(|item| (Reverse(urgency.get(&item.position).copied()), item.position));
        items
    }

    /// How urgent it is, where what came before an entry has waited long.
    fn priority(&self, item: &Item, long_ago: u64) -> Priority {
        // Alarms, and what the exchange says, are nobody's.
        if item.from == NOBODY || item.position < long_ago {
            return Priority::High;
        }
        self.rules.acl.get(item.message).and_then(|talk| talk.opening.priority).unwrap_or(Priority::Medium)
    }
}
