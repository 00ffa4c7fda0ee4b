//! Calls of tools through the exchange's own gateway: who may make them, and which results they bear out (CAP MCP
//! Integration).

use super::house::{findings, folds_again, hand, hand_with, manifest, result, say, story, with};
use crate::desk::{Desk, accepted, agent, refused};
use legation_exchange::rules::Finding;
use legation_exchange::rules::cap::Narrowing;
use legation_exchange::rules::vcp;
use legation_exchange::tool::{Outcome, told};
use legation_exchange::{Answer, Call, Directive, Effect, Erasure, Input, Registration, Span, Verdict, Who};
use legation_protocol::Code;
use legation_protocol::vcp::Mode;
use proptest::prelude::*;
use serde_json::{Value, json};

fn call_for(desk: &mut Desk, who: &str, tool: &str, task: Option<&str>, scopes: &[&str]) -> Verdict {
    let (server, tool) = tool.split_once('/').unwrap();
    let call = Call {
        server: server.to_owned(),
        tool: tool.to_owned(),
        task: task.map(str::to_owned),
        scopes: scopes.iter().map(|scope| (*scope).to_owned()).collect(),
        arguments: (*br#"{"q":1}"#).into(),
        digest: "sha256:arguments".to_owned(),
        is_known: server != "Nowhere",
    };
    desk.ask(Input::Call { call: Box::new(call), who: agent(who) })
}

fn call(desk: &mut Desk, who: &str, tool: &str, task: Option<&str>) -> Verdict {
    call_for(desk, who, tool, task, &[])
}

fn answer(desk: &mut Desk, call: u64, result: &Value) -> Verdict {
    let Effect::Called(called) = desk.record[usize::try_from(call).unwrap()].effect.clone() else { panic!("no call") };
    let body = told(&called.server, &called.tool, &result.to_string()).map(Vec::into_boxed_slice);
    ended(desk, call, Outcome::Result, body)
}

fn ended(desk: &mut Desk, call: u64, outcome: Outcome, body: Option<Box<[u8]>>) -> Verdict {
    desk.ask(Input::Answer(Box::new(Answer { call, outcome, why: None, body, scanned: Vec::new() })))
}

/// A call that is answered: the entry of the answer.
#[track_caller]
fn called(desk: &mut Desk, who: &str, tool: &str, task: Option<&str>, result: &str) -> u64 {
    let call = accepted(&call(desk, who, tool, task));
    accepted(&answer(desk, call, &json!(result)))
}

fn attached(results: &[(&str, &str)]) -> Value {
    let one = |(tool, result): &(&str, &str)| {
        let (server, tool) = tool.split_once('/').unwrap();
        json!({ "type": "tool_call_result", "server_id": server, "tool": tool, "result": result })
    };
    json!({ "attachments": results.iter().map(one).collect::<Vec<_>>() })
}

fn show(desk: &mut Desk, task: &str, from: &str, to: &str, results: &[(&str, &str)]) -> Verdict {
    say(desk, task, from, to, attached(results))
}

fn found(desk: &Desk, position: u64) -> Vec<Finding> {
    let entry = &desk.record[usize::try_from(position).unwrap()];
    let Effect::Accepted(accepted) = &entry.effect else { panic!("no message") };
    accepted.ruled.findings.iter().filter(|found| found.rule == "cap.tools").cloned().collect()
}

/// The manager works on T1, the analyst on its part T1.1.
fn at_work() -> Desk {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    desk
}

#[test]
fn a_result_that_the_gateway_was_answered_is_verified_and_one_character_makes_it_the_senders_word() {
    for task in [Some("T1"), None] {
        let mut desk = at_work();
        let entry = called(&mut desk, "pm-1", "Docs/read_file", task, "the spec");
        let shown = accepted(&show(&mut desk, "T1", "pm-1", "user", &[("Docs/read_file", "the spec")]));
        let [verified] = &found(&desk, shown)[..] else { panic!("{:?}", found(&desk, shown)) };
        assert_eq!((verified.code.as_str(), verified.about[0].entry), ("verified", Some(entry)), "{task:?}");
        assert_eq!(
            verified.says,
            format!("a tool answered this, and the exchange's own gateway asked it: attachment 0 (entry {entry})")
        );
        for other in
            [("Docs/read_file", "the Spec"), ("Docs/create_summary", "the spec"), ("Data/query_data", "the spec")]
        {
            let shown = accepted(&show(&mut desk, "T1", "pm-1", "user", &[other]));
            assert_eq!(findings(&desk, shown), ["self_reported"], "{other:?}");
        }
        folds_again(&desk);
    }
}

#[test]
fn a_result_is_the_same_however_it_is_spelled() {
    let mut desk = at_work();
    let made = accepted(&call(&mut desk, "pm-1", "Docs/read_file", Some("T1")));
    accepted(&answer(&mut desk, made, &json!({ "rows": [1.5, 2], "name": "ä" })));
    let text = concat!(
        r#"{"type":"message","task_id":"T1","sender_id":"pm-1","recipient_id":"user","content":"x","attachments":["#,
        r#"{"result": { "name":"\u00e4", "rows": [ 15e-1, 2.0 ] },"tool":"read_file","server_id":"Docs","type":"tool_call_result"}]}"#
    );
    let shown = accepted(&desk.send(text, crate::desk::by("pm-1")));
    assert_eq!(findings(&desk, shown), ["verified"]);
}

#[test]
fn several_results_are_told_apart_by_their_places() {
    let mut desk = at_work();
    let entry = called(&mut desk, "pm-1", "Docs/read_file", Some("T1"), "one");
    accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", &[("Data/process_data", "theirs")]));
    let results = [("Docs/read_file", "two"), ("Docs/read_file", "one"), ("Data/process_data", "theirs")];
    let shown = accepted(&show(&mut desk, "T1", "pm-1", "orchestrator", &results));
    let all: Vec<_> =
        found(&desk, shown).into_iter().map(|one| (one.code, one.about[0].at.clone(), one.about[0].entry)).collect();
    let want = |code: &str, at: &str, entry| (code.to_owned(), at.to_owned(), entry);
    assert_eq!(
        all,
        [
            want("verified", "/attachments/1", Some(entry)),
            want("forwarded", "/attachments/2", None),
            want("self_reported", "/attachments/0", None)
        ]
    );
}

#[test]
fn what_is_passed_on_says_whether_it_was_verified() {
    let mut desk = at_work();
    let entry = called(&mut desk, "analyst-1", "Data/process_data", Some("T1.1"), "sums");
    accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", &[("Data/process_data", "sums")]));
    accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", &[("Data/process_data", "guesses")]));
    for (result, borne_out) in [("sums", Some(entry)), ("guesses", None)] {
        let up = accepted(&show(&mut desk, "T1", "pm-1", "orchestrator", &[("Data/process_data", result)]));
        let [forwarded] = &found(&desk, up)[..] else { panic!("{:?}", found(&desk, up)) };
        assert_eq!((forwarded.code.as_str(), forwarded.about[0].entry), ("forwarded", borne_out), "{result}");
    }
    // Whoever is bound to the tool too passes on a colleague's, and did not call it.
    let entry = called(&mut desk, "analyst-1", "Data/query_data", Some("T1.1"), "rows");
    accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", &[("Data/query_data", "rows")]));
    let up = accepted(&show(&mut desk, "T1", "pm-1", "orchestrator", &[("Data/query_data", "rows")]));
    assert_eq!((findings(&desk, up), found(&desk, up)[0].about[0].entry), (vec!["forwarded".to_owned()], Some(entry)));
    folds_again(&desk);
}

#[test]
fn anothers_answer_and_one_for_another_task_bear_nothing_out() {
    let mut desk = at_work();
    accepted(&hand(&mut desk, "T2", "orchestrator", "pm-1"));
    called(&mut desk, "pm-1", "Data/query_data", Some("T2"), "rows");
    called(&mut desk, "analyst-1", "Data/query_data", Some("T1.1"), "sums");
    for (task, from, to, result) in
        [("T1", "pm-1", "user", "rows"), ("T1", "pm-1", "user", "sums"), ("T1.1", "analyst-1", "pm-1", "rows")]
    {
        let shown = accepted(&show(&mut desk, task, from, to, &[("Data/query_data", result)]));
        assert_eq!(found(&desk, shown)[0].code, "self_reported", "{from} in {task}: {result}");
    }
    // What was asked for a task may be shown to those who work on its parts.
    called(&mut desk, "pm-1", "Docs/read_file", Some("T1"), "spec");
    let below = accepted(&show(&mut desk, "T1.1", "pm-1", "analyst-1", &[("Docs/read_file", "spec")]));
    assert_eq!(findings(&desk, below), ["verified"]);
}

#[test]
fn instances_are_one_and_a_name_that_is_used_again_is_anothers() {
    let mut desk = at_work();
    let wanted = Registration { instance_of: Some("pm-1".to_owned()), ..Registration::default() };
    desk.register("pm-1b", wanted, Who::operator()).unwrap();
    called(&mut desk, "pm-1b", "Docs/read_file", Some("T1"), "spec");
    let shown = accepted(&show(&mut desk, "T1", "pm-1", "user", &[("Docs/read_file", "spec")]));
    assert_eq!(findings(&desk, shown), ["verified"]);
    called(&mut desk, "outsider", "Data/query_data", None, "rows");
    let open = accepted(&call(&mut desk, "outsider", "Data/query_data", None));
    desk.ask(Input::Remove { id: "outsider".to_owned(), who: Who::operator() });
    with(&mut desk, manifest("outsider", &[], None, &["Data/query_data"])).unwrap();
    assert_eq!(refused(&answer(&mut desk, open, &json!("late"))), Code::Unauthenticated, "it is on the record");
    for result in ["rows", "late"] {
        let shown = accepted(&show(&mut desk, "X", "outsider", "pm-1", &[("Data/query_data", result)]));
        assert_eq!(findings(&desk, shown), ["self_reported"], "{result}");
    }
    folds_again(&desk);
}

#[test]
fn rights_to_call_are_the_rights_to_show() {
    let mut desk = at_work();
    for (who, tool, task, want) in [
        ("pm-1", "Docs/delete", Some("T1"), Code::ToolNotBound),
        ("pm-1", "Summary/create_summary", None, Code::ToolNotBound),
        ("qa-1", "Docs/read_file", None, Code::ToolNotBound),
        ("pm-1", "Docs/read_file", Some("T9"), Code::UnknownTask),
        ("outsider", "Data/query_data", Some("T1"), Code::NotAParty),
    ] {
        assert_eq!(refused(&call(&mut desk, who, tool, task)), want, "{who} {tool} {task:?}");
    }
    with(&mut desk, manifest("bound", &[], None, &["Nowhere/tool"])).unwrap();
    assert_eq!(refused(&call(&mut desk, "bound", "Nowhere/tool", None)), Code::UnknownTool);
    assert_eq!(refused(&call(&mut desk, "nobody", "Docs/read_file", None)), Code::Unauthenticated);
    let scoped = |desk: &mut Desk, scope: &str| call_for(desk, "pm-1", "Docs/read_file", Some("T1"), &[scope]);
    accepted(&scoped(&mut desk, "read:Docs"));
    assert_eq!(refused(&scoped(&mut desk, "write:Docs")), Code::ScopeDenied);
    let people = Input::Call {
        call: Box::new(Call {
            server: "Docs".to_owned(),
            tool: "read_file".to_owned(),
            task: None,
            scopes: Vec::new(),
            arguments: (*b"{}").into(),
            digest: String::new(),
            is_known: true,
        }),
        who: Who::operator(),
    };
    assert_eq!(refused(&desk.ask(people)), Code::NotAllowed);
    accepted(&hand(&mut desk, "T3", "orchestrator", "outsider"));
    accepted(&result(&mut desk, "T3", "outsider", "orchestrator"));
    assert_eq!(refused(&call(&mut desk, "outsider", "Data/query_data", Some("T3"))), Code::TaskState);
}

#[test]
fn grants_and_narrowing_bind_calls_as_they_bind_results() {
    let mut desk = Desk::new();
    let tools = ["S/read", "S/write"];
    with(&mut desk, manifest("b", &["c"], None, &tools)).unwrap();
    with(&mut desk, manifest("c", &[], None, &["S/read", "S/write", "S/own"])).unwrap();
    accepted(&hand_with(&mut desk, "T", "orchestrator", "b", json!({ "grants": { "tools": ["read", "own"] } })));
    accepted(&hand(&mut desk, "T.1", "b", "c"));
    for (narrowing, tool, task, want) in [
        (Narrowing::Grants, "S/read", Some("T.1"), true),
        (Narrowing::Grants, "S/own", Some("T.1"), true),
        (Narrowing::Grants, "S/write", Some("T.1"), false),
        // To name no task is no way round.
        (Narrowing::Grants, "S/write", None, false),
        (Narrowing::Strict, "S/read", Some("T.1"), true),
        (Narrowing::Strict, "S/own", Some("T.1"), false),
    ] {
        desk.policy.narrowing = narrowing;
        let verdict = call(&mut desk, "c", tool, task);
        if want {
            accepted(&verdict);
        } else {
            assert_eq!(refused(&verdict), Code::ToolNotBound, "{narrowing:?} {tool} {task:?}");
        }
    }
}

fn suspend(desk: &mut Desk, id: &str) {
    let order = vcp::Order::Suspend { agent: id.to_owned(), why: "to be safe".to_owned() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who: Who::operator() }));
}

