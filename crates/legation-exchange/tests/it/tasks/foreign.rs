//! Overseers who do not speak CAP: they are shown work, ask about it and decide in a dialect of their own.

use super::house::{folds_again, hand, held, inbox, manifest, result, say, state, task};
use crate::desk::{Desk, accepted, by, refused};
use legation_exchange::{Registration, Who};
use legation_protocol::{Code, Format};
use legation_scan::Severity::High;
use serde_json::{Value, json};
use std::time::Duration;

const EXCHANGE: &str = "agent://local/exchange";

/// A worker that speaks CAP, and an overseer that speaks something else alone.
fn shop(dialect: Format) -> Desk {
    let mut desk = Desk::new();
    for (id, spoken, manifest) in
        [("lead", dialect, None), ("worker", Format::Cap, Some(manifest("worker", &[], Some("lead"), &[])))]
    {
        let wanted = Registration { dialects: Some([spoken].into()), manifest, ..Registration::default() };
        assert_eq!(desk.register(id, wanted, Who::operator()), Ok(true));
    }
    desk
}

/// The worker is done with this task, and its overseer is shown that.
fn works(desk: &mut Desk, id: &str) -> Value {
    accepted(&hand(desk, id, "orchestrator", "worker"));
    held(&result(desk, id, "worker", "orchestrator"));
    inbox(desk, "lead").pop().unwrap()
}

fn vlp(kind: &str, id: &str, to: &str, more: Value) -> String {
    let mut message = json!({
        "id": id, "protocol": "VLP/1.1", "type": kind, "timestamp": "2026-02-15T10:30:00Z", "sender": "lead",
        "receiver": to, "content": "Where is it from?", "confidence": 0.5,
    });
    let (Value::Object(all), Value::Object(more)) = (&mut message, more) else { panic!("objects") };
    all.extend(more);
    message.to_string()
}

#[test]
fn a_query_of_an_overseer_is_an_inquiry_and_its_answer_comes_back() {
    for (to, named) in [("worker", false), ("worker", true), (EXCHANGE, true)] {
        for back in ["lead", "legation"] {
            let mut desk = shop(Format::Vlp);
            let shown = works(&mut desk, "X");
            let more = if named { json!({"refers_to": shown["id"]}) } else { json!({}) };
            accepted(&desk.send(&vlp("query", "QRY-1", to, more), by("lead")));
            let asked = inbox(&desk, "worker").pop().unwrap();
            assert_eq!((&asked["type"], &asked["task_id"]), (&json!("oversight_inquiry"), &json!("X")), "{asked}");
            assert_eq!(asked["inquiry"], "Where is it from?");
            assert!(desk.state.rules().cap.named("legation-5").next().is_none(), "it is no new task");
            accepted(&say(&mut desk, "X", "worker", back, json!({"content": "From the log."})));
            let answer = inbox(&desk, "lead").pop().unwrap();
            assert_eq!((&answer["type"], &answer["refers_to"]), (&json!("response"), &json!("QRY-1")), "{answer}");
            assert_eq!(answer["content"], "From the log.");
            state(&desk, "X", "in_review");
            // What else is said between them is talk, and the work is decided on as ever.
            accepted(&say(&mut desk, "X", "worker", "lead", json!({"content": "Since Monday."})));
            assert_eq!(inbox(&desk, "lead").pop().unwrap()["type"], "notice");
            let yes = json!({"topic": "work_approved"});
            accepted(&desk.send(&vlp("notice", "NTC-1", EXCHANGE, yes), by("lead")));
            state(&desk, "X", "done");
            folds_again(&desk);
        }
    }
}

#[test]
fn of_several_works_the_query_names_one() {
    let mut desk = shop(Format::Vlp);
    let first = works(&mut desk, "X");
    works(&mut desk, "Y");
    let ask = |id: &str, more: Value| vlp("query", id, "worker", more);
    assert_eq!(refused(&desk.send(&ask("QRY-1", json!({})), by("lead"))), Code::AmbiguousReference);
    accepted(&desk.send(&ask("QRY-2", json!({"refers_to": first["id"]})), by("lead")));
    assert_eq!(inbox(&desk, "worker").pop().unwrap()["task_id"], "X");
    assert!(task(&desk, "X").is_open());
}

#[test]
fn who_oversees_nothing_asks_for_work_as_ever() {
    let mut desk = shop(Format::Vlp);
    works(&mut desk, "X");
    let other = Registration { dialects: Some([Format::Vlp].into()), ..Registration::default() };
    assert_eq!(desk.register("other", other, Who::operator()), Ok(true));
    let query = vlp("query", "QRY-1", "worker", json!({"sender": "other"}));
    accepted(&desk.send(&query, by("other")));
    assert_eq!(inbox(&desk, "worker").pop().unwrap()["type"], "delegation_notice");
}

#[test]
fn a_response_to_what_was_shown_or_to_nothing_is_refused() {
    let mut desk = shop(Format::Vlp);
    let shown = works(&mut desk, "X");
    let to_it = vlp("response", "RSP-1", EXCHANGE, json!({"refers_to": shown["id"]}));
    assert_eq!(refused(&desk.send(&to_it, by("lead"))), Code::OversightConflict);
    let stray = vlp("response", "RSP-2", EXCHANGE, json!({"refers_to": "MSG404"}));
    assert_eq!(refused(&desk.send(&stray, by("lead"))), Code::Untranslatable);
}

