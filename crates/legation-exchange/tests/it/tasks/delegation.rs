//! Delegation: scoped handoffs, lineage, limits (CAP Delegation).

use super::house::{folds_again, hand, hand_with, inbox, manifest, say, state, story, task, with};
use crate::desk::{Desk, accepted, refused};
use legation_exchange::{Input, Registration, Verdict, Who};
use legation_protocol::{Code, Format};
use serde_json::json;
use std::time::Duration;

#[test]
fn a_delegation_opens_a_task_and_a_dotted_id_hands_on_a_part_of_it() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    accepted(&hand(&mut desk, "T1.1.1", "analyst-1", "qa-1"));
    let part = task(&desk, "T1.1.1");
    assert_eq!(
        (part.opener.as_str(), part.delegator.as_str(), part.assignee.as_str()),
        ("orchestrator", "analyst-1", "qa-1")
    );
    assert_eq!(part.depth, 3);
    assert_eq!(inbox(&desk, "qa-1").len(), 1);
    folds_again(&desk);
}

#[test]
fn only_agents_listed_may_receive_a_delegation_from_an_agent() {
    // "Only agents listed in an agent's allowed_agents may receive a delegation_notice from that agent."
    let mut desk = story();
    assert_eq!(refused(&hand(&mut desk, "T1", "pm-1", "qa-1")), Code::DelegationDenied);
    assert_eq!(refused(&hand(&mut desk, "T1", "qa-1", "pm-1")), Code::DelegationDenied);
    desk.agent("bare");
    assert_eq!(refused(&hand(&mut desk, "T1", "bare", "pm-1")), Code::DelegationDenied);
    assert_eq!(refused(&hand(&mut desk, "T1", "pm-1", "legation")), Code::DelegationDenied);
    assert!(inbox(&desk, "qa-1").is_empty(), "a denied delegation is not delivered as a message instead");
    // "There are no protocol-enforced restrictions on who can message whom."
    accepted(&say(&mut desk, "T1", "pm-1", "qa-1", json!({})));
    // People may open tasks to anybody.
    accepted(&hand(&mut desk, "T1", "orchestrator", "qa-1"));
    accepted(&hand(&mut desk, "T2", "user", "outsider"));
}

#[test]
fn the_rule_that_allows_a_delegation_is_on_the_record() {
    let mut desk = story();
    let position = accepted(&hand(&mut desk, "T1", "pm-1", "analyst-1"));
    let entry = serde_json::to_string(&desk.record[usize::try_from(position).unwrap()].effect).unwrap();
    assert!(entry.contains("when it is for analyst-1"), "{entry}");
}

#[test]
fn an_instance_has_the_rights_of_its_base_and_tasks_of_its_own() {
    let mut desk = story();
    for id in ["analyst-1-a", "analyst-1-b"] {
        let wanted = Registration { instance_of: Some("analyst-1".to_owned()), ..Registration::default() };
        desk.register(id, wanted, Who::operator()).unwrap();
    }
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1-a"));
    accepted(&hand(&mut desk, "T1.2", "pm-1", "analyst-1-b"));
    accepted(&hand(&mut desk, "T1.1.1", "analyst-1-a", "qa-1"));
    assert_eq!(refused(&hand(&mut desk, "T1.1.2", "analyst-1-b", "qa-1")), Code::NotAParty);
    accepted(&hand(&mut desk, "T1.2.1", "analyst-1-b", "qa-1"));
}

#[test]
fn an_alias_is_the_agent() {
    let mut desk = story();
    let aliases = [(Format::Cap, "chief".to_owned())].into();
    let wanted = Registration { aliases: Some(aliases), ..Registration::default() };
    desk.register("pm-1", wanted, Who::operator()).unwrap();
    accepted(&hand(&mut desk, "T1", "outsider", "chief"));
    assert_eq!(task(&desk, "T1").assignee, "pm-1");
    with(&mut desk, manifest("boss", &["chief"], None, &[])).unwrap();
    accepted(&hand(&mut desk, "T2", "boss", "pm-1"));
}

