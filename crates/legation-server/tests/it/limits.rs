//! Limits by source and by agent.

use crate::house::House;
use crate::words::fresh_id;
use crate::ws::Socket;
use legation_engine::{Rate, Settings};
use legation_exchange::{FamilyQuotas, Policy, Quotas};
use legation_server::{Limits, Network, Proxy};

fn failing(count: u32) -> Limits {
    Limits { failures: Some(Rate::per_minute(count)), ..Limits::default() }
}

#[test]
fn who_fails_too_often_waits_and_who_is_known_does_not() {
    let house = House::limited(failing(5));
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    for _ in 0..5 {
        house.ask("GET", "/v1/agents").by("lgt_guess").get().refused(401, "unauthenticated");
    }
    let answer = house.ask("GET", "/v1/agents").by("lgt_guess").get();
    let wait: u64 = answer.headers["retry-after"].to_str().unwrap().parse().unwrap();
    assert!((1..=12).contains(&wait), "{wait}");
    assert_eq!(answer.refused(429, "rate_limited")["retryable"], true);
    // Not one byte of the body is sent.
    let head =
        "POST /v1/messages HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n";
    assert!(house.raw(head.as_bytes()).starts_with("HTTP/1.1 429 "));
    house.send(&ann, &ann.cap("bob", "unimpressed")).ok();
    assert_eq!(house.inbox(&bob, "")["messages"].as_array().unwrap().len(), 1);
    house.ask("GET", "/v1/agents").by(&house.operator).get().ok();
}

#[test]
fn signed_messages_without_a_token_are_not_counted_unless_they_fail() {
    let house = House::limited(failing(5));
    let (ann, _) = (house.admit("ann"), house.admit("bob"));
    let vcp = |message: String| house.ask("POST", "/.well-known/vcp/messages").json(message);
    for _ in 0..20 {
        vcp(ann.vcp("bob", "well signed")).ok();
    }
    for _ in 0..5 {
        vcp(ann.unsigned_vcp("bob", "not signed", &fresh_id(), 0)).refused(401, "signature_required");
    }
    vcp(ann.vcp("bob", "too late")).refused(429, "rate_limited");
}

