//! Answers that nobody reads: each principal leaves so many bytes unread and no more.

use crate::house::House;
use std::io::{Read as _, Write as _};

/// Bytes that nobody has read, which `/metrics` tells.
const UNREAD: &str = "legation_answers_unread_bytes";

#[test]
fn forty_unread_mailboxes_hold_no_more_than_a_principal_may_and_others_read_on() {
    let house = House::open();
    let (ann, bob, cleo) = (house.admit("ann"), house.admit("bob"), house.admit("cleo"));
    let large = "x".repeat(200_000);
    let many: String = (0..60).map(|_| ann.cap("bob", &large) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    house.send(&ann, &ann.cap("cleo", "short")).ok();
    let head = format!("Host: localhost\r\nAuthorization: Bearer {}\r\n\r\n", bob.token);
    let asked = format!("GET /v1/agents/bob/inbox?limit=1000 HTTP/1.1\r\n{head}");
    let sockets: Vec<_> = (0..40)
        .map(|_| {
            let mut socket = house.connect();
            // Each asks again and again, and reads nothing.
            socket.write_all(asked.repeat(4).as_bytes()).unwrap();
            assert!(house.metric(UNREAD) < 64 << 20);
            socket
        })
        .collect();
    // What the system takes for them is not ours; the rest waits.
    while house.metric(UNREAD) < 2 << 20 {}
    for _ in 0..20 {
        assert!(house.metric(UNREAD) < 64 << 20);
        assert_eq!(house.inbox(&cleo, "")["messages"].as_array().unwrap().len(), 1);
    }
    // Whoever reads gets all of it, however long it waited.
    let mut text = String::new();
    let mut sockets = sockets.into_iter();
    let first = sockets.next().unwrap();
    drop(sockets);
    first.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    let mut first = std::io::BufReader::new(first);
    while text.matches("\"next\":").count() < 4 {
        let mut piece = vec![0; 1 << 16];
        let read = first.read(&mut piece).unwrap();
        assert_ne!(read, 0, "an answer was broken off");
        text.push_str(&String::from_utf8_lossy(&piece[..read]));
    }
    drop(first);
    while house.metric(UNREAD) > 0 {}
}

/// A long mailbox comes in pieces, and is one answer like any other.
#[test]
fn a_long_mailbox_is_one_answer() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let many: String = (0..200).map(|number| ann.cap("bob", &number.to_string().repeat(2000)) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    let listed = house.inbox(&bob, "?limit=1000");
    let positions: Vec<_> =
        listed["messages"].as_array().unwrap().iter().map(|item| item["position"].as_u64().unwrap()).collect();
    assert_eq!(positions.len(), 200);
    assert!(positions.is_sorted() && listed["next"].as_u64() == positions.last().copied());
    assert_eq!(listed["epoch"], 1);
    let first = house.inbox(&bob, "?limit=150");
    assert_eq!((first["messages"].as_array().unwrap().len(), first["next"].as_u64()), (150, Some(positions[149])));
}
