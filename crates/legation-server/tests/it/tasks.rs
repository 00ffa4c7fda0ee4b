//! Tasks over sockets: the spec's own story message by message, and what becomes of tasks that go wrong.

use crate::house::{House, path_of};
use crate::words::fresh_id;
use legation_exchange::Policy;
use legation_exchange::rules::cap::Oversight;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

macro_rules! fixture {
    ($($name:literal),* $(,)?) => { [$(include_str!(concat!("../../../../spec/", $name, ".json"))),*] };
}

const MANIFESTS: [&str; 3] = fixture!["manifest/ok/story-pm", "manifest/ok/story-analyst", "manifest/ok/story-qa"];

const STORY: [&str; 11] = fixture![
    "cap/ok/story-01-orchestrator-delegates",
    "cap/ok/story-02-pm-asks-user",
    "cap/ok/story-03-user-answers",
    "cap/ok/story-04-pm-delegates-analysis",
    "cap/ok/story-05-analyst-follows-up",
    "cap/ok/story-06-pm-clarifies",
    "cap/ok/story-07-analyst-sends-to-review",
    "cap/ok/story-08-qa-inquires",
    "cap/ok/story-09-analyst-explains",
    "cap/ok/story-10-qa-approves",
    "cap/ok/story-11-pm-reports",
];

/// The agents of the story, and whoever they work for.
struct Office {
    house: House,
    tokens: BTreeMap<String, String>,
}

impl Office {
    fn open() -> Office {
        Office::under(Policy::default())
    }

    fn under(policy: Policy) -> Office {
        let house = House::under(policy);
        let mut tokens = BTreeMap::new();
        for manifest in MANIFESTS {
            let manifest: Value = serde_json::from_str(manifest).unwrap();
            let id = manifest["id"].as_str().unwrap().to_owned();
            let body = json!({ "dialects": ["cap"], "manifest": manifest });
            let made = house.ask("PUT", path_of(&id)).by(&house.operator).json(body.to_string()).ok();
            tokens.insert(id, made["token"].as_str().unwrap().to_owned());
        }
        Office { house, tokens }
    }

    fn restart(self) -> Office {
        Office { house: self.house.restart(), ..self }
    }

    fn token(&self, who: &str) -> &str {
        self.tokens.get(who).unwrap_or(&self.house.operator)
    }

    #[track_caller]
    fn send(&self, message: &Value) -> Value {
        let sender = message["sender_id"].as_str().unwrap();
        self.house.ask("POST", "/v1/messages").by(self.token(sender)).json(message.to_string()).ok()
    }

    fn say(&self, task: &str, from: &str, to: &str, more: Value) -> crate::house::Answer {
        let mut message =
            json!({ "type": "message", "task_id": task, "sender_id": from, "recipient_id": to, "content": "words" });
        let Value::Object(more) = more else { panic!("an object") };
        message.as_object_mut().unwrap().extend(more);
        self.house.ask("POST", "/v1/messages").by(self.token(from)).json(message.to_string())
    }

    fn hand(&self, task: &str, from: &str, to: &str) -> Value {
        self.send(&json!({
            "type": "delegation_notice", "task_id": task, "sender_id": from, "recipient_id": to,
            "context_summary": "do it",
        }))
    }

    #[track_caller]
    fn task(&self, who: &str, id: &str) -> Value {
        self.house.ask("GET", format!("/v1/tasks/{id}")).by(self.token(who)).get().ok()
    }

    fn inbox(&self, who: &str) -> Vec<Value> {
        let inbox = self.house.ask("GET", format!("{}/inbox", path_of(who))).by(self.token(who)).get().ok();
        inbox["messages"].as_array().unwrap().clone()
    }

    #[track_caller]
    fn states(&self, want: [&str; 3]) {
        let states = ["T1", "T1.1", "T1.1.1"].map(|id| self.task("operator", id)["state"].as_str().unwrap().to_owned());
        assert_eq!(states, want);
    }

    fn order(&self, who: &str, path: &str) -> crate::house::Answer {
        self.house.ask("POST", path).by(self.token(who)).send(b"")
    }
}

