//! Agents of different dialects who speak through the exchange.

use crate::house::{House, path_of};
use crate::words::{Party, fresh_id, time_from_now};
use serde_json::{Value, json};

const EXCHANGE: &str = "agent://local/exchange";

fn speaker(house: &House, id: &str, dialect: &str) -> Party {
    let party = house.admit(id);
    let body = format!(r#"{{"dialects":["{dialect}"]}}"#);
    house.ask("PUT", path_of(id)).by(&house.operator).json(body).ok();
    party
}

fn request(id: &str, to: &str) -> String {
    json!({
        "mcp_version": "0.1.0", "message_id": id, "performative": "TASK_REQUEST",
        "sender": {"agent_id": "ide"}, "receiver": {"agent_id": to}, "language": "application/json",
        "ontology": "elizaos:ontology:code/general/refactor_request", "timestamp": time_from_now(0),
        "payload": {
            "task_type": "refactor_code_snippet", "task_description": "Make it readable.",
            "task_parameters": {"code_snippet": "x=1"},
        },
    })
    .to_string()
}

fn waiting(house: &House, party: &Party) -> Vec<Value> {
    house.inbox(party, "")["messages"].as_array().unwrap().clone()
}

fn steps(house: &House, position: u64) -> Vec<Value> {
    let told = house.ask("GET", format!("/v1/messages/{position}/explain")).by(&house.operator).get().ok();
    told["steps"].as_array().unwrap().clone()
}

#[track_caller]
fn explained(house: &House, position: u64, other: u64) {
    let steps = steps(house, position);
    let step = steps.iter().find(|step| step["step"] == "translated");
    let step = step.unwrap_or_else(|| panic!("{steps:?}"));
    assert!(step["says"].as_str().unwrap().contains(&format!("entry {other}.")), "{step}");
}

#[test]
fn an_ide_that_speaks_acl_has_work_done_by_an_agent_that_speaks_cap() {
    let house = House::open();
    let (ide, jules) = (speaker(&house, "ide", "acl"), speaker(&house, "jules", "cap"));
    let id = fresh_id();
    let sent = house.send(&ide, &request(&id, "jules")).ok();
    assert_eq!(sent["status"], "accepted");
    let asked = sent["position"].as_u64().unwrap();

    let heard = waiting(&house, &jules).remove(0);
    let message = &heard["message"];
    assert_eq!((&message["type"], &message["sender_id"]), (&json!("delegation_notice"), &json!("legation")));
    assert_eq!(message["context_summary"], "Make it readable.");
    assert_eq!(message["translated_from"]["message_id"], id);
    let said = heard["position"].as_u64().unwrap();
    explained(&house, asked, said);
    explained(&house, said, asked);
    let show = |key: &str, token: &str| house.ask("GET", format!("/v1/messages/{key}")).by(token).get().ok();
    assert_eq!(show(&format!("{id}?sender=ide"), &ide.token)["to"], json!([]));
    let shown = show(&said.to_string(), &jules.token);
    assert_eq!((&shown["sender"], &shown["to"]), (&json!(EXCHANGE), &json!(["jules"])));

    // The pair is known after a restart too.
    let house = house.restart();
    let done = json!({
        "type": "message", "task_id": message["task_id"], "sender_id": "jules", "recipient_id": "legation",
        "content": "x is now count.", "final": true, "message_id": "done-1",
    });
    house.send(&jules, &done.to_string()).ok();
    let heard = waiting(&house, &ide);
    let acts: Vec<_> = heard.iter().map(|item| item["message"]["performative"].as_str().unwrap()).collect();
    assert_eq!(acts, ["TASK_ACCEPT", "INFORM_RESULT"]);
    let result = &heard[1]["message"];
    assert_eq!((&result["in_reply_to"], &result["sender"]["agent_id"]), (&json!(id), &json!(EXCHANGE)));
    assert_eq!(result["payload"]["result_summary"], "x is now count.");
    assert_eq!(result["ontology"], "elizaos:ontology:code/general/refactor_suggestion");
    house.send(&jules, &jules.cap("ide", "Anything else?")).refused(422, "untranslatable");
}

#[test]
fn a_query_in_vlp_is_answered_in_acl() {
    let house = House::open();
    let (observer, eddy) = (speaker(&house, "observer", "vlp"), speaker(&house, "eddy", "acl"));
    let query = json!({
        "id": "QRY-abc123-0001", "protocol": "VLP/1.1", "type": "query", "timestamp": time_from_now(0),
        "sender": "observer", "receiver": "eddy", "content": "How many stations?", "confidence": 1.0,
        "session_id": "S-2026-02-15-observer-abc123",
    });
    house.send(&observer, &query.to_string()).ok();
    let asked = waiting(&house, &eddy).remove(0)["message"].clone();
    assert_eq!(asked["payload"]["task_description"], "How many stations?");

    let answer = |performative: &str, payload: Value| {
        let message = json!({
            "mcp_version": "0.1.0", "message_id": fresh_id(), "performative": performative,
            "sender": {"agent_id": "eddy"}, "receiver": asked["sender"], "in_reply_to": asked["message_id"],
            "language": "application/json", "ontology": asked["ontology"], "timestamp": time_from_now(0),
            "payload": payload,
        });
        house.send(&eddy, &message.to_string())
    };
    answer("TASK_ACCEPT", json!({"status": "accepted"})).ok();
    let result = json!({"task_status": "success", "result_summary": "Five.", "result_details": {"count": 5}});
    answer("INFORM_RESULT", result.clone()).ok();
    answer("INFORM_RESULT", result).refused(409, "task_state");
    let heard = waiting(&house, &observer);
    let kinds: Vec<_> = heard.iter().map(|item| (&item["message"]["type"], &item["message"]["topic"])).collect();
    assert_eq!(kinds, [(&json!("notice"), &json!("task_accepted")), (&json!("response"), &Value::Null)]);
    let response = &heard[1]["message"];
    assert_eq!((&response["refers_to"], &response["content"]), (&json!("QRY-abc123-0001"), &json!("Five.")));
    assert_eq!(response["session_id"], "S-2026-02-15-observer-abc123");
    assert_eq!(response["payload"]["result_details"]["count"], 5);
}

fn in_session(kind: &str, from: &str, to: &str, level: &str) -> String {
    json!({
        "id": format!("MSG-{}", fresh_id()), "protocol": "VLP/1.1", "type": kind, "timestamp": time_from_now(0),
        "sender": from, "receiver": to, "content": "How many?", "confidence": 0.5, "session_id": "S-1",
        "safety": {"level": level},
    })
    .to_string()
}

#[test]
fn a_block_stops_work_that_was_asked_for_in_another_dialect() {
    let house = House::open();
    let [observer, watcher] = ["observer", "watcher"].map(|id| speaker(&house, id, "vlp"));
    let jules = speaker(&house, "jules", "cap");
    house.send(&observer, &in_session("query", "observer", "jules", "safe")).ok();
    let task = waiting(&house, &jules).remove(0)["message"]["task_id"].clone();
    house.send(&observer, &in_session("notice", "observer", "watcher", "safe")).ok();
    house.send(&watcher, &in_session("notice", "watcher", "observer", "block")).ok();
    let is_asked = || waiting(&house, &jules).iter().any(|item| item["message"]["type"] == "delegation_notice");
    assert!(!is_asked());
    let done = json!({
        "type": "message", "task_id": task, "sender_id": "jules", "recipient_id": "legation", "content": "Five.",
        "final": true, "message_id": fresh_id(),
    });
    house.send(&jules, &done.to_string()).refused(423, "halted");
    house.ask("POST", "/v1/sessions/S-1/release").by(&house.operator).json(r#"{"reason":"seen"}"#).ok();
    // What was held goes on by itself, right after.
    while !is_asked() {}
    house.send(&jules, &done.to_string()).ok();
    assert!(waiting(&house, &observer).iter().any(|item| item["message"]["content"] == "Five."));
}

/// An ide that speaks ACL, a coder that speaks CAP, and a lead that speaks VLP and reviews the coder's work.
fn studio(house: &House) -> [Party; 3] {
    let lead = speaker(house, "lead", "vlp");
    let (ide, coder) = (speaker(house, "ide", "acl"), speaker(house, "coder", "cap"));
    let manifest = json!({
        "id": "coder", "system_prompt": "You code.", "allowed_agents": [], "delegate_rules": {}, "mcp_bindings": [],
        "overseer": "lead",
    });
    let body = json!({ "manifest": manifest }).to_string();
    house.ask("PUT", path_of("coder")).by(&house.operator).json(body).ok();
    [ide, coder, lead]
}

/// The ide asks, the coder answers, and the lead is shown the work.
fn shown(house: &House, [ide, coder, lead]: &[Party; 3], id: &str) -> Value {
    house.send(ide, &request(id, "coder")).ok();
    let task = waiting(house, coder).pop().unwrap()["message"]["task_id"].clone();
    let done = json!({
        "type": "message", "task_id": task, "sender_id": "coder", "recipient_id": "legation", "content": "x is now count.",
        "final": true, "message_id": fresh_id(),
    });
    assert_eq!(house.send(coder, &done.to_string()).ok()["status"], "held");
    waiting(house, lead).pop().unwrap()["message"].clone()
}

fn decides(house: &House, lead: &Party, topic: &str, shown: &Value) -> crate::house::Answer {
    let decision = json!({
        "id": format!("NTC-{}", fresh_id()), "protocol": "VLP/1.1", "type": "notice", "timestamp": time_from_now(0),
        "sender": "lead", "receiver": EXCHANGE, "content": "I have looked at it.", "confidence": 0.9,
        "refers_to": shown["id"], "topic": topic, "payload": { "digest": shown["payload"]["oversight"]["digest"] },
        "provenance": [shown["id"]],
    });
    house.send(lead, &decision.to_string())
}

fn stage(house: &House, id: &str) -> Value {
    house.ask("GET", format!("/v1/conversations/{id}")).by(&house.operator).get().ok()["state"].clone()
}

#[test]
fn an_ide_speaks_acl_to_a_cap_agent_whose_overseer_speaks_vlp() {
    let house = House::open();
    let parties = studio(&house);
    let [ide, _, lead] = &parties;
    let id = fresh_id();
    let work = shown(&house, &parties, &id);
    assert_eq!(
        (&work["type"], &work["topic"], &work["content"]),
        (&json!("query"), &json!("oversight"), &json!("x is now count."))
    );
    assert_eq!(work["payload"]["oversight"]["author"], "coder");
    assert!(waiting(&house, ide).is_empty(), "nothing goes past the lead");
    assert_eq!(stage(&house, &id), "requested", "and nothing has moved");
    // Whoever is no overseer, or means other work, decides nothing.
    let other = json!({ "id": work["id"], "payload": { "oversight": { "digest": "sha256:00" } } });
    decides(&house, lead, "work_approved", &other).refused(409, "oversight_conflict");

    let acts = std::thread::scope(|scope| {
        let poll = scope.spawn(|| house.inbox(ide, "?wait=30")["messages"].as_array().unwrap().clone());
        decides(&house, lead, "work_approved", &work).ok();
        poll.join().unwrap()
    });
    assert!(!acts.is_empty());
    let heard = waiting(&house, ide);
    let acts: Vec<_> = heard.iter().map(|item| item["message"]["performative"].as_str().unwrap()).collect();
    assert_eq!(acts, ["TASK_ACCEPT", "INFORM_RESULT"]);
    assert_eq!(heard[1]["message"]["in_reply_to"], json!(id));
    assert_eq!(heard[1]["message"]["payload"]["result_summary"], "x is now count.");
    assert_eq!(stage(&house, &id), "result");
    let talk = house.ask("GET", format!("/v1/conversations/{id}")).by(&house.operator).get().ok();
    assert_eq!((&talk["assignee"], &talk["outcome"]), (&json!("coder"), &json!("success")));
    decides(&house, lead, "work_approved", &work).refused(409, "oversight_conflict");
}

#[test]
fn work_a_vlp_overseer_rejects_or_sends_back_is_told_in_acl_only_when_it_has_failed() {
    let house = House::open();
    let parties = studio(&house);
    let [ide, coder, lead] = &parties;
    let id = fresh_id();
    let work = shown(&house, &parties, &id);
    decides(&house, lead, "work_to_revise", &work).ok();
    assert!(waiting(&house, ide).is_empty());
    assert_eq!(stage(&house, &id), "requested");
    let task = waiting(&house, coder)[0]["message"]["task_id"].clone();
    let again = json!({
        "type": "message", "task_id": task, "sender_id": "coder", "recipient_id": "legation", "content": "x is now total.",
        "final": true, "message_id": fresh_id(),
    });
    assert_eq!(house.send(coder, &again.to_string()).ok()["status"], "held");
    let work = waiting(&house, lead).pop().unwrap()["message"].clone();
    decides(&house, lead, "work_rejected", &work).ok();
    let heard = waiting(&house, ide);
    assert_eq!(heard.len(), 1, "{heard:?}");
    let failure = &heard[0]["message"];
    assert_eq!((&failure["performative"], &failure["in_reply_to"]), (&json!("FAILURE"), &json!(id)));
    assert_eq!(stage(&house, &id), "failed");
}
