//! VLP 1.1.

mod agreement;

use crate::fixtures;
use legation_protocol::id::AgentId;
use legation_protocol::json::{Doc, Json, canonical};
use legation_protocol::ndjson::{self, Lines};
use legation_protocol::vlp::{
    Confidence, Content, Header, Issue, Kind, Level, Message, MessageId, Provenance, RefersTo, Safety, SessionId,
    SourceKind, UNPROVEN,
};
use legation_protocol::{Code, Severity, Timestamp, Violation, build, parse};
use proptest::prelude::*;
use serde_json::json;
use std::fs;

#[test]
fn fixtures_hold() {
    fixtures::check_all::<Message>("vlp", "vlp-v1.1.schema.json");
}

#[test]
fn every_finding_names_a_section_and_says_something() {
    let dir = fixtures::root().join("spec/vlp/bad");
    for file in fs::read_dir(dir).unwrap() {
        let path = file.unwrap().path();
        for violation in parse::<Message>(&fs::read(&path).unwrap()).unwrap_err().into_vec() {
            let spec = violation.spec.unwrap_or_default();
            assert!(spec.starts_with("VLP ") || spec.starts_with("Legation "), "{}: {violation:?}", path.display());
            assert!(!violation.message.is_empty() && violation.at.is_some(), "{}: {violation:?}", path.display());
        }
    }
}

fn header(id: &str) -> Header {
    Header {
        id: MessageId::parse(id).unwrap(),
        timestamp: Timestamp::utc("2025-01-04T10:30:00Z").unwrap(),
        sender: AgentId::named("The Observer").unwrap(),
    }
}

fn sure(value: f64) -> Confidence {
    Confidence::new(value).unwrap()
}

/// One message of each kind, by its constructor.
fn one_of_each(confidence: f64) -> Vec<Message> {
    let earlier = MessageId::parse("MSG-abc123-0001").unwrap();
    let session = SessionId::parse("S-2025-01-04-observer-abc123").unwrap();
    let memory = Json::from(json!({"completed": ["search"], "pending": []}));
    let source = Provenance::of(SourceKind::Log, "deploy.log");
    let c = sure(confidence);
    vec![
        Message::claim(header("CLM-abc123-0002"), "It is done.", c, vec![]),
        Message::evidence(header("EVD-abc123-0003"), "The log.", c, &earlier, source, vec!["receipt".into()]),
        Message::query(header("QRY-abc123-0004"), "Is it done?"),
        Message::response(header("RSP-abc123-0005"), "It is.", c, &earlier, vec![]),
        Message::correction(header("COR-abc123-0006"), "It is not.", c, &earlier, vec![]),
        Message::notice(header("NTC-abc123-0007"), "At noon.", c),
        Message::session_context(header("CTX-abc123-0008"), "Found it.", c, session, memory),
    ]
}

#[test]
fn constructors_build_valid_messages() {
    for confidence in [0.0, 0.5, 0.9, 1.0] {
        let all = one_of_each(confidence);
        assert_eq!(all.iter().map(|m| m.kind).collect::<Vec<_>>(), Kind::ALL);
        for message in all {
            let built = build(&message).unwrap();
            assert_eq!(built.value(), &message);
            let proof_only = |w: &&Violation| w.code != Code::MissingProvenanceHighConfidence;
            assert_eq!(built.warnings().iter().find(proof_only), None);
        }
    }
}

#[test]
fn query_constructor_is_certain() {
    let query = Message::query(header("QRY-abc123-0004"), "Is it done?");
    assert_eq!((query.confidence, query.safety), (Confidence::CERTAIN, None));
}

#[test]
fn what_types_cannot_rule_out_is_refused_when_built() {
    let earlier = MessageId::parse("MSG-abc123-0001").unwrap();
    let claim = || Message::claim(header("CLM-abc123-0002"), "It is done.", sure(0.5), vec![]);
    let check = |message: Message, code| assert_eq!(build(&message).unwrap_err().code(), code);
    check(Message { receiver: Some(header("MSG001").sender), ..claim() }, Code::SelfAddressed);
    check(Message { content: Content::Object(Json::from(json!([1]))), ..claim() }, Code::SchemaInvalid);
    check(Message { confidence: sure(0.95), ..claim() }, Code::MissingProvenanceHighConfidence);
    check(Message { kind: Kind::Response, ..claim() }, Code::RefersToMissing);
    check(Message { sender: AgentId::named("system").unwrap(), ..claim() }, Code::ReservedId);
    check(Message::response(header("MSG-abc123-0001"), "Yes.", sure(0.5), &earlier, vec![]), Code::Cycle);
    check(Message::claim(header("CLM-abc123-0002"), "x", sure(0.5), vec!["".into()]), Code::SchemaInvalid);
}

