use super::{Holder, Peer, Via, Visit, Visits};
use crate::settings::Limits;
use legation_exchange::Who;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

struct House(Arc<Visits>, Limits);

fn house(connections: usize, unproven_connections: usize) -> House {
    House(Arc::default(), Limits { connections, unproven_connections, ..Limits::default() })
}

fn address(last: u8) -> IpAddr {
    Ipv4Addr::new(192, 0, 2, last).into()
}

fn operator(visit: &Visit) {
    visit.prove_as(&Who::operator(), || Holder::Operators);
}

fn agent(visit: &Visit, id: &str, family: &str) {
    visit.prove_as(&Who::Agent(id.to_owned()), || Holder::Family(family.to_owned()));
}

/// Whether it was told to leave, and is to be cut off.
async fn was_closed(visit: &Visit) -> bool {
    timeout(Duration::from_millis(1), visit.told_to_leave()).await.is_ok()
}

impl House {
    fn admit(&self) -> Option<Arc<Visit>> {
        self.0.admit(Peer::on_socket(), &self.1).inspect(|visit| visit.reads(true))
    }

    fn admit_from(&self, last: u8) -> Arc<Visit> {
        let visit = self.0.admit(Peer { address: address(last), via: Via::Tcp }, &self.1).unwrap();
        visit.reads(true);
        visit
    }
}

