//! Calls that end otherwise than they began: the caller gone or suspended, the exchange stopped or killed.

use super::workshop::{Generation, Workshop};
use super::{LATE, Office, at};
use crate::house::{House, path_of};
use crate::words::fresh_id;
use serde_json::{Value, json};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The newest call, once something has come of it.
fn ended(house: &House) -> Value {
    loop {
        let calls = house.ask("GET", "/v1/tools/calls?limit=1").by(&house.operator).get().ok();
        if !calls["calls"][0]["answer"].is_null() {
            return calls["calls"][0].clone();
        }
        std::thread::yield_now();
    }
}

#[test]
fn a_client_that_hangs_up_loses_neither_entry() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let body = json!({ "server_id": "Docs", "tool": "hang", "arguments": {} }).to_string();
    let mut socket = office.house.connect();
    let head = format!(
        "POST /v1/tools/call HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer {}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n",
        office.reader,
        body.len()
    );
    socket.write_all(format!("{head}{body}").as_bytes()).unwrap();
    shop.next();
    drop(socket);
    shop.go_on.add_permits(1);
    let call = ended(&office.house);
    assert_eq!((&call["tool"], &call["answer"]["outcome"]), (&json!("hang"), &json!("result")));
    // Whoever called finds out what became of it.
    let path = format!("/v1/tools/calls/{}", call["call"]);
    let seen = office.house.ask("GET", path).by(&office.reader).get().ok();
    assert_eq!(seen["answer"]["said"]["result"]["content"][0]["text"], "at last");
}

#[test]
fn a_suspended_agent_is_not_handed_what_came_meanwhile() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let order = |verb: &str| {
        let path = format!("{}/{verb}", path_of("reader"));
        office.house.ask("POST", path).by(&office.house.operator).json(r#"{"reason":"to look"}"#).ok();
    };
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| office.call("hang"));
        shop.next();
        order("suspend");
        shop.go_on.add_permits(1);
        waiting.join().unwrap().refused(423, "agent_suspended");
    });
    office.call("read_file").refused(423, "agent_suspended");
    assert!(shop.is_idle(), "nothing was sent");
    let call = office.last();
    assert_eq!((&call["tool"], &call["answer"]["outcome"]), (&json!("hang"), &json!("result")));
    // It is not to be had on another way either, before it goes on.
    for position in [&call["call"], &call["answer"]["position"]] {
        let see = |token: &str| office.house.ask("GET", format!("/v1/tools/calls/{position}")).by(token).get().ok();
        let facts = see(&office.reader);
        assert_eq!((facts.get("arguments"), facts["answer"].get("said")), (None, None), "{facts}");
        assert_eq!(see(&office.house.operator)["answer"]["said"]["result"]["content"][0]["text"], "at last");
    }
    order("resume");
    let path = format!("/v1/tools/calls/{}", call["call"]);
    let whole = office.house.ask("GET", path).by(&office.reader).get().ok();
    assert_eq!(whole["answer"]["said"]["result"]["content"][0]["text"], "at last");
    office.call("read_file").ok();
}

#[test]
fn a_paused_agent_calls_nothing() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let (_above, below) = (office.house.admit("above"), office.house.admit("below"));
    let manifest = json!({
        "id": "below", "system_prompt": "You work.", "allowed_agents": [], "delegate_rules": {},
        "mcp_bindings": [{ "server_id": "Docs", "scopes": [], "allowed_tools": ["read_file"] }],
    });
    let wanted = json!({ "parent": "above", "manifest": manifest }).to_string();
    office.house.ask("PUT", path_of("below")).by(&office.house.operator).json(wanted).ok();
    let call = || {
        let body = json!({ "server_id": "Docs", "tool": "read_file" }).to_string();
        office.house.ask("POST", "/v1/tools/call").by(&below.token).json(body)
    };
    call().ok();
    office.house.send(&below, &below.alarm("above", "critical", &fresh_id())).ok();
    shop.next();
    call().refused(423, "agent_paused");
    assert!(shop.is_idle(), "nothing was sent");
}

