//! What an explanation tells of alarms, conversations and tasks, of what was stopped and who let it go on.

use crate::house::{House, path_of};
use crate::words::{Party, fresh_id, time_from_now};
use serde_json::{Value, json};

/// The steps of an explanation, as one asks who may.
#[track_caller]
fn steps(house: &House, by: &str, key: &str) -> Vec<(String, String)> {
    let told = house.ask("GET", format!("/v1/messages/{key}/explain")).by(by).get().ok();
    let text = |step: &Value, name: &str| step[name].as_str().unwrap().to_owned();
    let positions: Vec<_> = told["steps"].as_array().unwrap().iter().map(|step| step["position"].as_u64()).collect();
    assert!(positions.is_sorted(), "{told}");
    told["steps"].as_array().unwrap().iter().map(|step| (text(step, "step"), text(step, "says"))).collect()
}

/// Makes sure that these steps are told in this order, each with its words; others may stand between.
#[track_caller]
fn tells(steps: &[(String, String)], want: &[(&str, &str)]) {
    let mut rest = steps.iter();
    for (name, words) in want {
        assert!(rest.any(|(step, says)| step == name && says.contains(words)), "{name}: {words}\n{steps:#?}");
    }
}

/// A child below a parent below a top.
fn line(house: &House) -> (Party, Party, Party) {
    let (top, parent, child) = (house.admit("top"), house.admit("parent"), house.admit("child"));
    for (id, above) in [("child", "parent"), ("parent", "top")] {
        let body = json!({"parent": above}).to_string();
        house.ask("PUT", path_of(id)).by(&house.operator).json(body).ok();
    }
    (top, parent, child)
}

#[test]
fn an_emergency_is_told_from_the_alarm_to_the_resume() {
    let house = House::open();
    let (_, parent, child) = line(&house);
    let id = fresh_id();
    house.send(&child, &child.alarm("parent", "emergency", &id)).ok();
    let ack: Value = serde_json::from_str(&parent.acks("child", "emergency", &id)).unwrap();
    house.send(&parent, &ack.to_string()).ok();
    house.send(&parent, &parent.resume("child", &id)).ok();
    for token in [&house.operator, &child.token, &parent.token] {
        let told = steps(&house, token, &id);
        tells(
            &told,
            &[
                ("judged", "these rules looked at it."),
                ("raised", "It raised an escalation, emergency. Told of it: \"parent\", \"top\"."),
                ("suspended", "\"child\" and its instances say nothing any more"),
                ("told", "The exchange told \"top\" of it with the message in entry "),
                ("acked", "parent acknowledged it with the message in entry "),
                ("closed", "parent closed it with the message in entry "),
                ("resumed", "parent let \"child\" and its instances go on from it."),
            ],
        );
    }
    // What moved it says so too.
    tells(
        &steps(&house, &parent.token, ack["message_id"].as_str().unwrap()),
        &[("moves", "It acknowledges the escalation")],
    );
}

#[test]
fn an_alarm_that_nobody_answers_is_told_with_who_it_went_up_to() {
    let house = House::open();
    let (top, _, child) = line(&house);
    let id = fresh_id();
    house.send(&child, &child.alarm("parent", "critical", &id)).ok();
    let heard = house.inbox(&top, "?wait=60&limit=1");
    assert!(
        heard["messages"][0]["message"]["payload"]["reason"].as_str().unwrap().starts_with("PROPAGATED:"),
        "{heard}"
    );
    let resume = json!({"reason": "looked into it"}).to_string();
    house.ask("POST", "/v1/agents/child/resume").by(&house.operator).json(resume).ok();
    tells(
        &steps(&house, &child.token, &id),
        &[
            ("raised", "Unless somebody acknowledges it before "),
            ("paused", "\"child\" and its instances begin nothing new"),
            ("climbed", "Nobody had acknowledged it, or dealt with it, in time. So it went up: to \"top\"."),
            ("told", "The exchange told \"top\" of it"),
            ("closed", "operator closed it."),
        ],
    );
}

