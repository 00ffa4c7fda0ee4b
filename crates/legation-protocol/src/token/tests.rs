//! Value tokens in and out.

use super::{TokenError, ValueToken, canonicalise};
use proptest::prelude::*;

#[track_caller]
fn token(text: &str) -> ValueToken {
    text.parse().unwrap()
}

#[track_caller]
fn refuse(text: &str, name: &str) {
    assert_eq!(text.parse::<ValueToken>().map_err(TokenError::name), Err(name), "{text}");
}

#[test]
fn value_tokens_that_parse() {
    let longest = format!("{}.{}.{}", "a".repeat(32), "b".repeat(32), "c".repeat(32));
    for text in [
        "family.safe.guide",
        "a.b.c.d.e.f.g.h.i.j",
        "a1.b-2.c--",
        "family.safe.guide@1.2.0",
        "family.safe.guide@1.2.0-rc.1",
        "family.safe.guide@^1.2.0",
        "family.safe.guide@~1.2.0",
        "family.safe.guide@latest",
        "family.safe.guide@canary",
        "family.safe.guide:ELEM",
        "family.safe.guide@1.2.0:E2",
        &longest,
    ] {
        assert_eq!(token(text).to_string(), text);
    }
}

#[test]
fn value_tokens_that_do_not() {
    refuse("", "empty_token");
    refuse("  ", "empty_token");
    for text in ["family", "family.safe", "family.safe@1.0.0", ":ELEM", "@1.0.0"] {
        refuse(text, "too_few_segments");
    }
    refuse("a.b.c.d.e.f.g.h.i.j.k", "too_many_segments");
    for text in [
        "Family.safe.guide",
        "a..b",
        "a.b.",
        ".a.b",
        "1a.b.c",
        "-a.b.c",
        "a.b_x.c",
        "a.b.c d",
        " a.b.c",
        "a.b.c\n",
        "a.b.ç",
        "*.b.c",
    ] {
        refuse(text, "invalid_segment");
    }
    refuse(&format!("a.b.{}", "c".repeat(33)), "segment_too_long");
    for text in [
        "a.b.c@",
        "a.b.c@1",
        "a.b.c@1.2",
        "a.b.c@1.2.3.4",
        "a.b.c@1.2.3-",
        "a.b.c@1.2.3-a..b",
        "a.b.c@^1.2.3-rc",
        "a.b.c@Latest",
        "a.b.c@v1.2.3",
        "a.b.c@1.2.3@1.2.3",
        "a.b.c@é",
    ] {
        refuse(text, "invalid_version");
    }
    for text in ["a.b.c:", "a.b.c:elem", "a.b.c:1A", "a.b.c:A-B", "a.b.c:A:B", "a.b.c:ELEM@1.0.0"] {
        refuse(text, "invalid_namespace");
    }
    refuse(&format!("a.b.c:{}", "N".repeat(33)), "invalid_namespace");
    let segment = "a".repeat(32);
    refuse(&[&*segment; 4].join("."), "too_long");
}

#[test]
fn the_longest_token_has_128_characters() {
    let of_length = |n: usize| format!("{0}.{0}.{0}@1.0.0-{1}", "a".repeat(32), "r".repeat(n - 105));
    assert_eq!(of_length(128).len(), 128);
    assert!(of_length(128).parse::<ValueToken>().is_ok());
    refuse(&of_length(129), "too_long");
}

#[test]
fn the_parts_of_a_token() {
    let three = token("family.safe.guide@1.2.0:ELEM");
    assert_eq!((three.domain(), three.approach(), three.role()), ("family", "safe", "guide"));
    assert_eq!(three.path().count(), 0);
    assert_eq!(three.version().map(ToString::to_string).as_deref(), Some("1.2.0"));
    assert_eq!(three.namespace(), Some("ELEM"));

    let five = token("company.acme.legal.strict.counsel");
    assert_eq!((five.domain(), five.approach(), five.role()), ("company", "acme", "counsel"));
    assert!(five.path().eq(["acme", "legal"]));
    assert_eq!(five.segments().len(), 5);
}

#[test]
fn canonical_form() {
    for (text, want) in [
        ("  Family.Safe.Guide\n", "family.safe.guide"),
        ("family..safe...guide", "family.safe.guide"),
        (".family.safe.guide.", "family.safe.guide"),
        ("family.safe.guide.@1.0.0-RC", "family.safe.guide@1.0.0-RC"),
        ("FAMILY.safe.guide:ELEM", "family.safe.guide:ELEM"),
        ("ｆａｍｉｌｙ．ｓａｆｅ．ｇｕｉｄｅ", "family.safe.guide"),
        ("family.ﬁne.guide", "family.fine.guide"),
        ("...", ""),
        (" . family.safe.guide . ", "family.safe.guide"),
        ("J\u{30c}a.b.c", "\u{1f0}a.b.c"),
        ("\u{a8}a.b.c", "\u{308}a.b.c"),
    ] {
        assert_eq!(canonicalise(text), want, "{text}");
    }
}

#[test]
fn ancestors() {
    let five = token("a.b.c.d.e@1.0.0:NS");
    assert!(five.ancestors().map(|t| t.to_string()).eq(["a.b.c.d", "a.b.c"]));
    assert!(token("a.b.c").is_ancestor_of(&five));
    assert!(token("a.b.c@2.0.0").is_ancestor_of(&token("a.b.c.d")));
    assert!(!token("a.b.c").is_ancestor_of(&token("a.b.c")));
    assert!(!token("a.b.c").is_ancestor_of(&token("a.b.cd.e")));
    assert!(!token("a.b.c.d").is_ancestor_of(&token("a.b.c")));
    assert_eq!(token("a.b.c").ancestors().count(), 0);
}

#[test]
fn uris() {
    assert_eq!(token("family.safe.guide@1.2.0").uri(), "creed://creed.space/family.safe.guide@1.2.0");
}

proptest! {
    #[test]
    fn a_token_is_written_as_it_was_read(text in "[a-z][a-z0-9-]{0,7}(\\.[a-z][a-z0-9-]{0,7}){2,9}(@(latest|canary|[~^]?[0-9]{1,3}\\.[0-9]\\.[0-9]))?(:[A-Z][A-Z0-9]{0,5})?") {
        prop_assert_eq!(token(&text).to_string(), text);
    }

    #[test]
    fn canonical_form_is_stable(text in "\\s?[A-Za-z.]{0,12}\\PC{0,6}[A-Za-z.@:0-9]{0,12}\\s?|[\\s.@:HJTWYΣİ\u{a8}\u{300}-\u{345}]{0,12}|\\p{any}{0,12}") {
        let once = canonicalise(&text);
        prop_assert_eq!(canonicalise(&once), once);
    }

    #[test]
    fn any_text_is_read_without_panic(text in "\\PC{0,40}") {
        let _ = canonicalise(&text).parse::<ValueToken>();
    }
}
