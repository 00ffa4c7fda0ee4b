//! The published schemas against the readers, text by text: what one takes the other takes.

use crate::fixtures;
use legation_protocol::id::AgentId;
use legation_protocol::vcp::{Context, CreedUri, Dimension};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::sync::LazyLock;

/// The part of a schema that a pointer leads to.
fn part(file: &str, pointer: &str) -> jsonschema::Validator {
    let text = std::fs::read_to_string(fixtures::root().join("schemas").join(file)).unwrap();
    let mut schema: Value = serde_json::from_str(&text).unwrap();
    let part = schema.pointer(pointer).unwrap_or_else(|| panic!("{file} has no {pointer}")).clone();
    jsonschema::draft202012::new(&json!({ "allOf": [part], "$defs": schema["$defs"].take() })).unwrap()
}

const VCP: &str = "vcp-messaging-v1.2.schema.json";

/// Every character that ids could hold, and a sample of the planes that are nearly empty.
fn characters() -> impl Iterator<Item = char> {
    (0..0x2_0000).chain((0x2_0000..0xe_0000).step_by(0x101)).chain(0xe_0000..0xe_2000).filter_map(char::from_u32)
}

#[track_caller]
fn check_characters(schema: &jsonschema::Validator, takes: impl Fn(&str) -> bool) {
    let differs = |text: &String| schema.is_valid(&json!(text)) != takes(text);
    let inside = characters().map(|c| format!("a{c}b")).filter(differs);
    let differing: Vec<_> = inside.map(|text| text.escape_unicode().to_string()).collect();
    assert!(differing.is_empty(), "{} texts, among them {:?}", differing.len(), differing.first());
}

#[test]
fn vcp_ids_have_the_characters_of_the_schema() {
    check_characters(&part(VCP, "/$defs/agentId"), |id| AgentId::vcp(id).is_ok());
}

#[test]
fn acl_ids_have_the_characters_of_the_schema() {
    let schema = part("elizaos-acl-v0.1.schema.json", "/properties/receiver/properties/agent_id");
    check_characters(&schema, |id| AgentId::named(id).is_ok());
}

#[test]
fn vlp_names_have_the_characters_of_the_schema() {
    check_characters(&part("vlp-v1.1.schema.json", "/properties/receiver"), |id| AgentId::named(id).is_ok());
}

#[test]
fn cap_message_ids_have_the_characters_of_the_schema() {
    check_characters(&part("cap-message.schema.json", "/properties/message_id"), |id| AgentId::named(id).is_ok());
}

#[test]
fn context_values_have_the_characters_of_the_schema() {
    let schema = part(VCP, "/$defs/context");
    for form in [|c| format!("⏰{c}"), |c| format!("🌍👋{c}\u{fe0f}"), |c| format!("🧠😊\u{200d}{c}|⏰🌅")]
    {
        let differs = |text: &String| schema.is_valid(&json!(text)) != Context::parse(text).is_ok();
        let differing: Vec<_> = characters().map(form).filter(differs).collect();
        assert!(differing.is_empty(), "{} texts, among them {:?}", differing.len(), differing.first());
    }
}

/// Texts of the table's emoji and of everything that could be taken for a value or hide in one.
pub(crate) fn contexts() -> impl Strategy<Value = String> {
    let symbols = || Dimension::ALL.iter().map(|d| d.symbol().to_owned());
    let listed = Dimension::ALL.iter().flat_map(|d| d.table()).map(|(emoji, _)| (*emoji).to_owned());
    let odd =
        ["🇩", "🇪", "🇫", "🏴", "🏳", "\u{e0067}", "\u{e0062}", "\u{e0031}", "\u{e007f}", "🏴\u{e0067}\u{e0062}\u{e0065}"];
    let odd =
        odd.into_iter().chain(["❤", "❤\u{fe0f}", "ℹ", "ℹ\u{fe0f}", "1", "#", "1\u{20e3}", "\u{20e3}", "👶🏽", "→", "©"]);
    let odd = odd.chain(["\u{301}", "x", "é", "⠓", "\u{2065}", "\u{37e}", "=", "\u{338}", " ", "\n", "\u{feff}"]);
    let glue = ["\u{fe0f}", "\u{fe0e}", "\u{200d}", "\u{1f3fd}"];
    let piece = prop_oneof![
        3 => prop::sample::select(symbols().collect::<Vec<_>>()),
        3 => prop::sample::select(listed.collect::<Vec<_>>()),
        2 => prop::sample::select(odd.map(str::to_owned).collect::<Vec<_>>()),
        2 => prop::sample::select(glue.map(str::to_owned).to_vec()),
        2 => Just("|".to_owned()),
    ];
    let pieces = prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat());
    (prop::sample::select(symbols().collect::<Vec<_>>()), pieces).prop_map(|(symbol, rest)| symbol + &rest)
}

/// URIs in little steps around the grammar of ids and constitutions.
fn uris() -> impl Strategy<Value = String> {
    let heads = ["", "agent:", "agent://", "agent://h/", "did:", "creed://", "creed://h/", "creed://h/a.b.c"];
    let tails = [
        "a", "B", "9", ".", "..", "-", "_", "~", "/", ":", "@", "%", "?", "#", "+", "^", "*", " ", "\n", "é", "a.b.c",
        "@1.2.0", "@^1.2.0", "@~1", "-rc.1", ":NS", "@latest",
    ];
    let tail = prop::collection::vec(prop::sample::select(tails.to_vec()), 0..5).prop_map(|tails| tails.concat());
    (prop::sample::select(heads.to_vec()), tail).prop_map(|(head, tail)| head.to_owned() + &tail)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4096))]

    #[test]
    fn contexts_are_read_as_the_schema_says(text in contexts()) {
        static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| part(VCP, "/$defs/context"));
        prop_assert_eq!(SCHEMA.is_valid(&json!(text)), Context::parse(&text).is_ok(), "{}", text.escape_unicode());
    }

    #[test]
    fn vcp_ids_are_read_as_the_schema_says(text in uris()) {
        static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| part(VCP, "/$defs/agentId"));
        prop_assert_eq!(SCHEMA.is_valid(&json!(text)), AgentId::vcp(&text).is_ok());
    }

    #[test]
    fn creed_uris_are_read_as_the_schema_says(text in uris()) {
        static SCHEMA: LazyLock<jsonschema::Validator> = LazyLock::new(|| part(VCP, "/$defs/creedUri"));
        prop_assert_eq!(SCHEMA.is_valid(&json!(text)), CreedUri::parse(&text).is_ok());
    }
}