#[test]
fn what_a_suspension_stopped_is_told_with_who_stopped_it_who_let_it_go_on_and_why() {
    let house = House::open();
    let (top, _, child) = line(&house);
    let sent = house.send(&child, &child.cap("top", "The outline is ready.")).ok()["position"].to_string();
    let order = |what: &str, why: &str| {
        let body = json!({"reason": why}).to_string();
        house.ask("POST", format!("/v1/agents/child/{what}")).by(&house.operator).json(body).ok();
    };
    order("suspend", "odd results.");
    tells(&steps(&house, &child.token, &sent), &[("stopped", "operator suspended \"child\": odd results.")]);
    order("resume", "looked into it");
    let listed = house.inbox(&top, "?wait=60&limit=1");
    let told = steps(&house, &child.token, &sent);
    tells(
        &told,
        &[
            ("stopped", "It was stopped on its way: operator suspended \"child\": odd results."),
            ("let_go_on", "operator let \"child\" go on: looked into it."),
            ("released", "Nothing held it any more"),
        ],
    );
    // What has reached its recipient before is not said to have been stopped.
    let ack = json!({"position": listed["messages"][0]["position"]}).to_string();
    house.ask("POST", "/v1/agents/top/ack").by(&top.token).json(ack).ok();
    order("suspend", "again");
    let stops = steps(&house, &child.token, &sent).iter().filter(|(step, _)| step == "stopped").count();
    assert_eq!(stops, 1);
}

#[test]
fn what_a_block_stopped_is_told_with_who_let_the_session_go_on_and_why() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let rita = house.grant("rita", "reviewer");
    let say = |kind: &str, id: &str, more: Value| {
        let mut message = json!({
            "id": id, "protocol": "VLP/1.1", "type": kind, "timestamp": time_from_now(0), "sender": "ann",
            "receiver": "bob", "session_id": "S-1", "content": "x", "confidence": 0.5,
        });
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        house.send(&ann, &message.to_string()).ok();
    };
    say("claim", "CLM-1", json!({}));
    say("notice", "NTC-1", json!({"safety": {"level": "block"}}));
    house.ask("POST", "/v1/sessions/S-1/release").by(&rita).json(r#"{"reason":"nothing to it"}"#).ok();
    let (mut after, mut arrived) = (json!(0), false);
    while !arrived {
        let listed = house.inbox(&bob, &format!("?after={after}&wait=60"));
        let messages = listed["messages"].as_array().unwrap();
        assert!(!messages.is_empty(), "it goes on");
        arrived = messages.iter().any(|item| item["message"]["id"] == "CLM-1");
        after = messages[messages.len() - 1]["position"].clone();
    }
    let goes_on = ("let_go_on", "reviewer rita let the session \"S-1\" go on: nothing to it.");
    tells(
        &steps(&house, &bob.token, "CLM-1"),
        &[
            ("stopped", "It was stopped on its way: ann blocked the session \"S-1\"."),
            goes_on,
            ("released", "Nothing held it any more: it went to \"bob\"."),
        ],
    );
    tells(&steps(&house, &ann.token, "NTC-1"), &[("halted", "It halted the session \"S-1\""), goes_on]);
}

#[test]
fn a_request_is_told_with_where_its_conversation_went() {
    let house = House::open();
    let (eddy, jules) = (house.admit("eddy"), house.admit("jules"));
    let acl = |by: &Party, act: &str, to: &str, about: Option<&str>, payload: Value| {
        let id = fresh_id();
        let mut message = json!({
            "mcp_version": "0.1.0", "message_id": id, "performative": act, "sender": {"agent_id": by.id},
            "receiver": {"agent_id": to}, "language": "application/json", "timestamp": time_from_now(0),
            "ontology": "elizaos:ontology:code/python/debug_request", "payload": payload,
        });
        if let Some(about) = about {
            message["in_reply_to"] = json!(about);
        }
        house.send(by, &message.to_string()).ok();
        id
    };
    let task =
        json!({"task_type": "debug_code", "task_description": "Debug it.", "task_parameters": {}, "priority": "high"});
    let asked = acl(&eddy, "TASK_REQUEST", "jules", None, task);
    let taken = acl(&jules, "TASK_ACCEPT", "eddy", Some(&asked), json!({"status": "accepted"}));
    let result =
        json!({"task_status": "success", "result_summary": "Fixed.", "result_details": {"fixed_code": "a[2]"}});
    acl(&jules, "INFORM_RESULT", "eddy", Some(&asked), result);
    tells(
        &steps(&house, &eddy.token, &asked),
        &[
            ("opened", "It opened a conversation (task), for \"jules\" to answer."),
            ("conversation", "\"jules\" took the conversation to accepted"),
            ("conversation", "\"jules\" took the conversation to result (success) with the message in entry "),
        ],
    );
    tells(&steps(&house, &jules.token, &taken), &[("moves", "It takes the conversation that entry ")]);
}

