//! The handshake over plain HTTP, identity tokens, and what a session is good for.

use crate::house::{Answer, House};
use crate::words::Party;
use legation_engine::Rate;
use legation_protocol::negotiation::ExtensionName;
use legation_protocol::sign::SecretKey;
use legation_protocol::token::IdentityToken;
use legation_server::{Limits, Negotiation, Settings};
use serde_json::{Value, json};
use std::time::Duration;

/// A server that offers all five extensions, and is told this.
pub(crate) fn offering(negotiation: Negotiation) -> House {
    let negotiation = Negotiation { built: Negotiation::KNOWN.to_vec(), ..negotiation };
    House::told(Settings { negotiation, ..Settings::default() })
}

pub(crate) fn asking(names: &[&str], identity: Option<&str>) -> String {
    json!({"type": "vcp-hello", "version": "3.1", "extensions": names, "identity": identity}).to_string()
}

fn greet(house: &House, token: &str, hello: &str) -> Answer {
    house.ask("POST", "/v1/hello").by(token).json(hello)
}

#[track_caller]
fn fails(answer: &Answer, status: u16, code: &str) -> Value {
    let told = answer.json();
    assert_eq!((answer.status, told["type"].as_str(), told["code"].as_str()), (status, Some("vcp-error"), Some(code)));
    told
}

/// An identity token, by the operator.
pub(crate) fn identity(house: &House, subject: &str) -> String {
    let body = json!({"subject": subject, "seconds": 600}).to_string();
    let made = house.ask("POST", "/v1/identities").by(&house.operator).json(body);
    assert_eq!(made.status, 201, "{made:?}");
    made.json()["token"].as_str().unwrap().to_owned()
}

fn session(answer: &Answer) -> String {
    let id = answer.headers["legation-session"].to_str().unwrap().to_owned();
    assert_eq!(answer.json()["session_id"], *id);
    id
}

#[test]
fn a_hello_is_answered_with_what_is_offered_in_the_clients_order() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let names = ["VCP-X-Odd", "VCP-X-Intent", "nonsense", "VCP-X-Consensus", "VCP-X-Intent"];
    let ack = greet(&house, &ann.token, &asking(&names, None)).ok();
    assert_eq!(ack["supported"], json!(["VCP-X-Intent", "VCP-X-Consensus"]));
    assert_eq!(ack["unsupported"], json!(["VCP-X-Odd"]));
    assert_eq!(ack["capabilities"]["VCP-X-Intent"]["personal_signals"], false);
    assert_eq!(ack["capabilities"].as_object().unwrap().len(), 2);
    let on = json!({"encryption": true, "injection_scanning": true, "revocation": true, "audit_chain": true,
        "context_opacity": true});
    assert_eq!((&ack["version"], &ack["core_features"]), (&json!("3.1"), &on));
}

#[test]
fn what_is_not_built_or_not_enabled_is_not_offered() {
    let negotiation = Negotiation { built: Vec::new(), ..Negotiation::default() };
    let house = House::told(Settings { negotiation, ..Settings::default() });
    let ann = house.admit("ann");
    let ack = greet(&house, &ann.token, &asking(&["VCP-X-Personal"], None)).ok();
    assert_eq!((&ack["supported"], &ack["unsupported"]), (&json!([]), &json!(["VCP-X-Personal"])));
    let house = offering(Negotiation { enabled: vec![ExtensionName::CONSENSUS], ..Negotiation::default() });
    let ann = house.admit("ann");
    let ack = greet(&house, &ann.token, &asking(&["VCP-X-Torch", "VCP-X-Consensus"], None)).ok();
    assert_eq!(ack["supported"], json!(["VCP-X-Consensus"]));
}

