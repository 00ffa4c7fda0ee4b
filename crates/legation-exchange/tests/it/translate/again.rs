//! Handing a task over again, across dialects: whoever has it now is asked in a dialect it speaks, and the answer finds its
//! way to whoever asked. Where it could not, the order is refused.

use super::{ASKED, EXCHANGE, acl, acts, babel, cap, inbox, last, name, request, sent, speaking, takes_on, vlp};
use crate::desk::{Desk, accepted, by, refused};
use crate::tasks::house::{folds_again, held, order, state, task};
use legation_exchange::rules::acl::Stage;
use legation_exchange::rules::cap::Step;
use legation_exchange::rules::vcp;
use legation_exchange::{Directive, Input, Registration, Who};
use legation_protocol::{Code, Format};
use legation_scan::Severity::High;
use serde_json::{Value, json};
use std::time::Duration;

const SESSION: &str = "S-2026-02-15-observer-abc123";

/// Some more agents: one for each dialect.
pub(super) fn crowd() -> Desk {
    let mut desk = babel();
    for (id, dialect) in [("clerk", Format::Cap), ("coder", Format::Acl), ("seer", Format::Vlp)] {
        desk.register(id, speaking(&[dialect]), Who::operator()).unwrap();
    }
    let rule = json!({"when_to_delegate": "Whenever."});
    let names = ["ide", "observer", "clerk", "coder", "seer"];
    let rules: serde_json::Map<_, _> = names.iter().map(|name| ((*name).to_owned(), rule.clone())).collect();
    let own = json!({
        "id": "analyst", "system_prompt": "Count.", "allowed_agents": names, "delegate_rules": rules, "mcp_bindings": [],
    });
    desk.register("analyst", Registration { manifest: Some(own), ..Registration::default() }, Who::operator()).unwrap();
    desk
}

pub(super) fn to(name: &str) -> Step {
    Step::Reassign(name.to_owned())
}

/// The same words, of another.
pub(super) fn of(name: &str, text: &str) -> String {
    ["\"ide\"", "\"analyst\"", "\"observer\""].into_iter().fold(text.to_owned(), |text, one| {
        if text.contains(&format!("\"sender_id\":{one}")) || text.contains(&format!("\"sender\":{one}")) {
            return text
                .replace(&format!("\"sender_id\":{one}"), &format!("\"sender_id\":\"{name}\""))
                .replace(&format!("\"sender\":{one}"), &format!("\"sender\":\"{name}\""));
        }
        text.replace(&format!("\"sender\":{{\"agent_id\":{one}}}"), &format!("\"sender\":{{\"agent_id\":\"{name}\"}}"))
    })
}

pub(super) fn fails(asked: &str) -> String {
    cap("error_response", asked, "legation", json!({"error_code": 503, "error_message": "Busy."}))
}

/// What a worker answers to the exchange, in its dialect, until it is done.
pub(super) fn answers(worker: &str, asked: &str) -> Vec<String> {
    let done = json!({"task_status": "success", "result_summary": "Done.", "result_details": {}});
    let said = match worker {
        "clerk" | "analyst" => vec![cap("message", asked, "legation", json!({"content": "Done.", "final": true}))],
        "seer" | "observer" => vec![vlp("response", "RSP001", EXCHANGE, Some(asked), json!({"content": "Done."}))],
        _ => vec![takes_on(71, EXCHANGE, asked), acl("INFORM_RESULT", 72, ("ide", EXCHANGE), Some(asked), &done)],
    };
    said.iter().map(|text| of(worker, text)).collect()
}

pub(super) fn works(desk: &mut Desk, worker: &str) {
    let asked = name(&last(desk, worker));
    for answer in answers(worker, &asked) {
        sent(desk, worker, &answer);
    }
}

/// Which dialect each message of an agent's mailbox is in.
pub(super) fn dialects(desk: &Desk, agent: &str) -> Vec<&'static str> {
    let of = |message: &Value| match message {
        _ if message["mcp_version"].is_string() => "acl",
        _ if message["protocol"].is_string() => "vlp",
        _ if message["vcp_message"].is_string() => "vcp",
        _ => "cap",
    };
    inbox(desk, agent).iter().map(of).collect()
}

