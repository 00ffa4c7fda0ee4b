//! Errors, and what is done about them (CAP Observability).

use super::house::{
    fail, folds_again, hand, hand_with, held, inbox, manifest, order, result, say, state, story, task, with,
};
use crate::desk::{Desk, accepted, agent, person, refused};
use legation_exchange::rules::cap::{Escalation, Order, Step};
use legation_exchange::rules::vcp;
use legation_exchange::{Alert, Directive, Input, Kind, Role, Who};
use legation_protocol::Code;
use serde_json::json;
use std::time::Duration;

fn failed() -> Desk {
    let mut desk = story();
    with(&mut desk, manifest("analyst-2", &[], None, &[])).unwrap();
    with(&mut desk, manifest("pm-1", &["analyst-1", "analyst-2"], None, &[])).unwrap();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    accepted(&hand(&mut desk, "T1.1.1", "analyst-1", "qa-1"));
    accepted(&fail(&mut desk, "T1.1", "analyst-1", "pm-1", 504));
    desk
}

#[test]
fn an_error_is_on_the_task_and_nothing_happens_by_itself() {
    let mut desk = failed();
    state(&desk, "T1.1", "failed");
    assert_eq!(task(&desk, "T1.1").errors.back().unwrap().code, 504);
    desk.passes(Duration::from_hours(1));
    state(&desk, "T1.1", "failed");
    // Another's word on it ends nothing.
    accepted(&fail(&mut desk, "T1", "orchestrator", "pm-1", 400));
    accepted(&fail(&mut desk, "T1", "outsider", "orchestrator", 400));
    state(&desk, "T1", "open");
    assert_eq!(task(&desk, "T1").errors.len(), 1);
    assert_eq!(refused(&result(&mut desk, "T1.1", "analyst-1", "pm-1")), Code::TaskState);
}

#[test]
fn a_task_is_tried_again_with_the_words_it_had() {
    let mut desk = failed();
    desk.ask(Input::Purge { agent: "analyst-1".to_owned(), up_to: None, who: Who::operator() });
    accepted(&order(&mut desk, "T1.1", Step::Retry, agent("pm-1")));
    state(&desk, "T1.1", "open");
    assert_eq!(task(&desk, "T1.1").tries, 2);
    let got = inbox(&desk, "analyst-1");
    assert_eq!((&got[0]["sender_id"], &got[0]["context_summary"]), (&json!("pm-1"), &json!("do it")));
    assert_eq!((&got[1]["type"], &got[1]["sender_id"]), (&json!("delegation_notice"), &json!("legation")));
    assert_eq!(got[1]["original"]["position"], task(&desk, "T1.1").notice);
    folds_again(&desk);
}

#[test]
fn a_task_goes_to_another_that_its_delegator_may_delegate_to() {
    let mut desk = failed();
    let to = |name: &str| Step::Reassign(name.to_owned());
    assert_eq!(refused(&order(&mut desk, "T1.1", to("outsider"), agent("pm-1"))), Code::DelegationDenied);
    assert_eq!(refused(&order(&mut desk, "T1.1", to("outsider"), Who::operator())), Code::DelegationDenied);
    assert_eq!(refused(&order(&mut desk, "T1.1", to("nobody"), agent("pm-1"))), Code::UnknownRecipient);
    accepted(&order(&mut desk, "T1.1", to("analyst-2"), agent("pm-1")));
    state(&desk, "T1.1", "open");
    assert_eq!(
        (task(&desk, "T1.1").assignee.as_str(), task(&desk, "T1.1").former.as_slice()),
        ("analyst-2", &["analyst-1".to_owned()][..])
    );
    state(&desk, "T1.1.1", "closed");
    assert_eq!(inbox(&desk, "analyst-2").len(), 2, "the delegation itself, and who it is from now on");
    assert_eq!(refused(&result(&mut desk, "T1.1", "analyst-1", "pm-1")), Code::NotAParty);
    accepted(&result(&mut desk, "T1.1", "analyst-2", "pm-1"));
    folds_again(&desk);
}