#[test]
fn whoever_holds_a_task_extends_it() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    assert_eq!(refused(&hand(&mut desk, "X9", "pm-1", "analyst-1")), Code::TaskLineage, "a fresh id is no escape");
    accepted(&hand_with(&mut desk, "X9", "pm-1", "analyst-1", json!({ "parent_task_id": "T1" })));
    assert_eq!(task(&desk, "X9").depth, 2);
    // Whoever holds nothing begins where it likes.
    let mut desk = story();
    accepted(&hand(&mut desk, "X9", "pm-1", "analyst-1"));
    assert_eq!(task(&desk, "X9").opener, "pm-1");
    // Its own task is no way round what was handed to it later.
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    assert_eq!(refused(&hand(&mut desk, "X9.2", "pm-1", "analyst-1")), Code::TaskLineage);
}

#[test]
fn a_foreign_task_is_not_joined() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    assert_eq!(refused(&hand(&mut desk, "T1.1", "outsider", "qa-1")), Code::NotAParty);
    assert_eq!(refused(&say(&mut desk, "T1", "outsider", "orchestrator", json!({ "final": true }))), Code::NotAParty);
    let unknown = hand_with(&mut desk, "X", "outsider", "qa-1", json!({ "parent_task_id": "none" }));
    assert_eq!(refused(&unknown), Code::UnknownTask);
    // A plain message may name it, and is no part of it.
    accepted(&say(&mut desk, "T1", "outsider", "pm-1", json!({})));
    assert_eq!(task(&desk, "T1").said, 1);
    assert!(
        !desk
            .state
            .may_see_task(&Who::Agent("outsider".to_owned()), desk.state.rules().cap.named("T1").next().unwrap().0)
    );
}

#[test]
fn two_openers_may_use_one_id() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1", "outsider", "qa-1"));
    let cap = &desk.state.rules().cap;
    assert_eq!(cap.keyed("orchestrator", "T1").unwrap().1.assignee, "pm-1");
    assert_eq!(cap.keyed("outsider", "T1").unwrap().1.assignee, "qa-1");
    // Each speaks in its own.
    accepted(&say(&mut desk, "T1", "pm-1", "orchestrator", json!({ "final": true })));
    let cap = &desk.state.rules().cap;
    assert_eq!(cap.keyed("orchestrator", "T1").unwrap().1.state(), "done");
    assert_eq!(cap.keyed("outsider", "T1").unwrap().1.state(), "open");
}

#[test]
fn tasks_do_not_go_in_circles() {
    let mut desk = Desk::new();
    let all = ["a", "b", "c"];
    for id in all {
        with(&mut desk, manifest(id, &all.into_iter().filter(|to| *to != id).collect::<Vec<_>>(), None, &[])).unwrap();
    }
    accepted(&hand(&mut desk, "T1", "a", "b"));
    assert_eq!(refused(&hand(&mut desk, "T1.1", "b", "a")), Code::DelegationCycle, "back to the opener");
    accepted(&hand(&mut desk, "T1.1", "b", "c"));
    assert_eq!(refused(&hand(&mut desk, "T1.1.1", "c", "b")), Code::DelegationCycle);
    assert_eq!(refused(&hand(&mut desk, "T1.1.1", "c", "a")), Code::DelegationCycle);
}

#[test]
fn nobody_delegates_to_itself_by_another_name() {
    let mut desk = story();
    let aliases = [(Format::Cap, "chief".to_owned())].into();
    desk.register("pm-1", Registration { aliases: Some(aliases), ..Registration::default() }, Who::operator()).unwrap();
    assert_eq!(refused(&hand(&mut desk, "T1", "pm-1", "chief")), Code::DelegationCycle);
}

#[test]
fn tasks_stand_eight_deep() {
    let mut desk = Desk::new();
    let ids: Vec<_> = (0..10).map(|n| format!("a{n}")).collect();
    for (n, id) in ids.iter().enumerate() {
        let next: Vec<_> = ids.get(n + 1).iter().map(|id| id.as_str()).collect();
        with(&mut desk, manifest(id, &next, None, &[])).unwrap();
    }
    let mut id = "T".to_owned();
    for n in 0..8 {
        accepted(&hand(&mut desk, &id, &ids[n], &ids[n + 1]));
        id.push_str(".1");
    }
    assert_eq!(refused(&hand(&mut desk, &id, "a8", "a9")), Code::DelegationLimit);
}

