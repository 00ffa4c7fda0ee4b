//! VCP messaging 1.2.

use crate::agree::contexts;
use crate::fixtures;
use legation_protocol::id::{AgentId, Uuid7};
use legation_protocol::json::{Doc, Form};
use legation_protocol::sign::{PublicKey, SecretKey, verify};
use legation_protocol::vcp::{
    Broadcast, Change, ConstitutionAnnounce, Constraint, ConstraintPropagate, Context, ContextShare, CreedUri,
    Dimension, Effective, Envelope, Escalation, Floor, ManifestHash, Mode, Order, Origin, Other, Payload, Propagated,
    Role, Rule, Rules, Setter, Severity, Value,
};
use legation_protocol::{Timestamp, Violation, build, parse, vcp, vlp};
use proptest::prelude::*;
use unicode_normalization::UnicodeNormalization as _;

#[test]
fn fixtures_hold() {
    fixtures::check_all::<vcp::Envelope>("vcp", "vcp-messaging-v1.2.schema.json");
}

#[test]
fn the_signed_fixture_verifies() {
    let bytes = std::fs::read(fixtures::root().join("spec/vcp/ok/envelope-signed.json")).unwrap();
    let doc = Doc::parse(&bytes).unwrap();
    // The first public key of RFC 8032, section 7.1.
    let key = PublicKey::parse("ed25519:11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=").unwrap();
    assert_eq!(verify(doc.root(), &key, Form::Canonical), Ok(()));
    let changed = String::from_utf8(bytes).unwrap().replace("child-003", "child-004");
    assert!(verify(Doc::parse(changed.as_bytes()).unwrap().root(), &key, Form::Canonical).is_err());
}

fn id(last: u8) -> Uuid7 {
    Uuid7::parse(&format!("019502a4-7e5c-7000-8000-0000000000{last:02x}")).unwrap()
}

fn agent(name: &str) -> AgentId {
    AgentId::vcp(&format!("agent://test/{name}")).unwrap()
}

fn origin(sender: &str) -> Origin {
    let timestamp = Timestamp::zulu("2026-02-15T10:30:00Z").unwrap();
    Origin { message_id: id(1), sender: agent(sender), timestamp }
}

fn context() -> Context {
    Context::from_values([
        (Dimension::Company, Value::named(Dimension::Company, "children").unwrap()),
        (Dimension::Time, Value::named(Dimension::Time, "morning").unwrap()),
    ])
    .unwrap()
}

fn creed() -> CreedUri {
    CreedUri::parse("creed://creed.space/family.safe.guide@1.2.0").unwrap()
}

fn constraint(rule: Rule) -> Constraint {
    Constraint { rule, source_constitution_ref: creed() }
}

fn to_parent(escalation: Escalation) -> Envelope {
    Envelope::to(agent("parent"), origin("child"), escalation)
}

#[test]
fn what_the_constructors_make_is_valid() {
    let share = ContextShare::new(context(), creed());
    let announce = ConstitutionAnnounce::new(creed(), ManifestHash([7; 32]));
    let limit = constraint(Rule::TokenLimit(5));
    let topics = constraint(Rule::TopicBlock(vec!["weapons".to_owned()]));
    let other = constraint(Rule::Other(Other { name: "x.rate".to_owned(), value: serde_json::json!(3).into() }));
    let floor = constraint(Rule::SafetyFloor(Floor::Level(vlp::Level::Review)));
    let passed_on = Propagated { id: id(9), child: Some(agent("grandchild")), reason: "x".repeat(5000) };
    let child = |payload: ConstraintPropagate| Envelope::to(agent("child"), origin("parent"), payload);
    for message in [
        Envelope::to(agent("b"), origin("a"), share.clone()),
        Envelope::broadcast(origin("a"), share),
        Envelope::broadcast(origin("a"), announce.clone()),
        Envelope::to(agent("b"), origin("a"), announce),
        child(ConstraintPropagate::merge(limit.clone(), [topics, other, floor])),
        child(ConstraintPropagate::replace(limit, [])),
        child(ConstraintPropagate::resume(id(9), creed())),
        to_parent(Escalation::info("fine", context())),
        to_parent(Escalation::warning("look", context())),
        to_parent(Escalation::critical("attend", context())),
        to_parent(Escalation::emergency("act", context())),
        to_parent(Escalation::ack(id(9), Severity::Emergency, context())),
        to_parent(Escalation::propagated(&passed_on, Severity::Emergency, context())),
    ] {
        let built = build(&message).unwrap();
        assert_eq!((built.value(), built.warnings()), (&message, &[][..]));
        let signed = built.signed(&SecretKey::from_seed(&[3; 32])).unwrap();
        assert!(signed.value().signature.is_some());
    }
}

