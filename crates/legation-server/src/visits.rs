//! Open connections, and which of them give way when there are too many. A connection belongs to a stranger until
//! somebody has proven on it who they are.
//!
//! - Strangers have so many places and no more. When all are taken, the source address with the most connections gives
//!   up its oldest, also one whose request is being answered: a newcomer always finds a place.
//! - When all places are taken, a stranger's connection goes first, then one that is between two requests. Some
//!   places are [kept](Limits::kept) for strangers and operators: where agents have taken those too, the family
//!   with the most connections gives up its oldest request.
//! - WebSockets of agents stay, and never take all places.

mod pool;

pub(crate) use pool::{Holder, network_of};

use crate::settings::Limits;
use crate::unread::UnreadAccount;
use legation_exchange::{Role, Who};
use pool::HolderPool;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// How long a connection is left alone in which its first request is on the way, if there are older ones.
const GRACE: Duration = Duration::from_secs(1);
/// How long a request that has come whole may wait for its answer before its connection may be chosen like any other.
const ANSWERING: Duration = Duration::from_secs(5);

/// Every open connection.
#[derive(Debug, Default)]
pub(crate) struct Visits {
    open: AtomicUsize,
    /// Places that sockets have.
    sockets: AtomicUsize,
    next: AtomicU64,
    turned_away: AtomicU64,
    /// Connections that were closed to make room.
    closed: AtomicU64,
    strangers: Mutex<HolderPool>,
    /// Connections of agents, and of people who are no operators.
    principals: Mutex<HolderPool>,
    operators: Mutex<HolderPool>,
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

