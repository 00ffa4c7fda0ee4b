//! `vcp_validate_token`, held against tokens that were judged by hand from the grammar
//! `segment(.segment){2,9}[@version][:NAMESPACE]`.

use super::Client;
use super::client::BOTH;
use crate::handshake::identity;
use crate::house::House;
use serde_json::json;

/// A token with domain, approach and role, version, and namespace.
type Judged = (&'static str, [&'static str; 3], Option<&'static str>, Option<&'static str>);

/// Tokens that are some.
const GOOD: [Judged; 12] = [
    ("family.safe.guide", ["family", "safe", "guide"], None, None),
    ("family.safe.guide@1.2.0", ["family", "safe", "guide"], Some("1.2.0"), None),
    ("family.safe.guide:ELEM", ["family", "safe", "guide"], None, Some("ELEM")),
    ("family.safe.guide@1.2.0:ELEM", ["family", "safe", "guide"], Some("1.2.0"), Some("ELEM")),
    ("a.b.c", ["a", "b", "c"], None, None),
    ("a1.b-2.c-3", ["a1", "b-2", "c-3"], None, None),
    ("a.b.c@^1.2.3", ["a", "b", "c"], Some("^1.2.3"), None),
    ("a.b.c@~0.0.1", ["a", "b", "c"], Some("~0.0.1"), None),
    ("a.b.c@latest", ["a", "b", "c"], Some("latest"), None),
    ("a.b.c@canary:A1", ["a", "b", "c"], Some("canary"), Some("A1")),
    ("a.b.c@1.2.3-beta", ["a", "b", "c"], Some("1.2.3-beta"), None),
    ("a.b.c.d.e.f.g.h.i.j", ["a", "b", "j"], None, None),
];

/// Texts that are none: too few or many segments, and each part with something that is not for it.
const BAD: [&str; 26] = [
    "",
    " ",
    "family",
    "family.safe",
    "a.b.c.d.e.f.g.h.i.j.k",
    "Family.safe.guide",
    "family.Safe.guide",
    "1family.safe.guide",
    "-family.safe.guide",
    "family..guide",
    ".family.safe.guide",
    "family.safe.guide.",
    "family.safe.gu ide",
    " family.safe.guide",
    "family.safe.guide\n",
    "family.sa_fe.guide",
    "fаmily.safe.guide",
    "family.*.guide",
    "family.safe.guide@",
    "family.safe.guide@1",
    "family.safe.guide@1.2",
    "family.safe.guide@1.2.3.4",
    "family.safe.guide@newest",
    "family.safe.guide:",
    "family.safe.guide:elem",
    "family.safe.guide:1ELEM",
];

#[test]
fn tokens_are_judged_as_by_hand() {
    let house = House::open();
    let ann = house.admit("ann");
    let host = Client::open(&house, &ann.token, BOTH[1]);
    let judged = |token: &str| host.done("vcp_validate_token", json!({"token": token}));
    for (token, [domain, approach, role], version, namespace) in GOOD {
        let told = judged(token);
        assert_eq!((&told["valid"], &told["canonical"]), (&json!(true), &json!(token)), "{told}");
        assert_eq!([&told["domain"], &told["approach"], &told["role"]], [domain, approach, role], "{told}");
        assert_eq!((&told["version"], &told["namespace"]), (&json!(version), &json!(namespace)), "{told}");
        assert_eq!(told["uri"], format!("creed://creed.space/{token}"));
    }
    for token in BAD {
        assert_eq!(judged(token)["valid"], false, "{token:?}");
    }
    // The bounds themselves, and one beyond.
    let (segment, long) = ("a".repeat(32), "a".repeat(33));
    for (token, valid) in [
        (format!("{segment}.b.c"), true),
        (format!("{long}.b.c"), false),
        (format!("a.b.c:{}", segment.to_uppercase()), true),
        (format!("a.b.c:{}", long.to_uppercase()), false),
        (format!("{segment}.{segment}.{segment}.{}", "a".repeat(29)), true),
        (format!("{segment}.{segment}.{segment}.{}", "a".repeat(30)), false),
    ] {
        assert_eq!(judged(&token)["valid"], valid, "{token}");
    }
    // What can be mended is suggested, and not taken.
    let told = judged("  Family.SAFE..guide.@1.2.0");
    assert_eq!((&told["valid"], &told["suggestion"]), (&json!(false), &json!("family.safe.guide@1.2.0")), "{told}");
}

#[test]
fn an_identity_token_is_told_from_those_that_are_none_and_nothing_else_is_told() {
    let house = House::open();
    let ann = house.admit("ann");
    let (good, gone) = (identity(&house, "user_42"), identity(&house, "user_43"));
    house.ask("POST", "/v1/identities/revoke").by(&house.operator).json(json!({"token": gone}).to_string()).ok();
    let host = Client::open(&house, &ann.token, BOTH[0]);
    let judged = |token: &str| host.done("vcp_validate_token", json!({"token": token}));
    let told = judged(&good);
    assert_eq!((&told["valid"], &told["subject"]), (&json!(true), &json!("external:user_42")), "{told}");
    let mut told: Vec<_> = [
        gone.as_str(),
        &good.replace("user_42", "user_41"),
        &good[..good.len() - 2],
        "vcp:i:local:user_42:4000000000:abc123def456",
        "vcp:i:",
    ]
    .map(|token| judged(token).to_string())
    .into();
    told.dedup();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains(r#""valid":false"#), "{told:?}");
}
