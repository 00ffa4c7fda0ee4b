//! Erasing: refused where it cannot be recorded, and otherwise done as soon as it can be.

use super::super::small::Small;
use super::super::{Pair, audit, inbox, send};
use super::{LARGE, Operator, STAYS, leave};
use crate::served::Served;
use serde_json::json;
use std::fs;

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
    let operator = Operator::of(&served, &small.data());
    operator.post("/v1/erase", &json!({"positions": [position], "reason": "by mistake", "undelivered": true}));
    operator.is_told(STAYS);
    assert_eq!(operator.get("/v1/erase")["pending"], 1);
    let erased = pair.accepted.remove(0);
    assert_eq!(inbox(&served.url, &pair.reader), pair.accepted, "nobody is shown it meanwhile");
    assert_eq!(send(&served.url, &pair.sender, "MSG-ann-900000", 1 << 10).expect("it answers").status, 200);
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
    let operator = Operator::of(&served, &small.data());
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

#[test]
fn an_erase_waits_for_an_index_that_cannot_be_used_and_people_are_told() {
    let mut served = Served::start();
    let mut pair = Pair::admit(&served);
    let position = pair.send(&served.url, 1 << 10).expect("it answers").body["position"].clone();
    assert_eq!(served.stop().0, 0);
    let index = served.data().join("index");
    fs::remove_dir_all(&index).unwrap();
    fs::write(&index, "in its place").unwrap();
    served.again();
    let data = served.data();
    let operator = Operator::of(&served, &data);
    operator.post("/v1/erase", &json!({"positions": [position], "undelivered": true}));
    operator.is_told(&format!("{STAYS}: the index cannot be asked"));
    assert_eq!(operator.get("/v1/erase")["pending"], 1);
    fs::remove_file(&index).unwrap();
    operator.sees("cleared");
    assert_eq!(operator.get("/v1/erase")["pending"], 0);
}
