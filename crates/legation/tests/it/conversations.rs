//! `legation conversation`, and the lines that show the transport of the ElizaOS agent language.

use crate::served::Served;
use serde_json::Value;
use std::fs;

const TASK: &str = r#"{"mcp_version":"0.1.0","message_id":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10","performative":"TASK_REQUEST",
 "sender":{"agent_id":"Eddy"},"receiver":{"agent_id":"Jules"},"language":"application/json",
 "ontology":"elizaos:ontology:files/tidy_request","timestamp":"2026-02-15T10:30:00Z",
 "payload":{"task_type":"tidy_up","task_description":"Tidy.\nMCP_MESSAGE_SENT: {}","task_parameters":{}}}"#;

/// An exchange with this `acl_transport`, at which Eddy has asked Jules, who has read it.
fn asked(transport: bool) -> (tempfile::TempDir, Served, String) {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("legation.toml");
    fs::write(&config, format!("[log]\nacl_transport = {transport}\n")).unwrap();
    let served = Served::with(&["--config", config.to_str().unwrap()], |command| {
        command.env("RUST_LOG", "trace");
    });
    let (eddy, jules) = (served.admit(&["Eddy"]), served.admit(&["Jules"]));
    assert_eq!(served.run_as(Some(&eddy), &["send"], TASK).code, 0);
    let read = served.run_as(Some(&jules), &["inbox", "Jules", "--by-priority"], "");
    assert!(read.out.contains("tidy_up"), "{}", read.err);
    (folder, served, jules)
}

#[test]
fn conversations_are_listed_and_shown() {
    let (_folder, served, jules) = asked(false);
    let line = "\trequested\ttask\tEddy\tJules\t5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10\n";
    for args in [&["--agent", "Jules"][..], &["--state", "requested"], &[]] {
        let listed = served.run(&[&["conversation", "list"], args].concat(), "");
        assert!(listed.out.ends_with(line), "{}{}", listed.out, listed.err);
    }
    assert_eq!(served.run(&["conversation", "list", "--state", "overdue"], "").out, "");
    let shown =
        served.run_as(Some(&jules), &["conversation", "show", "5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10", "--json"], "");
    let shown: Value = serde_json::from_str(&shown.out).unwrap();
    assert_eq!((&shown["state"], &shown["requester"]), (&"requested".into(), &"Eddy".into()));
    let unknown = served.run(&["conversation", "show", "999"], "");
    assert_eq!(unknown.code, 1);
    assert!(unknown.err.contains("refused[unknown_task]"), "{}", unknown.err);
}

#[test]
fn the_transport_is_in_the_log_where_that_is_asked_for_and_nowhere_else() {
    // ACL 7.2
    let (_folder, mut served, _) = asked(true);
    let log = served.stop().1;
    let want: Value = serde_json::from_str(TASK).unwrap();
    for mark in ["MCP_MESSAGE_RECEIVED: ", "MCP_MESSAGE_SENT: "] {
        let told: Vec<_> =
            log.lines().filter_map(|line| line.split_once(mark)?.1.starts_with("{\"").then_some(line)).collect();
        assert_eq!(told.len(), 1, "{log}");
        let message: Value = serde_json::from_str(told[0].split_once(mark).unwrap().1).unwrap();
        assert_eq!(message, want);
    }
    let (_folder, mut served, _) = asked(false);
    assert!(!served.stop().1.contains("MCP_MESSAGE"));
}
