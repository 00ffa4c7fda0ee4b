//! What binds an agent binds it in every dialect (CAP Delegation, Oversight; VCP 4.3).

use super::house::{findings, folds_again, hand, hand_with, held, inbox, manifest, result, say, state, task, with};
use crate::desk::{Desk, accepted, agent, by, claim, refused};
use legation_exchange::rules::vcp::{self, constraints::Wish};
use legation_exchange::{Directive, Input, Registration, Said, Who};
use legation_protocol::vcp::{Constraint, CreedUri, Mode, Rule};
use legation_protocol::{Code, Format};
use serde_json::{Value, json};

pub(super) const EXCHANGE: &str = "agent://local/exchange";

pub(crate) fn speaks(desk: &mut Desk, id: &str, dialect: Format) {
    let wanted = Registration { dialects: Some([dialect].into()), ..Registration::default() };
    desk.register(id, wanted, Who::operator()).unwrap();
}

pub(crate) fn acl(
    performative: &str,
    n: u32,
    (from, to): (&str, &str),
    in_reply_to: Option<&str>,
    payload: &Value,
) -> String {
    json!({
        "mcp_version": "0.1.0", "message_id": format!("5b1f0c9e-3a77-4c1d-9a46-{n:012}"), "performative": performative,
        "sender": {"agent_id": from}, "receiver": {"agent_id": to}, "in_reply_to": in_reply_to,
        "language": "application/json", "ontology": "elizaos:ontology:code/general/refactor_request",
        "timestamp": "2026-02-15T10:30:00Z", "payload": payload,
    })
    .to_string()
}

pub(crate) fn request(n: u32, from: &str, to: &str) -> String {
    let payload = json!({"task_type": "count", "task_description": "Count.", "task_parameters": {}});
    acl("TASK_REQUEST", n, (from, to), None, &payload)
}

/// A manager, and a worker who speaks ACL alone and whom somebody reviews.
fn overseen() -> Desk {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm-1", &["worker"], None, &[])).unwrap();
    with(&mut desk, manifest("worker", &[], Some("qa-1"), &[])).unwrap();
    with(&mut desk, manifest("qa-1", &[], None, &[])).unwrap();
    speaks(&mut desk, "worker", Format::Acl);
    accepted(&hand(&mut desk, "T1", "pm-1", "worker"));
    desk
}

#[test]
fn a_result_in_another_dialect_waits_for_the_overseer() {
    for (decision, done, finals) in [("approve", "done", 1), ("reject", "failed", 0)] {
        let mut desk = overseen();
        let asked = inbox(&desk, "worker").pop().unwrap()["message_id"].as_str().unwrap().to_owned();
        let done_payload = json!({"task_status": "success", "result_summary": "12.", "result_details": {}});
        let answer = acl("INFORM_RESULT", 7, ("worker", EXCHANGE), Some(&asked), &done_payload);
        let taken = acl("TASK_ACCEPT", 6, ("worker", EXCHANGE), Some(&asked), &json!({"status": "accepted"}));
        accepted(&desk.send(&taken, by("worker")));
        held(&desk.send(&answer, by("worker")));
        state(&desk, "T1", "in_review");
        let is_final = |message: &Value| message["final"] == true;
        assert!(!inbox(&desk, "pm-1").iter().any(is_final), "nothing goes past the overseer");
        let work = inbox(&desk, "qa-1").pop().unwrap();
        assert_eq!((&work["content"], &work["oversight"]["author"]), (&json!("12."), &json!("worker")));
        let digest = work["oversight"]["digest"].clone();
        let decided = json!({"decision": decision, "digest": digest});
        accepted(&say(&mut desk, "T1", "qa-1", "pm-1", decided));
        desk.passes(std::time::Duration::ZERO);
        state(&desk, "T1", done);
        assert_eq!(inbox(&desk, "pm-1").iter().filter(|message| is_final(message)).count(), finals, "{decision}");
        folds_again(&desk);
    }
}

