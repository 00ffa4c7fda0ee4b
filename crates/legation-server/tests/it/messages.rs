//! Sending one message.

use crate::house::House;
use crate::words::{Party, fresh_id};
use legation_exchange::Policy;
use std::time::Duration;

const VCP: &str = "/.well-known/vcp/messages";

#[test]
fn every_dialect_goes_from_sender_to_mailbox_byte_for_byte() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent = [ann.vcp("bob", "all quiet"), ann.cap("bob", "Go on."), ann.acl("bob"), ann.vlp("bob")];
    let positions: Vec<_> = sent
        .iter()
        .map(|message| {
            let taken = house.send(&ann, message).ok();
            assert_eq!(taken["status"], "accepted", "{taken}");
            assert!(taken["message_id"].is_string(), "{taken}");
            taken["position"].as_u64().unwrap()
        })
        .collect();
    let answer = house.ask("GET", "/v1/agents/bob/inbox").by(&bob.token).get();
    for message in &sent {
        assert!(answer.text.contains(&format!(r#""message":{message},"received_at":"#)), "{message}\n{}", answer.text);
    }
    let listed = answer.ok();
    let listed: Vec<_> =
        listed["messages"].as_array().unwrap().iter().map(|m| m["position"].as_u64().unwrap()).collect();
    assert_eq!(listed, positions);
}

#[test]
fn white_space_inside_a_message_reaches_its_reader() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let spread = ann.cap("bob", "Go on.").replace(',', " ,\n\t").replace("\"T1\"", "\"\\u0054\\u0031\"");
    house.send(&ann, &spread).ok();
    let answer = house.ask("GET", "/v1/agents/bob/inbox").by(&bob.token).get();
    assert!(answer.text.contains(&spread), "{}", answer.text);
}

#[test]
fn the_vcp_binding_answers_with_exactly_two_members() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let message = ann.vcp("bob", "all quiet");
    for status in ["accepted", "duplicate"] {
        let answer = house.ask("POST", VCP).json(&message);
        let position: u64 = answer.headers["legation-position"].to_str().unwrap().parse().unwrap();
        assert_eq!(position, 2);
        let body = answer.ok();
        assert_eq!(body["status"], status);
        assert_eq!(body.as_object().unwrap().len(), 2, "{body}");
        assert!(message.contains(body["message_id"].as_str().unwrap()));
    }
}

#[test]
fn the_vcp_binding_takes_no_other_dialect() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let cap = ann.cap("bob", "Go on.");
    let wrapped = format!(r#"{{"message":{cap},"signature":"base64:{}=="}}"#, "A".repeat(86));
    for message in [cap, wrapped, ann.acl("bob"), ann.vlp("bob")] {
        house.ask("POST", VCP).by(&ann.token).json(message).refused(422, "unknown_dialect");
    }
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn a_copy_is_a_duplicate_and_is_delivered_once() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let message = ann.vcp("bob", "all quiet");
    let first = house.send(&ann, &message).ok();
    let again = house.send(&ann, &message).ok();
    assert_eq!((&again["status"], &again["position"]), (&"duplicate".into(), &first["position"]));
    // The same message in another layout is the same message.
    let spaced = message.replace(",\"sender\"", " ,\n\"sender\"");
    assert_eq!(house.send(&ann, &spaced).ok()["status"], "duplicate");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn an_id_used_for_another_message_is_a_conflict() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = fresh_id();
    let say = |says| ann.signed(&ann.unsigned_vcp("bob", says, &id, 0));
    house.send(&ann, &say("all quiet")).ok();
    let refused = house.send(&ann, &say("all loud")).refused(409, "message_id_conflict");
    assert_eq!((&refused["at"], &refused["retryable"]), (&"/message_id".into(), &false.into()));
    // Nobody's id is spoilt by somebody else's use of it.
    let other = house.admit("carl");
    house.send(&other, &other.signed(&other.unsigned_vcp("bob", "mine", &id, 0))).ok();
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 2);
}

