//! The common view over all dialects, and detection on real fixtures.

use crate::fixtures::root;
use legation_protocol::{Code, Content, Format, Received, Recipients, Severity, Timestamp, check};
use std::fs;

#[test]
fn every_valid_fixture_shows_its_own_dialect() {
    for format in Format::ALL {
        let folder = root().join("spec").join(format.as_str()).join("ok");
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let checked = check(&fs::read(&path).unwrap(), None);
            assert_eq!(checked.format, Some(*format), "{}", path.display());
            assert!(checked.is_valid(), "{}: {:?}", path.display(), checked.violations);
        }
    }
}

#[test]
fn no_valid_fixture_passes_for_another_dialect() {
    for format in Format::ALL {
        let folder = root().join("spec").join(format.as_str()).join("ok");
        for file in fs::read_dir(folder).unwrap() {
            let bytes = fs::read(file.unwrap().path()).unwrap();
            for other in Format::ALL.iter().filter(|other| *other != format) {
                assert!(!check(&bytes, Some(*other)).is_valid(), "{format} as {other}");
            }
        }
    }
}

const VCP: &str = r#"{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-ad0f-7000-8000-000000000004",
    "sender":"agent://o.prod/parent","recipient":"agent://o.prod/child","timestamp":"2026-02-15T10:33:00Z",
    "payload":{"severity":"critical","reason":"ACK:019502a4-ad0f-7000-8000-000000000001","context":"⏰🌅","requires_ack":false}}"#;
const ACL: &str = r#"{"mcp_version":"0.1.0","message_id":"550E8400-E29B-41D4-A716-446655440000","performative":"TASK_ACCEPT",
    "sender":{"agent_id":"Jules"},"receiver":{"agent_id":"Eddy"},"in_reply_to":"r-1","language":"en",
    "ontology":"elizaos:ontology:general/task_acceptance","timestamp":"2026-02-15T10:33:00Z","payload":{"status":"accepted"}}"#;
const CAP: &str = r#"{"type":"delegation_notice","task_id":"T1.1","sender_id":"pm-1","recipient_id":"analyst-1","context_summary":"Go."}"#;
const VLP: &str = r#"{"id":"MSG001","protocol":"VLP/1.1","type":"response","timestamp":"2026-02-15T10:33:00+00:00",
    "sender":"The Observer","content":"yes","confidence":0.5,"session_id":"S-2026-02-15-observer-abc123","refers_to":["MSG000"]}"#;

struct View {
    kind: &'static str,
    id: Option<&'static str>,
    sender: &'static str,
    recipients: Recipients<'static>,
    thread: Option<&'static str>,
    refers_to: Vec<&'static str>,
    time: Option<&'static str>,
}

#[track_caller]
fn check_view(text: &str, want: &View) {
    let received = Received::read(text.as_bytes()).unwrap();
    let message = received.message();
    assert_eq!(received.bytes(), text.as_bytes());
    assert_eq!((message.kind(), message.id().as_deref(), message.sender()), (want.kind, want.id, want.sender));
    assert_eq!((message.recipients(), message.thread()), (want.recipients, want.thread));
    assert_eq!(message.refers_to(), want.refers_to);
    assert_eq!(message.time().map(Timestamp::as_str), want.time);
}

#[test]
fn one_view_serves_all_dialects() {
    check_view(
        VCP,
        &View {
            kind: "escalation",
            id: Some("019502a4-ad0f-7000-8000-000000000004"),
            sender: "agent://o.prod/parent",
            recipients: Recipients::One("agent://o.prod/child"),
            thread: None,
            refers_to: vec!["019502a4-ad0f-7000-8000-000000000001"],
            time: Some("2026-02-15T10:33:00Z"),
        },
    );
    check_view(
        ACL,
        &View {
            kind: "TASK_ACCEPT",
            id: Some("550e8400-e29b-41d4-a716-446655440000"),
            sender: "Jules",
            recipients: Recipients::One("Eddy"),
            thread: None,
            refers_to: vec!["r-1"],
            time: Some("2026-02-15T10:33:00Z"),
        },
    );
    check_view(
        &ACL.replace("r-1", "5B1F0C9E-3A77-4C1D-9A46-0F2D8E6B7C10"),
        &View {
            kind: "TASK_ACCEPT",
            id: Some("550e8400-e29b-41d4-a716-446655440000"),
            sender: "Jules",
            recipients: Recipients::One("Eddy"),
            thread: None,
            refers_to: vec!["5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10"],
            time: Some("2026-02-15T10:33:00Z"),
        },
    );
    check_view(
        CAP,
        &View {
            kind: "delegation_notice",
            id: None,
            sender: "pm-1",
            recipients: Recipients::One("analyst-1"),
            thread: Some("T1.1"),
            refers_to: vec![],
            time: None,
        },
    );
    check_view(
        VLP,
        &View {
            kind: "response",
            id: Some("MSG001"),
            sender: "The Observer",
            recipients: Recipients::Thread,
            thread: Some("S-2026-02-15-observer-abc123"),
            refers_to: vec!["MSG000"],
            time: Some("2026-02-15T10:33:00+00:00"),
        },
    );
}

