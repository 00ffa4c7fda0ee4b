//! Keys that the exchange keeps: for whom it signs, for whom it does not, and where they are.

use crate::house::{House, path_of};
use crate::mcp::{BOTH, Client};
use crate::words::{Party, fresh_id};
use legation_protocol::Received;
use legation_protocol::sign::PublicKey;
use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;

/// Registers an agent whose key the exchange keeps.
fn entrust(house: &House, id: &str) -> Party {
    let mut party = Party::new(id);
    let made = house.ask("PUT", path_of(id)).json(r#"{"custody":"exchange"}"#).ok();
    made["token"].as_str().unwrap().clone_into(&mut party.token);
    party
}

fn unsigned(party: &Party, to: &str) -> String {
    party.unsigned_vcp(to, "x", &fresh_id(), 0)
}

fn keys(house: &House, id: &str) -> Value {
    house.ask("GET", format!("{}/keys", path_of(id))).by(&house.operator).get().ok()["keys"].clone()
}

/// The files that secrets lie in.
fn kept(house: &House) -> Vec<PathBuf> {
    let Ok(listed) = fs::read_dir(house.data().join("record/safe")) else { return Vec::new() };
    listed.map(|entry| entry.unwrap().path()).collect()
}

#[test]
fn what_an_agent_sends_unsigned_is_signed_with_the_key_that_is_kept_for_it() {
    let house = House::open();
    let (helper, bob) = (entrust(&house, "helper"), house.admit("bob"));
    let key = keys(&house, "helper")[0].clone();
    assert_eq!((&key["state"], &key["custody"]), (&json!("ACTIVE"), &json!("exchange")));
    assert_eq!(keys(&house, "bob")[0].get("custody"), None);
    let message = unsigned(&helper, "bob");
    let sent = house.send(&helper, &message).ok();
    // The receipt and everything that is told of the message say who holds the key.
    let effect: Value = serde_json::from_str(sent["receipt"]["entry"]["effect"].as_str().unwrap()).unwrap();
    assert_eq!((&effect["proof"], &effect["custody"]), (&json!("signature"), &json!("exchange")), "{sent}");
    let path = format!("/v1/messages/{}", sent["position"]);
    let facts = house.ask("GET", path.clone()).by(&helper.token).get().ok();
    assert_eq!(facts["custody"], "exchange");
    let told = house.ask("GET", format!("{path}/explain")).by(&bob.token).get().ok();
    assert_eq!(told["custody"], "exchange");
    assert!(told["steps"][1]["says"].as_str().unwrap().contains("custody: exchange"), "{told}");
    // What arrives is what was sent, and a signature that verifies under the key that is published.
    let raw = house.ask("GET", format!("{path}/raw")).by(&bob.token).get().text;
    let received = Received::read(raw.clone().into_bytes()).unwrap();
    let public = PublicKey::parse(key["public"].as_str().unwrap()).unwrap();
    assert!(public.verifies(received.signed_bytes(), received.signature().unwrap()));
    assert!(raw.starts_with(&message[..message.len() - 1]), "{raw}");
    // The same again is a copy, also by the other doors.
    assert_eq!(house.send(&helper, &message).ok()["status"], "duplicate");
    let again = house.ask("POST", "/.well-known/vcp/messages").by(&helper.token).json(&message).ok();
    assert_eq!(again["status"], "duplicate");
    assert_eq!(house.send(&helper, &raw).ok()["status"], "duplicate");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    // What the sender proves by its token alone is nobody's custody.
    let plain = house.send(&helper, &helper.cap("bob", "x")).ok();
    assert!(!plain["receipt"]["entry"]["effect"].as_str().unwrap().contains("custody"));
}

#[test]
fn a_host_without_a_key_escalates_over_mcp() {
    let house = House::open();
    let (ann, bob, helper) = (house.admit("ann"), house.admit("bob"), entrust(&house, "helper"));
    house.ask("PUT", path_of("helper")).by(&house.operator).json(r#"{"parent":"bob"}"#).ok();
    let alarm = json!({"to": "bob", "severity": "warning", "reason": "x", "context": "⏰🌅|📍🏡"});
    for generation in BOTH {
        let host = Client::open(&house, &helper.token, generation);
        let sent = host.done("escalate", alarm.clone());
        assert_eq!(sent["status"], "accepted");
        let told = host.done("explain_message", json!({"message": sent["position"].to_string()}));
        assert_eq!(told["custody"], "exchange");
        let message: Value = serde_json::from_str(&unsigned(&helper, "bob")).unwrap();
        assert_eq!(host.done("send_message", json!({"message": message}))["status"], "accepted");
        // Nobody else is spared the signature.
        let hers = Client::open(&house, &ann.token, generation);
        hers.refused("escalate", alarm.clone(), "signature_required");
        let borrowed = json!({"message": message});
        hers.refused("send_message", borrowed.clone(), "sender_mismatch");
        Client::open(&house, &house.operator, generation).refused("send_message", borrowed, "signature_required");
    }
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn nobody_has_anothers_messages_signed() {
    let house = House::open();
    let (helper, other, bob) = (entrust(&house, "helper"), entrust(&house, "other"), house.admit("bob"));
    let message = unsigned(&helper, "bob");
    house.send(&other, &message).refused(403, "sender_mismatch");
    house.send(&bob, &message).refused(403, "sender_mismatch");
    house.ask("POST", "/v1/messages").by(&house.operator).json(&message).refused(401, "signature_required");
    house.ask("POST", "/v1/messages").json(&message).refused(401, "signature_required");
    house.ask("POST", "/.well-known/vcp/messages").json(&message).refused(401, "signature_required");
    // The public half is bound to its agent: nobody registers it as their own.
    let public = keys(&house, "helper")[0]["public"].clone();
    let body = json!({"keys": [public]}).to_string();
    house.ask("PUT", path_of("thief")).json(body).refused(409, "key_bound");
    // A signature that is wrong is not put right.
    house.send(&helper, &other.signed(&message)).refused(401, "signature_invalid");
    assert_eq!(house.inbox(&bob, "")["messages"], json!([]));
}

#[test]
fn a_key_that_is_out_of_use_signs_nothing_and_its_secret_is_gone() {
    for state in ["REVOKED", "COMPROMISED", "RETIRED"] {
        let house = House::open();
        let (helper, _) = (entrust(&house, "helper"), house.admit("bob"));
        house.send(&helper, &unsigned(&helper, "bob")).ok();
        let public = keys(&house, "helper")[0]["public"].as_str().unwrap().to_owned();
        let path = format!("{}/keys/{}", path_of("helper"), crate::house::encoded(&public));
        house.ask("POST", path).by(&helper.token).json(json!({"state": state}).to_string()).ok();
        assert!(kept(&house).is_empty(), "{state}");
        house.send(&helper, &unsigned(&helper, "bob")).refused(401, "signature_required");
        // A token alone brings no other key in.
        let again = house.ask("PUT", path_of("helper")).by(&helper.token).json(r#"{"custody":"exchange"}"#);
        assert_eq!(again.refused(403, "not_allowed")["at"], "/custody");
        assert!(kept(&house).is_empty(), "{state}");
        let house = house.restart();
        house.send(&helper, &unsigned(&helper, "bob")).refused(401, "signature_required");
        // An operator does.
        house.ask("PUT", path_of("helper")).by(&house.operator).json(r#"{"custody":"exchange"}"#).ok();
        house.send(&helper, &unsigned(&helper, "bob")).ok();
    }
}

#[test]
fn who_opts_out_signs_for_itself_again() {
    let house = House::open();
    let (helper, _) = (entrust(&house, "helper"), house.admit("bob"));
    house.ask("PUT", path_of("helper")).by(&helper.token).json(r#"{"custody":"own"}"#).ok();
    assert_eq!(keys(&house, "helper")[0]["state"], "RETIRED");
    assert!(kept(&house).is_empty());
    house.send(&helper, &unsigned(&helper, "bob")).refused(401, "signature_required");
    let own = json!({"keys": [helper.key.public()]}).to_string();
    house.ask("PUT", path_of("helper")).by(&house.operator).json(own).ok();
    house.send(&helper, &unsigned(&helper, "bob")).refused(401, "signature_required");
    let sent = house.send(&helper, &helper.vcp("bob", "by myself")).ok();
    assert!(!sent["receipt"]["entry"]["effect"].as_str().unwrap().contains("custody"));
    // One that has a key of its own is entrusted to the exchange by an operator alone, in place of that key.
    let entrust = || house.ask("PUT", path_of("helper"));
    entrust().by(&helper.token).json(r#"{"custody":"exchange"}"#).refused(403, "not_allowed");
    entrust().by(&house.operator).json(r#"{"custody":"exchange"}"#).ok();
    house.send(&helper, &helper.vcp("bob", "by myself")).refused(401, "key_revoked");
    house.send(&helper, &unsigned(&helper, "bob")).ok();
    let both = json!({"custody": "exchange", "keys": [helper.key.public()]}).to_string();
    entrust().by(&house.operator).json(both).refused(422, "schema_invalid");
}

#[test]
fn an_agent_that_never_had_a_key_may_opt_in_by_itself() {
    let house = House::open();
    let bob = house.admit("bob");
    let mut plain = Party::new("plain");
    house.ask("PUT", path_of("plain")).json("{}").ok()["token"].as_str().unwrap().clone_into(&mut plain.token);
    house.send(&plain, &unsigned(&plain, "bob")).refused(401, "signature_required");
    let opt_in = |token: &str| house.ask("PUT", path_of("plain")).by(token).json(r#"{"custody":"exchange"}"#);
    opt_in(&bob.token).refused(403, "not_allowed");
    assert!(kept(&house).is_empty());
    opt_in(&plain.token).ok();
    house.send(&plain, &unsigned(&plain, "bob")).ok();
    // To ask again, by whoever may, changes nothing.
    let before = keys(&house, "plain");
    opt_in(&house.operator).ok();
    assert_eq!((keys(&house, "plain"), kept(&house).len()), (before, 1));
}

#[test]
fn who_is_suspended_or_removed_or_has_another_token_is_not_signed_for() {
    let house = House::open();
    let (helper, _) = (entrust(&house, "helper"), house.admit("bob"));
    let operator = |method, path: &str| house.ask(method, format!("/v1/agents/helper{path}")).by(&house.operator);
    operator("POST", "/suspend").json(r#"{"reason":"look"}"#).ok();
    house.send(&helper, &unsigned(&helper, "bob")).refused(423, "agent_suspended");
    operator("POST", "/resume").json(r#"{"reason":"fine"}"#).ok();
    house.send(&helper, &unsigned(&helper, "bob")).ok();
    let token = operator("PUT", "").json(r#"{"rotate_token":true}"#).ok()["token"].as_str().unwrap().to_owned();
    let renewed = Party { token, ..Party::new("helper") };
    house.send(&renewed, &unsigned(&renewed, "bob")).ok();
    house.send(&helper, &unsigned(&helper, "bob")).refused(401, "unauthenticated");
    assert_eq!(kept(&house).len(), 1);
    operator("DELETE", "").get().ok();
    assert!(kept(&house).is_empty());
    house.send(&renewed, &unsigned(&renewed, "bob")).refused(401, "unauthenticated");
    // Whoever gets the name later gets another key.
    let again = house.ask("PUT", path_of("helper")).by(&house.operator).json(r#"{"custody":"exchange"}"#).ok();
    assert_eq!(again["agent"]["keys"].as_array().unwrap().len(), 1);
}

#[test]
fn a_key_that_is_kept_outlives_a_restart_and_a_change_of_the_ring() {
    let house = House::open();
    let (helper, _) = (entrust(&house, "helper"), house.admit("bob"));
    let public = keys(&house, "helper");
    // What nobody has any more goes at the next start.
    let stray = house.data().join(format!("record/safe/{}.sealed", "0".repeat(64)));
    fs::write(&stray, "left by a crash").unwrap();
    let house = house.restart();
    assert!(!stray.exists());
    house.send(&helper, &unsigned(&helper, "bob")).ok();
    house.ask("POST", "/v1/storage/rotate").by(&house.operator).json("{}").ok();
    let ring = || house.ask("GET", "/v1/storage").by(&house.operator).get().ok()["keys"].as_array().unwrap().len();
    while ring() > 1 {}
    let house = house.restart();
    house.send(&helper, &unsigned(&helper, "bob")).ok();
    assert_eq!(keys(&house, "helper"), public);
}

#[test]
fn where_strangers_do_not_register_they_make_no_keys() {
    let house = House::under(legation_exchange::Policy::default());
    house.ask("PUT", path_of("helper")).json(r#"{"custody":"exchange"}"#).refused(401, "unauthenticated");
    house.ask("PUT", path_of("helper")).json(r#"{"custody":"mine"}"#).refused(422, "schema_invalid");
    assert!(kept(&house).is_empty());
    house.ask("PUT", path_of("helper")).by(&house.operator).json(r#"{"custody":"exchange"}"#).ok();
    assert_eq!(kept(&house).len(), 1);
}
