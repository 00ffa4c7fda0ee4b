//! Every open socket that is bound, by agent, and what is counted of them.

use super::close::Close;
use crate::refusal::Refusal;
use legation_protocol::Code;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[derive(Debug)]
pub(crate) struct Sockets {
    /// The most of one agent.
    most: AtomicUsize,
    agents: Mutex<BTreeMap<String, Presence>>,
    closed: Mutex<BTreeMap<&'static str, u64>>,
    read: AtomicU64,
    written: AtomicU64,
    silent_starts: AtomicU64,
}

/// An agent's open sockets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Presence {
    pub(crate) open: usize,
    /// Those on which it began by sharing its context.
    pub(crate) shared: usize,
}

/// A bound socket, until it is dropped.
#[derive(Debug)]
pub(crate) struct Seat {
    sockets: Arc<Sockets>,
    agent: String,
    pub(crate) shared_context: bool,
}

impl Sockets {
    pub(crate) fn new(most: usize) -> Sockets {
        Sockets {
            most: AtomicUsize::new(most),
            agents: Mutex::default(),
            closed: Mutex::default(),
            read: AtomicU64::new(0),
            written: AtomicU64::new(0),
            silent_starts: AtomicU64::new(0),
        }
    }

    /// Holds agents to another limit from now on. What is open stays.
    pub(crate) fn take_over(&self, most: usize) {
        self.most.store(most, Ordering::Relaxed);
    }

    /// Takes a socket of an agent in, unless it has too many.
    pub(crate) fn seat(self: &Arc<Self>, agent: &str) -> Result<Seat, Refusal> {
        let most = self.most.load(Ordering::Relaxed);
        let mut agents = self.agents();
        let presence = agents.entry(agent.to_owned()).or_default();
        if presence.open >= most {
            let message = format!("this agent has {} sockets open, and may have {most}", presence.open);
            return Err(Refusal::because(Code::RateLimited, message));
        }
        presence.open += 1;
        Ok(Seat { sockets: Arc::clone(self), agent: agent.to_owned(), shared_context: false })
    }

    /// The sockets an agent has open.
    pub(crate) fn of(&self, agent: &str) -> Presence {
        self.agents().get(agent).copied().unwrap_or_default()
    }

    /// How many are open.
    pub(crate) fn open(&self) -> usize {
        self.agents().values().map(|presence| presence.open).sum()
    }

    pub(crate) fn wrote(&self) {
        self.written.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) {
        self.read.fetch_add(1, Ordering::Relaxed);
    }

    /// Frames in, frames out, and sockets that began with something else than a context.
    pub(crate) fn counted(&self) -> [u64; 3] {
        [&self.read, &self.written, &self.silent_starts].map(|count| count.load(Ordering::Relaxed))
    }

    pub(crate) fn closed(&self, close: Close) {
        *self.closes().entry(close.label()).or_default() += 1;
    }

    /// How many ended, and how.
    pub(crate) fn closes(&self) -> MutexGuard<'_, BTreeMap<&'static str, u64>> {
        self.closed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn agents(&self) -> MutexGuard<'_, BTreeMap<String, Presence>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Seat {
    /// The first message was the agent's context, or was not.
    pub(crate) fn began(&mut self, shared_context: bool) {
        if !shared_context {
            self.sockets.silent_starts.fetch_add(1, Ordering::Relaxed);
        } else if let Some(presence) = self.sockets.agents().get_mut(&self.agent) {
            self.shared_context = true;
            presence.shared += 1;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut agents = self.sockets.agents();
        let Some(presence) = agents.get_mut(&self.agent) else { return };
        presence.open -= 1;
        presence.shared -= usize::from(self.shared_context);
        if presence.open == 0 {
            agents.remove(&self.agent);
        }
    }
}
