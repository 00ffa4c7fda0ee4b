//! CAP: messages and agent manifests.

use crate::fixtures;
use legation_protocol::cap::{Attachment, Body, Decision, ErrorCode, Grants, Manifest, Message, TaskId};
use legation_protocol::id::AgentId;
use legation_protocol::json::{Digest, Doc, Json};
use legation_protocol::{Code, Severity, Timestamp, Violation, Wire, build, parse};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;

#[test]
fn message_fixtures_hold() {
    fixtures::check_all::<Message>("cap", "cap-message.schema.json");
}

#[test]
fn manifest_fixtures_hold() {
    fixtures::check_all::<Manifest>("manifest", "agent.schema.json");
}

fn task(text: &str) -> TaskId {
    TaskId::parse(text).unwrap()
}

fn agent(text: &str) -> AgentId {
    AgentId::cap(text).unwrap()
}

/// Every constructor, with every kind of attachment somewhere.
fn constructed() -> Vec<Message> {
    let (pm, analyst, qa) = (|| agent("pm-1"), || agent("analyst-1"), || agent("qa-1"));
    let about = Digest::of_bytes(b"the result");
    let attachments = vec![
        Attachment::tool_call_result("DataServer", "query_data", Json::from(json!({"rows": [1, 2.5]}))),
        Attachment::file_at("/data/report.csv"),
        Attachment::file_from("https://files.example.com/report.csv"),
        Attachment::python_object(Json::from(json!({"figures": {}}))),
        Attachment::text_snippet("Numbers are preliminary."),
    ];
    let decided = |decision| Message::decide(task("T1.1"), qa(), analyst(), decision, about, "I read it all.");
    vec![
        Message::say(task("T1"), pm(), agent("user"), "Which regions?"),
        Message::result(task("T1.1"), analyst(), pm(), "Europe fell."),
        Message {
            attachments: Some(attachments),
            ..Message::delegate(task("T1.1"), pm(), analyst(), "Figures remain.")
        },
        Message {
            message_id: Some("m-1".to_owned()),
            timestamp: Some(Timestamp::utc("2025-01-31T09:30:00Z").unwrap()),
            parent_task_id: Some(task("T1")),
            deadline: Some(Timestamp::utc("2025-02-01T00:00:00Z").unwrap()),
            grants: Some(Grants { tools: Some(vec!["query_data".to_owned()]), scopes: Some(Vec::new()) }),
            ..Message::delegate(task("figures"), pm(), analyst(), "Figures remain.")
        },
        Message::fail(task("T1.1"), analyst(), pm(), ErrorCode::Timeout, "The tool is silent."),
        Message::inquire(task("T1.1"), qa(), analyst(), "Which table?"),
        decided(Decision::Approve),
        decided(Decision::Revise),
        decided(Decision::Reject),
    ]
}

#[test]
fn every_constructed_message_builds_and_reads_back() {
    for message in constructed() {
        let built = build(&message).unwrap();
        assert_eq!(built.value(), &message);
        assert_eq!(built.warnings(), []);
    }
}

#[test]
fn every_constructed_manifest_builds_and_reads_back() {
    let manifest = Manifest::new(agent("analyst-1"), "Be exact.")
        .delegating_to(agent("qa-1"), "The analysis is done.")
        .delegating_to(agent("pm-1"), "The scope is unclear.")
        .overseen_by(agent("qa-1"))
        .bound_to("DataServer", &["read:data"], &["query_data"]);
    assert_eq!(build(&manifest).unwrap().value(), &manifest);
}

