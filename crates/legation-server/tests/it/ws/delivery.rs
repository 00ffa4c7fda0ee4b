//! Delivery on sockets: going on where one was, who has to give way, the pong rule, and who reads slowly.

use super::{CLOSE, PING, PONG, Socket, TEXT, ack};
use crate::house::{House, path_of};
use crate::streams::Reading;
use crate::words::Party;
use legation_server::Limits;
use serde_json::{Value, json};
use std::time::Duration;

fn say(house: &House, from: &Party, to: &str, says: &str) -> u64 {
    house.send(from, &from.vcp(to, says)).ok()["position"].as_u64().unwrap()
}

#[test]
fn an_item_is_as_the_inbox_lists_it() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    say(&house, &ann, "bob", "one");
    let mut socket = Socket::framed(&house, &bob.token, "");
    let mut item = socket.json();
    assert_eq!(item.as_object_mut().unwrap().remove("type"), Some("item".into()));
    assert_eq!(item, house.inbox(&bob, "")["messages"][0]);
}

#[test]
fn nothing_is_lost_or_doubled_when_sockets_break() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let many: String = (0..200).map(|n| ann.cap("bob", &format!("number {n}")) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    let (mut seen, mut after) = (Vec::new(), None);
    while seen.len() < 200 {
        let query = after.map_or(String::new(), |after| format!("?after={after}"));
        let mut socket = Socket::framed(&house, &bob.token, &query);
        for _ in 0..7.min(200 - seen.len()) {
            let item = socket.json();
            after = item["position"].as_u64();
            seen.push(item["message"]["content"].as_str().unwrap().to_owned());
        }
        // Every other time it acknowledges, and goes on from what is left.
        if seen.len() % 2 == 0 {
            socket.say(ack(after.unwrap()));
            while socket.json()["type"] != "acked" {}
            after = None;
        }
        socket.stream.shutdown(std::net::Shutdown::Both).unwrap();
    }
    let want: Vec<_> = (0..200).map(|n| format!("number {n}")).collect();
    assert_eq!(seen, want);
}

#[test]
fn acknowledging_and_going_back_on_the_socket() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent: Vec<_> = (0..4).map(|n| say(&house, &ann, "bob", &n.to_string())).collect();
    let mut socket = Socket::framed(&house, &bob.token, "?deliver=off");
    socket.say(json!({"type": "resume", "after": sent[2]}).to_string());
    assert_eq!(socket.json()["position"], sent[3]);
    socket.say(json!({"type": "ack", "positions": [sent[1], sent[3]]}).to_string());
    let acked = socket.json();
    assert_eq!((&acked["type"], &acked["positions"]), (&"acked".into(), &json!([sent[1], sent[3]])));
    assert!(acked["entry"].as_u64().unwrap() > sent[3]);
    socket.say(r#"{"type":"resume"}"#);
    assert_eq!(
        (socket.json()["position"].as_u64(), socket.json()["position"].as_u64()),
        (Some(sent[0]), Some(sent[2]))
    );
    socket.say(ack(sent[2]));
    assert_eq!(socket.json()["position"], sent[2]);
    assert_eq!(house.inbox(&bob, "")["messages"], json!([]));
}

/// The ways to take from a mailbox.
#[derive(Clone, Copy, Debug)]
enum Way {
    Framed,
    Plain,
    Stream,
    Poll,
}

#[test]
fn whoever_comes_last_has_the_mailbox_whichever_way() {
    let ways = [Way::Framed, Way::Plain, Way::Stream, Way::Poll];
    for (first, second) in ways.into_iter().flat_map(|first| ways.map(|second| (first, second))) {
        let house = House::open();
        let bob = house.admit("bob");
        std::thread::scope(|scope| {
            let poll = || house.ask("GET", "/v1/agents/bob/inbox?wait=60").by(&bob.token).get();
            // A taker whose end shows that the next one has come.
            let mut before = Socket::framed(&house, &bob.token, "");
            let mut fenced: Box<dyn FnMut()> = match first {
                Way::Framed => {
                    let mut socket = Socket::framed(&house, &bob.token, "");
                    Box::new(move || socket.closes(1008, "fenced"))
                }
                Way::Plain => {
                    let mut socket = Socket::plain(&house, &bob.token, "");
                    Box::new(move || socket.closes(1008, "fenced"))
                }
                Way::Stream => {
                    let mut stream = Reading::open(&house, &bob.token, "bob/stream", "");
                    Box::new(move || assert_eq!(stream.event().1, "fenced"))
                }
                Way::Poll => {
                    let mut polling = Some(scope.spawn(poll));
                    Box::new(move || drop(polling.take().unwrap().join().unwrap().refused(409, "fenced")))
                }
            };
            before.closes(1008, "fenced");
            match second {
                Way::Framed => drop(Socket::framed(&house, &bob.token, "")),
                Way::Plain => drop(Socket::plain(&house, &bob.token, "")),
                Way::Stream => drop(Reading::open(&house, &bob.token, "bob/stream", "")),
                Way::Poll => drop(scope.spawn(|| {
                    house.ask("GET", "/v1/agents/bob/inbox?wait=1").by(&bob.token).get().ok();
                })),
            }
            fenced();
        });
    }
}