#[test]
fn a_suspended_agent_calls_nothing_and_is_told_nothing_that_came_meanwhile() {
    let mut desk = at_work();
    let under_way = accepted(&call(&mut desk, "pm-1", "Docs/read_file", Some("T1")));
    suspend(&mut desk, "pm-1");
    assert_eq!(refused(&call(&mut desk, "pm-1", "Docs/read_file", Some("T1"))), Code::AgentSuspended);
    let before = desk.record.len();
    assert_eq!(refused(&answer(&mut desk, under_way, &json!("spec"))), Code::AgentSuspended);
    let Effect::Answered(answered) = &desk.record[before].effect else { panic!("it is not on the record") };
    assert_eq!((answered.call, answered.outcome), (under_way, Outcome::Result));
    assert!(desk.record[before].body.is_some());
    assert_eq!(desk.state.rules().cap.calls().all_open().count(), 0);
    folds_again(&desk);
}

#[test]
fn an_answer_is_taken_once_and_only_a_result_bears_anything_out() {
    let mut desk = at_work();
    for outcome in [Outcome::Refused, Outcome::Unusable, Outcome::Unreached, Outcome::Silent, Outcome::Broken] {
        let made = accepted(&call(&mut desk, "pm-1", "Docs/read_file", Some("T1")));
        let body = told("Docs", "read_file", "\"spec\"").map(Vec::into_boxed_slice);
        accepted(&ended(&mut desk, made, outcome, body));
        assert_eq!(refused(&answer(&mut desk, made, &json!("spec"))), Code::NotFound, "{outcome:?}");
    }
    let shown = accepted(&show(&mut desk, "T1", "pm-1", "user", &[("Docs/read_file", "spec")]));
    assert_eq!(findings(&desk, shown), ["self_reported"]);
    assert_eq!(refused(&ended(&mut desk, 0, Outcome::Result, None)), Code::NotFound, "no call");
}

