//! Work that is taken on in ACL carries the grants of whoever asked for it, as a delegation does (CAP Delegation). Nobody
//! is bound by what others only ask of it.

use super::across::{EXCHANGE, acl, request, speaks};
use super::house::{findings, folds_again, hand, hand_with, held, inbox, manifest, result, say, state, task, with};
use crate::desk::{Desk, accepted, agent, by, claim, refused};
use legation_exchange::rules::cap::Narrowing;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::vcp;
use legation_exchange::{Directive, Input, Registration, Said, Verdict, Who};
use legation_protocol::{Code, Format};
use legation_scan::Severity;
use serde_json::{Value, json};

const TOOLS: [&str; 2] = ["S/ls", "S/rm"];

/// A manager whose task leaves it `ls` alone, and a line of others who may use both tools.
fn granted() -> Desk {
    let mut desk = Desk::new();
    with(&mut desk, manifest("pm", &["ann", "bob", "eve"], None, &TOOLS)).unwrap();
    with(&mut desk, manifest("ann", &["bob", "pm"], None, &TOOLS)).unwrap();
    with(&mut desk, manifest("bob", &[], None, &TOOLS)).unwrap();
    accepted(&hand_with(&mut desk, "R", "orchestrator", "pm", json!({"grants": {"tools": ["ls"], "scopes": []}})));
    desk
}

fn show(desk: &mut Desk, task: &str, from: &str, tool: &str) -> Verdict {
    let result = json!({"type": "tool_call_result", "server_id": "S", "tool": tool, "result": {}});
    say(desk, task, from, "pm", json!({"attachments": [result]}))
}

/// Whether somebody may show what `rm` answered, under an id that is nobody's. What `ls` answered it always may.
#[track_caller]
fn is_free(desk: &mut Desk, who: &str) -> bool {
    accepted(&show(desk, "anything", who, "ls"));
    match show(desk, "anything", who, "rm") {
        Verdict::Accepted { .. } => true,
        other => {
            assert_eq!(refused(&other), Code::ToolNotBound);
            false
        }
    }
}

fn answer(desk: &mut Desk, performative: &str, n: u32, (from, to): (&str, &str), asked: u32) -> Verdict {
    let payload = match performative {
        "TASK_ACCEPT" => json!({"status": "accepted"}),
        "TASK_REJECT" => json!({"status": "rejected"}),
        "FAILURE" => json!({"status": "failure", "error_text": "It broke."}),
        "NOT_UNDERSTOOD" => json!({"reason_code": "invalid_payload_structure"}),
        _ => json!({"task_status": "success", "result_summary": "12.", "result_details": {}}),
    };
    let asked = format!("5b1f0c9e-3a77-4c1d-9a46-{asked:012}");
    desk.send(&acl(performative, n, (from, to), Some(&asked), &payload), by(from))
}

/// Somebody asks another for work, who takes it on.
fn take_on(desk: &mut Desk, n: u32, from: &str, by_whom: &str) -> u64 {
    accepted(&desk.send(&request(n, from, by_whom), by(from)));
    accepted(&answer(desk, "TASK_ACCEPT", 500 + n, (by_whom, from), n))
}

#[test]
fn whoever_takes_work_on_in_acl_is_bound_by_the_grants_of_whoever_asked_until_it_is_over() {
    for end in ["INFORM_RESULT", "FAILURE"] {
        let mut desk = granted();
        assert!(is_free(&mut desk, "ann"), "nobody has asked it");
        let taken = take_on(&mut desk, 1, "pm", "ann");
        assert_eq!(findings(&desk, taken), ["bound_below"]);
        assert!(!is_free(&mut desk, "ann"), "from when it takes it on");
        assert!(is_free(&mut desk, "bob"), "another has not");
        accepted(&answer(&mut desk, end, 10, ("ann", "pm"), 1));
        assert!(is_free(&mut desk, "ann"), "{end}");
        folds_again(&desk);
    }
    let mut desk = granted();
    take_on(&mut desk, 1, "pm", "ann");
    folds_again(&desk);
    desk.passes(desk.policy.talks.idle);
    assert!(is_free(&mut desk, "ann"), "given up");
}

