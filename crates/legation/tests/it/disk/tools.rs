//! A disk that is full when a tool answers.

use super::small::Small;
use crate::served::Served;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

/// A server whose tool fills the disk, if it is told to, and answers with much.
const SERVER: &str = r#"
import json, sys
def fill(path):
    with open(path, "ab", buffering=0) as ballast:
        size = 1 << 20
        while size:
            try: ballast.write(b"." * size)
            except OSError: size //= 2
for line in sys.stdin:
    asked = json.loads(line)
    method, id = asked.get("method"), asked.get("id")
    if id is None: continue
    result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "s", "version": "1"}}
    if method == "tools/call":
        if asked["params"]["arguments"].get("fill"): fill(sys.argv[1])
        result = {"content": [{"type": "text", "text": "rows " * (20 << 10)}]}
    print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
"#;

struct Desk<'s> {
    served: &'s Served,
    token: &'s str,
}

impl Desk<'_> {
    fn ask(&self, path: &str, body: Option<&Value>) -> (u16, Value) {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let (url, bearer) = (format!("{}{path}", self.served.url), format!("Bearer {}", self.token));
        let mut answer = match body {
            Some(body) => {
                let request = agent.post(url).content_type("application/json").header("authorization", bearer);
                request.send(body.to_string()).unwrap()
            }
            None => agent.get(url).header("authorization", bearer).call().unwrap(),
        };
        let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        (answer.status().as_u16(), serde_json::from_str(&text).unwrap())
    }

    fn call(&self, fill: bool) -> (u16, Value) {
        let call = json!({ "server_id": "Data", "tool": "query", "arguments": { "fill": fill } });
        self.ask("/v1/tools/call", Some(&call))
    }

    /// Calls until the record has no room for an answer, and gives back what is said then.
    fn until_full(&self) -> Value {
        for _ in 0..500 {
            match self.call(true) {
                (200, _) => {}
                (504, told) => return told,
                other => panic!("{other:?}"),
            }
        }
        panic!("the disk never filled");
    }

    /// The newest call, once something has come of it.
    fn ended(&self) -> Value {
        for _ in 0..1200 {
            let (status, told) = self.ask("/v1/tools/calls?limit=1", None);
            if status == 200 && !told["calls"][0]["answer"].is_null() {
                return told["calls"][0].clone();
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        panic!("nothing came of it");
    }
}

fn configured(folder: &Path, ballast: &Path) -> (String, String) {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let server = write("server.py", SERVER);
    let config = format!("[[tools]]\nid = \"Data\"\ncommand = [\"python3\", {server:?}, \"{}\"]\n", ballast.display());
    let manifest = json!({
        "id": "reader", "system_prompt": "You read.", "allowed_agents": [], "delegate_rules": {},
        "mcp_bindings": [{ "server_id": "Data", "scopes": [], "allowed_tools": ["query"] }],
    });
    (write("legation.toml", &config), write("reader.json", &manifest.to_string()))
}

#[test]
fn what_came_of_a_call_is_on_the_record_once_there_is_room_and_nobody_is_told_to_call_again() {
    let (small, folder) = (Small::mount(16), tempfile::tempdir().unwrap());
    let (config, manifest) = configured(folder.path(), &small.inside().join("ballast"));
    let mut served = small.serve(&["--config", &config]);
    let operator = fs::read_to_string(small.data().join("operator.token")).unwrap();
    let made = served.run_as(Some(operator.trim()), &["agent", "add", "reader", "--manifest", &manifest], "");
    assert_eq!(made.code, 0, "{}", made.err);
    let token = made.out.trim().to_owned();
    let desk = Desk { served: &served, token: &token };
    let told = desk.until_full();
    assert_eq!((&told["error"], &told["retryable"]), (&json!("tool_timeout"), &json!(false)), "{told}");
    assert!(told["message"].as_str().unwrap().contains("nothing can be told of what the tool did"), "{told}");
    fs::remove_file(small.path.join("ballast")).unwrap();
    let call = desk.ended();
    assert_eq!(call["answer"]["outcome"], "result", "{call}");
    let (_, whole) = desk.ask(&format!("/v1/tools/calls/{}", call["call"]), None);
    assert!(whole["answer"]["said"]["result"]["content"][0]["text"].as_str().unwrap().starts_with("rows rows "));
    assert_eq!(desk.call(false).0, 200);

    // What finds no room until the end is closed as not known.
    desk.until_full();
    served.stop();
    fs::remove_file(small.path.join("ballast")).unwrap();
    served.again();
    let desk = Desk { served: &served, token: &token };
    assert_eq!(desk.ended()["answer"]["outcome"], "interrupted");
    assert_eq!(served.stop().0, 0);
}
