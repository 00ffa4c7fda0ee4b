//! Taking back what was asked of somebody of another dialect: the exchange tells them, and takes no answer any more.

use super::{ASKED, EXCHANGE, acl, babel, cap, inbox, last, name, request, sent, vlp};
use crate::desk::{Desk, accepted, by, refused};
use crate::tasks::house::{folds_again, held};
use legation_exchange::rules::acl::Stage;
use legation_protocol::Code;
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

fn cancel(to: &str) -> String {
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
