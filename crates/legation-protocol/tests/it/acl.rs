//! ElizaOS ACL 0.1.

use crate::fixtures;
use legation_protocol::acl::{
    Action, Answer, Artifact, Capabilities, Content, DebugCode, Estimate, Head, InformCapabilities, InformResult,
    Known, MatchType, Message, MessageId, Misunderstanding, NotUnderstood, Priority, Query, QueryCapabilities,
    QueryType, Reply, TaskAccept, TaskReject, TaskRequest,
};
use legation_protocol::id::AgentId;
use legation_protocol::json::Json;
use legation_protocol::{Code, Extra, Received, Rejection, Timestamp, build, parse};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::fs;
use std::sync::LazyLock;
use std::time::Duration;

const SCHEMA: &str = "elizaos-acl-v0.1.schema.json";

#[test]
fn fixtures_hold() {
    fixtures::check_all::<Message>("acl", SCHEMA);
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(fixtures::root().join("spec/acl/ok").join(name)).unwrap()
}

fn message(name: &str) -> Message {
    parse(&fixture(name)).unwrap().value
}

fn head() -> Head {
    Head {
        message_id: MessageId::parse("5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10").unwrap(),
        sender: AgentId::named("Eddy").unwrap(),
        receiver: AgentId::named("Jules").unwrap(),
        timestamp: Timestamp::utc("2025-06-18T09:14:05Z").unwrap(),
    }
}

/// An answer, under an id that no fixture has.
fn reply_to(asked: &Message) -> Reply {
    asked.reply(MessageId::parse("9d3f6a20-5b1e-4f77-8c42-6e0a1b9d7c35").unwrap(), head().timestamp)
}

