//! Sending on a socket: verdicts in order, refusals, and what a plain client sees of them.

use super::{Socket, TEXT};
use crate::house::{House, encoded};
use crate::words::fresh_id;
use serde_json::{Value, json};

#[test]
fn every_dialect_is_answered_as_over_http() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut socket = Socket::framed(&house, &ann.token, "");
    for message in [ann.vcp("bob", "one"), ann.acl("bob"), ann.cap("bob", "two"), ann.vlp("bob")] {
        socket.say(&message);
        let verdict = socket.json();
        assert_eq!(
            (&verdict["type"], &verdict["status"], &verdict["ref"]),
            (&"verdict".into(), &"accepted".into(), &Value::Null)
        );
        let again = house.send(&ann, &message).ok();
        assert_eq!(again["status"], "duplicate");
        for member in ["message_id", "position", "receipt"] {
            assert_eq!(again[member], verdict[member], "{member}");
        }
    }
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 4);
}

#[test]
fn a_socket_may_do_without_receipts_and_its_agent_ask_for_them_later() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    let mut socket = Socket::framed(&house, &ann.token, "?receipts=off");
    let message = ann.vcp("bob", "hello");
    socket.say(&message);
    let verdict = socket.json();
    assert_eq!((&verdict["status"], verdict.get("receipt")), (&json!("accepted"), None), "{verdict}");
    let receipt = house.send(&ann, &message).ok()["receipt"].clone();
    assert_eq!(receipt["position"], verdict["position"]);
    let path = format!("/v1/messages/{}", verdict["position"]);
    // Its parties, and operators, who take from any mailbox.
    for token in [&ann.token, &bob.token, &house.operator] {
        assert_eq!(house.ask("GET", &path).by(token).get().ok()["receipt"], receipt);
    }
    let auditor = house.grant("otto", "auditor");
    assert_eq!(house.ask("GET", &path).by(&auditor).get().ok().get("receipt"), None);
    house.ask("GET", &path).by(&eve.token).get().refused(404, "not_found");
    let bad = house.ask("GET", "/vcp/ws?receipts=maybe").by(&ann.token).get();
    bad.refused(422, "schema_invalid");
}