#[test]
fn a_task_is_taken_to_whom_its_delegator_works_for_and_at_last_to_the_operators() {
    let mut desk = failed();
    accepted(&order(&mut desk, "T1.1", Step::Escalate, agent("pm-1")));
    assert_eq!(task(&desk, "T1.1").escalated, Some(Escalation::Party("orchestrator".to_owned())));
    assert_eq!(inbox(&desk, "orchestrator").pop().unwrap()["error_code"], 504);
    accepted(&order(&mut desk, "T1", Step::Escalate, Who::operator()));
    assert_eq!(task(&desk, "T1").escalated, Some(Escalation::Operator));
    let alert = desk.record.last().and_then(Alert::raised_by).unwrap();
    assert_eq!(alert.kind, Kind::ReviewWaiting);
    // Without anybody above, the overseer.
    accepted(&hand(&mut desk, "R", "orchestrator", "analyst-1"));
    accepted(&order(&mut desk, "R", Step::Escalate, person("o", Role::Orchestrator)));
    assert_eq!(task(&desk, "R").escalated, Some(Escalation::Party("qa-1".to_owned())));
}

#[test]
fn delegators_the_orchestrator_and_operators_say_what_becomes_of_a_task() {
    for (who, want) in [
        (agent("analyst-1"), Some(Code::NotAParty)),
        (agent("outsider"), Some(Code::UnknownTask)),
        (person("a", Role::Auditor), Some(Code::NotAParty)),
        (person("r", Role::Reviewer), Some(Code::UnknownTask)),
        (Who::Nobody, Some(Code::UnknownTask)),
        (agent("pm-1"), None),
        (Who::operator(), None),
        (person("o", Role::Orchestrator), None),
    ] {
        let mut desk = failed();
        let verdict = order(&mut desk, "T1.1", Step::Retry, who.clone());
        match want {
            Some(code) => assert_eq!(refused(&verdict), code, "{who}"),
            None => drop(accepted(&verdict)),
        }
    }
}

#[test]
fn what_is_done_is_done() {
    let mut desk = failed();
    accepted(&result(&mut desk, "T1", "pm-1", "orchestrator"));
    for id in ["T1", "T1.1"] {
        assert_eq!(refused(&order(&mut desk, id, Step::Retry, Who::operator())), Code::TaskState, "{id}");
    }
}

#[test]
fn a_task_says_that_it_waits_for_the_user() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&say(&mut desk, "T1", "pm-1", "user", json!({})));
    state(&desk, "T1", "waits_for_user");
    assert_eq!(inbox(&desk, "user").len(), 1);
    accepted(&say(&mut desk, "T1", "user", "pm-1", json!({})));
    state(&desk, "T1", "open");
}

fn stands(desk: &mut Desk, order: vcp::Order) {
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who: Who::operator() }));
}

fn suspend(desk: &mut Desk, agent: &str) {
    stands(desk, vcp::Order::Suspend { agent: agent.to_owned(), why: "odd".to_owned() });
}

fn resume(desk: &mut Desk, agent: &str) {
    stands(desk, vcp::Order::Resume { agent: agent.to_owned(), escalation: None, why: "fine".to_owned() });
}

/// Whether an agent has the words of this delegator.
fn has_words_of(desk: &Desk, agent: &str, delegator: &str) -> bool {
    inbox(desk, agent).iter().any(|got| got["sender_id"] == delegator)
}

#[test]
fn whoever_is_suspended_hands_nothing_over_again_and_is_not_heard() {
    // VCP 6.3
    let mut desk = failed();
    suspend(&mut desk, "pm-1");
    for step in [Step::Retry, Step::Reassign("analyst-2".to_owned()), Step::Escalate] {
        assert_eq!(refused(&order(&mut desk, "T1.1", step, agent("pm-1"))), Code::AgentSuspended);
    }
    // An operator's word counts; the words of the suspended one wait.
    accepted(&order(&mut desk, "T1.1", Step::Retry, Who::operator()));
    assert!(!has_words_of(&desk, "analyst-1", "pm-1"));
    resume(&mut desk, "pm-1");
    desk.passes(Duration::from_secs(1));
    assert!(has_words_of(&desk, "analyst-1", "pm-1"), "what was taken back goes on");
    folds_again(&desk);
}