#[test]
fn a_task_has_sixty_four_open_parts() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    for n in 0..64 {
        accepted(&hand(&mut desk, &format!("T1.{n}"), "pm-1", "analyst-1"));
    }
    assert_eq!(refused(&hand(&mut desk, "T1.64", "pm-1", "analyst-1")), Code::DelegationLimit);
    accepted(&super::house::fail(&mut desk, "T1.0", "analyst-1", "pm-1", 500));
    accepted(&hand(&mut desk, "T1.64", "pm-1", "analyst-1"));
    // The same for what an agent begins by itself; people are not limited.
    let mut desk = story();
    for n in 0..64 {
        accepted(&hand(&mut desk, &format!("R{n}"), "pm-1", "analyst-1"));
    }
    assert_eq!(refused(&hand(&mut desk, "R64", "pm-1", "analyst-1")), Code::DelegationLimit);
    for n in 0..70 {
        accepted(&hand(&mut desk, &format!("R{n}"), "orchestrator", "analyst-1"));
    }
}

#[test]
fn a_tree_has_a_thousand_and_twenty_four_tasks_with_those_that_ended() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    for n in 0..16 {
        accepted(&hand(&mut desk, &format!("T1.{n}"), "pm-1", "analyst-1"));
    }
    let parts: Vec<_> = (0..16).flat_map(|n| (0..64).map(move |m| format!("T1.{n}.{m}"))).collect();
    let (within, beyond) = parts.split_at(1024 - 17);
    for part in within {
        accepted(&hand(&mut desk, part, "analyst-1", "qa-1"));
    }
    // Nobody has too many open parts: it is the tree that has no room.
    let before = desk.state.rules().clone();
    for part in beyond {
        assert_eq!(refused(&hand(&mut desk, part, "analyst-1", "qa-1")), Code::DelegationLimit, "{part}");
    }
    assert_eq!(refused(&hand(&mut desk, "T1.16", "pm-1", "analyst-1")), Code::DelegationLimit);
    assert_eq!(desk.state.rules(), &before, "what is refused leaves nothing behind");
    accepted(&super::house::fail(&mut desk, "T1.0.0", "qa-1", "analyst-1", 500));
    assert_eq!(refused(&hand(&mut desk, &beyond[0], "analyst-1", "qa-1")), Code::DelegationLimit);
    accepted(&hand(&mut desk, "T2", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T2.1", "pm-1", "analyst-1"));
}

#[test]
fn an_open_task_is_handed_to_one() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    assert_eq!(task(&desk, "T1").tries, 2, "the same again is the same task");
    assert_eq!(refused(&hand(&mut desk, "T1", "orchestrator", "qa-1")), Code::TaskState);
    accepted(&super::house::result(&mut desk, "T1", "pm-1", "orchestrator"));
    assert_eq!(refused(&hand(&mut desk, "T1.1", "pm-1", "analyst-1")), Code::TaskState, "nothing below what has ended");
    accepted(&hand(&mut desk, "T1", "orchestrator", "qa-1"));
    assert_eq!(task(&desk, "T1").assignee, "qa-1", "an id may be used again once its task has ended");
}