#[test]
fn a_delegation_is_told_with_what_became_of_the_task() {
    let house = House::open();
    let manifest = |id: &str, allowed: &[&str]| {
        let rules: serde_json::Map<_, _> =
            allowed.iter().map(|to| ((*to).to_owned(), json!({"when_to_delegate": "always"}))).collect();
        json!({"id": id, "system_prompt": "x", "allowed_agents": allowed, "delegate_rules": rules, "mcp_bindings": []})
    };
    let admit = |id: &str, allowed: &[&str]| {
        let body = json!({"manifest": manifest(id, allowed)}).to_string();
        house.ask("PUT", path_of(id)).by(&house.operator).json(body).ok()["token"].as_str().unwrap().to_owned()
    };
    let (pm, worker) = (admit("pm", &["worker"]), admit("worker", &[]));
    let cap = |by: &str, message: Value| house.ask("POST", "/v1/messages").by(by).json(message.to_string()).ok();
    cap(
        &house.operator,
        json!({"type": "delegation_notice", "task_id": "T1", "sender_id": "orchestrator", "recipient_id": "pm",
        "context_summary": "plan it"}),
    );
    let notice = cap(
        &pm,
        json!({"type": "delegation_notice", "task_id": "T1.1", "sender_id": "pm", "recipient_id": "worker",
        "context_summary": "do it"}),
    );
    let error = cap(
        &worker,
        json!({"type": "error_response", "task_id": "T1.1", "sender_id": "worker", "recipient_id": "pm",
        "error_code": 504, "error_message": "it broke"}),
    );
    house.ask("POST", "/v1/tasks/T1.1/retry").by(&pm).send(b"").ok();
    let done = cap(
        &worker,
        json!({"type": "message", "task_id": "T1.1", "sender_id": "worker", "recipient_id": "pm",
        "content": "done", "final": true}),
    );
    let key = notice["position"].to_string();
    tells(
        &steps(&house, &pm, &key),
        &[
            ("opened", "It handed the task \"T1.1\" to \"worker\", to be done by "),
            ("task", "worker reported the error 504"),
            ("task", "agent pm handed the task over again"),
            ("task", "The task was done: by worker with the message in entry "),
        ],
    );
    tells(
        &steps(&house, &worker, &error["position"].to_string()),
        &[("moves", "It reports the error 504 in the task")],
    );
    tells(&steps(&house, &worker, &done["position"].to_string()), &[("moves", "is done with it.")]);
}

#[test]
fn constraints_that_are_not_enforced_here_are_told_as_the_agents_to_keep() {
    let house = House::open();
    let (_, parent, child) = line(&house);
    let stranger = house.admit("stranger");
    let rule = |kind: &str, value: Value| json!({"type": kind, "value": value, "source_constitution_ref": "creed://creed.space/family.safe.guide@1.2.0"});
    let laid = [rule("token_limit", json!(500)), rule("tone", json!({"is": "formal"}))];
    let message = json!({
        "vcp_message": "1.2", "type": "constraint_propagate", "message_id": fresh_id(), "sender": "parent",
        "recipient": "child", "timestamp": time_from_now(0),
        "payload": {"constraints": laid, "propagation_mode": "merge"},
    });
    house.send(&parent, &parent.signed(&message.to_string())).ok();
    let sent = house.send(&child, &child.cap("stranger", "hello")).ok()["position"].to_string();
    let keeps = "not enforced here, for the agent to keep";
    tells(
        &steps(&house, &child.token, &sent),
        &[
            ("constrained", "It broke none of the constraints its sender is under: token_limit 500"),
            ("constrained", "not enforced here, for the agent to keep: tone {\"is\":\"formal\"}, laid by \"parent\""),
        ],
    );
    // Who may not know which they are, is not told.
    let told = steps(&house, &stranger.token, &sent);
    assert!(told.iter().all(|(_, says)| !says.contains("formal")), "{told:?}");
    assert!(told.iter().all(|(_, says)| !says.contains(keeps) || says.ends_with(&format!("{keeps}."))), "{told:?}");
}

