//! What people are told, by the door for those who may see everything.

use crate::endpoint::{Endpoint, Posted};
use crate::house::House;
use legation_engine::{AlertSettings, Settings, Webhook};
use legation_exchange::{Kind, Policy};
use legation_out::{Courier, Options};
use legation_protocol::sign::{PublicKey, Signature};
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The first alert of a kind.
pub(crate) fn told(house: &House, kind: &str) -> Value {
    let mut after = 0;
    loop {
        let listed = house.ask("GET", format!("/v1/alerts?wait=60&after={after}")).by(&house.operator).get().ok();
        after = listed["next"].as_u64().unwrap();
        if let Some(alert) = listed["alerts"].as_array().unwrap().iter().find(|alert| alert["kind"] == kind) {
            return alert.clone();
        }
    }
}

#[test]
fn an_emergency_is_told_and_so_is_what_a_removal_leaves_behind() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(r#"{"parent":"bob"}"#).ok();
    let taken = house.send(&ann, &ann.alarm("bob", "emergency", &crate::words::fresh_id())).ok();
    let alert = told(&house, "emergency");
    assert_eq!((&alert["about"], &alert["position"]), (&"ann".into(), &taken["position"]));
    assert!(!alert.to_string().contains("reactor"), "nothing that was sent is told: {alert}");
    house.ask("DELETE", "/v1/agents/bob").by(&house.operator).get().ok();
    let alert = told(&house, "dead_letter");
    assert_eq!(
        (&alert["about"], &alert["count"]),
        (&bob.id.as_str().into(), &2.into()),
        "the alarm, and that its child is stopped"
    );
}

#[test]
fn what_is_open_is_listed_after_a_start_though_nobody_is_told() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(r#"{"parent":"bob"}"#).ok();
    let id = crate::words::fresh_id();
    let taken = house.send(&ann, &ann.alarm("bob", "emergency", &id)).ok();
    let before = told(&house, "emergency");
    let house = house.restart();
    let listed = house.ask("GET", "/v1/alerts").by(&house.operator).get().ok();
    let alert = listed["alerts"].as_array().unwrap().iter().find(|alert| alert["kind"] == "emergency").unwrap();
    assert_eq!(*alert, before, "under the same id");
    assert_eq!(alert["position"], taken["position"]);
    let body = serde_json::json!({"reason": "seen"}).to_string();
    house.ask("POST", "/v1/agents/ann/resume").by(&house.operator).json(body).ok();
    let house = house.restart();
    let listed = house.ask("GET", "/v1/alerts").by(&house.operator).get().ok();
    assert!(listed["alerts"].as_array().unwrap().iter().all(|alert| alert["kind"] != "emergency"), "{listed}");
}

#[test]
fn an_id_that_is_used_twice_is_told_to_those_who_see_everything() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = crate::words::fresh_id();
    let message = |says: &str| ann.signed(&ann.unsigned_vcp("bob", says, &id, 0));
    house.send(&ann, &message("one thing")).ok();
    house.send(&ann, &message("another")).refused(409, "message_id_conflict");
    let alert = told(&house, "conflict");
    assert_eq!((&alert["about"], &alert["realm"], &alert["count"]), (&"ann".into(), &"local".into(), &1.into()));
    assert!(!alert.to_string().contains(&id), "nothing that was sent is told: {alert}");
    house.ask("GET", "/v1/alerts").by(&bob.token).get().refused(403, "not_allowed");
    house.ask("GET", "/v1/alerts?wait=61").by(&house.operator).get().refused(422, "out_of_range");
}

/// A house that tells everything to this address, over HTTP.
fn telling(endpoint: &Endpoint) -> House {
    let data = Arc::new(tempfile::tempdir().unwrap());
    let allow = vec![endpoint.address.to_string().parse().unwrap()];
    let courier = Courier::new(Options { allow, ..Options::default() }).unwrap();
    let webhook = Webhook { url: endpoint.url(), secret: None, kinds: Kind::ALL.into() };
    let alerts =
        AlertSettings { webhooks: vec![webhook], carrier: Some(Arc::new(courier)), ..AlertSettings::default() };
    let policy = Policy { open_registration: true, ..Policy::default() };
    House::with(
        data.clone(),
        Settings { policy, alerts, ..Settings::on(data.path()) },
        legation_server::Settings::default(),
    )
}

