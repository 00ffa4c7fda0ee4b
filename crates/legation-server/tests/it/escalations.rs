//! Escalations over real sockets: who is stopped, who sees it, who lets them go on.

use crate::house::House;
use crate::words::{Party, fresh_id};
use crate::ws::Socket;
use serde_json::{Value, json};

/// A child below a parent below a top.
fn line(house: &House) -> (Party, Party, Party) {
    let (top, parent, child) = (house.admit("top"), house.admit("parent"), house.admit("child"));
    for (id, above) in [("child", "parent"), ("parent", "top")] {
        let body = json!({"parent": above}).to_string();
        house.ask("PUT", format!("/v1/agents/{id}")).by(&house.operator).json(body).ok();
    }
    (top, parent, child)
}

fn state(house: &House, id: &str) -> Value {
    house.ask("GET", format!("/v1/agents/{id}")).by(&house.operator).get().ok()["state"].clone()
}

fn open(house: &House, token: &str) -> Vec<Value> {
    house.ask("GET", "/v1/escalations").by(token).get().ok()["escalations"].as_array().unwrap().clone()
}

#[test]
fn an_emergency_suspends_until_the_parent_resumes() {
    let house = House::open();
    let (top, parent, child) = line(&house);
    let id = fresh_id();
    house.send(&child, &child.alarm("top", "emergency", &fresh_id())).refused(403, "not_parent");
    house.send(&child, &child.alarm("parent", "emergency", &id)).ok();
    assert_eq!(state(&house, "child"), "suspended");
    house.send(&child, &child.cap("top", "anything")).refused(423, "agent_suspended");
    let told = house.ask("GET", "/v1/agents/top/inbox").by(&top.token).get().ok();
    let reason = told["messages"][0]["message"]["payload"]["reason"].as_str().unwrap();
    assert_eq!(reason, format!("PROPAGATED:{id}:child: the reactor"));
    house.send(&top, &top.acks("child", "emergency", &id)).refused(409, "ack_unmatched");
    house.send(&parent, &parent.acks("child", "emergency", &id)).ok();
    house.send(&top, &top.resume("child", &id)).refused(403, "not_parent");
    house.ask("GET", "/v1/agents/child/inbox").by(&child.token).get().ok();
    house.send(&parent, &parent.resume("child", &id)).ok();
    assert_eq!(state(&house, "child"), "running");
    house.send(&child, &child.cap("top", "anything")).ok();
}

#[test]
fn parties_and_those_who_see_everything_see_it() {
    let house = House::open();
    let (top, parent, child) = line(&house);
    let stranger = house.admit("stranger");
    let id = fresh_id();
    let position = house.send(&child, &child.alarm("parent", "critical", &id)).ok()["position"].clone();
    for (token, sees) in
        [(&house.operator, 1), (&child.token, 1), (&parent.token, 1), (&top.token, 0), (&stranger.token, 0)]
    {
        let seen = open(&house, token);
        assert_eq!(seen.len(), sees);
        let shown = house.ask("GET", "/v1/agents/child").by(token).get().ok();
        assert_eq!((&shown["state"], shown["escalations"].as_array().unwrap().len()), (&json!("paused"), sees));
    }
    let one = &open(&house, &child.token)[0];
    assert_eq!((&one["id"], &one["position"], &one["state"]), (&json!(id), &position, &json!("unanswered")));
    house.ask("GET", "/v1/escalations").get().refused(401, "unauthenticated");
    house.ask("GET", "/v1/escalations?state=none").by(&house.operator).get().refused(422, "schema_invalid");
    let ack = |token: &str| house.ask("POST", format!("/v1/escalations/{id}/ack")).by(token).get();
    for token in [&child.token, &top.token, &stranger.token] {
        ack(token).refused(409, "ack_unmatched");
    }
    ack(&house.operator).ok();
    ack(&house.operator).refused(409, "ack_unmatched");
    assert_eq!(open(&house, &house.operator)[0]["acknowledged_by"], "operator");
}

