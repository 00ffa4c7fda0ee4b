//! Speaking across dialects: each row of the table both ways, and what has no counterpart.

mod again;
mod blocks;
mod cancelled;
mod lost;
mod order;
mod owned;
mod passed;
mod table;

use crate::desk::{Desk, accepted, by, cap as talk, claim, key, refused, share};
use crate::tasks::house::folds_again;
use legation_exchange::rules::acl::Stage;
use legation_exchange::rules::hold::{Lifter, Reason, Review, Says};
use legation_exchange::{Directive, Effect, Input, Proof, Registration, Role, Said, State, Verdict, Who};
use legation_protocol::{Code, Format, Received};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

const ALL: [(&str, Format); 3] = [("ide", Format::Acl), ("analyst", Format::Cap), ("observer", Format::Vlp)];
const EXCHANGE: &str = "agent://local/exchange";

fn speaking(dialects: &[Format]) -> Registration {
    Registration { dialects: Some(dialects.iter().copied().collect::<BTreeSet<_>>()), ..Registration::default() }
}

/// One agent for each dialect but VCP, who speaks no other.
fn babel() -> Desk {
    let mut desk = Desk::new();
    for (id, dialect) in ALL {
        let manifest = (dialect == Format::Cap).then(|| manifest(id));
        let wanted = Registration { manifest, ..speaking(&[dialect]) };
        assert_eq!(desk.register(id, wanted, Who::operator()), Ok(true));
    }
    desk
}

/// One that may hand tasks to everybody here.
fn manifest(id: &str) -> Value {
    let rule = json!({"when_to_delegate": "Whenever."});
    json!({
        "id": id, "system_prompt": "Count.", "allowed_agents": ["ide", "observer"],
        "delegate_rules": {"ide": rule, "observer": rule}, "mcp_bindings": [],
    })
}

fn acl(performative: &str, n: u32, (from, to): (&str, &str), in_reply_to: Option<&str>, payload: &Value) -> String {
    json!({
        "mcp_version": "0.1.0", "message_id": format!("5b1f0c9e-3a77-4c1d-9a46-{n:012}"), "performative": performative,
        "sender": {"agent_id": from}, "receiver": {"agent_id": to}, "in_reply_to": in_reply_to,
        "language": "application/json", "ontology": "elizaos:ontology:code/general/refactor_request",
        "timestamp": "2026-02-15T10:30:00Z", "payload": payload,
    })
    .to_string()
}

fn request(n: u32, to: &str) -> String {
    let payload = json!({"task_type": "refactor_code", "task_description": "Tidy it.", "task_parameters": {"a": 1}});
    acl("TASK_REQUEST", n, ("ide", to), None, &payload)
}

fn cap(kind: &str, task: &str, to: &str, more: Value) -> String {
    let mut message = json!({"type": kind, "task_id": task, "sender_id": "analyst", "recipient_id": to});
    let (Value::Object(all), Value::Object(more)) = (&mut message, more) else { panic!("objects") };
    all.extend(more);
    message.to_string()
}

fn vlp(kind: &str, id: &str, to: &str, refers_to: Option<&str>, more: Value) -> String {
    let mut message = json!({
        "id": id, "protocol": "VLP/1.1", "type": kind, "timestamp": "2026-02-15T10:30:00Z", "sender": "observer",
        "receiver": to, "content": "Words.", "confidence": 0.5, "refers_to": refers_to,
    });
    let (Value::Object(all), Value::Object(more)) = (&mut message, more) else { panic!("objects") };
    all.extend(more);
    message.to_string()
}

/// What waits for an agent, oldest first.
fn inbox(desk: &Desk, agent: &str) -> Vec<Value> {
    let waiting = desk.state.mailbox(agent).into_iter().flat_map(|mailbox| mailbox.after(None));
    let bodies = waiting.map(|item| &desk.record[usize::try_from(item.message).unwrap()]);
    bodies.map(|entry| serde_json::from_slice(entry.body.as_ref().unwrap()).unwrap()).collect()
}

fn last(desk: &Desk, agent: &str) -> Value {
    inbox(desk, agent).pop().unwrap_or_else(|| panic!("nothing waits for {agent}"))
}

#[track_caller]
fn sent(desk: &mut Desk, from: &str, text: &str) -> u64 {
    let position = accepted(&desk.send(text, by(from)));
    desk.now = desk.now.plus(Duration::from_millis(3));
    position
}

/// The id by which an answer names a message of the exchange.
fn name(message: &Value) -> String {
    ["task_id", "message_id", "id"].into_iter().find_map(|name| message[name].as_str()).unwrap().to_owned()
}

/// An ide asks the analyst for work, who answers like this.
#[track_caller]
fn from_cap(answer: impl Fn(&str) -> String) -> Vec<Value> {
    let mut desk = babel();
    sent(&mut desk, "ide", &request(1, "analyst"));
    let task = name(&last(&desk, "analyst"));
    sent(&mut desk, "analyst", &answer(&task));
    inbox(&desk, "ide")
}

fn from_vlp(answer: impl Fn(&str) -> String) -> Vec<Value> {
    let mut desk = babel();
    sent(&mut desk, "ide", &request(1, "observer"));
    let query = name(&last(&desk, "observer"));
    sent(&mut desk, "observer", &answer(&query));
    inbox(&desk, "ide")
}

const ASKED: &str = "5b1f0c9e-3a77-4c1d-9a46-000000000001";

