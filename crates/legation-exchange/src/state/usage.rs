//! Counting what agents use, for their quotas.

use super::State;
use crate::quota::{QuotaUsage, Resource};

impl State {
    /// Counts what an entry changed, for the families that everybody belongs to now.
    pub(super) fn count_usage(&mut self) {
        let State { rules, quotas, registry, .. } = self;
        let mut senders = Vec::new();
        for (since, change) in rules.holds.take_usage() {
            let Some(sender) = quotas.sender(registry, since).map(str::to_owned) else { continue };
            quotas.charge(registry, &sender, Resource::HeldMessages, change);
            if rules.holds.queued_of(since) == 0 {
                quotas.forget_sender(since);
            }
            senders.push(sender);
        }
        // An account that is empty for a moment is not settled: the same entry may add to it again.
        let changes: Vec<_> = rules.take_usage_changes().collect();
        for (agent, resource, change) in &changes {
            quotas.charge(registry, agent, *resource, *change);
        }
        for agent in senders.iter().chain(changes.iter().map(|(agent, ..)| agent)) {
            quotas.settle(agent);
        }
    }

    /// Whether the counts are what counting everything anew comes to: for tests and simulations.
    pub fn usage_is_exact(&self) -> bool {
        self.quotas == QuotaUsage::count(&self.registry, &self.rules, self.quotas.departures().clone())
    }

    /// Forgets changes that were noted while a snapshot was read.
    pub(crate) fn discard_usage_changes(&mut self) {
        drop(self.rules.holds.take_usage());
        self.rules.take_usage_changes().for_each(drop);
    }

    /// How much of a resource the family of an agent has.
    pub fn family_usage(&self, agent: &str, resource: Resource) -> u64 {
        let family = self.quotas.family_of(&self.registry, agent);
        family.map_or(0, |family| self.quotas.of_family(family, resource))
    }

    /// How much of a resource one agent has.
    pub fn agent_usage(&self, agent: &str, resource: Resource) -> u64 {
        self.quotas.of_agent(agent, resource)
    }

    /// How much of a resource the families of agents have together that unauthenticated clients registered.
    pub fn stranger_usage(&self, resource: Resource) -> u64 {
        self.quotas.of_strangers(resource)
    }
}
