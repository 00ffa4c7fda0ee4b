//! What becomes of work once it was handed over again: whoever asked can still take it back, whoever has it answers by the
//! exchange, and is told in its own dialect when nobody waits any more.

use super::again::{answers, crowd, dialects, of, to, works};
use super::cancelled::cancel;
use super::{ASKED, EXCHANGE, acl, acts, cap, inbox, last, name, request, sent, takes_on};
use crate::desk::{Desk, accepted, by, refused};
use crate::tasks::house::{folds_again, held, order, state};
use legation_exchange::rules::acl::Stage;
use legation_exchange::rules::cap::Step;
use legation_exchange::rules::translate;
use legation_exchange::{Input, Registration, Who};
use legation_protocol::Code;
use serde_json::json;
use std::time::Duration;

#[test]
fn what_went_to_another_is_taken_back_from_whoever_was_asked_first_or_from_the_exchange() {
    for receiver in ["analyst", EXCHANGE] {
        for worker in ["clerk", "seer", "coder"] {
            let mut desk = crowd();
            desk.policy.extended_acl = true;
            let talk = sent(&mut desk, "ide", &request(1, "analyst"));
            let id = format!("legation-{talk}");
            accepted(&order(&mut desk, &id, to(worker), Who::operator()));
            let (asked, before) = (name(&last(&desk, worker)), desk.waiting("analyst"));
            assert_eq!(refused(&desk.send(&cancel("observer"), by("ide"))), Code::NotAParty);
            sent(&mut desk, "ide", &cancel(receiver));
            assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Cancelled);
            state(&desk, &id, "closed");
            let told = last(&desk, worker);
            match worker {
                "seer" => {
                    assert_eq!((told["topic"].as_str(), &told["refers_to"]), (Some("task_cancelled"), &asked.into()));
                }
                "coder" => {
                    let code = told["payload"]["error_code"].as_str();
                    assert_eq!((code, &told["in_reply_to"]), (Some("task_cancelled"), &asked.into()));
                }
                _ => assert_eq!((told["type"].as_str(), &told["task_id"]), (Some("message"), &id.into())),
            }
            assert_eq!(inbox(&desk, worker).len(), 2, "{worker} is told once");
            assert_eq!(desk.waiting("analyst"), before, "who has it no more knows that already");
            desk.passes(Duration::from_hours(1000));
            assert!(inbox(&desk, "ide").is_empty(), "nobody is told of a failure");
            folds_again(&desk);
        }
    }
}

#[test]
fn nothing_is_taken_back_from_the_exchange_that_it_has_not_asked_for() {
    let mut desk = crowd();
    desk.policy.extended_acl = true;
    let talk = sent(&mut desk, "ide", &request(1, "coder"));
    assert_eq!(refused(&desk.send(&cancel(EXCHANGE), by("ide"))), Code::NotAParty);
    assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Requested);
}

#[test]
fn what_is_tried_again_is_not_lost_with_the_first_request_for_it() {
    let mut desk = crowd();
    let talk = sent(&mut desk, "ide", &request(1, "analyst"));
    let id = format!("legation-{talk}");
    desk.passes(Duration::from_hours(144));
    accepted(&order(&mut desk, &id, Step::Retry, Who::operator()));
    desk.passes(Duration::from_secs(24 * 3600 + 1));
    assert_eq!(inbox(&desk, "analyst").len(), 1, "the first has expired");
    assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Requested);
    state(&desk, &id, "open");
    works(&mut desk, "analyst");
    assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT", "INFORM_RESULT"]);
    state(&desk, &id, "done");
    folds_again(&desk);
    // The second is lost like any other.
    let mut desk = crowd();
    let talk = sent(&mut desk, "ide", &request(1, "analyst"));
    accepted(&order(&mut desk, &format!("legation-{talk}"), Step::Retry, Who::operator()));
    desk.policy.time_to_live = Duration::from_hours(10_000);
    desk.passes(Duration::from_hours(169));
    assert_eq!(acts(&inbox(&desk, "ide")), ["FAILURE"]);
}

#[test]
fn what_is_tried_again_is_answered_where_it_was_asked_last() {
    let mut desk = crowd();
    sent(&mut desk, "analyst", &cap("delegation_notice", "T1", "seer", json!({"context_summary": "Count."})));
    let first = name(&last(&desk, "seer"));
    accepted(&order(&mut desk, "T1", Step::Retry, Who::operator()));
    let late = desk.send(&answers("seer", &first)[0], by("seer"));
    assert!(format!("{late:?}").contains("asked of the sender again"), "{late:?}");
    works(&mut desk, "seer");
    state(&desk, "T1", "done");
    let links = &desk.state.rules().translations;
    let asks: Vec<_> = (0..desk.record.len() as u64).filter_map(|entry| links.get(entry)).collect();
    let asks: Vec<_> = asks.iter().filter(|link| link.translation.step == translate::Step::Asks).collect();
    assert_eq!(asks.len(), 2);
    assert!(asks.iter().all(|ask| ask.stage == translate::Stage::Ended), "no request stays open");
    folds_again(&desk);
}

