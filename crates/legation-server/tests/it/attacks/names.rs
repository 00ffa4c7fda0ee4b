//! Names that are somebody else's, nobody's, or have two spellings.

use super::{Scene, VCP};
use crate::house::{House, encoded, path_of};
use crate::words::{Party, fresh_id};

#[test]
fn nobody_signs_as_one_of_the_reserved_names() {
    let scene = Scene::new();
    for name in ["broadcast", "user", "orchestrator", "broker", "system", "exchange", "*", ""] {
        let nobody = Party::new(name);
        let message = nobody.signed(&nobody.unsigned_vcp("bob", "x", &fresh_id(), 0));
        let answer = scene.vcp(&message);
        assert!((400..500).contains(&answer.status), "{name}: {answer:?}");
        assert_eq!(answer.json()["error"], "reserved_id", "{name}");
        scene.post(&message).refused(403, "reserved_id");
        if !name.is_empty() {
            scene.house.ask("PUT", path_of(name)).json("{}").refused(403, "reserved_id");
        }
    }
    scene.untouched();
}

#[test]
fn an_agent_has_one_spelling() {
    let scene = Scene::new();
    let child = scene.house.admit("agent://orchestrator.local/child-1");
    scene.house.send(&child, &child.vcp("bob", "by its name")).ok();
    for name in [
        "agent://ORCHESTRATOR.local/child-1",
        "AGENT://orchestrator.local/child-1",
        "agent://orchestrator.local:7400/child-1",
        "agent://me@orchestrator.local/child-1",
        "agent://orchestrator.local/x/../child-1",
        "agent://orchestrator.local/./child-1",
        "agent://orchestrator.local/child%2D1",
        "agent://orchestrator.local/child-1/",
        "agent://orchestrator.local//child-1",
        "agent://orchestrator.local/child-1?x",
        "agent://orchestrator.local/child-1#x",
        "agent://orchestrator.local/child-1 ",
    ] {
        let message = child.unsigned_vcp("bob", "x", &fresh_id(), 0).replace(&child.id, name);
        let answer = scene.vcp(child.signed(&message));
        assert_eq!(answer.refused(422, "bad_agent_id")["retryable"], false, "{name}");
        let put = scene.house.ask("PUT", path_of(name)).json("{}");
        assert_eq!(put.status, 422, "{name}: {put:?}");
    }
    assert_eq!(scene.delivered().len(), 1);
}

#[test]
fn a_name_that_looks_like_another_is_nobodys() {
    let scene = Scene::new();
    scene.house.admit("pm-1");
    for twin in ["\u{440}m-1", "pm\u{2011}1", "PM-1", "pm-1.", "pm-\u{661}", "p\u{1d5c6}-1"] {
        let message = scene.ann.unsigned_vcp(twin, "x", &fresh_id(), 0);
        let answer = scene.vcp(scene.ann.signed(&message));
        assert!([404, 422].contains(&answer.status), "{twin}: {answer:?}");
        let put = scene.house.ask("PUT", path_of(twin)).json("{}");
        assert_eq!(put.status, 422, "{twin}: {put:?}");
    }
    scene.untouched();
}

#[test]
fn control_characters_are_in_no_name() {
    let scene = Scene::new();
    for bad in ["a\0b", "a\u{1b}[2J", "a\r\nb", "a\u{202e}b", "a\u{200d}b", "a\u{7f}", "a\u{feff}"] {
        scene.house.ask("PUT", path_of(bad)).json("{}").refused(422, "bad_agent_id");
        let escaped = serde_json::to_string(bad).unwrap();
        let message = scene.ann.unsigned_vcp("nemo", "x", &fresh_id(), 0).replace("\"nemo\"", &escaped);
        scene.refused(scene.ann.signed(&message), 422, "bad_agent_id");
    }
    scene.untouched();
}

#[test]
fn names_in_paths_are_decoded_once_and_lead_nowhere_else() {
    let scene = Scene::new();
    let get = |path: &str| scene.house.ask("GET", path).by(&scene.house.operator).get();
    for path in ["%2f", "a%2fb", "%00", "%2e%2e", "..%2fann", "%2561nn", "ann%20", "ann%00", "%5c..%5cann", "a%0d%0ab"]
    {
        get(&format!("/v1/agents/{path}")).refused(404, "unknown_agent");
        get(&format!("/v1/agents/{path}/inbox")).refused(404, "unknown_agent");
    }
    for path in ["%ff", "%c0%af", "%ed%a0%80"] {
        get(&format!("/v1/agents/{path}")).refused(400, "bad_unicode");
    }
    // However it is written, it is the same agent.
    assert_eq!(get(&format!("/v1/agents/{}", encoded("ann"))).ok()["id"], "ann");
    for path in ["/v1//agents/ann", "/v1/agents/ann/", "/v1/./agents/ann", "/V1/agents/ann", "//v1/agents"] {
        get(path).refused(404, "not_found");
    }
    scene.untouched();
}

