//! What the rules keep outlasts a kill: tasks, reviews, conversations, sessions and stops are as they were, clocks
//! that ran out meanwhile fire once, and what was decided stays so.

use crate::served::Served;
use legation_exchange::Moment;
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{fs, thread};

/// Everybody in here: whom it may delegate to, and who reviews its work.
const HOUSE: [(&str, &[&str], Option<&str>); 5] = [
    ("pm", &["analyst"], None),
    ("analyst", &[], Some("qa")),
    ("qa", &[], None),
    ("ann", &["ben"], None),
    ("ben", &[], None),
];
/// Every door that shows what rules keep.
const DOORS: [&str; 6] = [
    "/v1/tasks",
    "/v1/reviews",
    "/v1/conversations",
    "/v1/sessions",
    "/v1/escalations?state=all",
    "/v1/constraints?agent=ann",
];

struct House {
    served: Served,
    operator: String,
}

impl House {
    fn open() -> House {
        let served = Served::start();
        let operator = fs::read_to_string(served.data().join("operator.token")).unwrap().trim().to_owned();
        let house = House { served, operator };
        for (id, allowed, overseer) in HOUSE {
            let rules: serde_json::Map<_, _> =
                allowed.iter().map(|to| ((*to).to_owned(), json!({"when_to_delegate": "always"}))).collect();
            let manifest = json!({"id": id, "system_prompt": "x", "allowed_agents": allowed, "delegate_rules": rules,
                "overseer": overseer, "mcp_bindings": []});
            let about = json!({"manifest": manifest, "capabilities": {"topics": [], "actions": []}});
            house.ask("PUT", &format!("/v1/agents/{id}"), None, Some(&about));
        }
        house
    }

    /// The answer to a request, and its status.
    fn asked(&self, method: &str, path: &str, token: &str, body: Option<&Value>) -> (u16, Value) {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let request = ureq::http::Request::builder().method(method).uri(format!("{}{path}", self.served.url));
        let request = request.header("authorization", format!("Bearer {token}"));
        let request = request.header("content-type", "application/json");
        let text = body.map(Value::to_string).unwrap_or_default();
        let mut answer = agent.run(request.body(text).unwrap()).unwrap();
        let status = answer.status().as_u16();
        (status, serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap())
    }

