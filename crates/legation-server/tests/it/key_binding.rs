//! Keys that are bound to an agent, over HTTP: by messages and by proofs, for all that could register them again.

use crate::house::{Answer, House, encoded, path_of};
use crate::words::Party;
use legation_exchange::key_statement;
use serde_json::{Value, json};

fn proof(id: &str, party: &Party) -> String {
    let public = party.key.public();
    party.key.sign_bytes(key_statement("local", id, &public).as_bytes()).to_string()
}

fn put(house: &House, id: &str, by: Option<&str>, body: &Value) -> Answer {
    let ask = house.ask("PUT", path_of(id));
    by.map_or_else(|| house.ask("PUT", path_of(id)), |token| ask.by(token)).json(body.to_string())
}

fn add(house: &House, id: &str, by: &str, body: &Value) -> Answer {
    house.ask("POST", format!("{}/keys", path_of(id))).by(by).json(body.to_string())
}

fn withdraw(house: &House, party: &Party, state: &str) {
    let path = format!("{}/keys/{}", path_of(&party.id), encoded(&party.key.public().to_string()));
    house.ask("POST", path).by(&party.token).json(json!({"state": state}).to_string()).ok();
}

fn staple(house: &House, id: &str, party: &Party) -> Answer {
    let key = encoded(&party.key.public().to_string());
    house.ask("GET", format!("{}/keys/{key}/staple", path_of(id))).by(&house.operator).get()
}

#[test]
fn a_key_that_signed_registers_for_no_other_agent() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.send(&ann, &ann.vcp("bob", "a word")).ok();
    house.ask("POST", "/v1/agents/ann/suspend").by(&house.operator).json(r#"{"reason":"odd"}"#).ok();
    let key = ann.key.public().to_string();
    let house = house.restart();
    for new in [json!(key), json!({"key": key, "proof": proof("ann-2", &ann)})] {
        let body = json!({"keys": [new]});
        put(&house, "ann-2", None, &body).refused(409, "key_bound");
        put(&house, "ann-2", Some(&house.operator), &body).refused(409, "key_bound");
        let child = json!({"keys": [new], "parent": "bob"});
        put(&house, "ann-2", Some(&bob.token), &child).refused(409, "key_bound");
        let instance = json!({"keys": [new], "instance_of": "bob"});
        put(&house, "ann-2", Some(&bob.token), &instance).refused(409, "key_bound");
    }
    add(&house, "bob", &house.operator, &json!({"key": key})).refused(409, "key_bound");
    // The same registration again is no other one.
    let shown = put(&house, "ann", Some(&house.operator), &json!({"keys": [key]})).ok();
    assert_eq!(shown["agent"]["keys"][0]["proven"], true, "{shown}");
    house.send(&ann, &ann.vcp("bob", "another")).refused(423, "agent_suspended");
}

#[test]
fn a_proof_binds_a_key_when_it_is_registered_or_added() {
    let house = House::open();
    let (ann, next) = (Party::new("ann"), Party::new("ann"));
    let key = ann.key.public().to_string();
    let with = |proof: String| json!({"keys": [{"key": key, "proof": proof}]});
    put(&house, "ann", None, &with(proof("bob", &ann))).refused(401, "signature_invalid");
    put(&house, "ann", None, &with("base64:AAAA".to_owned())).refused(422, "schema_invalid");
    let realm = house.ask("GET", "/.well-known/legation/keys").get().ok()["realm"].clone();
    assert_eq!(realm, "local");
    assert_eq!(put(&house, "ann", None, &with(proof("ann", &ann))).status, 201);
    put(&house, "bob", None, &json!({"keys": [key]})).refused(409, "key_bound");
    let new = next.key.public().to_string();
    let bad = json!({"key": new, "key_proof": proof("bob", &next)});
    assert_eq!(add(&house, "ann", &house.operator, &bad).refused(401, "signature_invalid")["at"], "/key_proof");
    let good = json!({"key": new, "key_proof": proof("ann", &next)});
    assert_eq!(add(&house, "ann", &house.operator, &good).status, 201);
    put(&house, "bob", None, &json!({"keys": [new]})).refused(409, "key_bound");
}

#[test]
fn a_withdrawn_key_registers_for_nobody_also_after_a_restart() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.send(&ann, &ann.vcp("bob", "a word")).ok();
    withdraw(&house, &ann, "COMPROMISED");
    house.ask("DELETE", "/v1/agents/ann").by(&house.operator).get().ok();
    let house = house.restart();
    let key = ann.key.public().to_string();
    let child = json!({"keys": [{"key": key, "proof": proof("child", &ann)}], "parent": "bob"});
    assert!(put(&house, "child", Some(&bob.token), &child).status >= 400);
    put(&house, "ann", Some(&house.operator), &json!({"keys": [key]})).refused(401, "key_revoked");
}

#[test]
fn a_key_that_stands_with_two_agents_or_was_withdrawn_gets_no_staple() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    assert_eq!(staple(&house, "ann", &ann).status, 200);
    let key = ann.key.public().to_string();
    put(&house, "eve", None, &json!({"keys": [key]})).json();
    for id in ["ann", "eve"] {
        staple(&house, id, &ann).refused(409, "key_bound");
    }
    house.send(&ann, &ann.vcp("bob", "a word")).ok();
    assert!(staple(&house, "ann", &ann).ok()["state"] == "ACTIVE");
    staple(&house, "eve", &ann).refused(409, "key_bound");
    withdraw(&house, &ann, "REVOKED");
    for id in ["ann", "eve"] {
        staple(&house, id, &ann).refused(401, "key_revoked");
    }
    assert_eq!(staple(&house, "bob", &bob).status, 200);
}
