//! Listing, waiting and acknowledging.

use crate::house::House;
use serde_json::Value;

fn positions(listed: &Value) -> Vec<u64> {
    listed["messages"].as_array().unwrap().iter().map(|item| item["position"].as_u64().unwrap()).collect()
}

#[test]
fn what_is_not_acknowledged_is_listed_again() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent: Vec<_> = (0..5)
        .map(|n| house.send(&ann, &ann.cap("bob", &format!("number {n}"))).ok()["position"].as_u64().unwrap())
        .collect();
    let listed = house.inbox(&bob, "");
    assert_eq!(positions(&listed), sent);
    assert_eq!(listed["next"], sent[4]);
    let first = &listed["messages"][0];
    assert!(first["digest"].as_str().unwrap().starts_with("sha256:"), "{first}");
    assert!(first["received_at"].as_str().unwrap().ends_with('Z'), "{first}");
    assert_eq!(positions(&house.inbox(&bob, "")), sent);
    let ack = |body: String| house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(body).ok();
    ack(format!(r#"{{"positions":[{},{}]}}"#, sent[1], sent[3]));
    assert_eq!(positions(&house.inbox(&bob, "")), [sent[0], sent[2], sent[4]]);
    ack(format!(r#"{{"position":{}}}"#, sent[2]));
    assert_eq!(positions(&house.inbox(&bob, "")), [sent[4]]);
    // Acknowledging twice, or what is not there, changes nothing.
    ack(format!(r#"{{"position":{}}}"#, sent[2]));
    ack(r#"{"positions":[0,1]}"#.to_owned());
    assert_eq!(positions(&house.inbox(&bob, "")), [sent[4]]);
}

#[test]
fn a_long_mailbox_is_read_page_by_page() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let many: String = (0..130).map(|n| ann.cap("bob", &format!("number {n}")) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    assert_eq!(positions(&house.inbox(&bob, "")).len(), 100);
    let all = positions(&house.inbox(&bob, "?limit=1000"));
    assert_eq!(all.len(), 130);
    let (mut after, mut seen) = (0, Vec::new());
    loop {
        let listed = house.inbox(&bob, &format!("?limit=33&after={after}"));
        after = listed["next"].as_u64().unwrap();
        match positions(&listed) {
            page if page.is_empty() => break,
            page => seen.extend(page),
        }
    }
    assert_eq!(seen, all);
}

#[test]
fn an_answer_stays_small_when_messages_are_large() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let large = "x".repeat(200_000);
    let many: String = (0..100).map(|_| ann.cap("bob", &large) + "\n").collect();
    house.ask("POST", "/v1/messages").by(&ann.token).lines(many);
    let first = house.inbox(&bob, "?limit=1000");
    let count = positions(&first).len();
    assert!(count < 100, "{count}");
    let rest = house.inbox(&bob, &format!("?limit=1000&after={}", first["next"]));
    assert_eq!(positions(&rest).len(), 100 - count);
}

#[test]
fn a_long_poll_ends_with_the_message_that_comes() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    std::thread::scope(|scope| {
        let poll = scope.spawn(|| house.inbox(&bob, "?wait=60"));
        // Whether the poll began before or after this, it ends with this message and not with its time.
        let sent = house.send(&ann, &ann.cap("bob", "at last")).ok();
        assert_eq!(positions(&poll.join().unwrap()), [sent["position"].as_u64().unwrap()]);
    });
}

#[test]
fn a_poll_beyond_what_is_there_waits_for_what_is_new() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let old = house.send(&ann, &ann.cap("bob", "old")).ok()["position"].as_u64().unwrap();
    std::thread::scope(|scope| {
        let poll = scope.spawn(|| house.inbox(&bob, &format!("?wait=60&after={old}")));
        // Commits that bring nothing for this agent do not end the poll.
        house.admit("carl");
        let new = house.send(&ann, &ann.cap("bob", "new")).ok()["position"].as_u64().unwrap();
        assert_eq!(positions(&poll.join().unwrap()), [new]);
    });
    let last = house.ask("GET", "/v1/audit/head").get().ok()["size"].as_u64().unwrap() - 1;
    let none = house.inbox(&bob, &format!("?wait=0&after={last}"));
    assert_eq!((positions(&none).len(), none["next"].as_u64(), none["epoch"].as_u64()), (0, Some(last), Some(1)));
}

#[test]
fn what_the_record_has_not_come_to_is_refused_and_nothing_is_lost_by_it() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent = house.send(&ann, &ann.cap("bob", "here")).ok()["position"].as_u64().unwrap();
    for path in ["inbox?after=99", "inbox?wait=60&after=99", "stream?after=99"] {
        house.ask("GET", format!("/v1/agents/bob/{path}")).by(&bob.token).get().refused(409, "ahead_of_record");
    }
    let ack = |body: String| house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(body);
    for body in [
        r#"{"position":99}"#.to_owned(),
        format!(r#"{{"positions":[{sent},99]}}"#),
        format!(r#"{{"position":{sent},"epoch":2}}"#),
        format!(r#"{{"position":{sent},"epoch":1,"restore":"aa"}}"#),
    ] {
        ack(body).refused(409, "ahead_of_record");
    }
    let listed = house.inbox(&bob, "");
    assert_eq!(positions(&listed), [sent]);
    let item = &listed["messages"][0];
    assert_eq!((&item["epoch"], item.get("restore")), (&1.into(), None));
    ack(format!(r#"{{"position":{sent},"epoch":1}}"#)).ok();
    assert_eq!(positions(&house.inbox(&bob, "")).len(), 0);
}

#[test]
fn senseless_questions_are_refused() {
    let house = House::open();
    let bob = house.admit("bob");
    let list = |query: &str| house.ask("GET", format!("/v1/agents/bob/inbox?{query}")).by(&bob.token).get();
    for query in ["limit=0", "limit=1001", "wait=61"] {
        list(query).refused(422, "out_of_range");
    }
    for query in ["after=-1", "after=x", "limit=1e3", "aftr=1", "after=1&after=2"] {
        list(query).refused(422, "schema_invalid");
    }
    let ack = |body: &str| house.ask("POST", "/v1/agents/bob/ack").by(&bob.token).json(body);
    for body in ["{}", r#"{"position":1,"positions":[]}"#, r#"{"position":-1}"#, r#"{"position":"1"}"#, r#"{"all":1}"#]
    {
        ack(body).refused(422, "schema_invalid");
    }
    ack(r#"{"position":1,"position":2}"#).refused(400, "duplicate_key");
    ack("[1]").refused(400, "not_an_object");
    house.ask("GET", "/v1/agents/nemo/inbox").by(&house.operator).get().refused(404, "unknown_agent");
    house.ask("GET", "/v1/agents/nemo/inbox").by(&bob.token).get().refused(403, "not_allowed");
}
