//! Who waits for messages, and whose turn it is. A commit wakes those it brings something for, and nobody
//! else: ten thousand who wait must not be asked a thousand times a second. Of those who take from one
//! mailbox the one who came last has the turn.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, broadcast};

/// Those who wait, by agent.
#[derive(Debug)]
pub(crate) struct Arrivals {
    posts: Mutex<BTreeMap<String, Post>>,
    /// Agents that were registered, changed or removed; nobody where it may be any of them.
    registered: broadcast::Sender<Option<String>>,
    /// Who may go on no longer, or again: told to everybody, since that is rare.
    stopped: broadcast::Sender<String>,
}

/// How many of those may be told before somebody slow has heard of the first.
const UNHEARD: usize = 256;
/// The same of agents that were registered: several batches of them.
const REGISTERED: usize = 4096;

impl Default for Arrivals {
    fn default() -> Self {
        let (posts, registered) = (Mutex::default(), broadcast::Sender::new(REGISTERED));
        Arrivals { posts, registered, stopped: broadcast::Sender::new(UNHEARD) }
    }
}

#[derive(Debug, Default)]
struct Post {
    bell: Arc<Bell>,
    waiting: usize,
}

/// What rings for those at one mailbox.
#[derive(Debug, Default)]
struct Bell {
    notify: Notify,
    /// Whose turn it is: counted up with each who comes.
    turn: AtomicU64,
}

/// A place at an agent's mailbox, until it is dropped.
#[derive(Debug)]
pub(crate) struct Place {
    arrivals: Arc<Arrivals>,
    agent: String,
    bell: Arc<Bell>,
    turn: u64,
}

impl Arrivals {
    /// Takes the turn at a mailbox from whoever has it, and tells them.
    pub(crate) fn take_turn(self: &Arc<Self>, agent: &str) -> Place {
        let bell = self.bell_of(agent);
        let turn = bell.turn.fetch_add(1, Ordering::SeqCst) + 1;
        bell.notify.notify_waiters();
        Place { arrivals: Arc::clone(self), agent: agent.to_owned(), bell, turn }
    }

    /// Hears what arrives without taking the turn from anybody.
    pub(crate) fn listen(self: &Arc<Self>, agent: &str) -> Place {
        let bell = self.bell_of(agent);
        let turn = bell.turn.load(Ordering::SeqCst);
        Place { arrivals: Arc::clone(self), agent: agent.to_owned(), bell, turn }
    }

    fn bell_of(&self, agent: &str) -> Arc<Bell> {
        let mut posts = self.posts();
        let post = posts.entry(agent.to_owned()).or_default();
        post.waiting += 1;
        Arc::clone(&post.bell)
    }

    /// Something has arrived for these, or has changed for them.
    pub(crate) fn tell(&self, agents: &[String]) {
        let posts = self.posts();
        if posts.is_empty() {
            return;
        }
        for post in agents.iter().filter_map(|agent| posts.get(agent)) {
            post.bell.notify.notify_waiters();
        }
    }

    /// Hears who may go on no longer, or again.
    pub(crate) fn stopped(&self) -> broadcast::Receiver<String> {
        self.stopped.subscribe()
    }

    /// An agent may go on no longer, or again.
    pub(crate) fn tell_stopped(&self, agent: String) {
        // Nobody may be there to hear it.
        let _ = self.stopped.send(agent);
    }

    /// Subscribes to the agents that are registered, changed or removed from now on.
    pub(crate) fn registered(&self) -> broadcast::Receiver<Option<String>> {
        self.registered.subscribe()
    }

    /// Tells that an agent was registered, changed or removed.
    pub(crate) fn tell_registered(&self, agent: String) {
        // Nobody may be there to hear it.
        let _ = self.registered.send(Some(agent));
    }

    /// Nothing will arrive any more, or something has changed that may concern anybody.
    pub(crate) fn tell_all(&self) {
        let _ = self.registered.send(None);
        for post in self.posts().values() {
            post.bell.notify.notify_waiters();
        }
    }

    fn posts(&self) -> MutexGuard<'_, BTreeMap<String, Post>> {
        self.posts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Place {
    /// Whether another has taken the turn.
    pub(crate) fn is_fenced(&self) -> bool {
        self.bell.turn.load(Ordering::SeqCst) != self.turn
    }

    /// What rings when there may be something new.
    pub(crate) fn bell(&self) -> &Notify {
        &self.bell.notify
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut posts = self.arrivals.posts();
        if let Some(post) = posts.get_mut(&self.agent) {
            post.waiting -= 1;
            if post.waiting == 0 {
                posts.remove(&self.agent);
            }
        }
    }
}
