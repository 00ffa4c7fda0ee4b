//! VCP capability negotiation 3.1.

use crate::fixtures;
use legation_protocol::negotiation::{
    Ack, CoreFeatures, Environment, Extension, ExtensionName, Handshake, Hello, Identity, Registry, Server, Version,
    negotiate,
};
use legation_protocol::{build, json::Json, parse};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use std::collections::BTreeSet;

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

prop_compose! {
    fn hellos()(
        version in versions(),
        min_version in prop::option::of(versions()),
        extensions in prop::option::of(vec(names(), 0..12)),
        identity in prop::option::of("[a-z:]{0,9}"),
        client_id in prop::option::of("\\PC{0,9}"),
    ) -> Hello {
        let mut seen = BTreeSet::new();
        let mut extensions: Option<Vec<_>> = extensions;
        if let Some(list) = &mut extensions {
            list.retain(|name| seen.insert(name.clone()));
        }
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

proptest! {
    #[test]
    fn the_lists_partition_the_request((hello, _, ack) in acks()) {
        let supported: BTreeSet<_> = ack.supported.iter().map(|name| name.as_str().to_owned()).collect();
        let unsupported: BTreeSet<_> = ack.unsupported.clone().unwrap().into_iter().collect();
        let requested: BTreeSet<_> = hello.requested().iter().map(|name| name.as_str().to_owned()).collect();
        prop_assert!(supported.is_disjoint(&unsupported));
        prop_assert_eq!(&supported | &unsupported, requested);
    }

    #[test]
    fn the_lists_keep_the_clients_order((hello, _, ack) in acks()) {
        let place = |name: &str| hello.requested().iter().position(|other| other.as_str() == name);
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
        let answer = Handshake::from(answer);
        let built = build(&answer).unwrap();
        prop_assert_eq!(built.value(), &answer);
        prop_assert_eq!(built.warnings(), &[]);
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
