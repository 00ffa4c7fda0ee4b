//! A judge of delegations on a socket: what it says decides, and nobody but the delegator waits for it.

use crate::endpoint::{Endpoint, Posted};
use crate::house::{Answer, House, path_of};
use legation_engine::{JudgeSettings, Settings};
use legation_exchange::Policy;
use legation_exchange::rules::cap::Silence;
use legation_out::{Allow, Courier, Options};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;
use zeroize::Zeroizing;

/// A planner who may delegate to a clerk and to a spare one, who asks a judge first.
struct Office {
    house: House,
    judge: Endpoint,
    planner: String,
}

impl Office {
    fn open(
        silence: Silence,
        timeout: Duration,
        says: impl Fn(&Posted) -> Option<String> + Send + Sync + 'static,
    ) -> Office {
        let judge = Endpoint::saying(says);
        let allow = Allow::of_url(&judge.url()).into_iter().collect();
        let carrier = Arc::new(Courier::new(Options { allow, ..Options::default() }).unwrap());
        let secret = Some(Zeroizing::new("s3cret\n".to_owned()));
        let settings = JudgeSettings { url: judge.url(), name: "the bench".to_owned(), secret, timeout, carrier };
        let data = Arc::new(tempfile::tempdir().unwrap());
        let policy = Policy { open_registration: true, judge: Some(silence), ..Policy::default() };
        let settings = Settings { policy, judge: Some(settings), ..Settings::on(data.path()) };
        let house = House::with(data, settings, legation_server::Settings::default());
        let rule = |when: &str| json!({ "when_to_delegate": when });
        let manifest = json!({
            "id": "planner", "system_prompt": "You plan.", "allowed_agents": ["clerk", "spare", "coder"], "mcp_bindings": [],
            "delegate_rules": { "clerk": rule("for figures"), "spare": rule("if clerk is ill"), "coder": rule("for code") },
        });
        for id in ["clerk", "spare", "other"] {
            house.ask("PUT", path_of(id)).by(&house.operator).json(r#"{"dialects":["cap"]}"#).ok();
        }
        let body = json!({ "manifest": manifest }).to_string();
        let planner = house.ask("PUT", path_of("planner")).by(&house.operator).json(body).ok();
        let planner = planner["token"].as_str().unwrap().to_owned();
        Office { house, judge, planner }
    }

    fn delegate(&self, task: &str) -> Answer {
        self.house.ask("POST", "/v1/messages").by(&self.planner).json(notice(task).to_string())
    }

    fn last_entry(&self) -> Value {
        let head = self.house.ask("GET", "/v1/audit/head").by(&self.house.operator).get().ok();
        let after = head["size"].as_u64().unwrap() - 2;
        let entries =
            self.house.ask("GET", format!("/v1/audit/entries?after={after}")).by(&self.house.operator).get().ok();
        entries["entries"][0]["effect"].clone()
    }
}

fn notice(task: &str) -> Value {
    json!({
        "type": "delegation_notice", "task_id": task, "sender_id": "planner", "recipient_id": "clerk",
        "context_summary": "Add up.", "message_id": format!("m-{task}"),
    })
}

fn always(text: &'static str) -> impl Fn(&Posted) -> Option<String> + Send + Sync {
    move |_| Some(text.to_owned())
}

const SOON: Duration = Duration::from_millis(50);
const LATE: Duration = Duration::from_secs(30);

#[test]
fn a_judge_that_allows_is_asked_once_signed_and_told_in_the_explanation() {
    let office = Office::open(Silence::Denies, LATE, always(r#"{"verdict":"allow","reason":"It is for figures."}"#));
    let taken = office.delegate("T1").ok();
    let posted = office.judge.next();
    let asked: Value = serde_json::from_str(&posted.body).unwrap();
    assert_eq!(
        asked,
        json!({
            "realm": "local", "delegator": "planner", "delegate": "clerk", "task_id": "T1", "rule": "for figures",
            "summary": "Add up.", "message_id": "m-T1", "digest": asked["digest"],
        })
    );
    assert!(asked["digest"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(posted.header("authorization"), Some("Bearer s3cret"));
    assert!(posted.header("legation-signature").unwrap().starts_with("base64:"));
    let judged = office.last_entry()["ruled"]["judged"].clone();
    assert_eq!(judged, json!({ "by": "the bench", "word": "allow", "reason": "It is for figures." }));
    let path = format!("/v1/messages/{}/explain", taken["position"]);
    let told = office.house.ask("GET", path).by(&office.planner).get().ok();
    let said = told["steps"].as_array().unwrap().iter().find(|step| step["step"] == "asked_judge").unwrap();
    assert_eq!(said["says"], "the bench judged that the rule for delegating is met: It is for figures.");
}

#[test]
fn a_judge_that_vetoes_refuses_with_its_reason() {
    let office = Office::open(Silence::Allows, LATE, always(r#"{"verdict":"veto","reason":"No figures here."}"#));
    let refused = office.delegate("T1").refused(403, "delegation_denied");
    assert!(refused["message"].as_str().unwrap().ends_with("is not met: No figures here."), "{refused}");
    let entry = office.last_entry();
    assert_eq!((&entry["entry"], &entry["code"]), (&json!("refused"), &json!("delegation_denied")));
    assert_eq!(entry["judged"], json!({ "by": "the bench", "word": "veto", "reason": "No figures here." }));
    let told = office.house.ask("GET", "/v1/messages/m-T1/explain").by(&office.planner).get().ok();
    let said = told["steps"].as_array().unwrap().iter().find(|step| step["step"] == "asked_judge").unwrap();
    assert_eq!(said["says"], "the bench judged that the rule for delegating is not met: No figures here.");
    office.house.ask("GET", "/v1/tasks/T1").by(&office.house.operator).get().refused(404, "unknown_task");
}

#[test]
fn what_a_judge_does_not_say_in_time_counts_as_the_settings_say() {
    for (silence, taken) in [(Silence::Allows, true), (Silence::Denies, false)] {
        let office = Office::open(silence, SOON, |_| None);
        let answer = office.delegate("T1");
        let judged = if taken {
            answer.ok();
            office.last_entry()["ruled"]["judged"].clone()
        } else {
            answer.refused(403, "delegation_denied");
            office.last_entry()["judged"].clone()
        };
        assert_eq!((&judged["by"], &judged["word"]), (&json!("the bench"), &json!("unheard")), "{silence:?}");
    }
}

#[test]
fn what_makes_no_sense_was_not_said() {
    let answers = ["", "yes", r#"{"verdict":"perhaps"}"#, r#"{"allow":true}"#, "[]", r#"{"verdict":"allow""#];
    for answer in answers {
        let office = Office::open(Silence::Denies, LATE, always(answer));
        let refused = office.delegate("T1").refused(403, "delegation_denied");
        assert!(refused["message"].as_str().unwrap().contains("neither allow nor veto"), "{answer}: {refused}");
    }
}

#[test]
fn another_language_or_another_assignee_is_no_way_past_a_judge() {
    let office = Office::open(Silence::Allows, LATE, |posted| {
        let verdict = if posted.body.contains("for figures") { "allow" } else { "veto" };
        Some(json!({ "verdict": verdict }).to_string())
    });
    office.delegate("T1").ok();
    let reassign = |who: &str| {
        let body = json!({ "to": "spare" }).to_string();
        office.house.ask("POST", "/v1/tasks/T1/reassign").by(who).json(body)
    };
    reassign(&office.planner).refused(403, "delegation_denied");
    let registered = json!({ "dialects": ["cap"] }).to_string();
    office.house.ask("PUT", path_of("coder")).by(&office.house.operator).json(registered).ok();
    let request = json!({
        "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10", "performative": "TASK_REQUEST",
        "sender": { "agent_id": "planner" }, "receiver": { "agent_id": "coder" }, "language": "application/json",
        "ontology": "elizaos:ontology:code/python/debug_request", "timestamp": "2026-02-15T10:30:00Z",
        "payload": { "task_type": "refactor", "task_description": "Tidy up.", "task_parameters": {} },
    });
    let sent = office.house.ask("POST", "/v1/messages").by(&office.planner).json(request.to_string());
    sent.refused(403, "delegation_denied");
    reassign(&office.house.operator).ok();
}

#[test]
fn while_a_judge_thinks_others_go_on_and_the_delegator_keeps_its_order() {
    let (answer, answers) = mpsc::channel::<()>();
    let answers = Mutex::new(answers);
    let office = Office::open(Silence::Denies, LATE, move |_| {
        answers.lock().unwrap().recv().unwrap();
        Some(r#"{"verdict":"allow"}"#.to_owned())
    });
    let say = |id: &str, from: &str, to: &str| json!({ "type": "message", "task_id": "T9", "sender_id": from, "recipient_id": to, "content": "x", "message_id": id });
    let lines = format!("{}\n{}\n", notice("T1"), say("m-2", "planner", "clerk"));
    let verdicts = std::thread::scope(|scope| {
        let both = scope.spawn(|| office.house.ask("POST", "/v1/messages").by(&office.planner).lines(lines));
        // Once it is asked, somebody else's message is taken all the same.
        office.judge.next();
        let by = &office.house.operator;
        office.house.ask("POST", "/v1/messages").by(by).json(say("m-3", "user", "clerk").to_string()).ok();
        answer.send(()).unwrap();
        both.join().unwrap().text
    });
    let positions: Vec<_> = verdicts
        .lines()
        .map(|line| {
            serde_json::from_str::<Value>(line).unwrap()["position"].as_u64().unwrap_or_else(|| panic!("{line}"))
        })
        .collect();
    assert!(positions[0] < positions[1], "{positions:?}");
    let inbox = office.house.ask("GET", format!("{}/inbox", path_of("clerk"))).by(&office.house.operator).get().ok();
    let ids: Vec<_> =
        inbox["messages"].as_array().unwrap().iter().map(|item| item["message"]["message_id"].clone()).collect();
    assert_eq!(ids, ["m-3", "m-T1", "m-2"]);
}
