//! What binds agents and how they are, over HTTP: constraints with their sources, constitutions, contexts.

use crate::house::{House, encoded, path_of};
use crate::words::{Party, fresh_id, time_from_now};
use legation_protocol::Received;
use serde_json::{Value, json};

/// Three generations and a stranger.
struct Family {
    house: House,
    grand: Party,
    parent: Party,
    child: Party,
    peer: Party,
}

fn family() -> Family {
    let house = House::open();
    let [grand, parent, child, peer] = ["grand", "parent", "child", "peer"].map(|id| house.admit(id));
    for (id, above) in [("parent", "grand"), ("child", "parent")] {
        let body = json!({"parent": above}).to_string();
        house.ask("PUT", path_of(id)).by(&house.operator).json(body).ok();
    }
    Family { house, grand, parent, child, peer }
}

fn vcp(from: &Party, to: &str, kind: &str, payload: &Value) -> String {
    let message = json!({
        "vcp_message": "1.2", "type": kind, "message_id": fresh_id(), "sender": from.id, "recipient": to,
        "timestamp": time_from_now(0), "payload": payload,
    });
    from.signed(&message.to_string())
}

fn rule(kind: &str, value: &Value) -> Value {
    json!({"type": kind, "value": value, "source_constitution_ref": "creed://creed.space/family.safe.guide@1.2.0"})
}

fn lay(from: &Party, to: &str, mode: &str, kind: &str, value: &Value) -> String {
    let payload = json!({"constraints": [rule(kind, value)], "propagation_mode": mode});
    vcp(from, to, "constraint_propagate", &payload)
}

fn constraints(house: &House, by: &str, agent: &str) -> crate::house::Answer {
    house.ask("GET", format!("/v1/constraints?agent={}", encoded(agent))).by(by).get()
}

/// What its sender is told of a message that was refused, the same by position, digest and id.
fn explained(house: &House, sender: &Party, message: &str) -> Value {
    let received = Received::read(message.as_bytes()).unwrap();
    let explain =
        |key: &str| house.ask("GET", format!("/v1/messages/{}/explain", encoded(key))).by(&sender.token).get();
    let told = explain(&received.digest().to_string()).ok();
    assert_eq!((&told["verdict"], &told["code"]), (&json!("refused"), &json!("constraint_violated")));
    assert_eq!((&told["by"], &told["spec"]), (&json!(format!("agent {}", sender.id)), &json!("VCP 4.3")));
    assert_eq!(explain(&told["position"].to_string()).ok(), told);
    if let Some(id) = received.message().id() {
        assert_eq!(explain(&id).ok(), told);
    }
    told
}