#[test]
fn a_delegation_is_sent_again_on_the_terms_it_had() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    let query = json!({ "grants": { "tools": ["query_data"] }, "deadline": "2026-02-15T12:30:00Z" });
    accepted(&hand_with(&mut desk, "T1.1", "pm-1", "analyst-1", query.clone()));
    accepted(&hand_with(&mut desk, "T1.1", "pm-1", "analyst-1", query));
    assert_eq!(task(&desk, "T1.1").tries, 2);
    // A limit that nobody reads is none: whoever sends one is told.
    for (terms, at) in [
        (json!({}), "/grants"),
        (json!({ "grants": { "tools": [] } }), "/grants"),
        (json!({ "grants": { "tools": ["query_data"], "scopes": [] } }), "/grants"),
        (json!({ "grants": { "tools": ["query_data"] }, "deadline": "2026-02-15T11:30:00Z" }), "/deadline"),
    ] {
        let Verdict::Refused(why) = hand_with(&mut desk, "T1.1", "pm-1", "analyst-1", terms.clone()) else {
            panic!("taken: {terms}")
        };
        assert_eq!((why.code(), why.first().at.as_deref()), (Code::TaskState, Some(at)), "{terms}");
    }
    accepted(&hand(&mut desk, "T1.2", "pm-1", "analyst-1"));
    let below = |parent: &str| json!({ "parent_task_id": parent });
    accepted(&hand_with(&mut desk, "X", "analyst-1", "qa-1", below("T1.1")));
    assert_eq!(refused(&hand_with(&mut desk, "X", "analyst-1", "qa-1", below("T1.2"))), Code::TaskState);
    accepted(&hand_with(&mut desk, "X", "analyst-1", "qa-1", below("T1.1")));
    assert_eq!((task(&desk, "T1.1").tries, task(&desk, "X").tries), (2, 2), "what is refused counts for nothing");
}

#[test]
fn what_is_running_keeps_the_stricter_of_old_and_new_rights() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    with(&mut desk, manifest("pm-1", &["analyst-1", "qa-1"], None, &[])).unwrap();
    assert_eq!(refused(&hand(&mut desk, "T1.1", "pm-1", "qa-1")), Code::DelegationDenied, "not more than it had");
    with(&mut desk, manifest("pm-1", &["qa-1"], None, &[])).unwrap();
    assert_eq!(refused(&hand(&mut desk, "T1.1", "pm-1", "analyst-1")), Code::DelegationDenied, "nor what it lost");
    accepted(&super::house::result(&mut desk, "T1", "pm-1", "orchestrator"));
    accepted(&hand(&mut desk, "T2", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T2.1", "pm-1", "qa-1"));
    assert_eq!(desk.state.registry().agent("pm-1").unwrap().manifest_version, 3);
    folds_again(&desk);
}

#[test]
fn a_task_that_is_late_expires_once() {
    let mut desk = story();
    let past = hand_with(&mut desk, "T0", "orchestrator", "pm-1", json!({ "deadline": "2026-02-15T10:29:00Z" }));
    assert_eq!(refused(&past), Code::OutOfRange);
    accepted(&hand_with(&mut desk, "T1", "orchestrator", "pm-1", json!({ "deadline": "2026-02-15T11:30:00Z" })));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    assert_eq!(task(&desk, "T1.1").deadline, task(&desk, "T1").deadline, "a part is not due later than the whole");
    desk.passes(Duration::from_mins(59));
    state(&desk, "T1", "open");
    desk.passes(Duration::from_mins(1));
    state(&desk, "T1", "expired");
    state(&desk, "T1.1", "expired");
    let told = inbox(&desk, "orchestrator");
    assert_eq!(told.len(), 1);
    assert_eq!((&told[0]["type"], &told[0]["error_code"]), (&json!("error_response"), &json!(504)));
    desk.passes(Duration::from_hours(5));
    assert_eq!(inbox(&desk, "orchestrator").len(), 1);
    folds_again(&desk);
    // Without one of its own, the usual.
    accepted(&hand(&mut desk, "T2", "orchestrator", "qa-1"));
    desk.passes(Duration::from_hours(168));
    state(&desk, "T2", "expired");
}

#[test]
fn the_tasks_of_an_agent_that_is_removed_fail() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    desk.ask(Input::Remove { id: "analyst-1".to_owned(), who: Who::operator() });
    desk.passes(Duration::from_secs(1));
    state(&desk, "T1.1", "failed");
    let told = inbox(&desk, "pm-1").pop().unwrap();
    assert_eq!((&told["type"], &told["error_code"]), (&json!("error_response"), &json!(404)));
    // What nobody waits for any more is closed.
    accepted(&hand(&mut desk, "T2", "outsider", "qa-1"));
    desk.ask(Input::Remove { id: "outsider".to_owned(), who: Who::operator() });
    desk.passes(Duration::from_secs(1));
    state(&desk, "T2", "closed");
    folds_again(&desk);
}
