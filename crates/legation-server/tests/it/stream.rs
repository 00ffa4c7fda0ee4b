//! Many messages in one request.

use crate::house::House;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Write as _};

fn verdicts(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_line_has_its_own_verdict_in_order() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let (one, three) = (ann.cap("bob", "one"), ann.vlp("bob"));
    let long = ann.cap("bob", &"x".repeat(300_000));
    let huge = "y".repeat(5_000_000);
    let body = format!("{one}\r\n{{\"a\":1,\"a\":2}}\n\n   \n{long}\n{huge}\n{one}\nnot json\n{three}");
    let answer = house.ask("POST", "/v1/messages").by(&ann.token).lines(body);
    assert_eq!((answer.status, answer.headers["content-type"].to_str().unwrap()), (200, "application/x-ndjson"));
    let told: Vec<_> = verdicts(&answer.text)
        .iter()
        .map(|verdict| {
            let what = verdict["status"].as_str().or(verdict["error"].as_str()).unwrap().to_owned();
            (verdict["line"].as_u64().unwrap(), what)
        })
        .collect();
    let told: Vec<_> = told.iter().map(|(line, what)| (*line, what.as_str())).collect();
    assert_eq!(
        told,
        [
            (1, "accepted"),
            (2, "duplicate_key"),
            (5, "too_large"),
            (6, "too_large"),
            (7, "duplicate"),
            (8, "bad_json"),
            (9, "accepted")
        ]
    );
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn lines_are_decided_in_the_order_they_stand_in() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    // Signed and plain lines take different times to check.
    let sent: Vec<_> = (0..1000)
        .map(|n| if n % 3 == 0 { ann.vcp("bob", &n.to_string()) } else { ann.cap("bob", &n.to_string()) })
        .collect();
    let answer = house.ask("POST", "/v1/messages").by(&ann.token).lines(sent.join("\n"));
    let positions: Vec<_> = verdicts(&answer.text).iter().map(|v| v["position"].as_u64().unwrap()).collect();
    assert_eq!(positions.len(), 1000);
    assert!(positions.is_sorted());
    let listed = house.inbox(&bob, "?limit=1000");
    for (item, sent) in listed["messages"].as_array().unwrap().iter().zip(&sent) {
        assert_eq!(item["message"], serde_json::from_str::<Value>(sent).unwrap());
    }
}

#[test]
fn verdicts_come_back_while_lines_still_go_out() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut socket = house.connect();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\
         Content-Type: application/jsonl\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n",
        ann.token
    );
    socket.write_all(head.as_bytes()).unwrap();
    let mut answer = BufReader::new(socket.try_clone().unwrap());
    for _ in 0..3 {
        let line = ann.cap("bob", "go on") + "\n";
        socket.write_all(format!("{:x}\r\n{line}\r\n", line.len()).as_bytes()).unwrap();
        let mut told = String::new();
        while !told.contains("\"status\":\"accepted\"") {
            told.clear();
            assert!(answer.read_line(&mut told).unwrap() > 0);
        }
    }
    // A line that breaks off is no line, even if what came of it would do.
    let rest = ann.cap("bob", "never sent");
    socket.write_all(format!("{:x}\r\n{rest}\r\n", rest.len() + 1).as_bytes()).unwrap();
    drop((socket, answer));
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn a_client_may_write_all_its_lines_before_it_reads() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let answer = house.ask("POST", "/v1/messages").by(&ann.token).lines("{}\n".repeat(50_000));
    let told = verdicts(&answer.text);
    assert_eq!(told.len(), 50_000);
    assert!(
        told.iter()
            .zip(1_u64..)
            .all(|(verdict, line)| verdict["line"] == line && verdict["error"] == "unknown_dialect")
    );
}

#[test]
fn an_empty_stream_has_no_verdicts() {
    let house = House::open();
    let ann = house.admit("ann");
    for body in ["", "\n", "\r\n  \n\t\n"] {
        let answer = house.ask("POST", "/v1/messages").by(&ann.token).lines(body);
        assert_eq!((answer.status, answer.text.as_str()), (200, ""));
    }
}