#[test]
fn a_socket_that_only_sends_takes_nobodys_place() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut taker = Socket::framed(&house, &bob.token, "");
    let mut sender = Socket::framed(&house, &bob.token, "?deliver=off");
    sender.say(bob.cap("ann", "beside it"));
    assert_eq!(sender.json()["status"], "accepted");
    let sent = say(&house, &ann, "bob", "for the one who takes");
    assert_eq!(taker.json()["position"], sent);
    // And both send.
    taker.say(bob.cap("ann", "here too"));
    assert_eq!(taker.json()["status"], "accepted");
}

#[test]
fn what_was_asked_before_being_fenced_is_answered() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let mut first = Socket::framed(&house, &ann.token, "");
    for _ in 0..200 {
        first.say(ann.cap("bob", "on its way"));
    }
    first.send(PING, b"all of it");
    let (mut answered, mut second) = (0, None);
    loop {
        let frame = first.next().expect("a goodbye comes first");
        match frame.opcode {
            TEXT => {
                answered += usize::from(String::from_utf8(frame.payload).unwrap().contains(r#""status":"accepted""#));
            }
            // The pong shows that all before the ping was asked.
            PONG => second = Some(Socket::framed(&house, &ann.token, "")),
            CLOSE => break,
            _ => panic!("{frame:?}"),
        }
    }
    assert_eq!((answered, second.is_some()), (200, true));
}

#[test]
fn whoever_is_given_much_is_heard_meanwhile() {
    const WAITING: usize = 2000;
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    // Far more than the buffers in between hold, so that all of it cannot be given before some is read.
    let large = "x".repeat(10_000);
    for _ in 0..10 {
        let many: String = (0..WAITING / 10).map(|_| ann.cap("bob", &large) + "\n").collect();
        house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    }
    let mut socket = Socket::framed(&house, &bob.token, "");
    socket.say(bob.cap("ann", "in the middle of it"));
    while house.inbox(&ann, "")["messages"] == json!([]) {}
    let mut before = 0;
    while socket.json()["status"] != "accepted" {
        before += 1;
    }
    assert!(before < WAITING, "it was answered when all was given");
}

#[test]
fn a_client_that_answers_only_the_last_ping_takes_what_it_was_given() {
    let limits = Limits { socket_ping: Duration::from_millis(200), ..Limits::default() };
    let house = House::limited(limits);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut socket = Socket::plain(&house, &bob.token, "");
    say(&house, &ann, "bob", "taken late");
    while socket.next().unwrap().opcode != TEXT {}
    let asked = socket.next().unwrap();
    assert_eq!((asked.opcode, asked.payload.is_empty()), (PING, false));
    // It is busy until it is asked whether it is there, and answers that.
    let newest = socket.next().unwrap();
    assert_eq!(newest, asked, "a pong to another takes nothing");
    socket.send(PONG, &newest.payload);
    while house.inbox(&bob, "")["messages"] != json!([]) {}
}

#[test]
fn what_was_sent_to_very_many_is_delivered() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    for n in 0..150 {
        let path = path_of(&format!("{}-{n:03}", "x".repeat(250)));
        assert_eq!(house.ask("PUT", path).by(&house.operator).json("{}").status, 201);
    }
    // Messages as large as they may be, so that few of them are much.
    let large = "x".repeat(250 << 10);
    let sent: Vec<_> = (0..64).map(|_| say(&house, &ann, "broadcast", &large)).collect();
    let mut socket = Socket::framed(&house, &bob.token, "");
    // Nothing is read before nothing more is written.
    let (mut written, mut looks) = (0, 0);
    while looks < 50 {
        let now = house.metric("legation_websocket_frames_written_total");
        looks = if now == written && now > 0 { looks + 1 } else { 0 };
        written = now;
    }
    assert!(written < sent.len() as u64, "{written} frames wait for somebody who reads nothing");
    let (mut seen, mut bytes) = (Vec::new(), 0);
    while seen.len() < sent.len() {
        let text = socket.text();
        bytes += text.len();
        let item: Value = serde_json::from_str(&text).unwrap();
        assert!(item["receipt_at"].is_string() && item["message"]["payload"]["scope"]["purposes"][0] == large.as_str());
        seen.push(item["position"].as_u64().unwrap());
    }
    assert!(seen == sent && bytes > 11 << 20, "{bytes} bytes: {seen:?}");
}

