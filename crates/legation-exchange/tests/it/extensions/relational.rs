//! VCP-X-Relational, through decisions.

use super::read;
use crate::desk::{Desk, agent};
use legation_exchange::Who;
use legation_exchange::extensions::{Act, Look, relational};
use legation_protocol::Code;
use serde_json::{Value, json};

fn desk() -> (Desk, Who) {
    let mut desk = Desk::new();
    desk.agent("alpha");
    desk.agent("bravo");
    (desk, agent("alpha"))
}

pub(super) fn begin(session: &str) -> Act {
    Act::Relational(relational::Act::BeginSession(read(json!({"session_id": session}))))
}

pub(super) fn norm(norm: Value) -> Act {
    Act::Relational(relational::Act::PutNorm(read(norm)))
}

pub(super) fn report(dimensions: &Value) -> Act {
    Act::Relational(relational::Act::ReportSelf(read(json!({"dimensions": dimensions}))))
}

fn shown(desk: &Desk, who: &Who, of: Option<&str>) -> Value {
    desk.sees(who, &Look::Relational(read(json!({"of": of})))).unwrap()
}

#[test]
fn trust_grows_with_sessions_and_one_counts_once() {
    let (mut desk, who) = desk();
    for (sessions, trust) in [(4, "INITIAL"), (5, "DEVELOPING"), (20, "ESTABLISHED"), (100, "DEEP")] {
        for number in 0..sessions {
            desk.act(&who, begin(&format!("s{number}"))).unwrap();
        }
        // Only so many are known by name.
        let counted = shown(&desk, &who, None)["session_count"].as_u64().unwrap();
        if sessions <= 32 {
            assert_eq!(counted, sessions, "the same session counts once");
            assert_eq!(shown(&desk, &who, None)["trust"], trust);
        } else {
            assert!(counted >= 100);
            assert_eq!(shown(&desk, &who, None)["trust"], trust);
        }
    }
}

#[test]
fn a_report_without_doubt_is_taken_and_flagged() {
    let (mut desk, who) = desk();
    desk.act(&who, report(&json!({"valence": {"value": 7, "uncertain": false}}))).unwrap();
    let model = &shown(&desk, &who, None)["self_model"];
    assert_eq!((&model["has_uncertainty_markers"], &model["performance_bias"]), (&json!(false), &json!(true)));
    let unsure = json!({"valence": {"value": 7, "uncertain": false}, "wonder": {"value": 3.5, "uncertain": true, "trend": "rising"}});
    desk.act(&who, report(&unsure)).unwrap();
    let model = &shown(&desk, &who, None)["self_model"];
    assert_eq!((&model["has_uncertainty_markers"], &model["performance_bias"]), (&json!(true), &json!(false)));
    assert_eq!(model["dimensions"]["wonder"]["trend"], "rising");
}

#[test]
fn whether_a_dimension_is_uncertain_must_be_said() {
    let silent = json!({"dimensions": {"valence": {"value": 7}}});
    assert!(serde_json::from_value::<relational::ReportSelf>(silent).is_err());
    let (mut desk, who) = desk();
    for value in [0.9, 9.1] {
        let bad = json!({"valence": {"value": value, "uncertain": true}});
        assert_eq!(desk.act(&who, report(&bad)), Err(Code::OutOfRange), "{value}");
    }
    assert_eq!(desk.act(&who, report(&json!({}))), Err(Code::OutOfRange));
}

#[test]
fn norms_are_put_changed_and_dropped() {
    let (mut desk, who) = desk();
    desk.act(&who, norm(json!({"id": "n1", "description": "Say when unsure.", "origin": "co_authored"}))).unwrap();
    desk.act(&who, norm(json!({"id": "n1", "description": "Ask first.", "origin": "HUMAN", "active": false}))).unwrap();
    let norms = &shown(&desk, &who, None)["norms"];
    assert_eq!(
        norms,
        &json!([{"id": "n1", "description": "Ask first.", "origin": "HUMAN", "uncertainty": 0.0, "active": false}])
    );
    let drop = |id: &str| Act::Relational(relational::Act::RemoveNorm(read(json!({"id": id}))));
    desk.act(&who, drop("n1")).unwrap();
    assert_eq!(desk.act(&who, drop("n1")), Err(Code::NotFound));
    for number in 0..100 {
        desk.act(&who, norm(json!({"id": format!("n{number}"), "description": "x", "origin": "AI"}))).unwrap();
    }
    assert_eq!(
        desk.act(&who, norm(json!({"id": "more", "description": "x", "origin": "AI"}))),
        Err(Code::ExtensionLimit)
    );
    assert!(desk.act(&who, norm(json!({"id": "n3", "description": "y", "origin": "AI"}))).is_ok());
}

#[test]
fn others_see_what_is_public_and_that_attestable_things_are_there() {
    let (mut desk, who) = desk();
    desk.act(&who, begin("s")).unwrap();
    desk.act(&who, report(&json!({"valence": {"value": 2, "uncertain": true}}))).unwrap();
    let bravo = agent("bravo");
    assert_eq!(shown(&desk, &bravo, Some("alpha")), json!({"subject": "agent:alpha"}));
    for (field, privacy) in [("trust", "public"), ("self_model", "attestable"), ("norms", "ATTESTABLE")] {
        let act = relational::Act::SetPrivacy(read(json!({"field": field, "privacy": privacy})));
        desk.act(&who, Act::Relational(act)).unwrap();
    }
    let seen = shown(&desk, &bravo, Some("alpha"));
    let want = json!({"subject": "agent:alpha", "trust": "INITIAL", "self_model": {"attested": true}, "norms": {"attested": false}});
    assert_eq!(seen, want);
    assert_eq!(desk.sees(&bravo, &Look::Relational(read(json!({"of": "nobody"})))), Err(Code::UnknownAgent));
}