#[test]
fn what_an_overseen_agent_tells_its_delegator_is_marked_in_every_dialect() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm-1", &["worker"], None, &[])).unwrap();
    with(&mut desk, manifest("worker", &[], Some("qa-1"), &[])).unwrap();
    with(&mut desk, manifest("qa-1", &[], None, &[])).unwrap();
    desk.agent("other");
    let copy = |base: &str| Registration { instance_of: Some(base.to_owned()), ..Registration::default() };
    desk.register("worker-a", copy("worker"), Who::operator()).unwrap();
    desk.register("pm-1-a", copy("pm-1"), Who::operator()).unwrap();
    accepted(&hand(&mut desk, "T1", "pm-1", "worker"));
    held(&result(&mut desk, "T1", "worker", "pm-1"));
    for (n, from, to, want) in [
        (1, "worker", "pm-1", true),
        (2, "worker", "pm-1-a", true),
        (3, "worker-a", "pm-1", true),
        (4, "worker", "other", false),
        (5, "other", "pm-1", false),
    ] {
        let vlp = claim(from, to, &format!("claim-{n}"), "It is 12.");
        let payload = json!({"reference": "the figures"});
        let acl = acl("QUERY_REF", n, (from, to), None, &payload);
        let said = [
            say(&mut desk, "T1", from, to, json!({})),
            say(&mut desk, "another", from, to, json!({})),
            desk.send(&vlp, by(from)),
            desk.send(&acl, by(from)),
        ];
        for verdict in said {
            let findings = findings(&desk, accepted(&verdict));
            assert_eq!(findings.contains(&"unreviewed".to_owned()), want, "{from} to {to}: {findings:?}");
        }
    }
    let in_session = |from: &str, to: &str, n: u32| {
        let said = claim(from, to, &format!("said-{n}"), "It is 12.");
        said.replace(r#""receiver":"","#, "").replace(r#""confidence""#, r#""session_id":"S1","confidence""#)
    };
    accepted(&desk.send(&in_session("pm-1", "worker", 1), by("pm-1")));
    let said = accepted(&desk.send(&in_session("worker", "", 2), by("worker")));
    assert!(desk.waiting("pm-1").contains(&said) && findings(&desk, said).contains(&"unreviewed".to_owned()));
    accepted(&say(&mut desk, "T1", "qa-1", "pm-1", json!({"decision": "approve"})));
    let after = accepted(&say(&mut desk, "T1", "worker", "pm-1", json!({})));
    assert!(findings(&desk, after).is_empty(), "it is approved");
    folds_again(&desk);
}

#[test]
fn what_the_exchange_says_for_an_overseen_agent_is_marked_too() {
    let mut desk = overseen();
    let marked = |desk: &Desk, who: &str| {
        let last = desk.state.mailbox(who).unwrap().after(None).last().unwrap();
        findings(desk, last.message).contains(&"unreviewed".to_owned())
    };
    let asked = inbox(&desk, "worker").pop().unwrap()["message_id"].as_str().unwrap().to_owned();
    let accept = acl("TASK_ACCEPT", 1, ("worker", EXCHANGE), Some(&asked), &json!({"status": "accepted"}));
    accepted(&desk.send(&accept, by("worker")));
    assert!(marked(&desk, "pm-1"));
    // And where the one who asks speaks another dialect.
    let mut desk = Desk::new();
    with(&mut desk, manifest("worker", &[], Some("qa-1"), &[])).unwrap();
    with(&mut desk, manifest("qa-1", &[], None, &[])).unwrap();
    desk.agent("ide");
    speaks(&mut desk, "worker", Format::Cap);
    speaks(&mut desk, "ide", Format::Vlp);
    let query = claim("ide", "worker", "query-1", "How many?").replace(r#""claim""#, r#""query""#);
    let id = format!("legation-{}", accepted(&desk.send(&query, by("ide"))));
    for to in ["legation", "ide"] {
        let said = accepted(&say(&mut desk, &id, "worker", to, json!({})));
        assert!(findings(&desk, said).contains(&"unreviewed".to_owned()), "to {to}");
        assert!(marked(&desk, "ide"), "to {to}");
    }
    held(&result(&mut desk, &id, "worker", "legation"));
    accepted(&say(&mut desk, &id, "qa-1", "legation", json!({"decision": "approve"})));
    desk.passes(std::time::Duration::ZERO);
    assert!(!marked(&desk, "ide"), "what was approved bears no mark");
    folds_again(&desk);
}

#[test]
fn nobody_that_an_agent_made_reviews_its_work() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm-1", &["worker"], None, &[])).unwrap();
    with(&mut desk, manifest("worker", &[], Some("qa-1"), &[])).unwrap();
    let below = |parent: &str| Registration { parent: Said::To(parent.to_owned()), ..Registration::default() };
    desk.register("qa-1", below("worker"), Who::operator()).unwrap();
    accepted(&hand(&mut desk, "T1", "pm-1", "worker"));
    held(&result(&mut desk, "T1", "worker", "pm-1"));
    assert!(inbox(&desk, "qa-1").is_empty(), "a person decides");
    let word = say(&mut desk, "T1", "qa-1", "pm-1", json!({"decision": "approve"}));
    assert_eq!(refused(&word), Code::OversightConflict);
    state(&desk, "T1", "in_review");
}