#[test]
fn words_that_were_sent_again_are_taken_back_like_others() {
    let mut desk = failed();
    desk.ask(Input::Purge { agent: "analyst-1".to_owned(), up_to: None, who: Who::operator() });
    accepted(&order(&mut desk, "T1.1", Step::Retry, agent("pm-1")));
    assert!(has_words_of(&desk, "analyst-1", "pm-1"));
    suspend(&mut desk, "pm-1");
    assert!(!has_words_of(&desk, "analyst-1", "pm-1"));
    resume(&mut desk, "pm-1");
    desk.passes(Duration::from_secs(1));
    assert!(has_words_of(&desk, "analyst-1", "pm-1"));
    folds_again(&desk);
}

#[test]
fn what_an_overseer_approved_stays_approved_when_it_is_gone() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    let work = held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    suspend(&mut desk, "analyst-1");
    accepted(&say(&mut desk, "T1.1", "qa-1", "analyst-1", json!({ "decision": "approve" })));
    desk.ask(Input::Remove { id: "qa-1".to_owned(), who: Who::operator() });
    desk.passes(Duration::from_secs(1));
    assert!(!desk.state.rules().holds.get(work).unwrap().is_review());
    resume(&mut desk, "analyst-1");
    desk.passes(Duration::from_secs(1));
    state(&desk, "T1.1", "done");
    folds_again(&desk);
}

#[test]
fn whoever_is_gone_is_told_nothing() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    desk.ask(Input::Remove { id: "analyst-1".to_owned(), who: Who::operator() });
    desk.passes(Duration::from_secs(1));
    assert!(desk.state.mailbox("analyst-1").is_none(), "another may have the name one day");
    folds_again(&desk);
}

#[test]
fn nothing_is_handed_over_for_another_who_has_the_name_since() {
    let mut desk = story();
    with(&mut desk, manifest("pm-1", &["analyst-1", "qa-1"], None, &[])).unwrap();
    accepted(&hand(&mut desk, "T9", "pm-1", "analyst-1"));
    accepted(&fail(&mut desk, "T9", "analyst-1", "pm-1", 500));
    state(&desk, "T9", "failed");
    accepted(&desk.ask(Input::Remove { id: "pm-1".to_owned(), who: Who::operator() }));
    desk.passes(Duration::from_secs(1));
    with(&mut desk, manifest("pm-1", &["analyst-1", "qa-1"], None, &[])).unwrap();
    for step in [Step::Retry, Step::Reassign("qa-1".to_owned())] {
        assert_eq!(refused(&order(&mut desk, "T9", step, Who::operator())), Code::TaskState);
    }
    state(&desk, "T9", "failed");
    folds_again(&desk);
}

#[test]
fn a_task_is_handed_over_a_bounded_number_of_times() {
    let mut desk = failed();
    for _ in 1..32 {
        accepted(&order(&mut desk, "T1.1", Step::Retry, agent("pm-1")));
    }
    assert_eq!(refused(&order(&mut desk, "T1.1", Step::Retry, agent("pm-1"))), Code::TaskState);
    assert_eq!(task(&desk, "T1.1").tries, 32);
}