fn kind_of(posted: &Posted) -> String {
    let alert: Value = serde_json::from_str(&posted.body).unwrap();
    alert["kind"].as_str().unwrap().to_owned()
}

/// The next post of a kind. The disk these tests run on may be nearly full, which is told too.
fn next_of(endpoint: &Endpoint, kind: &str) -> Posted {
    std::iter::repeat_with(|| endpoint.next()).find(|posted| kind_of(posted) == kind).unwrap()
}

#[test]
fn a_webhook_is_told_over_http_until_it_says_yes_and_can_check_who_tells() {
    let conflicts = AtomicUsize::new(0);
    // What is not there at first, and fails then, is there at last.
    let endpoint = Endpoint::new(move |posted| match kind_of(posted).as_str() {
        "conflict" => [404, 500].get(conflicts.fetch_add(1, Ordering::SeqCst)).copied().unwrap_or(200),
        _ => 200,
    });
    let house = telling(&endpoint);
    let ann = house.admit("ann");
    house.admit("bob");
    let id = crate::words::fresh_id();
    let message = |says: &str| ann.signed(&ann.unsigned_vcp("bob", says, &id, 0));
    house.send(&ann, &message("one thing")).ok();
    house.send(&ann, &message("another")).refused(409, "message_id_conflict");
    let keys = house.ask("GET", "/.well-known/legation/keys").get().ok();
    let key = PublicKey::parse(keys["keys"][0]["public"].as_str().unwrap()).unwrap();
    let told: Vec<_> = (0..3).map(|_| next_of(&endpoint, "conflict")).collect();
    for posted in &told {
        assert_eq!(posted.body, told[0].body);
        let signature = Signature::parse(posted.header("legation-signature").unwrap()).unwrap();
        assert!(key.verifies(posted.body.as_bytes(), &signature));
        assert!(!key.verifies(posted.body.replace("ann", "bob").as_bytes(), &signature));
    }
}

#[test]
fn an_alert_that_cannot_be_told_holds_up_no_emergency() {
    let endpoint = Endpoint::new(|posted| if kind_of(posted) == "conflict" { 500 } else { 200 });
    let house = telling(&endpoint);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    for child in ["ann", "bob"] {
        house.admit(&format!("above-{child}"));
        let body = format!(r#"{{"parent":"above-{child}"}}"#);
        house.ask("PUT", format!("/v1/agents/{child}")).by(&house.operator).json(body).ok();
    }
    let id = crate::words::fresh_id();
    let message = |says: &str| ann.signed(&ann.unsigned_vcp("bob", says, &id, 0));
    house.send(&ann, &message("one thing")).ok();
    house.send(&ann, &message("another")).refused(409, "message_id_conflict");
    next_of(&endpoint, "conflict");
    for child in [&ann, &bob] {
        house.send(child, &child.alarm(&format!("above-{}", child.id), "emergency", &crate::words::fresh_id())).ok();
    }
    // Each is told on its own, and before the fourth attempt of what fails: that would be seven seconds later.
    let (mut emergencies, mut conflicts) = (Vec::new(), 1);
    while emergencies.len() < 2 {
        let posted = endpoint.next();
        let alert: Value = serde_json::from_str(&posted.body).unwrap();
        match alert["kind"].as_str().unwrap() {
            "emergency" => emergencies.push(alert["about"].as_str().unwrap().to_owned()),
            "conflict" => conflicts += 1,
            _ => {}
        }
    }
    assert_eq!(emergencies, ["ann", "bob"]);
    assert!(conflicts < 4, "{conflicts}");
}
