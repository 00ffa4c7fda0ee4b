//! `legation tool`, and servers as a configuration names them: another exchange, over HTTP and as a process of ours.

use crate::served::Served;
use serde_json::{Value, json};
use std::fs;

/// An exchange whose agents have the tools of another's hosts.
struct Office {
    served: Served,
    reader: String,
    /// The other one, for as long as it is asked.
    _other: Served,
    _folder: tempfile::TempDir,
}

/// With the other one over HTTP alone, or as a process too.
fn office(near: bool) -> Office {
    let other = Served::start();
    let helper = other.admit(&["helper"]);
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let secret = file("helper.secret", &helper);
    let far = format!("[[tools]]\nid = \"Far\"\nurl = \"{}/mcp\"\nsecret_file = {secret:?}\n", other.url);
    let own = env!("CARGO_BIN_EXE_legation");
    let near = near.then(|| {
        format!(
            "[[tools]]\nid = \"Near\"\ncommand = [{own:?}, \"mcp\"]\n\
             environment = [\"LEGATION_URL\", \"LEGATION_TOKEN\"]\ntimeout = \"1m\"\n"
        )
    });
    let config = far + &near.unwrap_or_default();
    let config = file("legation.toml", &config);
    let served = Served::with(&["--config", &config], |command| {
        command.env("LEGATION_URL", &other.url).env("LEGATION_TOKEN", &helper);
    });
    let binding = |server: &str| json!({ "server_id": server, "scopes": [], "allowed_tools": ["vcp_status", "claim"] });
    let manifest = json!({
        "id": "reader", "system_prompt": "You read.", "allowed_agents": [], "delegate_rules": {},
        "mcp_bindings": [binding("Far"), binding("Near")],
    });
    let manifest = file("reader.json", &manifest.to_string());
    let reader = served.admit(&["reader", "--manifest", &manifest]);
    served.admit(&["writer"]);
    Office { served, reader, _other: other, _folder: folder }
}

#[test]
fn tools_are_listed_called_and_shown_from_a_shell() {
    let office = office(true);
    let run = |args: &[&str], input: &str| office.served.run_as(Some(&office.reader), args, input);
    let listed = run(&["tool", "list"], "");
    assert_eq!(listed.code, 0, "{}", listed.err);
    for server in ["Far", "Near"] {
        assert!(listed.out.contains(&format!("{server}\tvcp_status\tcallable\t")), "{}", listed.out);
        let called = run(&["tool", "call", server, "vcp_status", "--arguments", "-"], "{}");
        assert!(called.code == 0 && called.out.contains("agent helper"), "{server}: {}{}", called.out, called.err);
        assert!(called.err.starts_with("on the record as entries "), "{}", called.err);
        let called = run(&["tool", "call", server, "vcp_status", "--json"], "");
        let answer: Value = serde_json::from_str(&called.out).unwrap();
        let message = json!({
            "type": "message", "task_id": "T1", "sender_id": "reader", "recipient_id": "writer", "content": "See.",
            "attachments": [answer["attachment"]],
        });
        let sent = run(&["send", "-", "--json"], &message.to_string());
        let sent: Value = serde_json::from_str(&sent.out).unwrap_or_else(|_| panic!("{}{}", sent.out, sent.err));
        let told = run(&["message", &sent["position"].to_string(), "--json"], "");
        let told: Value = serde_json::from_str(&told.out).unwrap();
        assert_eq!(told["findings"][0]["code"], "verified", "{server}: {told}");
        let shown = run(&["tool", "show", &answer["position"].to_string()], "");
        assert!(shown.code == 0 && shown.out.contains("outcome\tresult\n"), "{}{}", shown.out, shown.err);
    }
    let refused = run(&["tool", "call", "Far", "send_message"], "");
    assert!(refused.code == 1 && refused.err.starts_with("refused[tool_not_bound]: "), "{}", refused.err);
    assert_eq!(run(&["tool", "call", "Far", "claim", "--arguments", "{"], "").code, 2);
    let calls = run(&["tool", "calls", "--limit", "2"], "");
    assert_eq!(calls.out.lines().filter(|line| line.ends_with("\tresult")).count(), 2, "{}", calls.out);
    // Whoever runs it erases a call by the position of either entry.
    let last = calls.out.split('\t').next().unwrap();
    let erased = office.served.run(&["erase", last, "--yes"], "");
    assert_eq!(erased.code, 0, "{}", erased.err);
    let shown = run(&["tool", "show", last], "");
    assert!(shown.code == 0 && !shown.out.contains("said\t") && !shown.out.contains("arguments\t"), "{}", shown.out);
}

#[test]
fn a_kill_while_a_tool_is_at_work_is_told_at_the_next_start() {
    let mut office = office(false);
    // The other exchange waits for a message that never comes.
    let bind = json!({ "server_id": "Far", "scopes": [], "allowed_tools": ["read_inbox"] });
    let manifest = json!({
        "id": "waiter", "system_prompt": "You wait.", "allowed_agents": [], "delegate_rules": {}, "mcp_bindings": [bind],
    });
    fs::write(office.served.folder().join("waiter.json"), manifest.to_string()).unwrap();
    let waiter = office.served.admit(&["waiter", "--manifest", "waiter.json"]);
    let mut command = crate::served::program(office.served.folder());
    command.env("LEGATION_URL", &office.served.url).env("LEGATION_TOKEN", &waiter);
    let mut child =
        command.args(["tool", "call", "Far", "read_inbox", "--arguments", r#"{"wait":600}"#]).spawn().unwrap();
    let calls = |office: &Office| office.served.run_as(Some(&waiter), &["tool", "calls"], "").out;
    while !calls(&office).ends_with("\tunder way\n") {
        std::thread::yield_now();
    }
    office.served.crash();
    child.wait().unwrap();
    while !calls(&office).ends_with("\tinterrupted\n") {
        std::thread::yield_now();
    }
}