#[test]
fn the_newest_answers_are_remembered() {
    let mut desk = at_work();
    for number in 0..257 {
        called(&mut desk, "pm-1", "Docs/read_file", Some("T1"), &format!("page {number}"));
    }
    assert_eq!(desk.state.rules().cap.calls().answers_len(), 256);
    for (page, want) in [("page 0", "self_reported"), ("page 1", "verified"), ("page 256", "verified")] {
        let shown = accepted(&show(&mut desk, "T1", "pm-1", "user", &[("Docs/read_file", page)]));
        assert_eq!(findings(&desk, shown), [want], "{page}");
    }
    folds_again(&desk);
}

#[test]
fn what_was_erased_bears_nothing_out() {
    let mut desk = at_work();
    let entry = called(&mut desk, "analyst-1", "Data/process_data", Some("T1.1"), "sums");
    accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", &[("Data/process_data", "sums")]));
    let positions = vec![Span { first: entry - 1, last: entry }];
    let erasure = Box::new(Erasure { positions, ..Erasure::default() });
    accepted(&desk.ask(Input::Erase { erasure, who: Who::operator() }));
    let again = accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", &[("Data/process_data", "sums")]));
    assert_eq!(found(&desk, again)[0].code, "self_reported");
    let up = accepted(&show(&mut desk, "T1", "pm-1", "orchestrator", &[("Data/process_data", "sums")]));
    assert_eq!((findings(&desk, up), found(&desk, up)[0].about[0].entry), (vec!["forwarded".to_owned()], None));
    folds_again(&desk);
}