#[test]
fn every_error_has_its_code_and_its_status() {
    let pair = (ExtensionName::CONSENSUS, ExtensionName::INTENT);
    let house = offering(Negotiation { conflicts: vec![pair], ..Negotiation::default() });
    let ann = house.admit("ann");
    let check = |hello: &str, status, code| fails(&greet(&house, &ann.token, hello), status, code);
    let told = check(r#"{"type":"vcp-hello","version":"4.0","min_version":"4.0"}"#, 422, "VERSION_UNSUPPORTED");
    assert_eq!(told["supported_versions"], json!(["1.0", "2.0", "3.0", "3.1"]));
    check(r#"{"type":"vcp-hello","version":"3.0","min_version":"3.1"}"#, 422, "VERSION_UNSUPPORTED");
    check(&asking(&["VCP-X-Personal"], None), 401, "IDENTITY_REQUIRED");
    check(&asking(&[], Some("vcp:i:x:y:1:abc123def456")), 401, "IDENTITY_INVALID");
    let told = check(&asking(&["VCP-X-Intent", "VCP-X-Consensus"], None), 409, "EXTENSION_CONFLICT");
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("VCP-X-Intent") && message.contains("VCP-X-Consensus"), "{message}");
    for (hello, status) in [
        ("[]", 400),
        ("{", 400),
        (r#"{"type":"vcp-hello","version":"3.1","version":"3.1"}"#, 400),
        ("{}", 422),
        (r#"{"type":"vcp-ack","version":"3.1"}"#, 422),
        (r#"{"type":"vcp-hello","version":"three"}"#, 422),
    ] {
        check(hello, status, "HELLO_INVALID");
    }
}

#[test]
fn null_counts_as_absent_and_a_client_has_a_name_of_256_characters_at_most() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let named = |name: Value| json!({"type": "vcp-hello", "version": "3.1", "client_id": name}).to_string();
    for hello in [
        json!({"type": "vcp-hello", "version": "3.1", "min_version": null, "extensions": null, "identity": null})
            .to_string(),
        named(Value::Null),
        named(json!("\u{e9}".repeat(256))),
    ] {
        let ack = greet(&house, &ann.token, &hello).ok();
        assert_eq!((&ack["version"], &ack["supported"]), (&json!("3.1"), &json!([])), "{hello}");
    }
    fails(&greet(&house, &ann.token, &named(json!("\u{e9}".repeat(257)))), 422, "HELLO_INVALID");
    fails(&greet(&house, &ann.token, r#"{"type":"vcp-hello","version":null}"#), 422, "HELLO_INVALID");
}

#[test]
fn a_hello_of_64_kib_and_one_byte_more() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let padded = |size: usize| {
        let hello = r#"{"type":"vcp-hello","version":"3.1"}"#;
        hello.replace('}', &format!("{}}}", " ".repeat(size - hello.len())))
    };
    assert_eq!(greet(&house, &ann.token, &padded(65_536)).status, 200);
    fails(&greet(&house, &ann.token, &padded(65_537)), 413, "HELLO_INVALID");
    fails(&greet(&house, &ann.token, &padded(300_000)), 413, "HELLO_INVALID");
}

#[test]
fn who_greets_too_often_is_told_to_wait_whatever_they_call_themselves() {
    let limits = Limits { hellos: Some(Rate::per_minute(3)), ..Limits::default() };
    let house = House::limited(limits);
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let named = |name: usize| format!(r#"{{"type":"vcp-hello","version":"3.1","client_id":"agent-{name}/1"}}"#);
    for name in 0..3 {
        assert_eq!(greet(&house, &ann.token, &named(name)).status, 200);
    }
    let limited = greet(&house, &ann.token, &named(3));
    let told = fails(&limited, 429, "RATE_LIMITED");
    let wait = told["retry_after"].as_u64().unwrap();
    assert!((1..=60).contains(&wait), "{told}");
    assert_eq!(limited.headers["retry-after"].to_str().unwrap(), wait.to_string());
    // Another is not held up by that, though they call themselves the same; strangers are one by address.
    assert_eq!(greet(&house, &bob.token, &named(3)).status, 200);
    let strangers = || house.ask("POST", "/v1/hello").json(named(9)).status;
    assert_eq!([strangers(), strangers(), strangers(), strangers()], [200, 200, 200, 429]);
}

#[test]
fn a_session_works_with_the_credential_that_opened_it_alone() {
    let house = offering(Negotiation::default());
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = session(&greet(&house, &ann.token, &asking(&["VCP-X-Consensus"], None)));
    let look = |token: &str| house.ask("GET", "/v1/hello").by(token).header("legation-session", &id).get();
    assert_eq!(look(&ann.token).ok()["supported"], json!(["VCP-X-Consensus"]));
    look(&bob.token).refused(404, "unknown_session");
    look(&house.operator).refused(404, "unknown_session");
    house.ask("GET", "/v1/hello").header("legation-session", &id).get().refused(404, "unknown_session");
    let guessed = format!("ses_{:032x}", 7);
    let by = || house.ask("GET", "/v1/hello").by(&ann.token);
    by().header("legation-session", &guessed).get().refused(404, "unknown_session");
    by().get().refused(428, "hello_required");
    // Also where a session is of no use one that is not theirs is refused.
    let sent = house.ask("POST", "/v1/messages").by(&bob.token).header("legation-session", &id);
    sent.json(bob.cap("ann", "hello")).refused(404, "unknown_session");
    house.ask("DELETE", "/v1/hello").by(&ann.token).header("legation-session", &id).get().ok();
    look(&ann.token).refused(404, "unknown_session");
}

#[test]
fn a_session_takes_no_second_hello() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let id = session(&greet(&house, &ann.token, &asking(&[], None)));
    let again = house.ask("POST", "/v1/hello").by(&ann.token).header("legation-session", &id);
    fails(&again.json(asking(&["VCP-X-Consensus"], None)), 409, "HELLO_INVALID");
    let ack = house.ask("GET", "/v1/hello").by(&ann.token).header("legation-session", &id).get().ok();
    assert_eq!(ack["supported"], json!([]));
}

#[test]
fn a_session_ends_by_itself() {
    let house = offering(Negotiation { session: Duration::from_millis(1), ..Negotiation::default() });
    let ann = house.admit("ann");
    let id = session(&greet(&house, &ann.token, &asking(&[], None)));
    let look = || house.ask("GET", "/v1/hello").by(&ann.token).header("legation-session", &id).get();
    while look().status == 200 {}
    look().refused(404, "unknown_session");
}

#[test]
fn nothing_of_an_extension_that_is_not_active_is_told() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let id = session(&greet(&house, &ann.token, &asking(&["VCP-X-Consensus"], None)));
    let ask = |name: &str, id: Option<&str>| {
        let ask = house.ask("GET", format!("/v1/extensions/{name}")).by(&ann.token);
        id.into_iter().fold(ask, |ask, id| ask.header("legation-session", id)).get()
    };
    assert_eq!(ask("VCP-X-Consensus", Some(&id)).ok()["voting_method"], "schulze");
    ask("VCP-X-Torch", Some(&id)).refused(403, "extension_inactive");
    ask("nonsense", Some(&id)).refused(403, "extension_inactive");
    ask("VCP-X-Consensus", None).refused(428, "hello_required");
    // Below 3.1 there are none.
    let old = r#"{"type":"vcp-hello","version":"3.0","extensions":["VCP-X-Consensus"]}"#;
    let id = session(&greet(&house, &ann.token, old));
    ask("VCP-X-Consensus", Some(&id)).refused(403, "extension_inactive");
}

#[test]
fn an_identity_opens_what_is_kept_about_somebody_until_it_is_revoked() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let token = identity(&house, "user_42");
    let id = session(&greet(&house, &ann.token, &asking(&["VCP-X-Personal", "VCP-X-Consensus"], Some(&token))));
    let ask = |name: &str| {
        let ask = house.ask("GET", format!("/v1/extensions/{name}")).by(&ann.token);
        ask.header("legation-session", &id).get()
    };
    ask("VCP-X-Personal").ok();
    let body = json!({"token": token, "reason": "lost"}).to_string();
    house.ask("POST", "/v1/identities/revoke").by(&house.operator).json(body).ok();
    // The very next request, also to what needs no identity: the session would go on speaking for one.
    ask("VCP-X-Personal").refused(401, "unauthenticated");
    ask("VCP-X-Consensus").refused(401, "unauthenticated");
    fails(&greet(&house, &ann.token, &asking(&[], Some(&token))), 401, "IDENTITY_INVALID");
}

#[test]
fn an_agent_issues_for_itself_and_sees_its_own() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let issue =
        |party: &Party, body: Value| house.ask("POST", "/v1/identities").by(&party.token).json(body.to_string());
    let made = issue(&ann, json!({})).ok();
    assert_eq!(made["subject"], "agent:ann");
    issue(&ann, json!({"subject": "bob"})).refused(403, "not_allowed");
    issue(&ann, json!({"seconds": 86_401})).refused(422, "out_of_range");
    issue(&ann, json!({"seconds": 0})).refused(422, "out_of_range");
    let long = json!({"subject": "x".repeat(129)}).to_string();
    house.ask("POST", "/v1/identities").by(&house.operator).json(long).refused(422, "out_of_range");
    house.ask("POST", "/v1/identities").by(&house.operator).json("{}").refused(422, "schema_invalid");
    let list = |token: &str| house.ask("GET", "/v1/identities").by(token).get();
    assert_eq!(list(&ann.token).ok()["identities"][0]["hash"], made["hash"]);
    assert_eq!(list(&bob.token).ok()["identities"], json!([]));
    assert_eq!(list(&house.operator).ok()["identities"].as_array().unwrap().len(), 1);
    let revoke = |party: &Party| {
        let body = json!({"hash": made["hash"]}).to_string();
        house.ask("POST", "/v1/identities/revoke").by(&party.token).json(body)
    };
    revoke(&bob).refused(404, "not_found");
    revoke(&ann).ok();
    list("lgt_wrong").refused(401, "unauthenticated");
    // It opens what extensions keep, and never a mailbox or a door.
    let text = made["token"].as_str().unwrap();
    house.ask("GET", "/v1/agents/ann/inbox").by(text).get().refused(401, "unauthenticated");
}

/// One text for everything that can be wrong, so that nobody learns from trying.
#[test]
fn every_identity_that_does_not_count_is_refused_alike() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let good = identity(&house, "user_42");
    let revoked = identity(&house, "user_42");
    let body = json!({"token": revoked}).to_string();
    house.ask("POST", "/v1/identities/revoke").by(&house.operator).json(body).ok();
    let own = SecretKey::from_pem(&house.exchange_pem()).unwrap();
    let (key, never) = (SecretKey::from_seed(&[9; 32]), 4_000_000_000);
    let made = |audience, issuer, expires, key: &SecretKey| {
        IdentityToken::issue(audience, issuer, "user_42", expires, key).unwrap().reveal()
    };
    let bad = [
        ("expired", made("local", "local", 1_700_000_000, &own)),
        ("ours, and never issued", made("local", "local", never, &own)),
        ("another audience", made("elsewhere", "local", never, &own)),
        ("another issuer", made("local", "elsewhere", never, &own)),
        ("another key", made("local", "local", never, &key)),
        ("truncated", good[..good.len() - 1].to_owned()),
        ("swapped subject", good.replace("user_42", "user_43")),
        ("longer", good.replace("user_42:", "user_42:9")),
        ("revoked", revoked),
        ("12 hex digits", "vcp:i:local:user_42:4000000000:abc123def456".to_owned()),
        ("empty", String::new()),
        ("nonsense", "x".repeat(10_000)),
    ];
    let mut texts: Vec<_> = bad
        .iter()
        .map(|(what, token)| {
            let answer = greet(&house, &ann.token, &asking(&["VCP-X-Personal"], Some(token)));
            assert_eq!(answer.status, 401, "{what}");
            answer.text
        })
        .collect();
    texts.dedup();
    assert_eq!(texts.len(), 1, "{texts:?}");
    assert!(texts[0].contains("IDENTITY_INVALID"), "{texts:?}");
    assert_eq!(greet(&house, &ann.token, &asking(&["VCP-X-Personal"], Some(&good))).status, 200);
}

