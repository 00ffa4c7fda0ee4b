//! `legation mcp` and `/mcp` as hosts use them: over stdin and stdout, and with the official clients.

mod clients;
mod piped;

use crate::served::{Served, program};
use piped::Piped;
use serde_json::{Value, json};

fn open(served: &Served, prepare: impl FnOnce(&mut std::process::Command)) -> Piped {
    let mut command = program(served.folder());
    command.arg("mcp").env("LEGATION_URL", &served.url);
    prepare(&mut command);
    Piped::start(&mut command)
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"name": tool, "arguments": arguments})
}

#[test]
fn with_no_settings_a_host_is_an_agent_of_this_machines_exchange() {
    let served = Served::start();
    let (mut hers, mut his) = (open(&served, |_| {}), open(&served, |_| {}));
    assert!(hers.said.starts_with(&format!("legation: speaking to {} as host-", served.url)), "{}", hers.said);
    let agent = |host: &Piped| host.said.rsplit(' ').next().unwrap().to_owned();
    let (ann, bob) = (agent(&hers), agent(&his));
    for host in [&mut hers, &mut his] {
        assert_eq!(host.initialize()["protocolVersion"], "2025-11-25");
    }
    assert_eq!(
        hers.ask("tools/call", &call("vcp_status", &json!({})))["structuredContent"]["you"],
        format!("agent {ann}")
    );
    let claim = json!({"to": bob, "content": "The kettle boils.", "confidence": 0.5});
    let sent = hers.ask("tools/call", &call("claim", &claim));
    assert_eq!(sent["structuredContent"]["status"], "accepted", "{sent}");
    let read = his.ask("tools/call", &call("read_inbox", &json!({"wait": 10})));
    assert_eq!(read["structuredContent"]["messages"][0]["message"]["content"], "The kettle boils.", "{read}");
    // What waits keeps nobody waiting.
    his.say(&json!({"jsonrpc": "2.0", "id": "w", "method": "tools/call", "params": call("read_inbox", &json!({"wait": 600, "after": 1_000}))}));
    assert!(his.ask("ping", &json!({})).is_object());
    assert_eq!(hers.end(), 0);
    assert_eq!(his.end(), 0);
}

#[test]
fn vcp_messages_are_signed_with_the_key_that_stays_here() {
    let served = Served::start();
    served.admit(&["bob"]);
    for version in ["2025-11-25", "2026-07-28"] {
        let mut host = open(&served, |command| {
            command.args(["--agent", "ann"]);
        });
        assert!(host.said.ends_with(" as ann"), "{}", host.said);
        served.run(&["agent", "add", "ann", "--parent", "bob"], "");
        if version == "2025-11-25" {
            host.initialize();
        } else {
            host.is_newer = true;
        }
        let alarm = json!({"to": "bob", "severity": "warning", "reason": "smoke", "context": "⏰🌅|📍🏡"});
        let sent = host.ask("tools/call", &call("escalate", &alarm));
        assert_eq!(sent["structuredContent"]["status"], "accepted", "{sent}");
        assert_eq!(host.end(), 0);
    }
    // The second time it was the same agent, with the same key.
    let kept = served.data().join("mcp");
    let mut names: Vec<_> = std::fs::read_dir(kept).unwrap().map(|file| file.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["ann.pem", "ann.token"]);
}

#[test]
fn a_session_that_is_gone_is_opened_again_unnoticed() {
    let mut served = Served::start();
    let token = served.admit(&["ann"]);
    let mut host = open(&served, |command| {
        command.env("LEGATION_TOKEN", &token);
    });
    host.initialize();
    served.restart();
    let status = host.ask("tools/call", &call("vcp_status", &json!({})));
    assert_eq!(status["structuredContent"]["you"], "agent ann", "{status}");
}

#[test]
fn what_is_watched_is_watched_over_a_restart() {
    let mut served = Served::start();
    let token = served.admit(&["ann"]);
    let bob = served.admit(&["bob"]);
    let mut host = open(&served, |command| {
        command.env("LEGATION_TOKEN", &token);
    });
    host.initialize();
    host.ask("resources/subscribe", &json!({"uri": "legation://inbox/ann"}));
    served.restart();
    // Nobody asks anything: whoever watches is told to look.
    host.hears_of("legation://inbox/ann");
    let message =
        json!({"type": "message", "task_id": "T1", "sender_id": "bob", "recipient_id": "ann", "content": "x"});
    assert_eq!(served.run_as(Some(&bob), &["send", "-"], &message.to_string()).code, 0);
    host.hears_of("legation://inbox/ann");
    // All that find the session gone at once are answered.
    served.restart();
    let all: Vec<_> = (0..8).map(|number| format!("many-{number}")).collect();
    for id in &all {
        host.say(&json!({"jsonrpc": "2.0", "id": id, "method": "ping", "params": {}}));
    }
    assert!(host.answers(&all));
}

#[test]
fn what_keeps_it_from_speaking_is_said_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let ran = |url: &str| {
        let mut command = program(folder.path());
        crate::run(command.arg("mcp").env("LEGATION_URL", url), b"")
    };
    // Nobody listens at a port that was just let go of.
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let nobody = ran(&format!("http://{free}"));
    assert_eq!((nobody.code, nobody.err.lines().count()), (3, 1), "{}", nobody.err);
    assert!(nobody.err.contains("is `legation serve` running?"), "{}", nobody.err);
    assert_eq!(nobody.out, "");
}