    fn holder(self) -> Holder {
        Holder::source(self.address, self.via == Via::Unix)
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
    standing: Mutex<VisitStanding>,
    /// Whether it still counts: one that is told to leave has left, for those who come.
    counted: AtomicBool,
    /// Whether it is closed at once, in the middle of an answer.
    cut: AtomicBool,
    /// Requests being answered.
    underway: AtomicUsize,
    /// Requests begun so far.
    begun: AtomicU64,
    /// When the latest of them began, in milliseconds after `since`.
    begun_at: AtomicU64,
    /// Whether the latest of them has shown a credential that counts.
    proven: AtomicBool,
    /// Whether all that has come was looked at, and more is awaited.
    reading: AtomicBool,
    /// Whether more of the latest request's body is awaited.
    receiving: AtomicBool,
    /// Whether something is left to write that the other side does not take yet.
    writing: AtomicBool,
    /// Whether it speaks another protocol by now.
    upgraded: AtomicBool,
    /// Bytes of answers that were handed over and are not written, and for whom they are counted.
    unread: Mutex<(usize, Option<Arc<UnreadAccount>>)>,
    leave: Notify,
}

/// The pool and the holder that a connection is counted under.
#[derive(Debug)]
struct VisitStanding {
    pool: PoolKind,
    holder: Holder,
    /// Who it was proven for last.
    who: Option<Who>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PoolKind {
    Strangers,
    Principals,
    Operators,
}

impl Visits {
    /// Takes a connection in, unless there is no room and nobody makes any.
    pub(crate) fn admit(self: &Arc<Self>, peer: Peer, limits: &Limits) -> Option<Arc<Visit>> {
        let has_place = self.unproven() < limits.unproven_connections || self.make_stranger_room();
        if !has_place || !(self.open() < limits.connections || self.make_room(limits)) {
            self.turned_away.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        self.open.fetch_add(1, Ordering::Relaxed);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let standing = VisitStanding { pool: PoolKind::Strangers, holder: peer.holder(), who: None };
        let visit = Arc::new(Visit {
            peer,
            since: Instant::now(),
            number,
            visits: Arc::clone(self),
            standing: Mutex::new(standing),
            counted: AtomicBool::new(true),
            cut: AtomicBool::new(false),
            underway: AtomicUsize::new(0),
            begun: AtomicU64::new(0),
            begun_at: AtomicU64::new(0),
            proven: AtomicBool::new(false),
            reading: AtomicBool::new(false),
            receiving: AtomicBool::new(false),
            writing: AtomicBool::new(false),
            upgraded: AtomicBool::new(false),
            unread: Mutex::default(),
            leave: Notify::new(),
        });
        self.pool(PoolKind::Strangers).insert(&peer.holder(), number, Arc::downgrade(&visit));
        Some(visit)
    }

    /// Whether strangers have all their places, and each of them waits for us: more are better taken a moment later.
    pub(crate) fn is_crowded(&self, limits: &Limits) -> bool {
        let pool = self.pool(PoolKind::Strangers);
        if pool.len() < limits.unproven_connections {
            return false;
        }
        let (now, mut seen) = (Instant::now(), Seen::new());
        let waits = first_of(pool.by_age(), &mut seen, |visit| visit.waits_for_client(now));
        drop(pool);
        waits.is_none()
    }

    /// Closes the oldest connection of the source with the most of those on which nobody has proven anything. False if
    /// there is none.
    fn make_stranger_room(&self) -> bool {
        close_one(self.pool(PoolKind::Strangers), |pool, seen| largest_holders(pool, seen, |_| true))
    }

    /// Closes one of those, or else a connection that is between two requests, whoever's it is. False if there is none.
    pub(crate) fn make_any_room(&self) -> bool {
        self.make_stranger_room() || self.close_idle(PoolKind::Principals) || self.close_idle(PoolKind::Operators)
    }

    /// The same; and where agents have taken the places that are kept from them, the family with the most
    /// connections gives up its oldest request.
    fn make_room(&self, limits: &Limits) -> bool {
        if self.make_any_room() {
            return true;
        }
        let principals = self.pool(PoolKind::Principals);
        if principals.len() <= limits.connections.saturating_sub(limits.kept()) {
            return false;
        }
        close_one(principals, |pool, seen| largest_holders(pool, seen, |visit| !visit.is_upgraded()))
    }

    fn close_idle(&self, kind: PoolKind) -> bool {
        close_one(self.pool(kind), |pool, seen| first_of(pool.by_age(), seen, |visit| !visit.is_busy()))
    }

    fn pool(&self, kind: PoolKind) -> MutexGuard<'_, HolderPool> {
        let pool = match kind {
            PoolKind::Strangers => &self.strangers,
            PoolKind::Principals => &self.principals,
            PoolKind::Operators => &self.operators,
        };
        pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many connections are open.
    pub(crate) fn open(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }

    /// On how many of them nobody has proven anything.
    pub(crate) fn unproven(&self) -> usize {
        self.pool(PoolKind::Strangers).len()
    }

    /// How many there was no room for.
    pub(crate) fn turned_away(&self) -> u64 {
        self.turned_away.load(Ordering::Relaxed)
    }

    /// How many were closed to make room for others.
    pub(crate) fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }
}

/// Connections that were looked at under a pool's lock. They are let go after it: the end of the last holder of one
/// asks for the same lock.
type Seen = Vec<Arc<Visit>>;

/// Closes the connection that is chosen. False if none is.
fn close_one(
    mut pool: MutexGuard<'_, HolderPool>,
    choose: impl FnOnce(&HolderPool, &mut Seen) -> Option<Arc<Visit>>,
) -> bool {
    let mut seen = Seen::new();
    let chosen = choose(&pool, &mut seen).inspect(|visit| drop(pool.remove(visit.number)));
    drop(pool);
    chosen.inspect(|visit| visit.dismiss()).is_some()
}

/// The first connection that may go.
fn first_of<'v>(
    visits: impl Iterator<Item = &'v Weak<Visit>>,
    seen: &mut Seen,
    may_go: impl Fn(&Visit) -> bool,
) -> Option<Arc<Visit>> {
    for visit in visits.filter_map(Weak::upgrade) {
        seen.push(Arc::clone(&visit));
        if may_go(&visit) {
            return Some(visit);
        }
    }
    None
}

/// A connection of one of the holders with the most: the oldest that waits for its client, if possible one that is no
/// newcomer; if none waits, the oldest of all.
fn largest_holders(pool: &HolderPool, seen: &mut Seen, may_go: impl Fn(&Visit) -> bool) -> Option<Arc<Visit>> {
    let now = Instant::now();
    let waits = |visit: &Visit| visit.waits_for_client(now) && may_go(visit);
    let has_been_here = |visit: &Visit| now.duration_since(visit.since) >= GRACE;
    let mut below = usize::MAX;
    while let Some(share) = pool.largest_share(below) {
        let found = first_of(pool.with_share(share), seen, |visit| has_been_here(visit) && waits(visit))
            .or_else(|| first_of(pool.with_share(share), seen, waits))
            .or_else(|| first_of(pool.with_share(share), seen, &may_go));
        if found.is_some() {
            return found;
        }
        below = share;
    }
    None
}

impl Visit {
    /// Notes that this request comes from somebody who is known. `holder` is asked for where the connection was
    /// another's before.
    pub(crate) fn prove_as(&self, who: &Who, holder: impl FnOnce() -> Holder) {
        self.proven.store(true, Ordering::Relaxed);
        if self.standing().who.as_ref() == Some(who) {
            return;
        }
        let kind = match who {
            Who::Person { role: Role::Operator, .. } => PoolKind::Operators,
            Who::Person { .. } | Who::Agent(_) | Who::Nobody => PoolKind::Principals,
        };
        let holder = holder();
        let mut standing = self.standing();
        standing.who = Some(who.clone());
        self.stand(&mut standing, kind, holder);
    }

