//! Who is in the house: every open connection, and which of them has proven nothing yet. There are never
//! more than the limits say. Who has said nothing makes room for who comes next.

use crate::settings::Limits;
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use tokio::sync::Notify;

/// Every open connection.
#[derive(Debug)]
pub(crate) struct Visits {
    most: usize,
    most_unproven: usize,
    open: AtomicUsize,
    next: AtomicU64,
    turned_away: AtomicU64,
    /// By number, so the one that has been here longest comes first.
    unproven: Mutex<BTreeMap<u64, Weak<Visit>>>,
}

/// One open connection. It counts until nobody holds it any more, upgraded or not.
#[derive(Debug)]
pub(crate) struct Visit {
    pub(crate) peer: IpAddr,
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
    pub(crate) fn new(limits: &Limits) -> Visits {
        Visits {
            most: limits.connections,
            most_unproven: limits.unproven_connections,
            open: AtomicUsize::new(0),
            next: AtomicU64::new(0),
            turned_away: AtomicU64::new(0),
            unproven: Mutex::default(),
        }
    }

    /// Takes a connection in, unless there is no room and nobody makes any.
    pub(crate) fn admit(self: &Arc<Self>, peer: IpAddr) -> Option<Arc<Visit>> {
        if self.open() >= self.most || (self.unproven() >= self.most_unproven && !self.make_room()) {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.open.fetch_add(1, Ordering::Relaxed);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let visit = Arc::new(Visit {
            peer,
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
    use super::Visits;
    use crate::settings::Limits;
    use std::net::{IpAddr, Ipv4Addr};
    use std::sync::Arc;

    const PEER: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    fn visits(connections: usize, unproven_connections: usize) -> Arc<Visits> {
        Arc::new(Visits::new(&Limits { connections, unproven_connections, ..Limits::default() }))
    }

    #[test]
    fn there_are_never_more_than_the_limit() {
        let visits = visits(2, 2);
        let (first, second) = (visits.admit(PEER).unwrap(), visits.admit(PEER).unwrap());
        assert!(visits.admit(PEER).is_none());
        assert_eq!((visits.open(), visits.turned_away()), (2, 1));
        drop((first, second));
        assert_eq!((visits.open(), visits.unproven()), (0, 0));
    }

    #[tokio::test]
    async fn the_one_that_was_silent_longest_makes_room() {
        let visits = visits(10, 3);
        let proven = visits.admit(PEER).unwrap();
        proven.prove();
        let (busy, silent, later) =
            (visits.admit(PEER).unwrap(), visits.admit(PEER).unwrap(), visits.admit(PEER).unwrap());
        let request = busy.begin();
        let next = visits.admit(PEER).unwrap();
        silent.told_to_leave().await;
        assert_eq!((visits.open(), visits.unproven()), (5, 3));
        let _requests = (later.begin(), next.begin());
        assert!(visits.admit(PEER).is_none(), "all three are being answered");
        drop(request);
        assert!(visits.admit(PEER).is_some());
        busy.told_to_leave().await;
    }
}