#[test]
fn a_call_that_is_erased_under_way_leaves_nothing_of_its_answer() {
    let mut desk = at_work();
    let made = accepted(&call(&mut desk, "pm-1", "Docs/read_file", Some("T1")));
    let positions = vec![Span { first: made, last: made }];
    let erasure = Box::new(Erasure { positions, ..Erasure::default() });
    accepted(&desk.ask(Input::Erase { erasure, who: Who::operator() }));
    folds_again(&desk);
    let before = desk.record.len();
    assert_eq!(refused(&answer(&mut desk, made, &json!("the spec"))), Code::NotFound, "it is told to nobody");
    let entry = &desk.record[before];
    let Effect::Answered(answered) = &entry.effect else { panic!("it is not on the record") };
    assert_eq!((answered.call, answered.outcome, &answered.digest), (made, Outcome::Result, &None));
    assert!(entry.body.is_none() && answered.findings.is_empty());
    let calls = desk.state.rules().cap.calls();
    assert!(calls.all_open().count() == 0 && !calls.is_erased(made));
    let shown = accepted(&show(&mut desk, "T1", "pm-1", "user", &[("Docs/read_file", "the spec")]));
    assert_eq!(findings(&desk, shown), ["self_reported"]);
    folds_again(&desk);
}

#[test]
fn a_paused_agent_calls_nothing() {
    let mut desk = crate::line::line();
    desk.register("boss", Registration::default(), Who::operator()).unwrap();
    let wanted = Registration {
        parent: Some("boss".to_owned()).into(),
        manifest: Some(manifest("worker", &[], None, &["Docs/read_file"])),
        ..Registration::default()
    };
    desk.register("worker", wanted, Who::operator()).unwrap();
    let under_way = accepted(&call(&mut desk, "worker", "Docs/read_file", None));
    accepted(&crate::line::saying("worker", "boss", 1).alarms(&mut desk, "critical"));
    assert_eq!(refused(&call(&mut desk, "worker", "Docs/read_file", None)), Code::AgentPaused);
    // What it began it finishes.
    accepted(&answer(&mut desk, under_way, &json!("the spec")));
}

