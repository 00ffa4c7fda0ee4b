//! Tokens of people, and the principals they speak as.

use crate::house::House;

#[test]
fn a_person_gets_a_token_with_a_role_and_loses_it_at_once() {
    let house = House::open();
    let put = |name: &str, role: &str| {
        house.ask("PUT", format!("/v1/tokens/{name}")).by(&house.operator).json(format!(r#"{{"role":"{role}"}}"#))
    };
    let made = put("rita", "auditor");
    assert_eq!(made.status, 201);
    let made = made.json();
    assert_eq!(made["person"], serde_json::json!({"name": "rita", "role": "auditor"}));
    let rita = made["token"].as_str().unwrap();
    let listed = house.ask("GET", "/v1/tokens").by(rita).get();
    assert!(!listed.text.contains(rita) && !listed.text.contains("sha256"), "{}", listed.text);
    assert_eq!(listed.ok(), serde_json::json!({"people": [{"name": "rita", "role": "auditor"}]}));
    // Another role counts for the token that is in use already.
    let again = put("rita", "reviewer");
    assert_eq!(again.status, 200);
    house.ask("GET", "/v1/tokens").by(rita).get().refused(403, "not_allowed");
    let gone = house.ask("DELETE", "/v1/tokens/rita").by(&house.operator).get().ok();
    assert_eq!(gone["withdrawn"], "rita");
    for token in [rita, again.json()["token"].as_str().unwrap()] {
        house.ask("GET", "/v1/agents").by(token).get().refused(401, "unauthenticated");
    }
    house.ask("DELETE", "/v1/tokens/rita").by(&house.operator).get().refused(404, "not_found");
    put("rita", "king").refused(422, "schema_invalid");
    put("operator", "operator").refused(403, "reserved_id");
    put("%20rita", "auditor").refused(422, "schema_invalid");
    put("%ff", "auditor").refused(400, "bad_unicode");
}

#[test]
fn a_new_token_ends_the_old_one_when_it_is_first_used() {
    let house = House::open();
    let first = house.grant("olga", "operator");
    let lost = house.grant("olga", "operator");
    let third = house.grant("olga", "operator");
    let uses = |token: &str| house.ask("PUT", "/v1/tokens/anna").by(token).json(r#"{"role":"auditor"}"#);
    uses(&first).ok();
    uses(&lost).refused(401, "unauthenticated");
    uses(&first).ok();
    // Whatever is decided after the first use finds the old one gone.
    uses(&third).ok();
    uses(&first).refused(401, "unauthenticated");
}

#[test]
fn an_agent_changes_its_token_and_an_answer_that_was_lost_locks_nobody_out() {
    let house = House::open();
    let ann = house.admit("ann");
    let rotate = |token: &str| house.ask("PUT", "/v1/agents/ann").by(token).json(r#"{"rotate_token":true}"#);
    let changed = rotate(&ann.token);
    assert_eq!(changed.status, 200);
    let lost = changed.json()["token"].as_str().unwrap().to_owned();
    let second = rotate(&ann.token).ok()["token"].as_str().unwrap().to_owned();
    let change = |token: &str| house.ask("PUT", "/v1/agents/ann").by(token).json(r#"{"model":"m"}"#);
    change(&lost).refused(401, "unauthenticated");
    assert!(change(&ann.token).ok().get("token").is_none());
    change(&second).ok();
    change(&ann.token).refused(401, "unauthenticated");
    house.ask("PUT", "/v1/agents/ann").json(r#"{"rotate_token":true}"#).refused(409, "agent_exists");
}

#[test]
fn a_principal_has_a_mailbox_for_the_people_who_speak_as_it() {
    let house = House::open();
    let ann = house.admit("ann");
    let (rita, otto) = (house.grant("rita", "reviewer"), house.grant("otto", "orchestrator"));
    let say = |token: &str, sender: &str| {
        let message = ann.cap("ann", "x").replacen("\"ann\"", &format!("\"{sender}\""), 1);
        house.ask("POST", "/v1/messages").by(token).json(message)
    };
    for (token, sender, fine) in [
        (&rita, "user", true),
        (&otto, "orchestrator", true),
        (&house.operator, "user", true),
        (&house.operator, "orchestrator", true),
        (&rita, "orchestrator", false),
        (&otto, "user", false),
        (&ann.token, "user", false),
        (&ann.token, "orchestrator", false),
    ] {
        let answer = say(token, sender);
        if fine { drop(answer.ok()) } else { drop(answer.refused(403, "reserved_id")) }
    }
    let sent = house.send(&ann, &ann.cap("user", "An answer.")).ok()["position"].as_u64().unwrap();
    let inbox = |token: &str| house.ask("GET", "/v1/agents/user/inbox").by(token).get();
    for token in [&otto, &ann.token] {
        inbox(token).refused(403, "not_allowed");
        let ack = house.ask("POST", "/v1/agents/user/ack").by(token).json(r#"{"position":99}"#);
        ack.refused(403, "not_allowed");
    }
    assert_eq!(inbox(&house.operator).ok()["messages"][0]["position"], sent);
    assert_eq!(inbox(&rita).ok()["messages"][0]["message"]["content"], "An answer.");
    house.ask("POST", "/v1/agents/user/ack").by(&rita).json(format!(r#"{{"position":{sent}}}"#)).ok();
    assert_eq!(inbox(&rita).ok()["messages"].as_array().unwrap().len(), 0);
    house.ask("GET", "/v1/agents/system/inbox").by(&house.operator).get().refused(404, "unknown_agent");
}