#[test]
fn whoever_has_taken_work_on_stays_bound_while_whoever_asked_is_suspended() {
    let mut desk = granted();
    take_on(&mut desk, 1, "pm", "ann");
    let stop = vcp::Order::Suspend { agent: "pm".to_owned(), why: "odd".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(stop)), who: Who::operator() }));
    let is_request = |heard: &Value| heard["performative"] == "TASK_REQUEST";
    assert!(!inbox(&desk, "ann").iter().any(is_request), "the request is taken back out of the mailbox");
    assert!(!is_free(&mut desk, "ann"));
    folds_again(&desk);
}

#[test]
fn a_request_alone_binds_nobody() {
    for answered in [None, Some("TASK_REJECT"), Some("NOT_UNDERSTOOD")] {
        let mut desk = granted();
        accepted(&desk.send(&request(1, "pm", "ann"), by("pm")));
        if let Some(step) = answered {
            accepted(&answer(&mut desk, step, 10, ("ann", "pm"), 1));
        }
        assert!(is_free(&mut desk, "ann"), "{answered:?}");
        accepted(&hand(&mut desk, "own", "ann", "bob"));
        assert_eq!(task(&desk, "own").parent, None, "{answered:?}: what it hands on is its own");
    }
}

#[test]
fn a_scope_that_is_not_granted_is_not_had() {
    let mut desk = granted();
    let scoped = json!({"attachments": [{"type": "tool_call_result", "server_id": "S", "tool": "ls", "result": {},
        "scope": "read:S"}]});
    accepted(&say(&mut desk, "anything", "ann", "pm", scoped.clone()));
    take_on(&mut desk, 1, "pm", "ann");
    assert_eq!(refused(&say(&mut desk, "anything", "ann", "pm", scoped)), Code::ScopeDenied);
}

#[test]
fn what_is_only_said_or_asked_binds_nobody() {
    let mut desk = granted();
    accepted(&desk.send(&acl("QUERY_REF", 1, ("pm", "ann"), None, &json!({"reference": "x"})), by("pm")));
    accepted(&say(&mut desk, "R", "pm", "ann", json!({})));
    assert!(is_free(&mut desk, "ann"));
}

#[test]
fn what_is_delegated_from_there_is_a_part_of_the_askers_task() {
    let mut desk = granted();
    take_on(&mut desk, 1, "pm", "ann");
    let (root, _) = desk.state.rules().cap.named("R").next().unwrap();
    accepted(&hand(&mut desk, "fresh", "ann", "bob"));
    assert_eq!((task(&desk, "fresh").parent, task(&desk, "fresh").depth), (Some(root), 2));
    assert_eq!(refused(&show(&mut desk, "fresh", "bob", "rm")), Code::ToolNotBound);
    accepted(&show(&mut desk, "fresh", "bob", "ls"));
    accepted(&result(&mut desk, "fresh", "bob", "ann"));
    state(&desk, "fresh", "done");
    // It goes to nobody above, and what is over has no parts.
    assert_eq!(refused(&hand(&mut desk, "back", "ann", "pm")), Code::DelegationCycle);
    accepted(&result(&mut desk, "R", "pm", "orchestrator"));
    assert_eq!(refused(&hand(&mut desk, "late", "ann", "bob")), Code::TaskState);
    assert!(!is_free(&mut desk, "ann"), "the conversation is open");
    accepted(&answer(&mut desk, "FAILURE", 10, ("ann", "pm"), 1));
    accepted(&hand(&mut desk, "own", "ann", "bob"));
    assert_eq!(task(&desk, "own").parent, None);
    folds_again(&desk);
}