#[test]
fn what_the_types_cannot_prevent_building_refuses() {
    let refused = |message: Message, code| assert_eq!(build(&message).unwrap_err().code(), code);
    let said = || Message::say(task("T1"), agent("a"), agent("b"), "x");
    refused(Message { recipient_id: agent("a"), ..said() }, Code::SelfAddressed);
    refused(Message { sender_id: agent("system"), ..said() }, Code::ReservedId);
    let handed_on = || Message::delegate(task("T1"), agent("a"), agent("b"), "x");
    refused(Message { parent_task_id: Some(task("T1")), ..handed_on() }, Code::BadTaskId);
    refused(Message { grants: Some(Grants::default()), ..handed_on() }, Code::SchemaInvalid);
    refused(Message { grants: Some(Grants { tools: Some(Vec::new()), scopes: None }), ..said() }, Code::SchemaInvalid);
    refused(Message { decision: Some(Decision::Approve), is_final: Some(true), ..said() }, Code::SchemaInvalid);
    refused(Message { digest: Some(Digest::of_bytes(b"x")), ..said() }, Code::SchemaInvalid);
    refused(Message { body: Body::OversightInquiry { inquiry: String::new() }, ..said() }, Code::SchemaInvalid);
    let listed = Body::ErrorResponse { error_code: ErrorCode::Other(404), error_message: "x".to_owned() };
    refused(Message { body: listed, ..said() }, Code::SchemaInvalid);
    refused(Message { sender_id: AgentId::named("The Observer").unwrap(), ..said() }, Code::BadAgentId);
    let large = Attachment::python_object(Json::from(Value::from("a".repeat(65_535))));
    refused(Message { attachments: Some(vec![large]), ..said() }, Code::AttachmentTooLarge);
    let mut twin = said();
    twin.extra.insert("task_id".to_owned(), Json::from(json!("T2")));
    refused(twin, Code::DuplicateKey);
}

#[test]
fn the_common_view_finds_what_it_asks_for() {
    let text = br#"{"type":"delegation_notice","task_id":"T1.2","sender_id":"a","recipient_id":"b",
        "context_summary":"x","message_id":"m","timestamp":"2025-01-31T09:30:00Z"}"#;
    let message = parse::<Message>(text).unwrap().value;
    assert_eq!((message.id(), message.kind_name(), message.thread()), (Some("m"), "delegation_notice", "T1.2"));
    assert_eq!((&**message.sender(), &**message.recipient()), ("a", "b"));
    assert_eq!(message.time().unwrap().as_str(), "2025-01-31T09:30:00Z");
    assert_eq!(message.parent_task(), Some(task("T1")));
}

#[test]
fn a_parent_is_known_by_the_dots_or_by_name() {
    let handed_on = |id| Message::delegate(task(id), agent("a"), agent("b"), "x");
    assert_eq!(handed_on("T1").parent_task(), None);
    assert_eq!(handed_on("T1.1").parent_task(), Some(task("T1")));
    assert_eq!(Message { parent_task_id: Some(task("T1.1")), ..handed_on("E") }.parent_task(), Some(task("T1.1")));
}

#[test]
fn the_specs_own_inquiry_is_not_json() {
    // A comma is missing after the inquiry, and one is too many after the attachment.
    let missing = br#"{"type":"oversight_inquiry","inquiry":"Which table?" "attachments":[]}"#;
    let trailing = br#"{"type":"oversight_inquiry","inquiry":"Which table?","attachments":[{"type":"file"},]}"#;
    let comment = br#"{"type":"delegation_notice","attachments":[/* as above */]}"#;
    for text in [&missing[..], &trailing[..], &comment[..]] {
        assert_eq!(parse::<Message>(text).unwrap_err().code(), Code::BadJson);
    }
}

#[test]
fn a_manifest_that_had_no_overseer_can_be_given_one() {
    let text =
        br#"{"id":"a","system_prompt":"x","allowed_agents":[],"delegate_rules":{},"overseer":null,"mcp_bindings":[]}"#;
    let manifest = parse::<Manifest>(text).unwrap().value;
    assert_eq!(manifest.overseer, None);
    assert_eq!(build(&manifest.overseen_by(agent("qa-1"))).unwrap().value().overseer, Some(agent("qa-1")));
}