#[test]
fn identity_tokens_and_their_revocation_outlast_a_restart() {
    let house = House::open();
    let (ann, good, bad) = (house.admit("ann"), identity(&house, "a"), identity(&house, "b"));
    let body = json!({"token": bad}).to_string();
    house.ask("POST", "/v1/identities/revoke").by(&house.operator).json(body).ok();
    let house = house.restart();
    assert_eq!(greet(&house, &ann.token, &asking(&[], Some(&good))).status, 200);
    fails(&greet(&house, &ann.token, &asking(&[], Some(&bad))), 401, "IDENTITY_INVALID");
}

/// The exchange seals with a key that is not in its ring any more: the next start would open nothing.
#[test]
fn a_lost_core_feature_ends_sessions_and_none_begins_until_it_is_back() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    let id = session(&greet(&house, &ann.token, &asking(&[], None)));
    let look = || house.ask("GET", "/v1/hello").by(&ann.token).header("legation-session", &id).get();
    look().ok();
    let kept = house.lose_key();
    while look().status == 200 {}
    // It has ended, and is not there again.
    look().refused(404, "unknown_session");
    let told = fails(&greet(&house, &ann.token, &asking(&[], None)), 503, "INTERNAL_ERROR");
    assert!(told["message"].as_str().unwrap().contains("encryption"), "{told}");
    house.bring_key(&kept);
    while greet(&house, &ann.token, &asking(&[], None)).status != 200 {
        std::thread::yield_now();
    }
    look().refused(404, "unknown_session");
}

