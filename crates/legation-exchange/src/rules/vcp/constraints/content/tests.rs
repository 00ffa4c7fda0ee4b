//! What counts as content.

use super::Content;
use legation_protocol::Received;
use serde_json::{Value, json};

#[track_caller]
fn check(text: &str, tokens: u64) {
    let received = Received::read(text.as_bytes()).unwrap();
    let content = Content::of(&received);
    assert_eq!(content.more_than(tokens - 1), Some(tokens), "{text}");
    assert_eq!(content.more_than(tokens), None, "{text}");
}

#[test]
fn four_bytes_of_content_are_a_token_in_every_dialect() {
    let cap =
        |members: &str| format!(r#"{{"type":"message","task_id":"T1","sender_id":"a","recipient_id":"b",{members}}}"#);
    check(&cap(r#""content":"12345678""#), 2);
    check(&cap(r#""content":"123456789""#), 3);
    check(&cap(r#""content":"éé""#), 1);
    check(&cap(r#""content":"1234","note":"5678""#), 3);
    check(&cap(r#""content":"1234","attachments":[{"type":"text_snippet","text":"12345678"}]"#), 12);
    check(
        r#"{"id":"MSG1","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"a","content":{"a": 12345},"confidence":0.5,"safety":{"level":"safe"},"session_id":"S-2026-02-15-long-and-of-no-weight"}"#,
        3,
    );
    check(
        r#"{"mcp_version":"0.1.0","message_id":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10","sender":{"agent_id":"a"},"receiver":{"agent_id":"b"},"language":"application/json","ontology":"elizaos:general_query","timestamp":"2026-02-15T10:30:00Z","performative":"QUERY_REF","payload":{"reference":"1234"}}"#,
        5,
    );
}

/// A message of each dialect, with room for more members and for more within some of them.
const VLP: &str = r#"{"id":"MSG1","protocol":"VLP/1.1","type":"claim","timestamp":"2026-02-15T10:30:00Z","sender":"a","content":"","confidence":0.5,"safety":{"level":"safe"},"refers_to":[]}"#;
const ACL: &str = r#"{"mcp_version":"0.1.0","message_id":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10","sender":{"agent_id":"a"},"receiver":{"agent_id":"b"},"language":"application/json","ontology":"elizaos:general_query","timestamp":"2026-02-15T10:30:00Z","performative":"QUERY_REF","payload":{"reference":"1234"}}"#;
const CAP: &str = r#"{"type":"delegation_notice","task_id":"T1","sender_id":"a","recipient_id":"b","context_summary":"x","grants":{"tools":[]},"attachments":[]}"#;
const VCP: &str = r#"{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-7e5c-7000-8000-000000000001","sender":"agent://a/a","recipient":"agent://a/b","timestamp":"2026-02-15T10:30:00Z","payload":{"severity":"info","reason":"x","context":"📍🏢","requires_ack":false}}"#;

#[test]
fn whatever_a_sender_writes_counts_wherever_it_stands() {
    let long = "x".repeat(4000);
    let text = Value::from(long.as_str());
    let cases = [
        (VLP, "/content", text.clone()),
        (VLP, "/content", json!({ "x": text, long.as_str(): 1 })),
        (VLP, "/topic", text.clone()),
        (VLP, "/keywords", json!([text])),
        (VLP, "/provenance", json!([text])),
        (VLP, "/provenance", json!([{ "ref": "a", "kind": text }])),
        (VLP, "/constraints", json!([text])),
        (VLP, "/payload", json!({ "x": text })),
        (VLP, "/_extras", json!({ long.as_str(): 1 })),
        (VLP, "/safety/issues", json!([{ "code": text }])),
        (VLP, "/safety/issues", json!([{ "code": "a", "detail": text }])),
        (VLP, "/safety/issues", json!([{ "code": "a", "message": text }])),
        (VLP, "/safety/note", text.clone()),
        (VLP, "/safety/agent_id", text.clone()),
        (VLP, "/refers_to", (0..20).map(|n| format!("{n:0200}")).collect()),
        (VLP, "/level", text.clone()),
        (ACL, "/payload/reference", text.clone()),
        (ACL, "/sender/metadata", text.clone()),
        (ACL, "/receiver/level", text.clone()),
        (ACL, "/language", format!("text/plain; x=\"{long}\"").into()),
        (ACL, "/note", text.clone()),
        (CAP, "/context_summary", text.clone()),
        (CAP, "/grants/tools", (0..20).map(|n| format!("{n:0200}")).collect()),
        (CAP, "/grants/scopes", (0..20).map(|n| format!("{n:0200}")).collect()),
        (CAP, "/attachments", json!([{ "type": "file", "path": text }])),
        (CAP, "/attachments", json!([{ "type": "text_snippet", "text": "", "name": text }])),
        (CAP, "/metadata", json!({ "x": text })),
        (VCP, "/payload/reason", text.clone()),
    ];
    for (message, at, value) in cases {
        let mut message: Value = serde_json::from_str(message).unwrap();
        let (place, name) = at.rsplit_once('/').unwrap();
        message.pointer_mut(place).unwrap()[name] = value;
        let received = Received::read(message.to_string().as_bytes()).unwrap();
        assert!(Content::of(&received).more_than(900).is_some(), "{at}");
    }
    for (message, name) in [(VLP, long.clone()), (ACL, long.clone()), (CAP, long.clone())] {
        let mut message: Value = serde_json::from_str(message).unwrap();
        message[name] = Value::from(0);
        let received = Received::read(message.to_string().as_bytes()).unwrap();
        assert!(Content::of(&received).more_than(900).is_some());
    }
}

#[test]
fn a_message_that_says_nothing_has_no_weight() {
    for message in [VLP, ACL, CAP, VCP] {
        let received = Received::read(message.as_bytes()).unwrap();
        assert_eq!(Content::of(&received).more_than(30), None, "{message}");
    }
}