/// A message of the agent language, sent by whom it names.
fn acl(office: &Office, performative: &str, (from, to): (&str, &str), about: Option<&str>, payload: &Value) -> Value {
    let id = fresh_id();
    let message = json!({
        "mcp_version": "0.1.0", "message_id": id, "performative": performative, "sender": {"agent_id": from},
        "receiver": {"agent_id": to}, "in_reply_to": about, "language": "application/json",
        "ontology": "elizaos:ontology:code/general/refactor_request", "timestamp": "2026-02-15T10:30:00Z",
        "payload": payload,
    });
    office.house.ask("POST", "/v1/messages").by(office.token(from)).json(message.to_string()).ok()
}

#[test]
fn grants_go_with_a_request_in_acl() {
    let office = Office::open();
    for id in ["pm-1", "analyst-1"] {
        let both = json!({"dialects": ["acl", "cap"]}).to_string();
        office.house.ask("PUT", path_of(id)).by(&office.house.operator).json(both).ok();
    }
    office.send(&json!({
        "type": "delegation_notice", "task_id": "T1", "sender_id": "orchestrator", "recipient_id": "pm-1",
        "context_summary": "look, and change nothing", "grants": {"tools": ["query_data"]},
    }));
    let work = json!({"task_type": "process", "task_description": "Process it.", "task_parameters": {}});
    let asked = acl(&office, "TASK_REQUEST", ("pm-1", "analyst-1"), None, &work);
    acl(&office, "TASK_ACCEPT", ("analyst-1", "pm-1"), asked["message_id"].as_str(), &json!({"status": "accepted"}));
    let office = office.restart();
    let show = |tool: &str| {
        let result = json!({"type": "tool_call_result", "server_id": "DataServer", "tool": tool, "result": {}});
        office.say("mine", "analyst-1", "qa-1", json!({ "attachments": [result] }))
    };
    show("query_data").ok();
    show("process_data").refused(403, "tool_not_bound");
    office.hand("check", "analyst-1", "qa-1");
    assert_eq!(office.task("analyst-1", "check")["parent"], "T1");
    let lineage = |position: &Value, who: &str| {
        let told = office.house.ask("GET", format!("/v1/messages/{position}/explain")).by(office.token(who)).get().ok();
        let step = told["steps"].as_array().unwrap().iter().find(|step| step["step"] == "lineage").cloned();
        step.map(|step| step["says"].as_str().unwrap().to_owned())
    };
    let check = office.task("analyst-1", "check")["position"].clone();
    assert!(lineage(&check, "qa-1").unwrap().contains(r#"task "check", below "T1""#));
    assert!(lineage(&asked["position"], "pm-1").unwrap().contains(r#"grants of the task "T1""#));
    assert_eq!(lineage(&asked["position"], "analyst-1"), None, "the task is not its business");
    let about = asked["message_id"].as_str();
    let failed = json!({"status": "failure", "error_text": "It broke."});
    acl(&office, "FAILURE", ("analyst-1", "pm-1"), about, &failed);
    show("process_data").ok();
}

#[test]
fn an_instance_escapes_no_task_of_its_family() {
    let mut office = Office::open();
    let instance = "analyst-1-escape";
    let made = office.house.ask("PUT", path_of(instance)).by(office.token("analyst-1"));
    let made = made.json(json!({ "instance_of": "analyst-1" }).to_string()).ok();
    office.tokens.insert(instance.to_owned(), made["token"].as_str().unwrap().to_owned());
    office.hand("T1", "orchestrator", "pm-1");
    office.send(&json!({
        "type": "delegation_notice", "task_id": "T1.1", "sender_id": "pm-1", "recipient_id": "analyst-1",
        "context_summary": "do it", "grants": { "tools": [] },
    }));
    let manifest: Value = serde_json::from_str(MANIFESTS[1]).unwrap();
    let bound = &manifest["mcp_bindings"][0];
    let result = json!({
        "type": "tool_call_result", "server_id": bound["server_id"], "tool": bound["allowed_tools"][0], "result": "rows",
    });
    let shown = office.say("T1.1", instance, "pm-1", json!({ "attachments": [result] }));
    shown.refused(403, "tool_not_bound");
    let fresh = json!({
        "type": "delegation_notice", "task_id": "fresh", "sender_id": instance, "recipient_id": "qa-1",
        "context_summary": "do it",
    });
    let handed = office.house.ask("POST", "/v1/messages").by(office.token(instance)).json(fresh.to_string());
    handed.refused(409, "task_lineage");
    office.say("T1.1", "analyst-1", "pm-1", json!({ "final": true })).ok();
    office.say("T1.1", instance, "pm-1", json!({})).ok();
    let last = office.inbox("pm-1").pop().unwrap();
    assert!(last["findings"].to_string().contains("unreviewed"), "{last}");
}

#[test]
fn nobody_comes_in_under_the_name_of_an_overseer_that_is_not_there() {
    let house = House::under(Policy { open_registration: true, ..Policy::default() });
    let manifest: Value = serde_json::from_str(MANIFESTS[1]).unwrap();
    let overseer = path_of(manifest["overseer"].as_str().unwrap());
    let body = json!({ "manifest": manifest }).to_string();
    house.ask("PUT", path_of("analyst-1")).by(&house.operator).json(body).ok();
    house.ask("PUT", &overseer).json("{}").refused(403, "not_allowed");
    house.ask("PUT", &overseer).by(&house.operator).json("{}").ok();
}

#[test]
fn the_story_as_printed_completes_nothing() {
    let office = Office::open();
    for (index, message) in STORY.iter().enumerate() {
        let message: Value = serde_json::from_str(message).unwrap();
        assert_eq!(office.send(&message)["status"], "accepted", "message {}", index + 1);
        if index == 1 {
            assert_eq!(office.task("pm-1", "T1")["state"], "waits_for_user");
            assert_eq!(office.inbox("user").len(), 1);
        }
    }
    office.states(["open", "open", "open"]);
    let reached: Vec<_> =
        ["orchestrator", "user", "pm-1", "analyst-1", "qa-1"].map(|who| office.inbox(who).len()).into();
    assert_eq!(reached, [1, 1, 4, 3, 2], "everything printed has arrived");
    let question = office.inbox("pm-1").into_iter().find(|item| item["message"]["sender_id"] == "analyst-1").unwrap();
    let codes: Vec<_> = question["findings"].as_array().unwrap().iter().map(|found| &found["code"]).collect();
    assert!(codes.contains(&&json!("unreviewed")), "{question}");
    let task = office.task("orchestrator", "T1.1");
    assert_eq!(task["lineage"], json!(["T1", "T1.1"]));
    assert_eq!(task["parts"][0], json!({ "task_id": "T1.1.1", "assignee": "qa-1", "state": "open" }));
    let carried = &task["messages"][0]["attachments"];
    assert_eq!(carried[0], json!({ "type": "tool_call_result", "server_id": "DataServer", "tool": "query_data" }));
}

#[test]
fn the_story_as_printed_is_approved_where_that_is_implied() {
    let office = Office::under(Policy { oversight: Oversight::Implied, ..Policy::default() });
    for message in &STORY[..9] {
        office.send(&serde_json::from_str(message).unwrap());
    }
    office.states(["open", "open", "open"]);
    office.send(&serde_json::from_str(STORY[9]).unwrap());
    office.states(["open", "done", "closed"]);
}

#[test]
fn the_story_with_marks_completes_when_quality_is_assured() {
    let mut office = Office::open();
    for message in &STORY[..9] {
        office.send(&serde_json::from_str(message).unwrap());
    }
    let report =
        json!({ "final": true, "content": "The report.", "attachments": [{ "type": "file", "path": "/tmp/r.md" }] });
    let held = office.say("T1.1", "analyst-1", "pm-1", report);
    assert_eq!((held.status, &held.json()["status"]), (202, &json!("held")));
    office.states(["open", "in_review", "open"]);
    office.say("T1", "pm-1", "orchestrator", json!({ "final": true })).refused(409, "task_state");
    // What is held stays so when the exchange starts again.
    office = office.restart();
    let seen = office.inbox("pm-1").iter().any(|item| item["message"]["content"] == "The report.");
    assert!(!seen, "the delegator does not see what is held");
    let work = office.inbox("qa-1").pop().unwrap()["message"].clone();
    assert_eq!((&work["sender_id"], &work["content"]), (&json!("legation"), &json!("The report.")));
    let digest = &work["oversight"]["digest"];
    for who in ["qa-1", "analyst-1"] {
        assert_eq!(&office.task(who, "T1.1")["reviews"][0]["digest"], digest, "{who}");
    }
    let seen = office.task("pm-1", "T1.1");
    assert_eq!((&seen["state"], &seen["reviews"]), (&json!("open"), &json!([])), "the delegator is told nothing of it");
    assert!(!seen.to_string().contains(digest.as_str().unwrap()), "{seen}");
    office.say("T1.1", "pm-1", "qa-1", json!({ "decision": "approve", "digest": digest })).refused(403, "not_overseer");
    let decision = json!({ "decision": "approve", "digest": digest, "content": "Verified." });
    assert_eq!(office.say("T1.1.1", "qa-1", "pm-1", decision).status, 200);
    office.states(["open", "done", "closed"]);
    let report = office.inbox("pm-1").into_iter().filter(|item| item["message"]["content"] == "The report.").count();
    assert_eq!(report, 1);
    assert_eq!(office.say("T1", "pm-1", "orchestrator", json!({ "final": true })).status, 200);
    office.states(["done", "done", "closed"]);
    assert_eq!(office.inbox("orchestrator").pop().unwrap()["message"]["final"], true);
}

#[test]
fn a_task_is_seen_by_its_parties_and_those_who_see_everything() {
    let mut office = Office::open();
    let outsider = office.house.ask("PUT", path_of("outsider")).by(&office.house.operator).json("{}").ok();
    office.tokens.insert("outsider".to_owned(), outsider["token"].as_str().unwrap().to_owned());
    let auditor = office.house.grant("ada", "auditor");
    office.tokens.insert("auditor".to_owned(), auditor);
    office.hand("T1", "orchestrator", "pm-1");
    office.hand("T1.1", "pm-1", "analyst-1");
    for (who, id, sees) in [
        ("pm-1", "T1", true),
        ("pm-1", "T1.1", true),
        ("analyst-1", "T1.1", true),
        ("analyst-1", "T1", false),
        ("qa-1", "T1.1", true),
        ("qa-1", "T1", false),
        ("outsider", "T1.1", false),
        ("auditor", "T1.1", true),
    ] {
        let answer = office.house.ask("GET", format!("/v1/tasks/{id}")).by(office.token(who)).get();
        if sees { drop(answer.ok()) } else { drop(answer.refused(404, "unknown_task")) }
    }
    office.house.ask("GET", "/v1/tasks").get().refused(401, "unauthenticated");
    let list = |who: &str, query: &str| {
        let found = office.house.ask("GET", format!("/v1/tasks{query}")).by(office.token(who)).get().ok();
        found["tasks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|task| task["task_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(list("auditor", ""), ["T1", "T1.1"]);
    assert_eq!(list("analyst-1", ""), ["T1.1"]);
    assert!(list("outsider", "").is_empty());
    assert_eq!(list("auditor", "?agent=qa-1&state=open"), ["T1.1"]);
    assert!(list("auditor", "?state=done").is_empty());
    office.house.ask("GET", "/v1/tasks?state=asleep").by(office.token("auditor")).get().refused(422, "schema_invalid");
    // A message that names the task gives no view of it.
    assert_eq!(office.say("T1.1", "outsider", "pm-1", json!({})).status, 200);
    office.house.ask("GET", "/v1/tasks/T1.1").by(office.token("outsider")).get().refused(404, "unknown_task");
    // The same id by another opener.
    office.hand("T1", "user", "pm-1");
    office.house.ask("GET", "/v1/tasks/T1").by(office.token("pm-1")).get().refused(409, "ambiguous_reference");
    let named = office.house.ask("GET", "/v1/tasks/T1?opener=user").by(office.token("pm-1")).get().ok();
    assert_eq!(named["delegator"], "user");
    // Only itself and operators see what it is told to be.
    let manifest =
        |who: &str| office.house.ask("GET", path_of("pm-1")).by(office.token(who)).get().ok()["manifest"].clone();
    assert!(manifest("operator")["system_prompt"].is_string() && manifest("pm-1")["system_prompt"].is_string());
    assert!(manifest("auditor")["system_prompt"].is_null() && manifest("qa-1")["system_prompt"].is_null());
}

#[test]
fn what_a_manifest_does_not_allow_is_refused_over_http() {
    let office = Office::open();
    office.hand("T1", "orchestrator", "pm-1");
    let refused = |message: Value, status, code| {
        let sender = message["sender_id"].as_str().unwrap();
        let answer = office.house.ask("POST", "/v1/messages").by(office.token(sender)).json(message.to_string());
        answer.refused(status, code);
    };
    let notice = |task: &str, from: &str, to: &str| json!({"type": "delegation_notice", "task_id": task, "sender_id": from, "recipient_id": to, "context_summary": "x"});
    refused(notice("T1.1", "pm-1", "qa-1"), 403, "delegation_denied");
    refused(notice("X1", "pm-1", "analyst-1"), 409, "task_lineage");
    refused(notice("T1.1", "analyst-1", "qa-1"), 403, "not_a_party");
    let forged = json!([{ "type": "tool_call_result", "server_id": "DataServer", "tool": "drop_table", "result": 1 }]);
    office.say("T1", "pm-1", "user", json!({ "attachments": forged })).refused(403, "tool_not_bound");
    assert!(office.inbox("qa-1").is_empty());
}

#[test]
fn errors_show_what_to_do_and_people_or_delegators_do_it() {
    let office = Office::open();
    office.hand("T1", "orchestrator", "pm-1");
    office.hand("T1.1", "pm-1", "analyst-1");
    office.send(&json!({
        "type": "error_response", "task_id": "T1.1", "sender_id": "analyst-1", "recipient_id": "pm-1",
        "error_code": 504, "error_message": "MCP timeout.",
    }));
    let task = office.task("pm-1", "T1.1");
    assert_eq!(
        (&task["state"], &task["remedy"], &task["errors"][0]["code"]),
        (&json!("failed"), &json!("retry"), &json!(504))
    );
    office.order("analyst-1", "/v1/tasks/T1.1/retry").refused(403, "not_a_party");
    office.order("pm-1", "/v1/tasks/T1.1/retry").ok();
    let task = office.task("pm-1", "T1.1");
    assert_eq!((&task["state"], &task["tries"]), (&json!("open"), &json!(2)));
    let notices = office.inbox("analyst-1").into_iter().filter(|item| item["message"]["type"] == "delegation_notice");
    assert_eq!(notices.count(), 3, "the first, the same again, and the exchange's own");
    let to = |name: &str| json!({ "to": name }).to_string();
    let reassign = || office.house.ask("POST", "/v1/tasks/T1/reassign").by(&office.house.operator);
    reassign().json(to("nobody")).refused(404, "unknown_recipient");
    reassign().json(to("qa-1")).ok();
    assert_eq!(office.task("operator", "T1")["assignee"], "qa-1");
    assert_eq!(office.task("operator", "T1.1")["state"], "closed");
    office.order("operator", "/v1/tasks/T1/escalate").ok();
    assert_eq!(office.task("operator", "T1")["escalated_to"], "operator");
    let alerts = office.house.ask("GET", "/v1/alerts").by(&office.house.operator).get().ok();
    assert!(alerts["alerts"].as_array().unwrap().iter().any(|alert| alert["kind"] == "review_waiting"), "{alerts}");
}

#[test]
fn a_deadline_fires_once_also_when_the_exchange_was_down() {
    let policy = Policy { task_deadline: Duration::from_millis(1), ..Policy::default() };
    let mut office = Office::under(policy);
    office.hand("T1", "orchestrator", "pm-1");
    office = office.restart();
    // Asking for something makes the exchange look what is due.
    let wait = format!("{}/inbox?wait=30", path_of("orchestrator"));
    let told = office.house.ask("GET", wait).by(&office.house.operator).get().ok();
    let told = told["messages"].as_array().unwrap();
    assert_eq!((told.len(), &told[0]["message"]["error_code"]), (1, &json!(504)));
    assert_eq!(office.task("operator", "T1")["state"], "expired");
    office = office.restart();
    office.hand("T2", "orchestrator", "qa-1");
    assert_eq!(office.inbox("orchestrator").iter().filter(|item| item["message"]["task_id"] == "T1").count(), 1);
}