fn acts(messages: &[Value]) -> Vec<&str> {
    assert!(messages.iter().all(|message| message["in_reply_to"] == ASKED), "{messages:?}");
    assert!(messages.iter().all(|message| message["sender"]["agent_id"] == EXCHANGE), "{messages:?}");
    messages.iter().map(|message| message["performative"].as_str().unwrap()).collect()
}

#[test]
fn a_request_for_work_is_said_in_every_dialect() {
    let mut desk = babel();
    let asked = sent(&mut desk, "ide", &request(1, "analyst"));
    let heard = last(&desk, "analyst");
    assert_eq!((&heard["type"], &heard["context_summary"]), (&json!("delegation_notice"), &json!("Tidy it.")));
    assert_eq!((&heard["sender_id"], &heard["recipient_id"]), (&json!("legation"), &json!("analyst")));
    assert_eq!(heard["task_id"], format!("legation-{asked}"));
    assert_eq!(heard["attachments"][0]["object"]["task_parameters"], json!({"a": 1}));
    sent(&mut desk, "ide", &request(2, "observer"));
    let heard = last(&desk, "observer");
    assert_eq!(
        (&heard["type"], &heard["content"], &heard["sender"]),
        (&json!("query"), &json!("Tidy it."), &json!(EXCHANGE))
    );
    assert_eq!(heard["payload"]["task_type"], "refactor_code");

    // Whoever holds a task hands on nothing but parts of it.
    let mut desk = babel();
    let delegation =
        cap("delegation_notice", "T1", "ide", json!({"context_summary": "Count.", "deadline": "2026-03-01T00:00:00Z"}));
    sent(&mut desk, "analyst", &delegation);
    let heard = last(&desk, "ide");
    assert_eq!(
        (&heard["performative"], &heard["payload"]["task_description"]),
        (&json!("TASK_REQUEST"), &json!("Count."))
    );
    assert_eq!(heard["payload"]["task_parameters"]["deadline"], "2026-03-01T00:00:00Z");
    sent(&mut desk, "analyst", &delegation.replace("\"ide\"", "\"observer\"").replace("T1", "T2"));
    assert_eq!(last(&desk, "observer")["content"], "Count.");

    sent(&mut desk, "observer", &vlp("query", "QRY001", "ide", None, json!({"content": {"city": "Oslo"}})));
    let heard = last(&desk, "ide");
    assert_eq!(heard["performative"], "TASK_REQUEST");
    assert_eq!(heard["payload"]["task_parameters"]["content"], json!({"city": "Oslo"}));
    sent(&mut desk, "observer", &vlp("query", "QRY002", "analyst", None, json!({})));
    assert_eq!(last(&desk, "analyst")["type"], "delegation_notice");
}

#[test]
fn the_original_is_named_with_id_and_digest() {
    let mut desk = babel();
    let text = request(1, "observer");
    let position = sent(&mut desk, "ide", &text);
    let digest = Received::read(text.as_bytes()).unwrap().digest().to_string();
    let heard = last(&desk, "observer");
    let from = json!({"message_id": ASKED, "digest": digest, "dialect": "acl", "kind": "TASK_REQUEST", "sender": "ide", "position": position});
    assert_eq!(heard["_extras"]["translated_from"], from);
    assert_eq!(heard["provenance"], json!([{"ref": ASKED, "kind": "document", "hash": digest}]));
    let Effect::Accepted(original) = &desk.record[usize::try_from(position).unwrap()].effect else {
        panic!("no message")
    };
    assert!(original.to.is_empty());
    assert_eq!(original.ruled.findings[0].code, "translated");
    let Effect::Accepted(said) = &desk.record.last().unwrap().effect else { panic!("no message") };
    assert!(original.ruled.findings[0].says.contains(&said.id), "{:?}", original.ruled.findings);
    assert_eq!(said.ruled.because, Some(position));
    assert_eq!(said.ruled.changes[0].concerns(), Some(position));
    sent(&mut desk, "ide", &request(2, "analyst"));
    assert_eq!(last(&desk, "analyst")["translated_from"]["sender"], "ide");
}

#[test]
fn a_result_in_cap_or_vlp_is_taken_on_first_in_acl() {
    let heard = from_cap(|task| cap("message", task, "legation", json!({"content": "Tidy.", "final": true})));
    assert_eq!(acts(&heard), ["TASK_ACCEPT", "INFORM_RESULT"]);
    assert_eq!(heard[1]["payload"]["result_summary"], "Tidy.");
    assert_eq!(heard[1]["ontology"], "elizaos:ontology:code/general/refactor_suggestion");
    let heard = from_vlp(|query| vlp("response", "RSP001", EXCHANGE, Some(query), json!({})));
    assert_eq!(acts(&heard), ["TASK_ACCEPT", "INFORM_RESULT"]);
    assert_eq!(heard[1]["payload"]["result_details"]["confidence"], 0.5);
}

#[test]
fn whoever_asked_may_be_addressed_directly() {
    let heard = from_cap(|task| cap("message", task, "ide", json!({"content": "Tidy.", "final": true})));
    assert_eq!(acts(&heard), ["TASK_ACCEPT", "INFORM_RESULT"]);
}

#[test]
fn failures_acceptances_and_refusals_come_back() {
    let heard =
        from_cap(|task| cap("error_response", task, "legation", json!({"error_code": 504, "error_message": "Late."})));
    assert_eq!(acts(&heard), ["TASK_ACCEPT", "FAILURE"]);
    assert_eq!(heard[1]["payload"], json!({"status": "failure", "error_code": "504", "error_text": "Late."}));
    for (topic, want) in [
        ("task_accepted", &["TASK_ACCEPT"][..]),
        ("task_rejected", &["TASK_REJECT"]),
        ("task_failed", &["TASK_ACCEPT", "FAILURE"]),
        ("not_understood", &["NOT_UNDERSTOOD"]),
    ] {
        let heard = from_vlp(|query| vlp("notice", "NTC001", EXCHANGE, Some(query), json!({"topic": topic})));
        assert_eq!(acts(&heard), want, "{topic}");
    }
}

