//! What the house tells those who run it.

use crate::house::House;

#[test]
fn metrics_count_what_happened_and_name_nobody() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann-canary"), house.admit("bob-canary"));
    house.send(&ann, &ann.cap("bob-canary", "content-canary")).ok();
    let twice = ann.vlp("bob-canary");
    house.send(&ann, &twice).ok();
    house.send(&ann, &twice).ok();
    house.send(&ann, "nonsense").refused(400, "bad_json");
    house.send(&ann, &ann.cap("nemo", "x")).refused(404, "unknown_recipient");
    house.ask("GET", "/v1/agents/token-canary").by("lgt_canary").get().refused(401, "unauthenticated");
    let answer = house.ask("GET", "/metrics").get();
    assert_eq!(answer.headers["content-type"], "text/plain; version=0.0.4; charset=utf-8");
    for line in [
        r#"legation_verdicts_total{dialect="cap",verdict="accepted"} 1"#,
        r#"legation_verdicts_total{dialect="cap",verdict="unknown_recipient"} 1"#,
        r#"legation_verdicts_total{dialect="vlp",verdict="accepted"} 1"#,
        r#"legation_verdicts_total{dialect="vlp",verdict="duplicate"} 1"#,
        r#"legation_verdicts_total{dialect="unknown",verdict="bad_json"} 1"#,
        "legation_accept_seconds_count 4",
        "legation_mailbox_messages 2",
        "legation_mailbox_messages_largest 2",
        "legation_record_entries 6",
        "legation_record_full 0",
        "legation_rate_limited_total 0",
    ] {
        assert!(answer.text.lines().any(|found| found == line), "{line}: {}", answer.text);
    }
    for secret in ["canary", &ann.token, &bob.token, &house.operator] {
        assert!(!answer.text.contains(secret), "{secret}: {}", answer.text);
    }
}

#[test]
fn metrics_are_well_formed() {
    let house = House::open();
    house.admit("ann");
    let text = house.ask("GET", "/metrics").get().text;
    let mut known = "";
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            known = rest.split(' ').next().unwrap();
        } else if !line.starts_with('#') {
            let (name, value) = line.rsplit_once(' ').unwrap();
            assert!(name.starts_with(known) && value.parse::<f64>().is_ok(), "{line}");
        }
    }
    for name in ["legation_fsync_seconds_count", "legation_commit_batch_size_count", "process_start_time_seconds"] {
        assert!(house.metric(name) > 0, "{name}: {text}");
    }
}

#[test]
fn a_trace_goes_from_sender_to_recipient() {
    let house = House::open();
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let sent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let post = |trace: &str| {
        let asked = house.ask("POST", "/v1/messages").by(&ann.token).header("traceparent", trace);
        let answer = asked.json(ann.cap("bob", "x"));
        answer.headers["traceparent"].to_str().unwrap().to_owned()
    };
    let told = post(sent);
    assert!(told.starts_with(&sent[..36]) && told.ends_with("-01") && told != sent, "{told}");
    let fresh = post("00-nonsense");
    assert!(fresh.len() == 55 && fresh[..36] != sent[..36], "{fresh}");
    let line = ann.cap("bob", "a line");
    house.ask("POST", "/v1/messages").by(&ann.token).header("traceparent", sent).lines(line);
    let listed = house.inbox(&bob, "");
    let of = |number: usize| listed["messages"][number].get("traceparent").and_then(|trace| trace.as_str());
    assert_eq!((of(0), of(1)), (Some(told.as_str()), None));
    assert!(of(2).unwrap().starts_with(&sent[..36]), "{listed}");
}

#[test]
fn pages_of_other_sites_are_turned_away_even_without_an_origin() {
    let house = House::open();
    let get = |mode: &str| {
        house.ask("GET", "/healthz").header("sec-fetch-site", "cross-site").header("sec-fetch-mode", mode).get()
    };
    get("no-cors").refused(403, "forbidden_origin");
    get("navigate").ok();
}

#[test]
fn a_new_key_is_asked_for_with_nothing_else() {
    let house = House::open();
    let rotate = || house.ask("POST", "/v1/storage/rotate").by(&house.operator);
    rotate().json(r#"{"key":7}"#).refused(422, "schema_invalid");
    rotate().json("[]").refused(400, "not_an_object");
    rotate().json("{").refused(400, "bad_json");
    let before = house.ask("GET", "/v1/storage").by(&house.operator).get().ok();
    assert_eq!(rotate().json("{}").status, 202);
    assert_ne!(house.ask("GET", "/v1/storage").by(&house.operator).get().ok(), before, "only that changed anything");
}
