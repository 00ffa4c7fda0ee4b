//! Clocks that differ, as those outside see it; and emergencies that come too late.

use crate::house::House;
use crate::words::{Party, fresh_id};
use legation_engine::{Settings, Wall};
use legation_exchange::{Moment, Policy};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use time::OffsetDateTime;

const VCP: &str = "/.well-known/vcp/messages";
const HOUR: i64 = 3600;

/// A machine's clock that can be set.
#[derive(Clone, Default)]
struct Machine(Arc<AtomicI64>);

impl Machine {
    fn set(&self, seconds: i64) {
        self.0.store(seconds, Ordering::SeqCst);
    }

    fn house(&self, data: &Arc<tempfile::TempDir>) -> House {
        let off = Arc::clone(&self.0);
        let wall = Wall::by(move || {
            let now = u64::try_from(OffsetDateTime::now_utc().unix_timestamp_nanos() / 1000).unwrap();
            Moment::from_micros(now.saturating_add_signed(off.load(Ordering::SeqCst) * 1_000_000))
        });
        let policy = Policy { open_registration: true, ..Policy::default() };
        let settings = Settings { policy, wall, ..Settings::on(data.path()) };
        House::with(Arc::clone(data), settings, legation_server::Settings::default())
    }
}

/// An agent below another.
fn child(house: &House, id: &str, parent: &Party) -> Party {
    let party = house.admit(id);
    let body = json!({"parent": parent.id}).to_string();
    house.ask("PUT", format!("/v1/agents/{id}")).by(&house.operator).json(body).ok();
    party
}

/// The first alert of a kind, waited for.
fn alert(house: &House, kind: &str) -> Value {
    let mut after = String::new();
    loop {
        let listed = house.ask("GET", format!("/v1/alerts?wait=20{after}")).by(&house.operator).get().ok();
        let alerts = listed["alerts"].as_array().unwrap();
        if let Some(found) = alerts.iter().find(|alert| alert["kind"] == kind) {
            return found.clone();
        }
        after = format!("&after={}", listed["next"]);
    }
}

#[test]
fn after_a_clock_that_was_an_hour_ahead_messages_with_the_right_time_are_accepted_at_every_endpoint() {
    let (data, machine) = (Arc::new(tempfile::tempdir().unwrap()), Machine::default());
    machine.set(HOUR);
    let mut house = machine.house(&data);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("POST", "/v1/messages").by(&ann.token).json(ann.cap("bob", "x")).ok();
    house.stop();
    machine.set(0);
    let house = machine.house(&data);
    assert_eq!(house.ask("POST", VCP).json(ann.vcp("bob", "one")).ok()["status"], "accepted");
    assert_eq!(house.ask("POST", "/v1/messages").by(&ann.token).json(ann.vcp("bob", "two")).ok()["status"], "accepted");
    let line = house.ask("POST", "/v1/messages").by(&ann.token).lines(ann.vcp("bob", "three"));
    assert_eq!(serde_json::from_str::<Value>(line.text.trim()).unwrap()["status"], "accepted", "{line:?}");
    assert_eq!(house.inbox(&bob, "?limit=10")["messages"].as_array().unwrap().len(), 4);
    // Readiness says so, and takes nothing back.
    assert_eq!(alert(&house, "clock")["kind"], "clock");
    let ready = house.ask("GET", "/readyz").get().ok();
    assert_eq!((&ready["ready"], &ready["clock"]["agrees"]), (&true.into(), &false.into()), "{ready}");
    let ahead = ready["clock"]["record_ahead_seconds"].as_i64().unwrap();
    assert!((HOUR - 60..=HOUR + 60).contains(&ahead), "{ready}");
}

#[test]
fn readiness_says_nothing_of_clocks_that_agree() {
    let house = House::open();
    assert_eq!(house.ask("GET", "/readyz").get().ok(), json!({"ready": true}));
}

#[test]
fn readiness_says_that_the_record_is_behind() {
    let (data, machine) = (Arc::new(tempfile::tempdir().unwrap()), Machine::default());
    let house = machine.house(&data);
    machine.set(HOUR);
    assert!(alert(&house, "clock")["text"].as_str().unwrap().contains("behind this machine's"));
    let behind = house.ask("GET", "/readyz").get().ok()["clock"]["record_ahead_seconds"].as_i64().unwrap();
    assert!((-HOUR - 60..=60 - HOUR).contains(&behind), "{behind}");
}

#[test]
fn a_stale_emergency_is_refused_at_every_endpoint_and_told_once() {
    let house = House::open();
    let parent = house.admit("parent");
    let ann = child(&house, "ann", &parent);
    let stale = |reason: &str| ann.escalation_at(&parent.id, "emergency", reason, &fresh_id(), -310);
    let (one, two, three) = (stale("the first fire"), stale("the second fire"), stale("the third fire"));
    for _ in 0..2 {
        assert_eq!(house.ask("POST", VCP).json(&one).refused(422, "stale")["retryable"], false);
        house.ask("POST", "/v1/messages").by(&ann.token).json(&two).refused(422, "stale");
        let line = house.ask("POST", "/v1/messages").by(&ann.token).lines(&three);
        assert_eq!(serde_json::from_str::<Value>(line.text.trim()).unwrap()["error"], "stale", "{line:?}");
    }
    let listed = house.ask("GET", "/v1/alerts").by(&house.operator).get().ok();
    let alerts = listed["alerts"].as_array().unwrap().iter().filter(|alert| alert["kind"] == "stale_emergency");
    let texts: Vec<_> = alerts.map(|alert| alert["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(texts.len(), 3, "{listed}");
    for (text, fire) in texts.iter().zip(["the first fire", "the second fire", "the third fire"]) {
        assert!(text.contains(fire), "{texts:?}");
    }
    assert_eq!(house.inbox(&parent, "?limit=10")["messages"].as_array().unwrap().len(), 3);
    let shown = house.ask("GET", "/v1/agents/ann").by(&house.operator).get().ok();
    assert_eq!(shown["state"], "running", "{shown}");
    // After a start each is known still.
    let house = house.restart();
    house.ask("POST", VCP).json(&one).refused(422, "stale");
    assert_eq!(house.inbox(&parent, "?limit=10")["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn an_old_emergency_that_was_accepted_is_a_duplicate_and_alarms_nobody_again() {
    let (data, machine) = (Arc::new(tempfile::tempdir().unwrap()), Machine::default());
    machine.set(-48 * HOUR);
    let mut house = machine.house(&data);
    let parent = house.admit("parent");
    let ann = child(&house, "ann", &parent);
    let captured = ann.escalation_at(&parent.id, "emergency", "long ago", &fresh_id(), -48 * HOUR);
    let first = house.ask("POST", VCP).json(&captured).ok();
    assert_eq!(first["status"], "accepted");
    house.stop();
    // Two days later.
    machine.set(0);
    let house = machine.house(&data);
    house.ask("POST", "/v1/messages").by(&parent.token).json(parent.cap("ann", "hello")).ok();
    assert_eq!(house.ask("POST", VCP).json(&captured).ok()["status"], "duplicate");
    let listed = house.ask("GET", "/v1/alerts").by(&house.operator).get().ok();
    let told = listed["alerts"].as_array().unwrap().iter().filter(|alert| alert["kind"] == "stale_emergency");
    assert_eq!(told.count(), 0, "{listed}");
}