#[test]
fn a_tree_of_ones_own_is_no_way_out() {
    let mut desk = granted();
    accepted(&hand(&mut desk, "own", "ann", "bob"));
    take_on(&mut desk, 1, "pm", "ann");
    with(&mut desk, manifest("ann", &["bob", "eve"], None, &TOOLS)).unwrap();
    desk.agent("eve");
    assert_eq!(refused(&hand(&mut desk, "own.1", "ann", "eve")), Code::TaskLineage);
    assert_eq!(refused(&hand(&mut desk, "own", "ann", "bob")), Code::TaskLineage);
    assert_eq!(refused(&show(&mut desk, "own", "ann", "rm")), Code::ToolNotBound);
    accepted(&hand(&mut desk, "fresh", "ann", "eve"));
    accepted(&hand(&mut desk, "fresh.1", "ann", "bob"));
    assert_eq!(task(&desk, "fresh.1").depth, 3);
}

#[test]
fn whoever_takes_work_on_is_bound_when_that_goes_on() {
    for says in [Says::Approve, Says::Refuse] {
        let mut desk = granted();
        accepted(&desk.send(&request(1, "pm", "ann"), by("pm")));
        let asked = format!("5b1f0c9e-3a77-4c1d-9a46-{:012}", 1);
        let accept = acl("TASK_ACCEPT", 2, ("ann", "pm"), Some(&asked), &json!({"status": "accepted"}));
        let message = held(&desk.suspect(&accept, by("ann"), Severity::High));
        assert!(is_free(&mut desk, "ann"), "it waits for a person");
        let digest = desk.state.rules().holds.get(message).unwrap().digest.clone().unwrap();
        let order = Box::new(Directive::Review(Review { message, says, digest, why: "because".to_owned() }));
        accepted(&desk.ask(Input::Order { order, who: Who::operator() }));
        assert_eq!(is_free(&mut desk, "ann"), says == Says::Refuse, "{says:?}");
        folds_again(&desk);
    }
}

#[test]
fn whoever_asks_somebody_above_binds_nobody() {
    let mut desk = granted();
    with(&mut desk, manifest("bob", &["ann"], None, &TOOLS)).unwrap();
    let grants = json!({"grants": {"tools": ["ls"], "scopes": []}});
    accepted(&hand_with(&mut desk, "own", "ann", "bob", grants));
    take_on(&mut desk, 1, "bob", "ann");
    assert!(is_free(&mut desk, "ann"));
}

#[test]
fn under_strict_narrowing_nobody_in_between_is_left_out() {
    for (narrowing, want) in [(Narrowing::Grants, true), (Narrowing::Strict, false)] {
        let mut desk = Desk::new();
        desk.policy.narrowing = narrowing;
        with(&mut desk, manifest("pm", &["ann"], None, &TOOLS)).unwrap();
        with(&mut desk, manifest("ann", &["bob"], None, &["S/ls"])).unwrap();
        with(&mut desk, manifest("bob", &[], None, &TOOLS)).unwrap();
        accepted(&hand(&mut desk, "R", "orchestrator", "pm"));
        take_on(&mut desk, 1, "pm", "ann");
        accepted(&hand(&mut desk, "fresh", "ann", "bob"));
        let shown = show(&mut desk, "fresh", "bob", "rm");
        assert_eq!(matches!(shown, Verdict::Accepted { .. }), want, "{narrowing:?}: {shown:?}");
    }
}

#[test]
fn whoever_holds_a_task_acts_in_that_and_extends_it() {
    let mut desk = granted();
    take_on(&mut desk, 1, "pm", "ann");
    accepted(&hand(&mut desk, "T2", "orchestrator", "ann"));
    accepted(&show(&mut desk, "T2", "ann", "rm"));
    assert_eq!(refused(&hand(&mut desk, "fresh", "ann", "bob")), Code::TaskLineage);
    accepted(&hand(&mut desk, "T2.1", "ann", "bob"));
}

#[test]
fn grants_go_on_from_request_to_request() {
    let mut desk = granted();
    take_on(&mut desk, 1, "pm", "ann");
    take_on(&mut desk, 2, "ann", "bob");
    assert!(!is_free(&mut desk, "bob"));
    // And into CAP, where the exchange makes a task of it.
    speaks(&mut desk, "bob", Format::Cap);
    let id = format!("legation-{}", accepted(&desk.send(&request(3, "ann", "bob"), by("ann"))));
    let (root, _) = desk.state.rules().cap.named("R").next().unwrap();
    assert_eq!(task(&desk, &id).parent, Some(root));
    assert_eq!(refused(&show(&mut desk, &id, "bob", "rm")), Code::ToolNotBound);
    folds_again(&desk);
}

