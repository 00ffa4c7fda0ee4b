//! Erasing: from the answer on nobody is shown what was said, and everything about it still verifies.

use crate::house::House;
use crate::receipts::published;
use crate::words::Party;
use legation_exchange::record::Receipt;
use serde_json::{Value, json};

/// A house where ann wrote to bob, who has read it all.
fn read() -> (House, Party, Party, Vec<Value>) {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let says = ["the wren sings", "the canary sings", "the finch sings"];
    let sent: Vec<_> = says.iter().map(|says| house.send(&ann, &ann.cap("bob", says)).ok()).collect();
    let last = sent[2]["position"].clone();
    house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(json!({"position": last}).to_string()).ok();
    (house, ann, bob, sent)
}

fn erase(house: &House, wanted: &Value) -> Value {
    house.ask("POST", "/v1/erase").by(&house.operator).json(wanted.to_string()).ok()
}

/// Waits until nothing that was erased is on the disk.
fn cleared(house: &House) {
    let pending = || house.ask("GET", "/v1/erase").by(&house.operator).get().ok()["pending"].as_u64();
    while pending() != Some(0) {
        std::thread::yield_now();
    }
}

fn found(house: &House, query: &str) -> usize {
    let path = format!("/v1/messages?{query}");
    house.ask("GET", path).by(&house.operator).get().ok()["messages"].as_array().unwrap().len()
}

#[test]
fn what_is_erased_is_shown_to_nobody_and_still_verifies() {
    let (house, ann, bob, sent) = read();
    let position = sent[1]["position"].as_u64().unwrap();
    assert_eq!(found(&house, "text=canary"), 1);
    let told = erase(&house, &json!({"message_id": sent[1]["message_id"], "reason": "asked for"}));
    assert_eq!((&told["status"], &told["messages"]), (&"erased".into(), &1.into()));
    let shown = |when: &str| {
        for token in [&house.operator, &ann.token, &bob.token] {
            let facts = house.ask("GET", format!("/v1/messages/{position}")).by(token).get().ok();
            assert_eq!((facts.get("message"), &facts["gone"]["why"]), (None, &"erased".into()), "{when}");
            assert_eq!((&facts["gone"]["by"], &facts["gone"]["reason"]), (&"operator".into(), &"asked for".into()));
            house.ask("GET", format!("/v1/messages/{position}/raw")).by(token).get().refused(410, "erased");
            let explained = house.ask("GET", format!("/v1/messages/{position}/explain")).by(token).get();
            assert!(!explained.text.contains("canary"));
        }
        assert_eq!((found(&house, "text=canary"), found(&house, "sender=ann")), (0, 3), "{when}");
        let all = house.ask("GET", "/v1/audit/entries?limit=1000&include=body").by(&house.operator).get();
        assert!(all.text.contains("wren") && all.text.contains("finch") && !all.text.contains("canary"), "{when}");
        let listed = house.ask("GET", "/v1/messages?include=message&limit=100").by(&house.operator).get();
        assert!(listed.text.contains("wren") && !listed.text.contains("canary"), "{when}");
        let told = house.ask("GET", "/v1/messages?include=gist&limit=100").by(&house.operator).get();
        assert!(told.text.contains("wren") && !told.text.contains("canary"), "{when}");
    };
    shown("at once");
    cleared(&house);
    shown("when cleared");
    let receipt = Receipt::parse(&sent[1]["receipt"].to_string()).unwrap();
    let stated = receipt.verify(&published(&house)).unwrap();
    let size = house.ask("GET", "/v1/audit/head").get().ok()["size"].as_u64().unwrap();
    let proof = house.ask("GET", format!("/v1/audit/proof?position={position}&size={size}")).get().ok();
    assert_eq!(proof["leaf"], json!(stated.leaf));
    let house = house.restart();
    house.ask("GET", format!("/v1/messages/{position}/raw")).by(&house.operator).get().refused(410, "erased");
    assert_eq!((found(&house, "text=canary"), found(&house, "text=finch")), (0, 1));
}

#[test]
fn an_erase_again_changes_nothing() {
    let (house, _, _, sent) = read();
    let wanted = json!({"positions": [sent[0]["position"], sent[1]["position"]]});
    assert_eq!(erase(&house, &wanted)["messages"], 2);
    cleared(&house);
    let size = house.ask("GET", "/v1/audit/head").get().ok()["size"].clone();
    let again = erase(&house, &wanted);
    let expected = (json!("nothing_to_erase"), json!(0), json!(2));
    assert_eq!((again["status"].clone(), again["messages"].clone(), again["already"].clone()), expected);
    assert_eq!(house.ask("GET", "/v1/audit/head").get().ok()["size"], size);
}