#[test]
fn whoever_gets_a_task_that_was_asked_for_in_acl_answers_whoever_asked() {
    for (worker, dialect) in [("clerk", "cap"), ("coder", "acl"), ("seer", "vlp")] {
        let mut desk = crowd();
        let asked = sent(&mut desk, "ide", &request(1, "analyst"));
        let id = format!("legation-{asked}");
        accepted(&order(&mut desk, &id, to(worker), Who::operator()));
        assert_eq!(dialects(&desk, worker), [dialect], "once, and in its own dialect");
        let heard = last(&desk, worker);
        assert!(heard.to_string().contains("Tidy it."), "{heard}");
        assert!(heard.to_string().contains(ASKED), "it names the original: {heard}");
        assert_eq!(task(&desk, &id).assignee, worker);
        assert_eq!(inbox(&desk, "analyst").len(), 2, "whoever had it is told");
        let late = of("analyst", &cap("message", &id, "legation", json!({"content": "Done.", "final": true})));
        assert_eq!(refused(&desk.send(&late, by("analyst"))), Code::NotAParty);
        works(&mut desk, worker);
        assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT", "INFORM_RESULT"], "{worker}");
        assert_eq!(desk.state.rules().acl.get(asked).unwrap().stage, Stage::Result);
        state(&desk, &id, "done");
        folds_again(&desk);
    }
}

#[test]
fn whoever_gets_a_task_that_was_asked_for_in_vlp_answers_whoever_asked() {
    for worker in ["clerk", "coder", "seer"] {
        let mut desk = crowd();
        let query = vlp("query", "QRY001", "analyst", None, json!({"session_id": SESSION}));
        let id = format!("legation-{}", sent(&mut desk, "observer", &query));
        accepted(&order(&mut desk, &id, to(worker), Who::operator()));
        works(&mut desk, worker);
        let heard = last(&desk, "observer");
        assert_eq!((&heard["type"], &heard["refers_to"]), (&json!("response"), &json!("QRY001")), "{worker}");
        assert_eq!(heard["session_id"], SESSION);
        state(&desk, &id, "done");
        folds_again(&desk);
    }
}

#[test]
fn a_failure_of_whoever_gets_a_task_is_told_to_whoever_asked() {
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    accepted(&order(&mut desk, &id, to("clerk"), Who::operator()));
    sent(&mut desk, "clerk", &of("clerk", &fails(&id)));
    assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT", "FAILURE"]);
    // And that it is late, or gone.
    for (loses, code) in [(Duration::from_hours(1000), "504"), (Duration::ZERO, "404")] {
        let mut desk = crowd();
        let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
        accepted(&order(&mut desk, &id, to("seer"), Who::operator()));
        if code == "404" {
            // Whoever had it before may go: that is nobody's loss.
            for agent in ["analyst", "seer"] {
                assert!(inbox(&desk, "ide").is_empty());
                accepted(&desk.ask(Input::Remove { id: agent.to_owned(), who: Who::operator() }));
                desk.passes(Duration::ZERO);
            }
        }
        desk.policy.time_to_live = Duration::from_hours(10_000);
        desk.passes(loses);
        let told = inbox(&desk, "ide");
        assert_eq!((acts(&told), &told[0]["payload"]["error_code"]), (vec!["FAILURE"], &json!(code)));
        folds_again(&desk);
    }
}

#[test]
fn a_task_that_is_tried_again_is_asked_for_again() {
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    accepted(&order(&mut desk, &id, Step::Retry, Who::operator()));
    let heard = inbox(&desk, "analyst");
    assert_eq!((heard.len(), &heard[1]["task_id"], &heard[1]["context_summary"]), (2, &json!(id), &json!("Tidy it.")));
    works(&mut desk, "analyst");
    assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT", "INFORM_RESULT"]);

    // Who asked in VLP hears of it again, and so does who handed it over in CAP.
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "observer", &vlp("query", "QRY001", "analyst", None, json!({}))));
    sent(&mut desk, "analyst", &fails(&id));
    assert_eq!(last(&desk, "observer")["topic"], "task_failed");
    accepted(&order(&mut desk, &id, Step::Retry, Who::operator()));
    works(&mut desk, "analyst");
    assert_eq!(last(&desk, "observer")["type"], "response");
    folds_again(&desk);

    let mut desk = crowd();
    sent(&mut desk, "analyst", &cap("delegation_notice", "T1", "ide", json!({"context_summary": "Count."})));
    let asked = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
    let failure = json!({"status": "failure", "error_text": "Broke."});
    sent(&mut desk, "ide", &acl("FAILURE", 2, ("ide", EXCHANGE), Some(&asked), &failure));
    state(&desk, "T1", "failed");
    accepted(&order(&mut desk, "T1", Step::Retry, Who::operator()));
    assert_eq!(dialects(&desk, "ide"), ["acl", "acl"]);
    works(&mut desk, "ide");
    let heard = last(&desk, "analyst");
    assert_eq!((&heard["task_id"], &heard["final"]), (&json!("T1"), &json!(true)));
    state(&desk, "T1", "done");
    folds_again(&desk);
}

