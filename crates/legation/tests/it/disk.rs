//! Bad disks under the real program: full, failing, and with other bytes than were written.

mod clearing;
mod damaged;
mod failing;
mod full;
mod small;
mod tools;

use crate::served::Served;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const SENDER: &str = "ann";
const READER: &str = "zoe";

/// An answer to a message.
struct Answer {
    status: u16,
    retry_after: Option<String>,
    body: Value,
}

/// A sender and a reader, and what the exchange told them.
struct Pair {
    sender: String,
    reader: String,
    /// Ids of messages that were accepted, in order.
    accepted: Vec<String>,
}

impl Pair {
    fn admit(served: &Served) -> Pair {
        Pair { sender: served.admit(&[SENDER]), reader: served.admit(&[READER]), accepted: Vec::new() }
    }

    /// Sends the next message, with so many bytes of text; nothing if nobody answers.
    fn send(&mut self, url: &str, bytes: usize) -> Option<Answer> {
        let id = format!("MSG-ann-{:06}", self.accepted.len());
        let answer = send(url, &self.sender, &id, bytes)?;
        if answer.status == 200 {
            assert_eq!(answer.body["status"], "accepted", "{}", answer.body);
            self.accepted.push(id);
        }
        Some(answer)
    }

    /// Everything accepted is there, once, in order; and then what may be there as well.
    fn check(&self, served: &Served) -> Vec<String> {
        let mut found = inbox(&served.url, &self.reader);
        let more = found.split_off(self.accepted.len().min(found.len()));
        assert_eq!(found, self.accepted);
        more
    }
}

fn send(url: &str, token: &str, id: &str, bytes: usize) -> Option<Answer> {
    let text = ".".repeat(bytes);
    let message = format!(
        r#"{{"id":"{id}","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"{SENDER}","receiver":"{READER}","content":"{text}","confidence":0.5}}"#
    );
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let request = agent.post(format!("{url}/v1/messages")).content_type("application/json");
    let mut answer = request.header("authorization", format!("Bearer {token}")).send(message).ok()?;
    let retry_after = answer.headers().get("retry-after").map(|value| value.to_str().unwrap().to_owned());
    let body = serde_json::from_str(&answer.body_mut().read_to_string().ok()?).unwrap();
    Some(Answer { status: answer.status().as_u16(), retry_after, body })
}

/// The ids of all messages in the reader's inbox.
fn inbox(url: &str, token: &str) -> Vec<String> {
    let agent = ureq::Agent::new_with_defaults();
    let (mut found, mut after) = (Vec::new(), String::new());
    loop {
        let url = format!("{url}/v1/agents/{READER}/inbox?limit=50{after}");
        let mut answer = agent.get(url).header("authorization", format!("Bearer {token}")).call().unwrap();
        let text = answer.body_mut().with_config().limit(64 << 20).read_to_string().unwrap();
        let page: Value = serde_json::from_str(&text).unwrap();
        let messages = page["messages"].as_array().unwrap();
        found.extend(messages.iter().map(|item| item["message"]["id"].as_str().unwrap().to_owned()));
        if messages.is_empty() {
            return found;
        }
        after = format!("&after={}", page["next"]);
    }
}

/// What `audit verify` says of a data directory.
fn audit(served: &Served, data: &Path) -> (i32, Value) {
    let ran = served.run(&["audit", "verify", "--data", data.to_str().unwrap(), "--json"], "");
    (ran.code, serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err)))
}

/// The files of the log, in order.
fn segments(data: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(data.join("record/log")).unwrap().map(|file| file.unwrap().path());
    let mut files: Vec<_> = files.filter(|path| path.extension().is_some_and(|end| end == "seg")).collect();
    files.sort();
    files
}