#[test]
fn a_delegation_is_sent_again_as_it_was_after_its_task_was_tried_again() {
    let mut desk = story();
    with(&mut desk, manifest("pm-1", &["analyst-1"], None, &[])).unwrap();
    let first = task_due_in(&desk, 1);
    accepted(&hand_with(&mut desk, "T9", "pm-1", "analyst-1", first.clone()));
    let between = task_due_in(&desk, 2);
    accepted(&order(&mut desk, "T9", Step::Retry, agent("pm-1")));
    let later = task(&desk, "T9").deadline;
    accepted(&order(&mut desk, "T9", Step::Retry, agent("pm-1")));
    assert_eq!(refused(&hand_with(&mut desk, "T9", "pm-1", "analyst-1", between)), Code::TaskState);
    accepted(&hand_with(&mut desk, "T9", "pm-1", "analyst-1", first));
    assert!(task(&desk, "T9").deadline >= later, "it is due as it was tried again");
    folds_again(&desk);
}

fn task_due_in(desk: &Desk, hours: u64) -> serde_json::Value {
    json!({ "deadline": desk.now.plus(Duration::from_hours(hours)).to_string() })
}

#[test]
fn a_task_that_is_tried_again_is_not_due_before_its_parts() {
    let mut desk = story();
    desk.policy.time_to_live = Duration::from_hours(100 * 24);
    let until = |deadline: &str| json!({ "deadline": deadline });
    accepted(&hand_with(&mut desk, "T1", "orchestrator", "pm-1", until("2026-03-15T00:00:00Z")));
    accepted(&hand_with(&mut desk, "T1.1", "pm-1", "analyst-1", until("2026-03-14T00:00:00Z")));
    let (whole, part) = (task(&desk, "T1").deadline, task(&desk, "T1.1").deadline);
    accepted(&order(&mut desk, "T1", Step::Retry, Who::operator()));
    assert_eq!(task(&desk, "T1").deadline, whole, "the usual time is over sooner");
    accepted(&order(&mut desk, "T1.1", Step::Retry, agent("pm-1")));
    assert_eq!(task(&desk, "T1.1").deadline, part);
    // Later it may be, as far as the whole is.
    desk.passes(Duration::from_hours(26 * 24));
    accepted(&order(&mut desk, "T1.1", Step::Retry, agent("pm-1")));
    assert_eq!(task(&desk, "T1.1").deadline, whole);
    folds_again(&desk);
}

#[test]
fn of_tasks_with_one_key_the_newest_alone_is_taken_up_again() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    let earlier = desk.state.rules().cap.named("T1").next().unwrap().0;
    accepted(&fail(&mut desk, "T1", "pm-1", "orchestrator", 500));
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    for step in [Step::Retry, Step::Reassign("qa-1".to_owned())] {
        let retried = Order { task: earlier, step, opinion: None };
        let input = Input::Order { order: Box::new(Directive::Cap(retried)), who: Who::operator() };
        assert_eq!(refused(&desk.ask(input)), Code::TaskState, "two would be open under one name");
    }
    accepted(&order(&mut desk, "T1", Step::Retry, Who::operator()));
    folds_again(&desk);
}

#[test]
fn what_nobody_waits_for_any_more_is_not_taken_up_again() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "outsider", "pm-1"));
    accepted(&fail(&mut desk, "T1", "pm-1", "outsider", 500));
    desk.ask(Input::Remove { id: "outsider".to_owned(), who: Who::operator() });
    desk.passes(Duration::from_secs(1));
    // Nor does it go to whom its delegator could not have handed it.
    for step in [Step::Retry, Step::Reassign("analyst-1".to_owned())] {
        assert_eq!(refused(&order(&mut desk, "T1", step, Who::operator())), Code::TaskState);
    }
    state(&desk, "T1", "failed");
}

#[test]
fn a_task_is_tried_again_only_by_whom_its_delegator_may_still_delegate_to() {
    // "Only agents listed in an agent's allowed_agents may receive a delegation_notice from that agent."
    let mut desk = failed();
    with(&mut desk, manifest("pm-1", &["analyst-2"], None, &[])).unwrap();
    for who in [agent("pm-1"), Who::operator()] {
        assert_eq!(refused(&order(&mut desk, "T1.1", Step::Retry, who)), Code::DelegationDenied);
    }
    accepted(&order(&mut desk, "T1.1", Step::Reassign("analyst-2".to_owned()), agent("pm-1")));
}