#[test]
fn a_plain_client_takes_by_its_pongs() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let message = ann.vcp("bob", "as it was sent").replace("\":", "\": ");
    let sent = house.send(&ann, &message).ok()["position"].as_u64().unwrap();
    let mut socket = Socket::plain(&house, &bob.token, "");
    let frame = socket.next().unwrap();
    assert_eq!((frame.opcode, String::from_utf8(frame.payload).unwrap()), (TEXT, message));
    let ping = socket.next().unwrap();
    assert_eq!(ping.opcode, PING);
    // Neither any pong nor a later message takes it.
    socket.send(PONG, b"");
    socket.send(PONG, b"99");
    let next = say(&house, &ann, "bob", "next");
    assert_eq!(socket.next().unwrap().opcode, TEXT);
    let waiting = || {
        let listed = house.inbox(&bob, "");
        let items = listed["messages"].as_array().unwrap();
        items.iter().map(|item| item["position"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(waiting(), [sent, next]);
    socket.send(PONG, &ping.payload);
    // The pong brings the next ping, and its pong is for what came in between.
    let second = socket.next().unwrap();
    assert_eq!((second.opcode, second.payload != ping.payload), (PING, true));
    while waiting() != [next] {}
    drop(socket);
    // What was not taken comes again.
    let mut again = Socket::plain(&house, &bob.token, "");
    assert!(String::from_utf8(again.next().unwrap().payload).unwrap().contains("next"));
    let ping = again.next().unwrap();
    again.send(PONG, &ping.payload);
    while !waiting().is_empty() {}
}

#[test]
fn who_reads_slowly_holds_up_nobody() {
    let house = House::open();
    let (ann, bob, carl) = (house.admit("ann"), house.admit("bob"), house.admit("carl"));
    let _slow = Socket::framed(&house, &bob.token, "");
    let mut fast = Socket::framed(&house, &carl.token, "");
    let large = "x".repeat(100_000);
    for n in 0..150 {
        house.send(&ann, &ann.cap("bob", &large)).ok();
        let sent = house.send(&ann, &ann.cap("carl", &n.to_string())).ok();
        assert_eq!(fast.json()["position"], sent["position"]);
    }
}

#[test]
fn a_socket_ends_with_what_it_rests_on() {
    let house = House::open();
    let (ann, bob, carl) = (house.admit("ann"), house.admit("bob"), house.admit("carl"));
    let mut socket = Socket::framed(&house, &bob.token, "");
    let fresh = house.ask("PUT", "/v1/agents/bob").by(&bob.token).json(r#"{"rotate_token":true}"#).ok();
    house.ask("GET", "/v1/agents/bob").by(fresh["token"].as_str().unwrap()).get().ok();
    socket.closes(1008, "unauthenticated");
    let mut socket = Socket::plain(&house, &carl.token, "");
    house.ask("DELETE", "/v1/agents/carl").by(&house.operator).get().ok();
    socket.closes(1008, "unknown_agent");
    let rita = house.grant("rita", "reviewer");
    let mut socket = Socket::framed(&house, &rita, "?agent=user");
    house.ask("DELETE", "/v1/tokens/rita").by(&house.operator).get().ok();
    socket.closes(1008, "unauthenticated");
    // One that only sends learns it with the next thing it says.
    let mut sender = Socket::framed(&house, &ann.token, "?deliver=off");
    house.ask("DELETE", "/v1/agents/ann").by(&house.operator).get().ok();
    sender.say(ann.cap("bob", "too late"));
    sender.closes(1008, "unauthenticated");
    let listed = house.ask("GET", "/v1/agents/bob/inbox").by(&house.operator).get().ok();
    assert_eq!(listed["messages"], Value::Array(Vec::new()));
}

/// Puts another token in the place of an agent's, and uses it until the old one has ended.
fn replace_token(house: &House, party: &Party) -> String {
    let fresh = house.ask("PUT", path_of(&party.id)).by(&party.token).json(r#"{"rotate_token":true}"#).ok();
    let fresh = fresh["token"].as_str().unwrap().to_owned();
    house.ask("GET", path_of(&party.id)).by(&fresh).get().ok();
    while house.ask("GET", path_of(&party.id)).by(&party.token).get().status != 401 {}
    fresh
}

#[test]
fn with_a_token_that_has_ended_nothing_is_taken_and_nobody_fenced() {
    let house = House::open();
    let (ann, mut bob) = (house.admit("ann"), house.admit("bob"));
    let sent = say(&house, &ann, "bob", "for the one who is bob");
    for asked in [ack(sent), json!({"type": "ack", "positions": [sent]}).to_string(), r#"{"type":"resume"}"#.to_owned()]
    {
        let mut stolen = Socket::framed(&house, &bob.token, "?deliver=off");
        bob.token = replace_token(&house, &bob);
        let mut taker = Socket::framed(&house, &bob.token, "");
        assert_eq!(taker.json()["position"], sent);
        stolen.say(asked);
        stolen.closes(1008, "unauthenticated");
        let next = say(&house, &bob, "ann", "not fenced");
        assert!(next > sent);
        taker.say(bob.cap("ann", "still the one who takes"));
        assert_eq!(taker.json()["status"], "accepted");
    }
    assert_eq!(house.inbox(&bob, "")["messages"][0]["position"], sent);
}

#[test]
fn with_a_token_that_has_ended_a_pong_takes_nothing() {
    let house = House::open();
    let (ann, mut bob) = (house.admit("ann"), house.admit("bob"));
    // So many that no more are given before the pong, and nobody looks whether they may be.
    let many: String = (0..300).map(|n| ann.vcp("bob", &n.to_string()) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    let mut stolen = Socket::plain(&house, &bob.token, "");
    let (mut given, mut ping) = (0, None);
    while given < 256 {
        let frame = stolen.next().unwrap();
        given += usize::from(frame.opcode == TEXT);
        ping = ping.or(Some(frame).filter(|frame| frame.opcode == PING));
    }
    bob.token = replace_token(&house, &bob);
    stolen.send(PONG, &ping.unwrap().payload);
    stolen.closes(1008, "unauthenticated");
    assert_eq!(house.inbox(&bob, "?limit=1000")["messages"].as_array().unwrap().len(), 300);
}

#[test]
fn a_socket_ends_with_the_exchange() {
    let mut house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut sockets = [Socket::framed(&house, &ann.token, ""), Socket::plain(&house, &bob.token, "")];
    house.stop();
    for socket in &mut sockets {
        socket.closes(1001, "stopping");
    }
}

#[test]
fn a_plain_client_is_given_no_other_dialect() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let other = house.send(&ann, &ann.cap("bob", "not an envelope")).ok()["position"].clone();
    say(&house, &ann, "bob", "an envelope");
    let mut socket = Socket::plain(&house, &bob.token, "");
    assert!(String::from_utf8(socket.next().unwrap().payload).unwrap().contains("an envelope"));
    let ping = socket.next().unwrap();
    socket.send(PONG, &ping.payload);
    let waiting = || house.inbox(&bob, "")["messages"].as_array().unwrap().clone();
    while waiting().len() != 1 {}
    assert_eq!(waiting()[0]["position"], other);
}

#[test]
fn what_does_not_become_a_socket_fences_nobody() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut taker = Socket::framed(&house, &bob.token, "");
    house.ask("GET", "/vcp/ws").by(&bob.token).get().refused(426, "schema_invalid");
    let sent = house.send(&ann, &ann.cap("bob", "still here")).ok();
    assert_eq!(taker.json()["position"], sent["position"]);
}

#[test]
fn nobody_goes_on_behind_a_position_that_the_record_has_not_come_to() {
    let house = House::open();
    let bob = house.admit("bob");
    let bearer = format!("Bearer {}", bob.token);
    let (head, _) = Socket::ask(&house, "?after=999999", &[("Authorization", &bearer)]);
    assert!(head.starts_with("HTTP/1.1 409 "), "{head}");
    let mut socket = Socket::framed(&house, &bob.token, "");
    socket.say(r#"{"type":"resume","after":999999}"#);
    assert_eq!(socket.json()["error"], "ahead_of_record");
    socket.say(ack(999_999));
    assert_eq!(socket.json()["error"], "ahead_of_record");
}
