//! Counts of unread items: of all mailboxes together, by sender, and by the sender's quota family.

use crate::mailbox::{Item, NOBODY};
use crate::registry::{QuotaFamily, Registry};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A quota family, by what does not change while the registry does.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FamilyKey {
    /// The entry that registered the root.
    Root(u64),
    /// A source address.
    Source(String),
}

impl FamilyKey {
    /// Returns the family of the agent that this entry registered, if it is still there.
    pub(crate) fn of(registry: &Registry, since: u64) -> Option<FamilyKey> {
        let agent = registry.since(since)?;
        Some(match registry.quota_family(&agent.id) {
            QuotaFamily::Source(source) => FamilyKey::Source(source.to_owned()),
            QuotaFamily::Root(root) => FamilyKey::Root(registry.agent(root).map_or(since, |root| root.since)),
        })
    }
}

/// The unread items of one sender.
#[derive(Clone, Debug, PartialEq)]
struct SenderCount {
    items: u64,
    family: FamilyKey,
}

/// Counts of unread items.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct UnreadCounts {
    total: u64,
    /// By the entry that registered the sender.
    senders: BTreeMap<u64, SenderCount>,
    families: BTreeMap<FamilyKey, u64>,
}

impl UnreadCounts {
    /// No counts yet, but the families of senders that were removed: what they sent counts for those they belonged to.
    pub(super) fn with_removed(removed: Vec<(u64, FamilyKey)>) -> UnreadCounts {
        let senders = removed.into_iter().map(|(sender, family)| (sender, SenderCount { items: 0, family }));
        UnreadCounts { senders: senders.collect(), ..UnreadCounts::default() }
    }

    /// Counts an item of a sender.
    pub(super) fn add(&mut self, from: u64, registry: &Registry) {
        self.total += 1;
        if from == NOBODY {
            return;
        }
        let sender = self.senders.entry(from).or_insert_with(|| {
            let family = FamilyKey::of(registry, from).unwrap_or(FamilyKey::Root(from));
            SenderCount { items: 0, family }
        });
        sender.items += 1;
        match self.families.get_mut(&sender.family) {
            Some(items) => *items += 1,
            None => drop(self.families.insert(sender.family.clone(), 1)),
        }
    }

    /// Counts an item no longer.
    pub(crate) fn remove(&mut self, item: &Item) {
        self.total = self.total.saturating_sub(1);
        let Some(sender) = self.senders.get_mut(&item.from) else { return };
        sender.items = sender.items.saturating_sub(1);
        if let Some(items) = self.families.get_mut(&sender.family) {
            *items = items.saturating_sub(1);
            if *items == 0 {
                self.families.remove(&sender.family);
            }
        }
        if sender.items == 0 {
            self.senders.remove(&item.from);
        }
    }

    /// Counts senders of a family for the one they belong to now. Those that were removed stay.
    pub(super) fn move_family(&mut self, family: &FamilyKey, registry: &Registry) {
        let UnreadCounts { senders, families, .. } = self;
        for (from, sender) in senders.iter_mut().filter(|(_, sender)| sender.family == *family) {
            let Some(now) = FamilyKey::of(registry, *from).filter(|now| now != family) else { continue };
            if let Some(items) = families.get_mut(family) {
                *items = items.saturating_sub(sender.items);
            }
            *families.entry(now.clone()).or_default() += sender.items;
            sender.family = now;
        }
        families.retain(|_, items| *items > 0);
    }

    /// Returns the families of senders that were removed, for a snapshot.
    pub(crate) fn removed(&self, registry: &Registry) -> Vec<(u64, FamilyKey)> {
        let gone = self.senders.iter().filter(|(from, _)| registry.since(**from).is_none());
        gone.map(|(from, sender)| (*from, sender.family.clone())).collect()
    }

    /// Returns the unread items of all mailboxes.
    pub(crate) const fn total(&self) -> u64 {
        self.total
    }

    /// Returns whether a sender may add so many items under a limit on all of them. Half of the limit is for whoever comes;
    /// of the other half each family has an equal share, and those that have theirs add nothing.
    pub(crate) fn admits(&self, registry: &Registry, from: u64, more: u64, limit: u64) -> bool {
        let after = self.total.saturating_add(more);
        if after <= limit / 2 {
            return true;
        }
        let known = self.senders.get(&from).map(|sender| sender.family.clone());
        let Some(family) = known.or_else(|| FamilyKey::of(registry, from)) else { return after <= limit };
        let own = self.families.get(&family).copied();
        let families = self.families.len() as u64 + u64::from(own.is_none());
        after <= limit && own.unwrap_or_default().saturating_add(more) <= limit / 2 / families.max(1)
    }
}
