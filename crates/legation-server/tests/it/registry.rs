//! Registering agents and looking them up.

use crate::house::{House, path_of};
use crate::words::Party;
use legation_exchange::Policy;
use legation_exchange::record::Disclosed;
use serde_json::Value;

/// Entries as they are shown, to the byte.
#[derive(serde::Deserialize)]
struct Page {
    entries: Vec<Disclosed>,
}

const WEAK: &str = "ed25519:AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";

#[test]
fn an_agent_is_new_once_and_gets_its_token_then() {
    let house = House::open();
    let put = |by: &str, body: &str| house.ask("PUT", "/v1/agents/ann").by(by).json(body);
    let made =
        house.ask("PUT", "/v1/agents/ann").json(r#"{"dialects":["vcp","vlp"],"aliases":{"vlp":"The Observer"}}"#);
    assert_eq!(made.status, 201);
    let made = made.json();
    assert_eq!(made["agent"]["id"], "ann");
    assert_eq!(made["agent"]["aliases"]["vlp"], "The Observer");
    assert_eq!(made["agent"]["state"], "running");
    let token = made["token"].as_str().unwrap();
    let changed = put(token, r#"{"capabilities":{"topics":["weather"]}}"#);
    assert_eq!(changed.status, 200);
    let changed = changed.json();
    assert!(changed.get("token").is_none(), "{changed}");
    assert_eq!(changed["agent"]["dialects"].as_array().unwrap().len(), 2);
    house.ask("PUT", "/v1/agents/ann").json("{}").refused(409, "agent_exists");
    let other = house.admit("bob");
    put(&other.token, "{}").refused(403, "not_allowed");
    put(token, r#"{"groups":["admins"]}"#).refused(403, "not_allowed");
    assert_eq!(put(&house.operator, r#"{"groups":["admins"]}"#).status, 200);
}

#[test]
fn an_id_may_be_a_uri_or_a_name_with_spaces() {
    let house = House::open();
    for id in ["agent://orchestrator.local/child-1", "The Observer", "Zoë"] {
        let party = house.admit(id);
        let shown = house.ask("GET", path_of(id)).by(&party.token).get().ok();
        assert_eq!(shown["id"], id);
    }
}

#[test]
fn registration_that_is_not_open_takes_the_operator_or_the_parent() {
    let house = House::under(Policy::default());
    house.ask("PUT", "/v1/agents/ann").json("{}").refused(401, "unauthenticated");
    let made = house.ask("PUT", "/v1/agents/ann").by(&house.operator).json("{}").ok();
    let token = made["token"].as_str().unwrap();
    house.ask("PUT", "/v1/agents/other").by(token).json("{}").refused(403, "not_allowed");
    house.ask("PUT", "/v1/agents/child").by(token).json(r#"{"parent":"ann"}"#).ok();
    house.ask("PUT", "/v1/agents/lost").by(&house.operator).json(r#"{"parent":"nemo"}"#).refused(422, "bad_parent");
}

#[test]
fn a_name_that_looks_like_anothers_is_refused() {
    let house = House::open();
    house.admit("pm-1");
    for twin in ["рm-1", "PM-1", "pm-l", "pm‑1", "pm-1."] {
        house.ask("PUT", path_of(twin)).json("{}").refused(422, "confusable_id");
    }
    house.ask("PUT", "/v1/agents/x").json(r#"{"aliases":{"vlp":"Pm-1"}}"#).refused(422, "confusable_id");
    for bad in [
        "a\u{200b}b",
        "a\nb",
        " a",
        "a ",
        "agent://HOST/x",
        "agent://h/../x",
        "agent://h/%2e%2e/x",
        "agent://user@h/x",
        "agent://h:80/x",
    ] {
        house.ask("PUT", path_of(bad)).json("{}").refused(422, "bad_agent_id");
    }
    house.ask("PUT", "/v1/agents/system").json("{}").refused(403, "reserved_id");
}

#[test]
fn keys_that_prove_nothing_are_refused() {
    let house = House::open();
    let keys = |keys: &[&str]| house.ask("PUT", "/v1/agents/ann").json(serde_json::json!({ "keys": keys }).to_string());
    let refused = keys(&[WEAK]).refused(422, "weak_key");
    assert_eq!(refused["at"], "/keys/0");
    keys(&["ed25519:AAAA"]).refused(422, "bad_key");
    keys(&["rsa:AAAA"]).refused(422, "bad_key");
    let three: Vec<_> = ["a", "b", "c"].map(|id| Party::new(id).key.public().to_string()).into();
    let three: Vec<_> = three.iter().map(String::as_str).collect();
    keys(&three).refused(422, "too_many_keys");
    assert_eq!(keys(&three[..2]).status, 201);
}

#[test]
fn a_registration_is_strict_json_of_known_members() {
    let house = House::open();
    let put = |body: &str| house.ask("PUT", "/v1/agents/ann").json(body);
    put(r#"{"keys":[],"keys":[]}"#).refused(400, "duplicate_key");
    put("").refused(400, "bad_json");
    put("[]").refused(400, "not_an_object");
    put(r#"{"rights":"all"}"#).refused(422, "schema_invalid");
    put(r#"{"keys":"ed25519:AAAA"}"#).refused(422, "schema_invalid");
    put(r#"{"dialects":["klingon"]}"#).refused(422, "schema_invalid");
}

#[test]
fn null_takes_away_what_can_be_taken_away() {
    let house = House::under(Policy::default());
    house.ask("PUT", "/v1/agents/boss").by(&house.operator).json("{}").ok();
    let made = r#"{"parent":"boss","model":"m","capabilities":{"topics":["x"]}}"#;
    let made = house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(made).ok();
    let put = |by: &str, body: &str| house.ask("PUT", "/v1/agents/ann").by(by).json(body);
    let own = made["token"].as_str().unwrap();
    let refused = put(own, r#"{"parent":null}"#).refused(403, "not_allowed");
    assert_eq!(refused["at"], "/parent");
    let left = put(own, r#"{"model":null,"capabilities":null}"#).ok();
    assert_eq!((&left["agent"]["model"], &left["agent"]["parent"]), (&Value::Null, &"boss".into()));
    let freed = put(&house.operator, r#"{"parent":null}"#).ok();
    assert_eq!(freed["agent"]["parent"], Value::Null);
    for member in ["groups", "manifest", "instance_of", "keys"] {
        let refused = put(&house.operator, &format!(r#"{{"{member}":null}}"#)).refused(422, "schema_invalid");
        assert!(refused["message"].as_str().unwrap().contains("null takes nothing away here"), "{refused}");
    }
}

#[test]
fn secrets_are_shown_to_nobody_they_do_not_concern() {
    let house = House::open();
    let other = house.admit("bob");
    let body = r#"{"manifest":{"id":"ann","system_prompt":"canary-prompt","allowed_agents":[],"delegate_rules":{},"mcp_bindings":[]},"keys":[]}"#;
    let made = house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(body).ok();
    let token = made["token"].as_str().unwrap();
    for (who, sees) in [(token, true), (house.operator.as_str(), true), (other.token.as_str(), false)] {
        for path in ["/v1/agents/ann", "/v1/agents"] {
            let answer = house.ask("GET", path).by(who).get();
            assert_eq!(answer.text.contains("canary-prompt"), sees, "{path}");
            assert!(!answer.text.contains("\"token\"") && !answer.text.contains(token), "{path}");
            answer.ok();
        }
    }
    // The record keeps it; an auditor is shown that something is withheld, and can still compute every leaf.
    let auditor = house.grant("uma", "auditor");
    for (who, sees) in [(house.operator.as_str(), true), (auditor.as_str(), false)] {
        let answer = house.ask("GET", "/v1/audit/entries").by(who).get();
        assert_eq!(answer.text.contains("canary-prompt"), sees);
        assert_eq!(answer.text.contains("withheld"), !sees);
        let page: Page = serde_json::from_str(&answer.text).unwrap();
        assert!(page.entries.iter().all(Disclosed::is_sound));
    }
}

#[test]
fn the_directory_finds_agents_by_what_they_can_do() {
    let house = House::open();
    let told = [
        ("ann", r#"{"capabilities":{"topics":["weather"],"actions":[{"name":"forecast"}]}}"#),
        ("bob", r#"{"capabilities":{"actions":["forecast","sail"]}}"#),
        ("carl", "{}"),
    ];
    for (id, body) in told {
        house.ask("PUT", path_of(id)).json(body).ok();
    }
    let find = |query: &str| {
        let found = house.ask("GET", format!("/v1/agents{query}")).by(&house.operator).get().ok();
        let ids: Vec<_> =
            found["agents"].as_array().unwrap().iter().map(|a| a["id"].as_str().unwrap().to_owned()).collect();
        ids.join(" ")
    };
    assert_eq!(find(""), "ann bob carl");
    assert_eq!(find("?capability=forecast"), "ann bob");
    assert_eq!(find("?capability=weather"), "ann");
    assert_eq!(find("?capability=fly"), "");
}

#[test]
fn only_an_operator_removes_an_agent() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("DELETE", "/v1/agents/bob").by(&ann.token).get().refused(403, "not_allowed");
    house.ask("DELETE", "/v1/agents/bob").by(&bob.token).get().refused(403, "not_allowed");
    let gone = house.ask("DELETE", "/v1/agents/bob").by(&house.operator).get().ok();
    assert_eq!(gone["removed"], "bob");
    house.ask("GET", "/v1/agents/bob").by(&house.operator).get().refused(404, "unknown_agent");
    house.ask("DELETE", "/v1/agents/bob").by(&house.operator).get().refused(404, "unknown_agent");
    // With the agent its token is gone, and nobody can write to it.
    house.ask("GET", "/v1/agents").by(&bob.token).get().refused(401, "unauthenticated");
    house.send(&ann, &ann.cap("bob", "x")).refused(404, "unknown_recipient");
}

#[test]
fn a_registration_that_is_to_be_new_changes_nobody() {
    let house = House::open();
    let ask = |body: &str| house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(body);
    assert_eq!(ask(r#"{"only_new":true,"model":"first"}"#).status, 201);
    ask(r#"{"only_new":true,"model":"second"}"#).refused(409, "agent_exists");
    let shown = house.ask("GET", "/v1/agents/ann").by(&house.operator).get().ok();
    assert_eq!((&shown["model"], &shown["waiting"]), (&"first".into(), &0.into()));
}

#[test]
fn the_source_of_a_registration_is_shown_to_operators_and_auditors_only() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let (auditor, reviewer) = (house.grant("uma", "auditor"), house.grant("rita", "reviewer"));
    for (who, sees) in
        [(&ann.token, false), (&bob.token, false), (&reviewer, false), (&auditor, true), (&house.operator, true)]
    {
        for path in ["/v1/agents/ann", "/v1/agents"] {
            let answer = house.ask("GET", path).by(who).get();
            assert_eq!(answer.text.contains("\"registered_from\":\"127.0.0.1\""), sees, "{path}");
            assert_eq!(answer.text.contains("127.0.0.1"), sees, "{path}");
        }
    }
}

#[test]
fn the_directory_is_listed_page_by_page() {
    let house = House::open();
    let want: Vec<_> = (0..150).map(|number| format!("agent-{number:03}")).collect();
    for (number, name) in want.iter().enumerate() {
        let about = if number % 50 == 7 { r#"{"capabilities":{"topics":["tea"]}}"# } else { "{}" };
        house.ask("PUT", path_of(name)).by(&house.operator).json(about).ok();
    }
    let page = |query: &str| {
        let page = house.ask("GET", format!("/v1/agents{query}")).by(&house.operator).get().ok();
        let ids = page["agents"].as_array().unwrap().iter().map(|agent| agent["id"].as_str().unwrap().to_owned());
        (ids.collect::<Vec<_>>(), page["next"].as_str().map(str::to_owned))
    };
    assert_eq!(page(""), (want[..100].to_vec(), Some(want[99].clone())));
    assert_eq!(page("?limit=1000"), (want.clone(), None));
    assert_eq!(page("?limit=150").1, None);
    let (mut all, mut next) = (Vec::new(), Some(String::new()));
    while let Some(after) = next {
        let (ids, then) = page(&format!("?limit=40&after={after}"));
        assert!(ids.len() <= 40);
        all.extend(ids);
        next = then;
    }
    assert_eq!(all, want);
    let able: Vec<_> = [7, 57, 107].map(|number| want[number].clone()).into();
    assert_eq!(page("?capability=tea"), (able.clone(), None));
    assert_eq!(page("?capability=tea&limit=2"), (able[..2].to_vec(), Some(able[1].clone())));
    assert_eq!(page("?after=agent-149"), (Vec::new(), None));
    for limit in ["0", "1001"] {
        let answer = house.ask("GET", format!("/v1/agents?limit={limit}")).by(&house.operator).get();
        answer.refused(422, "out_of_range");
    }
}