#[test]
fn one_reading_finds_all_that_is_wrong() {
    let text = br#"{"type":"error_response","task_id":"T..1","sender_id":"system","recipient_id":"b b",
        "error_code":"504","attachments":[{"type":"file"},{"type":"text_snippet"},7],"final":"yes"}"#;
    let found: Vec<_> = parse::<Message>(text).unwrap_err().into_vec();
    let told: Vec<_> = found.iter().map(|v| format!("{} {}", v.code, v.at.as_deref().unwrap())).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    bad_task_id /task_id
    reserved_id /sender_id
    bad_agent_id /recipient_id
    schema_invalid /error_code
    schema_invalid /error_message
    schema_invalid /attachments/0
    schema_invalid /attachments/1/text
    schema_invalid /attachments/2
    schema_invalid /final
    ");
}

#[test]
fn rules_are_cited_by_their_section() {
    fn cited<T: Wire>(path: &str) -> Option<&'static str> {
        let bytes = fs::read(fixtures::root().join("spec").join(path)).unwrap();
        parse::<T>(&bytes).err().unwrap().first().spec
    }
    for (path, want) in [
        ("cap/bad/sender-id-system.json", "Legation reserved ids"),
        ("cap/bad/sender-id-star.json", "Legation reserved ids"),
        ("cap/bad/sender-id-space.json", "CAP Message Schema"),
        ("cap/bad/task-id-double-dot.json", "Legation task ids"),
        ("cap/bad/parent-task-id-double-dot.json", "Legation task ids"),
        ("cap/bad/parent-task-skips-a-level.json", "Legation task lineage"),
        ("cap/bad/message-id-newline.json", "Legation message ids"),
        ("cap/bad/grants-tool-line-break.json", "Legation names"),
        ("cap/bad/grants-on-message.json", "Legation grants"),
        ("cap/bad/deadline-on-message.json", "Legation deadlines"),
        ("cap/bad/parent-task-id-on-message.json", "Legation task lineage"),
        ("cap/bad/decision-on-inquiry.json", "Legation oversight marks"),
    ] {
        assert_eq!(cited::<Message>(path), Some(want), "{path}");
    }
    for (path, want) in [
        ("manifest/bad/id-user.json", "Legation reserved ids"),
        ("manifest/bad/overseer-star.json", "Legation reserved ids"),
        ("manifest/bad/allowed-agent-system.json", "Legation reserved ids"),
        ("manifest/bad/binding-tool-line-break.json", "Legation names"),
    ] {
        assert_eq!(cited::<Manifest>(path), Some(want), "{path}");
    }
}

#[test]
fn a_mark_in_the_wrong_place_is_told_once_and_with_a_way_out() {
    let text = br#"{"type":"oversight_inquiry","task_id":"T1","sender_id":"a","recipient_id":"b","inquiry":"x",
        "parent_task_id":7,"deadline":"soon","grants":{},"decision":"maybe","digest":null,"final":"yes"}"#;
    let told: Vec<_> = parse::<Message>(text).unwrap_err().into_vec();
    let lines: Vec<_> = told
        .iter()
        .map(|v| format!("{} {}; {}", v.at.as_deref().unwrap(), v.message, v.help.as_deref().unwrap()))
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    /parent_task_id only a message of type "delegation_notice" has this; remove it, or put it on the "delegation_notice" of the task
    /deadline only a message of type "delegation_notice" has this; remove it, or put it on the "delegation_notice" of the task
    /grants only a message of type "delegation_notice" has this; remove it, or put it on the "delegation_notice" of the task
    /decision only a message of type "message" has this; remove it, or send it in a "message"
    /digest only a message of type "message" has this; remove it, or send it in a "message"
    /final only a message of type "message" has this; remove it, or send it in a "message"
    "#);
}

/// What no schema can say: these may be all that is wrong.
fn is_beyond_schema(violation: &Violation) -> bool {
    match violation.code {
        Code::SelfAddressed | Code::AttachmentTooLarge | Code::DelegateRulesMismatch | Code::OverseerSelf => true,
        Code::BadTaskId => violation.at.as_deref() == Some("/parent_task_id"),
        _ => violation.severity == Severity::Warning,
    }
}

#[test]
fn schema_and_types_agree_on_every_change_to_a_message() {
    agree_on_changes::<Message>("cap", "cap-message.schema.json");
}

#[test]
fn schema_and_types_agree_on_every_change_to_a_manifest() {
    agree_on_changes::<Manifest>("manifest", "agent.schema.json");
}