/// Those of cases 0, 1 and 11 of "Taming the many `EdDSAs`", table 6, and others of small order.
#[test]
fn keys_under_which_anything_verifies_are_never_registered() {
    let scene = Scene::new();
    for key in [
        "ed25519:xxdqcD1N2E+6PAt2DRBnDyogU/osOczGTsf9d5KsA/o=",
        "ed25519:7P///////////////////////////////////////38=",
        "ed25519:7P////////////////////////////////////////8=",
        "ed25519:AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
        "ed25519:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
    ] {
        let body = format!(r#"{{"keys":["{key}"]}}"#);
        assert_eq!(scene.house.ask("PUT", "/v1/agents/eve").json(body).refused(422, "weak_key")["at"], "/keys/0");
    }
    // So nobody is there in whose name the signatures of the table would count.
    scene.house.ask("GET", "/v1/agents/eve").by(&scene.house.operator).get().refused(404, "unknown_agent");
    scene.untouched();
}

#[test]
fn a_signature_has_one_spelling_and_one_algorithm() {
    let scene = Scene::new();
    let signed = scene.ann.vcp("bob", "x");
    let (head, rest) = signed.split_once("base64:").unwrap();
    let good = rest.split('"').next().unwrap();
    let tampered = |signature: &str| format!("{head}{signature}\"}}");
    for signature in [
        "base64:====".to_owned(),
        "base64:AA==".to_owned(),
        "base64:".to_owned(),
        String::new(),
        good.to_owned(),
        format!("base64:{}", good.trim_end_matches('=')),
        format!("base64: {good}"),
        format!("base64:{good} "),
        format!("base64:{}\\n{}", &good[..40], &good[40..]),
        format!("base64url:{good}"),
        format!("base64:_{}", &good[1..]),
        format!("BASE64:{good}"),
        format!("base64:{}A=", &good[..84]),
        format!("base64:{}AAAA", &good[..84]),
        format!("ed25519ph:{good}"),
        "base64:MEUCIQDKZokqnCjrRtw0uYxq5T0gTmF8NJcTVh2aVQIgVvZtTzXn3Yq4bD1v8mP2yqvQm0R5m8kq4yKcvY7m3o0=".to_owned(),
        format!("base64:{}", "A".repeat(342) + "=="),
    ] {
        scene.refused(tampered(&signature), 422, "signature_format");
    }
    // Bits that no byte uses are not free to choose.
    let loose = match &good[85..86] {
        "A" => 'B',
        "Q" => 'R',
        "g" => 'h',
        "w" => 'x',
        last => panic!("{last}"),
    };
    scene.refused(tampered(&format!("base64:{}{loose}==", &good[..85])), 422, "signature_format");
    scene.untouched();
}

#[test]
fn what_is_signed_for_one_house_is_nothing_in_another() {
    let (here, there) = (Scene::new(), House::open());
    let captured = here.ann.vcp("bob", "for this house alone");
    here.vcp(&captured).ok();
    there.ask("POST", VCP).json(&captured).refused(401, "signature_invalid");
    // There are agents of these names there too, with keys of their own.
    let bob = (there.admit("ann"), there.admit("bob")).1;
    there.ask("POST", VCP).json(&captured).refused(401, "signature_invalid");
    assert_eq!(there.inbox(&bob, "")["messages"].as_array().unwrap().len(), 0);
}

#[test]
fn names_of_all_kinds_are_told_apart_by_every_path_that_sets_one() {
    let scene = Scene::new();
    let house = &scene.house;
    let put = |path: String, body: &str| house.ask("PUT", path).by(&house.operator).json(body);
    house.admit("mallory");
    put(path_of("ann"), r#"{"groups":["finance"]}"#).ok();
    house.grant("rita", "reviewer");
    house.ask("POST", "/v1/identities").by(&house.operator).json(r#"{"subject":"user_42"}"#).ok();
    for name in ["finance", "rita", "user_42", "Finance", "Rita", "User_42"] {
        let alias = format!(r#"{{"aliases":{{"vlp":"{name}"}}}}"#);
        let group = format!(r#"{{"groups":["{name}"]}}"#);
        put(path_of(name), "{}").refused(422, "confusable_id");
        put(path_of("mallory"), &alias).refused(422, "confusable_id");
        house.ask("PUT", path_of("stranger")).json(&alias).refused(422, "confusable_id");
        if name != "finance" {
            put(path_of("mallory"), &group).refused(422, "confusable_id");
        }
        if name != "rita" {
            put(format!("/v1/tokens/{name}"), r#"{"role":"auditor"}"#).refused(422, "confusable_id");
        }
    }
    put("/v1/tokens/mallory".to_owned(), r#"{"role":"auditor"}"#).refused(422, "confusable_id");
    let issue = |subject: &str| {
        let body = format!(r#"{{"subject":"external:{subject}"}}"#);
        house.ask("POST", "/v1/identities").by(&house.operator).json(body)
    };
    for subject in ["mallory", "Mallory", "finance", "rita"] {
        issue(subject).refused(422, "confusable_id");
    }
    let collisions = |token: &str| house.ask("GET", "/v1/names/collisions").by(token).get();
    assert_eq!(collisions(&house.operator).ok(), serde_json::json!({"collisions": [], "total": 0}));
    collisions(&scene.ann.token).refused(403, "not_allowed");
}
