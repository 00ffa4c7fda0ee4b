//! Whose a socket is, and who is let in at all.

use super::{Socket, TEXT};
use crate::house::House;
use crate::words::Party;
use legation_protocol::json::{Doc, canonical};
use legation_server::Limits;
use serde_json::{Value, json};
use std::time::Duration;

const FRAMED: [(&str, &str); 1] = [("Sec-WebSocket-Protocol", "legation.v1")];

/// The answer to a challenge, signed by `by`.
pub(crate) fn signed(challenge: &Value, agent: &str, by: &Party) -> Value {
    let statement = json!({"realm": challenge["realm"], "nonce": challenge["nonce"], "agent": agent,
        "kind": "legation-bind-1"});
    let statement = statement.to_string();
    let statement = canonical(Doc::parse(statement.as_bytes()).unwrap().root());
    json!({"type": "bind", "agent": agent, "signature": by.key.sign_bytes(&statement).to_string()})
}

pub(crate) fn challenged(house: &House) -> (Socket, Value) {
    let mut socket = Socket::open(house, "", &FRAMED);
    let challenge = socket.json();
    assert_eq!(challenge["type"], "challenge");
    assert_eq!(challenge["nonce"].as_str().unwrap().len(), 43);
    assert!(challenge["at"].as_str().unwrap().ends_with('Z'));
    (socket, challenge)
}

#[test]
fn a_signed_challenge_binds_a_socket() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent = house.send(&bob, &bob.cap("ann", "hello")).ok();
    let (mut socket, challenge) = challenged(&house);
    assert_eq!(house.metric("legation_connections_unproven"), 1);
    let mut answer = signed(&challenge, "ann", &ann);
    answer["key"] = ann.key.public().to_string().into();
    socket.say(answer.to_string());
    assert_eq!(socket.json(), json!({"type": "bound", "agent": "ann", "cursor": 0}));
    assert_eq!(house.metric("legation_connections_unproven"), 0);
    assert_eq!(socket.json()["position"], sent["position"]);
    socket.say(ann.cap("bob", "by my key"));
    assert_eq!(socket.json()["status"], "accepted");
    socket.say(bob.cap("ann", "not by mine"));
    assert_eq!(socket.json()["error"], "sender_mismatch");
    // It rests on the key.
    let key = crate::house::encoded(&ann.key.public().to_string());
    let path = format!("/v1/agents/ann/keys/{key}");
    house.ask("POST", path).by(&house.operator).json(r#"{"state":"REVOKED"}"#).ok();
    socket.closes(1008, "key_revoked");
}

#[test]
fn only_the_right_answer_to_this_challenge_binds() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let (mut first, old) = challenged(&house);
    let taken = signed(&old, "ann", &ann);
    first.say(taken.to_string());
    assert_eq!(first.json()["type"], "bound");
    let check = |code: &str, answer: &dyn Fn(&Value) -> Value| {
        let (mut socket, challenge) = challenged(&house);
        socket.say(answer(&challenge).to_string());
        socket.closes(1008, code);
    };
    // A nonce of another socket, also one that was good; another's key; another agent; nobody.
    check("signature_invalid", &|_| taken.clone());
    check("signature_invalid", &|challenge| signed(challenge, "ann", &bob));
    check("signature_invalid", &|challenge| signed(challenge, "nemo", &ann));
    check("signature_invalid", &|challenge| {
        let mut answer = signed(challenge, "ann", &ann);
        answer["agent"] = "bob".into();
        answer
    });
    check("signature_invalid", &|challenge| {
        let mut answer = signed(challenge, "ann", &ann);
        answer["key"] = bob.key.public().to_string().into();
        answer
    });
    check("signature_invalid", &|challenge| {
        signed(&json!({"realm": "another", "nonce": challenge["nonce"]}), "ann", &ann)
    });
    check("signature_format", &|_| json!({"type": "bind", "agent": "ann", "signature": "base64:AAAA"}));
    check("bad_key", &|challenge| {
        let mut answer = signed(challenge, "ann", &ann);
        answer["key"] = "ed25519:AAAA".into();
        answer
    });
    check("unauthenticated", &|_| json!({"type": "resume"}));
    check("unauthenticated", &|_| serde_json::from_str(&ann.vcp("bob", "I am ann")).unwrap());
    // Binding again is a message like any other, and none that is known.
    first.say(taken.to_string());
    assert_eq!(first.json()["error"], "unknown_dialect");
    let (mut socket, _) = challenged(&house);
    socket.say(r#"{"type":"bind","type":"bind"}"#);
    socket.closes(1008, "duplicate_key");
}

#[test]
fn a_challenge_is_not_waited_for_long() {
    let house = House::limited(Limits { socket_bind: Duration::from_millis(50), ..Limits::default() });
    let (mut socket, _) = challenged(&house);
    socket.closes(1008, "unauthenticated");
}

