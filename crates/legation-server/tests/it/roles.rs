//! Which role reaches which route: everybody at every door.

use crate::house::{House, encoded};
use crate::words::Party;

/// What a door says to somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    /// Come in.
    Yes,
    /// 403.
    No,
    /// 401.
    Who,
}

use Says::{No, Who, Yes};

/// The order of the columns below.
const COLUMNS: [&str; 7] = ["operator", "auditor", "reviewer", "orchestrator", "own", "other", "nobody"];

/// A request, and what it is answered to each of [`COLUMNS`].
type Row = (&'static str, String, String, [Says; 7]);

fn rows(key: &str, position: u64) -> Vec<Row> {
    let key = encoded(key);
    let fresh = Party::new("x").key.public();
    let acks = format!(r#"{{"positions":[{position}]}}"#);
    let row = |method, path: &str, body: &str, says| (method, path.to_owned(), body.to_owned(), says);
    vec![
        row("GET", "/v1/agents", "", [Yes, Yes, Yes, Yes, Yes, Yes, Who]),
        row("GET", "/v1/agents/ann", "", [Yes, Yes, Yes, Yes, Yes, Yes, Who]),
        row("GET", "/v1/agents/ann/keys", "", [Yes, Yes, Yes, Yes, Yes, Yes, Who]),
        row("GET", "/v1/agents/ann/inbox", "", [Yes, Yes, No, No, Yes, No, Who]),
        row("GET", "/v1/agents/user/inbox", "", [Yes, Yes, Yes, No, No, No, Who]),
        row("GET", "/v1/agents/orchestrator/inbox", "", [Yes, Yes, No, Yes, No, No, Who]),
        row("GET", "/v1/dead-letters", "", [Yes, Yes, Yes, Yes, Yes, Yes, Who]),
        row("GET", "/v1/dead-letters?agent=ann", "", [Yes, Yes, No, No, Yes, No, Who]),
        row("GET", "/v1/dead-letters?agent=user", "", [Yes, Yes, Yes, No, No, No, Who]),
        row("GET", "/v1/audit/head", "", [Yes, Yes, Yes, Yes, Yes, Yes, Yes]),
        row("GET", "/v1/audit/entries", "", [Yes, Yes, No, No, No, No, Who]),
        row("GET", "/v1/alerts", "", [Yes, Yes, No, No, No, No, Who]),
        row("GET", "/v1/tokens", "", [Yes, Yes, No, No, No, No, Who]),
        row("PUT", "/v1/agents/ann", r#"{"model":"m"}"#, [Yes, No, No, No, Yes, No, Who]),
        row("PUT", "/v1/agents/new", "{}", [Yes, No, No, No, No, No, Who]),
        row("PUT", "/v1/tokens/pat", r#"{"role":"auditor"}"#, [Yes, No, No, No, No, No, Who]),
        row("DELETE", "/v1/tokens/pat", "", [Yes, No, No, No, No, No, Who]),
        row("GET", "/v1/session", "", [Yes, Yes, Yes, Yes, No, No, Who]),
        row("POST", "/v1/signin-links", "{}", [Yes, No, No, No, No, No, Who]),
        row("POST", "/v1/agents/ann/ack", &acks, [Yes, No, No, No, Yes, No, Who]),
        row("POST", "/v1/agents/user/ack", &acks, [Yes, No, Yes, No, No, No, Who]),
        row("POST", "/v1/agents/orchestrator/ack", &acks, [Yes, No, No, Yes, No, No, Who]),
        row("POST", "/v1/agents/ann/purge", "{}", [Yes, No, No, No, No, No, Who]),
        row("POST", "/v1/agents/ann/keys", &format!(r#"{{"key":"{fresh}"}}"#), [Yes, No, No, No, No, No, Who]),
        row("POST", &format!("/v1/agents/ann/keys/{key}"), r#"{"state":"REVOKED"}"#, [Yes, No, No, No, Yes, No, Who]),
        row("DELETE", "/v1/agents/ann", "", [Yes, No, No, No, No, No, Who]),
    ]
}

#[test]
fn every_role_reaches_what_it_may_and_nothing_else() {
    // Those who come in change what the next would find, so each has a house of their own.
    for (column, name) in COLUMNS.into_iter().enumerate() {
        let house = House::under(legation_exchange::Policy::default());
        let admit = |id: &str, key: &str| {
            let body = format!(r#"{{"keys":["{key}"]}}"#);
            let made = house.ask("PUT", format!("/v1/agents/{id}")).by(&house.operator).json(body).ok();
            made["token"].as_str().unwrap().to_owned()
        };
        let (ann, bob) = (Party::new("ann"), Party::new("bob"));
        let key = ann.key.public().to_string();
        let (own, other) = (admit("ann", &key), admit("bob", &bob.key.public().to_string()));
        let token = match name {
            "operator" => Some(house.operator.clone()),
            "auditor" | "reviewer" | "orchestrator" => Some(house.grant("x", name)),
            "own" => Some(own),
            "other" => Some(other),
            _ => None,
        };
        for (method, path, body, says) in rows(&key, 1) {
            let ask = house.ask(method, &path);
            let ask = token.iter().fold(ask, |ask, token| ask.by(token));
            let answer = if body.is_empty() { ask.get() } else { ask.json(&body) };
            let got = match answer.status {
                403 => No,
                401 => Who,
                200..300 => Yes,
                _ => panic!("{name}: {method} {path}: {answer:?}"),
            };
            assert_eq!(got, says[column], "{name}: {method} {path}: {answer:?}");
        }
    }
}

#[test]
fn an_auditor_sees_everything_and_says_nothing() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let anna = house.grant("anna", "auditor");
    house.send(&ann, &ann.cap("bob", "x")).ok();
    let listed = house.ask("GET", "/v1/agents/bob/inbox").by(&anna).get().ok();
    assert_eq!(listed["messages"].as_array().unwrap().len(), 1);
    let post = |message: String| house.ask("POST", "/v1/messages").by(&anna).json(message);
    post(ann.cap("bob", "x")).refused(403, "sender_mismatch");
    post(ann.cap("bob", "x").replace("\"ann\"", "\"user\"")).refused(403, "reserved_id");
    // Not even where anybody may register.
    house.ask("PUT", "/v1/agents/new").by(&anna).json("{}").refused(403, "not_allowed");
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
}
