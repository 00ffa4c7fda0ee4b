use super::{Network, Proxy, ProxyHeader};
use axum::http::{HeaderMap, HeaderName, HeaderValue};

#[track_caller]
fn check(header: ProxyHeader, lines: &[(&str, &str)], want: &str, secure: bool) {
    let mut headers = HeaderMap::new();
    for (name, value) in lines {
        headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    let trusted = ["127.0.0.1", "10.0.0.0/24"].map(|text| text.parse().unwrap()).to_vec();
    let word = Proxy { trusted, header }.word("127.0.0.1".parse().unwrap(), &headers);
    assert_eq!((word.address, word.secure), (want.parse().unwrap(), secure), "{lines:?}");
}

#[test]
fn a_proxy_is_believed_up_to_the_first_address_that_is_none() {
    let by = |lines: &[&str], want| {
        let lines: Vec<_> = lines.iter().map(|line| ("x-forwarded-for", *line)).collect();
        check(ProxyHeader::XForwardedFor, &lines, want, false);
    };
    by(&["192.0.2.9"], "192.0.2.9");
    by(&["198.51.100.7, 192.0.2.9, 10.0.0.2"], "192.0.2.9");
    by(&["198.51.100.7", "192.0.2.9"], "192.0.2.9");
    by(&["::ffff:192.0.2.9"], "192.0.2.9");
    // What makes no sense ends the trail.
    by(&["198.51.100.7, nonsense"], "127.0.0.1");
    by(&["127.0.0.1"], "127.0.0.1");
    by(&[], "127.0.0.1");
}

#[test]
fn the_standard_header_is_read_where_it_is_the_one() {
    let by = |line: &str, want, secure| check(ProxyHeader::Forwarded, &[("forwarded", line)], want, secure);
    by("for=192.0.2.9", "192.0.2.9", false);
    by("for=192.0.2.9;proto=https;by=10.0.0.1", "192.0.2.9", true);
    by("Proto=HTTPS; For=\"[2001:db8::1]:4711\"", "2001:db8::1", true);
    by("for=\"192.0.2.9:80\"", "192.0.2.9", false);
    by("for=198.51.100.7;proto=https, for=192.0.2.9;proto=http", "192.0.2.9", false);
    by("for=192.0.2.9;proto=https, for=10.0.0.7;proto=https", "192.0.2.9", true);
    by("for=198.51.100.7, for=unknown", "127.0.0.1", false);
    by("for=_hidden, proto=https", "127.0.0.1", true);
}

#[test]
fn the_header_that_is_not_the_proxys_is_anybodys() {
    let both = [("forwarded", "for=198.51.100.7;proto=https"), ("x-forwarded-for", "192.0.2.9")];
    check(ProxyHeader::XForwardedFor, &both, "192.0.2.9", false);
    let both = [("x-forwarded-for", "198.51.100.7"), ("x-forwarded-proto", "https"), ("forwarded", "for=192.0.2.9")];
    check(ProxyHeader::Forwarded, &both, "192.0.2.9", false);
}

#[test]
fn https_is_said_once_or_not_at_all() {
    let said = |proto| ("x-forwarded-proto", proto);
    check(ProxyHeader::XForwardedFor, &[said("https")], "127.0.0.1", true);
    check(ProxyHeader::XForwardedFor, &[said("http")], "127.0.0.1", false);
    check(ProxyHeader::XForwardedFor, &[said("https"), said("https")], "127.0.0.1", false);
}

#[test]
fn a_network_holds_what_begins_alike() {
    for (network, address, want) in [
        ("10.0.0.2", "10.0.0.2", true),
        ("10.0.0.2", "10.0.0.3", false),
        ("10.0.0.0/24", "10.0.0.255", true),
        ("10.0.0.0/24", "10.0.1.0", false),
        ("10.1.2.3/8", "10.200.0.1", true),
        ("0.0.0.0/0", "192.0.2.1", true),
        ("0.0.0.0/0", "::1", false),
        ("fd00::/8", "fdff::1", true),
        ("fd00::/8", "fe00::1", false),
        ("::/0", "2001:db8::1", true),
        ("::1", "::1", true),
    ] {
        let parsed: Network = network.parse().unwrap();
        assert_eq!(parsed.contains(address.parse().unwrap()), want, "{address} in {network}");
        assert_eq!(parsed.to_string(), network);
    }
    for text in ["", "proxy.example", "10.0.0.0/33", "::/129", "10.0.0.0/", "10.0.0/24", "10.0.0.1/-1"] {
        assert!(text.parse::<Network>().is_err(), "{text}");
    }
}