#[test]
fn a_refusal_names_the_digest_by_which_it_is_explained() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let nameless = |says: &str| {
        json!({"type": "message", "task_id": "T1", "sender_id": "ann", "recipient_id": "nobody", "content": says})
            .to_string()
    };
    let explained = |digest: &Value| {
        let told = steps(&house, &ann.token, digest.as_str().unwrap());
        tells(&told, &[("refused", "unknown_recipient"), ("recorded", digest.as_str().unwrap())]);
    };
    let refused = house.send(&ann, &nameless("by HTTP")).refused(404, "unknown_recipient");
    explained(&refused["digest"]);
    let lines = [nameless("in a line"), ann.cap("bob", "fine")].join("\n");
    let lines = house.ask("POST", "/v1/messages").by(&ann.token).lines(lines).text;
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    explained(&lines[0]["digest"]);
    assert_eq!(lines[1].get("digest"), None);
    let mut socket = crate::ws::Socket::framed(&house, &ann.token, "?deliver=off");
    socket.say(nameless("on a socket"));
    let frame = std::iter::repeat_with(|| socket.json()).find(|frame| frame["type"] == "refusal").unwrap();
    explained(&frame["digest"]);
    let host = crate::mcp::Client::open(&house, &ann.token, crate::mcp::BOTH[1]);
    let message: Value = serde_json::from_str(&nameless("by a tool")).unwrap();
    explained(&host.refused("send_message", json!({"message": message}), "unknown_recipient")["digest"]);
    // What is no message has one of its bytes; what was never read has none.
    let broken = house.ask("POST", "/v1/messages").by(&ann.token).json("{").refused(400, "bad_json");
    assert!(broken["digest"].as_str().unwrap().starts_with("sha256:"), "{broken}");
    let unknown = house.ask("GET", "/v1/agents/nobody").by(&bob.token).get().refused(404, "unknown_agent");
    assert_eq!(unknown.get("digest"), None);
}

#[test]
fn an_erased_message_is_told_to_be_erased_by_whom_and_why() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent = house.send(&ann, &ann.cap("bob", "secret words")).ok()["position"].clone();
    let ack = json!({"position": sent}).to_string();
    house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(ack).ok();
    let wanted = json!({"positions": [sent], "reason": "asked for."}).to_string();
    let erased = house.ask("POST", "/v1/erase").by(&house.operator).json(wanted).ok();
    for token in [&house.operator, &ann.token, &bob.token] {
        let told = house.ask("GET", format!("/v1/messages/{sent}/explain")).by(token).get().ok();
        let steps = told["steps"].as_array().unwrap();
        assert_eq!(
            steps[0]["says"], "It came in: a cap message by \"ann\". It broke no rule of its dialect.",
            "{told}"
        );
        let step = steps.iter().find(|step| step["step"] == "erased").unwrap();
        assert_eq!(step["says"], "operator erased its text: asked for.", "{told}");
        assert!(step["position"].as_u64() > sent.as_u64(), "{erased}");
        assert!(!told.to_string().contains("secret"));
    }
}

#[test]
fn a_delegation_is_told_to_be_done_when_its_result_was_approved() {
    let house = House::open();
    let admit = |id: &str, overseer: Option<&str>| {
        let manifest = json!({"id": id, "system_prompt": "x", "allowed_agents": [], "delegate_rules": {},
            "overseer": overseer, "mcp_bindings": []});
        let body = json!({ "manifest": manifest }).to_string();
        house.ask("PUT", path_of(id)).by(&house.operator).json(body).ok()["token"].as_str().unwrap().to_owned()
    };
    let (qa, worker) = (admit("qa", None), admit("worker", Some("qa")));
    let cap = |by: &str, message: Value| house.ask("POST", "/v1/messages").by(by).json(message.to_string()).json();
    let notice = cap(
        &house.operator,
        json!({"type": "delegation_notice", "task_id": "T1", "sender_id": "orchestrator", "recipient_id": "worker",
        "context_summary": "do it"}),
    );
    let result = cap(
        &worker,
        json!({"type": "message", "task_id": "T1", "sender_id": "worker", "recipient_id": "orchestrator",
        "content": "done", "final": true}),
    );
    assert_eq!(result["status"], "held", "{result}");
    let key = notice["position"].to_string();
    let done = || {
        let told = house.ask("GET", format!("/v1/messages/{key}/explain")).by(&house.operator).get().ok();
        let steps = told["steps"].as_array().unwrap().clone();
        steps.into_iter().find(|step| step["says"].as_str().unwrap().starts_with("The task was done"))
    };
    assert_eq!(done(), None);
    let approval = cap(
        &qa,
        json!({"type": "message", "task_id": "T1", "sender_id": "qa", "recipient_id": "worker", "content": "good",
        "decision": "approve"}),
    );
    let done = done().unwrap();
    assert!(done["position"].as_u64() > approval["position"].as_u64(), "{done} {approval}");
    let released =
        house.ask("GET", format!("/v1/messages/{}/explain", result["position"])).by(&house.operator).get().ok();
    let mut steps = released["steps"].as_array().unwrap().iter();
    let released = steps.find(|step| step["step"] == "released").unwrap();
    assert_eq!((&done["position"], &done["at"]), (&released["position"], &released["at"]));
}
