//! Erasing and retention where the disk has no room, and then has some.

use super::small::Small;
use super::{Pair, READER, audit};
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
const LARGE: usize = 60 << 10;

/// Sends messages of a size until one is refused for want of room.
fn fill(pair: &mut Pair, served: &Served, bytes: usize) {
    let refused = loop {
        let answer = pair.send(&served.url, bytes).expect("it answers");
        if answer.status != 200 {
            break answer;
        }
        assert!(pair.accepted.len() < 10_000, "the disk never filled");
    };
    assert_eq!((refused.status, &refused.body["error"]), (507, &"storage_full".into()), "{}", refused.body);
}

/// Leaves so many bytes of room, or less where there is less.
fn leave(small: &Small, bytes: u64) {
    let found = rustix::fs::statvfs(&small.path).unwrap();
    let room = found.f_bavail * found.f_frsize;
    fs::write(small.path.join("ballast"), vec![7; usize::try_from(room.saturating_sub(bytes)).unwrap()]).unwrap();
}

/// An erase that finds too little room once so much was sent is told, waits, and is done when there is some.
#[track_caller]
fn check_erase(messages: usize, room: u64) {
    let small = Small::mount(24);
    let mut served = small.serve(&[]);
    let mut pair = Pair::admit(&served);
    let position = pair.send(&served.url, 1 << 10).expect("it answers").body["position"].clone();
    for _ in 0..messages {
        assert_eq!(pair.send(&served.url, LARGE).expect("it answers").status, 200);
    }
    // What was made ahead goes with it, so that the room there is can be told.
    assert_eq!(served.stop().0, 0);
    served.again();
    leave(&small, room);
    let operator = Operator::of(&served, &small);
    operator.post("/v1/erase", &json!({"positions": [position], "reason": "by mistake", "undelivered": true}));
    operator.is_told(STAYS);
    assert_eq!(operator.get("/v1/erase")["pending"], 1);
    let erased = pair.accepted.remove(0);
    assert_eq!(super::inbox(&served.url, &pair.reader), pair.accepted, "nobody is shown it meanwhile");
    assert_eq!(super::send(&served.url, &pair.sender, "MSG-ann-900000", 1 << 10).expect("it answers").status, 200);
    pair.accepted.push("MSG-ann-900000".to_owned());

    fs::remove_file(small.path.join("ballast")).unwrap();
    assert_eq!(operator.sees("cleared")["effect"]["up_to"], messages + 3, "{erased}");
    assert_eq!(operator.get("/v1/erase")["pending"], 0);
    assert_eq!(pair.check(&served), [""; 0]);
    assert_eq!(served.stop().0, 0);
    let (code, report) = audit(&served, &small.data());
    assert_eq!((code, &report["sound"]), (0, &true.into()), "{report}");
}

#[test]
fn an_erase_without_room_is_told_to_people_and_done_once_there_is_some() {
    // None for a new segment; then none for the copy of the old one.
    check_erase(0, 3 << 20);
    check_erase(60, 7 << 20);
}

#[test]
fn an_erase_that_cannot_be_recorded_is_refused_and_can_be_asked_for_again() {
    let small = Small::mount(16);
    let served = small.serve(&[]);
    let mut pair = Pair::admit(&served);
    leave(&small, 1 << 20);
    for bytes in [LARGE, 1] {
        fill(&mut pair, &served, bytes);
    }
    let operator = Operator::of(&served, &small);
    // One message alone would take less than the smallest of those that were refused.
    let doomed: Vec<_> = (2..62).step_by(2).collect();
    let wanted = json!({"positions": doomed, "reason": "by mistake", "undelivered": true}).to_string();
    let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
    let ask = || {
        let request = agent.post(format!("{}/v1/erase", served.url)).content_type("application/json");
        request.header("authorization", &operator.bearer).send(&wanted).unwrap().status().as_u16()
    };
    assert_eq!(ask(), 507);
    assert_eq!(operator.get("/v1/erase")["erased"], 0);
    assert_eq!(pair.check(&served), [""; 0]);
    fs::remove_file(small.path.join("ballast")).unwrap();
    assert_eq!(ask(), 200);
    operator.sees("cleared");
    let (doomed, rest) = pair.accepted.split_at(60);
    pair.accepted = doomed.iter().skip(1).step_by(2).chain(rest).cloned().collect();
    assert_eq!(pair.check(&served), [""; 0]);
}

/// Settings that keep a megabyte of what messages say.
fn keep_a_megabyte(folder: &std::path::Path) -> String {
    let path = folder.join("legation.toml");
    fs::write(&path, "registration = \"open\"\n[retention]\nsize = \"1 MiB\"\n").unwrap();
    path.to_str().unwrap().to_owned()
}

impl Pair {
    /// Takes everything out of the mailbox.
    fn read_all(&self, served: &Served, position: &Value) {
        let request = ureq::post(format!("{}/v1/agents/{READER}/ack", served.url)).content_type("application/json");
        let request = request.header("authorization", format!("Bearer {}", self.reader));
        request.send(json!({"position": position}).to_string()).unwrap();
    }
}

#[test]
fn retention_makes_room_on_a_full_disk_by_itself() {
    let (small, folder) = (Small::mount(27), tempfile::tempdir().unwrap());
    let mut served = small.serve(&["--config", &keep_a_megabyte(folder.path())]);
    let mut pair = Pair::admit(&served);
    let refused = loop {
        let answer = pair.send(&served.url, LARGE).expect("it answers");
        if answer.status != 200 {
            break answer;
        }
        pair.read_all(&served, &answer.body["position"]);
    };
    assert_eq!(refused.status, 507, "{}", refused.body);
    let operator = Operator::of(&served, &small);
    operator.sees("dropped");
    assert_eq!(operator.get("/v1/messages/2")["gone"]["why"], "body_dropped");
    assert_eq!(pair.send(&served.url, LARGE).expect("it answers").status, 200);
    assert_eq!(served.stop().0, 0);
    let (code, report) = audit(&served, &small.data());
    assert_eq!((code, &report["sound"]), (0, &true.into()), "{report}");
}

/// A record of a few segments, all read; then so much room is left, and retention begins with a new start.
fn pressed(small: &Small, room: u64, folder: &std::path::Path) -> Served {
    let mut served = small.serve(&[]);
    let mut pair = Pair::admit(&served);
    for _ in 0..100 {
        let sent = pair.send(&served.url, LARGE).expect("it answers");
        pair.read_all(&served, &sent.body["position"]);
    }
    assert_eq!(served.stop().0, 0);
    leave(small, room);
    small.serve(&["--config", &keep_a_megabyte(folder)])
}

#[test]
fn retention_asks_for_no_more_room_than_what_is_left_of_a_segment_takes() {
    let (small, folder) = (Small::mount(32), tempfile::tempdir().unwrap());
    let served = pressed(&small, 2 << 20, folder.path());
    Operator::of(&served, &small).sees("dropped");
}

#[test]
fn retention_without_any_room_is_told_to_people_and_done_once_there_is_some() {
    let (small, folder) = (Small::mount(32), tempfile::tempdir().unwrap());
    let served = pressed(&small, 512 << 10, folder.path());
    let operator = Operator::of(&served, &small);
    operator.is_told(STAYS);
    fs::remove_file(small.path.join("ballast")).unwrap();
    operator.sees("dropped");
}