#[test]
fn who_fails_to_bind_too_often_waits_and_who_is_known_does_not() {
    let failures = Some(legation_engine::Rate::per_minute(4));
    let house = House::limited(Limits { failures, ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let wrong = format!("legation.v1, legation.token.{}x", ann.token);
    for _ in 0..2 {
        let (mut socket, challenge) = challenged(&house);
        socket.say(signed(&challenge, "ann", &bob).to_string());
        socket.closes(1008, "signature_invalid");
        assert!(Socket::ask(&house, "", &[("Sec-WebSocket-Protocol", &wrong)]).0.starts_with("HTTP/1.1 401 "));
    }
    for headers in [&FRAMED[..], &[("Sec-WebSocket-Protocol", &wrong)], &[]] {
        let (head, _) = Socket::ask(&house, "", headers);
        assert!(head.starts_with("HTTP/1.1 429 ") && head.contains("retry-after: "), "{head}");
    }
    let mut known = Socket::framed(&house, &ann.token, "");
    known.say(ann.cap("bob", "unimpressed"));
    assert_eq!(known.json()["status"], "accepted");
}

#[test]
fn unbound_sockets_make_room_for_those_who_come() {
    let house = House::limited(Limits { unproven_connections: 20, ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut unbound: Vec<_> = (0..60)
        .map(|_| {
            let socket = challenged(&house).0;
            house.send(&ann, &ann.cap("bob", "still here")).ok();
            socket
        })
        .collect();
    unbound[0].closes(1013, "busy");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 60);
}

#[test]
fn a_page_gives_its_token_as_a_subprotocol_and_never_gets_it_back() {
    let house = House::open();
    let ann = house.admit("ann");
    let offered = format!("legation.v1, legation.token.{}", ann.token);
    let headers = [("Sec-WebSocket-Protocol", offered.as_str()), ("Origin", "http://localhost:7400")];
    let mut socket = Socket::open(&house, "", &headers);
    assert!(socket.head.contains("sec-websocket-protocol: legation.v1\r\n"), "{}", socket.head);
    assert!(!socket.head.contains(&ann.token));
    socket.say("{}");
    assert_eq!(socket.json()["error"], "unknown_dialect");
    let plain = format!("legation.token.{}", ann.token);
    let socket = Socket::open(&house, "", &[("Sec-WebSocket-Protocol", &plain)]);
    assert!(!socket.head.contains("sec-websocket-protocol"), "{}", socket.head);
}

#[test]
fn who_may_not_come_in_is_told_before_there_is_a_socket() {
    let house = House::open();
    let ann = house.admit("ann");
    let bearer = format!("Bearer {}", ann.token);
    let check = |status: u16, code: &str, headers: &[(&str, &str)]| {
        let (head, mut socket) = Socket::ask(&house, "", headers);
        assert!(head.starts_with(&format!("HTTP/1.1 {status} ")), "{headers:?}: {head}");
        let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        let mut body = vec![0; length.parse().unwrap()];
        std::io::Read::read_exact(&mut socket.read, &mut body).unwrap();
        assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["error"], code);
    };
    check(401, "unauthenticated", &[]);
    check(401, "unauthenticated", &[("Authorization", "Bearer lgt_wrong")]);
    check(401, "unauthenticated", &[("Sec-WebSocket-Protocol", "legation.v1, legation.token.lgt_wrong")]);
    check(401, "unauthenticated", &[("Authorization", &bearer), ("Authorization", &bearer)]);
    let offered = format!("legation.token.{}", ann.token);
    check(401, "unauthenticated", &[("Authorization", &bearer), ("Sec-WebSocket-Protocol", &offered)]);
    for origin in ["https://evil.test", "null", "http://localhost.evil.test"] {
        check(403, "forbidden_origin", &[("Authorization", &bearer), ("Origin", origin)]);
    }
    check(403, "forbidden_origin", &[("Authorization", &bearer), ("Host", "evil.test")]);
    check(426, "schema_invalid", &[("Authorization", &bearer), ("Sec-WebSocket-Version", "8")]);
    let answer = house.ask("GET", "/vcp/ws").by(&ann.token).get();
    assert_eq!(answer.status, 426);
    // HTTP/1.0 knows no upgrades, whatever its headers say.
    let former = format!(
        "GET /vcp/ws HTTP/1.0\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nAuthorization: {bearer}\r\n\r\n"
    );
    let answer = house.raw(former.as_bytes());
    assert!(answer.split(' ').nth(1) == Some("426"), "{answer}");
}

#[test]
fn one_agent_does_not_take_all_sockets() {
    let house = House::limited(Limits { sockets_per_agent: 3, ..Limits::default() });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let open: Vec<_> = (0..3).map(|_| Socket::framed(&house, &ann.token, "?deliver=off")).collect();
    assert_eq!(house.metric("legation_websockets_open"), 3);
    let bearer = format!("Bearer {}", ann.token);
    let ask = || Socket::ask(&house, "", &[("Authorization", &bearer)]).0;
    assert!(ask().starts_with("HTTP/1.1 429 "));
    let (mut socket, challenge) = challenged(&house);
    socket.say(signed(&challenge, "ann", &ann).to_string());
    socket.closes(1008, "rate_limited");
    Socket::framed(&house, &bob.token, "").send(TEXT, b"{}");
    drop(open);
    while !ask().starts_with("HTTP/1.1 101 ") {}
}