#[test]
fn a_broadcast_holds_no_rule_and_no_alarm() {
    let announce = ConstitutionAnnounce::new(creed(), ManifestHash([7; 32]));
    let message = Envelope::broadcast(origin("a"), Broadcast::ConstitutionAnnounce(announce));
    assert_eq!((message.recipient.as_str(), message.kind_name()), ("broadcast", "constitution_announce"));
    let alarm = Envelope { recipient: vcp::Recipient::Broadcast, ..to_parent(Escalation::info("fine", context())) };
    assert_eq!(build(&alarm).unwrap_err().first().at.as_deref(), Some("/recipient"));
}

#[test]
fn an_acknowledgement_answers_its_alarm() {
    let alarm = to_parent(Escalation::critical("attend", context()));
    let now = origin("x").timestamp;
    let ack = alarm.acknowledged(id(2), now.clone(), context()).unwrap();
    assert_eq!((&ack.sender, ack.recipient.agent()), (&agent("parent"), Some(&agent("child"))));
    assert_eq!(ack.refers_to(), Some(alarm.message_id));
    let Payload::Escalation(payload) = &ack.payload else { panic!("an acknowledgement is an escalation") };
    assert_eq!((payload.severity, payload.role()), (Severity::Critical, Ok(Role::Ack(alarm.message_id))));
    assert!(build(&ack).is_ok());
    assert_eq!(ack.acknowledged(id(3), now.clone(), context()), None, "an acknowledgement is never acknowledged");
    let share = Envelope::to(agent("b"), origin("a"), ContextShare::new(context(), creed()));
    assert_eq!(share.acknowledged(id(3), now, context()), None);
}

#[test]
fn a_large_message_of_small_rules_is_read_and_applied() {
    let rules = (0..2_000).map(|n| Rule::Other(Other { name: "x".to_owned(), value: serde_json::json!(n).into() }));
    let constraints: Vec<_> = rules.map(constraint).collect();
    let payload = ConstraintPropagate { constraints, propagation_mode: Mode::Merge };
    let message = Envelope::to(agent("child"), origin("parent"), payload.clone());
    let read = parse::<Envelope>(build(&message).unwrap().text().as_bytes()).unwrap().value;
    let setter = Setter::Agent(read.sender.clone());
    let mut rules = Rules::default();
    rules.apply(&Change { setter, order: read.order(), mode: Mode::Merge, constraints: payload.constraints });
    assert_eq!(rules.effective().others.len(), 2_000);
}

fn rule() -> impl Strategy<Value = Rule> {
    let names = || proptest::collection::vec(prop_oneof!["a", "b", "c"], 1..3);
    prop_oneof![
        names().prop_map(Rule::TopicBlock),
        (1..5u64).prop_map(Rule::TokenLimit),
        names().prop_map(Rule::AudienceRestrict),
        (0..4u8).prop_map(|n| Rule::SafetyFloor(Floor::Number(f64::from(n)))),
        proptest::sample::select(vlp::Level::ALL).prop_map(|level| Rule::SafetyFloor(Floor::Level(level))),
        (0..3u8).prop_map(|n| Rule::Other(Other { name: "x".to_owned(), value: serde_json::json!(n).into() })),
    ]
}

fn setter() -> impl Strategy<Value = Setter> {
    proptest::sample::select(vec![
        Setter::Agent(agent("parent")),
        Setter::Agent(agent("grandparent")),
        Setter::Operator,
    ])
}

fn change() -> impl Strategy<Value = Change> {
    let mode = proptest::sample::select(Mode::ALL);
    let rules = proptest::collection::vec(rule(), 1..4);
    (setter(), 0..6i128, 0..200u8, mode, rules).prop_map(|(setter, unix_nanos, last, mode, rules)| Change {
        setter,
        order: Order { unix_nanos, id: id(last) },
        mode,
        constraints: rules.into_iter().map(constraint).collect(),
    })
}

fn after(changes: &[Change]) -> Rules {
    let mut rules = Rules::default();
    for change in changes {
        rules.apply(change);
    }
    rules
}

/// What everybody but this setter has set.
fn set_by_others(changes: &[Change], setter: &Setter) -> Effective {
    let others: Vec<_> = changes.iter().filter(|change| change.setter != *setter).cloned().collect();
    after(&others).effective()
}