fn texts(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn json_with_comments_is_refused() {
    let commented = String::from_utf8(fixture("task-request-least.json")).unwrap().replacen(',', ", // why", 1);
    assert_eq!(parse::<Message>(commented.as_bytes()).unwrap_err().code(), Code::BadJson);
}

#[test]
fn every_fault_is_told_with_its_section_and_a_way_out() {
    let path = fixtures::root().join("spec/acl/bad/several-faults.json");
    let told: Vec<_> = parse::<Message>(&fs::read(path).unwrap()).unwrap_err().into_vec();
    let lines: Vec<_> = told
        .iter()
        .map(|v| {
            let (at, spec, help) = (v.at.as_deref().unwrap(), v.spec.unwrap(), v.help.as_deref().unwrap());
            format!("{at} ({spec}): {}; {help}", v.message)
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @r#"
    /language (ACL 3): this is neither a language tag (BCP 47) nor a media type; write "application/json" for data, or a tag such as "en" or "pt-BR" for prose
    /payload/status (ACL 4.2): "ok" is none of the values this member has; use "accepted"
    /payload/estimated_completion_time (ACL 4.2): a duration is written like PT5M or P1DT12H: capital letters, no sign, a fraction in the last part only; write for example "PT5M" for five minutes, or 300
    /in_reply_to (ACL 4.2): TASK_ACCEPT has to say what it answers; add "in_reply_to" with the message_id of the TASK_REQUEST it answers
    "#);
}

#[test]
fn unknown_members_survive_a_round_trip() {
    let received = message("unknown-fields.json");
    assert_eq!(received.extra.keys().collect::<Vec<_>>(), ["trace"]);
    assert_eq!(received.sender.extra["instance"].as_str(), "3");
    let built = build(&received).unwrap();
    assert_eq!(built.value(), &received);
}

#[test]
fn a_debugging_task_is_built_as_the_spec_describes_it() {
    let code = DebugCode {
        code_to_debug: "return xs[len(xs)]".to_owned(),
        programming_language: "python".to_owned(),
        error_log: None,
        desired_outcome: "no IndexError".to_owned(),
    };
    let request = TaskRequest { priority: Some(Priority::High), ..TaskRequest::debug_code("Mend it.", code) };
    let built = build(&head().request(request).unwrap().reply_with("debug-1")).unwrap();
    insta::assert_snapshot!(built.text(), @r#"{"mcp_version":"0.1.0","message_id":"5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10","sender":{"agent_id":"Eddy"},"receiver":{"agent_id":"Jules"},"reply_with":"debug-1","language":"application/json","ontology":"elizaos:ontology:code/python/debug_request","timestamp":"2025-06-18T09:14:05Z","performative":"TASK_REQUEST","payload":{"task_type":"debug_code","task_description":"Mend it.","task_parameters":{"code_to_debug":"return xs[len(xs)]","desired_outcome":"no IndexError","programming_language":"python"},"priority":"high"}}"#);
}

#[test]
fn an_estimate_has_two_forms_and_one_length() {
    let length = |name: &str| match message(name).content {
        Content::TaskAccept(TaskAccept { estimated_completion_time: Some(estimate), .. }) => estimate.length(),
        other => panic!("{other:?}"),
    };
    assert_eq!(length("estimate-seconds.json"), Some(Duration::from_mins(5)));
    assert_eq!(length("task-accept-full.json"), Some(Duration::from_mins(5)));
    let late = TaskAccept::within(Estimate::Seconds(-1.0));
    let refused = build(&reply_to(&message("task-request-least.json")).with(late).unwrap());
    assert_eq!(refused.unwrap_err().code(), Code::BadEstimate);
}

#[test]
fn what_json_cannot_hold_is_refused_and_not_left_out() {
    for seconds in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let accept = TaskAccept::within(Estimate::Seconds(seconds));
        let reply = reply_to(&message("task-request-least.json")).with(accept).unwrap();
        assert_eq!(build(&reply).unwrap_err().code(), Code::SchemaInvalid, "{seconds}");
    }
}

#[test]
fn what_a_reader_would_have_in_another_form_is_refused() {
    let listed = Misunderstanding::Other("parsing_error".to_owned());
    let reply = reply_to(&message("task-request-least.json"));
    let refused = build(&reply.with(NotUnderstood::because(listed, "What?")).unwrap()).unwrap_err();
    insta::assert_snapshot!(refused, @"schema_invalid: this cannot be written as JSON: what reads back is not what was given");
}

#[test]
fn a_query_is_answered_with_a_value() {
    for (query, value) in [("query-if-capacity.json", json!(true)), ("query-ref-commit.json", json!("8f3c2d1"))] {
        let reply = reply_to(&message(query));
        let built = build(&reply.with(InformResult::answer("Here it is.", value.clone())).unwrap()).unwrap();
        let Content::InformResult(result) = &built.value().content else { panic!("{built:?}") };
        assert_eq!(result.value(), Some(value));
    }
}

#[test]
fn an_artifact_is_described_or_referred_to() {
    let mut result = InformResult::answer("Here they are.", Value::Null);
    result.artifacts = Some(vec![
        Artifact::Reference("/srv/a.py".to_owned()),
        Artifact::Described(Json::from(json!({"type": "log", "content": "2 passed"}))),
    ]);
    let reply = reply_to(&message("task-request-least.json"));
    assert!(build(&reply.with(result).unwrap()).is_ok());
}

#[track_caller]
fn check_refused(broken: &str, to: &str, want: &Misunderstanding) {
    let text = String::from_utf8(fixture("task-request-debug.json")).unwrap();
    assert!(text.contains(broken));
    let rejection = parse::<Message>(text.replacen(broken, to, 1).as_bytes()).unwrap_err();
    assert_eq!(&NotUnderstood::from(&rejection).reason_code, want);
}

#[test]
fn a_refusal_becomes_what_its_sender_is_told() {
    check_refused("TASK_REQUEST", "CANCEL", &Misunderstanding::UnknownPerformative);
    check_refused("elizaos:ontology:code", "elizaos: ontology:code", &Misunderstanding::UnknownOntology);
    check_refused("task_type", "kind", &Misunderstanding::InvalidPayloadStructure);
    check_refused("\"payload\": {", "\"payload\": [", &Misunderstanding::ParsingError);
    check_refused("\"0.1.0\"", "\"0.2.0\"", &Misunderstanding::InvalidPayloadStructure);
    let own = Misunderstanding::from("too_vague".to_owned());
    assert_eq!((own.as_str(), &own), ("too_vague", &Misunderstanding::Other("too_vague".to_owned())));
}

#[test]
fn an_unknown_act_is_told_before_all_else() {
    let text = String::from_utf8(fixture("task-request-debug.json")).unwrap();
    let spoil = |changes: &[(&str, &str)]| {
        let spoilt = changes.iter().fold(text.clone(), |text, (from, to)| text.replacen(from, to, 1));
        NotUnderstood::from(&parse::<Message>(spoilt.as_bytes()).unwrap_err())
    };
    let (version, act) = (("\"0.1.0\"", "\"0.2.0\""), ("TASK_REQUEST", "CANCEL"));
    let (term, payload) = (("elizaos:", "elizaos: "), ("task_type", "kind"));
    let told = spoil(&[version, act, term]);
    assert_eq!(told.reason_code, Misunderstanding::UnknownPerformative);
    insta::assert_snapshot!(told.reason_text.unwrap(), @r#"unknown_performative: "CANCEL" is none of the values this member has (at /performative)"#);
    assert_eq!(spoil(&[version, term, payload]).reason_code, Misunderstanding::UnknownOntology);
    assert_eq!(spoil(&[version, payload]).reason_code, Misunderstanding::InvalidPayloadStructure);
}

/// A message as an exchange reads it, with this act and this payload.
fn sent(act: &str, payload: &str) -> Result<Received, Rejection> {
    let text = String::from_utf8(fixture("task-request-least.json")).unwrap();
    let mut message: Value = serde_json::from_str(&text).unwrap();
    message["performative"] = act.into();
    message["payload"] = serde_json::from_str(payload).unwrap();
    message["in_reply_to"] = "debug-1".into();
    Received::read(message.to_string().into_bytes())
}

#[test]
fn what_is_only_planned_is_read_where_it_was_sent_and_is_no_document() {
    // ACL 8
    let received = sent("CANCEL", r#"{"reason": "Not needed.", "more": 1}"#).unwrap();
    assert_eq!(received.message().kind(), "CANCEL");
    let legation_protocol::Message::Acl(cancel) = received.message() else { panic!("an ACL message") };
    let Content::Cancel(payload) = &cancel.content else { panic!("a CANCEL") };
    assert_eq!((payload.reason.as_deref(), payload.extra.len()), (Some("Not needed."), 1));
    let as_document = parse::<Message>(received.bytes()).unwrap_err();
    assert_eq!(received.beyond_language(), Some(as_document), "told as it is told of a document");
    assert_eq!(sent("TASK_REJECT", r#"{"status": "rejected"}"#).unwrap().beyond_language(), None);
    // Whatever else is wrong with it, that it is unknown comes first, as of any other unknown act.
    for (act, payload) in [("CANCEL", r#"{"reason": 1}"#), ("CANCEL", "[]"), ("SUBSCRIBE", "{}")] {
        assert_eq!(sent(act, payload).unwrap_err().code(), Code::UnknownPerformative, "{act} {payload}");
    }
}

#[test]
fn rules_are_cited_by_their_section() {
    let cited = |file: &str| {
        let bytes = fs::read(fixtures::root().join("spec/acl/bad").join(file)).unwrap();
        parse::<Message>(&bytes).unwrap_err().first().spec
    };
    for (file, want) in [
        ("performative-cancel.json", "ACL 4"),
        ("performative-wrong-type.json", "ACL 3"),
        ("in-reply-to-zero-width.json", "Legation message ids"),
        ("in-reply-to-empty.json", "ACL 3"),
        ("in-reply-to-itself.json", "Legation replies"),
        ("task-accept-task-id-assigned-invisible.json", "Legation message ids"),
        ("task-accept-task-id-assigned-wrong-type.json", "ACL 4.2"),
        ("sender-reserved-system.json", "Legation reserved ids"),
    ] {
        assert_eq!(cited(file), Some(want), "{file}");
    }
}

#[test]
fn answers_of_all_three_kinds_are_read() {
    let answer = |name: &str, check: &dyn Fn(Answer<'_>)| match message(name).content {
        Content::InformCapabilities(inform) => check(inform.answer()),
        other => panic!("{other:?}"),
    };
    answer("inform-capabilities-summary.json", &|answer| {
        let Answer::Summary { topics, actions } = answer else { panic!("{answer:?}") };
        assert_eq!((topics, actions[0].name()), (&texts(&["Python", "debugging"])[..], "MEND_CODE"));
    });
    answer("inform-capabilities-action-details.json", &|answer| {
        let Answer::ActionDetails { name, description, parameters } = answer else { panic!("{answer:?}") };
        assert_eq!((name, description.is_some(), parameters.is_some()), ("MEND_CODE", true, true));
    });
    answer("inform-capabilities-specific-none.json", &|answer| {
        assert_eq!(answer, Answer::Specific { matches: false, matched: &[] });
    });
}

#[test]
fn a_flat_match_is_read_like_a_nested_one() {
    for name in ["inform-capabilities-specific-flat.json", "inform-capabilities-specific.json"] {
        let Content::InformCapabilities(inform) = message(name).content else { panic!("{name}") };
        let Answer::Specific { matches: true, matched } = inform.answer() else { panic!("{name}") };
        assert_eq!(matched[0], "python");
    }
}

#[test]
fn of_two_matches_the_one_in_capabilities_holds() {
    let Content::InformCapabilities(inform) = message("inform-capabilities-match-in-both-places.json").content else {
        panic!("not the fixture meant")
    };
    assert_eq!(inform.match_result, Some(true));
    assert_eq!(inform.answer(), Answer::Specific { matches: false, matched: &[] });
    let outside = InformCapabilities { capabilities: Some(Capabilities::default()), ..inform };
    assert!(matches!(outside.answer(), Answer::Specific { matches: true, .. }));
}

fn known() -> Known {
    let extra = Extra::from([("parameters".to_owned(), Json::from(json!({"code": "string"})))]);
    let mend = Action::Described { name: "MEND_CODE".to_owned(), description: Some("Mends code.".to_owned()), extra };
    Known { topics: texts(&["Python", "Debugging"]), actions: vec![mend, Action::Name("REVIEW".to_owned())] }
}

#[track_caller]
fn check_match(asked: &[&str], how: MatchType, enough: bool, matched: &[&str]) {
    let query = QueryCapabilities::specific(texts(asked), how).query;
    assert_eq!(query.answer_from(&known()), Some(Capabilities::matched(enough, texts(matched))), "{asked:?} {how}");
}

#[test]
fn all_or_any_of_the_capabilities_are_matched() {
    check_match(&["python"], MatchType::All, true, &["python"]);
    check_match(&["python", "debugging", "mend_code"], MatchType::All, true, &["python", "debugging", "mend_code"]);
    check_match(&["python", "rust"], MatchType::All, false, &["python"]);
    check_match(&["python", "rust"], MatchType::Any, true, &["python"]);
    check_match(&["rust"], MatchType::Any, false, &[]);
}

#[test]
fn a_list_of_what_is_known_answers_every_question() {
    let ask = |question: QueryCapabilities| build(&head().open(question)).unwrap().value().clone();
    let questions = [
        (QueryCapabilities::summary(), QueryType::Summary),
        (QueryCapabilities::specific(texts(&["python"]), MatchType::Any), QueryType::Specific),
        (QueryCapabilities::action_details("MEND_CODE"), QueryType::ActionDetails),
    ];
    for (question, kind) in questions {
        let capabilities = question.query.answer_from(&known()).unwrap();
        assert_eq!(question.query.kind(), kind);
        let reply = reply_to(&ask(question));
        let built = build(&reply.with(InformCapabilities::from(capabilities)).unwrap()).unwrap();
        let Content::InformCapabilities(inform) = &built.value().content else { panic!("{built:?}") };
        match (kind, inform.answer()) {
            (QueryType::Summary, Answer::Summary { .. }) | (QueryType::Specific, Answer::Specific { .. }) => {}
            (QueryType::ActionDetails, Answer::ActionDetails { parameters, .. }) => assert!(parameters.is_some()),
            (kind, answer) => panic!("{kind} got {answer:?}"),
        }
    }
    let unknown = QueryCapabilities::action_details("SING");
    assert_eq!(unknown.query.answer_from(&known()), None);
    assert!(build(&head().open(QueryCapabilities::specific(vec![], MatchType::All))).is_err());
    assert!(matches!(
        message("query-capabilities-summary-empty-parameters.json").content,
        Content::QueryCapabilities(QueryCapabilities { query: Query::Summary, .. })
    ));
}

#[test]
fn nobody_builds_what_nobody_may_send() {
    let to_self = Head { receiver: AgentId::named("Eddy").unwrap(), ..head() };
    assert_eq!(build(&to_self.open(QueryCapabilities::summary())).unwrap_err().code(), Code::SelfAddressed);
    let as_user = Head { sender: AgentId::named("user").unwrap(), ..head() };
    assert_eq!(build(&as_user.open(QueryCapabilities::summary())).unwrap_err().code(), Code::ReservedId);
    let reply = reply_to(&message("task-request-least.json"));
    assert!(build(&reply.with(TaskReject::because("", "No.")).unwrap()).is_err());
}

static VALIDATOR: LazyLock<jsonschema::Validator> = LazyLock::new(|| {
    let text = fs::read_to_string(fixtures::root().join("schemas").join(SCHEMA)).unwrap();
    jsonschema::draft202012::new(&serde_json::from_str(&text).unwrap()).unwrap()
});

/// Puts `value` at `pointer` of a fixture and asks both whether the message is valid.
fn judged(name: &str, pointer: &str, value: Value) -> (bool, bool) {
    let mut message: Value = serde_json::from_slice(&fixture(name)).unwrap();
    *message.pointer_mut(pointer).unwrap() = value;
    (parse::<Message>(message.to_string().as_bytes()).is_ok(), VALIDATOR.is_valid(&message))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn schema_and_types_agree_on_languages(
        text in prop_oneof!["([a-zA-Z]{1,9}|[0-9]{1,4}|[a-z0-9]{1,8}|x|u)(-([a-zA-Z]{1,9}|[0-9]{1,4}|[a-z0-9]{1,8}|x|u)){0,5}",
            "[a-z*]{0,3}/[a-z+.*]{0,3}( ?; ?[a-z]{0,2}=?([a-z]{0,2}|\"[a-z;\\\\\"]{0,4}\")){0,2}", ".{0,8}"],
    ) {
        let (typed, schema) = judged("language-english.json", "/language", json!(text));
        prop_assert_eq!(typed, schema, "{}", text);
    }

    #[test]
    fn schema_and_types_agree_on_estimates(
        value in prop_oneof![
            "P([0-9]{1,2}([.,][0-9])?[YMWD]){0,3}(T([0-9]{1,2}([.,][0-9])?[HMS]){0,3})?".prop_map(Value::from),
            "[PT0-9YMWDHS.,-]{0,8}".prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
        ],
    ) {
        let (typed, schema) = judged("estimate-weeks.json", "/payload/estimated_completion_time", value.clone());
        prop_assert_eq!(typed, schema, "{}", value);
    }

    #[test]
    fn schema_and_types_agree_on_times(
        text in prop_oneof![
            "(2000|1900|2023|2024|0000|9999)-(0[0-9]|1[0-3])-(0[0-9]|1[0-9]|2[0-9]|3[0-2])T(0[0-9]|2[0-4]):[0-6][0-9]:[0-6][0-9](\\.[0-9]{0,10})?(Z|\\+00:00|-00:00|)",
            "[0-9TZ:.+-]{0,24}",
        ],
    ) {
        let (typed, schema) = judged("task-request-least.json", "/timestamp", json!(text));
        prop_assert_eq!(typed, schema, "{}", text);
    }

    #[test]
    fn schema_and_types_agree_on_agents_and_terms(
        text in prop_oneof![
            "agent:/{0,3}[a-zA-Z0-9.@:-]{0,5}(/[a-zA-Z0-9._~%-]{0,4}){0,3}",
            "[ a-z\u{a0}\u{200b}\u{3000}\u{85}\u{2065}\u{e0002}é/:]{0,6}",
            ".{0,8}",
        ],
        place in prop_oneof![
            Just("/sender/agent_id"),
            Just("/receiver/agent_id"),
            Just("/ontology"),
            Just("/message_id"),
            Just("/in_reply_to"),
            Just("/payload/task_id_assigned"),
        ],
    ) {
        let (typed, schema) = judged("task-accept-full.json", place, json!(text));
        prop_assert_eq!(typed, schema, "{:?} at {}", text, place);
    }
}