    /// Notes that this request has proven something, without saying for whom.
    pub(crate) fn prove(&self, holder: Holder) {
        self.proven.store(true, Ordering::Relaxed);
        let mut standing = self.standing();
        if standing.pool == PoolKind::Strangers {
            self.stand(&mut standing, PoolKind::Principals, holder);
        }
    }

    /// Counts a stranger's connection for the source that a proxy names.
    pub(crate) fn comes_from(&self, source: Holder) {
        let mut standing = self.standing();
        if standing.pool == PoolKind::Strangers && standing.holder != source {
            self.stand(&mut standing, PoolKind::Strangers, source);
        }
    }

    fn stand(&self, standing: &mut VisitStanding, kind: PoolKind, holder: Holder) {
        // The guard of the one pool is let go before the other is asked for.
        let removed = self.visits.pool(standing.pool).remove(self.number);
        // One that was told to leave is in no pool.
        if let Some(visit) = removed {
            self.visits.pool(kind).insert(&holder, self.number, visit);
        }
        (standing.pool, standing.holder) = (kind, holder);
    }

    fn standing(&self) -> MutexGuard<'_, VisitStanding> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place for a WebSocket, unless the last ones are left for requests.
    pub(crate) fn stay(&self, limits: &Limits) -> Option<Place> {
        let most = limits.sockets();
        let taken = |taken: usize| (taken < most).then_some(taken + 1);
        let had = self.visits.sockets.fetch_update(Ordering::Relaxed, Ordering::Relaxed, taken);
        had.ok().map(|_| Place(Arc::clone(&self.visits)))
    }

    fn dismiss(&self) {
        // An idle connection that is asked something before it hears of this is answered first.
        self.cut.store(self.is_busy(), Ordering::Relaxed);
        if self.counted.swap(false, Ordering::Relaxed) {
            self.visits.open.fetch_sub(1, Ordering::Relaxed);
            self.visits.closed.fetch_add(1, Ordering::Relaxed);
        }
        self.leave.notify_one();
    }

    /// Whether a request is being answered, to the last byte, or the connection is no longer one for requests.
    pub(crate) fn is_busy(&self) -> bool {
        self.is_answering() || self.writing.load(Ordering::Relaxed) || self.is_upgraded()
    }