#[test]
fn the_name_of_an_overseer_that_is_not_there_is_an_operators_to_give() {
    let mut desk = Desk::new();
    desk.policy.open_registration = true;
    with(&mut desk, manifest("pm-1", &["worker"], None, &[])).unwrap();
    with(&mut desk, manifest("worker", &[], Some("ghost"), &[])).unwrap();
    desk.agent("mallory");
    let aliased =
        || Registration { aliases: Some([(Format::Cap, "ghost".to_owned())].into()), ..Registration::default() };
    let below = || Registration { parent: Said::To("worker".to_owned()), ..Registration::default() };
    let copy = || Registration { instance_of: Some("worker".to_owned()), ..Registration::default() };
    for (id, wanted, who) in [
        ("ghost", Registration::default(), Who::Nobody),
        ("stranger", aliased(), Who::Nobody),
        ("mallory", aliased(), agent("mallory")),
        ("ghost", below(), agent("worker")),
        ("ghost", copy(), agent("worker")),
    ] {
        assert_eq!(desk.register(id, wanted, who), Err(Code::NotAllowed), "{id}");
    }
    assert_eq!(desk.register("stranger", Registration::default(), Who::Nobody), Ok(true));
    accepted(&hand(&mut desk, "T1", "pm-1", "worker"));
    held(&result(&mut desk, "T1", "worker", "pm-1"));
    desk.agent("ghost");
    held(&say(&mut desk, "T1", "worker", "pm-1", json!({"final": true, "content": "changed"})));
    assert_eq!(inbox(&desk, "ghost").len(), 1, "whom an operator registers reviews what comes from then on");
}

#[test]
fn a_name_that_others_rely_on_is_an_operators_to_give() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm-1", &["later"], None, &[])).unwrap();
    with(&mut desk, manifest("worker", &["mine"], Some("qa-1"), &[])).unwrap();
    let below = || Registration { parent: Said::To("worker".to_owned()), ..Registration::default() };
    assert_eq!(desk.register("later", below(), agent("worker")), Err(Code::NotAllowed));
    assert_eq!(desk.register("mine", below(), agent("worker")), Ok(true), "its own manifest names it");
}

/// A manager whose task leaves it little, and a worker who speaks CAP alone.
fn granted() -> Desk {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm-1", &["worker"], None, &["S/ls", "S/rm"])).unwrap();
    with(&mut desk, manifest("worker", &[], None, &["S/ls", "S/rm"])).unwrap();
    speaks(&mut desk, "worker", Format::Cap);
    let grants = json!({"grants": {"tools": ["ls"], "scopes": ["read:S"]}});
    accepted(&hand_with(&mut desk, "R", "orchestrator", "pm-1", grants));
    desk
}

