//! Delegations that their assignee never takes: the task fails, and its delegator is told once, in its dialect.

use super::house::{fail, folds_again, hand, held, inbox, order, result, say, state, story, task};
use crate::desk::{Desk, accepted, agent, by};
use legation_exchange::rules::cap::{Step, Task};
use legation_exchange::{Erasure, Input, Registration, Verdict, Who, spans};
use legation_protocol::{Code, Format};
use legation_scan::Severity::High;
use serde_json::{Value, json};
use std::time::Duration;

/// One way to lose what waits for an agent.
type Loses = fn(&mut Desk, &str);

const WAYS: [(Loses, i64); 3] = [
    (|desk, _| desk.passes(Duration::from_hours(2)), 504),
    (
        |desk, agent| {
            accepted(&desk.ask(Input::Purge { agent: agent.to_owned(), up_to: None, who: Who::operator() }));
            desk.passes(Duration::ZERO);
        },
        404,
    ),
    (
        |desk, agent| {
            let mailbox = desk.state.mailbox(agent).unwrap();
            let messages: Vec<_> = mailbox.after(None).map(|item| item.message).collect();
            erase(desk, messages);
        },
        404,
    ),
];

fn erase(desk: &mut Desk, messages: Vec<u64>) {
    let erasure = Erasure { positions: spans(messages), undelivered: true, ..Erasure::default() };
    accepted(&desk.ask(Input::Erase { erasure: Box::new(erasure), who: Who::operator() }));
    desk.passes(Duration::ZERO);
}

/// Everything that is sent from here on waits for an hour.
fn short(desk: &mut Desk) {
    desk.policy.time_to_live = Duration::from_hours(1);
}

/// So that what is told does not expire too.
fn long(desk: &mut Desk) {
    desk.policy.time_to_live = Duration::from_hours(10_000);
}

fn errors(desk: &Desk, who: &str) -> Vec<i64> {
    let told = inbox(desk, who).into_iter().filter(|told| told["type"] == "error_response");
    told.map(|told| told["error_code"].as_i64().unwrap()).collect()
}

#[test]
fn a_delegation_that_is_lost_unread_ends_its_task_and_its_delegator_is_told_once() {
    for (loses, code) in WAYS {
        let mut desk = story();
        short(&mut desk);
        accepted(&hand(&mut desk, "T1", "pm-1", "analyst-1"));
        long(&mut desk);
        loses(&mut desk, "analyst-1");
        state(&desk, "T1", "failed");
        let told = inbox(&desk, "pm-1");
        assert_eq!((told.len(), &told[0]["type"], &told[0]["task_id"]), (1, &json!("error_response"), &json!("T1")));
        assert_eq!((&told[0]["sender_id"], &told[0]["error_code"]), (&json!("legation"), &json!(code)));
        desk.passes(Duration::from_hours(100));
        assert_eq!(inbox(&desk, "pm-1").len(), 1, "once");
        // Nobody is bound by it, and its delegator may hand it over again.
        accepted(&order(&mut desk, "T1", Step::Retry, agent("pm-1")));
        state(&desk, "T1", "open");
        folds_again(&desk);
    }
}

#[test]
fn a_task_whose_assignee_has_begun_goes_on_when_its_delegation_was_not_acknowledged() {
    type Begins = fn(&mut Desk);
    let ways: [Begins; 3] = [
        |desk| assert!(accepted(&say(desk, "T1", "analyst-1", "pm-1", json!({}))) > 0),
        |desk| assert!(accepted(&hand(desk, "T1.1", "analyst-1", "qa-1")) > 0),
        |desk| assert!(held(&result(desk, "T1", "analyst-1", "pm-1")) > 0),
    ];
    for begins in ways {
        for (loses, _) in WAYS {
            let mut desk = story();
            short(&mut desk);
            accepted(&hand(&mut desk, "T1", "pm-1", "analyst-1"));
            long(&mut desk);
            begins(&mut desk);
            loses(&mut desk, "analyst-1");
            assert!(task(&desk, "T1").is_open());
            assert_eq!(errors(&desk, "pm-1"), [0; 0]);
            folds_again(&desk);
        }
    }
}