#[test]
fn a_task_of_cap_goes_to_whoever_speaks_otherwise_and_back() {
    for worker in ["coder", "seer"] {
        let mut desk = crowd();
        sent(&mut desk, "analyst", &cap("delegation_notice", "T1", "clerk", json!({"context_summary": "Count."})));
        accepted(&order(&mut desk, "T1", to(worker), Who::operator()));
        assert_eq!(dialects(&desk, worker).len(), 1);
        assert!(last(&desk, worker).to_string().contains("Count."));
        // What its delegator says in the task to the exchange is for whoever has it.
        if worker == "seer" {
            sent(&mut desk, "analyst", &cap("message", "T1", "legation", json!({"content": "All of them."})));
            assert_eq!(last(&desk, "seer")["content"], "All of them.");
            let query = name(&inbox(&desk, "seer")[0]);
            sent(&mut desk, "seer", &answers("seer", &query)[0]);
        } else {
            works(&mut desk, worker);
        }
        assert_eq!(last(&desk, "analyst")["final"], true, "{worker}");
        state(&desk, "T1", "done");

        let mut desk = crowd();
        sent(&mut desk, "analyst", &cap("delegation_notice", "T1", worker, json!({"context_summary": "Count."})));
        let asked = name(&last(&desk, worker));
        accepted(&order(&mut desk, "T1", to("clerk"), Who::operator()));
        assert_eq!(dialects(&desk, worker)[0], dialects(&desk, worker)[1], "{worker} is told in its dialect");
        assert!(matches!(
            refused(&desk.send(&answers(worker, &asked)[0], by(worker))),
            Code::TaskState | Code::NotAParty
        ));
        let done = of("clerk", &cap("message", "T1", "analyst", json!({"content": "Done.", "final": true})));
        sent(&mut desk, "clerk", &done);
        assert_eq!(last(&desk, "analyst")["final"], true);
        folds_again(&desk);
    }
}

#[test]
fn the_work_of_whoever_gets_a_task_waits_for_its_overseer() {
    let mut desk = crowd();
    let own = json!({"id": "seer", "system_prompt": "See.", "allowed_agents": [], "delegate_rules": {}, "overseer": "clerk", "mcp_bindings": []});
    desk.register("seer", Registration { manifest: Some(own), ..Registration::default() }, Who::operator()).unwrap();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    accepted(&order(&mut desk, &id, to("seer"), Who::operator()));
    let asked = name(&last(&desk, "seer"));
    held(&desk.send(&answers("seer", &asked)[0], by("seer")));
    assert!(inbox(&desk, "ide").is_empty());
    assert_eq!(refused(&order(&mut desk, &id, Step::Retry, Who::operator())), Code::TaskState);
    let digest = last(&desk, "clerk")["oversight"]["digest"].clone();
    let word = cap("message", &id, "legation", json!({"content": "Fine.", "decision": "approve", "digest": digest}));
    sent(&mut desk, "clerk", &of("clerk", &word));
    desk.passes(Duration::ZERO);
    assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT", "INFORM_RESULT"]);
    state(&desk, &id, "done");
    folds_again(&desk);
}

