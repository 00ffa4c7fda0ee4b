//! What the exchange asked for somebody and what never came to whom it was for: whoever asked is told, in its dialect.

use super::{EXCHANGE, acts, babel, decided, inbox, last, name, request, sent, speaking, takes_on, vlp};
use crate::desk::{Desk, accepted, by, refused};
use crate::tasks::house::{folds_again, hand, held, result, story};
use legation_exchange::rules::acl::Stage;
use legation_exchange::rules::hold::Says;
use legation_exchange::rules::translate::{Step, Translation};
use legation_exchange::rules::{Change, Ruled, vcp};
use legation_exchange::{Directive, Effect, Entry, Input, Registration, Said, Who};
use legation_protocol::{Code, Format};
use legation_scan::Severity::High;
use serde_json::json;
use std::time::Duration;

/// How a request is lost.
type Loses = fn(&mut Desk, &str);

const WAYS: [(Loses, &str); 3] = [
    (|desk, _| desk.passes(Duration::from_hours(2)), "expired"),
    (
        |desk, agent| {
            accepted(&desk.ask(Input::Purge { agent: agent.to_owned(), up_to: None, who: Who::operator() }));
            desk.passes(Duration::ZERO);
        },
        "purged",
    ),
    (
        |desk, agent| {
            accepted(&desk.ask(Input::Remove { id: agent.to_owned(), who: Who::operator() }));
            desk.passes(Duration::ZERO);
        },
        "assignee_removed",
    ),
];

#[test]
fn who_asked_in_acl_is_told_once_that_a_translated_request_is_lost() {
    for worker in ["observer", "analyst"] {
        for (loses, why) in WAYS {
            let mut desk = babel();
            desk.policy.time_to_live = Duration::from_hours(1);
            let asked = sent(&mut desk, "ide", &request(1, worker));
            // So that what is told does not expire too.
            desk.policy.time_to_live = Duration::from_hours(10_000);
            loses(&mut desk, worker);
            let told = inbox(&desk, "ide");
            assert_eq!(acts(&told), ["FAILURE"], "{worker} {why}");
            // A task that loses its assignee says so by a code of its own.
            let code = if (worker, why) == ("analyst", "assignee_removed") { "404" } else { why };
            assert_eq!(told[0]["payload"]["error_code"], code, "{worker}");
            assert_eq!(desk.state.rules().acl.get(asked).unwrap().stage, Stage::Failed);
            desk.passes(Duration::from_hours(1));
            assert_eq!(inbox(&desk, "ide").len(), 1, "{worker} {why}");
            folds_again(&desk);
        }
    }
}

#[test]
fn who_asked_in_vlp_is_told_once_that_a_translated_request_is_lost() {
    for (loses, why) in WAYS {
        let mut desk = babel();
        desk.policy.time_to_live = Duration::from_hours(1);
        sent(&mut desk, "observer", &vlp("query", "QRY001", "ide", None, json!({})));
        let asked = name(&last(&desk, "ide"));
        desk.policy.time_to_live = Duration::from_hours(10_000);
        loses(&mut desk, "ide");
        let told = inbox(&desk, "observer");
        assert_eq!(told.len(), 1, "{why}");
        assert_eq!((&told[0]["topic"], &told[0]["refers_to"]), (&json!("task_failed"), &json!("QRY001")), "{why}");
        assert_eq!(told[0]["safety"]["issues"][0]["code"], why);
        desk.passes(Duration::from_hours(1));
        assert_eq!(inbox(&desk, "observer").len(), 1, "{why}");
        if why != "assignee_removed" {
            assert_eq!(refused(&desk.send(&takes_on(1, EXCHANGE, &asked), by("ide"))), Code::TaskState, "{why}");
        }
        folds_again(&desk);
    }
}

#[test]
fn what_was_taken_on_is_not_lost_with_its_message_but_with_its_worker() {
    let taken = || {
        let mut desk = babel();
        desk.policy.time_to_live = Duration::from_hours(1);
        sent(&mut desk, "observer", &vlp("query", "QRY001", "ide", None, json!({})));
        let asked = name(&last(&desk, "ide"));
        sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
        desk.policy.time_to_live = Duration::from_hours(10_000);
        desk
    };
    let failed = |desk: &Desk| inbox(desk, "observer").iter().filter(|told| told["topic"] == "task_failed").count();
    for ((loses, why), want) in WAYS.into_iter().zip([0, 0, 1]) {
        let mut desk = taken();
        loses(&mut desk, "ide");
        assert_eq!(failed(&desk), want, "{why}");
    }
}