#[test]
fn there_are_never_more_than_the_limit() {
    let house = house(2, 2);
    let (first, second) = (house.admit().unwrap(), house.admit().unwrap());
    for visit in [&first, &second] {
        operator(visit);
    }
    let requests = (first.begin(), second.begin());
    assert!(house.admit().is_none());
    assert_eq!((house.0.open(), house.0.turned_away()), (2, 1));
    drop((first, second, requests));
    assert_eq!((house.0.open(), house.0.unproven()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_stranger_who_is_being_answered_makes_room_too() {
    let house = house(10, 2);
    let (slow, other) = (house.admit().unwrap(), house.admit().unwrap());
    let requests = (slow.begin(), other.begin());
    slow.receives(true);
    other.receives(true);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let next = house.admit().unwrap();
    assert!(was_closed(&slow).await && slow.is_cut());
    assert!(!was_closed(&other).await && !was_closed(&next).await);
    assert_eq!((house.0.open(), house.0.unproven(), house.0.closed()), (2, 2, 1));
    drop(requests);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_has_come_whole_is_answered_before_its_connection_makes_room() {
    let house = house(10, 3);
    let (whole, slow, silent) = (house.admit().unwrap(), house.admit().unwrap(), house.admit().unwrap());
    tokio::time::sleep(Duration::from_secs(2)).await;
    let requests = (whole.begin(), slow.begin());
    slow.receives(true);
    let _next = house.admit().unwrap();
    assert!(was_closed(&slow).await && !was_closed(&whole).await && !was_closed(&silent).await);
    let _next = house.admit().unwrap();
    assert!(was_closed(&silent).await && !silent.is_cut());
    // Even so it does not stay for ever.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let _next = house.admit().unwrap();
    assert!(was_closed(&whole).await && whole.is_cut());
    drop(requests);
}

/// One whose bytes nobody has looked at yet is not the client's fault.
#[tokio::test(start_paused = true)]
async fn a_connection_that_nobody_has_looked_at_makes_room_last() {
    let house = house(10, 2);
    let unseen = house.admit().unwrap();
    unseen.reads(false);
    let silent = house.admit().unwrap();
    assert!(!house.0.is_crowded(&house.1));
    let next = house.admit().unwrap();
    assert!(was_closed(&silent).await && !was_closed(&unseen).await);
    next.reads(false);
    assert!(house.0.is_crowded(&house.1));
    let _next = house.admit().unwrap();
    assert!(was_closed(&unseen).await);
}

#[tokio::test(start_paused = true)]
async fn the_source_with_the_most_connections_makes_room() {
    let house = house(100, 10);
    let few: Vec<_> = [1, 2, 2].map(|last| house.admit_from(last)).into();
    let many: Vec<_> = (0..7).map(|_| house.admit_from(3)).collect();
    let next: Vec<_> = (4..9).map(|last| house.admit_from(last)).collect();
    for visit in few.iter().chain(&next) {
        assert!(!was_closed(visit).await);
    }
    for (number, visit) in many.iter().enumerate() {
        assert_eq!(was_closed(visit).await, number < 5, "{number}");
    }
    assert_eq!(house.0.unproven(), 10);
}

#[tokio::test(start_paused = true)]
async fn a_proxys_clients_are_told_apart_once_they_are_known() {
    let house = house(100, 4);
    let through: Vec<_> = (0..4).map(|_| house.admit_from(1)).collect();
    through[0].comes_from(Holder::source(address(7), false));
    let _next = house.admit_from(2);
    assert!(!was_closed(&through[0]).await && was_closed(&through[1]).await);
}

#[tokio::test]
async fn who_is_between_two_requests_makes_room_and_a_socket_does_not() {
    let house = house(3, 3);
    let (socket, busy, idle) = (house.admit().unwrap(), house.admit().unwrap(), house.admit().unwrap());
    for visit in [&socket, &busy, &idle] {
        operator(visit);
    }
    socket.begin().upgrade();
    let _request = busy.begin();
    let next = house.admit().unwrap();
    idle.told_to_leave().await;
    operator(&next);
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
    operator(&slow);
    slow.writes(true);
    assert!(house.admit().is_none());
    slow.writes(false);
    assert!(house.admit().is_some());
}

#[tokio::test(start_paused = true)]
async fn agents_give_up_the_places_that_are_kept_from_them_the_largest_family_first() {
    // Two of the 32 places are kept.
    let house = house(32, 32);
    let connections: Vec<_> = (0..32).map(|_| house.admit().unwrap()).collect();
    let mut requests = Vec::new();
    for (number, visit) in connections.iter().enumerate() {
        let family = if number < 20 { "many" } else { "few" };
        agent(visit, &format!("agent-{number}"), family);
        requests.push(visit.begin());
    }
    requests[0].upgrade();
    tokio::time::sleep(Duration::from_secs(6)).await;
    let mut newcomers = Vec::new();
    for _ in 0..2 {
        let visit = house.admit().unwrap();
        operator(&visit);
        newcomers.push((visit.begin(), visit));
    }
    // The first is a socket, and stays.
    for (number, visit) in connections.iter().enumerate() {
        assert_eq!(was_closed(visit).await, number == 1 || number == 2, "{number}");
    }
    assert!(house.admit().is_none(), "agents have no more than what is theirs");
}

#[test]
fn one_that_ends_while_it_is_looked_at_is_in_nobodys_way() {
    let house = house(1, 1);
    let visit = std::cell::RefCell::new(house.admit());
    operator(visit.borrow().as_ref().unwrap());
    // What was looked at is held by nobody else from here on.
    let pool = house.0.pool(super::PoolKind::Operators);
    let closed = super::close_one(pool, |pool, seen| super::first_of(pool.by_age(), seen, |_| visit.take().is_none()));
    assert!(!closed && house.0.open() == 0);
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

mod model {
    use super::{House, address};
    use crate::settings::Limits;
    use crate::visits::{Peer, Underway, Via, Visit};
    use proptest::prelude::*;
    use std::sync::Arc;

    #[derive(Clone, Debug)]
    enum Step {
        Come(u8),
        Ask(usize),
        Answer(usize),
        ProveAgent(usize, u8),
        ProveOperator(usize),
        Go(usize),
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            4 => (0..6u8).prop_map(Step::Come),
            3 => any::<usize>().prop_map(Step::Ask),
            1 => any::<usize>().prop_map(Step::Answer),
            2 => (any::<usize>(), 0..3u8).prop_map(|(at, family)| Step::ProveAgent(at, family)),
            1 => any::<usize>().prop_map(Step::ProveOperator),
            1 => any::<usize>().prop_map(Step::Go),
        ]
    }

    proptest! {
        /// However strangers and agents come, ask and prove: as long as operators have not taken the places that are
        /// kept, a newcomer finds one, and there are never more connections than places.
        #[test]
        fn a_newcomer_always_finds_a_place(steps in proptest::collection::vec(step(), 1..300)) {
            let limits = Limits { connections: 32, unproven_connections: 8, ..Limits::default() };
            let house = House(Arc::default(), limits);
            let mut here: Vec<(Arc<Visit>, Vec<Underway>, bool)> = Vec::new();
            for step in steps {
                let place = |at: usize, len: usize| (len > 0).then(|| at % len.max(1));
                match step {
                    Step::Come(last) => {
                        let operators = here.iter().filter(|(_, _, operator)| *operator).count();
                        let peer = Peer { address: address(last), via: Via::Tcp };
                        let visit = house.0.admit(peer, &house.1);
                        prop_assert!(visit.is_some() || operators > 1, "{} open", house.0.open());
                        here.extend(visit.map(|visit| (visit, Vec::new(), false)));
                    }
                    Step::Ask(at) => if let Some(at) = place(at, here.len()) {
                        let request = here[at].0.begin();
                        here[at].1 = vec![request];
                    },
                    Step::Answer(at) => if let Some(at) = place(at, here.len()) { here[at].1.clear() },
                    Step::ProveAgent(at, family) => if let Some(at) = place(at, here.len()) && !here[at].2 {
                        super::agent(&here[at].0, &family.to_string(), &family.to_string());
                    },
                    Step::ProveOperator(at) => if let Some(at) = place(at, here.len()) {
                        super::operator(&here[at].0);
                        here[at].2 = true;
                    },
                    Step::Go(at) => if let Some(at) = place(at, here.len()) { drop(here.swap_remove(at)) },
                }
                prop_assert!(house.0.open() <= 32 && house.0.unproven() <= 8);
            }
        }
    }
}
