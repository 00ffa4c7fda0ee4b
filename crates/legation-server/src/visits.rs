//! Who is in the house: every open connection, and which of them has proven nothing yet. There are never
//! more than the limits say. Who has said nothing makes room for who comes next, and so does who is between two
//! requests; and sockets, which stay, never take all the places: some are left for requests.

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
    /// Places that sockets have.
    sockets: AtomicUsize,
    next: AtomicU64,
    turned_away: AtomicU64,
    /// By number, so the one that has been here longest comes first.
    unproven: Mutex<Numbered>,
    /// Those on which somebody has proven to be somebody.
    proven: Mutex<Numbered>,
}

type Numbered = BTreeMap<u64, Weak<Visit>>;

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
    /// Whether it still counts: one that is told to leave has left, for those who come.
    counted: AtomicBool,
    /// Requests being answered.
    underway: AtomicUsize,
    /// Requests begun so far.
    begun: AtomicU64,
    /// Whether something is left to write that the other side does not take yet.
    writing: AtomicBool,
    /// Whether it speaks another protocol by now.
    upgraded: AtomicBool,
    leave: Notify,
}

impl Visits {
    /// Takes a connection in, unless there is no room and nobody makes any.
    pub(crate) fn admit(self: &Arc<Self>, peer: Peer, limits: &Limits) -> Option<Arc<Visit>> {
        let known = self.unproven() < limits.unproven_connections || self.make_room();
        if !known || !(self.open() < limits.connections || self.make_any_room()) {
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
            counted: AtomicBool::new(true),
            underway: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            writing: AtomicBool::new(false),
            upgraded: AtomicBool::new(false),
            leave: Notify::new(),
        });
        self.waiting().insert(number, Arc::downgrade(&visit));
        Some(visit)
    }

    /// Sends away the connection that has been here longest of those that have proven nothing and wait
    /// for no answer. False if there is none.
    pub(crate) fn make_room(&self) -> bool {
        dismiss_first(self.waiting(), |visit| !visit.is_answering())
    }

    /// Sends away one of those, or else one that is between two requests. False if there is none.
    pub(crate) fn make_any_room(&self) -> bool {
        self.make_room() || self.end_idle()
    }

    /// Sends away a connection that is between two requests, as anybody's may be. False if there is none.
    fn end_idle(&self) -> bool {
        dismiss_first(self.known(), |visit| !visit.is_busy())
    }

    fn known(&self) -> MutexGuard<'_, Numbered> {
        self.proven.lock().unwrap_or_else(PoisonError::into_inner)
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

    fn waiting(&self) -> MutexGuard<'_, Numbered> {
        self.unproven.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Sends away the first of them that may go. False if there is none.
fn dismiss_first(mut visits: MutexGuard<'_, Numbered>, may_go: impl Fn(&Visit) -> bool) -> bool {
    let mut seen = Vec::new();
    let found = visits.iter().find_map(|(number, visit)| {
        let visit = visit.upgrade()?;
        let found = may_go(&visit).then_some(*number);
        seen.push(visit);
        found
    });
    if let Some(number) = found {
        visits.remove(&number);
    }
    // Whoever is held here may be held by nobody else by now, and its end asks for the same lock.
    drop(visits);
    let Some(visit) = seen.pop().filter(|_| found.is_some()) else { return false };
    visit.dismiss();
    true
}

impl Visit {
    /// Somebody has proven to be somebody here.
    pub(crate) fn prove(&self) {
        if self.proven.swap(true, Ordering::Relaxed) {
            return;
        }
        let kept = self.visits.waiting().remove(&self.number);
        self.visits.known().extend(kept.map(|visit| (self.number, visit)));
    }

    /// Takes a place for a WebSocket, unless the last ones are left for requests.
    pub(crate) fn stay(&self, limits: &Limits) -> Option<Place> {
        let most = limits.sockets();
        let taken = |taken: usize| (taken < most).then_some(taken + 1);
        let had = self.visits.sockets.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken);
        had.ok().map(|_| Place(Arc::clone(&self.visits)))
    }

    fn dismiss(&self) {
        if self.counted.swap(false, Ordering::Relaxed) {
            self.visits.open.fetch_sub(1, Ordering::Relaxed);
        }
        self.leave.notify_one();
    }

    /// Whether a request is being answered, to the last byte, or the connection is no longer one for requests.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_answering() || self.writing.load(Ordering::Relaxed) || self.upgraded.load(Ordering::Relaxed)
    }

    /// The other side takes nothing more for now, or has taken what there was.
    pub(crate) fn writes(&self, left: bool) {
        self.writing.store(left, Ordering::Relaxed);
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
        if *self.counted.get_mut() {
            self.visits.open.fetch_sub(1, Ordering::Relaxed);
        }
        if *self.proven.get_mut() {
            self.visits.known().remove(&self.number);
        } else {
            self.visits.waiting().remove(&self.number);
        }
    }
}

/// A WebSocket's place, given back when this is dropped.
#[derive(Debug)]
pub(crate) struct Place(Arc<Visits>);

impl Drop for Place {
    fn drop(&mut self) {
        self.0.sockets.fetch_sub(1, Ordering::Relaxed);
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
        let requests = (first.begin(), second.begin());
        assert!(house.admit().is_none());
        assert_eq!((house.0.open(), house.0.turned_away()), (2, 1));
        drop((first, second, requests));
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
        assert_eq!((house.0.open(), house.0.unproven()), (4, 3));
        let _requests = (later.begin(), next.begin());
        assert!(house.admit().is_none(), "all three are being answered");
        drop(request);
        assert!(house.admit().is_some());
        busy.told_to_leave().await;
    }

    #[tokio::test]
    async fn who_is_between_two_requests_makes_room_and_a_socket_does_not() {
        let house = house(3, 3);
        let (socket, busy, idle) = (house.admit().unwrap(), house.admit().unwrap(), house.admit().unwrap());
        for visit in [&socket, &busy, &idle] {
            visit.prove();
        }
        socket.begin().upgrade();
        let _request = busy.begin();
        let next = house.admit().unwrap();
        idle.told_to_leave().await;
        let _next = next.begin();
        assert_eq!((house.0.open(), house.admit().is_none()), (3, true));
        // It has left once, however long it takes to go.
        drop(idle);
        assert_eq!(house.0.open(), 3);
    }

    #[test]
    fn who_reads_slowly_is_not_cut_off_in_the_middle_of_an_answer() {
        let house = house(1, 1);
        let slow = house.admit().unwrap();
        slow.prove();
        slow.writes(true);
        assert!(house.admit().is_none());
        slow.writes(false);
        assert!(house.admit().is_some());
    }

    #[test]
    fn one_that_ends_while_it_is_looked_at_is_in_nobodys_way() {
        let house = house(1, 1);
        let visit = std::cell::RefCell::new(house.admit());
        visit.borrow().as_ref().unwrap().prove();
        // What was looked at is held by nobody else from here on.
        let looked = super::dismiss_first(house.0.known(), |_| visit.take().is_none());
        assert!(!looked && house.0.open() == 0);
    }

    #[test]
    fn sockets_leave_places_for_requests() {
        let house = house(32, 32);
        let visit = house.admit().unwrap();
        let mut places: Vec<_> = (0..30).map(|_| visit.stay(&house.1).unwrap()).collect();
        assert!(visit.stay(&house.1).is_none());
        places.pop();
        assert!(visit.stay(&house.1).is_some());
    }
}
