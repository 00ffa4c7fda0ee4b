//! VCP capability negotiation 3.1.

use crate::fixtures;
use legation_protocol::negotiation::{
    Ack, CoreFeatures, Extension, ExtensionName, Handshake, Hello, Identity, Registry, Server, Version, negotiate,
};
use legation_protocol::vcp::Environment;
use legation_protocol::{Code, Content, Format, build, check, json::Json, parse};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

#[test]
fn fixtures_hold() {
    fixtures::check_all::<Handshake>("hello", "vcp-capability-handshake.schema.json");
}

fn versions() -> impl Strategy<Value = Version> {
    (0_u32..5, 0_u32..4).prop_map(|(major, minor)| Version::new(major, minor))
}

fn names() -> impl Strategy<Value = ExtensionName> {
    let known = prop::sample::select(vec!["Personal", "Relational", "Consensus", "Torch", "Intent", "Alpha", "Beta"]);
    let any = prop_oneof![5 => known.prop_map(str::to_owned), 1 => "[A-Za-z][A-Za-z0-9-]{0,121}"];
    any.prop_map(|own| format!("VCP-X-{own}").parse().unwrap())
}

/// A list as a client may write it: with second mentions, and sometimes with more than are looked at.
fn wishes() -> impl Strategy<Value = Vec<ExtensionName>> {
    let numbered = (0..400).prop_map(|number| format!("VCP-X-N{number}").parse().unwrap());
    prop_oneof![
        6 => vec(names(), 0..12),
        1 => vec(prop_oneof![20 => numbered.boxed(), 1 => names().boxed()], 250..330),
    ]
}

/// What is asked for by the text of a hello: its first 256 names, each at its first mention.
fn wanted(hello: &Hello) -> Vec<String> {
    let written = serde_json::to_value(hello).unwrap();
    let names = written["extensions"].as_array().into_iter().flatten().take(256);
    let mut wanted = Vec::new();
    for name in names.map(|name| name.as_str().unwrap().to_owned()) {
        if !wanted.contains(&name) {
            wanted.push(name);
        }
    }
    wanted
}

prop_compose! {
    fn hellos()(
        version in versions(),
        min_version in prop::option::of(versions()),
        extensions in prop::option::of(wishes()),
        identity in prop::option::of("[a-z:]{0,9}"),
        client_id in prop::option::of("\\PC{0,9}"),
    ) -> Hello {
        let extensions = extensions.map(Into::into);
        let identity = identity.map(Identity::from);
        Hello { min_version, extensions, identity, client_id, ..Hello::new(version) }
    }
}

prop_compose! {
    fn servers()(
        versions in btree_set(versions(), 0..6),
        withdrawn in vec(names(), 0..4),
        rivals: bool,
        on: [bool; 5],
        environment in prop::sample::select(Environment::ALL),
    ) -> Server {
        let empty = |_: &[&ExtensionName]| Json::from(serde_json::json!({}));
        let beta: ExtensionName = "VCP-X-Beta".parse().unwrap();
        let conflicts = if rivals { vec![beta.clone()] } else { Vec::new() };
        let alpha = Extension { conflicts, ..Extension::new(empty) };
        let mut registry = Registry::v3_1().with("VCP-X-Alpha".parse().unwrap(), alpha).with(beta, Extension::new(empty));
        for name in withdrawn {
            registry = registry.without(&name);
        }
        let [encryption, injection_scanning, revocation, audit_chain, context_opacity] = on;
        let core_features =
            CoreFeatures { encryption, injection_scanning, revocation, audit_chain, context_opacity };
        Server { versions, registry, core_features, environment, server_id: Some("test/1".into()) }
    }
}

/// The acks among the answers to any hello by any server; identities are good.
fn acks() -> impl Strategy<Value = (Hello, Server, Ack)> {
    (hellos(), servers()).prop_filter_map("refused", |(hello, server)| {
        let ack = negotiate(&hello, &server, |_| true).ok()?;
        Some((hello, server, ack))
    })
}

/// What an ack is warned of: the features a server of its version should have, and this one has not.
fn expected_and_off(ack: &Ack, features: CoreFeatures) -> Vec<(Code, &'static str)> {
    let expected = [
        (features.encryption, "/core_features/encryption"),
        (features.injection_scanning, "/core_features/injection_scanning"),
    ];
    let off = expected.into_iter().filter(|(is_on, _)| ack.version >= Version::V3_0 && !is_on);
    off.map(|(_, at)| (Code::CoreFeatureOff, at)).collect()
}

