//! What waits for a person: nobody it is for sees it, one decision counts, and for exactly what was shown.

use crate::house::{Answer, House};
use crate::words::Party;
use legation_exchange::Policy;
use serde_json::{Value, json};
use std::time::Duration;

/// Something so sure that it needs a source, and has none.
fn bold(party: &Party, to: &str) -> String {
    party.vlp(to).replace("0.5", "0.95")
}

/// Sends it, and gives back its review's id.
fn held(house: &House, from: &Party, message: &str) -> String {
    let told = house.send(from, message);
    assert_eq!(told.status, 202, "{told:?}");
    let told: Value = serde_json::from_str(&told.text).unwrap();
    assert_eq!(told["status"], "held");
    told["position"].to_string()
}

fn review(house: &House, by: &str, id: &str) -> Value {
    house.ask("GET", format!("/v1/reviews/{id}")).by(by).get().ok()
}

fn decide(house: &House, by: &str, id: &str, decision: &str, digest: &Value) -> Answer {
    let body = json!({"decision": decision, "digest": digest, "reason": "looked at it"});
    house.ask("POST", format!("/v1/reviews/{id}")).by(by).json(body.to_string())
}

fn waiting(house: &House, party: &Party) -> Vec<Value> {
    house.inbox(party, "")["messages"].as_array().unwrap().clone()
}

#[test]
fn what_is_held_is_seen_by_its_sender_and_by_people_alone() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let rita = house.grant("rita", "reviewer");
    let otto = house.grant("otto", "auditor");
    let id = held(&house, &ann, &bold(&ann, "bob"));
    assert!(waiting(&house, &bob).is_empty());
    for path in ["", "/raw", "/explain", "/truth"] {
        house.ask("GET", format!("/v1/messages/{id}{path}")).by(&bob.token).get().refused(404, "not_found");
    }
    assert_eq!(house.ask("GET", format!("/v1/messages/{id}")).by(&ann.token).get().status, 200);
    for who in [&rita, &otto, &house.operator] {
        let listed = house.ask("GET", "/v1/reviews").by(who).get().ok();
        let item = &listed["reviews"][0];
        assert_eq!((&item["id"], &item["sender"], &item["to"]), (&json!(id), &json!("ann"), &json!(["bob"])));
        assert_eq!(item["reasons"][0]["code"], "missing_provenance_high_confidence");
        assert_eq!(item["message"]["confidence"], 0.95);
    }
    for who in [&ann.token, &bob.token] {
        house.ask("GET", "/v1/reviews").by(who).get().refused(403, "not_allowed");
    }
    let alerts = house.ask("GET", "/v1/alerts").by(&house.operator).get().ok();
    assert!(alerts["alerts"].as_array().unwrap().iter().any(|alert| alert["kind"] == "review_waiting"), "{alerts}");
}

#[test]
fn what_waits_is_listed_in_the_order_asked_for_and_counted_in_all() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let first = held(&house, &ann, &bold(&ann, "bob"));
    let asking = ann.vlp("bob").replace(r#""confidence""#, r#""safety":{"level":"review"},"confidence""#);
    let urgent = held(&house, &ann, &asking);
    let last = held(&house, &ann, &bold(&ann, "bob"));
    let listed = |query: &str| house.ask("GET", format!("/v1/reviews?{query}")).by(&house.operator).get();
    let ids = |query: &str| {
        let told = listed(query).ok();
        assert_eq!(told["waiting"], 3, "{told}");
        told["reviews"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| item["id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(ids(""), [&*first, &urgent, &last]);
    assert_eq!(ids("order=newest"), [&*last, &urgent, &first]);
    assert_eq!(ids("order=urgent"), [&*urgent, &first, &last]);
    assert_eq!(ids("order=newest&limit=1"), [&*last]);
    assert_eq!(ids(&format!("order=newest&after={last}")), [&*urgent, &first]);
    assert_eq!(listed("order=urgent&limit=1").ok()["next"], Value::Null);
    listed("order=urgent&after=1").refused(422, "out_of_range");
}

#[test]
fn one_decision_counts_and_for_exactly_what_was_shown() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let rita = house.grant("rita", "reviewer");
    let otto = house.grant("otto", "auditor");
    let id = held(&house, &ann, &bold(&ann, "bob"));
    let house = house.restart();
    let digest = review(&house, &rita, &id)["digest"].clone();
    let other = json!(format!("sha256:{}", "0".repeat(64)));
    decide(&house, &rita, &id, "approve", &other).refused(409, "review_conflict");
    for who in [&ann.token, &bob.token, &otto] {
        decide(&house, who, &id, "approve", &digest).refused(403, "not_allowed");
    }
    decide(&house, &rita, &id, "approve", &digest).ok();
    decide(&house, &house.operator, &id, "refuse", &digest).refused(409, "review_conflict");
    decide(&house, &rita, "999", "approve", &digest).refused(404, "unknown_review");
    let items = waiting(&house, &bob);
    assert_eq!((items.len(), &items[0]["level"]), (1, &json!("review")));
    assert_eq!(items[0]["findings"][0]["code"], "missing_provenance_high_confidence");
    assert_eq!(house.ask("GET", format!("/v1/messages/{id}")).by(&bob.token).get().status, 200);
    let told = house.ask("GET", format!("/v1/messages/{id}/explain")).by(&ann.token).get().ok();
    let steps: Vec<_> = told["steps"].as_array().unwrap().iter().map(|step| step["step"].as_str().unwrap()).collect();
    assert_eq!(steps[5..], ["judged", "found", "held", "included", "lifted", "released", "waiting"], "{told}");
}

#[test]
fn what_is_refused_reaches_nobody_and_its_sender_hears_why() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let rita = house.grant("rita", "reviewer");
    let id = held(&house, &ann, &bold(&ann, "bob"));
    let digest = review(&house, &rita, &id)["digest"].clone();
    let silent = json!({"decision": "refuse", "digest": digest});
    house.ask("POST", format!("/v1/reviews/{id}")).by(&rita).json(silent.to_string()).refused(422, "schema_invalid");
    decide(&house, &rita, &id, "refuse", &digest).ok();
    let house = house.restart();
    assert!(waiting(&house, &bob).is_empty());
    house.ask("GET", format!("/v1/messages/{id}")).by(&bob.token).get().refused(404, "not_found");
    let told = waiting(&house, &ann);
    assert!(told.len() == 1 && told[0]["message"].to_string().contains("looked at it"), "{told:?}");
}

#[test]
fn a_claim_keeps_other_reviewers_from_deciding_but_no_operator() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let (rita, rolf) = (house.grant("rita", "reviewer"), house.grant("rolf", "reviewer"));
    let id = held(&house, &ann, &bold(&ann, "bob"));
    let digest = review(&house, &rita, &id)["digest"].clone();
    decide(&house, &rita, &id, "claim", &digest).ok();
    assert_eq!(review(&house, &rolf, &id)["claimed_by"], "reviewer rita");
    decide(&house, &rolf, &id, "approve", &digest).refused(409, "review_conflict");
    decide(&house, &house.operator, &id, "approve", &digest).ok();
}