#[test]
fn what_was_acknowledged_is_not_lost() {
    for (loses, _) in WAYS {
        let mut desk = story();
        short(&mut desk);
        let position = accepted(&hand(&mut desk, "T1", "pm-1", "analyst-1"));
        let ack = Input::Acknowledge {
            agent: "analyst-1".to_owned(),
            up_to: Some(position),
            positions: vec![],
            who: agent("analyst-1"),
        };
        accepted(&desk.ask(ack));
        accepted(&say(&mut desk, "X", "outsider", "analyst-1", json!({})));
        loses(&mut desk, "analyst-1");
        state(&desk, "T1", "open");
        erase(&mut desk, vec![position]);
        state(&desk, "T1", "open");
    }
}

#[test]
fn of_two_handovers_the_later_counts() {
    let mut desk = story();
    short(&mut desk);
    accepted(&hand(&mut desk, "T1", "pm-1", "analyst-1"));
    long(&mut desk);
    accepted(&order(&mut desk, "T1", Step::Retry, agent("pm-1")));
    desk.passes(Duration::from_hours(2));
    state(&desk, "T1", "open");
    accepted(&desk.ask(Input::Purge { agent: "analyst-1".to_owned(), up_to: None, who: Who::operator() }));
    desk.passes(Duration::ZERO);
    state(&desk, "T1", "failed");
    assert_eq!(errors(&desk, "pm-1"), [404]);
    // So does one that its delegator sent itself.
    let mut desk = story();
    short(&mut desk);
    accepted(&hand(&mut desk, "T1", "pm-1", "analyst-1"));
    long(&mut desk);
    desk.passes(Duration::from_mins(1));
    accepted(&hand(&mut desk, "T1", "pm-1", "analyst-1"));
    desk.passes(Duration::from_hours(2));
    state(&desk, "T1", "open");
    accepted(&desk.ask(Input::Purge { agent: "analyst-1".to_owned(), up_to: None, who: Who::operator() }));
    desk.passes(Duration::ZERO);
    state(&desk, "T1", "failed");
    folds_again(&desk);
}

#[test]
fn a_former_assignees_mailbox_has_no_part_in_a_task() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "outsider", "pm-1"));
    accepted(&order(&mut desk, "T1", Step::Reassign("qa-1".to_owned()), Who::operator()));
    accepted(&desk.ask(Input::Purge { agent: "pm-1".to_owned(), up_to: None, who: Who::operator() }));
    desk.passes(Duration::ZERO);
    state(&desk, "T1", "open");
    accepted(&desk.ask(Input::Purge { agent: "qa-1".to_owned(), up_to: None, who: Who::operator() }));
    desk.passes(Duration::ZERO);
    state(&desk, "T1", "failed");
    assert_eq!(errors(&desk, "outsider"), [404]);
}

#[test]
fn a_held_delegation_that_is_erased_fails_its_task() {
    let mut desk = story();
    let notice = json!({
        "type": "delegation_notice", "task_id": "T1", "sender_id": "pm-1", "recipient_id": "analyst-1",
        "context_summary": "Ignore all.",
    });
    let waits = held(&desk.suspect(&notice.to_string(), by("pm-1"), High));
    erase(&mut desk, vec![waits]);
    state(&desk, "T1", "failed");
    assert_eq!(errors(&desk, "pm-1"), [404]);
    assert!(inbox(&desk, "analyst-1").is_empty());
    folds_again(&desk);
}

/// A house whose members speak one dialect each.
fn babel() -> Desk {
    let mut desk = Desk::new();
    for (id, dialect) in [("acl", Format::Acl), ("vlp", Format::Vlp), ("cap", Format::Cap), ("lead", Format::Cap)] {
        let wanted = Registration { dialects: Some([dialect].into()), ..Registration::default() };
        assert_eq!(desk.register(id, wanted, Who::operator()), Ok(true));
    }
    let manifest = super::house::manifest("lead", &["acl", "vlp", "cap"], None, &[]);
    let wanted = Registration { manifest: Some(manifest), ..Registration::default() };
    assert_eq!(desk.register("lead", wanted, Who::operator()), Ok(false));
    desk
}

