//! The tables and rules of the handshake, one by one.

use super::{Server, negotiate};
use crate::json::Json;
use crate::negotiation::{
    Ack, CoreFeatures, ErrorCode, Extension, ExtensionName, Hello, Identity, PersonalState, Refusal, Terms, Version,
};
use crate::vcp::Environment;
use crate::wire::build;
use serde_json::{Value, json};
use std::cell::Cell;

const FIVE: [ExtensionName; 5] = [
    ExtensionName::PERSONAL,
    ExtensionName::RELATIONAL,
    ExtensionName::CONSENSUS,
    ExtensionName::TORCH,
    ExtensionName::INTENT,
];

fn name(text: &str) -> ExtensionName {
    text.parse().unwrap()
}

fn known(hello: Hello) -> Hello {
    Hello { identity: Some(Identity::from("token".to_owned())), ..hello }
}

/// Negotiates for a client whose token, if any, is good.
fn answer(hello: &Hello, server: &Server) -> Result<Ack, Refusal> {
    negotiate(hello, server, |_| true)
}

#[track_caller]
fn refused(answer: Result<Ack, Refusal>) -> ErrorCode {
    answer.unwrap_err().code
}

fn capability(ack: &Ack, name: &ExtensionName) -> Value {
    ack.capabilities[name].to_value()
}

#[test]
fn the_six_rows_of_the_version_table() {
    let check = |highest: &str, lowest: &str, versions: &[&str], want: Option<&str>| {
        let hello = Hello { min_version: Some(lowest.parse().unwrap()), ..Hello::new(highest.parse().unwrap()) };
        let versions = versions.iter().map(|version| version.parse().unwrap()).collect();
        match (answer(&hello, &Server { versions, ..Server::default() }), want) {
            (Ok(ack), Some(want)) => assert_eq!(ack.version.to_string(), want),
            (Err(refusal), None) => {
                assert_eq!(refusal.code, ErrorCode::VersionUnsupported);
                assert!(refusal.supported_versions.is_some_and(|versions| !versions.is_empty()));
            }
            (other, _) => panic!("{highest} (min {lowest}): {other:?}"),
        }
    };
    check("3.1", "1.0", &["1.0", "2.0", "3.0", "3.1"], Some("3.1"));
    check("3.1", "3.0", &["1.0", "2.0", "3.0", "3.1"], Some("3.1"));
    check("3.1", "3.0", &["1.0", "2.0", "3.0"], Some("3.0"));
    check("2.0", "2.0", &["1.0", "2.0", "3.0", "3.1"], Some("2.0"));
    check("3.5", "3.5", &["1.0", "2.0", "3.0", "3.1"], None);
    check("1.0", "1.0", &["2.0", "3.0", "3.1"], None);
}

#[test]
fn the_feature_matrix() {
    let none = CoreFeatures::default();
    let two = CoreFeatures { encryption: true, injection_scanning: true, ..none };
    for (version, core, state, extensions) in [
        (Version::V1_0, none, PersonalState::None, 0),
        (Version::V2_0, two, PersonalState::None, 0),
        (Version::V3_0, CoreFeatures::ALL, PersonalState::Float, 0),
        (Version::V3_1, CoreFeatures::ALL, PersonalState::Categorical, 5),
    ] {
        let ack = answer(&known(Hello::asking_for(version, FIVE)), &Server::default()).unwrap();
        assert_eq!((ack.features(), Terms::from(&ack).personal_state()), (core, state), "{version}");
        assert_eq!((ack.supported.len(), ack.capabilities.len()), (extensions, extensions), "{version}");
        assert_eq!(ack.unsupported.as_ref().map(Vec::len), Some(5 - extensions), "{version}");
        let written = serde_json::to_value(&ack).unwrap();
        assert_eq!(written["core_features"].as_object().map(serde_json::Map::len), Some(5), "{version}");
    }
}

#[test]
fn below_3_1_nobody_needs_an_identity_and_nothing_conflicts() {
    let ack = answer(&Hello::asking_for(Version::V3_0, FIVE), &Server::default()).unwrap();
    assert_eq!(ack.supported, []);
}

