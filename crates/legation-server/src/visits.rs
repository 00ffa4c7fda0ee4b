//! Who is in the house: every open connection, and which of them has proven nothing yet. There are never
//! more than the limits say. Who has said nothing makes room for who comes next.

use crate::settings::Limits;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;
use tokio::time::Instant;

/// Every open connection.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    open: AtomicUsize,
    next: AtomicU64,
    turned_away: AtomicU64,
    /// By number, so the one that has been here longest comes first.
    unproven: Mutex<BTreeMap<u64, Weak<Visit>>>,
}

/// Who is at the other end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Peer {
    pub(crate) address: IpAddr,
    pub(crate) via: Via,
}

/// What a connection goes over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Via {
    Tcp,
    Tls,
    /// A socket in the file system.
    Unix,
}

impl Peer {
    /// Somebody on this machine who may open our socket.
    pub(crate) const fn on_socket() -> Peer {
        Peer { address: IpAddr::V4(Ipv4Addr::LOCALHOST), via: Via::Unix }
    }
}

/// One open connection. It counts until nobody holds it any more, upgraded or not.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) peer: Peer,
    /// When it was taken.
    pub(crate) since: Instant,
    number: u64,
    visits: Arc<Visits>,
    proven: AtomicBool,
    /// Requests being answered.
    underway: AtomicUsize,
    /// Requests begun so far.
    begun: AtomicU64,
    /// Whether it speaks another protocol by now.
    upgraded: AtomicBool,
    leave: Notify,
}

impl Visits {
    /// Takes a connection in, unless there is no room and nobody makes any.
    pub(crate) fn admit(self: &Arc<Self>, peer: Peer, limits: &Limits) -> Option<Arc<Visit>> {
        let crowded = self.unproven() >= limits.unproven_connections;
        if self.open() >= limits.connections || (crowded && !self.make_room()) {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.open.fetch_add(1, Ordering::Relaxed);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let visit = Arc::new(Visit {
            peer,
            since: Instant::now(),
            number,
            visits: Arc::clone(self),
            proven: AtomicBool::new(false),
            underway: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            upgraded: AtomicBool::new(false),
            leave: Notify::new(),
        });
        self.waiting().insert(number, Arc::downgrade(&visit));
        Some(visit)
    }

    /// Sends away the connection that has been here longest of those that have proven nothing and wait
    /// for no answer. False if there is none.
    pub(crate) fn make_room(&self) -> bool {
        let mut waiting = self.waiting();
        let found = waiting.iter().find_map(|(number, visit)| {
            let visit = visit.upgrade().filter(|visit| !visit.is_answering())?;
            Some((*number, visit))
        });
        let Some((number, visit)) = found else { return false };
        waiting.remove(&number);
        // Its end asks for the same lock.
        drop(waiting);
        visit.leave.notify_one();
        true
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// On how many of them nobody has proven anything.
    pub(crate) fn unproven(&self) -> usize {
        self.waiting().len()
    }

    /// How many there was no room for.
    pub(crate) fn turned_away(&self) -> u64 {
        self.turned_away.load(Ordering::Relaxed)
    }

    fn waiting(&self) -> MutexGuard<'_, BTreeMap<u64, Weak<Visit>>> {
        self.unproven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Visit {
    /// Somebody has proven to be somebody here.
    pub(crate) fn prove(&self) {
        if !self.proven.swap(true, Ordering::Relaxed) {
            self.visits.waiting().remove(&self.number);
        }
    }

    /// Whether a request is being answered, or the connection is no longer one for requests.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_answering() || self.upgraded.load(Ordering::Relaxed)
    }

    /// Whether a request is being answered.
    fn is_answering(&self) -> bool {
        self.underway.load(Ordering::Relaxed) > 0
    }

    /// How many requests have begun.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// A request has begun; it is over when this is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Underway {
        self.underway.fetch_add(1, Ordering::Relaxed);
        self.begun.fetch_add(1, Ordering::Relaxed);
        Underway(Arc::clone(self))
    }

    /// Ready when this connection is to make room.
    pub(crate) async fn told_to_leave(&self) {
        self.leave.notified().await;
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.visits.open.fetch_sub(1, Ordering::Relaxed);
        if !*self.proven.get_mut() {
            self.visits.waiting().remove(&self.number);
        }
    }
}

/// A request that is being answered.
#[derive(Debug)]
pub(crate) struct Underway(Arc<Visit>);

impl Underway {
    /// From here on the connection speaks another protocol.
    pub(crate) fn upgrade(&self) {
        self.0.upgraded.store(true, Ordering::Relaxed);
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        self.0.underway.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::{Peer, Visit, Visits};
    use crate::settings::Limits;
    use std::sync::Arc;

    struct House(Arc<Visits>, Limits);

    fn house(connections: usize, unproven_connections: usize) -> House {
        House(Arc::default(), Limits { connections, unproven_connections, ..Limits::default() })
    }

    impl House {
        fn admit(&self) -> Option<Arc<Visit>> {
            self.0.admit(Peer::on_socket(), &self.1)
        }
    }

    #[test]
    fn there_are_never_more_than_the_limit() {
        let house = house(2, 2);
        let (first, second) = (house.admit().unwrap(), house.admit().unwrap());
        assert!(house.admit().is_none());
        assert_eq!((house.0.open(), house.0.turned_away()), (2, 1));
        drop((first, second));
        assert_eq!((house.0.open(), house.0.unproven()), (0, 0));
    }

    #[tokio::test]
    async fn the_one_that_was_silent_longest_makes_room() {
        let house = house(10, 3);
        let proven = house.admit().unwrap();
        proven.prove();
        let (busy, silent, later) = (house.admit().unwrap(), house.admit().unwrap(), house.admit().unwrap());
        let request = busy.begin();
        let next = house.admit().unwrap();
        silent.told_to_leave().await;
        assert_eq!((house.0.open(), house.0.unproven()), (5, 3));
        let _requests = (later.begin(), next.begin());
        assert!(house.admit().is_none(), "all three are being answered");
        drop(request);
        assert!(house.admit().is_some());
        busy.told_to_leave().await;
    }
}
