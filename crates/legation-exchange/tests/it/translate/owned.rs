//! A task is answered by whoever works on it, while it is open, in whichever dialect: nothing goes past its overseer.

use super::{EXCHANGE, acl, babel, cap, inbox, last, name, sent, speaking, takes_on};
use crate::desk::{Desk, accepted, by, refused};
use crate::tasks::house::{folds_again, held, order, state, task};
use legation_exchange::rules::cap::Step;
use legation_exchange::rules::hold::Says;
use legation_exchange::{Input, Registration, Who};
use legation_protocol::{Code, Format};
use legation_scan::Severity::High;
use serde_json::{Value, json};
use std::time::Duration;

/// An analyst hands T1 to the ide, whose work `qa` reviews.
fn overseen() -> Desk {
    let mut desk = babel();
    for id in ["qa", "other"] {
        desk.register(id, speaking(&[Format::Cap]), Who::operator()).unwrap();
    }
    let own = json!({"id": "ide", "system_prompt": "Count.", "allowed_agents": [], "delegate_rules": {}, "overseer": "qa", "mcp_bindings": []});
    desk.register("ide", Registration { manifest: Some(own), ..Registration::default() }, Who::operator()).unwrap();
    let rule = json!({"when_to_delegate": "Whenever."});
    let analyst = json!({
        "id": "analyst", "system_prompt": "Count.", "allowed_agents": ["ide", "other"],
        "delegate_rules": {"ide": rule, "other": rule}, "mcp_bindings": [],
    });
    desk.register("analyst", Registration { manifest: Some(analyst), ..Registration::default() }, Who::operator())
        .unwrap();
    sent(&mut desk, "analyst", &delegation());
    desk
}

fn delegation() -> String {
    cap("delegation_notice", "T1", "ide", json!({"context_summary": "Count."}))
}

fn done(n: u32, asked: &str) -> String {
    let payload = json!({"task_status": "success", "result_summary": "12.", "result_details": {}});
    acl("INFORM_RESULT", n, ("ide", EXCHANGE), Some(asked), &payload)
}

fn finals(desk: &Desk) -> usize {
    inbox(desk, "analyst").iter().filter(|heard| heard["final"] == true).count()
}

fn approved(desk: &mut Desk) {
    decided(desk, "approve");
}

fn decided(desk: &mut Desk, decision: &str) {
    let digest = inbox(desk, "qa").pop().unwrap()["oversight"]["digest"].clone();
    let word = json!({
        "type": "message", "task_id": "T1", "sender_id": "qa", "recipient_id": "analyst", "content": "Fine.",
        "decision": decision, "digest": digest,
    });
    sent(desk, "qa", &word.to_string());
    desk.passes(Duration::ZERO);
}

#[test]
fn a_delegation_that_was_sent_again_is_answered_in_its_task() {
    let mut desk = overseen();
    let first = name(&last(&desk, "ide"));
    sent(&mut desk, "analyst", &delegation());
    let second = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &second));
    held(&desk.send(&done(2, &second), by("ide")));
    assert_eq!(finals(&desk), 0, "nothing goes past the overseer");
    state(&desk, "T1", "in_review");
    approved(&mut desk);
    assert_eq!(finals(&desk), 1);
    state(&desk, "T1", "done");
    assert_eq!(refused(&desk.send(&takes_on(3, EXCHANGE, &first), by("ide"))), Code::TaskState);
    desk.passes(Duration::from_hours(1000));
    assert!(!inbox(&desk, "analyst").iter().any(|heard| heard["type"] == "error_response"), "nobody is late");
    folds_again(&desk);
}

#[test]
fn whoever_a_task_was_taken_from_answers_no_more() {
    let mut desk = overseen();
    let asked = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
    accepted(&order(&mut desk, "T1", Step::Reassign("other".to_owned()), Who::operator()));
    assert!(matches!(refused(&desk.send(&done(2, &asked), by("ide"))), Code::NotAParty | Code::TaskState));
    let failure = json!({"status": "failure", "error_text": "Broke."});
    let fails = acl("FAILURE", 3, ("ide", EXCHANGE), Some(&asked), &failure);
    assert!(matches!(refused(&desk.send(&fails, by("ide"))), Code::NotAParty | Code::TaskState));
    assert_eq!(finals(&desk), 0);
    state(&desk, "T1", "open");
    folds_again(&desk);
}

#[test]
fn a_task_that_is_over_is_answered_no_more() {
    let mut desk = overseen();
    let asked = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
    held(&desk.send(&done(2, &asked), by("ide")));
    desk.passes(Duration::from_hours(1000));
    state(&desk, "T1", "expired");
    assert_eq!(refused(&desk.send(&done(3, &asked), by("ide"))), Code::TaskState);
    assert_eq!(finals(&desk), 0);
    folds_again(&desk);
}

#[test]
fn a_part_that_was_closed_with_its_task_is_answered_no_more() {
    let mut desk = overseen();
    let part = |kind: &str, more: Value| cap(kind, "T1.1", "observer", more);
    let rule = json!({"when_to_delegate": "Whenever."});
    let analyst = json!({
        "id": "analyst", "system_prompt": "Count.", "allowed_agents": ["observer"], "delegate_rules": {"observer": rule},
        "mcp_bindings": [],
    });
    desk.register("analyst", Registration { manifest: Some(analyst), ..Registration::default() }, Who::operator())
        .unwrap();
    sent(&mut desk, "analyst", &part("delegation_notice", json!({"context_summary": "Count."})));
    let query = name(&last(&desk, "observer"));
    let asked = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
    held(&desk.send(&done(2, &asked), by("ide")));
    approved(&mut desk);
    state(&desk, "T1.1", "closed");
    let answer = super::vlp("response", "RSP001", EXCHANGE, Some(&query), json!({}));
    assert_eq!(refused(&desk.send(&answer, by("observer"))), Code::TaskState);
    folds_again(&desk);
}

/// What the analyst is told of a failure of T1, and what the task says.
#[track_caller]
fn told(desk: &Desk, code: i64, stage: &str) {
    let told: Vec<_> = inbox(desk, "analyst").into_iter().filter(|heard| heard["type"] == "error_response").collect();
    assert_eq!(told.iter().map(|heard| heard["error_code"].as_i64().unwrap()).collect::<Vec<_>>(), [code]);
    state(desk, "T1", stage);
    let errors: Vec<_> = task(desk, "T1").errors.iter().map(|failure| failure.code).collect();
    assert_eq!(errors, [code], "what went wrong is on the task, once");
    folds_again(desk);
}

#[test]
fn whoever_handed_a_task_over_in_cap_hears_why_it_failed() {
    let mut desk = overseen();
    desk.policy.time_to_live = Duration::from_hours(10_000);
    desk.passes(Duration::from_hours(1000));
    told(&desk, 504, "expired");

    let mut desk = overseen();
    accepted(&desk.ask(Input::Remove { id: "ide".to_owned(), who: Who::operator() }));
    desk.passes(Duration::ZERO);
    told(&desk, 404, "failed");

    let mut desk = overseen();
    let asked = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
    held(&desk.send(&done(2, &asked), by("ide")));
    decided(&mut desk, "reject");
    told(&desk, 403, "failed");

    // And the other way where a person refuses it.
    let mut desk = overseen();
    let asked = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
    let failure = json!({"status": "failure", "error_text": "Broke."});
    let fails = acl("FAILURE", 3, ("ide", EXCHANGE), Some(&asked), &failure);
    let answer = held(&desk.suspect(&fails, by("ide"), High));
    super::decided(&mut desk, answer, Says::Refuse);
    told(&desk, 500, "failed");
}
