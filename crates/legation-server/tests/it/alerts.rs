//! What people are told, by the door for those who may see everything.

use crate::house::House;
use serde_json::Value;

/// The first alert of a kind.
pub(crate) fn told(house: &House, kind: &str) -> Value {
    let mut after = 0;
    loop {
        let listed = house.ask("GET", format!("/v1/alerts?wait=60&after={after}")).by(&house.operator).get().ok();
        after = listed["next"].as_u64().unwrap();
        if let Some(alert) = listed["alerts"].as_array().unwrap().iter().find(|alert| alert["kind"] == kind) {
            return alert.clone();
        }
    }
}

#[test]
fn an_emergency_is_told_and_so_is_what_a_removal_leaves_behind() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(r#"{"parent":"bob"}"#).ok();
    let taken = house.send(&ann, &ann.alarm("bob", "emergency", &crate::words::fresh_id())).ok();
    let alert = told(&house, "emergency");
    assert_eq!((&alert["about"], &alert["position"]), (&"ann".into(), &taken["position"]));
    assert!(!alert.to_string().contains("reactor"), "nothing that was sent is told: {alert}");
    house.ask("DELETE", "/v1/agents/bob").by(&house.operator).get().ok();
    let alert = told(&house, "dead_letter");
    assert_eq!(
        (&alert["about"], &alert["count"]),
        (&bob.id.as_str().into(), &2.into()),
        "the alarm, and that its child is stopped"
    );
}

#[test]
fn an_id_that_is_used_twice_is_told_to_those_who_see_everything() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = crate::words::fresh_id();
    let message = |says: &str| ann.signed(&ann.unsigned_vcp("bob", says, &id, 0));
    house.send(&ann, &message("one thing")).ok();
    house.send(&ann, &message("another")).refused(409, "message_id_conflict");
    let alert = told(&house, "conflict");
    assert_eq!((&alert["about"], &alert["realm"], &alert["count"]), (&"ann".into(), &"local".into(), &1.into()));
    assert!(!alert.to_string().contains(&id), "nothing that was sent is told: {alert}");
    house.ask("GET", "/v1/alerts").by(&bob.token).get().refused(403, "not_allowed");
    house.ask("GET", "/v1/alerts?wait=61").by(&house.operator).get().refused(422, "out_of_range");
}
