//! Who is believed about where a request came from.

use crate::house::House;
use legation_engine::Rate;
use legation_server::{Limits, Network, Proxy, ProxyHeader, Settings};

fn behind(trusted: &str, header: ProxyHeader) -> House {
    let proxy = Proxy { trusted: vec![trusted.parse().unwrap()], header };
    let limits = Limits { failures: Some(Rate::per_minute(2)), ..Limits::default() };
    House::told(Settings { proxy, limits, ..Settings::default() })
}

#[test]
fn what_a_stranger_says_of_its_origin_is_not_believed() {
    // The proxy is elsewhere, and whoever speaks here is not it.
    let house = behind("10.0.0.2", ProxyHeader::XForwardedFor);
    for number in 0..3 {
        let ask = house.ask("GET", "/v1/agents").header("x-forwarded-for", &format!("192.0.2.{number}"));
        let ask = ask.header("forwarded", &format!("for=192.0.2.{number}"));
        let answer = ask.header("x-forwarded-proto", "https").get();
        assert_eq!(answer.status, if number < 2 { 401 } else { 429 }, "{answer:?}");
        assert!(!answer.headers.contains_key("strict-transport-security"));
    }
}

#[test]
fn only_the_header_that_the_proxy_writes_is_read() {
    let house = behind("127.0.0.0/8", ProxyHeader::Forwarded);
    let ask = |forged: &str, written: &str| {
        house.ask("GET", "/v1/agents").header("x-forwarded-for", forged).header("forwarded", written).get().status
    };
    assert_eq!([ask("198.51.100.1", "for=192.0.2.1"), ask("198.51.100.2", "for=192.0.2.1;proto=http")], [401, 401]);
    assert_eq!(ask("198.51.100.3", "for=\"192.0.2.1:4711\""), 429);
    assert_eq!(ask("198.51.100.3", "for=192.0.2.1, for=192.0.2.2"), 401);
}

#[test]
fn browsers_are_told_to_stay_with_https_where_a_proxy_says_it_is_spoken() {
    let proxy = Proxy { trusted: Network::LOOPBACK.to_vec(), header: ProxyHeader::Forwarded };
    let house = House::told(Settings { proxy, hosts: vec!["exchange.example".to_owned()], ..Settings::default() });
    let ask = |forwarded: &str| {
        let ask = house.ask("GET", "/healthz").header("host", "exchange.example").header("forwarded", forwarded);
        ask.get().headers.contains_key("strict-transport-security")
    };
    assert!(ask("for=192.0.2.1;proto=https"));
    assert!(!ask("for=192.0.2.1;proto=http") && !ask("for=192.0.2.1"));
}
