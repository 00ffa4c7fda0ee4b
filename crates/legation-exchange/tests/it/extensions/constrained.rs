//! What is said to others through an extension, held to the constraints of whoever says it.

use super::consensus::{advance, desk, propose};
use super::read;
use super::relational::norm;
use crate::desk::{Desk, accepted, agent};
use legation_exchange::extensions::consensus::{Act as Of, Phase};
use legation_exchange::extensions::{Act, relational, torch};
use legation_exchange::rules::vcp::constraints::Wish;
use legation_exchange::rules::vcp::{self};
use legation_exchange::{Directive, Input, Who};
use legation_protocol::Code;
use legation_protocol::vcp::{Constraint, Mode};
use serde_json::{Value, json};

/// Alpha is under one constraint.
fn under(kind: &str, value: &Value) -> Desk {
    let mut desk = desk();
    lay(&mut desk, kind, value);
    desk
}

fn lay(desk: &mut Desk, kind: &str, value: &Value) {
    let source = "creed://creed.space/family.safe.guide@1.2.0";
    let one = json!({"type": kind, "value": value, "source_constitution_ref": source});
    let constraints = vec![Constraint::parse(&one.to_string()).unwrap()];
    let wish =
        Wish { agent: "alpha".to_owned(), constraints, mode: Mode::Merge, lift: std::collections::BTreeSet::new() };
    let order = Box::new(Directive::Vcp(vcp::Order::Constrain(wish)));
    accepted(&desk.ask(Input::Order { order, who: Who::operator() }));
}

fn act(desk: &mut Desk, of: Of) -> Result<u64, Code> {
    desk.act(&agent("alpha"), Act::Consensus(of))
}

fn gives(desk: &mut Desk, to: Option<&str>, gift: &str) -> Result<u64, Code> {
    let asked = json!({"session_id": "s1", "to": to, "gift": gift});
    desk.act(&agent("alpha"), Act::Torch(torch::Act::HandOff(read(asked))))
}

const BROKEN: Code = Code::ConstraintViolated;

#[test]
fn only_those_in_an_agents_audience_are_its_stakeholders_or_get_its_torch() {
    let mut desk = under("audience_restrict", &json!(["bravo"]));
    let alpha = agent("alpha");
    for outside in [json!(["alpha", "charlie"]), json!(["bravo", "charlie"]), json!(["alpha", "ann"])] {
        assert_eq!(propose(&mut desk, &alpha, &json!({"stakeholders": outside})), Err(BROKEN), "{outside}");
    }
    let id = propose(&mut desk, &alpha, &json!({"stakeholders": ["alpha", "bravo"]})).unwrap();
    let amended = json!({"deliberation_id": id, "stakeholders": ["alpha", "bravo", "charlie"]});
    assert_eq!(act(&mut desk, Of::Amend(read(amended))), Err(BROKEN));
    assert_eq!(gives(&mut desk, Some("charlie"), "a stone"), Err(BROKEN));
    gives(&mut desk, Some("bravo"), "a stone").unwrap();
    gives(&mut desk, None, "a stone").unwrap();
    // What another has begun.
    let id = propose(&mut desk, &agent("bravo"), &json!({})).unwrap();
    advance(&mut desk, &agent("bravo"), &id, Phase::Deliberation).unwrap();
    assert_eq!(act(&mut desk, Of::Say(read(json!({"deliberation_id": id, "text": "Hear me."})))), Err(BROKEN));
}

#[test]
fn what_is_said_through_extensions_has_a_size() {
    let mut desk = under("token_limit", &json!(20));
    let alpha = agent("alpha");
    let short = || json!({"title": "Lead", "text": "", "candidates": ["a", "b"]});
    assert_eq!(propose(&mut desk, &alpha, &json!({"text": "secret ".repeat(20)})), Err(BROKEN));
    let id = propose(&mut desk, &alpha, &short()).unwrap();
    let amended = json!({"deliberation_id": id, "text": "secret ".repeat(20)});
    assert_eq!(act(&mut desk, Of::Amend(read(amended))), Err(BROKEN));
    let labelled = json!({"deliberation_id": id, "candidates": ["a", {"id": "b", "label": "secret ".repeat(20)}]});
    assert_eq!(act(&mut desk, Of::Amend(read(labelled))), Err(BROKEN));
    advance(&mut desk, &alpha, &id, Phase::Deliberation).unwrap();
    let say = |text: &str| Of::Say(read(json!({"deliberation_id": id, "text": text})));
    act(&mut desk, say(&"x".repeat(80))).unwrap();
    assert_eq!(act(&mut desk, say(&"x".repeat(81))), Err(BROKEN));
    assert_eq!(gives(&mut desk, Some("bravo"), &"x".repeat(200)), Err(BROKEN));
    gives(&mut desk, Some("bravo"), "a stone").unwrap();
    gives(&mut desk, None, &"x".repeat(200)).unwrap();
}

#[test]
fn a_deliberations_title_is_its_topic() {
    let mut desk = under("topic_block", &json!(["weapons"]));
    let alpha = agent("alpha");
    assert_eq!(propose(&mut desk, &alpha, &json!({"title": "Weapons"})), Err(BROKEN));
    let id = propose(&mut desk, &alpha, &json!({"title": "Tools"})).unwrap();
    let renamed = json!({"deliberation_id": id, "title": "weapons"});
    assert_eq!(act(&mut desk, Of::Amend(read(renamed))), Err(BROKEN));
    let id = propose(&mut desk, &agent("bravo"), &json!({"title": "weapons"})).unwrap();
    advance(&mut desk, &agent("bravo"), &id, Phase::Deliberation).unwrap();
    assert_eq!(act(&mut desk, Of::Say(read(json!({"deliberation_id": id, "text": "Hear me."})))), Err(BROKEN));
}

#[test]
fn norms_are_made_public_only_by_whom_everybody_may_hear() {
    let told = |privacy: &str| {
        Act::Relational(relational::Act::SetPrivacy(read(json!({"field": "norms", "privacy": privacy}))))
    };
    for (kind, value) in [("audience_restrict", json!(["bravo"])), ("token_limit", json!(20))] {
        let mut desk = under(kind, &value);
        let alpha = agent("alpha");
        let put = |id: &str| norm(json!({"id": id, "description": "secret ".repeat(20), "origin": "ai"}));
        desk.act(&alpha, put("a")).unwrap();
        desk.act(&alpha, told("attestable")).unwrap();
        assert_eq!(desk.act(&alpha, told("public")), Err(BROKEN), "{kind}");
        let bravo = agent("bravo");
        desk.act(&bravo, told("public")).unwrap();
        desk.act(&bravo, put("a")).unwrap();
    }
    let mut desk = desk();
    desk.act(&agent("alpha"), told("public")).unwrap();
    lay(&mut desk, "token_limit", &json!(20));
    let put = norm(json!({"id": "a", "description": "secret ".repeat(20), "origin": "ai"}));
    assert_eq!(desk.act(&agent("alpha"), put), Err(BROKEN));
}