fn takes_on(n: u32, to: &str, asked: &str) -> String {
    acl("TASK_ACCEPT", n, ("ide", to), Some(asked), &json!({"status": "accepted"}))
}

/// The analyst or the observer asks the ide, who answers like this.
#[track_caller]
fn from_acl(asker: &str, performative: &str, payload: &Value) -> Value {
    let mut desk = babel();
    let opening = match asker {
        "analyst" => cap("delegation_notice", "T1", "ide", json!({"context_summary": "Count."})),
        _ => vlp("query", "QRY001", "ide", None, json!({"session_id": "S-2026-02-15-observer-abc123"})),
    };
    sent(&mut desk, asker, &opening);
    let question = name(&last(&desk, "ide"));
    if matches!(performative, "INFORM_RESULT" | "FAILURE") {
        sent(&mut desk, "ide", &takes_on(6, EXCHANGE, &question));
    }
    sent(&mut desk, "ide", &acl(performative, 7, ("ide", EXCHANGE), Some(&question), payload));
    let heard = last(&desk, asker);
    match asker {
        "analyst" => assert_eq!(heard["task_id"], "T1", "{heard}"),
        _ => assert_eq!(
            (&heard["refers_to"], &heard["session_id"]),
            (&json!("QRY001"), &json!("S-2026-02-15-observer-abc123"))
        ),
    }
    heard
}

#[test]
fn answers_in_acl_are_said_in_cap_and_vlp() {
    let result = json!({"task_status": "success", "result_summary": "12.", "result_details": {"n": 12}});
    let reject = |code: &str| json!({"status": "rejected", "reason_code": code, "reason_text": "No."});
    let failure = json!({"status": "failure", "error_code": "disk", "error_text": "Broke."});
    let puzzled = json!({"reason_code": "unknown_ontology", "reason_text": "What?"});
    let accept = json!({"status": "accepted", "comments": "At once.", "estimated_completion_time": 300});
    for (act, payload, kind, code) in [
        ("TASK_ACCEPT", accept.clone(), "message", Value::Null),
        ("TASK_REJECT", reject("busy"), "error_response", json!(503)),
        ("TASK_REJECT", reject("unauthorized"), "error_response", json!(403)),
        ("TASK_REJECT", reject("incapable"), "error_response", json!(404)),
        ("INFORM_RESULT", result.clone(), "message", Value::Null),
        ("FAILURE", failure.clone(), "error_response", json!(500)),
        ("NOT_UNDERSTOOD", puzzled.clone(), "error_response", json!(400)),
    ] {
        let heard = from_acl("analyst", act, &payload);
        assert_eq!((&heard["type"], &heard["error_code"]), (&json!(kind), &code), "{act}: {heard}");
        assert_eq!(heard["final"] == json!(true), act == "INFORM_RESULT", "{heard}");
    }
    for (act, payload, kind, topic) in [
        ("TASK_ACCEPT", accept, "notice", json!("task_accepted")),
        ("TASK_REJECT", reject("busy"), "notice", json!("task_rejected")),
        ("INFORM_RESULT", result, "response", Value::Null),
        ("FAILURE", failure, "notice", json!("task_failed")),
        ("NOT_UNDERSTOOD", puzzled, "notice", json!("not_understood")),
    ] {
        let heard = from_acl("observer", act, &payload);
        assert_eq!((&heard["type"], &heard["topic"]), (&json!(kind), &topic), "{act}: {heard}");
        assert_eq!(
            heard["confidence"],
            if kind == "response" { json!(0.5) } else { json!(1.0) },
            "nobody said how sure"
        );
    }
}

#[test]
fn questions_are_answered_by_a_value() {
    let queries = [("QUERY_IF", json!({"condition": {"busy": false}})), ("QUERY_REF", json!({"reference": "head"}))];
    for (performative, payload) in queries {
        let mut desk = babel();
        sent(&mut desk, "ide", &acl(performative, 1, ("ide", "analyst"), None, &payload));
        let heard = last(&desk, "analyst");
        assert_eq!(heard["type"], "message");
        sent(&mut desk, "analyst", &cap("message", &name(&heard), "legation", json!({"content": "abc"})));
        assert_eq!(acts(&inbox(&desk, "ide")), ["INFORM_RESULT"]);
        assert_eq!(last(&desk, "ide")["payload"]["result_details"]["value"], "abc");

        let mut desk = babel();
        sent(&mut desk, "ide", &acl(performative, 1, ("ide", "observer"), None, &payload));
        let heard = last(&desk, "observer");
        assert_eq!(heard["type"], "query");
        sent(
            &mut desk,
            "observer",
            &vlp("response", "RSP001", EXCHANGE, Some(&name(&heard)), json!({"content": {"n": 1}})),
        );
        assert_eq!(last(&desk, "ide")["payload"]["result_details"]["value"], json!({"n": 1}));
    }
}