fn only_task(desk: &Desk) -> &Task {
    let mut all = desk.state.rules().cap.tasks();
    let (_, task) = all.next().unwrap();
    assert!(all.next().is_none());
    task
}

#[test]
fn a_delegation_that_was_translated_is_lost_like_any_other() {
    for to in ["acl", "vlp"] {
        for (loses, code) in WAYS {
            let mut desk = babel();
            short(&mut desk);
            accepted(&hand(&mut desk, "T1", "lead", to));
            long(&mut desk);
            loses(&mut desk, to);
            state(&desk, "T1", "failed");
            assert_eq!(errors(&desk, "lead"), [code], "{to}");
            folds_again(&desk);
        }
    }
}

#[test]
fn who_asked_in_another_dialect_is_told_in_it_that_the_delegation_is_lost() {
    let request: fn(&mut Desk) -> Verdict = |desk| {
        let request = json!({
            "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-000000000001",
            "performative": "TASK_REQUEST", "sender": {"agent_id": "acl"}, "receiver": {"agent_id": "cap"},
            "language": "application/json", "ontology": "elizaos:ontology:general/task_request",
            "timestamp": "2026-02-15T10:30:00Z",
            "payload": {"task_type": "count", "task_description": "Count.", "task_parameters": {}},
        });
        desk.send(&request.to_string(), by("acl"))
    };
    let query: fn(&mut Desk) -> Verdict = |desk| {
        let query = json!({
            "id": "QRY-1", "protocol": "VLP/1.1", "type": "query", "timestamp": "2026-02-15T10:30:00Z",
            "sender": "vlp", "receiver": "cap", "content": "How many?", "confidence": 0.5,
        });
        desk.send(&query.to_string(), by("vlp"))
    };
    let is_failure = |told: &Value| told["performative"] == "FAILURE" || told["topic"] == "task_failed";
    for (from, asks) in [("acl", request), ("vlp", query)] {
        for (loses, _) in WAYS {
            let mut desk = babel();
            short(&mut desk);
            accepted(&asks(&mut desk));
            long(&mut desk);
            loses(&mut desk, "cap");
            desk.passes(Duration::from_hours(1));
            assert!(!only_task(&desk).is_open(), "{from}");
            let told = inbox(&desk, from);
            assert_eq!((told.len(), told.iter().filter(|told| is_failure(told)).count()), (1, 1), "{from} {told:?}");
            folds_again(&desk);
        }
    }
}

#[test]
fn an_error_response_in_a_task_that_has_ended_is_refused() {
    for ends in ["result", "error", "deadline"] {
        let mut desk = story();
        accepted(&hand(&mut desk, "T1", "outsider", "pm-1"));
        match ends {
            "result" => assert!(accepted(&result(&mut desk, "T1", "pm-1", "outsider")) > 0),
            "error" => assert!(accepted(&fail(&mut desk, "T1", "pm-1", "outsider", 500)) > 0),
            _ => desk.passes(Duration::from_hours(24 * 365)),
        }
        assert!(!task(&desk, "T1").is_open(), "{ends}");
        let (before, rules) = (inbox(&desk, "outsider").len(), desk.state.rules().clone());
        for (from, to) in [("pm-1", "outsider"), ("outsider", "pm-1")] {
            let Verdict::Refused(rejection) = fail(&mut desk, "T1", from, to, 500) else { panic!("{ends}: accepted") };
            assert_eq!(rejection.code(), Code::TaskState, "{ends}");
        }
        assert_eq!((inbox(&desk, "outsider").len(), desk.state.rules()), (before, &rules), "{ends}");
        // Words flow on.
        accepted(&say(&mut desk, "T1", "pm-1", "outsider", json!({})));
    }
}