#[test]
fn what_could_not_be_answered_is_not_handed_over() {
    // Whoever asked in ACL was told how it ended.
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    sent(&mut desk, "analyst", &fails(&id));
    for step in [Step::Retry, to("clerk")] {
        assert_eq!(refused(&order(&mut desk, &id, step, Who::operator())), Code::TaskState);
    }
    // The answer waits for a person.
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    held(&desk.suspect(&fails(&id), by("analyst"), High));
    assert_eq!(refused(&order(&mut desk, &id, to("clerk"), Who::operator())), Code::TaskState);
    // Its words are gone.
    let mut desk = crowd();
    let asked = sent(&mut desk, "ide", &request(1, "analyst"));
    accepted(&desk.ask(Input::Drop { before: asked + 1, kept: Vec::new() }));
    assert_eq!(refused(&order(&mut desk, &format!("legation-{asked}"), to("clerk"), Who::operator())), Code::TaskState);
    // Whoever asked is suspended, may not ask this one, or is this one.
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    assert_eq!(refused(&order(&mut desk, &id, to("ide"), Who::operator())), Code::DelegationCycle);
    let own =
        json!({"id": "ide", "system_prompt": "Code.", "allowed_agents": [], "delegate_rules": {}, "mcp_bindings": []});
    desk.register("ide", Registration { manifest: Some(own), ..Registration::default() }, Who::operator()).unwrap();
    for step in [Step::Retry, to("clerk")] {
        assert_eq!(refused(&order(&mut desk, &id, step, Who::operator())), Code::DelegationDenied);
    }
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    let stop = vcp::Order::Suspend { agent: "ide".to_owned(), why: "odd".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(stop)), who: Who::operator() }));
    assert_eq!(refused(&order(&mut desk, &id, Step::Retry, Who::operator())), Code::AgentSuspended);
    // No dialect of theirs has words for it.
    let mut desk = crowd();
    desk.register("herald", speaking(&[Format::Vcp]), Who::operator()).unwrap();
    let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
    assert_eq!(refused(&order(&mut desk, &id, to("herald"), Who::operator())), Code::Untranslatable);
    state(&desk, &id, "open");
    assert!(desk.waiting("herald").is_empty());
}

#[test]
fn nothing_that_goes_on_from_something_halted_is_handed_over_again() {
    let mut desk = crowd();
    let within = || json!({"session_id": SESSION});
    sent(&mut desk, "observer", &vlp("notice", "NTC001", "analyst", None, within()));
    let id = format!(
        "legation-{}",
        sent(&mut desk, "observer", &vlp("query", "QRY001", "analyst", Some("NTC001"), json!({})))
    );
    let block = json!({"session_id": SESSION, "safety": {"level": "block"}});
    sent(&mut desk, "observer", &vlp("notice", "NTC002", "analyst", None, block));
    for step in [Step::Retry, to("clerk"), to("coder")] {
        assert_eq!(refused(&order(&mut desk, &id, step, Who::operator())), Code::Halted);
    }
    let release = legation_exchange::rules::vlp::Order::Release { session: SESSION.to_owned(), why: "seen".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vlp(release)), who: Who::operator() }));
    desk.passes(Duration::ZERO);
    accepted(&order(&mut desk, &id, to("clerk"), Who::operator()));
}

#[test]
fn nothing_is_handed_over_round_a_halt() {
    let mut desk = crowd();
    let query = vlp("query", "QRY001", "analyst", None, json!({"session_id": SESSION}));
    let id = format!("legation-{}", sent(&mut desk, "observer", &query));
    let block =
        json!({"session_id": SESSION, "safety": {"level": "block", "issues": [{"code": "x", "message": "Stop."}]}});
    sent(&mut desk, "observer", &vlp("notice", "NTC001", "analyst", None, block));
    let waiting = desk.waiting("analyst");
    for step in [Step::Retry, to("clerk"), to("coder")] {
        assert_eq!(refused(&order(&mut desk, &id, step, Who::operator())), Code::Halted);
    }
    assert_eq!(desk.waiting("analyst"), waiting);
    assert!(desk.waiting("clerk").is_empty() && desk.waiting("coder").is_empty());

    // What was handed over again is taken back by a block that comes later.
    let mut desk = crowd();
    let id = format!("legation-{}", sent(&mut desk, "observer", &query));
    accepted(&order(&mut desk, &id, to("clerk"), Who::operator()));
    assert_eq!(desk.waiting("clerk").len(), 1);
    let block =
        json!({"session_id": SESSION, "safety": {"level": "block", "issues": [{"code": "x", "message": "Stop."}]}});
    sent(&mut desk, "observer", &vlp("notice", "NTC001", "analyst", None, block));
    let left: Vec<_> = inbox(&desk, "clerk").into_iter().filter(|heard| heard["type"] == "delegation_notice").collect();
    assert!(left.is_empty(), "{left:?}");
    folds_again(&desk);
}