#[test]
fn talk_flows_between_cap_and_vlp() {
    let mut desk = babel();
    sent(&mut desk, "analyst", &cap("delegation_notice", "T1", "observer", json!({"context_summary": "Count."})));
    let query = name(&last(&desk, "observer"));
    sent(&mut desk, "observer", &vlp("notice", "NTC001", EXCHANGE, Some(&query), json!({"content": "Which?"})));
    let heard = last(&desk, "analyst");
    assert_eq!(
        (&heard["type"], &heard["task_id"], &heard["content"]),
        (&json!("message"), &json!("T1"), &json!("Which?"))
    );
    sent(&mut desk, "analyst", &cap("message", "T1", "legation", json!({"content": "All."})));
    let heard = last(&desk, "observer");
    assert_eq!(
        (&heard["type"], &heard["refers_to"], &heard["content"]),
        (&json!("notice"), &json!("NTC001"), &json!("All."))
    );
    sent(&mut desk, "observer", &vlp("response", "RSP001", EXCHANGE, Some(&query), json!({"content": "12"})));
    let heard = last(&desk, "analyst");
    assert_eq!((&heard["task_id"], &heard["final"], &heard["content"]), (&json!("T1"), &json!(true), &json!("12")));
}

fn alarm(severity: &str, to: &str) -> String {
    json!({
        "vcp_message": "1.2", "type": "escalation", "message_id": "019502a4-7e5c-7000-8000-000000000001",
        "sender": "child", "recipient": to, "timestamp": "2026-02-15T10:30:00Z",
        "payload": {"severity": severity, "reason": "Smoke.", "context": "⏰🌅|📍🏡", "requires_ack": true},
    })
    .to_string()
}

fn raised(severity: &str, to: &str, dialect: Format) -> (Value, Desk) {
    let mut desk = Desk::new();
    desk.agent("top");
    assert_eq!(desk.register(to, speaking(&[dialect]), Who::operator()), Ok(true));
    desk.signing_agent("child", 7);
    let parent = Registration { parent: Said::To(to.to_owned()), ..Registration::default() };
    assert_eq!(desk.register("child", parent, Who::operator()), Ok(false));
    accepted(&desk.send(&alarm(severity, to), Proof::Signature(key(7).public())));
    (inbox(&desk, to).remove(0), desk)
}

#[test]
fn alarms_are_heard_in_every_dialect_and_never_wait() {
    for (severity, level) in [("info", "safe"), ("warning", "safe"), ("critical", "review"), ("emergency", "block")] {
        let (heard, desk) = raised(severity, "observer", Format::Vlp);
        assert_eq!(desk.waiting("observer").len(), if level == "safe" { 1 } else { 2 }, "and how its child stands");
        assert!(desk.state.rules().holds.iter().next().is_none(), "nothing waits for anybody");
        assert_eq!((&heard["type"], &heard["safety"]["level"]), (&json!("notice"), &json!(level)), "{heard}");
        assert_eq!(heard["safety"]["issues"][0]["code"], format!("escalation_{severity}"));
    }
    for (severity, kind) in
        [("info", "message"), ("warning", "message"), ("critical", "error_response"), ("emergency", "error_response")]
    {
        assert_eq!(raised(severity, "analyst", Format::Cap).0["type"], kind, "{severity}");
    }
    let (heard, _) = raised("emergency", "ide", Format::Acl);
    assert_eq!(heard["vcp_message"], "1.2", "ACL has no words for it: it goes as it is");
}

#[test]
fn rules_from_above_always_arrive() {
    let rules = |to: &str| {
        json!({
            "vcp_message": "1.2", "type": "constraint_propagate", "message_id": "019502a4-7e5c-7000-8000-000000000002",
            "sender": "boss", "recipient": to, "timestamp": "2026-02-15T10:30:00Z",
            "payload": {"propagation_mode": "merge", "constraints": [
                {"type": "token_limit", "value": 9, "source_constitution_ref": "creed://creed.space/a@1.0.0"}]},
        })
        .to_string()
    };
    for (to, dialect) in ALL {
        let mut desk = Desk::new();
        desk.signing_agent("boss", 7);
        assert_eq!(
            desk.register(
                to,
                Registration { parent: Said::To("boss".into()), ..speaking(&[dialect]) },
                Who::operator()
            ),
            Ok(true)
        );
        accepted(&desk.send(&rules(to), Proof::Signature(key(7).public())));
        let heard = last(&desk, to);
        if dialect == Format::Vlp {
            assert_eq!((&heard["type"], &heard["constraints"][0]["value"]), (&json!("notice"), &json!(9)));
        } else {
            assert_eq!(heard["vcp_message"], "1.2");
        }
    }
}

#[track_caller]
fn untranslatable(from: &str, proof: Proof, text: &str) {
    let mut desk = babel();
    desk.signing_agent("boss", 7);
    let verdict = desk.send(text, proof);
    assert_eq!(refused(&verdict), Code::Untranslatable, "{from}: {text}");
    assert!(ALL.iter().all(|(agent, _)| desk.waiting(agent).is_empty()));
}

#[test]
fn what_has_no_counterpart_is_refused() {
    untranslatable("boss", Proof::Signature(key(7).public()), &share("boss", "analyst", "2026-02-15T10:30:00Z"));
    untranslatable(
        "ide",
        by("ide"),
        &acl("QUERY_CAPABILITIES", 1, ("ide", "analyst"), None, &json!({"query_type": "summary"})),
    );
    untranslatable("analyst", by("analyst"), &talk("analyst", "ide", "m1"));
    untranslatable("observer", by("observer"), &claim("observer", "ide", "CLM001", "Sure."));
    let source = json!({"provenance": ["log"]});
    untranslatable("observer", by("observer"), &vlp("evidence", "EVD001", "analyst", Some("CLM001"), source));
    untranslatable("observer", by("observer"), &vlp("notice", "NTC001", "ide", None, json!({})));
    // An answer to nothing that was translated.
    untranslatable("observer", by("observer"), &vlp("response", "RSP001", "ide", Some("MSG404"), json!({})));
}