#[test]
fn failed_handshakes_are_on_the_record() {
    let house = offering(Negotiation::default());
    let ann = house.admit("ann");
    fails(&greet(&house, &ann.token, &asking(&["VCP-X-Personal"], None)), 401, "IDENTITY_REQUIRED");
    let refused = || {
        let entries = house.ask("GET", "/v1/audit/entries?limit=1000").by(&house.operator).get().ok();
        let all = entries["entries"].as_array().unwrap().iter();
        all.filter(|entry| entry["effect"]["entry"] == "refused" && entry["effect"]["by"] == "agent ann").count()
    };
    while refused() == 0 {
        std::thread::yield_now();
    }
}

/// The count of hellos with this outcome, or of open sessions by this door.
fn counted(house: &House, label: &str) -> u64 {
    let text = house.ask("GET", "/metrics").get().text;
    let value = text.lines().find_map(|line| line.split_once(label)?.1.strip_prefix("\"} ").map(str::to_owned));
    value.unwrap_or_else(|| panic!("{label}: {text}")).parse().unwrap()
}

#[test]
fn hellos_are_counted_by_what_they_came_to_and_sessions_while_they_are_open() {
    let house = House::told(Settings {
        limits: Limits { hellos: Some(Rate::per_minute(9)), ..Limits::default() },
        negotiation: Negotiation {
            conflicts: vec![(ExtensionName::INTENT, ExtensionName::CONSENSUS)],
            ..Negotiation::default()
        },
        ..Settings::default()
    });
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = session(&greet(&house, &ann.token, &asking(&[], None)));
    let again = house.ask("POST", "/v1/hello").by(&ann.token).header("legation-session", &id);
    fails(&again.json(asking(&[], None)), 409, "HELLO_INVALID");
    for hello in [
        asking(&["VCP-X-Personal"], None),
        asking(&[], Some("vcp:i:local:x:1:y")),
        asking(&["VCP-X-Intent", "VCP-X-Consensus"], None),
        json!({"type": "vcp-hello", "version": "9.0", "min_version": "9.0"}).to_string(),
        "[]".to_owned(),
    ] {
        assert!(greet(&house, &ann.token, &hello).status >= 400);
    }
    while greet(&house, &ann.token, "[]").status != 429 {}
    let mut socket = crate::ws::Socket::framed(&house, &bob.token, "?deliver=off");
    socket.say(asking(&[], None));
    assert_eq!(socket.json()["type"], "vcp-ack");
    let mut plain = crate::ws::Socket::plain(&house, &bob.token, "?deliver=off");
    plain.say(bob.vcp("ann", "no hello"));
    let hello: Value = serde_json::from_str(&asking(&[], None)).unwrap();
    let hosts =
        crate::mcp::BOTH.map(|as_of| crate::mcp::Client::greeting(&house, &bob.token, as_of, Some(hello.clone())));
    drop(crate::mcp::Client::open(&house, &bob.token, crate::mcp::BOTH[0]));
    while counted(&house, "outcome=\"legacy") < 2 {}
    for (outcome, count) in [
        ("ack", 4),
        ("legacy", 2),
        ("VERSION_UNSUPPORTED", 1),
        ("IDENTITY_REQUIRED", 1),
        ("IDENTITY_INVALID", 1),
        ("EXTENSION_CONFLICT", 1),
        ("INTERNAL_ERROR", 0),
    ] {
        assert_eq!(counted(&house, &format!("outcome=\"{outcome}")), count, "{outcome}");
    }
    assert!(counted(&house, "outcome=\"RATE_LIMITED") >= 1 && counted(&house, "outcome=\"HELLO_INVALID") >= 2);
    for (door, count) in [("http", 1), ("websocket", 1), ("mcp", 2)] {
        assert_eq!(counted(&house, &format!("door=\"{door}")), count, "{door}");
    }
    house.ask("DELETE", "/v1/hello").by(&ann.token).header("legation-session", &id).get().ok();
    let ended = house.ask("DELETE", "/mcp").by(&bob.token).header("mcp-session-id", hosts[0].session.as_ref().unwrap());
    assert_eq!(ended.get().status, 204);
    drop(socket);
    for (door, count) in [("http", 0), ("websocket", 0), ("mcp", 1)] {
        while counted(&house, &format!("door=\"{door}")) != count {}
    }
}