    /// Whether the connection is to be closed in the middle of what it does.
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.load(Ordering::Relaxed)
    }

    /// The other side takes nothing more for now, or has taken what there was.
    pub(crate) fn writes(&self, left: bool) {
        self.writing.store(left, Ordering::Relaxed);
    }

    /// What is handed over from here on is counted for this account.
    pub(crate) fn answers_for(&self, account: &Arc<UnreadAccount>) {
        let mut unread = self.unread();
        if unread.1.as_ref().is_some_and(|before| Arc::ptr_eq(before, account)) {
            return;
        }
        let (bytes, before) = std::mem::replace(&mut *unread, (0, Some(Arc::clone(account))));
        if let Some(before) = before {
            before.release(bytes);
        }
    }

    /// Bytes of an answer were handed over, to be written.
    pub(crate) fn owes(&self, bytes: usize) {
        self.unread().0 += bytes;
    }

    /// Bytes were written.
    pub(crate) fn wrote(&self, bytes: usize) {
        let mut unread = self.unread();
        let read = bytes.min(unread.0);
        unread.0 -= read;
        if let Some(account) = unread.1.as_ref().filter(|_| read > 0) {
            account.release(read);
        }
    }

    fn unread(&self) -> MutexGuard<'_, (usize, Option<Arc<UnreadAccount>>)> {
        self.unread.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// More of a body is awaited, or has come.
    pub(crate) fn receives(&self, awaited: bool) {
        self.receiving.store(awaited, Ordering::Relaxed);
    }

    /// Whether a request is being answered.
    fn is_answering(&self) -> bool {
        self.underway.load(Ordering::Relaxed) > 0
    }

    fn is_upgraded(&self) -> bool {
        self.upgraded.load(Ordering::Relaxed)
    }

    /// All that has come was looked at, and more is awaited; or more has come.
    pub(crate) fn reads(&self, awaited: bool) {
        self.reading.store(awaited, Ordering::Relaxed);
    }

    /// Whether the next step is the client's, and not ours: what it sent was looked at, and no whole request of a moment ago
    /// is being answered.
    fn waits_for_client(&self, now: Instant) -> bool {
        if self.is_upgraded() || self.writing.load(Ordering::Relaxed) {
            return true;
        }
        if self.is_answering() {
            return self.receiving.load(Ordering::Relaxed) || now.duration_since(self.asked_at()) >= ANSWERING;
        }
        self.reading.load(Ordering::Relaxed)
    }

    fn asked_at(&self) -> Instant {
        self.since + Duration::from_millis(self.begun_at.load(Ordering::Relaxed))
    }

    /// When the latest request must be over, its answer read: one that has shown no credential that counts.
    pub(crate) fn deadline(&self, request_time: Duration) -> Option<Instant> {
        let has_one = !self.is_upgraded() && !self.is_proven() && self.begun() > 0;
        has_one.then(|| self.asked_at() + request_time)
    }

    /// Whether the latest request has shown a credential that counts.
    pub(crate) fn is_proven(&self) -> bool {
        self.proven.load(Ordering::Relaxed)
    }

    /// How many requests have begun.
    pub(crate) fn begun(&self) -> u64 {
        self.begun.load(Ordering::Relaxed)
    }

    /// A request has begun; it is over when this is dropped.
    pub(crate) fn begin(self: &Arc<Self>) -> Underway {
        let at = u64::try_from(self.since.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.begun_at.store(at, Ordering::Relaxed);
        self.proven.store(false, Ordering::Relaxed);
        self.receiving.store(false, Ordering::Relaxed);
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
        let (unread, account) = std::mem::take(self.unread.get_mut().unwrap_or_else(PoisonError::into_inner));
        if let Some(account) = account {
            account.release(unread);
        }
        let pool = self.standing.get_mut().unwrap_or_else(PoisonError::into_inner).pool;
        drop(self.visits.pool(pool).remove(self.number));
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
mod tests;