#[test]
fn whoever_fails_silences_no_alarm_of_a_neighbour_and_no_health_check() {
    let house = House::limited(failing(5));
    let (parent, child) = (house.admit("parent"), house.admit("child"));
    house.ask("PUT", "/v1/agents/child").by(&house.operator).json(r#"{"parent":"parent"}"#).ok();
    for _ in 0..5 {
        house.ask("GET", "/v1/agents").by("lgt_guess").get().refused(401, "unauthenticated");
    }
    house.ask("GET", "/v1/agents").by("lgt_guess").get().refused(429, "rate_limited");
    for path in ["/healthz", "/readyz", "/metrics", "/.well-known/legation/keys", "/v1/audit/head"] {
        assert_eq!(house.ask("GET", path).get().status, 200, "{path}");
    }
    let vcp = |message: String| house.ask("POST", "/.well-known/vcp/messages").json(message);
    vcp(child.vcp("parent", "no alarm")).refused(429, "rate_limited");
    vcp(child.unsigned_alarm("parent", "emergency", "not signed")).refused(429, "rate_limited");
    let forged = parent.signed(&child.unsigned_alarm("parent", "emergency", "signed by another"));
    vcp(forged).refused(401, "signature_invalid");
    vcp(child.alarm("parent", "emergency", &fresh_id())).ok();
    assert_eq!(house.ask("GET", "/v1/agents/child").by(&house.operator).get().ok()["state"], "suspended");
}

#[test]
fn what_a_neighbour_sends_keeps_no_alarm_out_however_large_it_is() {
    let house = House::limited(failing(5));
    let (parent, child) = (house.admit("parent"), house.admit("child"));
    house.ask("PUT", "/v1/agents/child").by(&house.operator).json(r#"{"parent":"parent"}"#).ok();
    for _ in 0..5 {
        house.ask("GET", "/v1/agents").by("lgt_guess").get().refused(401, "unauthenticated");
    }
    let vcp = |message: String| house.ask("POST", "/.well-known/vcp/messages").json(message);
    // More than are refused in full within a second, in the child's name.
    let forged = parent.signed(&child.unsigned_alarm("parent", "emergency", "signed by another"));
    std::thread::scope(|scope| {
        let flood = || (0..30).filter(|_| vcp(forged.clone()).status == 429).count();
        let floods = [(); 8].map(|()| scope.spawn(flood));
        for _ in 0..10 {
            vcp(child.alarm("parent", "critical", &fresh_id())).ok();
        }
        let limited: usize = floods.map(|flood| flood.join().unwrap()).iter().sum();
        assert!(limited > 0, "there were not enough of them");
    });
    let padded = child.alarm("parent", "emergency", &fresh_id());
    let padded = padded.replacen('{', &format!("{{{}", " ".repeat(200 << 10)), 1);
    vcp(padded).ok();
    assert_eq!(house.ask("GET", "/v1/agents/child").by(&house.operator).get().ok()["state"], "suspended");
}

#[test]
fn lines_that_fail_are_counted_one_by_one() {
    let house = House::limited(failing(5));
    let answer = house.ask("POST", "/v1/messages").lines("nonsense\n".repeat(1000));
    let limited = answer.text.lines().filter(|line| line.contains("rate_limited")).count();
    // As many as fit the window may be on their way when the limit is reached.
    assert!(limited >= 1000 - 5 - 256 - 1, "{limited}");
    house.ask("POST", "/v1/messages").json("nonsense").refused(429, "rate_limited");
}

#[test]
fn registering_without_a_token_has_a_limit_of_its_own() {
    let house = House::limited(Limits { registrations: Some(Rate::per_minute(2)), ..Limits::default() });
    house.admit("ann");
    house.admit("bob");
    house.ask("PUT", "/v1/agents/eve").json("{}").refused(429, "rate_limited");
    assert_eq!(house.ask("PUT", "/v1/agents/eve").by(&house.operator).json("{}").status, 201);
}

#[test]
fn behind_a_proxy_each_source_is_counted_alone() {
    let proxy = Proxy { trusted: Network::LOOPBACK.to_vec(), ..Proxy::default() };
    let settings = legation_server::Settings { proxy, limits: failing(3), ..legation_server::Settings::default() };
    let house = House::told(settings);
    let ask = |from: &str| house.ask("GET", "/v1/agents").header("x-forwarded-for", from).get();
    for _ in 0..3 {
        ask("192.0.2.1").refused(401, "unauthenticated");
    }
    // What the client itself put in front is not believed.
    ask("198.51.100.1, 192.0.2.1").refused(429, "rate_limited");
    ask("192.0.2.2").refused(401, "unauthenticated");
    // What was passed on is not local.
    house.ask("GET", "/metrics").header("x-forwarded-for", "192.0.2.2").get().refused(401, "unauthenticated");
    assert_eq!(house.ask("GET", "/metrics").by(&house.operator).get().status, 200);
}

#[test]
fn an_agent_sends_no_more_than_it_may_but_alarms_go_through() {
    let data = tempfile::tempdir().unwrap();
    let policy = Policy { open_registration: true, ..Policy::default() };
    // So slow that this test is over before one more is due.
    let pace = Some(Rate { count: 2, per: std::time::Duration::from_hours(1) });
    let settings = Settings { policy, pace, ..Settings::on(data.path()) };
    let house = House::with(data.into(), settings, legation_server::Settings::default());
    let (ann, bob) = (house.admit("ann"), house.admit("bob"));
    let lines: String = (0..3).map(|n| ann.cap("bob", &n.to_string()) + "\n").collect();
    let told = house.ask("POST", "/v1/messages").by(&ann.token).lines(lines).text;
    let limited: Vec<_> = told.lines().map(|line| line.contains("rate_limited")).collect();
    assert_eq!(limited, [false, false, true]);
    // Signed or not, it is the same agent; others have a pace of their own.
    house.ask("POST", "/v1/messages").json(ann.vcp("bob", "more")).refused(429, "rate_limited");
    house.send(&bob, &bob.cap("ann", "fine here")).ok();
    let mut socket = Socket::framed(&house, &ann.token, "?deliver=off");
    socket.say(ann.cap("bob", "by another way"));
    let told = socket.json();
    assert_eq!((&told["error"], &told["retryable"]), (&"rate_limited".into(), &true.into()));
    house.ask("PUT", "/v1/agents/ann").by(&house.operator).json(r#"{"parent":"bob"}"#).ok();
    for severity in ["critical", "emergency"] {
        house.ask("POST", "/v1/messages").json(ann.alarm("bob", severity, &fresh_id())).ok();
    }
}

#[test]
fn registrations_without_a_token_count_for_their_source_address() {
    let data = std::sync::Arc::new(tempfile::tempdir().unwrap());
    let quotas = Quotas {
        family: FamilyQuotas { agents: 2, ..FamilyQuotas::default() },
        stranger_agents: 4,
        ..Quotas::default()
    };
    let policy = Policy { open_registration: true, quotas, ..Policy::default() };
    let proxy = Proxy { trusted: Network::LOOPBACK.to_vec(), ..Proxy::default() };
    let open = || {
        let settings = Settings { policy: policy.clone(), ..Settings::on(data.path()) };
        let server = legation_server::Settings { proxy: proxy.clone(), ..legation_server::Settings::default() };
        House::with(std::sync::Arc::clone(&data), settings, server)
    };
    let mut house = open();
    let put = |house: &House, from: &str, name: &str| {
        house.ask("PUT", format!("/v1/agents/{name}")).header("x-forwarded-for", from).json("{}")
    };
    let first = put(&house, "192.0.2.1", "a-1").ok();
    put(&house, "192.0.2.1", "a-2").ok();
    let refused = put(&house, "192.0.2.1", "a-3");
    assert_eq!(refused.headers["retry-after"], "60");
    let told = refused.refused(429, "quota_exceeded");
    let message = told["message"].as_str().unwrap();
    assert!(message.contains("192.0.2.1") && message.contains("agents_per_family"), "{message}");
    // What such an agent spawns counts for the address as well, and so it does after a restart.
    house.stop();
    drop(house);
    let house = open();
    let token = first["token"].as_str().unwrap();
    let spawn = house.ask("PUT", "/v1/agents/a-4").by(token).json(r#"{"parent":"a-1"}"#);
    spawn.refused(429, "quota_exceeded");
    put(&house, "192.0.2.1", "a-3").refused(429, "quota_exceeded");
    // Addresses of one IPv6 network are one source.
    put(&house, "2001:db8:1:2::1", "b-1").ok();
    put(&house, "2001:db8:1:2:ffff::9", "b-2").ok();
    put(&house, "2001:db8:1:2::3", "b-3").refused(429, "quota_exceeded");
    // Other addresses have no more than all strangers may have; operators are not asked.
    let told = put(&house, "192.0.2.2", "c-1").refused(429, "quota_exceeded");
    assert!(told["message"].as_str().unwrap().contains("stranger_agents"), "{told}");
    assert_eq!(house.ask("PUT", "/v1/agents/ours").by(&house.operator).json("{}").status, 201);
}

#[test]
fn a_broadcast_to_more_than_the_fan_out_is_refused_over_http_line_by_line() {
    let quotas = Quotas { fan_out: 2, ..Quotas::default() };
    let house = House::under(Policy { open_registration: true, quotas, ..Policy::default() });
    let ann = house.admit("ann");
    for name in ["bob", "cat"] {
        house.admit(name);
    }
    house.ask("POST", "/v1/messages").json(ann.vcp("broadcast", "two")).ok();
    house.admit("dan");
    house.ask("POST", "/v1/messages").json(ann.vcp("broadcast", "three")).refused(422, "too_many_recipients");
    let told = house.ask("POST", "/v1/messages").by(&ann.token).lines(ann.vcp("broadcast", "line") + "\n").text;
    assert!(told.contains("too_many_recipients"), "{told}");
}
