//! Receipts: in the answer of every door, under the published key, the same each time.

use crate::house::House;
use crate::streams::Reading;
use crate::words::Party;
use crate::ws::Socket;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use legation_exchange::Policy;
use legation_exchange::record::{Receipt, Stated};
use legation_protocol::Received;
use legation_protocol::sign::PublicKey;
use serde_json::{Value, json};

const VCP: &str = "/.well-known/vcp/messages";

/// The key as everybody gets it.
pub(crate) fn published(house: &House) -> PublicKey {
    let keys = house.ask("GET", "/.well-known/legation/keys").get().ok();
    PublicKey::parse(keys["keys"][0]["public"].as_str().unwrap()).unwrap()
}

/// Makes sure that a receipt is about this message, and verifies.
#[track_caller]
fn verified(receipt: &Value, message: &str, key: &PublicKey) -> Stated {
    let receipt = Receipt::parse(&receipt.to_string()).unwrap_or_else(|bad| panic!("{bad}: {receipt}"));
    let stated = receipt.verify(key).unwrap();
    assert!(stated.is_about(Received::read(message.as_bytes()).unwrap().digest()));
    assert_eq!(stated.realm, "local");
    stated
}

fn from_header(answer: &crate::house::Answer) -> Value {
    let text = STANDARD.decode(answer.headers["legation-receipt"].as_bytes()).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn every_dialect(ann: &Party) -> [String; 4] {
    [ann.vcp("bob", "all quiet"), ann.cap("bob", "Go on."), ann.acl("bob"), ann.vlp("bob")]
}

#[test]
fn every_door_gives_the_same_receipt_again_and_again() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent = every_dialect(&ann);
    let key = published(&house);
    let first: Vec<_> = sent.iter().map(|message| house.send(&ann, message).ok()).collect();
    for (answer, message) in first.iter().zip(&sent) {
        let stated = verified(&answer["receipt"], message, &key);
        assert_eq!(
            (answer["position"].as_u64(), answer["message_id"].as_str()),
            (Some(stated.position), Some(stated.message_id.as_str()))
        );
    }
    let check = |house: &House| {
        let lines = house.ask("POST", "/v1/messages").by(&ann.token).lines(sent.join("\n"));
        for (line, answer) in lines.text.lines().zip(&first) {
            let line: Value = serde_json::from_str(line).unwrap();
            assert_eq!((&line["status"], &line["receipt"]), (&"duplicate".into(), &answer["receipt"]));
        }
        let binding = house.ask("POST", VCP).json(&sent[0]);
        assert_eq!(from_header(&binding), first[0]["receipt"]);
        let listed = house.inbox(&bob, "");
        let receipts = listed["messages"].as_array().unwrap().iter().map(|item| &item["receipt"]);
        assert!(receipts.eq(first.iter().map(|answer| &answer["receipt"])), "{listed}");
    };
    check(&house);
    let house = house.restart();
    check(&house);
    assert_eq!(published(&house), key);
}

#[test]
fn a_stream_gets_receipts_from_few_signatures() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent: Vec<_> = (0..600).map(|n| ann.cap("bob", &n.to_string())).collect();
    let key = published(&house);
    let answer = house.ask("POST", "/v1/messages").by(&ann.token).lines(sent.join("\n"));
    let told: Vec<Value> = answer.text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 600);
    for (line, message) in told.iter().zip(&sent) {
        verified(&line["receipt"], message, &key);
    }
    let mut signatures: Vec<_> = told.iter().map(|line| line["receipt"]["batch"]["signature"].to_string()).collect();
    signatures.dedup();
    assert!(signatures.len() < 600);
    let house = house.restart();
    let listed = house.inbox(&bob, "?limit=1000");
    for (item, line) in listed["messages"].as_array().unwrap().iter().zip(&told) {
        assert_eq!(item["receipt"], line["receipt"]);
    }
}

#[test]
fn the_binding_carries_its_receipt_in_a_header() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let message = ann.vcp("bob", "all quiet");
    for _ in 0..2 {
        let answer = house.ask("POST", VCP).json(&message);
        let stated = verified(&from_header(&answer), &message, &published(&house));
        assert_eq!(answer.headers["legation-position"], stated.position.to_string());
        assert_eq!(answer.json().as_object().unwrap().len(), 2);
    }
}

/// So many that receipts of what goes to all of them are larger than a header may be.
fn crowd(house: &House) {
    for n in 0..100 {
        house.admit(&format!("agent-with-a-name-as-long-as-names-become-in-large-houses-{n}"));
    }
}

#[test]
fn a_receipt_that_no_header_holds_comes_by_the_other_door() {
    let house = House::open();
    let ann = house.admit("ann");
    crowd(&house);
    let message = ann.broadcast();
    let answer = house.ask("POST", VCP).json(&message);
    assert_eq!((answer.status, answer.headers.get("legation-receipt")), (200, None));
    let again = house.send(&ann, &message).ok();
    assert_eq!(again["status"], "duplicate");
    verified(&again["receipt"], &message, &published(&house));
}