fn judge(kind: Kind, confidence: f64, safety: Option<Safety>) -> (Level, Level, Level, usize) {
    let claim = Message::claim(header("CLM-abc123-0002"), "x", sure(confidence), vec![]);
    let judged = Message { kind, safety, ..claim }.judged();
    (judged.declared, judged.computed, judged.level(), judged.issues.len())
}

#[test]
fn computed_level_is_review_for_every_type() {
    for kind in Kind::ALL {
        assert_eq!(judge(*kind, 0.9, None), (Level::Safe, Level::Review, Level::Review, 1));
        assert_eq!(judge(*kind, 0.89, None), (Level::Safe, Level::Safe, Level::Safe, 0));
    }
}

#[test]
fn stricter_level_wins() {
    let at = |level| Some(Safety::at(level));
    assert_eq!(judge(Kind::Claim, 0.95, at(Level::Safe)).2, Level::Review);
    assert_eq!(judge(Kind::Claim, 0.95, at(Level::Review)).2, Level::Review);
    assert_eq!(judge(Kind::Claim, 0.95, at(Level::Block)).2, Level::Block);
    assert_eq!(judge(Kind::Claim, 0.5, at(Level::Block)).2, Level::Block);
    let human = Safety { requires_human: Some(true), ..Safety::at(Level::Safe) };
    assert_eq!(judge(Kind::Notice, 0.5, Some(human)), (Level::Review, Level::Safe, Level::Review, 0));
}

#[test]
fn computed_issue_is_added_once() {
    let claim = Message::claim(header("CLM-abc123-0002"), "x", sure(0.95), vec![]);
    let safety = claim.safety.clone().unwrap();
    let issue = Issue::new(UNPROVEN, "confidence >= 0.9 without provenance");
    assert_eq!((safety.level, safety.issues), (Level::Review, Some(vec![issue.clone()])));
    assert_eq!(claim.judged().issues, []);
    assert_eq!(claim.clone().escalated(), claim);
    let told = Safety { issues: Some(vec![issue]), ..Safety::at(Level::Safe) };
    let escalated = Message { safety: Some(told), ..claim }.escalated().safety.unwrap();
    assert_eq!((escalated.level, escalated.issues.unwrap().len()), (Level::Review, 1));
}

#[test]
fn escalation_leaves_block_and_other_issues_alone() {
    let safety = |level| Safety { issues: Some(vec![Issue::new("note", "")]), ..Safety::at(level) };
    let claim = |level| Message {
        safety: Some(safety(level)),
        ..Message::claim(header("CLM-abc123-0002"), "x", sure(0.95), vec!["log".into()])
    };
    let unproven = |level| Message { provenance: None, ..claim(level) }.escalated().safety.unwrap();
    assert_eq!(claim(Level::Safe).escalated(), claim(Level::Safe));
    assert_eq!(unproven(Level::Block), safety(Level::Block));
    assert_eq!((unproven(Level::Safe).level, unproven(Level::Safe).issues.unwrap().len()), (Level::Review, 2));
}

#[test]
fn requires_human_is_written_as_review() {
    let human = |level| Safety { requires_human: Some(true), ..Safety::at(level) };
    let message = |kind, confidence, safety| {
        let claim = Message::claim(header("CLM-abc123-0002"), "x", sure(confidence), vec![]);
        Message { kind, safety: Some(safety), ..claim }
    };
    let escalated = |kind, confidence, safety| message(kind, confidence, safety).escalated().safety.unwrap();
    for kind in Kind::ALL {
        assert_eq!(escalated(*kind, 0.5, human(Level::Safe)), human(Level::Review), "{kind}");
        assert_eq!(escalated(*kind, 0.95, human(Level::Block)), human(Level::Block), "{kind}");
        let raised = message(*kind, 0.5, human(Level::Safe));
        assert_eq!(raised.clone().escalated().judged(), raised.judged(), "{kind}");
    }
    let issue = Issue::new(UNPROVEN, "confidence >= 0.9 without provenance");
    let both = Safety { issues: Some(vec![issue]), ..human(Level::Review) };
    assert_eq!(escalated(Kind::Claim, 0.95, human(Level::Safe)), both);
    assert_eq!(escalated(Kind::Query, 0.95, human(Level::Safe)), human(Level::Review));
    assert_eq!(escalated(Kind::Query, 0.95, Safety::at(Level::Safe)), Safety::at(Level::Safe));
}

