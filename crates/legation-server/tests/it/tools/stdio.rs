//! Tool servers that are processes of ours.

use super::{LATE, Office, TOOLS};
use crate::house::{Answer, path_of};
use legation_out::{ToolServer, Way};
use serde_json::{Value, json};
use std::time::Duration;
use zeroize::Zeroizing;

/// A server in a few lines: it greets, tells its tools, and does what they are called.
const SERVER: &str = r#"
import json, os, sys, time
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
print("starting, and saying so where nobody minds", file=sys.stderr, flush=True)
hung = 0
for line in sys.stdin:
    try: asked = json.loads(line)
    except ValueError: continue
    method, id = asked.get("method"), asked.get("id")
    if method == "initialize":
        say(id=id, result={"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}})
    elif method == "tools/list":
        say(id=id, result={"tools": [{"name": "read_file", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        tool = asked["params"]["name"]
        if tool == "read_file":
            say(id="ours", method="ping")
            say(method="notifications/message", params={})
            say(id=id, result={"content": [{"type": "text", "text": str(os.getpid())}]})
        elif tool == "environment":
            say(id=id, result={"content": [], "names": sorted(os.environ), "hung": hung, "token": os.environ.get("DOCS_TOKEN")})
        elif tool == "fail":
            sys.exit(3)
        elif tool == "steer":
            print("this is no JSON", flush=True)
            say(id=id, result={"content": [], "after": "a stray line"})
        elif tool == "missing":
            say(id=id, result={"content": "x" * (2 << 20)})
        elif tool == "hang":
            hung += 1
        elif tool == "mute":
            time.sleep(600)
        elif tool == "echo":
            say(id=id, result={"content": [], "echo": asked["params"]["arguments"]})
        elif tool == "hidden":
            open(os.environ["DOCS_TRACE"], "a").write("it ran")
            say(id=id, result={"content": [], "hidden": True})
"#;

fn docs(timeout: Duration) -> ToolServer {
    let own = |name: &str, value: String| (name.to_owned(), Zeroizing::new(value));
    let path = std::env::var("PATH").unwrap();
    let environment = vec![own("PATH", path), own("DOCS_TOKEN", "given".to_owned())];
    with(timeout, environment)
}

fn with(timeout: Duration, environment: Vec<(String, Zeroizing<String>)>) -> ToolServer {
    let command = ["python3", "-c", SERVER].map(str::to_owned).into();
    ToolServer { id: "Docs".to_owned(), way: Way::Command { command, environment }, timeout }
}

fn text(office: &Office) -> String {
    office.call("read_file").ok()["result"]["content"][0]["text"].as_str().unwrap().to_owned()
}

#[test]
fn a_program_is_started_when_it_is_used_and_again_when_it_has_died() {
    let office = Office::with(vec![docs(LATE)]);
    let first = text(&office);
    assert_eq!(text(&office), first, "the same process");
    let answer = office.call("read_file").ok();
    assert_eq!(office.shown(&json!([answer["attachment"]]))[0]["code"], "verified");
    office.call("fail").refused(504, "tool_timeout");
    assert_eq!(office.last()["answer"]["outcome"], "broken");
    let second = text(&office);
    assert_ne!(second, first, "another process");
    // What cannot be used is passed over, and fails what it answers.
    assert_eq!(office.call("steer").ok()["result"]["after"], "a stray line");
    office.call("missing").refused(502, "tool_failed");
    assert_eq!(office.last()["answer"]["outcome"], "unusable");
    assert_eq!(text(&office), second, "the same process");
    let listed = office.house.ask("GET", "/v1/tools").by(&office.reader).get().ok();
    assert_eq!(listed["servers"][0]["tools"][6]["name"], "read_file");
    assert_eq!(listed["servers"][0]["tools"][6]["available"], true, "{listed}");
}

#[test]
fn a_program_has_the_environment_it_is_given_and_no_more() {
    let office = Office::with(vec![docs(LATE)]);
    let result = office.call("environment").ok()["result"].clone();
    assert_eq!(result["token"], "given");
    let names: Vec<_> = result["names"].as_array().unwrap().iter().filter_map(|name| name.as_str()).collect();
    // What starts Python may set more; what is set here it does not have.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some() && std::env::var_os("HOME").is_some());
    assert!(names.iter().all(|name| !name.starts_with("CARGO") && *name != "HOME"), "{names:?}");
}

#[test]
fn a_program_that_hangs_or_is_none_is_no_harm() {
    let office = Office::with(vec![docs(Duration::from_secs(8))]);
    office.call("hang").refused(504, "tool_timeout");
    assert_eq!(office.last()["answer"]["outcome"], "silent");
    let way = Way::Command { command: vec!["/nonexistent/program".to_owned()], environment: Vec::new() };
    let office = Office::with(vec![ToolServer { id: "Docs".to_owned(), way, timeout: LATE }]);
    let refused = office.call("read_file").refused(503, "tool_unavailable");
    assert_eq!(refused["retryable"], true);
    assert_eq!(office.last()["answer"]["outcome"], "unreached");
}

#[test]
fn arguments_are_one_line_to_a_program_however_they_are_spelled() {
    let office = Office::with(vec![docs(LATE)]);
    let ask = |body: String| office.house.ask("POST", "/v1/tools/call").by(&office.reader).json(body);
    let arguments = json!({ "path": "a\nb", "lines": ["x\u{2028}y", "\r"], "n": { "m": 1 } });
    let pretty = format!("{arguments:#}").replace('\n', "\r\n");
    assert!(pretty.lines().count() > 5);
    let answer = ask(format!(r#"{{"server_id":"Docs","tool":"echo","arguments":{pretty}}}"#)).ok();
    assert_eq!(answer["result"]["echo"], arguments);
}

#[test]
fn nothing_within_arguments_is_a_request_of_its_own() {
    let kept = tempfile::tempdir().unwrap();
    let trace = kept.path().join("trace");
    let own = |name: &str, value: String| (name.to_owned(), Zeroizing::new(value));
    let path = own("PATH", std::env::var("PATH").unwrap());
    let office = Office::with(vec![with(LATE, vec![path, own("DOCS_TRACE", trace.display().to_string())])]);
    let ask = |arguments: &str| {
        let body = format!(r#"{{"server_id":"Docs","tool":"echo","arguments":{arguments}}}"#);
        office.house.ask("POST", "/v1/tools/call").by(&office.reader).json(body)
    };
    // The braces that close the first line are those that the exchange adds to the last.
    for (line, id) in ["\n", "\r", "\r\n"].into_iter().zip(1..) {
        let call = |id: u64| {
            let params = r#"{"name":"hidden","arguments":{}}"#;
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{params}}}"#)
        };
        let nested: Vec<_> = (id..id + 4).map(call).collect();
        let arguments = format!(r#"{{"a":{line}[{line}{}{line}]{line}}}"#, nested.join(&format!("{line},{line}")));
        let answer = ask(&arguments).ok();
        assert_eq!(answer["result"]["echo"]["a"][0]["method"], "tools/call", "{answer}");
        assert!(answer["result"].get("hidden").is_none());
    }
    assert!(!trace.exists(), "no other tool ran");
}

/// More agents that are bound to the same.
fn colleagues(office: &Office, count: usize) -> Vec<String> {
    let colleague = |number: usize| {
        let id = format!("colleague-{number}");
        let manifest = json!({
            "id": id, "system_prompt": "You read too.", "allowed_agents": [], "delegate_rules": {},
            "mcp_bindings": [{ "server_id": "Docs", "scopes": [], "allowed_tools": TOOLS }],
        });
        let asked = office.house.ask("PUT", path_of(&id)).by(&office.house.operator);
        asked.json(json!({ "manifest": manifest }).to_string()).ok()["token"].as_str().unwrap().to_owned()
    };
    (0..count).map(colleague).collect()
}

fn call_by(office: &Office, token: &str, tool: &str, arguments: &Value) -> Answer {
    let body = json!({ "server_id": "Docs", "tool": tool, "arguments": arguments });
    office.house.ask("POST", "/v1/tools/call").by(token).json(body.to_string())
}

#[test]
fn several_agents_at_one_program_get_their_own_answers_whatever_another_is_answered() {
    let office = Office::with(vec![docs(LATE)]);
    let tokens = colleagues(&office, 4);
    let first = text(&office);
    std::thread::scope(|scope| {
        for (number, token) in tokens.iter().enumerate() {
            let office = &office;
            scope.spawn(move || {
                for round in 0..5 {
                    let arguments = json!({ "own": format!("{number} in {round}") });
                    let told = call_by(office, token, "echo", &arguments).ok();
                    assert_eq!(told["result"]["echo"], arguments);
                }
            });
        }
        for _ in 0..5 {
            office.call("missing").refused(502, "tool_failed");
            office.call("steer").ok();
        }
    });
    assert_eq!(text(&office), first, "one process served them all");
}

#[test]
fn when_a_program_dies_nobody_who_waits_is_told_that_it_answered() {
    let office = Office::with(vec![docs(LATE)]);
    let tokens = colleagues(&office, 3);
    std::thread::scope(|scope| {
        let hangs = |token| call_by(&office, token, "hang", &json!({})).refused(504, "tool_timeout");
        let waiting: Vec<_> = tokens.iter().map(|token| scope.spawn(move || hangs(token))).collect();
        while office.call("environment").ok()["result"]["hung"] != tokens.len() {
            std::thread::yield_now();
        }
        office.call("fail").refused(504, "tool_timeout");
        for one in waiting {
            let told = one.join().unwrap();
            assert_eq!(told["retryable"], false);
            assert!(told["message"].as_str().unwrap().contains("nothing is known"), "{told}");
        }
    });
    text(&office);
}

#[test]
fn a_program_that_reads_no_more_is_ended_and_replaced() {
    let office = Office::with(vec![docs(Duration::from_secs(3))]);
    let tokens = colleagues(&office, 2);
    let first = text(&office);
    let large = json!({ "path": "x".repeat(200 << 10) });
    office.call("mute").refused(504, "tool_timeout");
    // More than the pipe takes: the line is never taken in.
    call_by(&office, &tokens[0], "echo", &large).refused(504, "tool_timeout");
    let mut second = call_by(&office, &tokens[1], "echo", &large);
    while second.status == 503 {
        second = call_by(&office, &tokens[1], "echo", &large);
    }
    assert_eq!(second.ok()["result"]["echo"], large);
    assert_ne!(text(&office), first, "another process");
}