proptest! {
    #[test]
    fn a_merge_never_loosens(changes in proptest::collection::vec(change(), 0..6), last in change()) {
        let mut rules = after(&changes);
        let before = rules.effective();
        rules.apply(&Change { mode: Mode::Merge, ..last });
        prop_assert_eq!(rules.effective().and(&before), rules.effective());
    }

    #[test]
    fn no_agent_loosens_what_others_have_set(changes in proptest::collection::vec(change(), 0..6), last in change()) {
        prop_assume!(last.setter != Setter::Operator);
        let mut rules = after(&changes);
        if rules.check(&last, &Effective::default()).is_ok() {
            let others = rules.standing().filter(|(setter, _)| **setter != last.setter);
            let others: Vec<_> = others.map(|(_, constraint)| constraint.clone()).collect();
            rules.apply(&last);
            let floor = after(&[Change { mode: Mode::Merge, constraints: others, ..last }]).effective();
            prop_assert_eq!(rules.effective().and(&floor), rules.effective());
        }
    }

    #[test]
    fn overrides_settle_the_same_in_any_order(
        changes in proptest::collection::vec(change(), 1..6).prop_map(|changes| {
            // Ids are unique, so no two messages have one place in time.
            changes.into_iter().zip(0..).map(|(change, n)| Change {
                mode: Mode::Override,
                order: Order { id: id(n), ..change.order },
                ..change
            }).collect::<Vec<_>>()
        }).prop_flat_map(|changes| (Just(changes.clone()), Just(changes).prop_shuffle())),
    ) {
        let (given, shuffled) = changes;
        let (one, other) = (after(&given), after(&shuffled));
        prop_assert!(one.standing().eq(other.standing()));
    }

    #[test]
    fn agents_do_not_touch_each_others_rules(changes in proptest::collection::vec(change(), 0..6)) {
        let changes: Vec<_> = changes.into_iter().filter(|change| change.setter != Setter::Operator).collect();
        let me = Setter::Agent(agent("parent"));
        let floor = set_by_others(&changes, &me);
        let all = after(&changes).effective();
        prop_assert_eq!(all.clone().and(&floor), all);
    }

    #[test]
    fn any_text_is_read_as_a_context_or_refused(text in ".{0,24}") {
        let _ = Context::parse(&text);
        let _ = CreedUri::parse(&format!("creed://{text}"));
        let _ = Propagated::parse(&format!("PROPAGATED:{text}"));
    }

    #[test]
    fn an_alarm_passed_upward_reads_back(named in any::<bool>(), reason in "[a-z: /-]{0,12}|.{0,24}") {
        let alarm = Propagated { id: id(9), child: named.then(|| agent("child")), reason };
        prop_assert_eq!(Propagated::parse(&alarm.to_reason()), Some(alarm));
    }

    #[test]
    fn canonical_contexts_read_back_the_same(
        parts in proptest::collection::vec(
            (proptest::sample::select(Dimension::ALL), proptest::collection::vec(0..14usize, 0..4)), 1..6),
    ) {
        let emoji = |dimension: Dimension, n: usize| dimension.table().get(n).map_or("🛸", |(emoji, _)| emoji);
        let part = |(dimension, values): &(Dimension, Vec<usize>)| {
            let values: String = values.iter().map(|n| emoji(*dimension, *n)).collect();
            format!("{}{values}", dimension.symbol())
        };
        let text = parts.iter().map(part).collect::<Vec<_>>().join("|");
        if let Ok(context) = Context::parse(&text) {
            let canonical = Context::parse(&context.canonical()).unwrap();
            prop_assert_eq!(canonical.as_str(), canonical.canonical());
            prop_assert_eq!(context.transition_to(&canonical) == vcp::Transition::None, !context.is_emergency());
            for dimension in Dimension::ALL {
                prop_assert!(context.values(*dimension).eq(canonical.values(*dimension)));
            }
        }
    }

    #[test]
    fn whatever_is_a_context_has_a_canonical_form_that_reads_back(text in prop_oneof![contexts(), odd_contexts()]) {
        if let Ok(context) = Context::parse(&text) {
            check_canonical(&context)?;
            prop_assert!(text.nfc().eq(text.chars()), "what is read is in normal form C");
        }
    }

    #[test]
    fn odd_values_in_any_dimension_read_back(
        values in proptest::collection::vec(
            (proptest::sample::select(Dimension::ALL), proptest::sample::select(Dimension::ALL),
             proptest::sample::select(ODD_VALUES)), 1..6),
    ) {
        let values = values.into_iter().filter_map(|(dimension, parsed_for, emoji)| {
            Some((dimension, Value::parse(parsed_for, emoji).ok()?))
        });
        if let Ok(context) = Context::from_values(values) {
            prop_assert_eq!(context.as_str(), context.canonical());
            check_canonical(&context)?;
        }
    }
}