#[test]
fn messages_too_old_or_too_new_are_refused_with_our_time() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let made = |seconds| ann.signed(&ann.unsigned_vcp("bob", "when", &fresh_id(), seconds));
    for seconds in [-290, 0, 25] {
        house.send(&ann, &made(seconds)).ok();
    }
    let old = house.send(&ann, &made(-302)).refused(422, "stale");
    let new = house.send(&ann, &made(40)).refused(422, "future");
    for refused in [old, new] {
        assert_eq!((&refused["at"], &refused["spec"]), (&"/timestamp".into(), &"VCP 7.4".into()));
        assert!(refused["message"].as_str().unwrap().contains("it is 20"), "{refused}");
    }
}

#[test]
fn a_wider_window_takes_what_is_older() {
    let policy = Policy { open_registration: true, past: Duration::from_hours(24), ..Policy::default() };
    let house = House::under(policy);
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    house.send(&ann, &ann.signed(&ann.unsigned_vcp("bob", "yesterday", &fresh_id(), -80_000))).ok();
}

#[test]
fn a_message_to_nobody_known_is_refused() {
    let house = House::open();
    let ann = house.admit("ann");
    house.send(&ann, &ann.vcp("nemo", "hello?")).refused(404, "unknown_recipient");
    house.send(&ann, &ann.cap("nemo", "hello?")).refused(404, "unknown_recipient");
}

#[test]
fn a_broadcast_reaches_every_peer_with_one_id() {
    let house = House::open();
    let ann = house.admit("ann");
    let peers: Vec<Party> = ["bob", "carl", "dora"].map(|id| house.admit(id)).into();
    let taken = house.send(&ann, &ann.broadcast()).ok();
    for peer in &peers {
        let listed = house.inbox(peer, "");
        assert_eq!(listed["messages"].as_array().unwrap().len(), 1);
        assert_eq!(listed["messages"][0]["message"]["message_id"], taken["message_id"]);
    }
    assert_eq!(house.inbox(&ann, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn a_full_mailbox_says_when_to_come_again() {
    let house = House::under(Policy { open_registration: true, mailbox_limit: 1, ..Policy::default() });
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    house.send(&ann, &ann.cap("bob", "one")).ok();
    let answer = house.send(&ann, &ann.cap("bob", "two"));
    assert!(answer.headers.contains_key("retry-after"));
    assert_eq!(answer.refused(429, "mailbox_full")["retryable"], true);
}

#[test]
fn what_is_not_strict_json_is_refused_at_the_front_door() {
    let house = House::open();
    let ann = house.admit("ann");
    for (text, code) in [
        ("", "bad_json"),
        ("{", "bad_json"),
        ("[]", "not_an_object"),
        (r#"{"a":1,"a":2}"#, "duplicate_key"),
        (r#"{"a":9007199254740993}"#, "number_out_of_range"),
        (r#"{"a":"\ud800"}"#, "bad_unicode"),
        ("\u{feff}{}", "bad_unicode"),
        ("{} {}", "trailing_bytes"),
    ] {
        house.send(&ann, text).refused(400, code);
        house.ask("POST", VCP).json(text).refused(400, code);
    }
    let deep = "[".repeat(100_000);
    house.send(&ann, &deep).refused(400, "too_deep");
    house.send(&ann, "{}").refused(422, "unknown_dialect");
    house.send(&ann, r#"{"vcp_message":"1.2","mcp_version":"0.1.0"}"#).refused(422, "ambiguous_dialect");
}

#[test]
fn when_a_message_came_is_not_when_it_says_it_was_made() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let mut message: serde_json::Value = serde_json::from_str(&ann.acl("bob")).unwrap();
    message["timestamp"] = serde_json::json!("2001-02-03T04:05:06Z");
    house.send(&ann, &message.to_string()).ok();
    let item = house.inbox(&bob, "")["messages"][0].clone();
    assert_eq!(item["message"]["timestamp"], "2001-02-03T04:05:06Z");
    let received = item["received_at"].as_str().unwrap();
    assert!(received > "2025" && !received.starts_with("2001"), "{received}");
}