proptest! {
    #[test]
    fn the_lists_partition_the_request((hello, _, ack) in acks()) {
        let supported = ack.supported.iter().map(ToString::to_string);
        let mut answered: Vec<_> = supported.chain(ack.unsupported.unwrap()).collect();
        let mut wanted = wanted(&hello);
        answered.sort();
        wanted.sort();
        prop_assert_eq!(answered, wanted);
    }

    #[test]
    fn the_lists_keep_the_clients_order((hello, _, ack) in acks()) {
        let wanted = wanted(&hello);
        let place = |name: &str| wanted.iter().position(|other| other == name);
        prop_assert!(ack.supported.iter().map(|name| place(name.as_str())).is_sorted());
        prop_assert!(ack.unsupported.unwrap().iter().map(|name| place(name)).is_sorted());
    }

    #[test]
    fn capabilities_belong_to_supported_extensions((_, server, ack) in acks()) {
        prop_assert!(ack.capabilities.keys().all(|name| ack.supported.contains(name)));
        prop_assert_eq!(ack.capabilities.len(), ack.supported.len());
        prop_assert!(ack.supported.iter().all(|name| server.registry.offered(name).is_some()));
        prop_assert!(ack.version.has_extensions() || ack.supported.is_empty());
    }

    #[test]
    fn the_version_is_the_highest_in_both_ranges((hello, server, ack) in acks()) {
        prop_assert!(server.versions.contains(&ack.version));
        prop_assert!(hello.lowest() <= ack.version && ack.version <= hello.version);
        let higher = server.versions.iter().filter(|other| **other > ack.version);
        prop_assert!(higher.into_iter().all(|other| *other > hello.version));
    }

    #[test]
    fn no_feature_is_advertised_that_is_off((_, server, ack) in acks()) {
        prop_assert_eq!(server.core_features.lost_since(ack.features()).count(), 0);
    }

    #[test]
    fn every_answer_is_itself_valid(hello in hellos(), server in servers(), good: bool) {
        let answer = negotiate(&hello, &server, |_| good);
        if let Ok(ack) = &answer {
            prop_assert_eq!(ack.answers(&hello), Ok(()));
        }
        let off = answer.as_ref().map_or_else(|_| Vec::new(), |ack| expected_and_off(ack, server.core_features));
        let answer = Handshake::from(answer);
        let built = build(&answer).unwrap();
        prop_assert_eq!(built.value(), &answer);
        let warned: Vec<_> = built.warnings().iter().map(|v| (v.code, v.at.as_deref().unwrap())).collect();
        prop_assert_eq!(warned, off);
    }

    #[test]
    fn every_hello_in_range_survives_the_wire(hello in hellos()) {
        let hello = Handshake::Hello(hello);
        if let Ok(built) = build(&hello) {
            prop_assert_eq!(built.value(), &hello);
        }
    }
}

#[test]
fn the_largest_request_is_answered_within_the_limit() {
    let long = "n".repeat(ExtensionName::MAX - 10);
    let extensions = (100..356).map(|number| format!("VCP-X-{long}-{number}").parse().unwrap());
    let hello = Hello::asking_for(Version::V3_1, extensions);
    let answer = Handshake::from(negotiate(build(&hello).unwrap().value(), &Server::default(), |_| true));
    assert!(
        matches!(build(&answer).unwrap().value(), Handshake::Ack(ack) if ack.unsupported.as_ref().unwrap().len() == 256)
    );
}

/// The hello in a text that is auto-detected, as any door of an exchange reads it.
#[track_caller]
fn received(text: &str) -> Hello {
    let checked = check(text.as_bytes(), None);
    assert_eq!(checked.format, Some(Format::Hello), "{text}");
    assert_eq!(checked.violations, [], "{text}");
    match checked.content {
        Some(Content::Handshake(handshake)) => match *handshake {
            Handshake::Hello(hello) => hello,
            other => panic!("{text}: {other:?}"),
        },
        other => panic!("{text}: {other:?}"),
    }
}

#[test]
fn unknown_fields_of_a_hello_change_nothing_in_the_answer() {
    let acked = r#""type":"vcp-hello","version":"3.1","extensions":["VCP-X-Consensus","VCP-X-Future"]"#;
    let refused = r#""type":"vcp-hello","version":"3.1","extensions":["VCP-X-Personal"]"#;
    let too_new = r#""type":"vcp-hello","version":"9.1","min_version":"9.0""#;
    let unknown = [
        r#""locale":"de-CH""#,
        r#""Version":"1.0""#,
        r#""capabilities":{"VCP-X-Personal":{"decay":true}}"#,
        r#""supported":["VCP-X-Personal"],"session_id":"ses_1""#,
        r#""code":"INTERNAL_ERROR","message":"no","retry_after":-1"#,
        // The marks of every other dialect but VCP, whose envelope may not pass for a handshake.
        r#""protocol":"VLP/1.1""#,
        r#""mcp_version":"0.1.0","performative":"FAILURE""#,
        r#""sender_id":"a","recipient_id":"b""#,
        r#""id":"a","system_prompt":"","allowed_agents":[],"delegate_rules":{},"mcp_bindings":[]"#,
    ];
    let server = Server::default();
    let answer = |text: &str| negotiate(&received(text), &server, |_| true);
    for hello in [acked, refused, too_new] {
        let plain = answer(&format!("{{{hello}}}"));
        assert_eq!(plain.is_ok(), hello == acked);
        for fields in unknown {
            assert_eq!(answer(&format!("{{{hello},{fields}}}")), plain, "{fields} after {hello}");
            assert_eq!(answer(&format!("{{{fields},{hello}}}")), plain, "{fields} before {hello}");
        }
    }
    let envelope = check(format!(r#"{{{acked},"vcp_message":"1.2"}}"#).as_bytes(), None);
    assert!(envelope.violations.iter().map(|v| v.code).eq([Code::AmbiguousDialect]));
}

#[test]
fn a_message_of_nothing_but_faults_is_refused_soon() {
    let ack = |unsupported: &str, capabilities: &str| {
        format!(
            r#"{{"type":"vcp-ack","version":"3.1","supported":[],"unsupported":[{unsupported}],"capabilities":{{{capabilities}}}}}"#
        )
    };
    let keys: Vec<_> = (0..6_000).map(|number| format!(r#""{number}":1"#)).collect();
    for text in [
        ack(&("1,".repeat(32_000) + "1"), ""),
        ack(&(r#""a","#.repeat(16_000) + "1"), ""),
        ack("", &keys.join(",")),
        format!(r#"{{"type":"vcp-hello","version":"3","extensions":[{}]}}"#, "1,".repeat(32_000) + "1"),
    ] {
        let violations = parse::<Handshake>(text.as_bytes()).unwrap_err().into_vec();
        assert!((100..=101).contains(&violations.len()), "{}", violations.len());
    }
}
