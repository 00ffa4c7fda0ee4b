//! Erasing and retention where the disk has no room, and then has some.

use super::Pair;
use super::small::Small;
use crate::served::Served;
use serde_json::{Value, json};
use std::fs;

/// An operator of an exchange on a small disk.
struct Operator<'a> {
    served: &'a Served,
    bearer: String,
}

impl Operator<'_> {
    fn of<'a>(served: &'a Served, small: &Small) -> Operator<'a> {
        let token = fs::read_to_string(small.data().join("operator.token")).unwrap();
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

#[test]
fn an_erase_without_room_is_told_to_people_and_done_once_there_is_some() {
    let small = Small::mount(16);
    let ballast = small.path.join("ballast");
    let mut served = small.serve(&[]);
    let mut pair = Pair::admit(&served);
    let sent = pair.send(&served.url, 1 << 10).expect("it answers");
    fs::write(&ballast, vec![7; 9 << 20]).unwrap();
    let operator = Operator::of(&served, &small);
    let wanted = json!({"positions": [sent.body["position"]], "reason": "by mistake", "undelivered": true});
    operator.post("/v1/erase", &wanted);
    operator.is_told(STAYS);
    assert_eq!(operator.get("/v1/erase")["pending"], 1);
    assert_eq!(pair.send(&served.url, 1 << 10).expect("it answers").status, 200);
    fs::remove_file(&ballast).unwrap();
    operator.sees("cleared");
    assert_eq!(operator.get("/v1/erase")["pending"], 0);
    served.stop();
}
