//! What was revoked: refused at once wherever it was in use, on a list that any tool can check, and stapled
//! nowhere.

use crate::handshake::{asking, identity, offering};
use crate::house::{Answer, House, encoded, path_of};
use crate::mcp::Client;
use crate::mcp::client::BOTH;
use crate::words::Party;
use crate::ws::Socket;
use crate::ws::binding::{challenged, signed};
use legation_exchange::record::Hash;
use legation_exchange::revocation::{List, Of, Signed, Staple, key_hash};
use legation_protocol::sign::{SecretKey, Signature};
use legation_server::Negotiation;
use serde_json::json;
use std::process::Command;
use std::time::Duration;

const LIST: &str = "/.well-known/legation/revocations";

fn withdraw(house: &House, party: &Party, state: &str, reason: &str) {
    let path = format!("{}/keys/{}", path_of(&party.id), encoded(&party.key.public().to_string()));
    house.ask("POST", path).by(&house.operator).json(json!({"state": state, "reason": reason}).to_string()).ok();
}

fn revoke(house: &House, token: &str, reason: &str) {
    let body = json!({"token": token, "reason": reason}).to_string();
    house.ask("POST", "/v1/identities/revoke").by(&house.operator).json(body).ok();
}

fn key_staple(house: &House, party: &Party) -> Answer {
    let key = encoded(&party.key.public().to_string());
    house.ask("GET", format!("{}/keys/{key}/staple", path_of(&party.id))).by(&party.token).get()
}

fn identity_staple(house: &House, token: &str) -> Answer {
    house.ask("GET", format!("/v1/identities/{}/staple", Hash::of(&[token.as_bytes()]))).get()
}

fn statement(answer: &Answer) -> Signed {
    assert_eq!(answer.status, 200, "{answer:?}");
    let signature = Signature::parse(answer.headers["legation-signature"].to_str().unwrap()).unwrap();
    Signed { statement: answer.text.clone(), signature }
}

fn listed(house: &House) -> List {
    let signed = statement(&house.ask("GET", LIST).get());
    assert!(signed.is_by(&SecretKey::from_pem(&house.exchange_pem()).unwrap().public()));
    List::parse(&signed.statement).unwrap()
}

/// Whether `openssl` says that the published key signed these bytes.
fn openssl_verifies(house: &House, statement: &[u8], signature: &Signature) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let published = house.ask("GET", "/.well-known/legation/keys").get().ok();
    let key = published["keys"][0]["public"].as_str().unwrap().strip_prefix("ed25519:").unwrap().to_owned();
    let pem = format!("-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA{key}\n-----END PUBLIC KEY-----\n");
    let put = |name: &str, bytes: &[u8]| std::fs::write(folder.path().join(name), bytes).unwrap();
    put("exchange.pem", pem.as_bytes());
    put("statement.json", statement);
    put("statement.sig", &signature.to_bytes());
    let verify = ["pkeyutl", "-verify", "-pubin", "-inkey", "exchange.pem", "-rawin"];
    let files = ["-in", "statement.json", "-sigfile", "statement.sig"];
    let run = Command::new("openssl").args(verify).args(files).current_dir(folder.path()).output().unwrap();
    let said = String::from_utf8_lossy(&run.stdout);
    assert!(said.contains("Signature Verif"), "openssl said {said:?} {:?}", String::from_utf8_lossy(&run.stderr));
    run.status.success()
}

#[test]
fn the_list_has_what_was_revoked_by_hash_with_reasons_and_times() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let (token, other) = (identity(&house, "user_42"), identity(&house, "user_43"));
    let empty = listed(&house);
    assert_eq!((empty.entries.len(), empty.realm.as_str(), empty.epoch), (0, "local", 1));
    withdraw(&house, &ann, "COMPROMISED", "in a public repository");
    revoke(&house, &token, "left");
    let list = listed(&house);
    assert!(list.sequence > empty.sequence && list.issued_at < list.next_update, "{list:?}");
    let key = list.find(Of::Key, &key_hash("ann", &ann.key.public())).unwrap();
    assert_eq!((key.reason.as_deref(), key.compromised), (Some("in a public repository"), true));
    let told = list.find(Of::Identity, &Hash::of(&[token.as_bytes()])).unwrap();
    assert_eq!((told.reason.as_deref(), told.compromised), (Some("left"), false));
    assert!(key.at < told.at && list.entries.len() == 2, "{list:?}");
    for (of, hash) in [(Of::Key, key_hash("bob", &bob.key.public())), (Of::Identity, Hash::of(&[other.as_bytes()]))] {
        assert_eq!(list.find(of, &hash), None);
    }
    // Neither names nor tokens are there to be read.
    let text = list.to_canonical();
    assert!(!["ann", "user_42", token.as_str()].iter().any(|word| text.contains(word)), "{text}");
}