#[test]
fn what_is_recorded_is_cut_out_of_the_frame_as_it_stands() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut socket = Socket::framed(&house, &ann.token, "");
    let message = ann.vcp("bob", "as it stands").replace("\":", "\" :\t");
    socket.say(format!(r#"{{"type":"send","ref":"my own","message": {message} }}"#));
    let verdict = socket.json();
    assert_eq!((&verdict["ref"], &verdict["status"]), (&"my own".into(), &"accepted".into()));
    let raw = format!("/v1/messages/{}/raw", verdict["position"]);
    assert_eq!(house.ask("GET", raw).by(&bob.token).get().text, message);
    // With a signature beside it, in the frame or around the message.
    let claim = ann.vlp("bob");
    let signature = ann.key.sign(legation_protocol::json::Doc::parse(claim.as_bytes()).unwrap().root());
    socket.say(format!(r#"{{"type":"send","message":{claim},"signature":"{signature}"}}"#));
    assert_eq!(socket.json()["status"], "accepted");
    socket.say(format!(r#"{{"message":{claim},"signature":"{signature}"}}"#));
    assert_eq!(socket.json()["status"], "duplicate");
    let other = claim.replace("100", "200");
    socket.say(format!(r#"{{"message":{other},"signature":"{signature}"}}"#));
    assert_eq!(socket.json()["error"], "signature_invalid");
}

#[test]
fn what_is_refused_is_told_in_its_turn_and_the_socket_goes_on() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut socket = Socket::framed(&house, &ann.token, "");
    let unsigned = ann.unsigned_vcp("bob", "unsigned", &fresh_id(), 0);
    for (frame, code) in [
        ("{}".to_owned(), "unknown_dialect"),
        ("not json".to_owned(), "bad_json"),
        (unsigned, "signature_required"),
        (bob.vcp("ann", "in another's name"), "sender_mismatch"),
        (bob.cap("ann", "in another's name"), "sender_mismatch"),
        (ann.cap("bob", &"x".repeat(262_144)), "too_large"),
        (ann.cap("nobody", "?"), "unknown_recipient"),
        (r#"{"type":"ack"}"#.to_owned(), "schema_invalid"),
        (r#"{"type":"ack","position":1,"positions":[]}"#.to_owned(), "schema_invalid"),
        (r#"{"type":"resume","after":-1}"#.to_owned(), "schema_invalid"),
        (r#"{"type":"send","ref":7,"message":{}}"#.to_owned(), "schema_invalid"),
        (r#"{"type":"send"}"#.to_owned(), "schema_invalid"),
        (r#"{"type":"send","message":{},"massage":{}}"#.to_owned(), "schema_invalid"),
        (r#"{"type":"send","message":{},"signature":"x"}"#.to_owned(), "signature_format"),
    ] {
        socket.say(&frame);
        let told = socket.json();
        assert_eq!((&told["type"], &told["error"]), (&"refusal".into(), &code.into()), "{frame:.80}: {told}");
        assert!(told["message"].is_string() && told["retryable"] == false);
    }
    socket.say(r#"{"type":"send","ref":"named","message":{}}"#);
    assert_eq!(socket.json()["ref"], "named");
    socket.say(ann.cap("bob", "still here"));
    assert_eq!(socket.json()["status"], "accepted");
}

#[test]
fn what_a_door_refuses_a_socket_refuses_for_the_same_reason() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let vcp = || ann.unsigned_vcp("bob", "x", &fresh_id(), 0);
    let (stripped, taken) = (vcp(), ann.vcp("bob", "sell"));
    let id = serde_json::from_str::<Value>(&taken).unwrap()["message_id"].as_str().unwrap().to_owned();
    house.send(&ann, &taken).ok();
    let mut socket = Socket::framed(&house, &ann.token, "");
    for (frame, code) in [
        (stripped.replace("\"1.2\"", "\"1.0\""), "unsupported_version"),
        (ann.signed(&vcp().replace("\"bob\"", "\"bob \"")), "bad_agent_id"),
        (ann.signed(&vcp().replace("\"ann\"", "\"broadcast\"")), "reserved_id"),
        (ann.cap("bob", "x").replace("\"ann\"", "\"system\""), "reserved_id"),
        (ann.signed(&ann.unsigned_vcp("bob", "old", &fresh_id(), -310)), "stale"),
        (ann.signed(&ann.unsigned_vcp("bob", "new", &fresh_id(), 40)), "future"),
        (ann.signed(&ann.unsigned_vcp("bob", "buy", &id, 0)), "message_id_conflict"),
        (bob.signed(&ann.unsigned_vcp("bob", "forged", &fresh_id(), 0)), "signature_invalid"),
        (ann.vcp("bob", "x").replace("base64:", "base64:A"), "signature_format"),
        (ann.signed(&vcp().replacen('{', "{\"priority\":1,", 1)), "schema_invalid"),
        (vcp().replacen('{', "{\"sender\":\"ann\",", 1), "duplicate_key"),
        (vcp().replace("\"x\"", r#""\ud800""#), "bad_unicode"),
        (vcp().replacen('{', "{\"n\":9007199254740993,", 1), "number_out_of_range"),
        (format!("{{\"a\":{}{}}}", "[".repeat(100), "]".repeat(100)), "too_deep"),
        (r#"{"vcp_message":"1.2","protocol":"VLP/1.1"}"#.to_owned(), "ambiguous_dialect"),
        (ann.cap("ann", "x"), "self_addressed"),
    ] {
        let http = house.send(&ann, &frame).json();
        socket.say(&frame);
        let told = socket.json();
        assert_eq!((&told["error"], &told["at"]), (&code.into(), &http["at"]), "{frame:.120}: {told}");
        assert_eq!(told["error"], http["error"], "{frame:.120}: {http}");
    }
    socket.say(&taken);
    assert_eq!(socket.json()["status"], "duplicate");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn what_a_key_signed_is_refused_on_open_sockets_once_it_is_given_up() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut framed = Socket::framed(&house, &ann.token, "");
    let mut plain = Socket::plain(&house, &ann.token, "?deliver=off");
    for socket in [&mut framed, &mut plain] {
        socket.say(ann.vcp("bob", "in time"));
    }
    assert_eq!(framed.json()["status"], "accepted");
    while house.inbox(&bob, "")["messages"].as_array().unwrap().len() < 2 {}
    let path = format!("/v1/agents/ann/keys/{}", encoded(&ann.key.public().to_string()));
    house.ask("POST", path).by(&house.operator).json(r#"{"state":"REVOKED"}"#).ok();
    framed.say(ann.vcp("bob", "too late"));
    assert_eq!(framed.json()["error"], "key_revoked");
    plain.say(ann.vcp("bob", "too late"));
    plain.closes(1008, "key_revoked");
    // The token still counts where no signature is needed.
    framed.say(ann.cap("bob", "by my token"));
    assert_eq!(framed.json()["status"], "accepted");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 3);
}

#[test]
fn many_in_flight_are_answered_in_the_order_they_were_sent() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut socket = Socket::framed(&house, &ann.token, "");
    let frames = |n: usize| {
        // Signed, plain and senseless frames take different times.
        let message = match n % 3 {
            0 => ann.vcp("bob", &n.to_string()),
            1 => ann.cap("bob", &n.to_string()),
            _ => "{}".to_owned(),
        };
        super::frame(0x80 | TEXT, format!(r#"{{"type":"send","ref":"{n}","message":{message}}}"#).as_bytes())
    };
    let all: Vec<u8> = (0..600).flat_map(frames).collect();
    let mut writer = socket.stream.try_clone().unwrap();
    std::thread::scope(|scope| {
        scope.spawn(move || std::io::Write::write_all(&mut writer, &all).unwrap());
        let mut last = 0;
        for n in 0..600 {
            let told = socket.json();
            assert_eq!(told["ref"], n.to_string());
            if n % 3 < 2 {
                let position = told["position"].as_u64().unwrap();
                assert!(position > last, "{told}");
                last = position;
            }
        }
    });
    assert_eq!(house.inbox(&bob, "?limit=1000")["messages"].as_array().unwrap().len(), 400);
}

#[test]
fn a_plain_client_hears_nothing_but_envelopes_and_a_refusal_ends_it() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let unsigned = ann.unsigned_vcp("bob", "unsigned", &fresh_id(), 0);
    for (frame, code) in [
        (unsigned, "signature_required"),
        (ann.cap("bob", "another dialect"), "unknown_dialect"),
        (r#"{"type":"ack","position":1}"#.to_owned(), "unknown_dialect"),
        (ann.signed(&ann.unsigned_vcp("bob", "old", &fresh_id(), -400)), "stale"),
        (ann.vcp("bob", "changed").replace("changed", "charged"), "signature_invalid"),
        (bob.vcp("ann", "in another's name"), "sender_mismatch"),
    ] {
        let mut socket = Socket::plain(&house, &ann.token, "");
        assert!(!socket.head.to_lowercase().contains("sec-websocket-protocol"), "{}", socket.head);
        let message = ann.vcp("bob", "fine");
        socket.say(&message);
        socket.say(&message);
        socket.say(&frame);
        let first = socket.next().unwrap();
        assert_eq!((first.opcode, &first.payload[2..]), (super::CLOSE, code.as_bytes()), "{frame:.80}");
        assert_eq!(&first.payload[..2], 1008_u16.to_be_bytes());
    }
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 6);
}

#[test]
fn a_plain_client_of_a_stopped_agent_hears_envelopes_alone_too() {
    // M30
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("POST", "/v1/agents/bob/suspend").by(&house.operator).json(r#"{"reason":"odd"}"#).ok();
    let message = ann.vcp("bob", "for when it goes on");
    house.send(&ann, &message).ok();
    let mut socket = Socket::plain(&house, &bob.token, "");
    let told = socket.text();
    assert!(told.starts_with(r#"{"vcp_message":"1.2""#) && told.contains("agent_suspended"), "{told}");
    assert_eq!(socket.text(), message);
}

#[test]
fn sharing_a_context_first_is_expected_and_nothing_else_refused() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let shown = || {
        let agent = house.ask("GET", "/v1/agents/ann").by(&ann.token).get().ok();
        (agent["connected"].as_bool().unwrap(), agent["context_shared"].as_bool().unwrap())
    };
    assert_eq!(shown(), (false, false));
    let mut quiet = Socket::framed(&house, &ann.token, "?deliver=off");
    quiet.say(ann.cap("bob", "no context"));
    let notice: Value = serde_json::from_slice(&quiet.next().unwrap().payload).unwrap();
    assert_eq!((&notice["type"], &notice["code"]), (&"notice".into(), &"context_expected".into()));
    assert_eq!(quiet.json()["status"], "accepted");
    assert_eq!(shown(), (true, false));
    assert_eq!(house.metric("legation_websocket_context_missing_total"), 1);
    // What is refused shares nothing.
    let mut broken = Socket::framed(&house, &ann.token, "?deliver=off");
    broken.say(r#"{"vcp_message":"1.2","type":"context_share"}"#);
    assert!(String::from_utf8(broken.next().unwrap().payload).unwrap().contains("context_expected"));
    assert_eq!((&broken.json()["error"], shown()), (&"schema_invalid".into(), (true, false)));
    let mut open = Socket::framed(&house, &ann.token, "");
    open.say(ann.broadcast());
    let verdict: Value = serde_json::from_slice(&open.next().unwrap().payload).unwrap();
    assert_eq!(verdict["status"], "accepted");
    assert_eq!(shown(), (true, true));
    drop((quiet, broken, open));
    while shown() != (false, false) {}
    assert_eq!(house.metric("legation_websocket_context_missing_total"), 2);
}

#[test]
fn people_speak_as_the_principals_they_may() {
    let house = House::open();
    let (ann, rita) = (house.admit("ann"), house.grant("rita", "reviewer"));
    let mut user = Socket::framed(&house, &house.operator, "?agent=user");
    let message = json!({"type": "message", "task_id": "T1", "sender_id": "user", "recipient_id": "ann",
        "content": "Go on.", "message_id": "m-user-1"});
    user.say(message.to_string());
    assert_eq!(user.json()["status"], "accepted");
    house.send(&ann, &ann.cap("user", "An answer.")).ok();
    assert_eq!(user.json()["message"]["content"], "An answer.");
    let ask = |token: &str, query: &str| Socket::ask(&house, query, &[("Authorization", &format!("Bearer {token}"))]).0;
    for (token, query) in [
        (&house.operator, ""),
        (&house.operator, "?agent=ann"),
        (&rita, "?agent=orchestrator"),
        (&ann.token, "?agent=bob"),
        (&ann.token, "?agent=user"),
    ] {
        assert!(ask(token, query).starts_with("HTTP/1.1 403 "), "{query}");
    }
    assert!(ask(&rita, "?agent=user").starts_with("HTTP/1.1 101 "));
    assert!(ask(&ann.token, "?agent=ann").starts_with("HTTP/1.1 101 "));
    assert!(ask(&ann.token, "?agnt=ann").starts_with("HTTP/1.1 422 "));
}