#[test]
fn a_grandparents_limit_refuses_an_oversize_message_in_every_dialect_and_says_whose_it_is() {
    let Family { house, grand, parent, child, peer } = family();
    let long = "x".repeat(2000);
    let laid = house.send(&grand, &lay(&grand, "parent", "merge", "token_limit", &json!(400))).ok();
    let announced = json!({"constitution_ref": "creed://h/a.b.c", "manifest_hash": format!("sha256:{}", "0".repeat(64)),
        "scope": {"purposes": [long]}});
    let acl = child.acl("peer").replace(r#""payload":{"#, &format!(r#""payload":{{"note":"{long}","#));
    for message in [
        child.cap("peer", &long),
        child.vlp("peer").replace("Water", &long),
        acl,
        vcp(&child, "peer", "constitution_announce", &announced),
    ] {
        let refusal = house.send(&child, &message).refused(403, "constraint_violated");
        let told = refusal["message"].as_str().unwrap();
        let explained = explained(&house, &child, &message);
        let says = explained["steps"][1]["says"].as_str().unwrap();
        let parts = ["token_limit 400", "\"grand\"", "\"parent\"", "creed://creed.space/family.safe.guide@1.2.0"];
        for part in parts {
            assert!(told.contains(part) && says.contains(part), "{part:?} is not in {told} and {says}");
        }
        // Nobody else hears of it, but whoever sees everything.
        let path = format!("/v1/messages/{}/explain", explained["position"]);
        house.ask("GET", &path).by(&peer.token).get().refused(404, "not_found");
        assert_eq!(house.ask("GET", &path).by(&house.operator).get().ok(), explained);
    }
    // An escalation goes through, whatever its length.
    let alarm = json!({"severity": "info", "reason": long, "context": "⏰🌅", "requires_ack": false});
    house.send(&child, &vcp(&child, "parent", "escalation", &alarm)).ok();
    let taken = house.send(&child, &child.cap("peer", "short")).ok();
    house.send(&peer, &peer.cap("child", &long)).ok();
    let house = house.restart();
    house.send(&child, &child.cap("peer", &long)).refused(403, "constraint_violated");
    let shown = constraints(&house, &child.token, "child").ok();
    let only = &shown["constraints"][0];
    assert_eq!((&only["setter"], &only["inherited_from"]), (&json!("grand"), &json!("parent")));
    assert_eq!((&only["position"], &only["enforced"]), (&laid["position"], &json!(true)));
    assert_eq!(shown["effective"]["token_limit"], 400);
    let explain = |by: &str| house.ask("GET", format!("/v1/messages/{}/explain", taken["position"])).by(by).get().ok();
    let step = |explained: &Value| {
        let steps = explained["steps"].as_array().unwrap().clone();
        steps.into_iter().find(|step| step["step"] == "constrained")
    };
    let says = step(&explain(&child.token)).unwrap()["says"].as_str().unwrap().to_owned();
    assert!(says.contains("token_limit 400") && says.contains("\"grand\""), "{says}");
    let says = step(&explain(&peer.token)).unwrap()["says"].clone();
    assert_eq!(says, "It broke none of the constraints its sender is under.", "which, is not for its recipient");
    drop(parent);
}

#[test]
fn constraints_are_shown_to_those_they_concern_and_set_by_operators() {
    let Family { house, grand, parent, child, peer } = family();
    house.send(&child, &lay(&child, "parent", "merge", "token_limit", &json!(9))).refused(403, "wrong_direction");
    house.send(&grand, &lay(&grand, "parent", "merge", "topic_block", &json!(["weapons", "drugs"]))).ok();
    let weaker = lay(&parent, "child", "override", "topic_block", &json!(["drugs"]));
    house.send(&parent, &weaker).refused(403, "constraint_weakening");
    let set = |by: &str, body: Value| house.ask("POST", "/v1/constraints").by(by).json(body.to_string());
    let floor =
        json!({"agent": "child", "constraints": [{"type": "safety_floor", "value": "review"}], "mode": "merge"});
    for by in [&parent.token, &child.token] {
        set(by, floor.clone()).refused(403, "not_allowed");
    }
    set(&house.operator, floor).ok();
    for (value, code) in [(json!(null), "bad_constraint"), (json!([]), "bad_constraint")] {
        let body = json!({"agent": "child", "constraints": [{"type": "topic_block", "value": value}]});
        let refusal = set(&house.operator, body).refused(422, code);
        assert_eq!(refusal["at"], "/constraints/0/value");
    }
    set(&house.operator, json!({"agent": "nobody", "lift": ["x"]})).refused(404, "unknown_agent");
    assert_eq!(house.send(&child, &child.vlp("peer")).ok()["status"], "held");
    let told = house.inbox(&child, "");
    assert_eq!(told["messages"][0]["message"]["payload"]["constraints"][0]["type"], "safety_floor");
    assert_eq!(told["messages"][0]["message"]["sender"], "agent://local/exchange");
    let auditor = house.grant("ann", "auditor");
    for by in [&child.token, &parent.token, &grand.token, &house.operator, &auditor] {
        let shown = constraints(&house, by, "child").ok();
        assert_eq!(shown["constraints"].as_array().unwrap().len(), 2);
        assert_eq!(shown["effective"]["topic_block"], json!(["drugs", "weapons"]));
        assert_eq!(shown["effective"]["safety_floor"], "review");
    }
    for (by, agent) in [(&peer.token, "child"), (&child.token, "parent")] {
        let shown = constraints(&house, by, agent).ok();
        assert_eq!((&shown["clearance"], &shown["constraints"]), (&json!("flags"), &json!(true)));
    }
    constraints(&house, &house.operator, "nobody").refused(404, "unknown_agent");
    house.ask("GET", "/v1/constraints").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/constraints").by(&house.operator).get().refused(422, "schema_invalid");
    set(&house.operator, json!({"agent": "child", "lift": ["safety_floor"]})).ok();
    let own = house.ask("GET", "/v1/constraints").by(&child.token).get().ok();
    assert_eq!((&own["effective"]["safety_floor"], &own["agent"]), (&Value::Null, &json!("child")));
}

#[test]
fn an_agent_shows_its_constitution_and_context_to_those_above_it() {
    let Family { house, grand, child, peer, .. } = family();
    let announce = |from: &Party, to: &str, hash: &str| {
        let payload =
            json!({"constitution_ref": "creed://h/a.b.c", "manifest_hash": format!("sha256:{}", hash.repeat(64))});
        house.send(from, &vcp(from, to, "constitution_announce", &payload)).ok()
    };
    announce(&peer, "child", "1");
    let announced = announce(&child, "peer", "2");
    let payload =
        json!({"context": "⏰🌅|🎭🚨", "constitution_ref": "creed://h/a.b.c", "personal_state": {"energy": 2}});
    let shared = house.send(&child, &vcp(&child, "peer", "context_share", &payload)).ok();
    let show = |by: &str| house.ask("GET", path_of("child")).by(by).get().ok();
    for by in [&grand.token, &child.token, &house.operator] {
        let shown = show(by);
        assert_eq!(shown["constitution"]["position"], announced["position"]);
        assert_eq!(shown["constitution"]["clashes_with"], json!(["peer"]));
        assert_eq!(shown["context"]["context"], "⏰🌅|🎭🚨");
        assert_eq!(
            (&shown["context"]["transition"], &shown["context"]["position"]),
            (&json!("emergency"), &shared["position"])
        );
        assert!(!shown.to_string().contains("energy"));
    }
    let shown = show(&peer.token);
    assert_eq!([&shown["constitution"], &shown["context"]], [&json!(true); 2], "no more for peers");
    let alert = crate::alerts::told(&house, "emergency");
    assert_eq!((&alert["about"], &alert["position"]), (&json!("child"), &shared["position"]));
    for party in [&peer, &child] {
        let inbox = house.inbox(party, "");
        let notices = inbox["messages"].as_array().unwrap().iter();
        let notices = notices.filter(|item| item["message"].to_string().contains("constitution_conflict"));
        assert_eq!(notices.count(), 1, "{inbox}");
    }
}