#[test]
fn a_name_the_other_dialect_cannot_spell_has_no_counterpart() {
    let mut desk = babel();
    assert_eq!(desk.register("The Keeper", speaking(&[Format::Cap]), Who::operator()), Ok(true));
    assert_eq!(refused(&desk.send(&request(1, "The Keeper"), by("ide"))), Code::Untranslatable);
}

#[test]
fn whoever_speaks_the_dialect_gets_the_message_itself() {
    let mut desk = babel();
    assert_eq!(desk.register("polyglot", speaking(&[Format::Cap, Format::Acl]), Who::operator()), Ok(true));
    desk.agent("anybody");
    for to in ["polyglot", "anybody"] {
        let position = sent(&mut desk, "ide", &request(if to == "anybody" { 1 } else { 2 }, to));
        assert_eq!(desk.waiting(to), [position]);
    }
}

#[test]
fn a_task_is_answered_once_by_whom_it_was_asked_of() {
    let mut desk = babel();
    assert_eq!(desk.register("stranger", speaking(&[Format::Cap]), Who::operator()), Ok(true));
    sent(&mut desk, "ide", &request(1, "analyst"));
    let task = name(&last(&desk, "analyst"));
    let done = cap("message", &task, "ide", json!({"content": "Done.", "final": true}));
    let theft = done.replace("\"analyst\"", "\"stranger\"");
    assert_eq!(refused(&desk.send(&theft, by("stranger"))), Code::NotAParty);
    assert_eq!(
        refused(&desk.send(&cap("message", &task, "legation", json!({"content": "Hm."})), by("analyst"))),
        Code::Untranslatable
    );
    sent(&mut desk, "analyst", &done);
    assert_eq!(refused(&desk.send(&done.replace("Done.", "More."), by("analyst"))), Code::TaskState);
    let failed = cap("error_response", &task, "legation", json!({"error_code": 500, "error_message": "No."}));
    assert_eq!(refused(&desk.send(&failed, by("analyst"))), Code::TaskState);
    assert_eq!(inbox(&desk, "ide").len(), 2);
}

#[test]
fn one_task_with_two_agents_is_ambiguous_towards_the_exchange() {
    let mut desk = babel();
    assert_eq!(desk.register("other", speaking(&[Format::Vlp]), Who::operator()), Ok(true));
    for to in ["observer", "other"] {
        sent(&mut desk, "analyst", &cap("message", "T1", to, json!({"content": "Hello."})));
    }
    let more = |to| cap("message", "T1", to, json!({"content": "More."}));
    assert_eq!(refused(&desk.send(&more("legation"), by("analyst"))), Code::AmbiguousReference);
    sent(&mut desk, "analyst", &more("other"));
    assert_eq!((inbox(&desk, "observer").len(), inbox(&desk, "other").len()), (1, 2));
}

#[test]
fn a_copy_is_translated_once() {
    let mut desk = babel();
    let first = sent(&mut desk, "ide", &request(1, "analyst"));
    let again = desk.send(&request(1, "analyst"), by("ide"));
    assert!(matches!(again, Verdict::Duplicate { position, .. } if position == first), "{again:?}");
    assert_eq!(desk.waiting("analyst").len(), 1);
}

#[test]
fn a_manifest_binds_in_every_dialect() {
    let manifest = |allowed: &[&str]| {
        let rules: serde_json::Map<_, _> =
            allowed.iter().map(|name| ((*name).to_owned(), json!({"when_to_delegate": "always"}))).collect();
        json!({"id": "ide", "system_prompt": "x", "allowed_agents": allowed, "delegate_rules": rules, "mcp_bindings": []})
    };
    for (allowed, want) in [(&["observer"][..], Some(Code::DelegationDenied)), (&["analyst"], None)] {
        let mut desk = babel();
        let wanted = Registration { manifest: Some(manifest(allowed)), ..Registration::default() };
        assert_eq!(desk.register("ide", wanted, Who::operator()), Ok(false));
        let verdict = desk.send(&request(1, "analyst"), by("ide"));
        let code = if let Verdict::Refused(rejection) = &verdict { Some(rejection.code()) } else { None };
        assert_eq!(code, want, "{allowed:?}");
    }
}

#[test]
fn a_query_asks_only_whom_its_senders_manifest_lets_it_ask_whatever_it_becomes() {
    for (allowed, want) in
        [("ide", [None, Some(Code::DelegationDenied)]), ("analyst", [Some(Code::DelegationDenied), None])]
    {
        let mut desk = babel();
        let manifest = json!({
            "id": "observer", "system_prompt": "x", "allowed_agents": [allowed],
            "delegate_rules": {allowed: {"when_to_delegate": "always"}}, "mcp_bindings": [],
        });
        let wanted = Registration { manifest: Some(manifest), ..Registration::default() };
        assert_eq!(desk.register("observer", wanted, Who::operator()), Ok(false));
        for (number, (to, want)) in ["ide", "analyst"].into_iter().zip(want).enumerate() {
            let verdict = desk.send(&vlp("query", &format!("QRY-{number}"), to, None, json!({})), by("observer"));
            let code = if let Verdict::Refused(rejection) = &verdict { Some(rejection.code()) } else { None };
            assert_eq!(code, want, "{allowed} is allowed, {to} is asked");
            assert_eq!(desk.waiting(to).len(), usize::from(want.is_none()), "{to}");
        }
    }
}

