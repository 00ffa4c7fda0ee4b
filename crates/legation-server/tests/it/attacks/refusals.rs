//! Refusals are on the record: one by one for those who are known, counted for those who are not.

use super::{Scene, VCP};
use crate::house::{House, path_of};
use legation_protocol::json::Digest;
use legation_server::Limits;
use serde_json::{Value, json};

/// What the entries beyond a position do, once there are so many.
fn effects(house: &House, after: u64, count: usize) -> Vec<Value> {
    let (mut found, mut next) = (Vec::new(), after);
    while found.len() < count {
        let path = format!("/v1/audit/entries?after={next}&limit=1000&wait=60");
        let listed = house.ask("GET", path).by(&house.operator).get().ok();
        next = listed["next"].as_u64().unwrap();
        found.extend(listed["entries"].as_array().unwrap().iter().map(|entry| entry["effect"].clone()));
    }
    found
}

#[test]
fn what_an_agent_was_refused_is_on_the_record_one_by_one() {
    let scene = Scene::new();
    let (house, token) = (&scene.house, &scene.ann.token);
    let post = || house.ask("POST", "/v1/messages").by(token);
    let (nonsense, stray) = ("nonsense", scene.ann.cap("nemo", "x"));
    post().json(nonsense).refused(400, "bad_json");
    post().json(&stray).refused(404, "unknown_recipient");
    post().header("content-type", "text/plain").send(b"{}").refused(415, "unsupported_media_type");
    post().json(vec![b' '; 300_000]).refused(413, "too_large");
    post().header("legation-signature", "x").json("{}").refused(422, "signature_format");
    post().lines(format!("{}\n", "x".repeat(300_000)));
    house.ask("GET", format!("{}/inbox", path_of("bob"))).by(token).get().refused(403, "not_allowed");
    house.ask("POST", "/v1/agents/ann/ack").by(token).json("[1]").refused(400, "not_an_object");
    house.ask("PUT", "/v1/agents/bob").by(token).json("{}").refused(403, "not_allowed");
    // That there is nothing is an answer, and no refusal.
    house.ask("GET", "/v1/agents/nemo").by(token).get().refused(404, "unknown_agent");
    house.ask("GET", "/nowhere").by(token).get().refused(404, "not_found");
    house.send(&scene.ann, &scene.ann.cap("bob", "last")).ok();
    let refused =
        |code: &str, digest: Value| json!({"entry": "refused", "by": "agent ann", "code": code, "digest": digest});
    let of = |bytes: &str| json!(Digest::of_bytes(bytes.as_bytes()).to_string());
    let mut effects = effects(house, 1, 10);
    let says = |effect: &Value| effect["says"].as_str().map(str::to_owned);
    assert!(effects[1]["id"].is_string() && says(&effects[1]).is_some_and(|says| says.contains("not registered")));
    // Why is on the record too, in the words they were told.
    for effect in effects.iter_mut().filter_map(Value::as_object_mut) {
        effect.retain(|name, _| !["says", "at", "spec", "id"].contains(&name.as_str()));
    }
    let stray_digest = effects[1]["digest"].clone();
    assert!(stray_digest.as_str().unwrap().starts_with("sha256:"), "{stray_digest}");
    assert_eq!(
        effects[..9],
        [
            refused("bad_json", of(nonsense)),
            refused("unknown_recipient", stray_digest),
            refused("unsupported_media_type", Value::Null),
            refused("too_large", Value::Null),
            refused("signature_format", Value::Null),
            refused("too_large", Value::Null),
            refused("not_allowed", Value::Null),
            refused("not_an_object", of("[1]")),
            refused("not_allowed", Value::Null),
        ]
    );
    assert_eq!((effects.len(), &effects[9]["entry"]), (10, &json!("accepted")));
}

