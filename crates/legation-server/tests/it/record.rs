//! The record over HTTP: entries for those who may see them, proofs for everybody.

use crate::house::House;
use crate::receipts::published;
use legation_exchange::record::{
    Checkpoint, Disclosed, Hash, Receipt, SignedCheckpoint, verify_consistency, verify_inclusion,
};
use serde_json::Value;

fn checkpoint(house: &House, covers: u64) -> Checkpoint {
    loop {
        let head = house.ask("GET", "/v1/audit/head").get().ok();
        if head["checkpoint"]["size"].as_u64().is_some_and(|size| size >= covers) {
            let signed = SignedCheckpoint::parse(&head["checkpoint"].to_string()).unwrap();
            return signed.verify(&published(house)).unwrap().clone();
        }
    }
}

fn hashes(value: &Value) -> Vec<Hash> {
    serde_json::from_value(value.clone()).unwrap()
}

fn hash(value: &Value) -> Hash {
    value.as_str().unwrap().parse().unwrap()
}

#[derive(serde::Deserialize)]
struct Listed {
    entries: Vec<Disclosed>,
    next: Option<u64>,
}

fn entries(house: &House, query: &str) -> (Vec<Disclosed>, Option<u64>) {
    let answer = house.ask("GET", format!("/v1/audit/entries{query}")).by(&house.operator).get();
    assert_eq!(answer.status, 200, "{answer:?}");
    let Listed { entries, next } = serde_json::from_str(&answer.text).unwrap();
    (entries, next)
}

#[test]
fn a_start_signs_what_there_is() {
    let house = House::open();
    house.admit("ann");
    let house = house.restart();
    let head = house.ask("GET", "/v1/audit/head").get().ok();
    let signed = SignedCheckpoint::parse(&head["checkpoint"].to_string()).unwrap();
    assert_eq!(head["size"], signed.verify(&published(&house)).unwrap().size, "{head}");
}

#[test]
fn a_receipt_leads_to_a_checkpoint_and_the_checkpoint_to_a_later_one() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let receipt = house.send(&ann, &ann.cap("bob", "Go on.")).ok()["receipt"].to_string();
    let stated = Receipt::parse(&receipt).unwrap().verify(&published(&house)).unwrap();
    let early = checkpoint(&house, 3);
    let proof = house.ask("GET", "/v1/audit/proof?position=2").get().ok();
    assert_eq!((proof["size"].as_u64(), &proof["checkpoint"]["size"]), (Some(early.size), &early.size.into()));
    assert_eq!((hash(&proof["leaf"]), hash(&proof["root"])), (stated.leaf, early.root));
    assert!(verify_inclusion(stated.leaf, 2, early.size, early.root, &hashes(&proof["path"])));
    for n in 0..20 {
        house.send(&ann, &ann.cap("bob", &n.to_string())).ok();
    }
    let late = checkpoint(&house, 23);
    let grown = house.ask("GET", format!("/v1/audit/consistency?from={}&to={}", early.size, late.size)).get().ok();
    assert_eq!((hash(&grown["from_root"]), hash(&grown["to_root"])), (early.root, late.root));
    assert!(verify_consistency(early.size, late.size, early.root, late.root, &hashes(&grown["proof"])));
    let whole = house.ask("GET", "/v1/audit/consistency?from=3").get().ok();
    assert_eq!(whole["to"], whole["checkpoint"]["size"]);
    // Of the same entry in the longer record, and of any size asked for.
    for size in 3..=late.size {
        let proof = house.ask("GET", format!("/v1/audit/proof?position=2&size={size}")).get().ok();
        assert!(verify_inclusion(stated.leaf, 2, size, hash(&proof["root"]), &hashes(&proof["path"])));
    }
}

#[test]
fn entries_open_to_the_leaves_that_proofs_are_about() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let message = ann.cap("bob", "canary").replace(',', " , ");
    house.send(&ann, &message).ok();
    let (listed, next) = entries(&house, "");
    assert_eq!((listed.len(), next), (3, Some(2)));
    assert!(listed.iter().all(Disclosed::is_sound) && listed.iter().all(|entry| entry.body.is_none()));
    let proof = house.ask("GET", "/v1/audit/proof?position=2&size=3").get().ok();
    assert_eq!(hash(&proof["leaf"]), listed[2].leaf);
    let (bodies, _) = entries(&house, "?after=1&include=body");
    assert_eq!(bodies.iter().map(|entry| entry.body.as_deref()).collect::<Vec<_>>(), [Some(message.as_str())]);
    let (page, next) = entries(&house, "?limit=2");
    assert_eq!((page.len(), next), (2, Some(1)));
    let (none, next) = entries(&house, "?after=2");
    assert_eq!((none.len(), next), (0, Some(2)));
}

#[test]
fn who_waits_for_an_entry_gets_it_when_it_is_committed() {
    let house = House::open();
    assert_eq!(entries(&house, "").1, None);
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| entries(&house, "?wait=60"));
        house.admit("ann");
        let (found, next) = waits.join().unwrap();
        assert_eq!((found.len(), next), (1, Some(0)));
    });
}

#[test]
fn entries_are_for_those_who_see_all() {
    let house = House::open();
    let ann = house.admit("ann");
    house.ask("GET", "/v1/audit/entries").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/audit/entries").by(&ann.token).get().refused(403, "not_allowed");
}

#[test]
fn what_cannot_be_is_refused() {
    let house = House::open();
    house.admit("ann");
    let check = |path: &str, status, code| {
        house.ask("GET", format!("/v1/audit/{path}")).by(&house.operator).get().refused(status, code);
    };
    for bad in ["entries?limit=0", "entries?limit=1001", "entries?wait=61", "consistency?from=2&to=1"] {
        check(bad, 422, "out_of_range");
    }
    for bad in [
        "entries?after=x",
        "entries?after=-1",
        "entries?include=salt",
        "entries?limt=1",
        "proof",
        "proof?position=x",
        "proof?position=0&size=-1",
        "consistency",
        "consistency?to=1",
    ] {
        check(bad, 422, "schema_invalid");
    }
    for beyond in ["proof?position=1&size=1", "proof?position=0&size=2", "consistency?from=0&to=2"] {
        check(beyond, 404, "not_found");
    }
}
