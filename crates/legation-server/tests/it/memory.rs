//! Memory (VLP XI): what an agent finds of its earlier sessions, over sockets.

use crate::house::{House, encoded, path_of};
use crate::words::{Party, fresh_id, time_from_now};
use legation_engine::Settings;
use legation_exchange::Policy;
use serde_json::{Value, json};

/// A memory, with these members beside those that all have.
fn kept(from: &Party, to: &str, more: &Value) -> String {
    let mut message = json!({
        "id": format!("CTX-{}-0001", &fresh_id()[30..]), "protocol": "VLP/1.1", "type": "notice",
        "timestamp": time_from_now(0), "sender": from.id, "receiver": to,
        "content": "Nothing.", "confidence": 0.5,
    });
    let members = more.as_object().unwrap().clone();
    message.as_object_mut().unwrap().extend(members);
    message.to_string()
}

fn tell(house: &House, from: &Party, to: &str, more: &Value) -> u64 {
    house.send(from, &kept(from, to, more)).ok()["position"].as_u64().unwrap()
}

fn recall(house: &House, token: &str, query: &str) -> Value {
    house.ask("GET", format!("/v1/memory?{query}")).by(token).get().ok()
}

fn found(house: &House, token: &str, query: &str) -> Vec<u64> {
    let all = recall(house, token, query);
    all["memories"].as_array().unwrap().iter().map(|memory| memory["position"].as_u64().unwrap()).collect()
}

#[test]
fn a_later_session_finds_what_an_earlier_one_kept() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("PUT", path_of("ann")).by(&house.operator).json(r#"{"aliases":{"vlp":"The Observer"}}"#).ok();
    let context = json!({
        "type": "session_context", "session_id": "S-2025-01-04-observer-abc123", "topic": "Research",
        "content": "Completed research on Oklahoma gas stations. Next: verify pricing data.",
        "keywords": ["research", "Oklahoma", "gas  stations", "pending:pricing"],
        "payload": {"pending": ["price_verification"]},
    });
    let first = tell(&house, &ann, "bob", &context);
    let second =
        tell(&house, &ann, "bob", &json!({"topic": "pricing", "keywords": ["oklahoma", "completed:pricing", "x"]}));
    tell(&house, &bob, "ann", &json!({"content": "unrelated"}));
    house.send(&ann, &ann.cap("bob", "Oklahoma, in another dialect")).ok();
    let house = house.restart();
    for (query, want) in [
        ("keywords=oklahoma", vec![second, first]),
        ("keywords=OKLAHOMA,research", vec![first]),
        ("keywords=oklahoma,%20absent", vec![]),
        ("keywords=pending:", vec![first]),
        ("keywords=completed:pri*", vec![second]),
        ("keywords=Gas%20Stations", vec![first]),
        ("keywords=okla*&topic=PRICING", vec![second]),
        ("text=verify%20data", vec![first]),
        ("text=oklahoma", vec![second, first]),
        ("session=S-2025-01-04-observer-abc123", vec![first]),
        ("type=session_context&sender=The%20Observer", vec![first]),
        ("keywords=oklahoma&text=&sender=&topic=&since=", vec![second, first]),
        ("keywords=oklahoma&sender=bob", vec![]),
        ("keywords=oklahoma&since=2020-01-01T00:00:00Z&limit=1", vec![second]),
        ("keywords=oklahoma&until=2020-01-01T00:00:00Z", vec![]),
    ] {
        for token in [&ann.token, &bob.token, &house.operator] {
            assert_eq!(found(&house, token, query), want, "{query}");
        }
    }
    let memory = recall(&house, &bob.token, "keywords=pending:&order=best")["memories"][0].clone();
    for name in ["topic", "content", "keywords", "payload", "session_id", "type"] {
        assert_eq!(memory[name], context[name], "{name}");
    }
    assert_eq!((&memory["sender"], &memory["to"], &memory["score"]), (&json!("ann"), &json!(["bob"]), &json!(0)));
}