    #[track_caller]
    fn ask(&self, method: &str, path: &str, token: Option<&str>, body: Option<&Value>) -> Value {
        let (status, answer) = self.asked(method, path, token.unwrap_or(&self.operator), body);
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// Sends a message as whoever it is by, and gives back its position.
    #[track_caller]
    fn send(&self, by: &str, message: &Value) -> u64 {
        let token = match by {
            "orchestrator" => self.operator.clone(),
            agent => self.served.run(&["agent", "token", agent], "").out.trim().to_owned(),
        };
        self.ask("POST", "/v1/messages", Some(&token), Some(message))["position"].as_u64().unwrap()
    }

    fn inbox(&self, agent: &str) -> Vec<Value> {
        let page = self.ask("GET", &format!("/v1/agents/{agent}/inbox"), None, None);
        page["messages"].as_array().unwrap().iter().map(|item| item["message"].clone()).collect()
    }

    /// Everything that can be seen of what the rules keep.
    fn seen(&self) -> Vec<(String, Value)> {
        let agents = HOUSE.iter().flat_map(|(id, ..)| [format!("/v1/agents/{id}"), format!("/v1/agents/{id}/inbox")]);
        let tasks = self.ask("GET", "/v1/tasks", None, None);
        let each = tasks["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| format!("/v1/tasks/{}", task["task_id"].as_str().unwrap()));
        let doors = DOORS.into_iter().map(str::to_owned).chain(agents).chain(each.collect::<Vec<_>>());
        doors.map(|door| (door.clone(), self.ask("GET", &door, None, None))).collect()
    }

    fn decide(&self, review: u64, decision: &str, digest: &Value) -> (u16, Value) {
        let body = json!({"decision": decision, "digest": digest, "reason": "looked at it"});
        self.asked("POST", &format!("/v1/reviews/{review}"), &self.operator, Some(&body))
    }

    fn digest(&self, review: u64) -> Value {
        self.ask("GET", &format!("/v1/reviews/{review}"), None, None)["digest"].clone()
    }
}

fn delegation(task: &str, from: &str, to: &str, more: &Value) -> Value {
    let mut notice = json!({"type": "delegation_notice", "task_id": task, "sender_id": from, "recipient_id": to,
        "context_summary": "do it"});
    notice.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    notice
}

fn claim(id: &str, from: &str, to: &str, more: &Value) -> Value {
    let mut claim = json!({"id": id, "protocol": "VLP/1.1", "type": "claim", "timestamp": "2026-02-15T10:30:00Z",
        "sender": from, "receiver": to, "content": id, "confidence": 0.5});
    claim.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    claim
}

fn acl(performative: &str, number: u8, from: &str, to: &str, payload: &Value) -> Value {
    json!({"mcp_version": "0.1.0", "message_id": format!("5b1f0c9e-3a77-4c1d-9a46-{number:012}"),
        "performative": performative, "sender": {"agent_id": from}, "receiver": {"agent_id": to},
        "language": "application/json", "ontology": "elizaos:housekeeping", "timestamp": "2026-02-15T10:30:00Z",
        "payload": payload})
}

#[expect(clippy::disallowed_methods, reason = "a deadline is in the time of day")]
fn now() -> Moment {
    Moment::from_micros(u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_micros()).unwrap())
}

/// Begins something of everything.
fn begin(house: &House) {
    house.send("orchestrator", &delegation("T1", "orchestrator", "pm", &json!({})));
    house.send("pm", &delegation("T1.1", "pm", "analyst", &json!({"grants": {"tools": ["read"]}})));
    let result = json!({"type": "message", "task_id": "T1.1", "sender_id": "analyst", "recipient_id": "pm",
        "content": "done", "final": true});
    house.send("analyst", &result);
    house.send("ann", &claim("MSG-1", "ann", "ben", &json!({"session_id": "S-1", "seq": 1})));
    house.send("ann", &claim("MSG-2", "ann", "ben", &json!({"session_id": "S-2"})));
    house.send("ben", &claim("MSG-3", "ben", "ann", &json!({"session_id": "S-2", "safety": {"level": "block"}})));
    house.send("ann", &claim("MSG-4", "ann", "ben", &json!({"confidence": 0.95})));
    let request = json!({"task_type": "tidy", "task_description": "Tidy up.", "task_parameters": {}});
    house.send("ann", &acl("TASK_REQUEST", 1, "ann", "ben", &request));
    let mut accept = acl("TASK_ACCEPT", 2, "ben", "ann", &json!({"status": "accepted"}));
    accept["in_reply_to"] = "5b1f0c9e-3a77-4c1d-9a46-000000000001".into();
    house.send("ben", &accept);
    let laid = json!({"agent": "ann", "constraints": [{"type": "token_limit", "value": 2000}]});
    house.ask("POST", "/v1/constraints", None, Some(&laid));
    house.ask("POST", "/v1/agents/qa/suspend", None, Some(&json!({"reason": "odd"})));
}

#[test]
fn what_the_rules_keep_is_as_it_was_after_a_kill() {
    let mut house = House::open();
    begin(&house);
    let before = house.seen();
    for _ in 0..2 {
        house.served.crash();
        for ((door, before), (_, after)) in before.iter().zip(house.seen()) {
            assert_eq!(*before, after, "{door}");
        }
    }
    // And it goes on from there.
    house.ask("POST", "/v1/agents/qa/resume", None, Some(&json!({"reason": "fine"})));
    let approval = json!({"type": "message", "task_id": "T1.1", "sender_id": "qa", "recipient_id": "analyst",
        "content": "good", "decision": "approve"});
    house.send("qa", &approval);
    assert!(house.inbox("pm").iter().any(|message| message["final"] == true));
    house.ask("POST", "/v1/sessions/S-2/release", None, Some(&json!({"reason": "fine"})));
    house.send("ann", &claim("MSG-5", "ann", "ben", &json!({"session_id": "S-2"})));
}

#[test]
fn a_review_that_was_decided_just_before_a_kill_stays_decided() {
    let mut house = House::open();
    let good = house.send("ann", &claim("MSG-1", "ann", "ben", &json!({"confidence": 0.95})));
    let bad = house.send("ann", &claim("MSG-2", "ann", "ben", &json!({"confidence": 0.95})));
    let (first, second) = (house.digest(good), house.digest(bad));
    assert_eq!(house.decide(good, "approve", &first).0, 200);
    assert_eq!(house.decide(bad, "refuse", &second).0, 200);
    house.served.crash();
    for (review, digest) in [(good, &first), (bad, &second)] {
        for decision in ["approve", "refuse"] {
            let (status, answer) = house.decide(review, decision, digest);
            assert_eq!((status, &answer["error"]), (409, &json!("review_conflict")));
        }
    }
    let got: Vec<_> = house.inbox("ben").iter().map(|message| message["id"].clone()).collect();
    assert_eq!(got, ["MSG-1"]);
}

#[test]
fn a_deadline_that_passes_while_it_is_down_fires_once() {
    let mut house = House::open();
    let until = now().plus(Duration::from_secs(2));
    let deadline = json!({"deadline": until.to_string()});
    house.send("orchestrator", &delegation("T1", "orchestrator", "pm", &deadline));
    house.send("orchestrator", &delegation("T2", "orchestrator", "ann", &json!({})));
    house.served.kill();
    while now() <= until {
        thread::sleep(Duration::from_millis(20));
    }
    house.served.again();
    let expired = |house: &House| {
        let told = house.inbox("orchestrator").into_iter().filter(|message| message["error_code"] == 504);
        told.map(|message| message["task_id"].clone()).collect::<Vec<_>>()
    };
    // Waits until it is there.
    house.ask("GET", "/v1/agents/orchestrator/inbox?wait=60", None, None);
    assert_eq!(expired(&house), ["T1"]);
    let tasks = house.ask("GET", "/v1/tasks", None, None);
    let states: Vec<_> =
        tasks["tasks"].as_array().unwrap().iter().map(|task| (&task["task_id"], &task["state"])).collect();
    assert!(states.contains(&(&json!("T1"), &json!("expired"))), "{states:?}");
    assert!(states.contains(&(&json!("T2"), &json!("open"))), "{states:?}");
    house.served.crash();
    assert_eq!(expired(&house), ["T1"], "once");
}
