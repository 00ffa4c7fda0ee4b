//! The handshake on a WebSocket: the first frame, the three tries, the timer, and what comes after.

use super::Socket;
use super::binding::{challenged, signed};
use crate::handshake::{asking, identity, offering};
use crate::house::House;
use crate::words::Party;
use legation_engine::Rate;
use legation_server::{HelloRule, Limits, Negotiation, Settings};
use serde_json::{Value, json};
use std::time::Duration;

/// Patience that no test comes to the end of.
const LONG: Duration = Duration::from_mins(10);

fn house(negotiation: Negotiation) -> (House, Party, Party) {
    let house = offering(negotiation);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    (house, ann, bob)
}

fn patient() -> (House, Party, Party) {
    house(Negotiation { wait: LONG, ..Negotiation::default() })
}

#[track_caller]
fn fails(socket: &mut Socket, code: &str) -> Value {
    let told = socket.json();
    assert_eq!((told["type"].as_str(), told["code"].as_str()), (Some("vcp-error"), Some(code)), "{told}");
    told
}

#[track_caller]
fn agrees(socket: &mut Socket) -> Value {
    let told = socket.json();
    assert_eq!(told["type"], "vcp-ack", "{told}");
    told
}

#[test]
fn a_hello_as_the_first_frame_is_answered_and_makes_a_plain_socket_speak_frames() {
    let (house, ann, bob) = patient();
    house.send(&ann, &ann.cap("bob", "no envelope")).ok();
    let mut socket = Socket::plain(&house, &bob.token, "");
    socket.say(asking(&["VCP-X-Consensus", "VCP-X-Odd"], None));
    // Nothing comes before the ack, and then what no plain client is given.
    let ack = agrees(&mut socket);
    assert_eq!((&ack["supported"], &ack["unsupported"]), (&json!(["VCP-X-Consensus"]), &json!(["VCP-X-Odd"])));
    assert!(ack["session_id"].as_str().unwrap().starts_with("ses_"));
    assert_eq!(socket.json()["type"], "item");
    socket.say(format!(r#"{{"type":"send","ref":"1","message":{}}}"#, bob.cap("ann", "in any dialect")));
    let told = socket.json();
    assert_eq!((&told["type"], &told["ref"]), (&json!("verdict"), &json!("1")), "{told}");
}

#[test]
fn a_silent_socket_is_one_of_version_1_0_once_the_time_is_over() {
    let (house, ann, bob) = house(Negotiation { wait: Duration::from_millis(50), ..Negotiation::default() });
    house.send(&ann, &ann.vcp("bob", "an envelope")).ok();
    let mut socket = Socket::plain(&house, &bob.token, "");
    let envelope = socket.json();
    assert_eq!(envelope["vcp_message"], "1.2");
    // It is too late now.
    socket.say(asking(&[], None));
    fails(&mut socket, "HELLO_INVALID");
    socket.closes(1002, "handshake");
}

#[test]
fn whoever_says_something_else_first_is_served_at_once_as_version_1_0() {
    let (house, ann, bob) = patient();
    house.send(&ann, &ann.vcp("bob", "an envelope")).ok();
    let mut socket = Socket::plain(&house, &bob.token, "");
    socket.say(bob.vcp("ann", "no hello"));
    assert_eq!(socket.json()["vcp_message"], "1.2");
    // What is enforced does not shrink: an unsigned message is refused as ever.
    let mut plain = Socket::plain(&house, &ann.token, "?deliver=off");
    let unsigned: Value = serde_json::from_str(&ann.vcp("bob", "unsigned")).unwrap();
    let mut unsigned = unsigned.as_object().unwrap().clone();
    unsigned.remove("signature");
    plain.say(Value::from(unsigned).to_string());
    plain.closes(1008, "signature_required");
}

#[test]
fn a_second_hello_is_refused_and_ends_the_socket() {
    let (house, ann, _) = patient();
    for mut socket in [Socket::plain(&house, &ann.token, ""), Socket::framed(&house, &ann.token, "?deliver=off")] {
        socket.say(asking(&[], None));
        agrees(&mut socket);
        socket.say(asking(&["VCP-X-Consensus"], None));
        fails(&mut socket, "HELLO_INVALID");
        socket.closes(1002, "handshake");
    }
}

#[test]
fn there_are_three_tries_with_one_error_each() {
    let (house, ann, _) = patient();
    let mut socket = Socket::plain(&house, &ann.token, "");
    let anonymous = asking(&["VCP-X-Personal"], None);
    socket.say(&anonymous);
    fails(&mut socket, "IDENTITY_REQUIRED");
    socket.say(asking(&["VCP-X-Personal"], Some("vcp:i:a:b:1:c")));
    fails(&mut socket, "IDENTITY_INVALID");
    socket.say(asking(&["VCP-X-Personal"], Some(&identity(&house, "user_42"))));
    assert_eq!(agrees(&mut socket)["supported"], json!(["VCP-X-Personal"]));

    let mut socket = Socket::plain(&house, &ann.token, "");
    for _ in 0..3 {
        socket.say(&anonymous);
        fails(&mut socket, "IDENTITY_REQUIRED");
    }
    socket.closes(1002, "handshake");
}

#[test]
fn after_an_error_there_is_no_way_back_to_version_1_0() {
    let (house, ann, bob) = patient();
    house.send(&ann, &ann.vcp("bob", "not for this socket")).ok();
    for mut socket in [Socket::plain(&house, &bob.token, ""), Socket::framed(&house, &bob.token, "?deliver=off")] {
        socket.say(asking(&["VCP-X-Personal"], None));
        fails(&mut socket, "IDENTITY_REQUIRED");
        socket.say(bob.vcp("ann", "context data"));
        socket.closes(1008, "hello_required");
    }
    // Nor by saying nothing.
    let (house, _, bob) = self::house(Negotiation { wait: Duration::from_millis(50), ..Negotiation::default() });
    let mut socket = Socket::plain(&house, &bob.token, "");
    socket.say(asking(&["VCP-X-Personal"], None));
    fails(&mut socket, "IDENTITY_REQUIRED");
    socket.closes(1008, "hello_required");
}

#[test]
fn a_broken_hello_gets_one_error_and_the_end() {
    let (house, ann, _) = patient();
    for hello in [
        r#"{"type":"vcp-hello"}"#,
        r#"{"type":"vcp-hello","version":3.1}"#,
        r#"{"type":"vcp-hello","version":"3.1","version":"3.1"}"#,
        r#"{"type":"vcp-hello","version":"3.1""#,
        r#"{"type":"vcp-ack","version":"3.1"}"#,
    ] {
        let mut socket = Socket::plain(&house, &ann.token, "");
        socket.say(hello);
        fails(&mut socket, "HELLO_INVALID");
        socket.closes(1002, "handshake");
    }
}

#[test]
fn a_hello_over_64_kib_gets_one_error_and_1009() {
    let (house, ann, _) = patient();
    let padded = |size: usize, version: &str| {
        let hello = json!({"type": "vcp-hello", "version": version, "min_version": version}).to_string();
        hello.replace('}', &format!("{}}}", " ".repeat(size - hello.len())))
    };
    let stranger = || challenged(&house).0;
    let known = || Socket::plain(&house, &ann.token, "");
    for open in [&stranger as &dyn Fn() -> Socket, &known] {
        let mut socket = open();
        for _ in 0..2 {
            socket.say(padded(65_536, "9.0"));
            fails(&mut socket, "VERSION_UNSUPPORTED");
        }
        socket.say(padded(65_536, "3.1"));
        agrees(&mut socket);
        let mut socket = open();
        socket.say(padded(65_537, "3.1"));
        fails(&mut socket, "HELLO_INVALID");
        socket.closes(1009, "too_large");
    }
}

#[test]
fn a_list_that_wants_to_be_a_burden_is_not_said_back() {
    let (house, ann, _) = patient();
    let mut socket = Socket::plain(&house, &ann.token, "");
    let many: Vec<_> = (0..2_500).map(|number| json!(format!("VCP-X-N{number}"))).collect();
    let odd = [json!(1), json!(null), json!({}), json!("VCP-X-"), json!("vcp-x-personal"), json!("VCP-X-N0")];
    let names: Vec<_> = odd.into_iter().chain(many).collect();
    socket.say(json!({"type": "vcp-hello", "version": "3.1", "extensions": names}).to_string());
    let ack = agrees(&mut socket);
    // Of the first 256, those that are names, each once.
    assert_eq!(ack["unsupported"].as_array().unwrap().len(), 250);
}

#[test]
fn who_greets_too_often_is_sent_away_with_a_time() {
    let limits = Limits { hellos: Some(Rate::per_minute(1)), ..Limits::default() };
    let house = House::told(Settings { limits, ..Settings::default() });
    let ann = house.admit("ann");
    let mut first = Socket::framed(&house, &ann.token, "?deliver=off");
    first.say(asking(&[], None));
    agrees(&mut first);
    let mut second = Socket::framed(&house, &ann.token, "?deliver=off");
    second.say(asking(&[], None));
    let told = fails(&mut second, "RATE_LIMITED");
    assert!(told["retry_after"].as_u64().unwrap() >= 1, "{told}");
    second.closes(1008, "rate_limited");
}

#[test]
fn where_a_hello_is_required_nothing_else_will_do() {
    let required = Negotiation { hello: HelloRule::Required, wait: LONG, ..Negotiation::default() };
    let (house, ann, bob) = house(required.clone());
    house.send(&ann, &ann.vcp("bob", "waits")).ok();
    for mut socket in [Socket::plain(&house, &bob.token, ""), Socket::framed(&house, &bob.token, "")] {
        socket.say(bob.vcp("ann", "no hello"));
        socket.closes(1008, "hello_required");
    }
    let mut socket = Socket::framed(&house, &bob.token, "");
    socket.say(asking(&[], None));
    agrees(&mut socket);
    assert_eq!(socket.json()["type"], "item");
    let (house, _, bob) = self::house(Negotiation { wait: Duration::from_millis(20), ..required });
    Socket::plain(&house, &bob.token, "").closes(1008, "hello_required");
}

#[test]
fn nothing_of_an_inactive_extension_is_accepted() {
    let (house, ann, _) = patient();
    let frame = |name: &str| json!({"type": "extension", "extension": name, "ask": "x"}).to_string();
    let mut socket = Socket::framed(&house, &ann.token, "?deliver=off");
    socket.say(asking(&["VCP-X-Consensus"], None));
    agrees(&mut socket);
    for (name, error) in
        [("VCP-X-Torch", "extension_inactive"), ("VCP-X-Consensus", "not_found"), ("odd", "schema_invalid")]
    {
        socket.say(frame(name));
        assert_eq!(socket.json()["error"], error, "{name}");
    }
    let mut old = Socket::framed(&house, &ann.token, "?deliver=off");
    old.say(frame("VCP-X-Consensus"));
    assert_eq!(old.json()["error"], "hello_required");
}

#[test]
fn the_very_next_frame_after_a_revocation_is_refused() {
    let (house, ann, _) = patient();
    let token = identity(&house, "user_42");
    let mut socket = Socket::framed(&house, &ann.token, "?deliver=off");
    socket.say(asking(&["VCP-X-Personal"], Some(&token)));
    agrees(&mut socket);
    let frame = json!({"type": "extension", "extension": "VCP-X-Personal", "ask": "x"}).to_string();
    socket.say(&frame);
    assert_eq!(socket.json()["error"], "not_found");
    house.ask("POST", "/v1/identities/revoke").by(&house.operator).json(json!({"token": token}).to_string()).ok();
    socket.say(&frame);
    assert_eq!(socket.json()["error"], "unauthenticated");
}

#[test]
fn a_hello_may_come_before_a_challenge_is_signed() {
    let (house, ann, _) = patient();
    let mut socket = Socket::open(&house, "?deliver=off", &[("Sec-WebSocket-Protocol", "legation.v1")]);
    let challenge = socket.json();
    socket.say(asking(&["VCP-X-Consensus"], None));
    assert_eq!(agrees(&mut socket)["supported"], json!(["VCP-X-Consensus"]));
    socket.say(signed(&challenge, "ann", &ann).to_string());
    assert_eq!(socket.json()["type"], "bound");
    socket.say(asking(&[], None));
    fails(&mut socket, "HELLO_INVALID");
    socket.closes(1002, "handshake");
}

#[test]
fn a_lost_core_feature_ends_negotiated_sockets_with_1011() {
    let (house, ann, bob) = patient();
    let mut negotiated = Socket::framed(&house, &ann.token, "?deliver=off");
    negotiated.say(asking(&[], None));
    agrees(&mut negotiated);
    let mut old = Socket::framed(&house, &bob.token, "?deliver=off");
    old.say(r#"{"type":"resume"}"#);
    house.lose_key();
    negotiated.closes(1011, "core_feature_lost");
    let mut late = Socket::plain(&house, &ann.token, "");
    late.say(asking(&[], None));
    fails(&mut late, "INTERNAL_ERROR");
    late.closes(1011, "core_feature_lost");
    // What was promised nothing goes on.
    old.say(format!(r#"{{"type":"send","message":{}}}"#, bob.cap("ann", "still here")));
    assert_eq!(old.json()["type"], "verdict");
}

#[test]
fn a_hello_is_answered_while_others_send_all_they_can() {
    let (house, ann, bob) = patient();
    let over = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let flood = || {
            let mut socket = Socket::framed(&house, &bob.token, "?deliver=off");
            while !over.load(std::sync::atomic::Ordering::Relaxed) {
                for _ in 0..64 {
                    socket.say(format!(r#"{{"type":"send","message":{}}}"#, bob.cap("ann", "more")));
                }
                for _ in 0..64 {
                    socket.text();
                }
            }
        };
        for _ in 0..4 {
            scope.spawn(flood);
        }
        for _ in 0..20 {
            let mut socket = Socket::framed(&house, &ann.token, "?deliver=off");
            // The spec's own bound, after which the read fails.
            socket.stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
            socket.say(asking(&["VCP-X-Consensus"], None));
            agrees(&mut socket);
        }
        over.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}