#[test]
fn a_demanded_dialect_does_not_hide_a_second_one() {
    let both = CAP.replace('{', r#"{"protocol":"VLP/1.1","#);
    assert_eq!(check(both.as_bytes(), Some(Format::Cap)).violations[0].code, Code::AmbiguousDialect);
    assert_eq!(check(CAP.as_bytes(), Some(Format::Vlp)).format, Some(Format::Vlp));
}

#[test]
fn a_handshake_is_no_message() {
    let hello = br#"{"type":"vcp-hello","version":"3.1"}"#;
    assert!(matches!(check(hello, None).content, Some(Content::Handshake(_))));
    assert_eq!(Received::read(hello.as_slice()).unwrap_err().code(), Code::UnknownDialect);
}

#[test]
fn a_handshake_has_a_limit_of_its_own() {
    let hello = |length: usize| {
        let frame = r#"{"type":"vcp-hello","version":"3.1","extra_pad":""}"#;
        frame.replace("\"\"", &format!("\"{}\"", "x".repeat(length - frame.len())))
    };
    assert!(check(hello(65_536).as_bytes(), None).is_valid());
    let over = check(hello(65_537).as_bytes(), None);
    assert_eq!(over.violations[0].code, Code::TooLarge);
}

#[test]
fn a_signed_wrapper_is_judged_by_what_it_holds() {
    let signature = format!("base64:{}==", "A".repeat(86));
    let wrapped = |message: &str, signature: &str| format!(r#"{{"message":{message},"signature":"{signature}"}}"#);
    assert!(check(wrapped(VLP, &signature).as_bytes(), None).is_valid());
    let broken = check(wrapped(&VLP.replace("0.5", "5"), &signature).as_bytes(), None);
    assert_eq!(broken.violations[0].at.as_deref(), Some("/message/confidence"));
    let unsigned = check(wrapped(VLP, "base64:AA==").as_bytes(), None);
    assert_eq!(unsigned.violations[0].code, Code::SignatureFormat);
    let inner = Received::read(VLP.as_bytes()).unwrap().digest();
    assert_eq!(Received::read(wrapped(VLP, &signature).into_bytes()).unwrap().digest(), inner);
}

#[test]
fn only_a_dialect_without_signatures_is_wrapped() {
    let signature = format!("base64:{}==", "A".repeat(86));
    for message in [VCP, r#"{"type":"vcp-hello","version":"3.1"}"#, r#"{"id":"a","allowed_agents":[]}"#, "{}", "[]"] {
        let checked = check(format!(r#"{{"message":{message},"signature":"{signature}"}}"#).as_bytes(), None);
        assert_eq!(checked.violations[0].code, Code::UnknownDialect, "{message}");
    }
}

#[test]
fn the_one_error_behind_many_warnings_has_its_place() {
    let names = vec!["1"; 120].join(",");
    let hello = format!(r#"{{"type":"vcp-hello","version":"3.1","extensions":[{names}],"identity":7}}"#);
    let checked = check(hello.as_bytes(), None);
    let error = checked.violations.iter().find(|v| v.severity == Severity::Error).unwrap();
    assert_eq!(error.at.as_deref(), Some("/identity"));
}

/// A message of nothing but faults costs no more than one that is full of content.
#[test]
fn faults_are_counted_up_to_a_limit() {
    let many = |open: &str, one: &str, close: &str| {
        let count = (60 * 1024) / (one.len() + 1);
        format!("{open}{}{close}", vec![one; count].join(","))
    };
    for text in [
        many(r#"{"protocol":"VLP/1.1","keywords":["#, "1", "]}"),
        many(r#"{"type":"message","sender_id":"a","attachments":["#, "0", "]}"),
        many(r#"{"vcp_message":"1.2","type":"constraint_propagate","payload":{"constraints":["#, "{}", "]}}"),
        many(r#"{"type":"vcp-hello","version":"3.1","extensions":["#, "1", "]}"),
    ] {
        let checked = check(text.as_bytes(), None);
        assert!((2..=101).contains(&checked.violations.len()), "{}", checked.violations.len());
    }
}