/// Values outside the table, and those of the table in unusual spellings.
const ODD_VALUES: &[&str] = &[
    "🇩🇪",
    "🇪🇩",
    "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
    "🏴",
    "❤",
    "❤\u{fe0f}",
    "❤\u{fe0e}",
    "ℹ\u{fe0f}",
    "1\u{20e3}",
    "1\u{fe0f}\u{20e3}",
    "👶🏽",
    "👶",
    "👁\u{fe0f}\u{200d}🗨\u{fe0f}",
    "👁\u{200d}🗨",
    "👨\u{200d}⚕",
    "☀",
    "🔥\u{fe0e}",
    "○",
    "👥",
    "⏰\u{fe0f}",
    "🧠",
];

/// Contexts of odd values, most of them valid.
fn odd_contexts() -> impl Strategy<Value = String> {
    let values = proptest::collection::vec(proptest::sample::select(ODD_VALUES), 0..5);
    let parts = proptest::collection::vec((proptest::sample::select(Dimension::ALL), values), 1..4);
    parts.prop_map(|parts| {
        let part = |(dimension, values): &(Dimension, Vec<&str>)| dimension.symbol().to_owned() + &values.concat();
        parts.iter().map(part).collect::<Vec<_>>().join("|")
    })
}

/// The canonical form has the same values and is its own canonical form.
fn check_canonical(context: &Context) -> Result<(), TestCaseError> {
    let canonical = Context::parse(&context.canonical());
    prop_assert!(canonical.is_ok(), "{context} became {}", context.canonical());
    let canonical = canonical.unwrap();
    prop_assert_eq!(canonical.as_str(), canonical.canonical());
    for dimension in Dimension::ALL {
        prop_assert!(context.values(*dimension).eq(canonical.values(*dimension)), "{} {}", context, canonical);
    }
    Ok(())
}

/// The findings of a fixture, as people read them.
fn told(file: &str) -> Vec<Violation> {
    let bytes = std::fs::read(fixtures::root().join("spec/vcp").join(file)).unwrap();
    match parse::<Envelope>(&bytes) {
        Ok(parsed) => parsed.warnings,
        Err(rejection) => rejection.into_vec(),
    }
}

#[test]
fn each_fault_is_told_with_what_mends_it() {
    for (file, message, help) in [
        ("bad/timestamp-leap-second.json", "no second 60 here", "second 00 of the next minute"),
        ("bad/timestamp-with-offset.json", "must end in Z", "convert it to UTC"),
        ("bad/timestamp-with-zero-offset.json", "must end in Z", "end it in Z"),
        ("bad/context-bar-missing.json", "🎭 begins the dimension occasion", "is a bar missing before 🎭?"),
        ("bad/context-words.json", "begins with the symbol", "⏰🌅|📍🏡|👥👶"),
        ("bad/recipient-star.json", "no agent has this name", "did you mean \"broadcast\"?"),
        ("ok/recipient-all.json", "an opaque id", "did you mean \"broadcast\"?"),
        ("ok/recipient-broadcast-capitalised.json", "an opaque id", "did you mean \"broadcast\"?"),
        ("ok/recipient-opaque.json", "an opaque id", "agent://home.local/kitchen-agent"),
        ("ok/other-uri-did.json", "a URI, but not agent://host/id", "agent://home.local/kitchen-agent"),
        ("bad/escalation-broadcast.json", "from a child to its parent", "send it to the parent"),
        ("bad/ack-broadcast.json", "from a child to its parent", "goes to the one who escalated"),
        ("bad/resume-with-broken-id.json", "no id of an escalation", "copy the message_id"),
        ("bad/token-limit-too-large.json", "too large", "at most 9007199254740991"),
        ("bad/token-limit-zero.json", "no value of a \"token_limit\"", "at least 1"),
        ("bad/constraint-type-in-capitals.json", "looks like one", "write \"topic_block\""),
        ("bad/constraint-type-with-trailing-space.json", "looks like one", "write \"topic_block\""),
    ] {
        let findings = told(file);
        let [finding] = findings.as_slice() else { panic!("{file}: {findings:?}") };
        let helped = finding.help.as_deref().unwrap_or_default();
        assert!(finding.message.contains(message), "{file}: {}", finding.message);
        assert!(helped.contains(help), "{file}: {helped}");
    }
    assert_eq!(told("bad/resume-with-broken-id.json")[0].spec, Some("Legation resume"));
}
