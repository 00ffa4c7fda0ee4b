//! What the scan found in words that others read: the grave is refused, the rest stands beside them.

use super::relational::{norm, report};
use super::{all, read};
use crate::desk::{Desk, agent, person};
use legation_exchange::extensions::consensus::Act as Of;
use legation_exchange::extensions::{Act, Look, torch};
use legation_exchange::{Role, Who};
use legation_protocol::Code;
use legation_scan::{Found, How, Severity};
use serde_json::{Value, json};

fn found(severity: Severity, at: &str) -> Vec<Found> {
    let (pattern, at) = ("override".to_owned(), at.to_owned());
    vec![Found { pattern, severity, at, offset: 0, length: 6, how: How::Plain }]
}

fn desk() -> (Desk, Who, Who) {
    let mut desk = super::consensus::desk();
    desk.agent("delta");
    (desk, agent("alpha"), agent("bravo"))
}

/// Everything that is told to others in words, with where the words are.
fn spoken() -> Vec<(Act, &'static str)> {
    let propose = json!({"title": "t", "candidates": ["a", "b"], "stakeholders": ["alpha", "bravo"]});
    vec![
        (Act::Torch(torch::Act::HandOff(read(json!({"session_id": "s", "to": "bravo", "gift": "x"})))), "/gift"),
        (Act::Consensus(Of::Propose(read(propose))), "/title"),
        (norm(json!({"id": "n", "description": "x", "origin": "ai"})), "/description"),
        (report(&json!({"valence": {"value": 7, "uncertain": true, "label": "x"}})), "/dimensions/valence/label"),
    ]
}

#[test]
fn what_is_grave_is_refused_and_what_a_person_says_is_marked() {
    let (mut desk, alpha, _) = desk();
    let ann = person("ann", Role::Reviewer);
    for (act, at) in spoken() {
        let grave = || found(Severity::High, at);
        assert_eq!(desk.order_scanned(&alpha, all(&alpha), act.clone(), grave()), Err(Code::NotAllowed), "{at}");
        assert!(desk.order_scanned(&ann, all(&ann), act, grave()).is_ok(), "{at}");
    }
}

#[test]
fn what_is_less_stands_beside_the_words() {
    let (mut desk, alpha, bravo) = desk();
    let places = |told: &Value| told["scanned"].as_array().map(|all| all.iter().map(|one| one["at"].clone()).collect());
    let want = |at: &str| Some(vec![json!(at)]);
    let mut position = 0;
    for (act, at) in spoken().into_iter().rev() {
        let made = desk.order_scanned(&alpha, all(&alpha), act.clone(), found(Severity::Medium, at)).unwrap();
        if matches!(act, Act::Consensus(_)) {
            position = made;
        }
    }
    let relation = desk.sees(&alpha, &Look::Relational(read(json!({})))).unwrap();
    assert_eq!(places(&relation["norms"][0]), want("/description"));
    assert_eq!(places(&relation["self_model"]), want("/dimensions/valence/label"));
    let offer = &desk.sees(&bravo, &Look::Torch).unwrap()["offers"][0]["torch"];
    assert_eq!(places(offer), Some(vec![json!("/primes/0"), json!("/gift")]), "the norm goes along");
    let id = format!("D{position}");
    let shown = |desk: &Desk| desk.sees(&bravo, &Look::Deliberation(read(json!({"deliberation_id": id})))).unwrap();
    assert_eq!(places(&shown(&desk)), want("/title"));
    let amend = |more: Value| Act::Consensus(Of::Amend(read(more)));
    desk.act(&alpha, amend(json!({"deliberation_id": id, "text": "more"}))).unwrap();
    assert_eq!(places(&shown(&desk)), want("/title"));
    desk.act(&alpha, amend(json!({"deliberation_id": id, "title": "plain"}))).unwrap();
    assert_eq!(places(&shown(&desk)), None);
    let advance = json!({"deliberation_id": id, "to": "DELIBERATION"});
    desk.act(&alpha, Act::Consensus(Of::Advance(read(advance)))).unwrap();
    let say = Act::Consensus(Of::Say(read(json!({"deliberation_id": id, "text": "x"}))));
    desk.order_scanned(&alpha, all(&alpha), say, found(Severity::Low, "/text")).unwrap();
    assert_eq!(places(&shown(&desk)["statements"][0]), want("/text"));
}
