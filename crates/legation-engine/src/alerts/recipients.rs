//! Who is told alerts, by names that stay the same from one configuration to the next, and how far each was told.

use super::AlertSettings;
use super::queue::Queue;
use legation_exchange::{Alerts, Kind};
use std::collections::{BTreeMap, BTreeSet};
use tokio::time::Instant;

/// The name of the program that is told.
const COMMAND: &str = "command";

impl AlertSettings {
    /// Who is told, by name, and which kinds: the webhooks, then the command.
    pub(super) fn recipients(&self) -> Vec<(String, BTreeSet<Kind>)> {
        let mut same: BTreeMap<&str, usize> = BTreeMap::new();
        let webhooks = self.webhooks.iter().map(|webhook| {
            let number = same.entry(&webhook.url).or_default();
            *number += 1;
            (format!("webhook {number} {}", webhook.url), webhook.kinds.clone())
        });
        let command = (!self.command.is_empty()).then(|| (COMMAND.to_owned(), Kind::ALL.into()));
        webhooks.chain(command).collect()
    }
}

/// All who are told.
#[derive(Debug, Default)]
pub(super) struct Recipients {
    all: BTreeMap<String, Recipient>,
    /// How often it was settled who is told.
    turn: u64,
}

/// One of them, for as long as it is not settled anew who is told.
#[derive(Clone, Debug)]
pub(super) struct Whom {
    name: String,
    turn: u64,
}

/// One who is told.
#[derive(Debug)]
pub(super) struct Recipient {
    kinds: BTreeSet<Kind>,
    /// Up to which number alerts were taken in.
    taken: Option<u64>,
    pub(super) queue: Queue,
}

impl Recipients {
    /// Lets these be told, and no others. Those who are new are told what comes after this number.
    pub(super) fn appoint(&mut self, wanted: Vec<(String, BTreeSet<Kind>)>, after: Option<u64>) {
        let now = Instant::now();
        let mut before = std::mem::take(&mut self.all);
        self.turn += 1;
        for (name, kinds) in wanted {
            let (taken, mut queue) =
                before.remove(&name).map_or((after, Queue::default()), |same| (same.taken, same.queue));
            queue.reset(now);
            self.all.insert(name, Recipient { kinds, taken, queue });
        }
    }

    /// Takes it that all were told what there is up to this number.
    pub(super) fn leave_out(&mut self, up_to: Option<u64>) {
        self.all.values_mut().for_each(|recipient| recipient.taken = up_to);
    }

    /// One by its name.
    pub(super) fn whom(&self, name: String) -> Whom {
        Whom { name, turn: self.turn }
    }

    /// Nothing for those who told somebody before it was settled anew.
    pub(super) fn of(&mut self, whom: &Whom) -> Option<&mut Recipient> {
        let is_now = whom.turn == self.turn;
        self.all.get_mut(&whom.name).filter(|_| is_now)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The first entry that raised what somebody has not been told.
    pub(super) fn untold(&self, alerts: &Alerts) -> Option<u64> {
        let untold = self.all.values().flat_map(|recipient| {
            let coming = alerts.after(recipient.taken).map(|(_, alert)| alert).chain(alerts.gathered());
            coming.filter(|alert| recipient.kinds.contains(&alert.kind)).chain(recipient.queue.open())
        });
        untold.filter_map(|alert| alert.position).min()
    }
}

impl Recipient {
    /// Takes in what is new.
    pub(super) fn take_in(&mut self, alerts: &Alerts) {
        let now = Instant::now();
        for (number, alert) in alerts.after(self.taken) {
            self.taken = Some(number);
            if !self.kinds.contains(&alert.kind) {
                continue;
            }
            if let Some(gone) = self.queue.put(number, alert.clone(), now) {
                tracing::error!(alert = gone.id, "too many alerts wait: one could not be told");
            }
        }
    }
}
