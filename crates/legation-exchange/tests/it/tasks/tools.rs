//! Results of tools: bound, granted, or passed on unchanged (CAP MCP Integration).

use super::house::{findings, folds_again, hand, hand_with, manifest, say, story, with};
use crate::desk::{Desk, accepted, refused};
use legation_exchange::Verdict;
use legation_exchange::rules::cap::Narrowing;
use legation_protocol::Code;
use serde_json::{Value, json};

fn attached(tool: &str, result: &str) -> Value {
    let (server, tool) = tool.split_once('/').unwrap();
    json!({ "attachments": [{ "type": "tool_call_result", "server_id": server, "tool": tool, "result": result }] })
}

fn show(desk: &mut Desk, task: &str, from: &str, to: &str, tool: &str) -> Verdict {
    say(desk, task, from, to, attached(tool, "rows"))
}

#[test]
fn a_result_comes_from_a_tool_its_sender_is_bound_to() {
    // "permissions are enforced by binding definitions"
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    let own = accepted(&show(&mut desk, "T1", "pm-1", "user", "Docs/read_file"));
    assert_eq!(findings(&desk, own), ["self_reported"], "nothing proves a call");
    for tool in ["Docs/delete", "Summary/create_summary", "Nowhere/read_file"] {
        assert_eq!(refused(&show(&mut desk, "T1", "pm-1", "user", tool)), Code::ToolNotBound, "{tool}");
    }
    desk.agent("bare");
    assert_eq!(refused(&show(&mut desk, "T1", "bare", "pm-1", "Docs/read_file")), Code::ToolNotBound);
    // People are bound by no manifest.
    accepted(&show(&mut desk, "T1", "user", "pm-1", "Docs/delete"));
    folds_again(&desk);
}

#[test]
fn grants_narrow_along_the_lineage() {
    let mut desk = Desk::new();
    let tools = ["S/read", "S/write", "S/list"];
    with(&mut desk, manifest("b", &["c"], None, &tools)).unwrap();
    with(&mut desk, manifest("c", &["d"], None, &tools)).unwrap();
    with(&mut desk, manifest("d", &[], None, &tools)).unwrap();
    accepted(&hand_with(&mut desk, "T", "orchestrator", "b", json!({ "grants": { "tools": ["read", "list"] } })));
    accepted(&hand_with(&mut desk, "T.1", "b", "c", json!({ "grants": { "tools": ["read", "write"] } })));
    accepted(&hand(&mut desk, "T.1.1", "c", "d"));
    for (task, from, to, tool, want) in [
        ("T", "b", "user", "S/read", true),
        ("T", "b", "user", "S/write", false),
        ("T.1", "c", "b", "S/read", true),
        ("T.1", "c", "b", "S/list", false),
        ("T.1", "c", "b", "S/write", false),
        ("T.1.1", "d", "c", "S/read", true),
        ("T.1.1", "d", "c", "S/write", false),
        // Another task's name, or nobody's, is no way round.
        ("T", "d", "c", "S/write", false),
        ("X", "d", "c", "S/write", false),
        ("X", "d", "c", "S/read", true),
    ] {
        let verdict = show(&mut desk, task, from, to, tool);
        if want {
            accepted(&verdict);
        } else {
            assert_eq!(refused(&verdict), Code::ToolNotBound, "{from} in {task}: {tool}");
        }
    }
}

#[test]
fn strictly_nobody_below_has_what_those_above_have_not() {
    for (narrowing, want) in [(Narrowing::Grants, true), (Narrowing::Strict, false)] {
        let mut desk = story();
        desk.policy.narrowing = narrowing;
        accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
        accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
        accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", "Data/query_data"));
        let verdict = show(&mut desk, "T1.1", "analyst-1", "pm-1", "Data/process_data");
        assert_eq!(matches!(verdict, Verdict::Accepted { .. }), want, "{narrowing:?}");
        let left = desk.state.rules().cap.left_in(
            desk.state.registry(),
            desk.state.rules().cap.named("T1.1").next().unwrap().0,
            narrowing,
        );
        assert_eq!(left.bind("Data", "process_data"), want);
    }
}

#[test]
fn a_colleagues_result_is_passed_on_unchanged() {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand_with(&mut desk, "T1.1", "pm-1", "analyst-1", attached("Docs/read_file", "spec")));
    let forwarded = accepted(&hand_with(&mut desk, "T1.1.1", "analyst-1", "qa-1", attached("Docs/read_file", "spec")));
    assert!(findings(&desk, forwarded).contains(&"forwarded".to_owned()));
    let changed = say(&mut desk, "T1.1", "analyst-1", "qa-1", attached("Docs/read_file", "spec, changed"));
    assert_eq!(refused(&changed), Code::ToolNotBound);
    // What was shown below goes up as well; what was shown elsewhere does not come in.
    accepted(&show(&mut desk, "T1.1", "analyst-1", "pm-1", "Data/process_data"));
    let up = accepted(&show(&mut desk, "T1", "pm-1", "orchestrator", "Data/process_data"));
    assert_eq!(findings(&desk, up), ["forwarded"]);
    accepted(&hand(&mut desk, "T2", "orchestrator", "outsider"));
    assert_eq!(refused(&show(&mut desk, "T2", "outsider", "orchestrator", "Data/process_data")), Code::ToolNotBound);
}

#[test]
fn a_scope_outside_is_denied() {
    let mut desk = story();
    let grants = json!({ "grants": { "scopes": ["read:Data"] } });
    accepted(&hand_with(&mut desk, "T1", "orchestrator", "pm-1", grants));
    let scoped = |tool: &str, scope: Value| {
        let mut more = attached(tool, "rows");
        more["attachments"][0]["scope"] = scope;
        more
    };
    accepted(&say(&mut desk, "T1", "pm-1", "user", scoped("Data/query_data", json!("read:Data"))));
    let own = say(&mut desk, "T1", "pm-1", "user", scoped("Data/query_data", json!("write:Data")));
    assert_eq!(refused(&own), Code::ScopeDenied, "not in its bindings");
    let granted = say(&mut desk, "T1", "pm-1", "user", scoped("Docs/read_file", json!("read:Docs")));
    assert_eq!(refused(&granted), Code::ScopeDenied, "not granted");
}
