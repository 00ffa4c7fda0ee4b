//! Who speaks must be who they say.

use crate::house::{House, path_of};
use crate::words::fresh_id;
use legation_protocol::json::Doc;

#[test]
fn a_token_that_is_not_known_is_refused_everywhere() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let message = ann.vcp("bob", "signed, and still");
    for (method, path) in
        [("GET", "/v1/agents"), ("GET", "/v1/agents/ann"), ("GET", "/v1/agents/ann/inbox"), ("POST", "/v1/messages")]
    {
        house.ask(method, path).by("lgt_wrong").json(&message).refused(401, "unauthenticated");
        let basic = house.ask(method, path).header("authorization", "Basic YTpi");
        basic.json(&message).refused(401, "unauthenticated");
    }
}

#[test]
fn without_any_proof_nothing_is_sent_and_nothing_is_shown() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("POST", "/v1/messages").json(ann.cap("bob", "x")).refused(401, "unauthenticated");
    house.ask("GET", "/v1/agents").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/agents/ann").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/agents/nemo").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/agents/bob/inbox").get().refused(401, "unauthenticated");
    house.ask("POST", "/v1/agents/bob/ack").json(r#"{"position":9}"#).refused(401, "unauthenticated");
    house.ask("DELETE", "/v1/agents/bob").get().refused(401, "unauthenticated");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn nobody_sends_in_another_agents_name() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    for message in [ann.cap("bob", "x"), ann.acl("bob"), ann.vlp("bob")] {
        house.send(&eve, &message).refused(403, "sender_mismatch");
        house.ask("POST", "/v1/messages").by(&house.operator).json(&message).refused(403, "sender_mismatch");
    }
    let forged = eve.signed(&ann.unsigned_vcp("bob", "x", &fresh_id(), 0));
    house.send(&eve, &forged).refused(403, "sender_mismatch");
    house.send(&ann, &forged).refused(401, "signature_invalid");
    // Not even what was truly signed is passed on in one's own name.
    house.send(&eve, &ann.vcp("bob", "captured")).refused(403, "sender_mismatch");
    house.ask("POST", "/.well-known/vcp/messages").json(&forged).refused(401, "signature_invalid");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn a_vcp_message_without_its_signature_is_refused() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let unsigned = ann.unsigned_vcp("bob", "x", &fresh_id(), 0);
    house.send(&ann, &unsigned).refused(401, "signature_required");
    house.ask("POST", "/.well-known/vcp/messages").json(&unsigned).refused(401, "signature_required");
}

#[test]
fn a_vcp_message_changed_anywhere_is_refused() {
    let house = House::open();
    let (ann, bob, _) = (house.admit("ann"), house.admit("bob"), house.admit("bill"));
    let message = ann.vcp("bob", "all quiet");
    for (from, to) in [("quiet", "loud!"), ("\"bob\"", "\"bill\""), ("Z\",", ".0Z\","), ("7f83", "7f84")] {
        let changed = message.replacen(from, to, 1);
        assert_ne!(changed, message, "{from}");
        house.ask("POST", "/.well-known/vcp/messages").json(changed).refused(401, "signature_invalid");
    }
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn a_signature_beside_a_message_proves_its_sender() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    let message = ann.vlp("bob");
    let sign = |party: &crate::words::Party| party.key.sign(Doc::parse(message.as_bytes()).unwrap().root()).to_string();
    let post =
        |signature: &str| house.ask("POST", "/v1/messages").header("legation-signature", signature).json(&message);
    post(&sign(&eve)).refused(401, "signature_invalid");
    for bad in ["", "x", "base64:====", &sign(&ann)[7..]] {
        post(bad).refused(422, "signature_format");
    }
    let passed_on = house.ask("POST", "/v1/messages").by(&eve.token).header("legation-signature", &sign(&ann));
    passed_on.json(&message).refused(403, "sender_mismatch");
    assert_eq!(post(&sign(&ann)).ok()["status"], "accepted");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn senders_nobody_can_be_are_refused() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    for name in ["broadcast", "system", "exchange", "broker", "user", "orchestrator", "*"] {
        let message = ann.cap("bob", "x").replace("\"ann\"", &format!("\"{name}\""));
        house.send(&ann, &message).refused(403, "reserved_id");
    }
    house.send(&ann, &ann.cap("bob", "x").replace("\"ann\"", "\"nemo\"")).refused(401, "unknown_sender");
}

#[test]
fn a_mailbox_is_its_agents_and_the_operators() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.send(&ann, &ann.cap("bob", "x")).ok();
    let inbox = format!("{}/inbox", path_of("bob"));
    house.ask("GET", &inbox).by(&ann.token).get().refused(403, "not_allowed");
    house.ask("POST", "/v1/agents/bob/ack").by(&ann.token).json(r#"{"position":9}"#).refused(403, "not_allowed");
    for token in [&bob.token, &house.operator] {
        let listed = house.ask("GET", &inbox).by(token).get().ok();
        assert_eq!(listed["messages"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn a_signature_in_a_wrapper_proves_the_sender_of_what_is_inside() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    let message = ann.vlp("bob");
    let wrap = |party: &crate::words::Party, message: &str| {
        let signature = party.key.sign(Doc::parse(message.as_bytes()).unwrap().root());
        format!(r#"{{"message":{message},"signature":"{signature}"}}"#)
    };
    let post = |body: String| house.ask("POST", "/v1/messages").json(body);
    post(wrap(&eve, &message)).refused(401, "signature_invalid");
    post(wrap(&ann, &message).replace("boils", "melts")).refused(401, "signature_invalid");
    assert_eq!(post(wrap(&ann, &message)).ok()["status"], "accepted");
    // Wrapped or not, it is the same message.
    assert_eq!(house.send(&ann, &message).ok()["status"], "duplicate");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
}

#[test]
fn only_those_who_proved_who_they_are_learn_whether_a_recipient_exists() {
    let house = House::open();
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    for to in ["bob", "nemo"] {
        house.ask("POST", "/v1/messages").json(ann.cap(to, "x")).refused(401, "unauthenticated");
        for path in ["ack", "purge", "resend", "keys"] {
            let path = format!("{}/{path}", path_of(to));
            house.ask("POST", path).json("{}").refused(401, "unauthenticated");
        }
    }
    house.send(&ann, &ann.cap("nemo", "x")).refused(404, "unknown_recipient");
    house.send(&ann, &ann.cap("ann", "x")).refused(422, "self_addressed");
}

#[test]
fn no_secret_is_shown_where_it_was_not_asked_for() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let rita = house.grant("rita", "auditor");
    let secrets = [ann.token.as_str(), bob.token.as_str(), rita.as_str(), house.operator.as_str()];
    house.send(&ann, &ann.cap("bob", "x")).ok();
    let wrong = format!("{}x", ann.token);
    for by in [&rita, &house.operator, &bob.token, &wrong] {
        for path in [
            "/v1/agents",
            "/v1/agents/ann",
            "/v1/agents/ann/keys",
            "/v1/agents/bob/inbox",
            "/v1/tokens",
            "/v1/dead-letters",
            "/v1/audit/head",
            "/readyz",
            "/nowhere",
        ] {
            let answer = house.ask("GET", path).by(by).get();
            let told = format!("{:?} {}", answer.headers, answer.text);
            assert!(!secrets.iter().any(|secret| told.contains(secret)), "{path}: {told}");
            assert!(!told.contains("\"tokens\"") && !told.contains("\"current\""), "{path}: {told}");
        }
    }
}
