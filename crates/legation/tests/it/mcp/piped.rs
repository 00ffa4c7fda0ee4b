//! `legation mcp` with a host at its other end, that says what it is told to say.

use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Lines, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

pub(crate) struct Piped {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
    /// What it said of itself first.
    pub(crate) said: String,
    /// Whether each request says all about itself, as those of the newer generation do.
    pub(crate) is_newer: bool,
}

impl Piped {
    pub(crate) fn start(command: &mut Command) -> Piped {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut said = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let (stdin, said) = (child.stdin.take(), said.trim().to_owned());
        Piped { child, stdin, lines, next: 0, said, is_newer: false }
    }

    pub(crate) fn say(&mut self, message: &Value) {
        writeln!(self.stdin.as_mut().unwrap(), "{message}").unwrap();
    }

    pub(crate) fn initialize(&mut self) -> Value {
        let client = json!({"name": "test", "version": "1"});
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client});
        let opened = self.ask("initialize", &params);
        self.say(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        opened
    }

    /// The result of a request, past whatever is told on the way.
    pub(crate) fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let mut params = params.clone();
        if self.is_newer {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {},
            });
        }
        let id = self.next;
        self.say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        loop {
            let line = self.lines.next().expect("an answer").unwrap();
            let heard: Value = serde_json::from_str(&line).unwrap();
            if heard["id"] == id {
                assert!(heard["result"].is_object(), "{heard}");
                return heard["result"].clone();
            }
        }
    }

    /// Waits until it is told that this has changed, past whatever else it is told.
    pub(crate) fn hears_of(&mut self, uri: &str) {
        loop {
            let told: Value = serde_json::from_str(&self.lines.next().expect("a message").unwrap()).unwrap();
            if told["method"] == "notifications/resources/updated" && told["params"]["uri"] == uri {
                return;
            }
        }
    }

    /// Whether these requests all get a result.
    pub(crate) fn answers(&mut self, ids: &[String]) -> bool {
        let mut left: std::collections::BTreeSet<_> = ids.iter().cloned().collect();
        while !left.is_empty() {
            let heard: Value = serde_json::from_str(&self.lines.next().expect("an answer").unwrap()).unwrap();
            if left.remove(heard["id"].as_str().unwrap_or_default()) && heard["result"].is_null() {
                return false;
            }
        }
        true
    }

    /// Has nothing more to say, and waits until the other side has ended.
    pub(crate) fn end(mut self) -> i32 {
        drop(self.stdin.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