#[test]
fn what_has_not_reached_everybody_is_erased_only_where_that_is_said() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let position = house.send(&ann, &ann.cap("bob", "canary")).ok()["position"].clone();
    let wanted = json!({"positions": [position]});
    let dry = erase(&house, &json!({"positions": [position], "dry_run": true}));
    assert_eq!((&dry["status"], &dry["undelivered"]), (&"dry_run".into(), &1.into()));
    house.ask("POST", "/v1/erase").by(&house.operator).json(wanted.to_string()).refused(409, "undelivered");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    erase(&house, &json!({"positions": [position], "undelivered": true}));
    assert_eq!(house.inbox(&bob, "")["messages"], json!([]));
    // One that lies among the dead letters, too.
    let position = house.send(&ann, &ann.cap("bob", "canary")).ok()["position"].clone();
    house.ask("DELETE", "/v1/agents/bob").by(&house.operator).get().ok();
    let wanted = json!({"positions": [position]});
    house.ask("POST", "/v1/erase").by(&house.operator).json(wanted.to_string()).refused(409, "undelivered");
    erase(&house, &json!({"positions": [position], "undelivered": true}));
    assert_eq!(house.ask("GET", "/v1/dead-letters").by(&house.operator).get().ok()["letters"], json!([]));
}

#[test]
fn a_subject_is_erased_with_all_it_sent_and_got() {
    let house = House::open();
    let (ann, bob, cid) = (house.admit("ann"), house.admit("bob"), house.admit("cid"));
    for (from, to) in [(&ann, "bob"), (&bob, "ann"), (&bob, "cid"), (&cid, "ann"), (&ann, "cid")] {
        house.send(from, &from.cap(to, "a word")).ok();
    }
    let count = |subject: Value| {
        let told = erase(&house, &json!({"subject": subject, "dry_run": true}));
        told["messages"].as_u64().unwrap()
    };
    assert_eq!(count(json!({"agent": "ann"})), 4);
    assert_eq!(count(json!({"agent": "ann", "sent": true})), 2);
    assert_eq!(count(json!({"agent": "ann", "received": true})), 2);
    assert_eq!(count(json!({"agent": "ann", "before": "2020-01-01T00:00:00Z"})), 0);
    assert_eq!(count(json!({"agent": "ann", "thread": "T1"})), 4);
    assert_eq!(count(json!({"agent": "ann", "thread": "T2"})), 0);
    assert_eq!(count(json!({"agent": "nobody"})), 0);
    let told = erase(&house, &json!({"subject": {"agent": "ann"}, "undelivered": true}));
    assert_eq!((&told["messages"], told["entries"].as_array().unwrap().len()), (&4.into(), 1));
    assert_eq!(house.inbox(&cid, "")["messages"].as_array().unwrap().len(), 1);
    assert_eq!(count(json!({"agent": "ann"})), 0);
}

#[test]
fn what_is_erased_is_still_a_duplicate() {
    let (house, ann, _, _) = read();
    let message = ann.cap("bob", "once");
    let position = house.send(&ann, &message).ok()["position"].clone();
    erase(&house, &json!({"positions": [position], "undelivered": true}));
    cleared(&house);
    let again = house.send(&ann, &message).ok();
    assert_eq!((&again["status"], &again["position"]), (&"duplicate".into(), &position));
    assert!(Receipt::parse(&again["receipt"].to_string()).unwrap().verify(&published(&house)).is_ok());
}

#[test]
fn only_an_operator_erases_and_only_messages() {
    let (house, ann, _, sent) = read();
    let wanted = json!({"positions": [sent[0]["position"]]}).to_string();
    let auditor = house.grant("audrey", "auditor");
    for token in [&ann.token, &auditor, &house.grant("rita", "reviewer")] {
        house.ask("POST", "/v1/erase").by(token).json(&wanted).refused(403, "not_allowed");
    }
    house.ask("POST", "/v1/erase").json(&wanted).refused(401, "unauthenticated");
    let refuse = |wanted: Value, status, code| {
        house.ask("POST", "/v1/erase").by(&house.operator).json(wanted.to_string()).refused(status, code);
    };
    refuse(json!({"positions": [0]}), 404, "not_found");
    refuse(json!({"positions": [99]}), 404, "not_found");
    refuse(json!({"message_id": "m-none"}), 404, "not_found");
    refuse(json!({"positions": []}), 422, "out_of_range");
    refuse(json!({}), 422, "schema_invalid");
    refuse(json!({"positions": [2], "subject": {"agent": "ann"}}), 422, "schema_invalid");
    refuse(json!({"positions": [2], "reason": "x".repeat(1001)}), 422, "out_of_range");
    house.ask("GET", "/v1/erase").by(&ann.token).get().refused(403, "not_allowed");
    house.ask("GET", "/v1/erase?include=list").by(&auditor).get().ok();
}
