//! Erasing and retention where the disk has no room, and then has some.

mod erasing;
mod retaining;

use super::small::Small;
use crate::served::Served;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// An operator of an exchange.
struct Operator<'a> {
    served: &'a Served,
    bearer: String,
}

impl Operator<'_> {
    fn of<'a>(served: &'a Served, data: &Path) -> Operator<'a> {
        let token = fs::read_to_string(data.join("operator.token")).unwrap();
        Operator { served, bearer: format!("Bearer {}", token.trim()) }
    }

    fn get(&self, path: &str) -> Value {
        let request = ureq::get(format!("{}{path}", self.served.url)).header("authorization", &self.bearer);
        serde_json::from_str(&request.call().unwrap().body_mut().read_to_string().unwrap()).unwrap()
    }

    fn post(&self, path: &str, body: &Value) -> Value {
        let request = ureq::post(format!("{}{path}", self.served.url)).content_type("application/json");
        let mut answer = request.header("authorization", &self.bearer).send(body.to_string()).unwrap();
        serde_json::from_str(&answer.body_mut().read_to_string().unwrap()).unwrap()
    }

    /// Reads alerts until one has this text.
    fn is_told(&self, text: &str) {
        let mut after = 0;
        loop {
            let told = self.get(&format!("/v1/alerts?wait=60&after={after}"));
            let alerts = told["alerts"].as_array().unwrap();
            assert!(!alerts.is_empty(), "nobody is told: {text}");
            if alerts.iter().any(|alert| alert["kind"] == "storage" && alert["text"].as_str().unwrap().contains(text)) {
                return;
            }
            after = told["next"].as_u64().unwrap();
        }
    }

    /// Reads the record until it has an entry of this kind.
    fn sees(&self, kind: &str) -> Value {
        let mut after = 0;
        loop {
            let page = self.get(&format!("/v1/audit/entries?wait=60&after={after}"));
            let entries = page["entries"].as_array().unwrap();
            assert!(!entries.is_empty(), "there is no entry {kind}");
            if let Some(found) = entries.iter().find(|entry| entry["effect"]["entry"] == kind) {
                return found.clone();
            }
            after = page["next"].as_u64().unwrap();
        }
    }
}

const STAYS: &str = "what is to go stays on disk for now";
const LARGE: usize = 60 << 10;

/// Leaves so many bytes of room, or less where there is less.
fn leave(small: &Small, bytes: u64) {
    let found = rustix::fs::statvfs(&small.path).unwrap();
    let room = found.f_bavail * found.f_frsize;
    fs::write(small.path.join("ballast"), vec![7; usize::try_from(room.saturating_sub(bytes)).unwrap()]).unwrap();
}