#[test]
fn memories_are_for_their_parties_and_nobody_else() {
    let house = House::open();
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    for n in 0..5 {
        tell(
            &house,
            &ann,
            "bob",
            &json!({"keywords": ["secret", format!("n{n}"), "topic"], "topic": "plans", "content": "canary"}),
        );
    }
    let auditor = house.grant("otto", "auditor");
    for query in
        ["keywords=secret&limit=2", "keywords=sec*&limit=1&order=best", "text=canary", "topic=plans", "sender=ann", ""]
    {
        let nothing = recall(&house, &eve.token, query);
        assert_eq!(nothing, json!({"memories": [], "next": null}), "{query}");
        assert!(!found(&house, &bob.token, query).is_empty(), "{query}");
        assert_eq!(found(&house, &bob.token, query), found(&house, &auditor, query));
    }
    house.ask("GET", "/v1/memory").get().refused(401, "unauthenticated");
    // A name's new bearer does not remember for the one before.
    house.ask("DELETE", path_of("bob")).by(&house.operator).get().ok();
    let again = house.ask("PUT", path_of("bob")).by(&house.operator).json("{}").ok();
    assert_eq!(found(&house, again["token"].as_str().unwrap(), "keywords=secret"), [0; 0]);
}

#[test]
fn who_has_a_part_in_a_session_finds_all_of_it_where_it_is_named() {
    let house = House::open();
    let (ann, bob, cid, eve) = (house.admit("ann"), house.admit("bob"), house.admit("cid"), house.admit("eve"));
    let more = json!({"session_id": "S-2025-01-04-ann-abc123", "keywords": ["shared", "x", "y"]});
    let for_bob = tell(&house, &ann, "bob", &more);
    let for_cid = tell(&house, &ann, "cid", &more);
    // What waits for a person is its sender's alone.
    let mut held = more.clone();
    held["safety"] = json!({"level": "review", "issues": []});
    let held = tell(&house, &ann, "bob", &held);
    let (named, all) = ("keywords=shared&session=S-2025-01-04-ann-abc123", "keywords=shared");
    assert_eq!(found(&house, &ann.token, named), [held, for_cid, for_bob]);
    for party in [&bob, &cid] {
        assert_eq!(found(&house, &party.token, named), [for_cid, for_bob], "{}", party.id);
    }
    assert_eq!((found(&house, &bob.token, all), found(&house, &cid.token, all)), (vec![for_bob], vec![for_cid]));
    assert_eq!(recall(&house, &eve.token, named), json!({"memories": [], "next": null}));
    let reviewer = house.grant("rita", "reviewer");
    assert_eq!(found(&house, &reviewer, named), [0; 0]);
}

#[test]
fn who_begins_a_session_of_a_forgotten_ones_name_finds_nothing_of_that() {
    let mut policy = Policy { open_registration: true, ..Policy::default() };
    policy.shares.sessions = 1;
    let house = House::under(policy);
    let (ann, bob, eve) = (house.admit("ann"), house.admit("bob"), house.admit("eve"));
    let within = |session: &str| json!({"session_id": session, "content": "canary", "keywords": ["x", "y", "z"]});
    let old = tell(&house, &ann, "bob", &within("S-1"));
    // Ann may own one, and begins another.
    tell(&house, &ann, "bob", &within("S-2"));
    let queries = ["session=S-1", "session=S-1&keywords=x", "session=S-1&text=canary&order=best&limit=1"];
    for query in queries {
        assert_eq!(recall(&house, &eve.token, query), json!({"memories": [], "next": null}), "{query}");
    }
    let new = tell(&house, &eve, "bob", &within("S-1"));
    let more = tell(&house, &bob, "eve", &within("S-1"));
    for query in ["session=S-1", "session=S-1&keywords=x", "session=S-1&text=canary&order=best"] {
        assert_eq!(found(&house, &eve.token, query), [more, new], "{query}");
        // Who had a part in both finds both, each once.
        assert_eq!(found(&house, &bob.token, query), [more, new, old], "{query}");
        assert_eq!(found(&house, &ann.token, query), [old], "{query}");
    }
    let mut seen = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = recall(&house, &eve.token, &format!("session=S-1&limit=1&cursor={cursor}"));
        seen.extend(page["memories"].as_array().unwrap().iter().map(|memory| memory["position"].as_u64().unwrap()));
        let Some(next) = page["next"].as_str() else { break };
        cursor = encoded(next);
    }
    assert_eq!(seen, [more, new], "page by page too");
}