#[test]
fn a_request_that_became_a_task_binds_as_that_alone() {
    let mut desk = granted();
    accepted(&result(&mut desk, "R", "pm", "orchestrator"));
    speaks(&mut desk, "pm", Format::Cap);
    accepted(&hand_with(&mut desk, "T1", "pm", "ann", json!({"grants": {"tools": ["ls"]}})));
    let back = accepted(&desk.send(&request(1, "ann", "pm"), by("ann")));
    assert!(!task(&desk, &format!("legation-{back}")).grant.allows_tool("ls"), "who asks back passes nothing on");
    let shown = json!({"attachments": [{"type": "tool_call_result", "server_id": "S", "tool": "ls", "result": {}}]});
    assert_eq!(refused(&say(&mut desk, "anything", "pm", "ann", shown)), Code::ToolNotBound);
}

#[test]
fn a_query_in_vlp_that_is_put_in_acl_binds_too() {
    let mut desk = granted();
    speaks(&mut desk, "ann", Format::Acl);
    let query = claim("pm", "ann", "query-1", "How many?").replace(r#""claim""#, r#""query""#);
    accepted(&desk.send(&query, by("pm")));
    assert!(is_free(&mut desk, "ann"), "it has not answered");
    let asked = inbox(&desk, "ann").iter().find(|message| message["performative"] == "TASK_REQUEST").cloned().unwrap();
    let done = json!({"task_status": "success", "result_summary": "12.", "result_details": {}});
    let accept = json!({"status": "accepted"});
    accepted(&desk.send(&acl("TASK_ACCEPT", 6, ("ann", EXCHANGE), asked["message_id"].as_str(), &accept), by("ann")));
    assert!(!is_free(&mut desk, "ann"), "it has taken it on");
    folds_again(&desk);
    accepted(&desk.send(&acl("INFORM_RESULT", 7, ("ann", EXCHANGE), asked["message_id"].as_str(), &done), by("ann")));
    assert!(is_free(&mut desk, "ann"));
    folds_again(&desk);
}

#[test]
fn of_a_group_only_who_takes_it_on_is_bound() {
    let mut desk = granted();
    let can: Value = json!({"actions": ["count"], "topics": ["count"]});
    let groups = Some(["crew".to_owned()].into());
    for id in ["ann", "bob", "eve"] {
        let wanted =
            Registration { groups: groups.clone(), capabilities: Said::To(can.clone()), ..Registration::default() };
        desk.register(id, wanted, Who::operator()).unwrap();
    }
    with(&mut desk, manifest("eve", &[], None, &TOOLS)).unwrap();
    accepted(&desk.send(&request(1, "pm", "crew"), by("pm")));
    for id in ["ann", "bob", "eve"] {
        assert!(is_free(&mut desk, id), "{id}");
    }
    accepted(&answer(&mut desk, "TASK_REJECT", 10, ("eve", "pm"), 1));
    accepted(&answer(&mut desk, "TASK_ACCEPT", 11, ("ann", "pm"), 1));
    assert!(is_free(&mut desk, "bob") && !is_free(&mut desk, "ann"));
    folds_again(&desk);
}

#[test]
fn instances_are_bound_with_whoever_was_asked_and_ask_with_its_grants() {
    let mut desk = granted();
    let copy = |base: &str| Registration { instance_of: Some(base.to_owned()), ..Registration::default() };
    desk.register("ann-a", copy("ann"), agent("ann")).unwrap();
    desk.register("pm-a", copy("pm"), agent("pm")).unwrap();
    take_on(&mut desk, 1, "pm-a", "ann");
    for id in ["ann", "ann-a"] {
        assert!(!is_free(&mut desk, id), "{id}");
    }
    accepted(&hand(&mut desk, "fresh", "ann-a", "bob"));
    assert_eq!(task(&desk, "fresh").depth, 2);
    folds_again(&desk);
}