/// An agent's rejections beyond a number are counted: entries and counts come to all of them.
#[test]
fn however_many_rejections_an_agent_gets_the_record_has_them_all() {
    const SENT: u64 = 5000;
    let scene = Scene::new();
    let (house, token) = (scene.house, scene.ann.token);
    let lines = "nonsense\n".repeat(usize::try_from(SENT).unwrap());
    let told = house.ask("POST", "/v1/messages").by(&token).lines(lines).text;
    assert_eq!(told.lines().filter(|line| line.contains("bad_json")).count() as u64, SENT);
    // The counts of this minute are written at the end.
    let house = house.restart();
    let size = house.ask("GET", "/v1/audit/head").get().ok()["size"].as_u64().unwrap();
    let effects = effects(&house, 1, usize::try_from(size - 2).unwrap());
    let refused = effects.iter().filter(|effect| effect["entry"] == "refused" && effect["by"] == "agent ann").count();
    assert_eq!(refused, 1000);
    let tallied = effects.iter().flat_map(|effect| effect["refusals"].as_array().cloned().unwrap_or_default());
    let tallied: Vec<_> = tallied.filter(|tally| tally["by"] == "agent ann").collect();
    assert!(tallied.iter().all(|tally| tally["code"] == "bad_json"), "{tallied:?}");
    assert_eq!(tallied.iter().map(|tally| tally["count"].as_u64().unwrap()).sum::<u64>(), SENT - 1000);
}

#[test]
fn what_strangers_were_refused_is_counted_and_makes_one_entry() {
    let limits = Limits { failures: None, ..Limits::default() };
    let house = House::limited(limits);
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let plain = ann.cap("bob", "by nobody");
    for _ in 0..200 {
        house.ask("POST", VCP).json("nonsense").refused(400, "bad_json");
        house.ask("POST", "/v1/messages").json(&plain).refused(401, "unauthenticated");
        house
            .ask("POST", "/v1/messages")
            .header("content-type", "text/plain")
            .send(b"x")
            .refused(415, "unsupported_media_type");
        house.ask("GET", "/v1/agents").by("lgt_guess").get().refused(401, "unauthenticated");
        house.ask("PUT", "/v1/agents/ann").json("{}").refused(409, "agent_exists");
    }
    let line = house.ask("POST", "/v1/messages").lines("y".repeat(300_000));
    assert!(line.text.contains("too_large"), "{line:?}");
    house.ask("GET", "/healthz").header("host", "evil.test").get().refused(403, "forbidden_origin");
    house.ask("GET", "/nowhere").get().refused(404, "not_found");
    assert_eq!(house.ask("GET", "/v1/audit/head").get().ok()["size"], 2);
    // The last minute's counts are not lost with the process.
    let house = house.restart();
    assert_eq!(house.ask("GET", "/v1/audit/head").get().ok()["size"], 3);
    let tallied = effects(&house, 1, 1).remove(0);
    let counts: Vec<_> = tallied["refusals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tally| {
            assert_eq!(tally["source"], "127.0.0.1");
            (tally["code"].as_str().unwrap(), tally["count"].as_u64().unwrap())
        })
        .collect();
    assert_eq!(tallied["entry"], "tallied");
    assert_eq!(
        counts,
        [
            ("agent_exists", 200),
            ("bad_json", 200),
            ("forbidden_origin", 1),
            ("too_large", 1),
            ("unauthenticated", 400),
            ("unsupported_media_type", 200),
        ]
    );
    let digest = |code: &str| {
        tallied["refusals"].as_array().unwrap().iter().find(|tally| tally["code"] == code).unwrap()["digest"].clone()
    };
    assert_eq!(digest("bad_json"), json!(Digest::of_bytes(b"nonsense").to_string()));
    assert_eq!(digest("unsupported_media_type"), Value::Null);
}

#[test]
fn being_told_to_wait_is_counted_too() {
    let limits = Limits { failures: Some(legation_engine::Rate::per_minute(3)), ..Limits::default() };
    let house = House::limited(limits);
    for _ in 0..3 {
        house.ask("POST", VCP).json("nonsense").refused(400, "bad_json");
    }
    for _ in 0..5 {
        house.ask("POST", VCP).json("nonsense").refused(429, "rate_limited");
    }
    let house = house.restart();
    let listed = house.ask("GET", "/v1/audit/entries").by(&house.operator).get().ok();
    let tallies = &listed["entries"][0]["effect"]["refusals"];
    assert_eq!((&tallies[1]["code"], &tallies[1]["count"]), (&json!("rate_limited"), &json!(5)), "{listed}");
    assert_eq!(listed["entries"].as_array().unwrap().len(), 1);
}
