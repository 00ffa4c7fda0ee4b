//! Keys over their lives: seen by all, changed by few, and dead at once.

use crate::house::{Answer, House, encoded, path_of};
use crate::words::{Party, fresh_id, time_from_now};
use legation_exchange::key_statement;
use legation_protocol::sign::{PublicKey, SecretKey};
use serde_json::{Value, json};

/// What the key in use signs to bring another in.
fn proof(party: &Party, new: &PublicKey) -> String {
    party.key.sign_bytes(key_statement("local", &party.id, new).as_bytes()).to_string()
}

fn add(house: &House, party: &Party, by: &str, body: &Value) -> Answer {
    house.ask("POST", format!("{}/keys", path_of(&party.id))).by(by).json(body.to_string())
}

fn change(house: &House, party: &Party, by: &str, key: &PublicKey, body: &Value) -> Answer {
    let path = format!("{}/keys/{}", path_of(&party.id), encoded(&key.to_string()));
    house.ask("POST", path).by(by).json(body.to_string())
}

fn other_key() -> SecretKey {
    Party::new("other").key
}

fn states(house: &House, party: &Party) -> Vec<String> {
    let shown = house.ask("GET", path_of(&party.id)).by(&party.token).get().ok();
    let keys = shown["keys"].as_array().unwrap().clone();
    keys.iter().map(|key| key["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn an_agent_changes_its_key_by_a_proof_of_the_one_in_use() {
    let house = House::open();
    let (mut ann, bob) = (house.admit("ann"), house.admit("bob"));
    let new = other_key();
    let public = new.public();
    // The token alone brings no key in: whoever steals it does not become the agent.
    add(&house, &ann, &ann.token, &json!({"key": public.to_string()})).refused(403, "not_allowed");
    let body = json!({"key": public.to_string(), "proof": proof(&bob, &public)});
    add(&house, &ann, &ann.token, &body).refused(401, "signature_invalid");
    let body = json!({"key": public.to_string(), "proof": "base64:AAAA"});
    add(&house, &ann, &ann.token, &body).refused(422, "signature_format");
    let body = json!({"key": public.to_string(), "proof": proof(&ann, &public)});
    let added = add(&house, &ann, &ann.token, &body);
    assert_eq!(added.status, 201, "{added:?}");
    let added = added.json();
    assert!(added["position"].is_u64());
    let (old, now) = (&added["agent"]["keys"][0], &added["agent"]["keys"][1]);
    assert_eq!((&old["state"], &now["state"]), (&json!("ROTATING"), &json!("ACTIVE")));
    assert!(old["not_after"].as_str().unwrap().ends_with('Z') && now.get("not_after").is_none(), "{added}");
    // Both count while the change goes on.
    house.send(&ann, &ann.vcp("bob", "old key")).ok();
    let old = std::mem::replace(&mut ann.key, new);
    house.send(&ann, &ann.vcp("bob", "new key")).ok();
    change(&house, &ann, &ann.token, &old.public(), &json!({"state": "RETIRED"})).ok();
    assert_eq!(states(&house, &ann), ["RETIRED", "ACTIVE"]);
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn what_a_key_signed_is_refused_from_the_moment_it_is_given_up() {
    for state in ["RETIRED", "COMPROMISED", "REVOKED"] {
        let house = House::open();
        let (ann, bob) = (house.admit("ann"), house.admit("bob"));
        let signed_before = ann.vcp("bob", "signed in time, sent too late");
        house.send(&ann, &ann.vcp("bob", "in time")).ok();
        change(&house, &ann, &ann.token, &ann.key.public(), &json!({"state": state})).ok();
        house.send(&ann, &signed_before).refused(401, "key_revoked");
        house.ask("POST", "/.well-known/vcp/messages").json(&signed_before).refused(401, "key_revoked");
        house.send(&ann, &ann.vcp("bob", "signed after")).refused(401, "key_revoked");
        // Whoever has nothing but the dead key brings no other in.
        let new = other_key().public();
        let body = json!({"key": new.to_string(), "proof": proof(&ann, &new)});
        add(&house, &ann, &ann.token, &body).refused(401, "signature_invalid");
        assert_eq!(states(&house, &ann), [state]);
        assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn nobody_takes_an_agent_over_by_registering_it_or_changing_its_keys() {
    let house = House::open();
    let (ann, eve) = (house.admit("ann"), house.admit("eve"));
    let theirs = json!({"keys": [eve.key.public().to_string()]}).to_string();
    house.ask("PUT", "/v1/agents/ann").json(&theirs).refused(409, "agent_exists");
    house.ask("PUT", "/v1/agents/ann").by(&eve.token).json(&theirs).refused(403, "not_allowed");
    // Not even the agent itself, by its token.
    house.ask("PUT", "/v1/agents/ann").by(&ann.token).json(&theirs).refused(403, "not_allowed");
    let key = eve.key.public();
    let body = json!({"key": key.to_string(), "proof": proof(&eve, &key)});
    add(&house, &ann, &ann.token, &body).refused(401, "signature_invalid");
    let body = json!({"key": key.to_string(), "proof": proof(&ann, &key)});
    add(&house, &ann, &eve.token, &body).refused(403, "not_allowed");
    let revoke = json!({"state": "REVOKED"});
    change(&house, &ann, &eve.token, &ann.key.public(), &revoke).refused(403, "not_allowed");
    let forged = eve.signed(&ann.unsigned_vcp("eve", "x", &fresh_id(), 0));
    house.ask("POST", "/v1/messages").json(forged).refused(401, "signature_invalid");
    assert_eq!(states(&house, &ann), ["ACTIVE"]);
}

#[test]
fn an_operator_brings_keys_in_to_wait_or_for_a_time() {
    let house = House::open();
    let ann = house.admit("ann");
    let key = other_key().public();
    let end = time_from_now(3600);
    let body = json!({"key": key.to_string(), "pending": true, "not_after": end});
    let added = add(&house, &ann, &house.operator, &body).ok();
    assert_eq!(added["agent"]["keys"][1], json!({"public": key.to_string(), "state": "PENDING", "not_after": end}));
    let listed = house.ask("GET", "/v1/agents/ann/keys").by(&ann.token).get().ok();
    assert_eq!((&listed["realm"], &listed["agent"]), (&json!("local"), &json!("ann")));
    assert_eq!(listed["keys"], added["agent"]["keys"]);
    let active = json!({"state": "ACTIVE"});
    change(&house, &ann, &ann.token, &key, &active).refused(403, "not_allowed");
    change(&house, &ann, &ann.token, &key, &json!({"state": "ACTIVE", "proof": proof(&ann, &key)})).ok();
    assert_eq!(states(&house, &ann), ["ROTATING", "ACTIVE"]);
    let third = other_key().public();
    add(&house, &ann, &house.operator, &json!({"key": third.to_string()})).refused(422, "too_many_keys");
}

#[test]
fn changes_that_make_no_sense_are_refused() {
    let house = House::open();
    let ann = house.admit("ann");
    let (own, key) = (ann.key.public(), other_key().public());
    let add = |body: Value| add(&house, &ann, &house.operator, &body);
    add(json!({})).refused(422, "schema_invalid");
    add(json!({"key": key.to_string(), "kye": 1})).refused(422, "schema_invalid");
    add(json!({"key": own.to_string()})).refused(409, "key_state");
    add(json!({"key": "ed25519:AAAA"})).refused(422, "bad_key");
    add(json!({"key": format!("ed25519:AQ{}=", "A".repeat(41))})).refused(422, "weak_key");
    add(json!({"key": key.to_string(), "not_after": "soon"})).refused(422, "bad_timestamp");
    add(json!({"key": key.to_string(), "not_after": time_from_now(-60)})).refused(409, "key_state");
    let change = |key: &PublicKey, state: &str| change(&house, &ann, &house.operator, key, &json!({"state": state}));
    change(&own, "PENDING").refused(409, "key_state");
    change(&own, "ACTIVE").refused(409, "key_state");
    change(&own, "DEAD").refused(422, "schema_invalid");
    change(&key, "RETIRED").refused(404, "not_found");
    let path = format!("/v1/agents/ann/keys/{}", encoded("ed25519:x"));
    house.ask("POST", path).by(&house.operator).json(r#"{"state":"RETIRED"}"#).refused(422, "bad_key");
    let path = format!("/v1/agents/nemo/keys/{}", encoded(&own.to_string()));
    house.ask("POST", path.clone()).by(&house.operator).json(r#"{"state":"RETIRED"}"#).refused(404, "unknown_agent");
    house.ask("POST", path).json(r#"{"state":"RETIRED"}"#).refused(401, "unauthenticated");
}