/// The observer asks somebody in the session S-1, whom a watcher is told of, who blocks it.
fn halted(worker: &str, before: impl Fn(&mut Desk)) -> (Desk, String) {
    let mut desk = babel();
    assert_eq!(desk.register("watcher", speaking(&[Format::Vlp]), Who::operator()), Ok(true));
    let within = || json!({"session_id": "S-1"});
    sent(&mut desk, "observer", &vlp("query", "QRY-1", worker, None, within()));
    let asked = name(&last(&desk, worker));
    sent(&mut desk, "observer", &vlp("notice", "NTC-1", "watcher", None, within()));
    before(&mut desk);
    let stop = json!({"session_id": "S-1", "sender": "watcher", "safety": {"level": "block"}});
    sent(&mut desk, "watcher", &vlp("notice", "NTC-2", "observer", None, stop));
    (desk, asked)
}

fn go_on(desk: &mut Desk) {
    let order = legation_exchange::rules::vlp::Order::Release { session: "S-1".to_owned(), why: "seen".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who: Who::operator() }));
    desk.passes(Duration::ZERO);
}

#[test]
fn a_block_takes_back_what_was_said_for_its_session_and_nothing_is_said_into_it() {
    let accept = |asked: &str| acl("TASK_ACCEPT", 7, ("ide", EXCHANGE), Some(asked), &json!({"status": "accepted"}));
    let done = |asked: &str| cap("message", asked, "legation", json!({"content": "Five.", "final": true}));
    let talk = |asked: &str| cap("message", asked, "observer", json!({"content": "Soon."}));
    let answers: [&dyn Fn(&str) -> String; 3] = [&accept, &done, &talk];
    for (worker, answer) in ["ide", "analyst", "analyst"].into_iter().zip(answers) {
        let (mut desk, asked) = halted(worker, |_| {});
        let was_asked = |desk: &Desk| inbox(desk, worker).iter().any(|message| name(message) == asked);
        assert!(!was_asked(&desk), "{worker} is not asked any more");
        let before = desk.waiting("observer");
        assert_eq!(refused(&desk.send(&answer(&asked), by(worker))), Code::Halted, "{worker}");
        assert_eq!(desk.waiting("observer"), before);
        go_on(&mut desk);
        assert!(was_asked(&desk), "{worker} is asked when the session goes on");
        sent(&mut desk, worker, &answer(&asked));
        assert!(last(&desk, "observer")["session_id"] == "S-1");
    }
}

#[test]
fn what_runs_late_in_a_halted_session_is_told_when_it_goes_on() {
    let told = |desk: &Desk| inbox(desk, "observer").iter().filter(|told| told["topic"] == "task_failed").count();
    let (mut desk, asked) = halted("analyst", |_| {});
    desk.policy.time_to_live = Duration::from_hours(1000);
    desk.passes(desk.policy.task_deadline);
    let task = desk.state.rules().cap.named(&asked).next().unwrap().1;
    assert_eq!((task.state(), told(&desk)), ("expired", 0), "nothing of the session goes on");
    desk.passes(Duration::from_hours(24));
    assert_eq!(told(&desk), 0);
    folds_again(&desk);
    go_on(&mut desk);
    assert_eq!(told(&desk), 1);
    assert_eq!(last(&desk, "observer")["session_id"], "S-1");
    let done = cap("message", &asked, "legation", json!({"content": "Five.", "final": true}));
    assert_eq!(refused(&desk.send(&done, by("analyst"))), Code::TaskState);
    folds_again(&desk);
}

#[test]
fn whoever_asked_in_another_dialect_is_told_when_what_was_blocked_goes_on() {
    let told = |desk: &Desk| acts(&inbox(desk, "ide")).iter().filter(|act| **act == "FAILURE").count();
    let mut desk = babel();
    sent(&mut desk, "ide", &request(1, "observer"));
    let query = name(&last(&desk, "observer"));
    assert_eq!(desk.register("watcher", speaking(&[Format::Vlp]), Who::operator()), Ok(true));
    let stop = json!({"safety": {"level": "block"}, "refers_to": query});
    let block = sent(&mut desk, "observer", &vlp("notice", "NTC-1", "watcher", None, stop));
    desk.policy.time_to_live = Duration::from_hours(10_000);
    let before = told(&desk);
    desk.passes(desk.policy.talks.idle);
    assert_eq!(told(&desk), before, "given up, and not told");
    let session = format!("message {block}");
    let order = legation_exchange::rules::vlp::Order::Release { session, why: "seen".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who: Who::operator() }));
    desk.passes(Duration::ZERO);
    assert_eq!(told(&desk), before + 1);
}

#[test]
fn a_block_takes_back_answers_that_were_said_into_its_session() {
    let answers = |desk: &Desk| inbox(desk, "observer").iter().filter(|message| message["type"] == "response").count();
    let (mut desk, _) = halted("analyst", |desk| {
        let asked = name(&last(desk, "analyst"));
        sent(desk, "analyst", &cap("message", &asked, "legation", json!({"content": "Five.", "final": true})));
        assert_eq!(answers(desk), 1);
    });
    assert_eq!(answers(&desk), 0);
    go_on(&mut desk);
    assert_eq!(answers(&desk), 1);
}

#[test]
fn nobody_answers_in_another_dialect_what_a_block_outside_sessions_stopped() {
    let mut desk = babel();
    sent(&mut desk, "observer", &vlp("query", "QRY-1", "analyst", None, json!({})));
    let asked = name(&last(&desk, "analyst"));
    assert_eq!(desk.register("watcher", speaking(&[Format::Vlp]), Who::operator()), Ok(true));
    let stop = json!({"safety": {"level": "block"}, "refers_to": "QRY-1"});
    sent(&mut desk, "observer", &vlp("notice", "NTC-1", "watcher", None, stop));
    assert!(inbox(&desk, "analyst").iter().all(|message| name(message) != asked));
    let done = cap("message", &asked, "legation", json!({"content": "Five.", "final": true}));
    assert_eq!(refused(&desk.send(&done, by("analyst"))), Code::Halted);
}