#[test]
fn a_task_asked_for_in_another_dialect_is_part_of_what_its_asker_works_on() {
    let mut desk = granted();
    let position = accepted(&desk.send(&request(1, "pm-1", "worker"), by("pm-1")));
    let id = format!("legation-{position}");
    let root = desk.state.rules().cap.named("R").next().unwrap().0;
    assert_eq!(task(&desk, &id).parent, Some(root));
    let tool = |name: &str| {
        json!({"final": true, "attachments": [{"type": "tool_call_result", "server_id": "S", "tool": name, "parameters": {},
            "result": {}}]})
    };
    assert_eq!(refused(&say(&mut desk, &id, "worker", "legation", tool("rm"))), Code::ToolNotBound);
    accepted(&say(&mut desk, &id, "worker", "legation", tool("ls")));
    state(&desk, &id, "done");
    folds_again(&desk);
}

#[test]
fn what_an_instance_asks_for_in_another_dialect_is_part_of_its_familys_task() {
    let mut desk = granted();
    let copy = Registration { instance_of: Some("pm-1".to_owned()), ..Registration::default() };
    desk.register("pm-1-a", copy, agent("pm-1")).unwrap();
    let position = accepted(&desk.send(&request(1, "pm-1-a", "worker"), by("pm-1-a")));
    let root = desk.state.rules().cap.named("R").next().unwrap().0;
    assert_eq!(task(&desk, &format!("legation-{position}")).parent, Some(root));
    folds_again(&desk);
}

#[test]
fn whoever_asks_back_passes_nothing_on() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm-1", &["worker"], None, &["S/ls"])).unwrap();
    speaks(&mut desk, "pm-1", Format::Cap);
    speaks(&mut desk, "worker", Format::Acl);
    accepted(&hand(&mut desk, "T1", "pm-1", "worker"));
    let position = accepted(&desk.send(&request(1, "worker", "pm-1"), by("worker")));
    let asked = task(&desk, &format!("legation-{position}"));
    assert_eq!((asked.parent, asked.grant.allows_tool("ls")), (None, false));
    folds_again(&desk);
}

#[test]
fn limits_hold_for_whoever_asks() {
    let mut desk = granted();
    desk.agent("ide");
    for n in 0..64 {
        accepted(&desk.send(&request(n, "ide", "worker"), by("ide")));
    }
    assert_eq!(refused(&desk.send(&request(64, "ide", "worker"), by("ide"))), Code::DelegationLimit);
    accepted(&desk.send(&request(65, "pm-1", "worker"), by("pm-1")));
    folds_again(&desk);
}

#[test]
fn a_manifest_binds_where_nothing_is_translated() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("x", &["z"], None, &[])).unwrap();
    for id in ["y", "z", "free"] {
        desk.agent(id);
    }
    assert_eq!(refused(&desk.send(&request(1, "x", "y"), by("x"))), Code::DelegationDenied);
    accepted(&desk.send(&request(2, "x", "z"), by("x")));
    accepted(&desk.send(&request(3, "free", "y"), by("free")));
}

#[test]
fn an_audience_holds_for_what_the_exchange_is_told() {
    let mut desk = granted();
    desk.agent("ide");
    let position = accepted(&desk.send(&request(1, "ide", "worker"), by("ide")));
    let id = format!("legation-{position}");
    let source = CreedUri::parse("creed://creed.space/family.safe.guide@1.2.0").unwrap();
    let rule = Rule::AudienceRestrict(vec!["pm-1".to_owned()]);
    let constraint = Constraint { rule, source_constitution_ref: source };
    let wish = Wish {
        agent: "worker".to_owned(),
        constraints: vec![constraint],
        mode: Mode::Merge,
        lift: std::collections::BTreeSet::new(),
    };
    let order = Box::new(Directive::Vcp(vcp::Order::Constrain(wish)));
    accepted(&desk.ask(Input::Order { order, who: Who::operator() }));
    assert_eq!(refused(&result(&mut desk, &id, "worker", "legation")), Code::ConstraintViolated);
}
