//! The demo from the page: for operators on this machine, where it gets in nobody's way.

use crate::house::House;
use legation_server::{Demo, Settings};
use serde_json::json;

fn with(program: &str) -> House {
    let demo = Some(Demo { program: program.into(), url: String::new(), data: "nowhere".into() });
    House::told(Settings { demo, ..Settings::default() })
}

#[test]
fn it_is_for_operators_by_token_or_by_a_page_of_ours() {
    let house = with("true");
    let (rita, otto) = (house.grant("rita", "reviewer"), house.grant("otto", "auditor"));
    for who in [&rita, &otto] {
        assert_eq!(house.ask("GET", "/v1/demo").by(who).get().ok()["offered"], false);
        house.ask("POST", "/v1/demo").by(who).get().refused(403, "not_allowed");
    }
    house.ask("POST", "/v1/demo").get().refused(401, "unauthenticated");
    let entered = house.ask("POST", "/signin").form(&format!("token={}", house.operator));
    let cookie = entered.headers["set-cookie"].to_str().unwrap().split(';').next().unwrap().to_owned();
    house.ask("POST", "/v1/demo").header("cookie", &cookie).get().refused(403, "forbidden_origin");
    let csrf =
        house.ask("GET", "/v1/session").header("cookie", &cookie).get().ok()["csrf"].as_str().unwrap().to_owned();
    let played = house.ask("POST", "/v1/demo").header("cookie", &cookie).header("legation-csrf", &csrf).get();
    assert_eq!((played.status, &played.json()["playing"]), (202, &json!(true)));
}

#[test]
fn it_is_played_where_nobody_is_but_who_played_it_before() {
    let house = with("true");
    let offered = || house.ask("GET", "/v1/demo").by(&house.operator).get().ok()["offered"].clone();
    let play = || house.ask("POST", "/v1/demo").by(&house.operator).get();
    assert_eq!(offered(), true);
    house.admit("demo-pm");
    assert_eq!(offered(), true);
    play().ok();
    house.admit("ann");
    assert_eq!(offered(), false);
    play().refused(403, "not_allowed");
}

#[test]
fn one_that_breaks_off_is_said_to_have() {
    let house = with("false");
    house.ask("POST", "/v1/demo").by(&house.operator).get().ok();
    let told = || house.ask("GET", "/v1/demo").by(&house.operator).get().ok();
    let over = std::iter::repeat_with(told).find(|told| told["playing"] == false).unwrap();
    assert_eq!(over["failed"], true);
}

#[test]
fn without_a_program_to_play_it_there_is_none() {
    let house = House::open();
    assert_eq!(house.ask("GET", "/v1/demo").by(&house.operator).get().ok()["offered"], false);
    house.ask("POST", "/v1/demo").by(&house.operator).get().refused(403, "not_allowed");
}