#[test]
fn the_five_capability_objects() {
    let ack = answer(&known(Hello::asking_for(Version::V3_1, FIVE)), &Server::default()).unwrap();
    let text = include_str!("../../../../../spec/hello/ok/ack-five-extensions.json");
    let published: Value = serde_json::from_str(text).unwrap();
    for name in &FIVE {
        assert_eq!(capability(&ack, name), published["capabilities"][name.as_str()], "{name}");
    }
}

#[test]
fn no_request_activates_nothing() {
    for hello in [Hello::new(Version::V3_1), Hello::asking_for(Version::V3_1, [])] {
        let ack = answer(&hello, &Server::default()).unwrap();
        assert_eq!((ack.supported, ack.unsupported), (vec![], Some(vec![])));
    }
}

#[test]
fn unsupported_extensions_fail_nothing() {
    let hello = Hello::asking_for(Version::V3_1, [name("VCP-X-Future"), ExtensionName::CONSENSUS, name("VCP-X-Past")]);
    let ack = answer(&hello, &Server::default()).unwrap();
    assert_eq!(ack.supported, [ExtensionName::CONSENSUS]);
    assert_eq!(ack.unsupported.unwrap(), ["VCP-X-Future", "VCP-X-Past"]);
}

#[test]
fn torch_is_degraded_without_relational() {
    let torch = ExtensionName::TORCH;
    let both = known(Hello::asking_for(Version::V3_1, [torch.clone(), ExtensionName::RELATIONAL]));
    let alone = known(Hello::asking_for(Version::V3_1, [torch.clone()]));
    let full = Server::default();
    let registry = full.registry.clone().without(&ExtensionName::RELATIONAL);
    let poor = Server { registry, ..Server::default() };
    for (hello, server, degraded) in [(&both, &full, false), (&alone, &full, true), (&both, &poor, true)] {
        let ack = answer(hello, server).unwrap();
        assert_eq!(capability(&ack, &torch)["degraded"], json!(degraded));
    }
}

#[test]
fn intent_has_no_signals_without_personal() {
    let intent = ExtensionName::INTENT;
    let both = known(Hello::asking_for(Version::V3_1, [ExtensionName::PERSONAL, intent.clone()]));
    let alone = Hello::asking_for(Version::V3_1, [intent.clone()]);
    for (hello, signals) in [(both, true), (alone, false)] {
        let ack = answer(&hello, &Server::default()).unwrap();
        assert_eq!(capability(&ack, &intent)["personal_signals"], json!(signals));
    }
}

#[test]
fn state_needs_an_identity() {
    for (wanted, needs) in FIVE.into_iter().zip([true, true, false, true, false]) {
        let hello = Hello::asking_for(Version::V3_1, [wanted.clone()]);
        match answer(&hello, &Server::default()) {
            Err(refusal) => {
                assert!(needs && refusal.code == ErrorCode::IdentityRequired, "{wanted}");
                assert!(refusal.message.contains(wanted.as_str()));
            }
            Ok(_) => assert!(!needs, "{wanted}"),
        }
        let registry = Server::default().registry.without(&wanted);
        answer(&hello, &Server { registry, ..Server::default() }).unwrap();
        answer(&known(hello), &Server::default()).unwrap();
    }
}

#[test]
fn the_identity_comes_before_the_extensions() {
    for extensions in [vec![], vec![ExtensionName::PERSONAL], vec![name("VCP-X-Future")]] {
        let hello = known(Hello::asking_for(Version::V3_1, extensions));
        assert_eq!(refused(negotiate(&hello, &Server::default(), |_| false)), ErrorCode::IdentityInvalid);
    }
}

#[test]
fn every_bad_identity_gets_the_same_answer() {
    let asked = Cell::new(0);
    let answers = ["", "vcp:i:a:b:1:x", "expired"].map(|token| {
        let hello = Hello { identity: Some(Identity::from(token.to_owned())), ..Hello::new(Version::V3_1) };
        let answer = negotiate(&hello, &Server::default(), |shown| {
            asked.set(asked.get() + 1);
            shown != token
        });
        build(&answer.unwrap_err()).unwrap().text().to_owned()
    });
    assert!(answers.iter().all(|answer| answer == &answers[0]));
    assert_eq!(asked.get(), 3);
}