#[test]
fn a_tool_of_one_task_does_not_go_with_a_scope_of_another() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("b", &[], None, &["S/read", "S/write"])).unwrap();
    let grants = |tool: &str, scopes: &[&str]| json!({ "grants": { "tools": [tool], "scopes": scopes } });
    accepted(&hand_with(&mut desk, "T1", "orchestrator", "b", grants("read", &["read:S"])));
    accepted(&hand_with(&mut desk, "T2", "orchestrator", "b", grants("write", &[])));
    accepted(&call_for(&mut desk, "b", "S/read", None, &["read:S"]));
    accepted(&call_for(&mut desk, "b", "S/write", None, &[]));
    let mixed = call_for(&mut desk, "b", "S/write", None, &["read:S"]);
    assert_eq!(refused(&mixed), Code::ScopeDenied, "the scope is T1's, the tool T2's");
    let mut mixed = attached(&[("S/write", "done")]);
    mixed["attachments"][0]["scope"] = json!("read:S");
    assert_eq!(refused(&say(&mut desk, "X", "b", "user", mixed)), Code::ScopeDenied);
}

#[test]
fn a_tree_of_ones_own_is_no_way_out_of_what_one_was_handed() {
    let mut desk = Desk::new();
    let tools = ["S/ls", "S/rm"];
    with(&mut desk, manifest("helper", &[], None, &tools)).unwrap();
    with(&mut desk, manifest("ann", &["helper"], None, &tools)).unwrap();
    accepted(&hand(&mut desk, "own", "ann", "helper"));
    accepted(&call(&mut desk, "ann", "S/rm", Some("own")));
    accepted(&show(&mut desk, "own", "ann", "helper", &[("S/rm", "free")]));
    accepted(&hand_with(&mut desk, "T", "orchestrator", "ann", json!({ "grants": { "tools": ["ls"] } })));
    for task in [Some("own"), Some("T"), None] {
        accepted(&call(&mut desk, "ann", "S/ls", task));
        assert_eq!(refused(&call(&mut desk, "ann", "S/rm", task)), Code::ToolNotBound, "{task:?}");
    }
    accepted(&show(&mut desk, "own", "ann", "helper", &[("S/ls", "rows")]));
    assert_eq!(refused(&show(&mut desk, "own", "ann", "helper", &[("S/rm", "gone")])), Code::ToolNotBound);
    // With that over, it is as free as before.
    accepted(&result(&mut desk, "T", "ann", "orchestrator"));
    accepted(&call(&mut desk, "ann", "S/rm", Some("own")));
    accepted(&show(&mut desk, "own", "ann", "helper", &[("S/rm", "gone")]));
}