#[test]
fn keywords_set_on_a_message_are_normalised() {
    let query = || Message::query(header("QRY-abc123-0004"), "Is it done?");
    let words = ["Oklahoma", " gas  stations", "oklahoma", "", "Pending:Pricing"];
    let message = query().with_keywords(words);
    assert_eq!(message.keywords.as_deref().unwrap(), ["oklahoma", "gas stations", "pending:pricing"]);
    let built = build(&message).unwrap();
    assert!(built.warnings().iter().all(|warning| warning.code != Code::KeywordPractice));
    assert_eq!(message.with_keywords([" "]), query());
}

#[test]
fn a_null_where_none_may_be_is_to_be_left_out() {
    let text = br#"{"id":"MSG001","protocol":"VLP/1.1","type":"claim","timestamp":"2025-01-04T10:30:00Z","sender":null,
        "content":"x","confidence":0.5,"keywords":null,"safety":{"level":"safe","issues":null},"_extras":null}"#;
    let found = parse::<Message>(text).unwrap_err().into_vec();
    let told: Vec<_> = found.iter().map(|v| (v.at.as_deref().unwrap(), v.help.as_deref())).collect();
    let way_out = Some("leave the member out");
    let want = [("/sender", None), ("/safety/issues", way_out), ("/keywords", way_out), ("/_extras", way_out)];
    assert_eq!(told, want);
}

#[test]
fn rules_judge_every_type() {
    for kind in Kind::ALL {
        let text = format!(
            r#"{{"id":"MSG001","protocol":"VLP/1.1","type":"{kind}","timestamp":"2025-01-04T10:30:00Z",
                "sender":"The Observer","content":"x","confidence":1,"payload":{{"a":1}}}}"#
        );
        let told = match parse::<Message>(text.as_bytes()) {
            Ok(parsed) => parsed.warnings,
            Err(rejection) => rejection.into_vec(),
        };
        let (high, no_reference, no_source) =
            (Code::MissingProvenanceHighConfidence, Code::RefersToMissing, Code::ProvenanceMissing);
        let want = match kind {
            Kind::Claim | Kind::SessionContext => vec![(high, Severity::Error)],
            Kind::Query | Kind::Notice => vec![(high, Severity::Warning)],
            Kind::Response | Kind::Correction => vec![(no_reference, Severity::Error), (high, Severity::Error)],
            Kind::Evidence => vec![(no_reference, Severity::Error), (no_source, Severity::Error)],
        };
        assert_eq!(told.iter().map(|v| (v.code, v.severity)).collect::<Vec<_>>(), want, "{kind}");
    }
}