#[test]
fn instances_have_the_places_of_one() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    let instance = |id: &str| {
        let asked = office.house.ask("PUT", path_of(id)).by(&office.house.operator);
        asked.json(r#"{"instance_of":"reader"}"#).ok()["token"].as_str().unwrap().to_owned()
    };
    let tokens = [office.reader.clone(), instance("reader-2"), instance("reader-3")];
    let call = |token: &str, tool: &str| {
        let body = json!({ "server_id": "Docs", "tool": tool }).to_string();
        office.house.ask("POST", "/v1/tools/call").by(token).json(body)
    };
    std::thread::scope(|scope| {
        let waiting: Vec<_> = tokens
            .iter()
            .cycle()
            .take(8)
            .map(|token| {
                let call = &call;
                scope.spawn(move || call(token, "hang"))
            })
            .collect();
        for _ in &waiting {
            drop(shop.next());
        }
        for token in &tokens {
            call(token, "read_file").refused(429, "rate_limited");
        }
        shop.go_on.add_permits(8);
        for one in waiting {
            drop(one.join().unwrap().ok());
        }
    });
    assert!(shop.is_idle());
}

#[test]
fn calls_are_made_at_the_pace_of_messages() {
    let shop = Workshop::open(Generation::Sessions);
    let data = Arc::new(tempfile::tempdir().unwrap());
    let pace = Some(legation_engine::Rate::per_minute(2));
    let office = Office::at_pace(data, vec![at("Docs", &shop.url(), LATE)], pace);
    let answers: Vec<_> = (0..3).map(|_| office.call("read_file").status).collect();
    assert_eq!(answers, [200, 200, 429]);
}

#[test]
fn no_more_calls_are_under_way_than_there_are_places() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    std::thread::scope(|scope| {
        let waiting: Vec<_> = (0..8).map(|_| scope.spawn(|| office.call("hang"))).collect();
        for _ in &waiting {
            drop(shop.next());
        }
        let refused = office.call("read_file").refused(429, "rate_limited");
        assert_eq!(refused["retryable"], true);
        shop.go_on.add_permits(8);
        for one in waiting {
            drop(one.join().unwrap().ok());
        }
    });
    assert!(shop.is_idle());
    office.call("read_file").ok();
}

#[test]
fn a_stop_in_good_order_writes_down_what_is_not_known() {
    let shop = Workshop::open(Generation::Sessions);
    let server = legation_server::Settings { drain: Duration::from_secs(2), ..legation_server::Settings::default() };
    let data = Arc::new(tempfile::tempdir().unwrap());
    let Office { mut house, reader } = Office::on(data, vec![at("Docs", &shop.url(), LATE)], server);
    let body = json!({ "server_id": "Docs", "tool": "hang" }).to_string();
    let (url, body) = (format!("http://{}/v1/tools/call", house.address), body.clone());
    let waiting = std::thread::spawn(move || {
        let agent: ureq::Agent = ureq::Agent::config_builder().http_status_as_error(false).build().into();
        let asked = agent.post(&url).header("authorization", format!("Bearer {reader}"));
        let mut response = asked.header("content-type", "application/json").send(body).unwrap();
        (response.status().as_u16(), response.body_mut().read_to_string().unwrap())
    });
    shop.next();
    house.stop();
    let (status, text) = waiting.join().unwrap();
    let told: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((status, &told["error"], &told["retryable"]), (504, &json!("tool_timeout"), &json!(false)), "{text}");
    let house = house.restart();
    assert_eq!(ended(&house)["answer"]["outcome"], "interrupted");
}

#[test]
fn a_kill_between_call_and_answer_is_closed_at_the_next_start() {
    let shop = Workshop::open(Generation::Sessions);
    let office = Office::with(vec![at("Docs", &shop.url(), LATE)]);
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| office.call("hang"));
        shop.next();
        // What the disk has at this moment is what a kill would leave.
        let left = Arc::new(tempfile::tempdir().unwrap());
        copy(office.house.data(), left.path());
        let after = Office::on(left, Vec::new(), legation_server::Settings::default());
        let call = ended(&after.house);
        assert_eq!((&call["tool"], &call["answer"]["outcome"]), (&json!("hang"), &json!("interrupted")));
        assert!(call["answer"].get("digest").is_none());
        shop.go_on.add_permits(1);
        waiting.join().unwrap().ok();
    });
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}
