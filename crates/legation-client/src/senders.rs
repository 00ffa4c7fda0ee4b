//! What is remembered of those who send: enough not to ask for every message, and nothing about keys for longer
//! than it takes to ask again, because a key may be in other hands since.

use crate::registry::Agent;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// For how long what was asked about keys holds. A key that was withdrawn a second ago signs nothing any more.
pub(crate) const FRESH: Duration = Duration::from_millis(500);
/// How many senders are remembered.
const REMEMBERED: usize = 4096;

/// A sender as the exchange showed it.
#[derive(Clone)]
pub(crate) struct Known {
    pub(crate) agent: Agent,
    /// When it was asked for: what happened since is not in it.
    asked_at: Instant,
}

impl Known {
    pub(crate) fn is_fresh(&self) -> bool {
        self.asked_at.elapsed() < FRESH
    }
}

/// The senders that are remembered. Clones share them.
#[derive(Clone, Default)]
pub(crate) struct Senders(Arc<Mutex<BTreeMap<String, Known>>>);

impl Senders {
    pub(crate) fn find(&self, id: &str) -> Option<Known> {
        self.all().get(id).cloned()
    }

    pub(crate) fn remember(&self, agent: Agent, asked_at: Instant) {
        let mut all = self.all();
        if all.len() >= REMEMBERED {
            all.clear();
        }
        all.insert(agent.id.clone(), Known { agent, asked_at });
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