#[test]
fn whoever_gets_a_task_answers_in_it_and_not_round_its_overseer() {
    let mut desk = crowd();
    let own = json!({"id": "coder", "system_prompt": "Code.", "allowed_agents": [], "delegate_rules": {}, "overseer": "clerk", "mcp_bindings": []});
    desk.register("coder", Registration { manifest: Some(own), ..Registration::default() }, Who::operator()).unwrap();
    let talk = sent(&mut desk, "ide", &request(1, "analyst"));
    let id = format!("legation-{talk}");
    accepted(&order(&mut desk, &id, to("coder"), Who::operator()));
    let done = json!({"task_status": "success", "result_summary": "Done.", "result_details": {}});
    let puzzled = json!({"reason_code": "unknown_ontology", "original_message_id": ASKED});
    let direct = [
        takes_on(61, "ide", ASKED),
        acl("INFORM_RESULT", 62, ("ide", "ide"), Some(ASKED), &done),
        acl("NOT_UNDERSTOOD", 63, ("ide", "ide"), Some(ASKED), &puzzled),
    ];
    for answer in direct {
        assert_eq!(refused(&desk.send(&of("coder", &answer), by("coder"))), Code::TaskState, "{answer}");
    }
    assert!(inbox(&desk, "ide").is_empty());
    assert_eq!(desk.state.rules().acl.get(talk).unwrap().stage, Stage::Requested);
    let asked = name(&last(&desk, "coder"));
    let [accepts, done] = &answers("coder", &asked)[..] else { panic!("two") };
    sent(&mut desk, "coder", accepts);
    held(&desk.send(done, by("coder")));
    assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT"], "the result waits for the overseer");
    folds_again(&desk);
}

#[test]
fn whoever_has_a_task_that_nobody_waits_for_is_told_in_its_dialect() {
    let crowds: &dyn Fn(&mut Desk) = &|desk| {
        desk.policy.shares.conversations = 1;
        sent(desk, "ide", &request(2, "coder"));
        desk.passes(Duration::ZERO);
    };
    let goes: &dyn Fn(&mut Desk) = &|desk| {
        accepted(&desk.ask(Input::Remove { id: "ide".to_owned(), who: Who::operator() }));
        desk.passes(Duration::ZERO);
    };
    for ends in [crowds, goes] {
        for (worker, dialect) in [("clerk", "cap"), ("seer", "vlp")] {
            let mut desk = crowd();
            let id = format!("legation-{}", sent(&mut desk, "ide", &request(1, "analyst")));
            accepted(&order(&mut desk, &id, to(worker), Who::operator()));
            ends(&mut desk);
            state(&desk, &id, "closed");
            assert_eq!(dialects(&desk, worker), [dialect, dialect]);
            let told = last(&desk, worker);
            assert!(worker != "seer" || told["topic"] == "task_cancelled", "{told}");
            folds_again(&desk);
        }
    }
}

#[test]
fn whoever_did_work_that_does_not_go_on_is_told_in_its_dialect() {
    let reject: &dyn Fn(&mut Desk) = &|desk| {
        let digest = last(desk, "clerk")["oversight"]["digest"].clone();
        let word = json!({"content": "No.", "decision": "reject", "digest": digest});
        sent(desk, "clerk", &of("clerk", &cap("message", "T1", "legation", word)));
    };
    let is_late: &dyn Fn(&mut Desk) = &|desk| {
        desk.policy.time_to_live = Duration::from_hours(10_000);
        desk.passes(Duration::from_hours(1000));
    };
    for ends in [reject, is_late] {
        let mut desk = crowd();
        desk.policy.time_to_live = Duration::from_hours(10_000);
        let own = json!({"id": "seer", "system_prompt": "See.", "allowed_agents": [], "delegate_rules": {}, "overseer": "clerk", "mcp_bindings": []});
        desk.register("seer", Registration { manifest: Some(own), ..Registration::default() }, Who::operator())
            .unwrap();
        sent(&mut desk, "analyst", &cap("delegation_notice", "T1", "seer", json!({"context_summary": "Count."})));
        let asked = name(&last(&desk, "seer"));
        held(&desk.send(&answers("seer", &asked)[0], by("seer")));
        ends(&mut desk);
        assert_eq!(dialects(&desk, "seer"), ["vlp", "vlp"]);
        assert!(last(&desk, "seer")["content"].as_str().unwrap().contains("does not go on"));
        folds_again(&desk);
    }
}

#[test]
fn whoever_is_told_that_nobody_waits_is_told_once() {
    for forgotten in [false, true] {
        let mut desk = crowd();
        desk.policy.extended_acl = true;
        (desk.policy.time_to_live, desk.policy.task_deadline) =
            (Duration::from_hours(9000), Duration::from_hours(9000));
        sent(&mut desk, "ide", &request(1, "analyst"));
        if forgotten {
            desk.passes(Duration::from_hours(169));
            sent(&mut desk, "observer", &of("observer", &super::vlp("query", "QRY001", "clerk", None, json!({}))));
            assert_eq!(desk.state.rules().translations.len(), 1, "the first pair is forgotten");
        }
        sent(&mut desk, "ide", &cancel("analyst"));
        let told = inbox(&desk, "analyst").iter().filter(|told| told.to_string().contains("Nobody waits")).count();
        assert_eq!(told, 1, "forgotten: {forgotten}");
        folds_again(&desk);
    }
}
