//! Tool servers that are processes of ours.

use super::{LATE, Office};
use legation_out::{ToolServer, Way};
use serde_json::json;
use std::time::Duration;
use zeroize::Zeroizing;

/// A server in a few lines: it greets, tells its tools, and does what they are called.
const SERVER: &str = r#"
import json, os, sys, time
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
print("starting, and saying so where nobody minds", file=sys.stderr, flush=True)
for line in sys.stdin:
    asked = json.loads(line)
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
            say(id=id, result={"content": [], "names": sorted(os.environ), "token": os.environ.get("DOCS_TOKEN")})
        elif tool == "fail":
            sys.exit(3)
        elif tool == "steer":
            print("this is no JSON", flush=True)
        elif tool == "missing":
            print("x" * (2 << 20), flush=True)
"#;

fn docs(timeout: Duration) -> ToolServer {
    let command = ["python3", "-c", SERVER].map(str::to_owned).into();
    let own = |name: &str, value: String| (name.to_owned(), Zeroizing::new(value));
    let path = std::env::var("PATH").unwrap();
    let environment = vec![own("PATH", path), own("DOCS_TOKEN", "given".to_owned())];
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
    for (tool, status, code, outcome) in [
        ("fail", 504, "tool_timeout", "broken"),
        ("steer", 502, "tool_failed", "unusable"),
        ("missing", 502, "tool_failed", "unusable"),
    ] {
        let before = text(&office);
        office.call(tool).refused(status, code);
        assert_eq!(office.last()["answer"]["outcome"], outcome, "{tool}");
        assert_ne!(text(&office), before, "{tool}: another process");
    }
    let listed = office.house.ask("GET", "/v1/tools").by(&office.reader).get().ok();
    assert_eq!(listed["servers"][0]["tools"][4]["name"], "read_file");
    assert_eq!(listed["servers"][0]["tools"][4]["available"], true, "{listed}");
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
