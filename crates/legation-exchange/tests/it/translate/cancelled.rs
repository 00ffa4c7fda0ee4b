//! Taking back what was asked of somebody of another dialect: the exchange tells them, and takes no answer any more.

use super::{ASKED, EXCHANGE, acl, babel, cap, inbox, last, name, request, sent, vlp};
use crate::desk::{Desk, accepted, by, refused};
use crate::tasks::house::{folds_again, held};
use legation_exchange::rules::acl::Stage;
use legation_exchange::{Registration, Who};
use legation_protocol::{Code, Format};
use legation_scan::Severity::High;
use serde_json::json;
use std::time::Duration;

fn extended() -> Desk {
    let mut desk = babel();
    desk.policy.extended_acl = true;
    desk
}

fn question(to: &str) -> String {
    acl("QUERY_REF", 1, ("ide", to), None, &json!({"reference": "head"}))
}

pub(super) fn cancel(to: &str) -> String {
    acl("CANCEL", 2, ("ide", to), Some(ASKED), &json!({"reason": "Ignore this."}))
}

/// A question takes no final word in CAP, and a task does.
fn answer(worker: &str, asked: &str, is_task: bool) -> String {
    match worker {
        "analyst" if is_task => cap("message", asked, "legation", json!({"content": "Done.", "final": true})),
        "analyst" => cap("message", asked, "legation", json!({"content": "Done."})),
        _ => vlp("response", "RSP001", EXCHANGE, Some(asked), json!({})),
    }
}

#[test]
fn whoever_was_asked_in_another_dialect_is_told_and_answers_no_more() {
    for worker in ["analyst", "observer"] {
        for (asks, is_task) in [(request(1, worker), true), (question(worker), false)] {
            let mut desk = extended();
            let talk = sent(&mut desk, "ide", &asks);
            let asked = name(&last(&desk, worker));
            sent(&mut desk, "ide", &cancel(worker));
            let heard = inbox(&desk, worker);
            assert_eq!(heard.len(), 2, "{heard:?}");
            let told = &heard[1];
            assert!(!told.to_string().contains("Ignore"), "in words of the exchange's own");
            let kind = told["type"].as_str();
            if worker == "analyst" {
                assert_eq!((kind, &told["task_id"]), (Some("message"), &heard[0]["task_id"]));
            } else {
                assert_eq!((kind, told["topic"].as_str()), (Some("notice"), Some("task_cancelled")));
                assert_eq!(told["refers_to"], asked);
            }
            let rules = desk.state.rules();
            assert_eq!(rules.acl.get(talk).unwrap().stage, Stage::Cancelled);
            assert!(rules.cap.task(talk).is_none_or(|task| !task.is_open()));
            let late = refused(&desk.send(&answer(worker, &asked, is_task), by(worker)));
            assert_eq!(late, Code::TaskState, "{asks}");
            desk.passes(Duration::from_hours(1000));
            assert!(inbox(&desk, "ide").is_empty(), "nobody is told of a failure");
            folds_again(&desk);
        }
    }
}

#[test]
fn what_is_held_was_never_asked_in_another_dialect() {
    for worker in ["analyst", "observer"] {
        let mut desk = extended();
        let talk = held(&desk.suspect(&request(1, worker), by("ide"), High));
        accepted(&desk.suspect(&cancel(worker), by("ide"), High));
        assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Cancelled);
        assert!(desk.state.rules().holds.get(talk).is_none());
        desk.passes(Duration::from_hours(1000));
        assert!(inbox(&desk, worker).is_empty() && inbox(&desk, "ide").is_empty(), "{worker}");
        folds_again(&desk);
    }
}

/// An answer that is held.
fn held_answer(desk: &mut Desk, worker: &str, asked: &str, is_task: bool) {
    held(&desk.suspect(&answer(worker, asked, is_task), by(worker), High));
}

#[test]
fn what_was_taken_back_while_an_answer_was_held_is_over() {
    for worker in ["analyst", "observer"] {
        for (asks, is_task) in [(request(1, worker), true), (question(worker), false)] {
            let mut desk = extended();
            let talk = sent(&mut desk, "ide", &asks);
            let asked = name(&last(&desk, worker));
            held_answer(&mut desk, worker, &asked, is_task);
            sent(&mut desk, "ide", &cancel(worker));
            assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Cancelled);
            let told =
                inbox(&desk, worker).into_iter().filter(|told| told.to_string().contains("Nobody waits")).count();
            assert_eq!(told, 1, "{worker}: {asks}");
            let again = answer(worker, &asked, is_task).replace("RSP001", "RSP002");
            assert_eq!(refused(&desk.send(&again, by(worker))), Code::TaskState, "{worker}: {asks}");
            desk.passes(Duration::from_hours(1000));
            assert!(inbox(&desk, "ide").is_empty(), "{worker}: {asks}");
            folds_again(&desk);
        }
    }
}

#[test]
fn what_was_crowded_out_while_an_answer_was_held_is_over() {
    let mut desk = babel();
    desk.policy.shares.conversations = 1;
    sent(&mut desk, "ide", &request(1, "observer"));
    let asked = name(&last(&desk, "observer"));
    held_answer(&mut desk, "observer", &asked, true);
    sent(&mut desk, "ide", &request(2, "observer"));
    desk.passes(Duration::ZERO);
    assert_eq!(last(&desk, "ide")["payload"]["error_code"], "crowded_out");
    let again = answer("observer", &asked, true).replace("RSP001", "RSP002");
    assert_eq!(refused(&desk.send(&again, by("observer"))), Code::TaskState);
    assert_eq!(inbox(&desk, "ide").len(), 1, "whoever asked hears one answer");
    folds_again(&desk);
}

#[test]
fn what_was_late_while_its_result_was_in_review_is_over() {
    let mut desk = babel();
    desk.register("qa", super::speaking(&[Format::Cap]), Who::operator()).unwrap();
    let mut own = super::manifest("analyst");
    own["overseer"] = json!("qa");
    desk.register("analyst", Registration { manifest: Some(own), ..Registration::default() }, Who::operator()).unwrap();
    sent(&mut desk, "observer", &vlp("query", "QRY001", "analyst", None, json!({})));
    let asked = name(&last(&desk, "analyst"));
    held(&desk.send(&answer("analyst", &asked, true), by("analyst")));
    desk.policy.time_to_live = Duration::from_hours(10_000);
    desk.passes(Duration::from_hours(1000));
    let fails = cap("error_response", &asked, "legation", json!({"error_code": 503, "error_message": "Busy."}));
    assert_eq!(refused(&desk.send(&fails, by("analyst"))), Code::TaskState);
    let told = inbox(&desk, "observer");
    assert_eq!((told.len(), &told[0]["topic"]), (1, &json!("task_failed")));
    folds_again(&desk);
}

#[test]
fn what_was_asked_of_somebody_who_has_left_the_language_is_taken_back() {
    let mut desk = extended();
    desk.register("coder", super::speaking(&[Format::Acl]), Who::operator()).unwrap();
    let talk = sent(&mut desk, "ide", &request(1, "coder"));
    desk.register("coder", super::speaking(&[Format::Cap]), Who::operator()).unwrap();
    sent(&mut desk, "ide", &cancel("coder"));
    assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Cancelled);
    let told = last(&desk, "coder");
    assert!(told["type"] == "message" && told["content"].as_str().unwrap().contains("Nobody waits"), "{told}");
    assert!(!told.to_string().contains("Ignore"), "in words of the exchange's own");
    folds_again(&desk);
}