#[test]
fn what_was_answered_is_not_lost_while_the_answer_waits() {
    let mut desk = babel();
    desk.policy.review_time = Duration::from_hours(1000);
    desk.policy.time_to_live = Duration::from_hours(1);
    sent(&mut desk, "ide", &request(1, "observer"));
    desk.policy.time_to_live = Duration::from_hours(10_000);
    let query = name(&last(&desk, "observer"));
    let answer =
        held(&desk.suspect(&vlp("response", "RSP001", EXCHANGE, Some(&query), json!({})), by("observer"), High));
    desk.passes(Duration::from_hours(2));
    assert!(inbox(&desk, "ide").is_empty());
    decided(&mut desk, answer, Says::Approve);
    assert_eq!(acts(&inbox(&desk, "ide")), ["TASK_ACCEPT", "INFORM_RESULT"]);
    folds_again(&desk);
}

#[test]
fn a_group_offers_a_task_to_those_who_speak_its_language() {
    let mut desk = babel();
    for (name, dialect) in [("ada", Format::Acl), ("bob", Format::Cap)] {
        let capabilities = Said::To(json!({"actions": ["refactor_code"]}));
        let groups = Some(["coders".to_owned()].into());
        let wanted = Registration { groups, capabilities, ..speaking(&[dialect]) };
        assert_eq!(desk.register(name, wanted, Who::operator()), Ok(true));
    }
    let asked = sent(&mut desk, "ide", &request(1, "coders"));
    assert_eq!((desk.waiting("ada").len(), desk.waiting("bob").len()), (1, 0));
    let offered = &desk.state.rules().acl.get(asked).unwrap().opening.offered;
    assert_eq!(offered.iter().collect::<Vec<_>>(), ["ada"]);
}

/// As if the observer had asked so often for work in a task, and the ide taken it on.
fn taken_on(desk: &mut Desk, times: u64) {
    sent(desk, "observer", &vlp("query", "QRY-0", "ide", None, json!({})));
    let asked = desk.record.last().unwrap().clone();
    let Effect::Accepted(said) = &asked.effect else { panic!("no message") };
    let first = said.ruled.changes.iter().find_map(Change::translation).unwrap().clone();
    for number in 0..times {
        for step in [Step::Asks, Step::Accepts] {
            let position = desk.state.next();
            let ask = (step == Step::Accepts).then(|| position - 1);
            let (id, said_id) = (format!("QRY-{position}"), format!("said-{position}"));
            let both = ["observer", "ide"].map(str::to_owned);
            let [from, to] = if step == Step::Asks { both } else { [both[1].clone(), both[0].clone()] };
            let below = (step == Step::Asks).then_some(number);
            let translation =
                Translation { original: position, id, said: said_id, ask, step, below, from, to, ..first.clone() };
            let mut accepted = said.clone();
            accepted.to.clear();
            accepted.ruled =
                Box::new(Ruled { changes: vec![Change::Translated(Box::new(translation))], ..Ruled::default() });
            desk.state.apply(&Entry { position, effect: Effect::Accepted(accepted), ..asked.clone() });
        }
    }
}

#[test]
fn nobody_asks_for_so_much_that_what_binds_would_be_forgotten() {
    let mut desk = babel();
    taken_on(&mut desk, 10_000);
    assert_eq!(desk.state.rules().translations.len(), 20_000);
    let another = vlp("query", "QRY-more", "ide", None, json!({}));
    assert_eq!(refused(&desk.send(&another, by("observer"))), Code::RateLimited);
    accepted(&desk.send(&request(9, "observer"), by("ide")));
}