#[test]
fn the_client_id_changes_nothing() {
    let hello = Hello::asking_for(Version::V3_1, FIVE);
    let named = Hello { client_id: Some("operator".into()), ..hello.clone() };
    assert_eq!(answer(&hello, &Server::default()), answer(&named, &Server::default()));
}

fn rivals() -> Server {
    let empty = |_: &[&ExtensionName]| Json::from(json!({}));
    let alpha = Extension { conflicts: vec![name("VCP-X-Beta")], ..Extension::new(empty) };
    let registry = Server::default().registry.with(name("VCP-X-Alpha"), alpha);
    Server { registry: registry.with(name("VCP-X-Beta"), Extension::new(empty)), ..Server::default() }
}

#[test]
fn a_conflict_names_the_pair() {
    for pair in [["VCP-X-Alpha", "VCP-X-Beta"], ["VCP-X-Beta", "VCP-X-Alpha"]] {
        let hello = Hello::asking_for(Version::V3_1, pair.map(name));
        let refusal = answer(&hello, &rivals()).unwrap_err();
        assert_eq!(refusal.code, ErrorCode::ExtensionConflict);
        assert!(pair.iter().all(|name| refusal.message.contains(name)));
    }
}

#[test]
fn only_active_extensions_conflict() {
    let hello = Hello::asking_for(Version::V3_1, ["VCP-X-Alpha", "VCP-X-Beta"].map(name));
    let server = rivals();
    let registry = server.registry.without(&name("VCP-X-Beta"));
    answer(&hello, &Server { registry, ..server }).unwrap();
    answer(&Hello { version: Version::V3_0, ..hello }, &rivals()).unwrap();
}

#[test]
fn a_registered_extension_takes_part() {
    let hello = Hello::asking_for(Version::V3_1, [name("VCP-X-Alpha")]);
    let ack = answer(&hello, &rivals()).unwrap();
    assert_eq!(capability(&ack, &name("VCP-X-Alpha")), json!({}));
}

#[test]
fn production_and_staging_need_encryption() {
    let core_features = CoreFeatures { encryption: false, ..CoreFeatures::ALL };
    for (environment, needs) in Environment::ALL.iter().zip([true, true, false, false]) {
        let server = Server { environment: *environment, core_features, ..Server::default() };
        match answer(&Hello::new(Version::V3_1), &server) {
            Ok(ack) => assert!(!needs && !ack.features().encryption, "{environment}"),
            Err(refusal) => assert!(needs && refusal.code == ErrorCode::InternalError, "{environment}"),
        }
    }
}

#[test]
fn a_server_without_versions_is_at_fault() {
    let server = Server { versions: [].into(), ..Server::default() };
    assert_eq!(refused(answer(&Hello::new(Version::V3_1), &server)), ErrorCode::InternalError);
}

#[test]
fn the_first_fault_in_order_is_answered() {
    let mut server = rivals();
    server.core_features.encryption = false;
    let extensions = ["VCP-X-Personal", "VCP-X-Alpha", "VCP-X-Beta"].map(name);
    let mut hello = known(Hello::asking_for(Version::new(9, 0), extensions));
    hello.min_version = Some(Version::new(9, 0));
    assert_eq!(refused(negotiate(&hello, &server, |_| false)), ErrorCode::InternalError);
    server.core_features.encryption = true;
    assert_eq!(refused(negotiate(&hello, &server, |_| false)), ErrorCode::VersionUnsupported);
    hello.min_version = None;
    assert_eq!(refused(negotiate(&hello, &server, |_| false)), ErrorCode::IdentityInvalid);
    hello.identity = None;
    assert_eq!(refused(negotiate(&hello, &server, |_| false)), ErrorCode::IdentityRequired);
    assert_eq!(refused(negotiate(&known(hello), &server, |_| true)), ErrorCode::ExtensionConflict);
}
