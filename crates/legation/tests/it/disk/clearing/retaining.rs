//! Retention by size: it is there to make room, and does with little.

use super::super::small::Small;
use super::super::{Pair, READER, audit};
use super::{LARGE, Operator, STAYS, leave};
use crate::served::Served;
use serde_json::{Value, json};
use std::fs;
use std::path::Path;

/// Settings that keep a megabyte of what messages say.
fn keep_a_megabyte(folder: &Path) -> String {
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
    let operator = Operator::of(&served, &small.data());
    operator.sees("dropped");
    assert_eq!(operator.get("/v1/messages/2")["gone"]["why"], "body_dropped");
    assert_eq!(pair.send(&served.url, LARGE).expect("it answers").status, 200);
    assert_eq!(served.stop().0, 0);
    let (code, report) = audit(&served, &small.data());
    assert_eq!((code, &report["sound"]), (0, &true.into()), "{report}");
}

/// A record of a few segments, all read; then so much room is left, and retention begins with a new start.
fn pressed(small: &Small, room: u64, folder: &Path) -> Served {
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
    Operator::of(&served, &small.data()).sees("dropped");
}

#[test]
fn retention_without_any_room_is_told_to_people_and_done_once_there_is_some() {
    let (small, folder) = (Small::mount(32), tempfile::tempdir().unwrap());
    let served = pressed(&small, 512 << 10, folder.path());
    let operator = Operator::of(&served, &small.data());
    operator.is_told(STAYS);
    fs::remove_file(small.path.join("ballast")).unwrap();
    operator.sees("dropped");
}
