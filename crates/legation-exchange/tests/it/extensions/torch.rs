//! VCP-X-Torch, through decisions.

use super::relational::{begin, norm, report};
use super::{asking, read};
use crate::desk::{Desk, agent};
use legation_exchange::Who;
use legation_exchange::extensions::{Act, Extension, Look, look, relational, torch};
use legation_protocol::Code;
use serde_json::{Value, json};

fn desk() -> (Desk, Who, Who) {
    let mut desk = Desk::new();
    desk.agent("alpha");
    desk.agent("bravo");
    (desk, agent("alpha"), agent("bravo"))
}

fn hand_off(asked: Value) -> Act {
    Act::Torch(torch::Act::HandOff(read(asked)))
}

fn receive(asked: Value) -> Act {
    Act::Torch(torch::Act::Receive(read(asked)))
}

fn carried(desk: &Desk, who: &Who) -> Value {
    desk.sees(who, &Look::Torch).unwrap()
}

#[test]
fn a_session_goes_to_another_with_all_that_it_was() {
    let (mut desk, alpha, bravo) = desk();
    for number in 0..7 {
        desk.act(&alpha, begin(&format!("s{number}"))).unwrap();
    }
    desk.act(&alpha, norm(json!({"id": "a", "description": "Say when unsure.", "origin": "human"}))).unwrap();
    desk.act(&alpha, norm(json!({"id": "b", "description": "Be brief.", "origin": "ai"}))).unwrap();
    let standing = relational::Act::SetStanding(read(json!({"standing": "COLLABORATIVE"})));
    desk.act(&alpha, Act::Relational(standing)).unwrap();
    desk.act(&alpha, report(&json!({"valence": {"value": 5, "uncertain": true}}))).unwrap();
    let second = json!({"valence": {"value": 6.8, "uncertain": true}, "task_fit": {"value": 9, "uncertain": false}});
    desk.act(&alpha, report(&second)).unwrap();
    desk.act(&alpha, hand_off(json!({"session_id": "s6", "to": "bravo", "gift": "a stone"}))).unwrap();
    let offer = &carried(&desk, &bravo)["offers"][0];
    assert_eq!(offer["from"], "agent:alpha");
    assert_eq!(
        offer["torch"],
        json!({
            "quality_description": "Trust: developing. Standing: collaborative. 2 established norms",
            "handed_at": "2026-02-15T10:30:00Z", "trajectory": "Improving", "primes": ["Say when unsure.", "Be brief."],
            "gift": "a stone", "session_count": 1, "gestalt_token": "V:7 TF:9", "degraded": false,
        })
    );
    desk.act(&bravo, receive(json!({"from": "alpha"}))).unwrap();
    let taken = carried(&desk, &bravo);
    assert_eq!((&taken["offers"], &taken["received"]["gift"]), (&json!([]), &json!("a stone")));
    assert_eq!(desk.act(&bravo, receive(json!({"from": "alpha"}))), Err(Code::NotFound));
    let lineage = desk.sees(&bravo, &Look::Lineage(read(json!({})))).unwrap();
    assert_eq!(
        lineage["lineage"],
        json!([{"date": "2026-02-15T10:30:00Z", "gestalt_token": "V:7 TF:9", "session_id": "s6"}])
    );
}

#[test]
fn whoever_takes_a_torch_begins_with_its_trust_and_an_advisory_voice() {
    let (mut desk, alpha, bravo) = desk();
    for number in 0..6 {
        desk.act(&alpha, hand_off(json!({"session_id": format!("s{number}")}))).unwrap();
        desk.act(&alpha, receive(json!({}))).unwrap();
    }
    desk.act(&alpha, hand_off(json!({"session_id": "s6", "to": "bravo"}))).unwrap();
    desk.act(&bravo, receive(json!({"from": "alpha"}))).unwrap();
    let relation = desk.sees(&bravo, &Look::Relational(read(json!({})))).unwrap();
    assert_eq!((&relation["session_count"], &relation["trust"]), (&json!(7), &json!("DEVELOPING")));
    assert_eq!(relation["standing"], "ADVISORY");
}

#[test]
fn without_relations_a_torch_is_handed_over_empty() {
    let (mut desk, alpha, _) = desk();
    desk.act(&alpha, begin("s")).unwrap();
    desk.act(&alpha, report(&json!({"valence": {"value": 5, "uncertain": true}}))).unwrap();
    let asker = asking(&alpha, &[Extension::Torch]);
    desk.order(&alpha, asker.clone(), hand_off(json!({"session_id": "s"}))).unwrap();
    let shown = look(&desk.state, &asker, &alpha, &Look::Torch, desk.now).unwrap();
    let torch = &shown["offers"][0]["torch"];
    assert_eq!((&shown["degraded"], &torch["degraded"]), (&json!(true), &json!(true)));
    assert_eq!((&torch["gestalt_token"], &torch["primes"], &torch["gift"]), (&Value::Null, &json!([]), &Value::Null));
    desk.order(&alpha, asker, receive(json!({}))).unwrap();
    let relation = desk.sees(&alpha, &Look::Relational(read(json!({})))).unwrap();
    assert_eq!(relation["standing"], "NONE", "nothing was said of the relation");
}

#[test]
fn a_lineage_is_a_thousand_deep_and_loses_its_oldest() {
    let (mut desk, alpha, _) = desk();
    for number in 0..1003 {
        desk.act(&alpha, hand_off(json!({"session_id": format!("s{number}")}))).unwrap();
    }
    let shown = desk.sees(&alpha, &Look::Lineage(read(json!({"limit": 5000})))).unwrap();
    let lineage = shown["lineage"].as_array().unwrap();
    assert_eq!((lineage.len(), &shown["session_count"]), (1000, &json!(1003)));
    assert_eq!((&lineage[0]["session_id"], &lineage[999]["session_id"]), (&json!("s3"), &json!("s1002")));
}

#[test]
fn only_so_many_torches_wait_for_one() {
    let (mut desk, alpha, bravo) = desk();
    for number in 0..8 {
        let id = format!("giver{number}");
        desk.agent(&id);
        desk.act(&agent(&id), hand_off(json!({"session_id": "s", "to": "bravo"}))).unwrap();
    }
    assert_eq!(desk.act(&alpha, hand_off(json!({"session_id": "s", "to": "bravo"}))), Err(Code::ExtensionLimit));
    assert!(desk.act(&agent("giver3"), hand_off(json!({"session_id": "t", "to": "bravo"}))).is_ok());
    desk.act(&bravo, receive(json!({"from": "giver0"}))).unwrap();
    assert!(desk.act(&alpha, hand_off(json!({"session_id": "s", "to": "bravo"}))).is_ok());
    assert_eq!(desk.act(&alpha, hand_off(json!({"session_id": "s", "to": "nobody"}))), Err(Code::UnknownAgent));
}