/// Puts each of a few values into each place of each valid fixture, or takes the place away.
fn agree_on_changes<T: Wire>(dialect: &str, schema: &str) {
    let read = |path: std::path::PathBuf| serde_json::from_str::<Value>(&fs::read_to_string(path).unwrap()).unwrap();
    let schema = jsonschema::draft202012::new(&read(fixtures::root().join("schemas").join(schema))).unwrap();
    for file in fs::read_dir(fixtures::root().join("spec").join(dialect).join("ok")).unwrap() {
        let fixture = read(file.unwrap().path());
        if fixture.to_string().len() > 4096 {
            continue;
        }
        for changed in changes(&fixture) {
            let text = changed.to_string();
            let errors = match parse::<T>(text.as_bytes()) {
                Ok(_) => Vec::new(),
                Err(rejection) => rejection.into_vec(),
            };
            let silent = !errors.is_empty() && errors.iter().all(is_beyond_schema);
            let same = schema.is_valid(&changed) == errors.is_empty();
            assert!(same || silent, "{text}\n{errors:?}");
        }
    }
}

fn changes(value: &Value) -> Vec<Value> {
    let mut all: Vec<Value> = [
        json!(null),
        json!(true),
        json!(-1),
        json!(1.5),
        json!(""),
        json!("a b"),
        json!("x"),
        json!([]),
        json!([""]),
        json!({}),
    ]
    .into();
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                let with = |change: Option<Value>| {
                    let mut copy = members.clone();
                    match change {
                        Some(change) => copy.insert(name.clone(), change),
                        None => copy.remove(name),
                    };
                    Value::Object(copy)
                };
                all.extend(changes(member).into_iter().map(|change| with(Some(change))));
                all.push(with(None));
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                for change in changes(item) {
                    let mut copy = items.clone();
                    copy[index] = change;
                    all.push(Value::Array(copy));
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
    all
}

fn names() -> impl Strategy<Value = Option<Vec<String>>> {
    proptest::option::of(proptest::collection::vec("[a-d]", 0..4))
}

prop_compose! {
    fn grants()(tools in names(), scopes in names()) -> Grants {
        Grants { tools, scopes }
    }
}

proptest! {
    #[test]
    fn a_task_id_is_its_ancestors_and_one_part_more(parts in proptest::collection::vec("[A-Za-z0-9_-]{1,8}", 1..9)) {
        let id = task(&parts.join("."));
        prop_assert_eq!(id.ancestors().count(), parts.len() - 1);
        prop_assert!(id.ancestors().all(|above| id.is_below(&above) && !above.is_below(&id)));
        if let Some(parent) = id.parent() {
            prop_assert_eq!(parent.child(parts.last().unwrap()).unwrap(), id);
        }
    }

    #[test]
    fn any_text_is_a_task_id_or_is_refused(text in "[T1._ /-]{0,6}") {
        let parts_ok = text.split('.').all(|part| !part.is_empty() && !part.contains([' ', '/']));
        prop_assert_eq!(TaskId::parse(&text).is_ok(), parts_ok);
    }

    #[test]
    fn narrowed_grants_allow_what_both_allow(above in grants(), next in grants(), name in "[a-e]") {
        let left = above.narrowed_by(&next);
        prop_assert_eq!(left.allow_tool(&name), above.allow_tool(&name) && next.allow_tool(&name));
        prop_assert_eq!(left.allow_scope(&name), above.allow_scope(&name) && next.allow_scope(&name));
    }

    #[test]
    fn whatever_text_goes_in_comes_out(content in ".{0,40}", snippet in ".{0,40}", key in "x_.{0,8}") {
        let mut message = Message::say(task("T1"), agent("a"), agent("b"), content);
        message.attachments = Some(vec![Attachment::text_snippet(snippet)]);
        message.extra.insert(key, Json::from(json!([null, {"a": 1}])));
        let built = build(&message).unwrap();
        prop_assert_eq!(built.value(), &message);
        prop_assert!(Doc::parse(built.text().as_bytes()).is_ok());
    }
}