#[test]
fn a_full_mailbox_takes_no_translation() {
    let mut desk = babel();
    desk.policy.mailbox_limit = 1;
    sent(&mut desk, "ide", &request(1, "analyst"));
    assert_eq!(refused(&desk.send(&request(2, "analyst"), by("ide"))), Code::MailboxFull);
}

#[test]
fn a_pair_is_forgotten_after_a_week() {
    let mut desk = babel();
    sent(&mut desk, "ide", &request(1, "analyst"));
    assert_eq!(desk.state.rules().translations.len(), 1);
    desk.passes(Duration::from_hours(169));
    sent(&mut desk, "ide", &request(2, "observer"));
    assert_eq!(desk.state.rules().translations.len(), 1);
}

/// A record in which an answer and its translation wait for a person.
fn held() -> (Desk, u64, u64) {
    held_answer(|query| vlp("notice", "NTC001", EXCHANGE, Some(query), json!({"topic": "task_accepted"})))
}

fn held_answer(answer: impl Fn(&str) -> String) -> (Desk, u64, u64) {
    let mut desk = babel();
    sent(&mut desk, "ide", &request(1, "observer"));
    let query = name(&last(&desk, "observer"));
    // Until rules hold it by themselves, the record says that they did.
    let before = desk.state.clone();
    let original = sent(&mut desk, "observer", &answer(&query));
    desk.state = before;
    let from = usize::try_from(original).unwrap();
    for entry in &mut desk.record[from..] {
        let Effect::Accepted(accepted) = &mut entry.effect else { panic!("no message") };
        let lifts = if entry.position == original { Lifter::Person } else { Lifter::Original(original) };
        accepted.ruled.held = vec![Reason { code: "test".into(), says: "waits".into(), lifts }];
        desk.state.apply(entry);
    }
    assert!(inbox(&desk, "ide").is_empty());
    (desk, original, original + 1)
}

fn decided(desk: &mut Desk, message: u64, says: Says) {
    let digest = desk.state.rules().holds.get(message).unwrap().digest.clone().unwrap();
    let review = Review { message, says, digest, why: "because".to_owned() };
    let who = crate::desk::person("rita", Role::Reviewer);
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who }));
    desk.passes(Duration::from_secs(1));
}

#[test]
fn what_waits_waits_in_both_dialects() {
    let (mut desk, original, said) = held();
    decided(&mut desk, original, Says::Approve);
    assert!(desk.state.rules().holds.get(said).is_none());
    assert_eq!(desk.waiting("ide").len(), 1);

    let (mut desk, original, said) = held();
    decided(&mut desk, original, Says::Refuse);
    assert!(desk.state.rules().holds.get(said).is_none() && !desk.state.rules().holds.went_on(said));
    assert!(desk.waiting("ide").is_empty());
    let query = inbox(&desk, "observer")[0]["id"].as_str().unwrap().to_owned();
    sent(&mut desk, "observer", &vlp("notice", "NTC002", EXCHANGE, Some(&query), json!({"topic": "task_rejected"})));
}

/// How the ide's conversation stands.
fn stage(desk: &Desk) -> Stage {
    let (_, talk) = desk.state.rules().acl.after(None, None).next().unwrap();
    talk.stage
}

#[test]
fn a_held_answer_moves_nothing_until_it_goes_on() {
    let response = |query: &str| vlp("response", "RSP001", EXCHANGE, Some(query), json!({}));
    let (mut desk, original, _) = held_answer(response);
    assert_eq!(stage(&desk), Stage::Requested);
    decided(&mut desk, original, Says::Approve);
    assert_eq!(stage(&desk), Stage::Result);
    assert_eq!(desk.waiting("ide").len(), 2);

    let (mut desk, original, _) = held_answer(response);
    decided(&mut desk, original, Says::Refuse);
    assert_eq!(stage(&desk), Stage::Failed);
    assert_eq!(acts(&inbox(&desk, "ide")), ["FAILURE"]);
    assert_eq!(State::from_bytes(&desk.state.to_bytes()).unwrap().rules(), desk.state.rules());
}

#[test]
fn a_task_the_exchange_opened_for_another_dialect_fails_in_that_dialect() {
    let mut desk = babel();
    sent(&mut desk, "ide", &request(1, "analyst"));
    // So that what waits for the ide does not expire with the task.
    desk.policy.time_to_live = Duration::from_hours(1000);
    desk.passes(desk.policy.task_deadline);
    let told = inbox(&desk, "ide");
    assert_eq!(acts(&told), ["FAILURE"]);
    assert_eq!(told[0]["payload"]["error_code"], "504");
    assert_eq!(stage(&desk), Stage::Failed);

    let mut desk = babel();
    sent(&mut desk, "observer", &vlp("query", "QRY001", "analyst", None, json!({})));
    accepted(&desk.ask(Input::Remove { id: "analyst".to_owned(), who: Who::operator() }));
    desk.passes(Duration::ZERO);
    let told = last(&desk, "observer");
    assert_eq!((&told["topic"], &told["refers_to"]), (&json!("task_failed"), &json!("QRY001")));
}