#[test]
fn a_task_whose_asker_is_gone_is_closed_and_its_worker_told() {
    for (asker, asks) in
        [("ide", request(1, "analyst")), ("observer", vlp("query", "QRY001", "analyst", None, json!({})))]
    {
        let mut desk = babel();
        let asked = sent(&mut desk, asker, &asks);
        accepted(&desk.ask(Input::Remove { id: asker.to_owned(), who: Who::operator() }));
        desk.passes(Duration::ZERO);
        let task = desk.state.rules().cap.task(asked).unwrap();
        assert_eq!((task.state(), task.errors.len()), ("closed", 0), "{asker}");
        let heard = inbox(&desk, "analyst");
        assert_eq!((heard.len(), &heard[1]["task_id"]), (2, &heard[0]["task_id"]), "{asker}");
        assert!(heard[1]["content"].as_str().unwrap().contains(&format!("{asker:?}")), "{}", heard[1]);
        folds_again(&desk);
    }
}

fn stopped_and_removed(desk: &mut Desk, agent: &str) {
    let stop = vcp::Order::Suspend { agent: agent.to_owned(), why: "odd".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(stop)), who: Who::operator() }));
    accepted(&desk.ask(Input::Remove { id: agent.to_owned(), who: Who::operator() }));
    desk.passes(Duration::ZERO);
    folds_again(desk);
}

#[test]
fn who_waits_for_an_answer_that_was_stopped_with_its_author_is_told() {
    // In ACL, of an agent of CAP and of VLP.
    for (worker, answer) in [("analyst", "cap"), ("observer", "vlp")] {
        let mut desk = babel();
        sent(&mut desk, "ide", &request(1, worker));
        let asked = name(&last(&desk, worker));
        let done = match answer {
            "cap" => super::cap("message", &asked, "legation", json!({"content": "Done.", "final": true})),
            _ => vlp("response", "RSP001", EXCHANGE, Some(&asked), json!({})),
        };
        sent(&mut desk, worker, &done);
        stopped_and_removed(&mut desk, worker);
        let told = inbox(&desk, "ide");
        assert_eq!(acts(&told), ["FAILURE"], "{worker}");
        assert_eq!(told[0]["payload"]["error_code"], "assignee_removed");
    }
    // In CAP and in VLP, of an agent of ACL.
    let done = json!({"task_status": "success", "result_summary": "12.", "result_details": {}});
    for asker in ["analyst", "observer"] {
        let mut desk = babel();
        let asks = match asker {
            "analyst" => super::cap("delegation_notice", "T1", "ide", json!({"context_summary": "Count."})),
            _ => vlp("query", "QRY001", "ide", None, json!({})),
        };
        sent(&mut desk, asker, &asks);
        let asked = name(&last(&desk, "ide"));
        sent(&mut desk, "ide", &takes_on(1, EXCHANGE, &asked));
        sent(&mut desk, "ide", &super::acl("INFORM_RESULT", 2, ("ide", EXCHANGE), Some(&asked), &done));
        stopped_and_removed(&mut desk, "ide");
        let told = inbox(&desk, asker);
        assert_eq!(told.len(), 1, "{told:?}");
        if asker == "analyst" {
            assert_eq!((&told[0]["error_code"], &told[0]["task_id"]), (&json!(404), &json!("T1")));
        } else {
            assert_eq!((&told[0]["topic"], &told[0]["refers_to"]), (&json!("task_failed"), &json!("QRY001")));
        }
    }
    // And where nothing is translated.
    let mut desk = babel();
    for (id, dialect) in [("coder", Format::Acl), ("clerk", Format::Cap)] {
        desk.register(id, speaking(&[dialect]), Who::operator()).unwrap();
    }
    let by_coder = |text: String| text.replace("\"agent_id\":\"ide\"", "\"agent_id\":\"coder\"");
    sent(&mut desk, "coder", &by_coder(request(1, "ide-2")).replace("ide-2", "ide"));
    let asked = name(&last(&desk, "ide"));
    sent(&mut desk, "ide", &takes_on(2, "coder", &asked));
    sent(&mut desk, "ide", &super::acl("INFORM_RESULT", 3, ("ide", "coder"), Some(&asked), &done));
    stopped_and_removed(&mut desk, "ide");
    let told = inbox(&desk, "coder");
    assert_eq!((told.len(), &told[0]["performative"]), (1, &json!("FAILURE")), "{told:?}");

    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&result(&mut desk, "T1", "pm-1", "orchestrator"));
    stopped_and_removed(&mut desk, "pm-1");
    let told = inbox(&desk, "orchestrator");
    assert_eq!((told.len(), &told[0]["error_code"]), (1, &json!(404)), "{told:?}");
}