#[test]
fn unknown_members_survive_a_round_trip() {
    let text = r#"{"id":"MSG001","protocol":"VLP/1.1","type":"claim","timestamp":"2025-01-04T10:30:00+00:00","sender":"O","content":{"b":1,"a":[ 1.50 ]},"confidence":0.5,"safety":{"level":"safe","x":null},"refers_to":null,"topic":null,"z":{"k":1e2}}"#;
    let message = parse::<Message>(text.as_bytes()).unwrap().value;
    assert_eq!(message.extra.keys().map(String::as_str).collect::<Vec<_>>(), ["refers_to", "topic", "z"]);
    let again = build(&message).unwrap();
    assert_eq!(again.value(), &message);
    assert!(again.text().contains(r#"{"b":1,"a":[ 1.50 ]}"#) && again.text().contains(r#""z":{"k":1e2}"#));
}

#[test]
fn the_common_view_sees_who_speaks_to_whom_about_what() {
    let ids = ["MSG001".to_owned(), "MSG002".to_owned()];
    let message = Message {
        receiver: Some(AgentId::named("The Archivist").unwrap()),
        session_id: Some(SessionId::parse("S-1").unwrap()),
        refers_to: Some(RefersTo::Many(ids.to_vec())),
        ..Message::notice(header("NTC-abc123-0007"), "x", sure(0.1))
    };
    assert_eq!((message.id(), message.kind_name()), ("NTC-abc123-0007", "notice"));
    assert_eq!(message.sender().as_str(), "The Observer");
    assert_eq!(message.recipient().map(AgentId::as_str), Some("The Archivist"));
    assert_eq!(message.thread(), Some("S-1"));
    assert!(message.references().eq(ids.iter()));
    assert_eq!(message.time().as_str(), "2025-01-04T10:30:00Z");
    assert_eq!(RefersTo::One(String::new()).ids().count(), 0);
}

#[test]
fn ndjson_reads_what_it_writes() {
    let sent = one_of_each(0.5);
    let mut stream = String::new();
    for message in &sent {
        ndjson::push(&mut stream, &build(message).unwrap());
    }
    let pretty = fs::read(fixtures::root().join("spec/vlp/ok/claim-canonical.json")).unwrap();
    let received = Doc::parse(&pretty).unwrap();
    ndjson::push_received(&mut stream, &received);
    let mut lines = Lines::default();
    let mut got = Vec::new();
    for mut chunk in stream.as_bytes().chunks(100) {
        while let Some(line) = lines.next(&mut chunk) {
            got.push(line.parse::<Message>().unwrap().value);
        }
    }
    assert!(lines.finish().is_none());
    let last = stream.lines().last().unwrap();
    assert_eq!(canonical(Doc::parse(last.as_bytes()).unwrap().root()), canonical(received.root()));
    assert_eq!(got.pop().map(|m| m.id), Some(parse::<Message>(&pretty).unwrap().value.id));
    assert_eq!(got, sent);
}

#[test]
fn a_bad_line_costs_only_itself() {
    let good = build(&Message::notice(header("NTC-abc123-0007"), "x", sure(0.1))).unwrap();
    let stream = format!("\u{feff}{0}\r\n{0}\r\n\r\n{{\"id\":\n{0}\n{{}}\n{0}", good.text());
    let mut lines = Lines::default();
    let mut rest = stream.as_bytes();
    let mut told = Vec::new();
    while let Some(line) = lines.next(&mut rest) {
        told.push((line.number, line.parse::<Message>().map(drop).map_err(|r| r.code())));
    }
    told.extend(lines.finish().map(|line| (line.number, line.parse::<Message>().map(drop).map_err(|r| r.code()))));
    let want = [
        (1, Err(Code::BadUnicode)),
        (2, Ok(())),
        (4, Err(Code::BadJson)),
        (5, Ok(())),
        (6, Err(Code::SchemaInvalid)),
        (7, Ok(())),
    ];
    assert_eq!(told, want);
}

proptest! {
    #[test]
    fn a_level_is_never_lowered(confidence in 0.0..=1.0f64, level in 0usize..3, human: Option<bool>, kind in 0usize..7) {
        let safety = Safety { requires_human: human, ..Safety::at(Level::ALL[level]) };
        let (declared, computed, counts, _) = judge(Kind::ALL[kind], confidence, Some(safety));
        prop_assert!(counts >= Level::ALL[level] && counts >= declared && counts >= computed);
        prop_assert_eq!(computed == Level::Review, confidence >= 0.9);
    }

    #[test]
    fn what_is_escalated_says_the_level_that_counts(
        confidence in 0.0..=1.0f64, level in proptest::option::of(0usize..3), human: Option<bool>, kind in 0usize..7,
    ) {
        let safety = level.map(|level| Safety { requires_human: human, ..Safety::at(Level::ALL[level]) });
        let claim = Message::claim(header("CLM-abc123-0002"), "x", sure(confidence), vec![]);
        let message = Message { kind: Kind::ALL[kind], safety, ..claim };
        let judged = message.judged();
        let raised = message.escalated();
        let written = raised.safety.as_ref().map_or(Level::Safe, |safety| safety.level);
        prop_assert_eq!(written, if raised.kind.asserts() { judged.level() } else { judged.declared });
        prop_assert_eq!(raised.clone().escalated(), raised);
    }

    #[test]
    fn whatever_is_built_reads_back_the_same(
        text in any::<String>(),
        topic in proptest::option::of(any::<String>()),
        keywords in proptest::option::of(proptest::collection::vec(any::<String>(), 0..5)),
        seq in proptest::option::of(0i64..9_007_199_254_740_992),
        confidence in 0.0..=1.0f64,
    ) {
        let claim = Message::claim(header("CLM-abc123-0002"), text, sure(confidence), vec![]);
        let message = Message { topic, keywords, seq, ..claim };
        let built = build(&message).unwrap();
        prop_assert_eq!(built.value(), &message);
    }

    #[test]
    fn no_bytes_upset_the_reader(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = parse::<Message>(&bytes);
    }

    #[test]
    fn errors_and_the_rules_agree(
        kind in 0usize..7, confidence in 0.0..=1.0f64, sources in 0usize..2, refers: bool, level in proptest::option::of(0usize..3),
    ) {
        let kind = Kind::ALL[kind];
        let message = Message {
            kind,
            confidence: sure(confidence),
            provenance: Some(vec![Provenance::from("log"); sources]),
            refers_to: refers.then(|| RefersTo::One("MSG001".to_owned())),
            safety: level.map(|level| Safety::at(Level::ALL[level])),
            ..Message::query(header("MSG-abc123-0009"), "x")
        };
        let judged = message.judged();
        let needs_reference = matches!(kind, Kind::Evidence | Kind::Response | Kind::Correction);
        let fine = (refers || !needs_reference)
            && (sources > 0 || kind != Kind::Evidence)
            && (judged.level() == judged.declared || !kind.asserts());
        prop_assert_eq!(build(&message).is_ok(), fine);
    }
}
