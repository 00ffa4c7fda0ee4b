//! VCP-X-Torch, through decisions.

use super::relational::{begin, norm, report};
use super::{all, asking, read};
use crate::desk::{Desk, agent, token};
use legation_exchange::extensions::{Act, Asker, Extension, Look, Subject, look, relational, torch};
use legation_exchange::rules::identity::Order as Identity;
use legation_exchange::rules::vcp::Order;
use legation_exchange::{Directive, Input, Who};
use legation_protocol::Code;
use serde_json::{Value, json};
use std::time::Duration;

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
            "gift": "a stone", "session_count": 7, "gestalt_token": "V:7 TF:9", "degraded": false,
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

#[test]
fn a_torch_waits_for_nobody_who_is_not_there() {
    let (mut desk, alpha, _) = desk();
    let to = |name: &str| hand_off(json!({"session_id": "s", "to": format!("identity:{name}")}));
    assert_eq!(desk.act(&alpha, to("anything")), Err(Code::UnknownAgent));
    let state = Asker { subject: Subject::identity("user_42"), ..all(&alpha) };
    desk.order(&Who::Nobody, state, begin("s")).unwrap();
    assert!(desk.act(&alpha, to("user_42")).is_ok(), "it has state");
    let expires = desk.now.plus(Duration::from_mins(5));
    let issue = Identity::Issue { token: token("user_43"), subject: "user_43".to_owned(), expires };
    let order = Box::new(Directive::Identity(issue));
    crate::desk::accepted(&desk.ask(Input::Order { order, who: Who::operator() }));
    assert!(desk.act(&alpha, to("user_43")).is_ok(), "it counts");
    assert_eq!(desk.state.rules().extensions.torch.of(&Subject::identity("anything")), None);
}

#[test]
fn only_so_many_torches_of_one_wait_and_each_takes_a_bounded_lineage() {
    let (mut desk, alpha, _) = desk();
    for number in 0..100 {
        desk.act(&alpha, hand_off(json!({"session_id": format!("s{number}")}))).unwrap();
    }
    desk.act(&alpha, receive(json!({}))).unwrap();
    let to = |number: usize| hand_off(json!({"session_id": "last", "to": format!("taker{number}")}));
    for number in 0..17 {
        desk.agent(&format!("taker{number}"));
    }
    for number in 0..16 {
        desk.act(&alpha, to(number)).unwrap();
    }
    assert_eq!(desk.act(&alpha, to(16)), Err(Code::ExtensionLimit));
    assert!(desk.act(&alpha, to(3)).is_ok(), "one that waits already is another now");
    desk.act(&agent("taker0"), receive(json!({"from": "alpha"}))).unwrap();
    assert!(desk.act(&alpha, to(16)).is_ok());
    let shown = desk.sees(&agent("taker0"), &Look::Lineage(read(json!({"limit": 5000})))).unwrap();
    let lineage = shown["lineage"].as_array().unwrap();
    assert_eq!((lineage.len(), &shown["session_count"]), (32, &json!(101)));
    assert_eq!((&lineage[0]["session_id"], &lineage[31]["session_id"]), (&json!("s69"), &json!("last")));
    desk.ask(Input::Remove { id: "taker1".to_owned(), who: Who::operator() });
    desk.agent("another");
    assert!(desk.act(&alpha, hand_off(json!({"session_id": "last", "to": "another"}))).is_ok(), "that one is gone");
}

#[test]
fn ones_own_torch_takes_nothing_from_one() {
    let (mut desk, alpha, _) = desk();
    for number in 0..25 {
        desk.act(&alpha, begin(&format!("s{number}"))).unwrap();
    }
    let standing = relational::Act::SetStanding(read(json!({"standing": "BILATERAL"})));
    desk.act(&alpha, Act::Relational(standing)).unwrap();
    desk.act(&alpha, hand_off(json!({"session_id": "s24"}))).unwrap();
    desk.act(&alpha, receive(json!({}))).unwrap();
    let relation = desk.sees(&alpha, &Look::Relational(read(json!({})))).unwrap();
    assert_eq!((&relation["session_count"], &relation["trust"]), (&json!(25), &json!("ESTABLISHED")));
    assert_eq!(relation["standing"], "BILATERAL");
    desk.act(&alpha, hand_off(json!({"session_id": "uncounted"}))).unwrap();
    assert_eq!(carried(&desk, &alpha)["session_count"], 26);
}

#[test]
fn a_session_that_is_handed_over_again_is_the_same_session() {
    let (mut desk, alpha, bravo) = desk();
    for to in [json!({}), json!({"to": "bravo"}), json!({"to": "bravo", "gift": "a stone"})] {
        let mut asked = json!({"session_id": "s"});
        asked.as_object_mut().unwrap().extend(to.as_object().unwrap().clone());
        desk.act(&alpha, hand_off(asked)).unwrap();
    }
    let told = carried(&desk, &alpha);
    assert_eq!((&told["session_count"], &told["lineage_depth"]), (&json!(1), &json!(1)));
    assert_eq!(carried(&desk, &bravo)["offers"][0]["torch"]["session_count"], 1);
}

#[test]
fn a_torch_waits_unseen_while_its_giver_is_suspended() {
    let (mut desk, alpha, bravo) = desk();
    desk.act(&alpha, hand_off(json!({"session_id": "s1", "to": "bravo", "gift": "last words"}))).unwrap();
    let (agent, why) = (|| "alpha".to_owned(), || "odd".to_owned());
    let ordered = |desk: &mut Desk, order| {
        let order = Box::new(Directive::Vcp(order));
        crate::desk::accepted(&desk.ask(Input::Order { order, who: Who::operator() }));
    };
    ordered(&mut desk, Order::Suspend { agent: agent(), why: why() });
    assert_eq!(carried(&desk, &bravo)["offers"], json!([]));
    assert_eq!(desk.act(&bravo, receive(json!({"from": "alpha"}))), Err(Code::NotFound));
    ordered(&mut desk, Order::Resume { agent: agent(), escalation: None, why: why() });
    assert_eq!(carried(&desk, &bravo)["offers"][0]["torch"]["gift"], "last words");
    desk.act(&bravo, receive(json!({"from": "alpha"}))).unwrap();
}