#[test]
fn a_list_is_kept_until_something_is_revoked() {
    let house = House::open();
    let ann = house.admit("ann");
    let first = house.ask("GET", LIST).get();
    let tag = first.headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(first.headers["cache-control"], "public, max-age=60");
    let known = || house.ask("GET", LIST).header("if-none-match", &tag).get();
    assert_eq!((known().status, known().text.as_str()), (304, ""));
    assert_eq!(house.ask("GET", LIST).get().text, first.text);
    withdraw(&house, &ann, "REVOKED", "old");
    let new = known();
    assert!(new.status == 200 && new.headers["etag"] != *tag, "{new:?}");
}

#[test]
fn openssl_alone_verifies_the_list_and_staples_and_finds_one_changed_byte() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let token = identity(&house, "user_42");
    withdraw(&house, &bob, "REVOKED", "lost");
    let answers = [house.ask("GET", LIST).get(), key_staple(&house, &ann), identity_staple(&house, &token)];
    for signed in answers.iter().map(statement) {
        let bytes = signed.statement.as_bytes();
        assert!(openssl_verifies(&house, bytes, &signed.signature), "{}", signed.statement);
        for place in [0, bytes.len() / 2, bytes.len() - 1] {
            let mut changed = bytes.to_vec();
            changed[place] ^= 1;
            assert!(!openssl_verifies(&house, &changed, &signed.signature), "byte {place}");
        }
        let mut other = signed.signature.to_bytes();
        other[7] ^= 1;
        assert!(!openssl_verifies(&house, bytes, &Signature::from_bytes(other)));
    }
}

#[test]
fn what_counts_is_stapled_and_what_was_revoked_is_not() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let (token, exchange) = (identity(&house, "user_42"), SecretKey::from_pem(&house.exchange_pem()).unwrap().public());
    let key = (Of::Key, key_hash("ann", &ann.key.public()));
    let signed = statement(&key_staple(&house, &ann));
    let of = Staple::parse(&signed.statement).unwrap();
    let age = Duration::from_mins(5);
    let staple = Staple::verify(&signed, &exchange, key, of.as_of, age).unwrap();
    assert_eq!((staple.state.as_str(), staple.not_after), ("ACTIVE", None));
    let about = (Of::Identity, Hash::of(&[token.as_bytes()]));
    let signed = statement(&identity_staple(&house, &token));
    assert!(Staple::verify(&signed, &exchange, about, of.as_of, age).unwrap().not_after.is_some());
    // Only for those who are somebody, and only what there is.
    let path = |party: &Party, key: &str| format!("{}/keys/{}/staple", path_of(&party.id), encoded(key));
    let public = ann.key.public().to_string();
    house.ask("GET", path(&ann, &public)).get().refused(401, "unauthenticated");
    house.ask("GET", path(&bob, &public)).by(&bob.token).get().refused(404, "not_found");
    house.ask("GET", path(&ann, "ed25519:x")).by(&bob.token).get().refused(422, "bad_key");
    house.ask("GET", "/v1/identities/sha256:x/staple").get().refused(422, "schema_invalid");
    withdraw(&house, &ann, "REVOKED", "x");
    revoke(&house, &token, "x");
    key_staple(&house, &ann).refused(401, "key_revoked");
    let gone = identity_staple(&house, &token).refused(404, "not_found");
    assert_eq!(gone, identity_staple(&house, "vcp:i:never").refused(404, "not_found"));
}

