//! In what order an answer comes that is said in another dialect.

use super::{EXCHANGE, acl, acts, babel, cap, inbox, last, name, request, sent, takes_on, vlp};
use crate::desk::{Desk, by, refused};
use legation_exchange::rules::acl::Stage;
use legation_protocol::Code;
use serde_json::{Value, json};
use std::time::Duration;

fn answer(performative: &str, n: u32, asked: &str) -> String {
    let payload = match performative {
        "TASK_ACCEPT" => json!({"status": "accepted"}),
        "TASK_REJECT" => json!({"status": "rejected"}),
        "INFORM_RESULT" => json!({"task_status": "success", "result_summary": "12.", "result_details": {}}),
        "FAILURE" => json!({"status": "failure", "error_text": "Broke."}),
        _ => json!({"reason_code": "parsing_error"}),
    };
    acl(performative, n, ("ide", EXCHANGE), Some(asked), &payload)
}

/// The analyst or the observer asks the ide.
fn asked_by(asker: &str) -> (Desk, String) {
    let mut desk = babel();
    let opening = match asker {
        "analyst" => cap("delegation_notice", "T1", "ide", json!({"context_summary": "Count."})),
        _ => vlp("query", "QRY001", "ide", None, json!({})),
    };
    sent(&mut desk, asker, &opening);
    let request = name(&last(&desk, "ide"));
    (desk, request)
}

#[test]
fn a_worker_of_acl_takes_a_task_on_first_whoever_asked() {
    // ACL 4.3, 4.6 and 4.7
    for asker in ["analyst", "observer"] {
        let (mut desk, asked) = asked_by(asker);
        for early in ["INFORM_RESULT", "FAILURE"] {
            assert_eq!(refused(&desk.send(&answer(early, 1, &asked), by("ide"))), Code::TaskState, "{early}");
        }
        sent(&mut desk, "ide", &takes_on(2, EXCHANGE, &asked));
        for late in ["NOT_UNDERSTOOD", "TASK_REJECT", "TASK_ACCEPT"] {
            assert_eq!(refused(&desk.send(&answer(late, 3, &asked), by("ide"))), Code::TaskState, "{late}");
        }
        assert_eq!(inbox(&desk, asker).len(), 1);
        sent(&mut desk, "ide", &answer("INFORM_RESULT", 4, &asked));
        assert_eq!(inbox(&desk, asker).len(), 2);
    }
}

#[test]
fn what_was_taken_on_in_vlp_was_understood() {
    let mut desk = babel();
    sent(&mut desk, "ide", &request(1, "observer"));
    let query = name(&last(&desk, "observer"));
    let says = |topic: &str, id: &str| vlp("notice", id, EXCHANGE, Some(&query), json!({"topic": topic}));
    sent(&mut desk, "observer", &says("task_accepted", "NTC-1"));
    assert_eq!(refused(&desk.send(&says("not_understood", "NTC-2"), by("observer"))), Code::TaskState);
    assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT"]);
}

fn performatives(messages: &[Value]) -> Vec<&str> {
    messages.iter().map(|message| message["performative"].as_str().unwrap()).collect()
}

#[test]
fn what_was_given_up_is_answered_by_nobody() {
    // After a long silence.
    let mut desk = babel();
    desk.policy.time_to_live = Duration::from_hours(10_000);
    sent(&mut desk, "ide", &request(1, "observer"));
    let query = name(&last(&desk, "observer"));
    desk.policy.talks.idle = Duration::from_hours(1);
    desk.passes(Duration::from_hours(720));
    assert_eq!(acts(&inbox(&desk, "ide")), ["FAILURE"]);
    let response = vlp("response", "RSP001", EXCHANGE, Some(&query), json!({}));
    assert!(matches!(refused(&desk.send(&response, by("observer"))), Code::TaskState | Code::Untranslatable));
    assert_eq!(inbox(&desk, "ide").len(), 1);

    // When the one who asked has too much open: at once, and the task it became is over.
    for worker in ["observer", "analyst"] {
        let mut desk = babel();
        desk.policy.shares.conversations = 1;
        let first = sent(&mut desk, "ide", &request(1, worker));
        let asked = name(&last(&desk, worker));
        sent(&mut desk, "ide", &request(2, "observer"));
        desk.passes(Duration::ZERO);
        assert_eq!(desk.state.rules().acl.get(first).unwrap().stage, Stage::Failed);
        assert_eq!(performatives(&inbox(&desk, "ide")), ["FAILURE"]);
        let late = match worker {
            "observer" => vlp("response", "RSP001", EXCHANGE, Some(&asked), json!({})),
            _ => cap("message", &asked, "legation", json!({"content": "Done.", "final": true})),
        };
        assert_eq!(refused(&desk.send(&late, by(worker))), Code::TaskState, "{worker}");
        assert_eq!(inbox(&desk, "ide").len(), 1);
        if worker == "analyst" {
            assert_eq!(desk.state.rules().cap.named(&asked).next().unwrap().1.state(), "closed");
            assert!(last(&desk, "analyst")["content"].as_str().unwrap().contains("Nobody waits"));
        }
        crate::tasks::house::folds_again(&desk);
    }
}
