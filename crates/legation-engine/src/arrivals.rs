//! Who waits for messages. A commit wakes those it brings something for, and nobody else: ten thousand
//! who wait must not be asked a thousand times a second.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tokio::sync::futures::Notified;

/// Those who wait, by agent.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    bells: Mutex<BTreeMap<String, Bell>>,
    /// Rung when agents are registered, changed or removed.
    registered: Notify,
}

#[derive(Debug, Default)]
struct Bell {
    notify: Arc<Notify>,
    waiting: usize,
}

/// A place among those who wait for an agent's messages, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    arrivals: Arc<Arrivals>,
    agent: String,
    pub(crate) bell: Arc<Notify>,
}

impl Arrivals {
    pub(crate) fn wait_for(self: &Arc<Self>, agent: &str) -> Place {
        let mut bells = self.bells();
        let bell = bells.entry(agent.to_owned()).or_default();
        bell.waiting += 1;
        Place { arrivals: Arc::clone(self), agent: agent.to_owned(), bell: Arc::clone(&bell.notify) }
    }

    /// Something has arrived for these.
    pub(crate) fn tell(&self, agents: &[String]) {
        let bells = self.bells();
        if bells.is_empty() {
            return;
        }
        for bell in agents.iter().filter_map(|agent| bells.get(agent)) {
            bell.notify.notify_waiters();
        }
    }

    /// The next time that agents are registered, changed or removed.
    pub(crate) fn registered(&self) -> Notified<'_> {
        self.registered.notified()
    }

    /// Agents were registered, changed or removed.
    pub(crate) fn tell_registered(&self) {
        self.registered.notify_waiters();
    }

    /// Nothing will arrive any more.
    pub(crate) fn tell_all(&self) {
        self.tell_registered();
        for bell in self.bells().values() {
            bell.notify.notify_waiters();
        }
    }

    fn bells(&self) -> MutexGuard<'_, BTreeMap<String, Bell>> {
        self.bells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut bells = self.arrivals.bells();
        if let Some(bell) = bells.get_mut(&self.agent) {
            bell.waiting -= 1;
            if bell.waiting == 0 {
                bells.remove(&self.agent);
            }
        }
    }
}
