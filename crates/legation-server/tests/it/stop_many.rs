//! Stopping many agents at once, and removing one with those below it, over HTTP.

use crate::house::{Answer, House, path_of};
use crate::words::Party;
use serde_json::json;

/// An agent above another, above a third.
fn line(house: &House) -> [Party; 3] {
    let all = ["top", "parent", "child"].map(|id| house.admit(id));
    for (id, parent) in [("parent", "top"), ("child", "parent")] {
        house.ask("PUT", path_of(id)).by(&house.operator).json(json!({"parent": parent}).to_string()).ok();
    }
    all
}

fn states(house: &House) -> [String; 3] {
    ["top", "parent", "child"].map(|id| {
        let shown = house.ask("GET", path_of(id)).by(&house.operator).get().json();
        shown["state"].as_str().unwrap_or("gone").to_owned()
    })
}

fn order(house: &House, path: &str, token: &str, body: &str) -> Answer {
    house.ask("POST", path).by(token).json(body)
}

#[test]
fn a_subtree_and_everybody_are_stopped_over_http() {
    let house = House::open();
    let [top, parent, child] = line(&house);
    let operator = house.operator.clone();
    let subtree = r#"{"subtree":true}"#;
    order(&house, "/v1/agents/parent/suspend", &top.token, subtree).refused(403, "not_allowed");
    order(&house, "/v1/agents/nemo/suspend", &operator, subtree).refused(404, "unknown_agent");
    order(&house, "/v1/agents/parent/suspend", &operator, subtree).ok();
    assert_eq!(states(&house), ["running", "suspended", "suspended"]);
    for party in [&parent, &child] {
        house.send(party, &party.vcp("top", "a word")).refused(423, "agent_suspended");
    }
    // It lasts over a restart, and a reason may follow.
    let house = house.restart();
    assert_eq!(states(&house), ["running", "suspended", "suspended"]);
    order(&house, "/v1/agents/parent/suspend", &operator, r#"{"subtree":true,"reason":"odd results"}"#).ok();
    let shown = house.ask("GET", path_of("child")).by(&operator).get().ok();
    assert_eq!(shown["stopped"]["reason"], "odd results", "{shown}");
    let both = r#"{"subtree":true,"escalation":"1"}"#;
    order(&house, "/v1/agents/parent/resume", &operator, both).refused(422, "schema_invalid");
    order(&house, "/v1/agents/parent/resume", &operator, subtree).ok();
    assert_eq!(states(&house), ["running"; 3]);

    for path in ["/v1/suspend-all", "/v1/resume-all"] {
        order(&house, path, &top.token, "{}").refused(403, "not_allowed");
        house.ask("POST", path).get().refused(401, "unauthenticated");
        order(&house, path, &operator, r#"{"why":"x"}"#).refused(422, "schema_invalid");
    }
    // No body is needed in a hurry.
    house.ask("POST", "/v1/suspend-all").by(&operator).get().ok();
    assert_eq!(states(&house), ["suspended"; 3]);
    house.ask("PUT", path_of("new")).json("{}").refused(423, "agent_suspended");
    let house = house.restart();
    house.ask("PUT", path_of("new")).json("{}").refused(423, "agent_suspended");
    order(&house, "/v1/suspend-all", &operator, r#"{"reason":"drill"}"#).ok();
    house.ask("POST", "/v1/resume-all").by(&operator).get().ok();
    assert_eq!(states(&house), ["running"; 3]);
    house.ask("POST", "/v1/resume-all").by(&operator).get().refused(404, "unknown_escalation");
    house.send(&child, &child.vcp("top", "a word")).ok();
}

#[test]
fn what_is_below_a_removed_agent_is_kept_suspended_or_removed_over_http() {
    for (query, want) in [
        ("", ["running", "gone", "running"]),
        ("?below=keep", ["running", "gone", "running"]),
        ("?below=suspend", ["running", "gone", "suspended"]),
        ("?below=remove", ["running", "gone", "gone"]),
    ] {
        let house = House::open();
        line(&house);
        let path = format!("{}{query}", path_of("parent"));
        let wrong = house.ask("DELETE", format!("{}?below=them", path_of("parent"))).by(&house.operator).get();
        wrong.refused(422, "schema_invalid");
        house.ask("DELETE", path).by(&house.operator).get().ok();
        assert_eq!(states(&house), want, "{query}");
    }
}