/// A call with these arguments.
fn handed(desk: &mut Desk, who: &str, arguments: &Value) -> Verdict {
    let call = Call {
        server: "Docs".to_owned(),
        tool: "read_file".to_owned(),
        task: None,
        scopes: Vec::new(),
        arguments: arguments.to_string().into_bytes().into(),
        digest: "sha256:arguments".to_owned(),
        is_known: true,
    };
    desk.ask(Input::Call { call: Box::new(call), who: agent(who) })
}

#[test]
fn what_is_handed_to_a_tool_is_held_to_what_binds_the_agent() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("chief", &[], None, &["Docs/read_file"])).unwrap();
    let wanted = Registration {
        parent: Some("chief".to_owned()).into(),
        manifest: Some(manifest("writer", &[], None, &["Docs/read_file"])),
        ..Registration::default()
    };
    desk.register("writer", wanted, Who::operator()).unwrap();
    let long = json!({ "path": "word ".repeat(100) });
    let about = json!({ "query": { "filter": [{ "topics": ["Garden", "weapons"] }] } });
    let attached = json!({ "attachments": [{ "more": { "topic": "weapons" } }] });
    for arguments in [&long, &about, &attached] {
        accepted(&handed(&mut desk, "writer", arguments));
    }
    let rule = |kind: &str, value: Value| crate::constraints::one(kind, &value);
    let rules = [rule("token_limit", json!(100)), rule("topic_block", json!(["weapons"]))];
    accepted(&crate::constraints::wish(&mut desk, "chief", &rules, Mode::Merge, &[], Who::operator()));
    let elsewhere = [rule("audience_restrict", json!(["nobody-at-all"]))];
    accepted(&crate::constraints::wish(&mut desk, "writer", &elsewhere, Mode::Merge, &[], Who::operator()));
    for arguments in [&long, &about, &attached] {
        let verdict = handed(&mut desk, "writer", arguments);
        assert_eq!(refused(&verdict), Code::ConstraintViolated, "{arguments}");
        let Verdict::Refused(why) = verdict else { panic!("taken") };
        assert_eq!(why.first().at.as_deref(), Some("/arguments"));
        assert!(why.first().message.contains("Laid on \"chief\" above it by an operator in entry"), "{why:?}");
    }
    // Four bytes a token, names and values; and a tool is nobody's audience.
    accepted(&handed(&mut desk, "writer", &json!({ "path": "x".repeat(396) })));
    assert_eq!(refused(&handed(&mut desk, "writer", &json!({ "path": "x".repeat(397) }))), Code::ConstraintViolated);
    accepted(&handed(&mut desk, "writer", &json!({ "path": "weapons.md" })));
    folds_again(&desk);
}

