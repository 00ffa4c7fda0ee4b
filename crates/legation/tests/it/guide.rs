//! The guides that have examples, run as they are written.

use crate::served::Served;

const EXCHANGE: &str = include_str!("../../../../docs/guides/exchange.md");
const CONSTRAINTS: &str = include_str!("../../../../docs/guides/constraints.md");
const CONVERSATIONS: &str = include_str!("../../../../docs/guides/conversations.md");
const IDENTITY: &str = include_str!("../../../../docs/guides/identity.md");

const HANDSHAKE: &str = include_str!("../../../../docs/guides/handshake.md");
const EXTENSIONS: &str = include_str!("../../../../docs/guides/extensions.md");
const MEMORY: &str = include_str!("../../../../docs/guides/memory.md");
const ESCALATION: &str = include_str!("../../../../docs/guides/escalation.md");
const TASKS: &str = include_str!("../../../../docs/guides/tasks.md");

const STREAMS: &str = include_str!("../../../../docs/guides/streams.md");

const TRUTH: &str = include_str!("../../../../docs/guides/truth.md");

/// All blocks of one language, in their order.
fn blocks(guide: &str, language: &str) -> String {
    let fence = format!("```{language}\n");
    guide.split(&fence).skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_shell_examples_of_the_guide_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(EXCHANGE, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains(r#"{"status":"accepted","message_id":""#), "{}", ran.out);
    assert!(ran.out.contains(r#""constitution_ref": "creed://creed.space/family.safe.guide@1.2.0""#), "{}", ran.out);
    assert!(ran.out.contains(r#"{"line":2,"status":"accepted""#), "{}", ran.out);
    assert!(ran.out.contains("Then chapter two."), "{}", ran.out);
}

#[test]
fn the_python_example_of_the_guide_works() {
    let served = Served::start();
    let ran = served.beside("python3", &blocks(EXCHANGE, "python"));
    assert_eq!((ran.code, ran.out.as_str()), (0, "You said: Is anybody there?\n"), "{}", ran.err);
}

#[test]
fn the_examples_of_streams_and_sockets_work() {
    let served = Served::start();
    let ran = served.beside("python3", &blocks(STREAMS, "python"));
    let told = "event: by event\nline: by line\nverdict: first accepted\nitem: by socket\nacked: True\n";
    assert_eq!((ran.code, ran.out.as_str()), (0, told), "{}", ran.err);
}

#[test]
fn the_shell_examples_about_escalations_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(ESCALATION, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    let states = ran.out.lines().filter(|line| line.contains("\"state\": "));
    let states: Vec<_> = states.map(|line| line.trim().trim_end_matches(',')).collect();
    let want = ["suspended", "running", "suspended"].map(|state| format!("\"state\": \"{state}\""));
    assert_eq!(states, want, "{}", ran.out);
    assert!(ran.out.contains("\temergency\tunanswered\t") && ran.out.contains("\temergency\tclosed\t"), "{}", ran.out);
}

#[test]
fn the_guide_says_what_a_paused_agent_may_do_as_the_rules_have_it() {
    let rows = ESCALATION.lines().filter(|line| line.ends_with("begins |") || line.ends_with("finishes |"));
    let table = legation_exchange::rules::vcp::pause_table();
    let table = table.iter().map(|(dialect, kind, does)| format!("| `{dialect}` | `{kind}` | {} |", does.as_str()));
    assert_eq!(rows.collect::<Vec<_>>(), table.collect::<Vec<_>>());
}

#[test]
fn the_shell_examples_about_the_handshake_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(HANDSHAKE, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert_eq!(ran.out.matches(r#""type":"vcp-ack""#).count(), 3, "{}", ran.out);
    for told in [r#""VCP-X-Unheard-Of""#, r#"{"ended":true}"#, "user_42\t", "\tcounts\n"] {
        assert!(ran.out.contains(told), "{told:?} is not in {}", ran.out);
    }
}

#[test]
fn the_shell_examples_about_extensions_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(EXTENSIONS, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    for told in [r#""winner":"soup""#, r#""d":[[0,1,2],[0,0,1],[0,0,0]]"#, "It is cold outside."] {
        assert!(ran.out.contains(told), "{told:?} is not in {}", ran.out);
    }
}

#[test]
fn the_shell_examples_about_identity_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(IDENTITY, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    for told in
        ["\tROTATING\t", "\tRETIRED", "\tACTIVE\n", "rita\treviewer\n", "Which title?", "\teditor\tremoved\tuser\t"]
    {
        assert!(ran.out.contains(told), "{told:?} is not in {}", ran.out);
    }
    assert_eq!(ran.out.matches("The short one.").count(), 1, "{}", ran.out);
    assert!(!ran.out.contains("FAIL"), "{}", ran.out);
}

#[test]
fn the_shell_examples_about_memory_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(MEMORY, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    let line = "\tresearch\tresearch,oklahoma,stations,pending:pricing\tCompleted research on Oklahoma gas stations. ";
    assert_eq!(ran.out.matches(line).count(), 4, "{}", ran.out);
    assert_eq!(ran.out.matches(r#""next_session_hints":"#).count(), 2, "{}", ran.out);
}

#[test]
fn the_shell_examples_about_constraints_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(CONSTRAINTS, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains("token_limit\t100\toperator\t"), "{}", ran.out);
    assert_eq!(ran.err.matches("refused[constraint_violated]").count(), 1, "{}\n{}", ran.out, ran.err);
    assert!(ran.out.contains(r#""constraints": ["#), "{}", ran.out);
}

#[test]
fn the_shell_examples_about_conversations_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(CONVERSATIONS, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    for told in ["state\tresult\n", "\"error\":\"task_state\"", "\"answered_for\":\"Jules\""] {
        assert!(ran.out.contains(told), "{told:?} is not in {}", ran.out);
    }
}

#[test]
fn the_shell_examples_about_truth_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(TRUTH, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    assert_eq!(ran.out.matches(r#""status":"accepted""#).count(), 4, "{}", ran.out);
    assert!(ran.out.contains("* correction\t"), "{}", ran.out);
    assert!(ran.out.contains("S-2025-12-14-observer-abc123\thalted\tobserver\t4\t"), "{}", ran.out);
}

#[test]
fn the_shell_examples_about_tasks_work() {
    let served = Served::start();
    let ran = served.beside("bash", &format!("set -euo pipefail\n{}", blocks(TASKS, "sh")));
    assert_eq!(ran.code, 0, "{}\n{}", ran.out, ran.err);
    for told in [
        "lineage\tT1 > T1.1\n",
        "tools\tData\tquery\n",
        "T1.1\tin_review\tpm\tanalyst\t",
        "state\tdone\n",
        "T1.2\tfailed\tpm\tanalyst\t",
    ] {
        assert!(ran.out.contains(told), "{told:?} is not in {}", ran.out);
    }
    assert!(ran.err.contains("T1.2 goes to analyst-b\n"), "{}", ran.err);
    let shown = served.run(&["task", "show", "T1.2", "--json"], "");
    assert!(shown.out.contains(r#""former":["analyst"]"#), "{}", shown.out);
    let none = served.run(&["task", "show", "T9"], "");
    assert!(none.code == 1 && none.err.starts_with("refused[unknown_task]: "), "{}", none.err);
}