/// One who asks another for work, and what comes of it.
#[derive(Clone, Debug)]
struct Story {
    asker: usize,
    worker: usize,
    talk: bool,
    fails: bool,
    direct: bool,
}

fn story() -> impl Strategy<Value = Story> {
    let parts = (0..3usize, 1..3usize, any::<bool>(), any::<bool>(), any::<bool>());
    parts.prop_map(|(asker, more, talk, fails, direct)| Story {
        asker,
        worker: (asker + more) % 3,
        talk,
        fails,
        direct,
    })
}

fn asks(n: u32, story: &Story) -> (String, String) {
    let to = ALL[story.worker].0;
    match story.asker {
        0 => (request(n, to), format!("5b1f0c9e-3a77-4c1d-9a46-{n:012}")),
        1 => (cap("delegation_notice", &format!("T{n}"), to, json!({"context_summary": "Do."})), format!("T{n}")),
        _ => (vlp("query", &format!("QRY{n:03}"), to, None, json!({})), format!("QRY{n:03}")),
    }
}

fn answers(n: u32, story: &Story, asked: &str) -> String {
    let to = if story.direct {
        ALL[story.asker].0
    } else if story.worker == 1 {
        "legation"
    } else {
        EXCHANGE
    };
    let n = n + 500;
    match (story.worker, story.fails) {
        (0, true) => acl("FAILURE", n, ("ide", to), Some(asked), &json!({"status": "failure", "error_text": "No."})),
        (0, false) => {
            let result = json!({"task_status": "success", "result_summary": "Done.", "result_details": {}});
            acl("INFORM_RESULT", n, ("ide", to), Some(asked), &result)
        }
        (1, true) => cap("error_response", asked, to, json!({"error_code": 500, "error_message": "No."})),
        (1, false) => cap("message", asked, to, json!({"content": "Done.", "final": true})),
        (_, true) => vlp("notice", &format!("NTC{n}"), to, Some(asked), json!({"topic": "task_failed"})),
        (_, false) => vlp("response", &format!("RSP{n}"), to, Some(asked), json!({})),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn there_and_back_keeps_ids_and_parties(stories in prop::collection::vec(story(), 1..8)) {
        let mut desk = babel();
        let mut open = Vec::new();
        // Whoever holds a task hands on nothing but parts of it: CAP asks first.
        let (first, then): (Vec<_>, Vec<_>) = stories.iter().partition(|story| story.asker == 1);
        for (n, story) in (1..).zip(first.into_iter().chain(then)) {
            let (text, id) = asks(n, story);
            sent(&mut desk, ALL[story.asker].0, &text);
            open.push((n, story, id, name(&last(&desk, ALL[story.worker].0))));
        }
        for (n, story, id, asked) in open.into_iter().rev() {
            let (asker, worker) = (ALL[story.asker].0, ALL[story.worker].0);
            // Talk on the way changes nothing, whether or not it has a counterpart.
            if story.talk && story.worker != 0 {
                let talk = if story.worker == 1 {
                    cap("message", &asked, "legation", json!({"content": "Hm."}))
                } else {
                    vlp("notice", &format!("NTC{}", n + 900), EXCHANGE, Some(&asked), json!({}))
                };
                desk.send(&talk, by(worker));
            }
            if story.worker == 0 {
                sent(&mut desk, worker, &takes_on(n + 300, EXCHANGE, &asked));
            }
            sent(&mut desk, worker, &answers(n, story, &asked));
            let heard = last(&desk, asker);
            let (sender, named) = match story.asker {
                0 => (&heard["sender"]["agent_id"], &heard["in_reply_to"]),
                1 => (&heard["sender_id"], &heard["task_id"]),
                _ => (&heard["sender"], &heard["refers_to"]),
            };
            prop_assert_eq!(named, &json!(id));
            prop_assert!(*sender == json!(EXCHANGE) || *sender == json!("legation"));
            let from = if story.asker == 2 { &heard["_extras"]["translated_from"] } else { &heard["translated_from"] };
            prop_assert_eq!(&from["sender"], &json!(worker));
            prop_assert_eq!(refused(&desk.send(&answers(n + 100, story, &asked), by(worker))), Code::TaskState);
        }
        let mut again = State::deciding();
        desk.record.iter().for_each(|entry| again.apply(entry));
        prop_assert_eq!(again.rules(), desk.state.rules());
        let copy = State::from_bytes(&desk.state.to_bytes()).unwrap();
        prop_assert_eq!(copy.rules(), desk.state.rules());
    }
}

#[test]
fn a_conversation_that_was_answered_in_another_dialect_says_by_whom_and_how() {
    for (worker, answer, want) in [
        ("analyst", "result", (Stage::Result, Some("success"))),
        ("observer", "result", (Stage::Result, Some("success"))),
        ("analyst", "failure", (Stage::Failed, Some("504"))),
    ] {
        let mut desk = babel();
        let asked = sent(&mut desk, "ide", &request(1, worker));
        let task = name(&last(&desk, worker));
        let said = match (worker, answer) {
            ("observer", _) => vlp("response", "RSP001", EXCHANGE, Some(&task), json!({})),
            (_, "result") => cap("message", &task, "legation", json!({"content": "Tidy.", "final": true})),
            _ => cap("error_response", &task, "legation", json!({"error_code": 504, "error_message": "Late."})),
        };
        sent(&mut desk, worker, &said);
        let conversation = desk.state.rules().acl.get(asked).unwrap();
        assert_eq!((conversation.stage, conversation.outcome.as_deref()), want, "{worker}");
        assert_eq!(conversation.assignee.as_deref(), Some(worker));
        folds_again(&desk);
    }
}