#[test]
fn what_was_withdrawn_stays_so_through_a_restart_and_when_its_agent_goes_and_comes_again() {
    let house = House::open();
    let ann = house.admit("ann");
    withdraw(&house, &ann, "REVOKED", "lost");
    let hash = key_hash("ann", &ann.key.public());
    let before = listed(&house).find(Of::Key, &hash).cloned().unwrap();
    house.ask("DELETE", "/v1/agents/ann").by(&house.operator).get().ok();
    let house = house.restart();
    assert_eq!(listed(&house).find(Of::Key, &hash), Some(&before));
    let again = json!({"keys": [ann.key.public().to_string()]}).to_string();
    house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(again).refused(401, "key_revoked");
    let fresh = json!({"keys": [Party::new("ann").key.public().to_string()]}).to_string();
    house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(fresh).ok();
    let body = json!({"key": ann.key.public().to_string()}).to_string();
    house.ask("POST", "/v1/agents/ann/keys").by(&house.operator).json(body).refused(401, "key_revoked");
}

#[test]
fn the_very_next_frame_under_a_withdrawn_key_is_refused() {
    for state in ["COMPROMISED", "REVOKED"] {
        let house = House::open();
        let (ann, bob) = (house.admit("ann"), house.admit("bob"));
        let (mut bound, challenge) = challenged(&house);
        bound.say(signed(&challenge, "ann", &ann).to_string());
        assert_eq!(bound.json()["type"], "bound");
        let mut framed = Socket::framed(&house, &ann.token, "?deliver=off");
        framed.say(ann.vcp("bob", "in time"));
        assert_eq!(framed.json()["status"], "accepted");
        withdraw(&house, &ann, state, "lost");
        framed.say(ann.vcp("bob", "too late"));
        assert_eq!(framed.json()["error"], "key_revoked");
        bound.closes(1008, "key_revoked");
        assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn the_very_next_ask_under_a_revoked_identity_is_refused_on_every_door() {
    let house = offering(Negotiation { wait: Duration::from_mins(10), ..Negotiation::default() });
    let ann = house.admit("ann");
    let token = identity(&house, "user_42");
    let hello = asking(&["VCP-X-Personal"], Some(&token));
    let ack = house.ask("POST", "/v1/hello").by(&ann.token).json(&hello).ok();
    let session = ack["session_id"].as_str().unwrap();
    let http = || {
        let ask = house.ask("GET", "/v1/extensions/VCP-X-Personal/state").by(&ann.token);
        ask.header("legation-session", session).get()
    };
    let mut socket = Socket::framed(&house, &ann.token, "?deliver=off");
    socket.say(&hello);
    assert_eq!(socket.json()["type"], "vcp-ack");
    let frame = json!({"type": "extension", "extension": "VCP-X-Personal", "ask": "state"}).to_string();
    let hosts = BOTH.map(|generation| {
        Client::greeting(&house, &ann.token, generation, Some(serde_json::from_str(&hello).unwrap()))
    });
    socket.say(&frame);
    assert_eq!(socket.json()["type"], "answer");
    http().ok();
    for host in &hosts {
        host.done("vcp_personal_state", json!({}));
    }
    revoke(&house, &token, "left");
    socket.say(&frame);
    assert_eq!(socket.json()["error"], "unauthenticated");
    http().refused(401, "unauthenticated");
    for host in &hosts {
        let answer = host.ask("tools/call", json!({"name": "vcp_personal_state", "arguments": {}}));
        assert!(answer["error"].is_object() || answer["result"]["isError"] == true, "{answer}");
        assert!(!answer.to_string().contains("\"signals\""), "{answer}");
    }
    assert!(listed(&house).find(Of::Identity, &Hash::of(&[token.as_bytes()])).is_some());
}

#[test]
fn revocation_is_told_to_be_on_only_while_its_list_verifies_under_the_key_that_is_kept() {
    let house = offering(Negotiation { wait: Duration::from_mins(10), ..Negotiation::default() });
    let ann = house.admit("ann");
    let hello = asking(&[], None);
    let greet = || house.ask("POST", "/v1/hello").by(&ann.token).json(&hello);
    assert_eq!(greet().ok()["core_features"]["revocation"], true);
    let mut negotiated = Socket::framed(&house, &ann.token, "?deliver=off");
    negotiated.say(&hello);
    assert_eq!(negotiated.json()["type"], "vcp-ack");
    // Another key lies where the exchange's own did: what it signs next, nobody could check.
    let path = house.data().join("exchange.pem");
    std::fs::write(&path, SecretKey::from_seed(&[9; 32]).to_pem().unwrap().as_bytes()).unwrap();
    negotiated.closes(1011, "core_feature_lost");
    let lost = greet();
    assert_eq!((lost.status, lost.json()["code"].as_str()), (503, Some("INTERNAL_ERROR")));
}
