//! What people are told, by the door for those who may see everything.

use crate::house::House;

#[test]
fn an_id_that_is_used_twice_is_told_to_those_who_see_everything() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let id = crate::words::fresh_id();
    let message = |says: &str| ann.signed(&ann.unsigned_vcp("bob", says, &id, 0));
    house.send(&ann, &message("one thing")).ok();
    house.send(&ann, &message("another")).refused(409, "message_id_conflict");
    let (mut after, mut found) = (0, None);
    while found.is_none() {
        let listed = house.ask("GET", format!("/v1/alerts?wait=60&after={after}")).by(&house.operator).get().ok();
        after = listed["next"].as_u64().unwrap();
        found = listed["alerts"].as_array().unwrap().iter().find(|alert| alert["kind"] == "conflict").cloned();
    }
    let alert = found.unwrap();
    assert_eq!((&alert["about"], &alert["realm"], &alert["count"]), (&"agent ann".into(), &"local".into(), &1.into()));
    assert!(!alert.to_string().contains(&id), "nothing that was sent is told: {alert}");
    house.ask("GET", "/v1/alerts").by(&bob.token).get().refused(403, "not_allowed");
    house.ask("GET", "/v1/alerts?wait=61").by(&house.operator).get().refused(422, "out_of_range");
}