#[derive(Clone, Debug)]
enum Step {
    Call { who: usize, task: usize },
    Answer { nth: usize, result: usize, outcome: usize },
    Show { who: usize, task: usize, result: usize },
    Remove(usize),
    Erase(u64),
}

const TASKS: [&str; 3] = ["T1", "T1.1", "X"];

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..3usize, 0..4usize).prop_map(|(who, task)| Step::Call { who, task }),
        4 => (0..4usize, 0..3usize, 0..4usize).prop_map(|(nth, result, outcome)| Step::Answer { nth, result, outcome }),
        6 => (0..3usize, 0..3usize, 0..3usize).prop_map(|(who, task, result)| Step::Show { who, task, result }),
        1 => (0..3usize).prop_map(Step::Remove),
        1 => (0..60u64).prop_map(Step::Erase),
    ];
    prop::collection::vec(step, 0..40)
}

fn take(desk: &mut Desk, step: &Step) {
    let who = |index: usize| ["pm-1", "analyst-1", "outsider"][index];
    match *step {
        Step::Call { who: index, task } => {
            drop(call(desk, who(index), "Data/query_data", TASKS.get(task).copied().filter(|task| *task != "X")));
        }
        Step::Answer { nth, result, outcome } => {
            let Some((made, _)) = desk.state.rules().cap.calls().all_open().nth(nth) else { return };
            let outcome = [Outcome::Result, Outcome::Error, Outcome::Silent, Outcome::Unusable][outcome];
            let body = told("Data", "query_data", &result.to_string()).map(Vec::into_boxed_slice);
            ended(desk, made, outcome, body);
        }
        Step::Show { who: index, task, result } => {
            let one =
                json!({ "type": "tool_call_result", "server_id": "Data", "tool": "query_data", "result": result });
            let to = if index == 0 { "analyst-1" } else { "pm-1" };
            say(desk, TASKS[task], who(index), to, json!({ "attachments": [one] }));
        }
        Step::Remove(index) => drop(desk.ask(Input::Remove { id: who(index).to_owned(), who: Who::operator() })),
        Step::Erase(at) => {
            let erasure = Box::new(Erasure {
                positions: vec![Span { first: at, last: at }],
                undelivered: true,
                ..Erasure::default()
            });
            drop(desk.ask(Input::Erase { erasure, who: Who::operator() }));
        }
    }
}

proptest! {
    /// Whatever happens, `verified` names an entry that says the sender's family was answered just this.
    #[test]
    fn verified_is_never_said_without_an_answer_of_that_digest(steps in steps()) {
        let mut desk = at_work();
        for step in &steps {
            take(&mut desk, step);
        }
        for entry in &desk.record {
            let Effect::Accepted(message) = &entry.effect else { continue };
            let body: Value = serde_json::from_slice(entry.body.as_deref().unwrap()).unwrap();
            for one in message.ruled.findings.iter().filter(|found| found.rule == "cap.tools").flat_map(|found| &found.about) {
                let Some(position) = one.entry else { continue };
                let shown = body.pointer(&one.at).unwrap();
                let Effect::Answered(answered) = &desk.record[usize::try_from(position).unwrap()].effect else {
                    panic!("entry {position} is no answer");
                };
                let want = told("Data", "query_data", &shown["result"].to_string()).unwrap();
                prop_assert_eq!(desk.record[usize::try_from(position).unwrap()].body.as_deref(), Some(&want[..]));
                prop_assert!(answered.outcome.is_answer() && position < entry.position);
                let Effect::Called(called) = &desk.record[usize::try_from(answered.call).unwrap()].effect else {
                    panic!("entry {} is no call", answered.call);
                };
                prop_assert_eq!(&called.agent, &answered.agent);
                let verified = message.ruled.findings.iter().any(|found| found.code == "verified");
                prop_assert!(!verified || called.agent == message.sender);
            }
        }
        folds_again(&desk);
    }
}
