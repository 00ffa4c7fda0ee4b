//! An agent and its instances are one party: what binds one of them binds the others (CAP Identity, Delegation).

use super::house::{folds_again, hand, hand_with, manifest, order, say, task, with};
use crate::desk::{Desk, accepted, agent, refused};
use legation_exchange::rules::cap::Step;
use legation_exchange::{Registration, Verdict, Who};
use legation_protocol::Code;
use serde_json::json;

const TOOLS: [&str; 2] = ["Data/query", "Data/plot"];

fn copy(base: &str) -> Registration {
    Registration { instance_of: Some(base.to_owned()), ..Registration::default() }
}

/// A manager and an analyst, each with instances, and a worker. The manager holds T1.
fn families() -> Desk {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm", &["an", "pm"], None, &TOOLS)).unwrap();
    with(&mut desk, manifest("an", &["pm", "an", "worker"], None, &TOOLS)).unwrap();
    with(&mut desk, manifest("worker", &[], None, &TOOLS)).unwrap();
    for (id, base) in [("pm-a", "pm"), ("an-a", "an"), ("an-b", "an")] {
        desk.register(id, copy(base), agent(base)).unwrap();
    }
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm"));
    desk
}

/// A task of the manager's in which nothing but queries may be made.
fn hand_queries(desk: &mut Desk, task: &str, to: &str) {
    accepted(&hand_with(desk, task, "pm", to, json!({ "grants": { "tools": ["query"] } })));
}

fn show(desk: &mut Desk, task: &str, from: &str, to: &str, tool: &str) -> Verdict {
    let result = json!({ "type": "tool_call_result", "server_id": "Data", "tool": tool, "result": "rows" });
    say(desk, task, from, to, json!({ "attachments": [result] }))
}

#[test]
fn a_task_grants_no_more_to_the_rest_of_the_family_than_to_whoever_holds_it() {
    for (holder, other) in [("an", "an-a"), ("an-a", "an"), ("an-a", "an-b")] {
        let mut desk = families();
        hand_queries(&mut desk, "T1.1", holder);
        for id in ["T1.1", "fresh"] {
            let verdict = show(&mut desk, id, other, "pm", "plot");
            assert_eq!(refused(&verdict), Code::ToolNotBound, "{other} in {id}, which {holder} holds");
            accepted(&show(&mut desk, id, other, "pm", "query"));
        }
        // With a task of its own it acts in that, and in the other's task by what that grants.
        accepted(&hand(&mut desk, "T2", "orchestrator", other));
        accepted(&show(&mut desk, "T2", other, "orchestrator", "plot"));
        assert_eq!(refused(&show(&mut desk, "T1.1", other, "pm", "plot")), Code::ToolNotBound);
        accepted(&say(&mut desk, "T1.1", holder, "pm", json!({ "final": true })));
        accepted(&say(&mut desk, "T2", other, "orchestrator", json!({ "final": true })));
        accepted(&show(&mut desk, "fresh", other, "pm", "plot"));
        folds_again(&desk);
    }
}

#[test]
fn an_instance_with_a_manifest_of_its_own_may_do_no_more_by_its_familys_tasks() {
    let mut desk = families();
    let own = Some(manifest("an-a", &[], None, &["Data/plot"]));
    desk.register("an-a", Registration { manifest: own, ..Registration::default() }, Who::operator()).unwrap();
    hand_queries(&mut desk, "T1.1", "an");
    assert_eq!(refused(&show(&mut desk, "T1.1", "an-a", "pm", "query")), Code::ToolNotBound);
}

#[test]
fn while_one_of_a_family_holds_a_task_no_other_begins_a_fresh_one() {
    for (holder, other) in [("an", "an-a"), ("an-a", "an"), ("an-a", "an-b")] {
        let mut desk = families();
        hand_queries(&mut desk, "T1.1", holder);
        assert_eq!(refused(&hand(&mut desk, "fresh", other, "worker")), Code::TaskLineage, "{other} beside {holder}");
        assert_eq!(refused(&hand(&mut desk, "T1.1.1", other, "worker")), Code::NotAParty, "it is {holder}'s");
        // Each extends its own.
        accepted(&hand(&mut desk, "T1.2", "pm", other));
        accepted(&hand(&mut desk, "T1.1.1", holder, "worker"));
        accepted(&hand(&mut desk, "T1.2.1", other, "worker"));
        for (id, from) in [("T1.1", holder), ("T1.2", other)] {
            accepted(&say(&mut desk, id, from, "pm", json!({ "final": true })));
        }
        accepted(&hand(&mut desk, "fresh", other, "worker"));
        folds_again(&desk);
    }
}

#[test]
fn a_task_goes_round_no_circle_through_instances() {
    let mut desk = families();
    hand_queries(&mut desk, "T1.1", "an");
    for to in ["pm", "pm-a", "an-a"] {
        assert_eq!(refused(&hand(&mut desk, "T1.1.1", "an", to)), Code::DelegationCycle, "to {to}");
    }
    accepted(&hand(&mut desk, "T1.1.1", "an", "worker"));
    for to in ["pm-a", "an-b"] {
        let moved = order(&mut desk, "T1.1.1", Step::Reassign(to.to_owned()), Who::operator());
        assert_eq!(refused(&moved), Code::DelegationCycle, "to {to}");
    }
    // From one instance to another it is as good as done.
    accepted(&order(&mut desk, "T1.1", Step::Reassign("an-a".to_owned()), Who::operator()));
    assert_eq!(task(&desk, "T1.1").assignee, "an-a");
    let mut desk = families();
    for (from, to) in [("an", "an-a"), ("an-a", "an"), ("an-a", "an-b")] {
        assert_eq!(refused(&hand(&mut desk, "own", from, to)), Code::DelegationCycle, "{from} to {to}");
    }
}

#[test]
fn a_family_opens_as_many_tasks_by_itself_as_one_agent() {
    let mut desk = families();
    let openers = ["an", "an-a", "an-b"].into_iter().cycle();
    for (n, opener) in (0..64).zip(openers) {
        accepted(&hand(&mut desk, &format!("own-{n}"), opener, "worker"));
    }
    for opener in ["an", "an-a", "an-b"] {
        assert_eq!(refused(&hand(&mut desk, "more", opener, "worker")), Code::DelegationLimit, "{opener}");
    }
    accepted(&say(&mut desk, "own-0", "worker", "an", json!({ "final": true })));
    accepted(&hand(&mut desk, "more", "an-b", "worker"));
    assert_eq!(refused(&hand(&mut desk, "again", "an", "worker")), Code::DelegationLimit);
    accepted(&hand(&mut desk, "T1.1", "pm", "an"));
    folds_again(&desk);
}