/// An agent below a root of an operator's, with its token.
fn child(house: &House, name: &str, parent: &str) -> String {
    let body = json!({"parent": parent}).to_string();
    let answer = house.ask("PUT", format!("/v1/agents/{name}")).by(&house.operator).json(body).ok();
    answer["token"].as_str().unwrap().to_owned()
}

fn looks(house: &House, token: &str, id: &str) -> u16 {
    house.ask("GET", "/v1/hello").by(token).header("legation-session", id).get().status
}

fn few_sessions() -> House {
    let limits = Limits { negotiated_sessions: 12, negotiated_sessions_per_family: 6, ..Limits::default() };
    House::limited(limits)
}

#[test]
fn children_end_no_session_of_another_family() {
    let house = few_sessions();
    let root = |name: &str| house.ask("PUT", format!("/v1/agents/{name}")).by(&house.operator).json("{}").ok();
    for name in ["hog", "victim", "third", "late"] {
        root(name);
    }
    let hello = asking(&[], None);
    let victim = child(&house, "victim-0", "victim");
    let kept = session(&greet(&house, &victim, &hello));
    let children: Vec<_> = (0..20).map(|number| child(&house, &format!("hog-{number}"), "hog")).collect();
    let opened: Vec<_> = children.iter().map(|token| session(&greet(&house, token, &hello))).collect();
    assert_eq!(looks(&house, &victim, &kept), 200);
    // The family makes room among its own, the first to end first.
    let open: Vec<_> = children.iter().zip(&opened).map(|(token, id)| looks(&house, token, id) == 200).collect();
    assert_eq!(open.iter().filter(|open| **open).count(), 6);
    assert!(open[14..].iter().all(|open| *open), "{open:?}");
    // Where there are as many as there may be, who has some makes room, and who has none waits.
    let third = child(&house, "third-0", "third");
    let own: Vec<_> = (0..6).map(|_| session(&greet(&house, &third, &hello))).collect();
    let open = |own: &[String]| own.iter().filter(|id| looks(&house, &third, id) == 200).count();
    assert_eq!(open(&own), 5);
    let late = child(&house, "late-0", "late");
    let refused = greet(&house, &late, &hello);
    let told = fails(&refused, 429, "RATE_LIMITED");
    assert_eq!(refused.headers["retry-after"].to_str().unwrap(), told["retry_after"].as_u64().unwrap().to_string());
    assert_eq!((looks(&house, &victim, &kept), open(&own)), (200, 5));
    let ended = house.ask("DELETE", "/v1/hello").by(&victim).header("legation-session", &kept).get();
    assert_eq!(ended.status, 200);
    session(&greet(&house, &late, &hello));
}

#[test]
fn children_leave_mcp_sessions_to_others() {
    let house = few_sessions();
    for name in ["hog", "victim"] {
        house.ask("PUT", format!("/v1/agents/{name}")).by(&house.operator).json("{}").ok();
    }
    let initialize = |token: &str| {
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"},
        });
        let body = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
        let ask = house.ask("POST", "/mcp").by(token).header("accept", "application/json, text/event-stream");
        ask.json(body.to_string())
    };
    let mut opened = 0;
    for number in 0..10 {
        let answer = initialize(&child(&house, &format!("hog-{number}"), "hog"));
        if answer.status == 200 {
            opened += 1;
        } else {
            let told = answer.refused(429, "quota_exceeded");
            assert!(told["message"].as_str().unwrap().contains("\"hog\""), "{told}");
        }
    }
    assert_eq!(opened, 6);
    assert_eq!(initialize(&child(&house, "victim-0", "victim")).status, 200);
}
