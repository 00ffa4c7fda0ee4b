//! Everything the exchange knows, as a fold over its record.

use crate::dedup::Dedup;
use crate::effect::{Accepted, Acked, Effect, Entry};
use crate::mailbox::{Item, Mailbox};
use crate::moment::Moment;
use crate::registry::Registry;
use legation_protocol::json::Digest;
use std::collections::BTreeMap;

/// The state of an exchange after some number of entries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Entries folded in: the position of the next one.
    pub(crate) next: u64,
    /// The last entry's time. The record's clock never goes back.
    pub(crate) now: Moment,
    pub(crate) registry: Registry,
    pub(crate) dedup: Dedup,
    pub(crate) mailboxes: BTreeMap<String, Mailbox>,
}

impl State {
    /// The position of the next entry.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Who is registered.
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What waits for an agent.
    pub fn mailbox(&self, agent: &str) -> Option<&Mailbox> {
        self.mailboxes.get(agent)
    }

    /// Folds one entry in. This is the only thing that changes the state.
    pub fn apply(&mut self, entry: &Entry) {
        self.next = entry.position + 1;
        self.now = self.now.max(entry.at);
        self.dedup.forget(self.now);
        match &entry.effect {
            Effect::Accepted(accepted) => self.accept(entry.position, accepted),
            Effect::Registered { agent, .. } => {
                self.mailboxes.entry(agent.id.clone()).or_default();
                self.registry.put((**agent).clone());
            }
            Effect::Removed { agent, .. } => {
                self.mailboxes.remove(agent);
                self.registry.remove(agent);
            }
            Effect::Acked(acked) => self.acknowledge(acked),
            Effect::Expired { agent, positions } => {
                let mailbox = self.mailboxes.entry(agent.clone()).or_default();
                for position in positions {
                    mailbox.take(*position);
                }
            }
            Effect::Refused(_) => {}
        }
    }

    fn accept(&mut self, position: u64, accepted: &Accepted) {
        for agent in &accepted.to {
            let item = Item { message: position, expires: accepted.expires };
            self.mailboxes.entry(agent.clone()).or_default().put(position, item);
        }
        if let (Some(until), Some(digest)) = (accepted.remembered, Digest::parse(&accepted.digest)) {
            self.dedup.take(&accepted.sender, &accepted.id, digest, position, until);
        }
    }

    fn acknowledge(&mut self, acked: &Acked) {
        let Some(mailbox) = self.mailboxes.get_mut(&acked.agent) else { return };
        if let Some(position) = acked.up_to {
            mailbox.take_up_to(position);
        }
        for position in &acked.positions {
            mailbox.take(*position);
        }
    }
}