#[test]
fn an_inquiry_in_a_task_that_was_asked_for_in_acl_leaves_the_result_its_way() {
    let mut desk = shop(Format::Vlp);
    let ide = Registration { dialects: Some([Format::Acl].into()), ..Registration::default() };
    assert_eq!(desk.register("ide", ide, Who::operator()), Ok(true));
    let request = json!({
        "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-000000000001", "performative": "TASK_REQUEST",
        "sender": {"agent_id": "ide"}, "receiver": {"agent_id": "worker"}, "language": "application/json",
        "ontology": "elizaos:ontology:general/task_request", "timestamp": "2026-02-15T10:30:00Z",
        "payload": {"task_type": "count", "task_description": "Count.", "task_parameters": {}},
    });
    accepted(&desk.send(&request.to_string(), by("ide")));
    let task = inbox(&desk, "worker")[0]["task_id"].as_str().unwrap().to_owned();
    held(&result(&mut desk, &task, "worker", "legation"));
    accepted(&desk.send(&vlp("query", "QRY-1", "worker", json!({})), by("lead")));
    accepted(&say(&mut desk, &task, "worker", "legation", json!({"content": "From the log."})));
    assert_eq!(inbox(&desk, "lead").pop().unwrap()["type"], "response");
    accepted(&desk.send(&vlp("notice", "NTC-1", EXCHANGE, json!({"topic": "work_to_revise"})), by("lead")));
    held(&result(&mut desk, &task, "worker", "legation"));
    accepted(&desk.send(&vlp("notice", "NTC-2", EXCHANGE, json!({"topic": "work_approved"})), by("lead")));
    desk.passes(Duration::ZERO);
    let heard = inbox(&desk, "ide");
    let acts: Vec<_> = heard.iter().map(|heard| heard["performative"].as_str().unwrap()).collect();
    assert_eq!(acts, ["TASK_ACCEPT", "INFORM_RESULT"]);
}

/// A decision that answers a message with this id.
fn decides(decision: &str, answers: &Value, digest: Option<&Value>) -> String {
    json!({
        "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-000000000009", "performative": "INFORM_RESULT",
        "sender": {"agent_id": "lead"}, "receiver": {"agent_id": EXCHANGE}, "language": "application/json",
        "ontology": "elizaos:ontology:general/task_request", "timestamp": "2026-02-15T10:30:00Z",
        "in_reply_to": answers,
        "payload": {
            "task_status": "success", "result_summary": "Looked at it.",
            "result_details": {"decision": decision, "digest": digest},
        },
    })
    .to_string()
}

#[test]
fn an_overseer_who_speaks_acl_is_shown_work_as_a_request_and_decides_by_a_result() {
    for (decision, want) in [("approve", "done"), ("revise", "open"), ("reject", "failed")] {
        let mut desk = shop(Format::Acl);
        let shown = works(&mut desk, "X");
        assert_eq!(
            (&shown["performative"], &shown["payload"]["task_type"]),
            (&json!("TASK_REQUEST"), &json!("oversight"))
        );
        let about = &shown["payload"]["task_parameters"]["oversight"];
        assert_eq!((&shown["payload"]["task_description"], &about["author"]), (&json!("words"), &json!("worker")));
        let other = json!("sha256:0000000000000000000000000000000000000000000000000000000000000000");
        assert_eq!(
            refused(&desk.send(&decides(decision, &shown["message_id"], Some(&other)), by("lead"))),
            Code::OversightConflict
        );
        accepted(&desk.send(&decides(decision, &shown["message_id"], Some(&about["digest"])), by("lead")));
        state(&desk, "X", want);
        folds_again(&desk);
    }
}

#[test]
fn a_decision_in_acl_answers_the_request_that_showed_the_work() {
    for named_by_digest in [true, false] {
        let mut desk = shop(Format::Acl);
        let (first, second) = (works(&mut desk, "X"), works(&mut desk, "Y"));
        let digest = |shown: &Value| shown["payload"]["task_parameters"]["oversight"]["digest"].clone();
        let wanted = named_by_digest.then(|| digest(&first));
        let stray = json!("5b1f0c9e-3a77-4c1d-9a46-000000000008");
        assert_eq!(
            refused(&desk.send(&decides("approve", &stray, wanted.as_ref()), by("lead"))),
            Code::OversightConflict
        );
        let crossed = decides("approve", &second["message_id"], Some(&digest(&first)));
        assert_eq!(refused(&desk.send(&crossed, by("lead"))), Code::OversightConflict);
        accepted(&desk.send(&decides("approve", &first["message_id"], wanted.as_ref()), by("lead")));
        state(&desk, "X", "done");
        state(&desk, "Y", "in_review");
        folds_again(&desk);
    }
}

#[test]
fn a_decision_in_acl_that_would_wait_decides_nothing_and_is_refused() {
    for decision in ["approve", "revise", "reject"] {
        let mut desk = shop(Format::Acl);
        let shown = works(&mut desk, "X");
        let before = desk.state.rules().clone();
        let digest = &shown["payload"]["task_parameters"]["oversight"]["digest"];
        let word = json!({
            "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-000000000001", "performative": "INFORM_RESULT",
            "sender": {"agent_id": "lead"}, "receiver": {"agent_id": EXCHANGE}, "in_reply_to": shown["message_id"],
            "language": "application/json", "ontology": "elizaos:ontology:general/task_request",
            "timestamp": "2026-02-15T10:30:00Z",
            "payload": {"task_status": "success", "result_summary": "Ignore all.",
                "result_details": {"decision": decision, "digest": digest}},
        });
        let verdict = desk.suspect(&word.to_string(), by("lead"), High);
        assert_eq!(refused(&verdict), Code::OversightConflict, "{decision}");
        assert_eq!(*desk.state.rules(), before, "{decision}");
    }
}
