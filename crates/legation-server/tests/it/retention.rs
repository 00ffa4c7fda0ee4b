//! Retention: what messages say goes when it is old enough or too much, and what waits stays.

use crate::house::House;
use crate::receipts::published;
use crate::words::Party;
use legation_engine::{Retention, Settings};
use legation_exchange::Policy;
use legation_exchange::record::Receipt;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;

/// A house on this data with small segments.
fn house(data: &Arc<TempDir>, retention: Retention) -> House {
    let policy = Policy { open_registration: true, ..Policy::default() };
    let settings = Settings { policy, segment: 16 << 10, retention, ..Settings::on(data.path()) };
    House::with(Arc::clone(data), settings, legation_server::Settings::default())
}

fn facts(house: &House, position: &Value) -> Value {
    house.ask("GET", format!("/v1/messages/{position}")).by(&house.operator).get().ok()
}

fn storage(house: &House) -> Value {
    house.ask("GET", "/v1/storage").by(&house.operator).get().ok()["retention"].clone()
}

/// Some messages, all but the first acknowledged; then the house is closed.
fn filled(data: &Arc<TempDir>) -> (Party, Vec<Value>) {
    let house = house(data, Retention::default());
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let long = "word ".repeat(400);
    let sent: Vec<_> = (0..30).map(|_| house.send(&ann, &ann.cap("bob", &long)).ok()).collect();
    let read: Vec<_> = sent[1..].iter().map(|sent| sent["position"].clone()).collect();
    house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(json!({"positions": read}).to_string()).ok();
    (bob, sent)
}

#[test]
fn what_is_old_goes_and_what_waits_stays() {
    let data = Arc::new(tempfile::tempdir().unwrap());
    let (bob, sent) = filled(&data);
    let retention = Retention { bodies_for: Some(Duration::from_millis(1)), size: None };
    let house = house(&data, retention);
    while storage(&house)["dropped_before"] == 0 {
        std::thread::yield_now();
    }
    let before = storage(&house)["dropped_before"].as_u64().unwrap();
    assert!(before > 10, "{before}");
    // It waits still.
    assert!(facts(&house, &sent[0]["position"]).get("message").is_some());
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    let old = &sent[1]["position"];
    let gone = facts(&house, old);
    assert_eq!((gone.get("message"), &gone["gone"]["why"]), (None, &"body_dropped".into()));
    house.ask("GET", format!("/v1/messages/{old}/raw")).by(&house.operator).get().refused(410, "body_dropped");
    let stated = Receipt::parse(&sent[1]["receipt"].to_string()).unwrap().verify(&published(&house)).unwrap();
    let size = house.ask("GET", "/v1/audit/head").get().ok()["size"].as_u64().unwrap();
    let proof = house.ask("GET", format!("/v1/audit/proof?position={old}&size={size}")).get().ok();
    assert_eq!(proof["leaf"], json!(stated.leaf));
    assert_eq!(house.metric("legation_bodies_dropped_before"), before);
    let entries = house.ask("GET", "/v1/audit/entries?limit=1000").by(&house.operator).get();
    assert!(entries.text.contains(r#""entry":"dropped""#));
    // What is in the segment that is being written stays, however old it is.
    assert!(facts(&house, &sent[29]["position"]).get("message").is_some());
}

#[test]
fn what_is_too_much_goes_from_the_oldest_on() {
    let data = Arc::new(tempfile::tempdir().unwrap());
    let (_, sent) = filled(&data);
    let house = house(&data, Retention { bodies_for: None, size: Some(20 << 10) });
    while storage(&house)["dropped_before"] == 0 {
        std::thread::yield_now();
    }
    assert!(storage(&house)["bytes"].as_u64().unwrap() <= 20 << 10);
    assert_eq!(facts(&house, &sent[1]["position"])["gone"]["why"], "body_dropped");
    assert!(facts(&house, &sent[25]["position"]).get("message").is_some());
}