#[test]
fn a_parent_acknowledges_and_resumes_with_its_own_token() {
    let house = House::open();
    let (top, parent, child) = line(&house);
    let id = fresh_id();
    house.send(&child, &child.alarm("parent", "critical", &id)).ok();
    house.ask("POST", format!("/v1/escalations/{id}/ack")).by(&parent.token).get().ok();
    assert_eq!(open(&house, &parent.token)[0]["acknowledged_by"], "parent");
    let resume = |token: &str| {
        let body = json!({"reason": "looked into it", "escalation": id}).to_string();
        house.ask("POST", "/v1/agents/child/resume").by(token).json(body)
    };
    for token in [&child.token, &top.token] {
        resume(token).refused(403, "not_parent");
    }
    resume(&parent.token).ok();
    assert_eq!(state(&house, "child"), "running");
    let all = house.ask("GET", "/v1/escalations?state=all").by(&house.operator).get().ok();
    assert_eq!(all["escalations"][0]["closed_by"], "parent");
    resume(&parent.token).refused(404, "unknown_escalation");
}

#[test]
fn an_operator_stops_an_agent_and_it_stays_so_over_a_restart() {
    let house = House::open();
    let (_, _, child) = line(&house);
    let order = |house: &House, what: &str, token: &str, body: &str| {
        house.ask("POST", format!("/v1/agents/child/{what}")).by(token).json(body)
    };
    order(&house, "suspend", &child.token, r#"{"reason":"x"}"#).refused(403, "not_allowed");
    order(&house, "suspend", &house.operator, r#"{"reason":" "}"#).refused(422, "schema_invalid");
    order(&house, "suspend", &house.operator, "{}").refused(422, "schema_invalid");
    order(&house, "suspend", &house.operator, r#"{"reason":"odd results"}"#).ok();
    let house = house.restart();
    assert_eq!(state(&house, "child"), "suspended");
    house.send(&child, &child.cap("top", "x")).refused(423, "agent_suspended");
    order(&house, "resume", &house.operator, r#"{"reason":"looked into it"}"#).ok();
    order(&house, "resume", &house.operator, r#"{"reason":"again"}"#).refused(404, "unknown_escalation");
    house.send(&child, &child.cap("top", "x")).ok();
}

#[test]
fn a_suspended_agent_gets_around_it_by_no_key_and_no_socket() {
    let house = House::open();
    let (_, parent, child) = line(&house);
    let second = Party { key: Party::new("second").key, token: child.token.clone(), ..Party::new("child") };
    let body = json!({"key": second.key.public().to_string()}).to_string();
    assert_eq!(house.ask("POST", "/v1/agents/child/keys").by(&house.operator).json(body).status, 201);
    house.send(&second, &second.vcp("top", "by the second key")).ok();
    house.send(&child, &child.vcp("top", "by the first, while both count")).ok();
    let id = fresh_id();
    house.send(&child, &child.alarm("parent", "emergency", &id)).ok();
    let house = house.restart();
    for party in [&child, &second] {
        house.send(party, &party.vcp("top", "still here")).refused(423, "agent_suspended");
        let mut socket = Socket::framed(&house, &party.token, "?deliver=off");
        for message in [party.vcp("top", "on a new socket"), party.cap("top", "on a new socket")] {
            socket.say(message);
            assert_eq!(next(&mut socket, "refusal")["error"], "agent_suspended");
        }
    }
    house.send(&parent, &parent.resume("child", &id)).ok();
    house.send(&second, &second.vcp("top", "again")).ok();
}

/// The next frame of a type.
fn next(socket: &mut Socket, kind: &str) -> Value {
    loop {
        let frame = socket.json();
        if frame["type"] == kind {
            return frame;
        }
    }
}

#[test]
fn sockets_hear_who_is_stopped_and_who_goes_on() {
    let house = House::open();
    let (_, parent, child) = line(&house);
    let mut below = Socket::framed(&house, &child.token, "");
    let mut above = Socket::framed(&house, &parent.token, "");
    // Both are there once they are answered.
    for (socket, party) in [(&mut below, &child), (&mut above, &parent)] {
        socket.say(party.cap("top", "here"));
        next(socket, "verdict");
    }
    let id = fresh_id();
    below.say(child.alarm("parent", "emergency", &id));
    for socket in [&mut below, &mut above] {
        let frame = next(socket, "standing");
        assert_eq!(
            (&frame["agent"], &frame["state"], &frame["escalations"]),
            (&json!("child"), &json!("suspended"), &json!([id]))
        );
    }
    below.say(child.cap("top", "more"));
    assert_eq!(next(&mut below, "refusal")["error"], "agent_suspended");
    let mut again = Socket::framed(&house, &child.token, "?deliver=off");
    assert_eq!(next(&mut again, "standing")["state"], "suspended", "who comes back is told");
    above.say(parent.resume("child", &id));
    for socket in [&mut above, &mut again] {
        let frame = next(socket, "standing");
        assert_eq!((&frame["state"], &frame["escalations"]), (&json!("running"), &json!([])));
    }
}

#[test]
fn an_alarm_finds_room_where_nothing_else_does() {
    let policy = legation_exchange::Policy { open_registration: true, mailbox_limit: 1, ..Default::default() };
    let house = House::under(policy);
    let (_, _, child) = line(&house);
    house.send(&child, &child.cap("parent", "one")).ok();
    house.send(&child, &child.cap("parent", "two")).refused(429, "mailbox_full");
    house.send(&child, &child.alarm("parent", "critical", &fresh_id())).ok();
    house.send(&child, &child.alarm("parent", "emergency", &fresh_id())).ok();
}

#[test]
fn they_are_listed_in_either_order_with_their_reasons() {
    let house = House::open();
    let (_, _, child) = line(&house);
    let sent: Vec<_> =
        (0..3).map(|_| house.send(&child, &child.alarm("parent", "warning", &fresh_id())).ok()).collect();
    let positions: Vec<_> = sent.iter().map(|told| told["position"].clone()).collect();
    let list = |query: &str| house.ask("GET", format!("/v1/escalations?{query}")).by(&house.operator).get().ok();
    let first = list("order=newest&limit=2");
    let of = |told: &Value| {
        told["escalations"].as_array().unwrap().iter().map(|one| one["position"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(&first), [positions[2].clone(), positions[1].clone()]);
    assert_eq!(of(&list(&format!("order=newest&after={}", first["next"]))), [positions[0].clone()]);
    assert_eq!(of(&list("")), positions);
    assert_eq!(first["escalations"][0]["reason"], "the reactor");
}

#[test]
fn why_an_agent_stands_still_is_told_to_itself_and_to_those_who_see_everything() {
    let house = House::open();
    let (_, parent, child) = line(&house);
    let rita = house.grant("rita", "reviewer");
    let shown = |token: &str| house.ask("GET", "/v1/agents/child").by(token).get().ok();
    assert_eq!(shown(&house.operator).get("stopped"), None);
    let position = house.send(&child, &child.alarm("parent", "critical", &fresh_id())).ok()["position"].clone();
    for token in [&house.operator, &child.token] {
        let stopped = shown(token)["stopped"].clone();
        assert_eq!((&stopped["by"], &stopped["reason"]), (&json!("agent child"), &json!("the reactor")));
        assert_eq!(stopped["escalation"], position);
    }
    for token in [&rita, &parent.token] {
        let shown = shown(token);
        assert_eq!((&shown["state"], shown.get("stopped"), shown.get("waiting")), (&json!("paused"), None, None));
    }
    house.ask("POST", "/v1/agents/child/suspend").by(&house.operator).json(r#"{"reason":"too loud"}"#).ok();
    let stopped = shown(&house.operator)["stopped"].clone();
    assert_eq!((&stopped["by"], &stopped["reason"]), (&json!("operator"), &json!("too loud")));
    assert_eq!(stopped["escalation"], Value::Null);
}