fn reads(house: &House, party: &Party, id: &str) -> [u16; 4] {
    ["", "/raw", "/explain", "/truth"]
        .map(|path| house.ask("GET", format!("/v1/messages/{id}{path}")).by(&party.token).get().status)
}

#[test]
fn what_is_taken_back_is_read_by_nobody_it_did_not_reach() {
    // VCP 6.3: a suspension takes back what its agent said and nobody has yet.
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let told = house.send(&ann, &ann.vlp("bob")).ok();
    let id = told["position"].to_string();
    assert_eq!(reads(&house, &bob, &id), [200; 4]);
    house.ask("POST", "/v1/agents/ann/suspend").by(&house.operator).json(r#"{"reason":"stop"}"#).ok();
    assert!(waiting(&house, &bob).is_empty());
    assert_eq!(reads(&house, &bob, &id), [404; 4]);
    let remembered = house.ask("GET", "/v1/memory?sender=ann").by(&bob.token).get().ok();
    assert_eq!(remembered["memories"], json!([]), "{remembered}");
    assert_eq!(reads(&house, &ann, &id), [200; 4], "it is its sender's own");
    house.ask("POST", "/v1/agents/ann/resume").by(&house.operator).json(r#"{"reason":"go on"}"#).ok();
    assert_eq!(house.inbox(&bob, "?wait=30")["messages"].as_array().map(Vec::len), Some(1));
    assert_eq!(reads(&house, &bob, &id), [200; 4]);
}

#[test]
fn what_had_arrived_before_it_was_taken_back_from_others_stays() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = house.send(&ann, &ann.vlp("bob")).ok()["position"].to_string();
    house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(format!(r#"{{"position":{id}}}"#)).ok();
    house.ask("POST", "/v1/agents/ann/suspend").by(&house.operator).json(r#"{"reason":"stop"}"#).ok();
    assert_eq!(reads(&house, &bob, &id), [200; 4]);
}

#[test]
fn what_was_held_stays_so_when_its_sender_is_removed() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = held(&house, &ann, &bold(&ann, "bob"));
    house.ask("POST", "/v1/agents/ann/suspend").by(&house.operator).json(r#"{"reason":"stop"}"#).ok();
    house.ask("DELETE", "/v1/agents/ann").by(&house.operator).get().ok();
    assert_eq!(reads(&house, &bob, &id), [404; 4]);
}

#[test]
fn what_nobody_decides_in_time_is_refused_and_its_sender_hears_of_it() {
    let review_time = Duration::from_millis(50);
    let house = House::under(Policy { open_registration: true, review_time, ..Policy::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let rita = house.grant("rita", "reviewer");
    let id = held(&house, &ann, &bold(&ann, "bob"));
    // Waits until it is there.
    let told = house.inbox(&ann, "?wait=60")["messages"].as_array().unwrap().clone();
    assert!(told.len() == 1 && told[0]["message"].to_string().contains("nobody decided in time"), "{told:?}");
    let listed = house.ask("GET", "/v1/reviews").by(&rita).get().ok();
    assert_eq!(listed["reviews"], json!([]));
    let digest = house.ask("GET", format!("/v1/messages/{id}")).by(&ann.token).get().ok()["digest"].clone();
    decide(&house, &rita, &id, "approve", &digest).refused(409, "review_conflict");
    let house = house.restart();
    assert!(waiting(&house, &bob).is_empty());
    assert_eq!(waiting(&house, &ann).len(), 1, "told once");
}