#[test]
fn pages_follow_one_another_in_both_orders() {
    let house = House::open();
    let (ann, _bob) = (house.admit("ann"), house.admit("bob"));
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    for n in 0..21_usize {
        let more = match n % 3 {
            0 => json!({"content": "red and blue"}),
            1 => json!({"content": "red", "topic": "blue"}),
            _ => json!({"keywords": ["red", "blue", "x"]}),
        };
        all[n % 3].push(tell(&house, &ann, "bob", &more));
    }
    for some in &mut all {
        some.reverse();
    }
    let best: Vec<_> = all.iter().rev().flatten().copied().collect();
    let mut newest = best.clone();
    newest.sort_unstable_by(|one, other| other.cmp(one));
    for (order, want) in [("newest", newest), ("best", best)] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = recall(&house, &ann.token, &format!("text=blue%20RED&limit=4&order={order}&cursor={cursor}"));
            seen.extend(page["memories"].as_array().unwrap().iter().map(|memory| memory["position"].as_u64().unwrap()));
            let Some(next) = page["next"].as_str() else { break };
            cursor = encoded(next);
        }
        assert_eq!(seen, want, "{order}");
    }
}

#[test]
fn what_is_erased_is_not_remembered_by_what_it_said() {
    let house = House::open();
    let (ann, _bob) = (house.admit("ann"), house.admit("bob"));
    let more = json!({"keywords": ["canary", "pending:canary", "x"], "topic": "canary", "session_id": "S-1-ann-x"});
    let position = tell(&house, &ann, "bob", &more);
    let erase = json!({"positions": [position], "undelivered": true, "reason": "asked for"});
    house.ask("POST", "/v1/erase").by(&house.operator).json(erase.to_string()).ok();
    let check = |house: &House, when: &str| {
        for query in ["keywords=canary", "keywords=pending:", "keywords=can*", "topic=canary", "text=canary"] {
            assert_eq!(found(house, &ann.token, query), [0; 0], "{query} {when}");
        }
        let left = recall(house, &ann.token, "session=S-1-ann-x")["memories"][0].clone();
        assert_eq!((&left["position"], &left["gone"]["why"]), (&json!(position), &json!("erased")), "{when}");
        assert!(!left.to_string().contains("canary"), "{left}");
    };
    check(&house, "at once");
    let house = house.restart();
    check(&house, "after a start");
}

#[test]
fn an_index_that_is_lost_is_made_again_and_remembers_the_same() {
    let data = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let settings = || {
        let policy = legation_exchange::Policy { open_registration: true, ..Default::default() };
        Settings { policy, ..Settings::on(data.path()) }
    };
    let mut house = House::with(data.clone(), settings(), legation_server::Settings::default());
    let (ann, _bob) = (house.admit("ann"), house.admit("bob"));
    let at = tell(&house, &ann, "bob", &json!({"keywords": ["oklahoma", "pending:pricing", "x"], "topic": "research"}));
    let before = recall(&house, &ann.token, "keywords=pending:,okla*&topic=research");
    assert_eq!(before["memories"][0]["position"], at);
    house.stop();
    std::fs::remove_dir_all(data.path().join("index")).unwrap();
    let house = House::with(data.clone(), settings(), legation_server::Settings::default());
    assert_eq!(recall(&house, &ann.token, "keywords=pending:,okla*&topic=research"), before);
}

#[test]
fn senseless_questions_are_refused() {
    let house = House::open();
    let ann = house.admit("ann");
    for (query, code) in [
        ("limit=0", "out_of_range"),
        ("limit=1001", "out_of_range"),
        ("keywords=ok*", "out_of_range"),
        ("keywords=*", "out_of_range"),
        ("text=*", "out_of_range"),
        ("cursor=x", "out_of_range"),
        ("order=best&cursor=7", "out_of_range"),
        ("type=rumour", "unknown_type"),
        ("since=yesterday", "bad_timestamp"),
        ("order=oldest", "schema_invalid"),
        ("keyword=x", "schema_invalid"),
    ] {
        house.ask("GET", format!("/v1/memory?{query}")).by(&ann.token).get().refused(422, code);
    }
    let many = vec!["k"; 17].join(",");
    house.ask("GET", format!("/v1/memory?keywords={many}")).by(&ann.token).get().refused(422, "out_of_range");
}