/// An item that was streamed, by each of the ways.
fn streamed(house: &House, party: &Party) -> [Value; 3] {
    let mut framed = Socket::framed(house, &party.token, "").json();
    assert_eq!(framed.as_object_mut().unwrap().remove("type"), Some("item".into()));
    let path = format!("{}/stream", party.id);
    let event = Reading::open(house, &party.token, &path, "").event().2;
    [framed, event, Reading::open(house, &party.token, &path, "Accept: application/x-ndjson\r\n").object()]
}

/// Makes sure that an item has no receipt but says where it is, and that it is there.
#[track_caller]
fn told_elsewhere(house: &House, party: &Party, item: &Value, message: &str) -> Stated {
    assert_eq!(item.get("receipt"), None);
    let told = house.ask("GET", item["receipt_at"].as_str().unwrap()).by(&party.token).get().ok();
    verified(&told["receipt"], message, &published(house))
}

#[test]
fn what_goes_to_very_many_is_streamed_without_its_receipt_and_listed_with_it() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    crowd(&house);
    let message = ann.broadcast();
    let sent = house.send(&ann, &message).ok();
    for query in ["", "?wait=1", "?order=priority"] {
        let listed = &house.inbox(&bob, query)["messages"][0];
        assert_eq!((&listed["receipt"], listed.get("receipt_at")), (&sent["receipt"], None), "{query}");
    }
    let mut listed = house.inbox(&bob, "")["messages"][0].clone();
    listed.as_object_mut().unwrap().remove("receipt");
    listed["receipt_at"] = format!("/v1/messages/{}", sent["position"]).into();
    for item in streamed(&house, &bob) {
        assert_eq!(item, listed, "all else is as it is listed");
        let stated = told_elsewhere(&house, &bob, &item, &message);
        assert_eq!(Some(stated.position), item["position"].as_u64());
    }
    // It is for those it went to, and for operators, who may take from any mailbox.
    let by_operator = Party { token: house.operator.clone(), ..bob };
    told_elsewhere(&house, &by_operator, &listed, &message);
    let dan = house.admit("dan");
    house.ask("GET", listed["receipt_at"].as_str().unwrap()).by(&dan.token).get().refused(404, "not_found");
}

#[test]
fn a_receipt_goes_along_as_long_as_a_header_holds_it() {
    let house = House::open();
    let (ann, mut seen) = (house.admit("ann"), [false; 2]);
    for n in 0..60 {
        let name = format!("agent-with-a-name-as-long-as-names-become-in-large-houses-{n:03}-{}", "x".repeat(60));
        let last = house.admit(&name);
        let sent = house.send(&ann, &ann.broadcast()).ok();
        let item = Socket::framed(&house, &last.token, "").json();
        let is_small = sent["receipt"].to_string().len() <= 6 << 10;
        assert_eq!((item.get("receipt").is_some(), item.get("receipt_at").is_none()), (is_small, is_small), "{n}");
        seen[usize::from(is_small)] = true;
    }
    assert_eq!(seen, [true; 2]);
}

#[test]
fn who_got_it_later_is_told_the_receipt_too() {
    let house = House::under(Policy { open_registration: true, mailbox_limit: 1, ..Policy::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    crowd(&house);
    house.send(&ann, &ann.cap("bob", "fills the mailbox")).ok();
    let message = ann.broadcast();
    let missed = &house.send(&ann, &message).ok()["position"];
    let path = format!("/v1/messages/{missed}");
    house.ask("GET", &path).by(&bob.token).get().refused(404, "not_found");
    house.ask("POST", "/v1/agents/bob/purge").by(&house.operator).json("{}").ok();
    let again = json!({ "positions": [missed] }).to_string();
    let resent = house.ask("POST", "/v1/agents/bob/resend").by(&bob.token).json(again).ok();
    for item in streamed(&house, &bob) {
        assert_eq!((&item["position"], item["receipt_at"].as_str()), (&resent["position"], Some(path.as_str())));
        told_elsewhere(&house, &bob, &item, &message);
    }
}

#[test]
fn who_speaks_as_the_one_a_message_went_to_is_told_its_receipt() {
    let house = House::open();
    let (ann, rita, otto) = (house.admit("ann"), house.grant("rita", "reviewer"), house.grant("otto", "auditor"));
    let message = ann.cap("user", "for a person");
    let sent = house.send(&ann, &message).ok();
    let told = |by: &str| house.ask("GET", format!("/v1/messages/{}", sent["position"])).by(by).get().ok();
    verified(&told(&rita)["receipt"], &message, &published(&house));
    assert_eq!(told(&otto).get("receipt"), None);
}

#[test]
fn a_receipt_shows_neither_body_nor_salt_and_fails_when_changed() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let receipt = &house.send(&ann, &ann.cap("bob", "canary")).ok()["receipt"];
    assert!(!receipt.to_string().contains("canary"), "{receipt}");
    let later = receipt.to_string().replace(&format!("\"at\":{}", receipt["at"]), "\"at\":1");
    assert!(Receipt::parse(&later).unwrap().verify(&published(&house)).is_err());
}

#[test]
fn what_is_refused_has_no_receipt() {
    let house = House::open();
    let ann = house.admit("ann");
    let refused = house.send(&ann, &ann.cap("nobody", "Go on.")).refused(404, "unknown_recipient");
    assert_eq!(refused.get("receipt"), None);
}
