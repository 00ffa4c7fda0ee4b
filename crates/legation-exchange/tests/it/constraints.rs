//! Constraints (VCP 4.3): who may lay them, what they add up to, and that they bite in every dialect.

mod model;

use crate::desk::{Desk, accepted, agent, by, cap, claim, key, person, refused, share};
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::vcp::constraints::Wish;
use legation_exchange::rules::vcp::{self};
use legation_exchange::{Directive, Effect, Entry, Input, Proof, Registration, Role, Said, State, Verdict, Who};
use legation_protocol::vcp::{Constraint, Mode};
use legation_protocol::{Code, Format};
use serde_json::{Value, json};

const GRAND: &str = "agent://h/grand";
const PARENT: &str = "agent://h/parent";
const CHILD: &str = "agent://h/child";
const PEER: &str = "agent://h/peer";
const TIME: &str = "2026-02-15T10:30:00Z";

pub(crate) fn below(parent: Option<&str>, seed: u8) -> Registration {
    let keys = Some(vec![(&key(seed).public()).into()]);
    Registration { parent: parent.map(str::to_owned).into(), keys, ..Registration::default() }
}

/// A grandparent, a parent, a child, and a peer of the grandparent's.
fn family() -> Desk {
    let mut desk = Desk::new();
    for (seed, (id, parent)) in (1..).zip([(GRAND, None), (PARENT, Some(GRAND)), (CHILD, Some(PARENT)), (PEER, None)]) {
        desk.register(id, below(parent, seed), Who::operator()).unwrap();
    }
    desk
}

/// A proof that holds for any sender: agents do not share keys, and these tests are about what is said.
pub(crate) fn signed() -> Proof {
    Proof::InProcess
}

fn envelope(from: &str, to: &str, kind: &str, number: u64, time: &str, payload: &Value) -> String {
    json!({
        "vcp_message": "1.2", "type": kind, "message_id": format!("019502a4-7e5c-7000-8000-{number:012x}"),
        "sender": from, "recipient": to, "timestamp": time, "payload": payload,
    })
    .to_string()
}

pub(crate) fn one(kind: &str, value: &Value) -> Value {
    json!({"type": kind, "value": value, "source_constitution_ref": "creed://creed.space/family.safe.guide@1.2.0"})
}

pub(crate) fn propagate(from: &str, to: &str, number: u64, time: &str, mode: &str, constraints: &[Value]) -> String {
    let payload = json!({"constraints": constraints, "propagation_mode": mode});
    envelope(from, to, "constraint_propagate", number, time, &payload)
}

fn lay(desk: &mut Desk, from: &str, to: &str, number: u64, mode: &str, kind: &str, value: &Value) -> Verdict {
    desk.send(&propagate(from, to, number, TIME, mode, &[one(kind, value)]), signed())
}

pub(crate) fn wish(
    desk: &mut Desk,
    agent: &str,
    constraints: &[Value],
    mode: Mode,
    lift: &[&str],
    who: Who,
) -> Verdict {
    let wish = Wish {
        agent: agent.to_owned(),
        constraints: constraints.iter().map(|one| Constraint::parse(&one.to_string()).unwrap()).collect(),
        mode,
        lift: lift.iter().map(ToString::to_string).collect(),
    };
    desk.ask(Input::Order { order: Box::new(Directive::Vcp(vcp::Order::Constrain(wish))), who })
}

pub(crate) fn findings(desk: &Desk) -> Vec<String> {
    let Effect::Accepted(accepted) = &desk.record.last().unwrap().effect else { panic!("no message") };
    accepted.ruled.findings.iter().map(|finding| finding.code.clone()).collect()
}

/// Why a message was refused, in words.
#[track_caller]
fn why(verdict: &Verdict, code: Code) -> String {
    match verdict {
        Verdict::Refused(rejection) => {
            assert_eq!(rejection.code(), code, "{rejection:?}");
            rejection.first().message.to_string()
        }
        other => panic!("not refused: {other:?}"),
    }
}

fn query(from: &str, to: &str, ontology: &str, reference: &str) -> String {
    json!({
        "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10", "sender": {"agent_id": from},
        "receiver": {"agent_id": to}, "language": "application/json", "ontology": ontology, "timestamp": TIME,
        "performative": "QUERY_REF", "payload": {"reference": reference},
    })
    .to_string()
}

fn bound(desk: &Desk, id: &str) -> legation_exchange::rules::vcp::constraints::Sum {
    desk.state.bound(desk.state.registry().agent(id).unwrap())
}

#[test]
fn constraints_go_from_parent_to_child_alone() {
    // 4.3 "Direction: Parent to Child"
    let mut desk = family();
    for (number, (from, to)) in
        [(CHILD, PARENT), (PEER, CHILD), (GRAND, CHILD), (PARENT, PEER), (PARENT, "agent://local/exchange")]
            .into_iter()
            .enumerate()
    {
        let verdict = lay(&mut desk, from, to, number as u64, "merge", "token_limit", &json!(9));
        assert_eq!(refused(&verdict), Code::WrongDirection, "{from} to {to}");
    }
    accepted(&lay(&mut desk, PARENT, CHILD, 9, "merge", "token_limit", &json!(9)));
    assert_eq!(bound(&desk, CHILD).token_limit, Some(9));
    assert_eq!(desk.waiting(CHILD).len(), 1, "the child gets the message itself");
}

#[test]
fn a_merge_adds_and_the_more_restrictive_wins() {
    // 4.3.3 "merge"
    let mut desk = family();
    for (number, (kind, value)) in [
        ("token_limit", json!(10)),
        ("token_limit", json!(20)),
        ("topic_block", json!(["a"])),
        ("topic_block", json!(["b"])),
        ("audience_restrict", json!([PARENT, PEER])),
        ("audience_restrict", json!([PEER, GRAND])),
        ("safety_floor", json!("review")),
        ("safety_floor", json!("safe")),
    ]
    .into_iter()
    .enumerate()
    {
        accepted(&lay(&mut desk, PARENT, CHILD, number as u64, "merge", kind, &value));
    }
    let sum = bound(&desk, CHILD);
    assert_eq!(sum.token_limit, Some(10));
    assert_eq!(sum.blocked_topics, ["a".to_owned(), "b".to_owned()].into());
    assert_eq!(sum.audiences, Some([PEER.to_owned()].into()));
    assert_eq!(sum.safety_level.map(|level| level.to_string()).as_deref(), Some("review"));
}

#[test]
fn an_override_replaces_constraints_of_its_type_and_leaves_others() {
    // 4.3.3 "override"
    let mut desk = family();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "token_limit", &json!(10)));
    accepted(&lay(&mut desk, PARENT, CHILD, 2, "merge", "topic_block", &json!(["a"])));
    accepted(&lay(&mut desk, PARENT, CHILD, 3, "override", "token_limit", &json!(50)));
    let sum = bound(&desk, CHILD);
    assert_eq!((sum.token_limit, sum.blocked_topics), (Some(50), ["a".to_owned()].into()));
}

#[test]
fn the_newest_override_wins_and_an_older_one_is_noted() {
    let mut desk = family();
    let at = |time: &str, number, value: u64| {
        propagate(PARENT, CHILD, number, time, "override", &[one("token_limit", &json!(value))])
    };
    accepted(&desk.send(&at("2026-02-15T10:29:59Z", 1, 5), signed()));
    accepted(&desk.send(&at("2026-02-15T10:29:58Z", 2, 50), signed()));
    assert_eq!(findings(&desk), ["override_late"]);
    assert_eq!(bound(&desk, CHILD).token_limit, Some(5));
    // At the same time, the greater id is the newer.
    accepted(&desk.send(&at("2026-02-15T10:29:59Z", 3, 7), signed()));
    assert_eq!(bound(&desk, CHILD).token_limit, Some(7));
}

#[test]
fn nobody_weakens_what_others_above_have_set_but_an_operator() {
    let mut desk = family();
    accepted(&lay(&mut desk, GRAND, PARENT, 1, "merge", "token_limit", &json!(100)));
    accepted(&lay(&mut desk, GRAND, PARENT, 2, "merge", "topic_block", &json!(["a", "b"])));
    accepted(&lay(&mut desk, GRAND, PARENT, 3, "merge", "safety_floor", &json!("review")));
    for (number, (kind, value)) in
        [("token_limit", json!(101)), ("topic_block", json!(["a"])), ("safety_floor", json!("safe"))]
            .into_iter()
            .enumerate()
    {
        let verdict = lay(&mut desk, PARENT, CHILD, 10 + number as u64, "override", kind, &value);
        assert_eq!(refused(&verdict), Code::ConstraintWeakening, "{kind}");
    }
    accepted(&lay(&mut desk, PARENT, CHILD, 20, "override", "token_limit", &json!(99)));
    accepted(&wish(&mut desk, PARENT, &[one("token_limit", &json!(500))], Mode::Override, &[], Who::operator()));
    accepted(&lay(&mut desk, PARENT, CHILD, 21, "override", "token_limit", &json!(490)));
    assert_eq!(bound(&desk, CHILD).token_limit, Some(490));
}

#[test]
fn only_an_operator_sets_and_lifts_beside_messages() {
    let mut desk = family();
    let limit = [one("token_limit", &json!(5))];
    for who in [agent(PARENT), agent(CHILD), person("rita", Role::Reviewer), person("ann", Role::Auditor)] {
        assert_eq!(refused(&wish(&mut desk, CHILD, &limit, Mode::Merge, &[], who)), Code::NotAllowed);
    }
    let nobody = wish(&mut desk, "agent://h/none", &limit, Mode::Merge, &[], Who::operator());
    assert_eq!(refused(&nobody), Code::UnknownAgent);
    let nothing = wish(&mut desk, CHILD, &[], Mode::Merge, &[], Who::operator());
    assert_eq!(refused(&nothing), Code::SchemaInvalid);
    accepted(&wish(&mut desk, CHILD, &limit, Mode::Merge, &[], Who::operator()));
    assert_eq!(desk.waiting(CHILD).len(), 1, "the child is told");
    // The parent's clock may be ahead: an operator's word still comes after.
    let ahead = propagate(PARENT, CHILD, 1, "2026-02-15T10:30:20Z", "merge", &[one("token_limit", &json!(4))]);
    accepted(&desk.send(&ahead, signed()));
    accepted(&wish(&mut desk, CHILD, &[], Mode::Merge, &["token_limit"], Who::operator()));
    assert_eq!(bound(&desk, CHILD).token_limit, None);
    let both = wish(&mut desk, CHILD, &limit, Mode::Merge, &["token_limit"], Who::operator());
    accepted(&both);
    assert_eq!(bound(&desk, CHILD).token_limit, Some(5));
}

#[test]
fn a_grandparents_token_limit_refuses_an_oversize_message_in_every_dialect() {
    let mut desk = family();
    let laid = accepted(&lay(&mut desk, GRAND, PARENT, 1, "merge", "token_limit", &json!(20)));
    let long = "x".repeat(81);
    let named = Registration { aliases: Some([(Format::Cap, "kid".to_owned())].into()), ..Registration::default() };
    desk.register(CHILD, named, Who::operator()).unwrap();
    let named = Registration { aliases: Some([(Format::Cap, "pal".to_owned())].into()), ..Registration::default() };
    desk.register(PEER, named, Who::operator()).unwrap();
    let announce = |hosts: usize| {
        let purposes: Vec<_> = (0..hosts).map(|n| format!("purpose-{n}")).collect();
        let payload = json!({"constitution_ref": "creed://h/a.b.c", "manifest_hash": format!("sha256:{}", "0".repeat(64)),
            "scope": {"purposes": purposes}});
        envelope(CHILD, PEER, "constitution_announce", 7, TIME, &payload)
    };
    for (text, proof) in [
        (claim(CHILD, PEER, "MSG001", &long), by(CHILD)),
        (cap("kid", "pal", "m1").replace(r#""content":"x""#, &format!(r#""content":"{long}""#)), by(CHILD)),
        (
            cap("kid", "pal", "m2").replace(
                r#""content":"x""#,
                &format!(r#""content":"x","attachments":[{{"type":"text_snippet","text":"{long}"}}]"#),
            ),
            by(CHILD),
        ),
        (query(CHILD, PEER, "elizaos:general_query", &long), by(CHILD)),
        (announce(9), signed()),
    ] {
        let told = why(&desk.send(&text, proof), Code::ConstraintViolated);
        for part in
            ["token_limit 20", GRAND, PARENT, "creed://creed.space/family.safe.guide@1.2.0", &format!("entry {laid}")]
        {
            assert!(told.contains(part), "{part:?} is not in {told:?}");
        }
    }
    accepted(&desk.send(&claim(CHILD, PEER, "MSG002", &"x".repeat(80)), by(CHILD)));
    accepted(&desk.send(&claim(GRAND, PEER, "MSG003", &long), by(GRAND)));
}

#[test]
fn a_blocked_topic_is_refused_however_it_is_spelled() {
    let mut desk = family();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "topic_block", &json!(["illegal_substances", "python"])));
    let with = |members: &str| {
        claim(CHILD, PEER, "MSG001", "words about illegal substances")
            .replace(r#""content""#, &format!(r#"{members},"content""#))
    };
    for (text, wanted) in [
        (with(r#""topic":"Illegal Substances""#), false),
        (with(r#""topic":"health/illegal-substances""#), false),
        (with(r#""keywords":["py-thon","PYTHON"]"#), false),
        (query(CHILD, PEER, "elizaos:ontology:code/python/debug_request", "x"), false),
        (with(r#""topic":"pythons""#), true),
    ] {
        match desk.send(&text, by(CHILD)) {
            Verdict::Refused(rejection) => {
                assert_eq!((rejection.code(), wanted), (Code::ConstraintViolated, false), "{text}");
            }
            _ => assert!(wanted, "{text}"),
        }
    }
    // What is only said, and not declared, is no topic.
    accepted(&desk.send(&claim(CHILD, PEER, "MSG009", "python"), by(CHILD)));
}

#[test]
fn a_blocked_topic_is_refused_in_every_dialect_wherever_it_is_declared() {
    // VCP has no members but those its spec defines, and none of them declares: an escalation may tell what was blocked.
    let alarm = json!({"severity": "warning", "reason": "x", "context": "📍🏢", "requires_ack": false});
    let vcp = envelope(CHILD, PARENT, "escalation", 9, TIME, &alarm);
    let acl = query(CHILD, PEER, "elizaos:general_query", "x");
    let capable = json!({"query_type": "specific", "query_parameters": {"capabilities": ["python"]}});
    for (message, at, value, wanted) in [
        (&vcp, "/payload/blocked_action", json!("respond:topic=python"), true),
        (&acl, "/payload/topics", json!(["python"]), false),
        (&acl, "/payload/note", json!("python"), true),
        (&cap("child", "peer", "m1"), "/topic", json!("python"), false),
        (
            &cap("child", "peer", "m1"),
            "/attachments",
            json!([{"type": "text_snippet", "text": "x", "keywords": ["python"]}]),
            false,
        ),
        (&cap("child", "peer", "m1"), "/attachments", json!([{"type": "text_snippet", "text": "python"}]), true),
        (&claim(CHILD, PEER, "MSG001", "x"), "/payload", json!({"topics": ["python"]}), false),
        (&claim(CHILD, PEER, "MSG001", "x"), "/payload", json!({"text": "python"}), true),
        (&acl.replace("QUERY_REF", "QUERY_CAPABILITIES"), "/payload", capable, false),
    ] {
        let mut desk = family();
        for (id, alias) in [(CHILD, "child"), (PEER, "peer")] {
            let aliases = Some([(Format::Cap, alias.to_owned())].into());
            desk.register(id, Registration { aliases, ..Registration::default() }, Who::operator()).unwrap();
        }
        accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "topic_block", &json!(["python"])));
        let mut message: Value = serde_json::from_str(message).unwrap();
        let (place, name) = at.rsplit_once('/').unwrap();
        message.pointer_mut(place).unwrap()[name] = value;
        let proof = if message["vcp_message"].is_null() { by(CHILD) } else { signed() };
        match desk.send(&message.to_string(), proof) {
            Verdict::Refused(rejection) => {
                assert_eq!((rejection.code(), wanted), (Code::ConstraintViolated, false), "{message}");
            }
            _ => assert!(wanted, "{message}"),
        }
    }
}

#[test]
fn an_audience_is_named_by_id_alias_or_group() {
    let mut desk = family();
    let grouped = Registration { groups: Some(["night".to_owned()].into()), ..Registration::default() };
    desk.register(GRAND, grouped, Who::operator()).unwrap();
    let named =
        Registration { aliases: Some([(Format::Vlp, "The Peer".to_owned())].into()), ..Registration::default() };
    desk.register(PEER, named, Who::operator()).unwrap();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "audience_restrict", &json!(["night", "The Peer"])));
    accepted(&desk.send(&claim(CHILD, GRAND, "MSG001", "x"), by(CHILD)));
    accepted(&desk.send(&claim(CHILD, "The Peer", "MSG002", "x"), by(CHILD)));
    let told = why(&desk.send(&claim(CHILD, PARENT, "MSG003", "x"), by(CHILD)), Code::ConstraintViolated);
    assert!(told.contains("audience_restrict") && told.contains(PARENT), "{told}");
    // Another list names the same agent in its own way.
    accepted(&lay(&mut desk, GRAND, PARENT, 2, "merge", "audience_restrict", &json!([PEER, PARENT, CHILD])));
    assert_eq!(bound(&desk, CHILD).audiences, Some([PEER.to_owned(), "The Peer".to_owned()].into()));
    accepted(&desk.send(&claim(CHILD, PEER, "MSG004", "x"), by(CHILD)));
    assert_eq!(refused(&desk.send(&claim(CHILD, GRAND, "MSG005", "x"), by(CHILD))), Code::ConstraintViolated);
    // A broadcast reaches whom it may not.
    let broadcast = share(PARENT, "broadcast", TIME).replace("8000-000000000001", "8000-00000000000a");
    accepted(&desk.send(&broadcast, signed()));
    desk.register("agent://h/sister", below(Some(GRAND), 2), Who::operator()).unwrap();
    let again = broadcast.replace("8000-00000000000a", "8000-00000000000b");
    assert_eq!(refused(&desk.send(&again, signed())), Code::ConstraintViolated);
}

#[test]
fn a_parent_binds_its_child_whomever_it_may_address() {
    let mut desk = family();
    accepted(&lay(&mut desk, GRAND, PARENT, 1, "merge", "audience_restrict", &json!([PEER])));
    let refused_to = |desk: &mut Desk, to: &str, id: &str| {
        assert_eq!(refused(&desk.send(&claim(PARENT, to, id, "x"), by(PARENT))), Code::ConstraintViolated);
    };
    refused_to(&mut desk, CHILD, "MSG001");
    accepted(&lay(&mut desk, PARENT, CHILD, 2, "merge", "token_limit", &json!(100)));
    assert_eq!(bound(&desk, CHILD).token_limit, Some(100));
    // Nothing else goes to a child that it may not address, and no constraint in place of others.
    refused_to(&mut desk, CHILD, "MSG002");
    let instead = lay(&mut desk, PARENT, CHILD, 3, "override", "token_limit", &json!(50));
    assert_eq!(refused(&instead), Code::ConstraintViolated);
    // What it may say at all is held to its other constraints still.
    accepted(&lay(&mut desk, GRAND, PARENT, 4, "merge", "topic_block", &json!(["weapons"])));
    accepted(&lay(&mut desk, PARENT, CHILD, 5, "merge", "topic_block", &json!(["weapons"])));
}

#[test]
fn a_safety_floor_raises_vlp_messages() {
    let mut desk = family();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "safety_floor", &json!("review")));
    let held = desk.send(&claim(CHILD, PEER, "MSG001", "x"), by(CHILD));
    assert!(matches!(held, Verdict::Held { .. }), "{held:?}");
    let Effect::Accepted(message) = &desk.record.last().unwrap().effect else { panic!("no message") };
    assert_eq!(message.ruled.level.map(|level| level.to_string()).as_deref(), Some("review"));
    // The peer reads why it waits, and not whose constraint that is.
    let [reason] = &message.ruled.held[..] else { panic!("{:?}", message.ruled.held) };
    assert!(reason.code == "safety_floor" && !reason.says.contains(PARENT), "{reason:?}");
    accepted(&lay(&mut desk, PARENT, CHILD, 2, "override", "safety_floor", &json!("block")));
    assert_eq!(refused(&desk.send(&claim(CHILD, PEER, "MSG002", "x"), by(CHILD))), Code::ConstraintViolated);
    // Other dialects have no levels, and a number is on a scale of the agents' own.
    accepted(&desk.send(&query(CHILD, PEER, "elizaos:general_query", "x"), by(CHILD)));
    accepted(&lay(&mut desk, PARENT, CHILD, 3, "override", "safety_floor", &json!(9)));
    assert_eq!(findings(&desk), ["not_enforced"]);
    accepted(&desk.send(&claim(CHILD, PEER, "MSG003", "x"), by(CHILD)));
}

#[test]
fn what_becomes_vlp_is_held_to_its_senders_safety_floor() {
    let house = |floor: &str| {
        let mut desk = family();
        let vera = Registration { dialects: Some([Format::Vlp].into()), ..Registration::default() };
        assert_eq!(desk.register("vera", vera, Who::operator()), Ok(true));
        let kid = Registration { aliases: Some([(Format::Cap, "kid".to_owned())].into()), ..Registration::default() };
        assert_eq!(desk.register(CHILD, kid, Who::operator()), Ok(false));
        accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "safety_floor", &json!(floor)));
        desk
    };
    let request = json!({
        "mcp_version": "0.1.0", "message_id": "5b1f0c9e-3a77-4c1d-9a46-0f2d8e6b7c10", "sender": {"agent_id": CHILD},
        "receiver": {"agent_id": "vera"}, "language": "application/json", "timestamp": TIME,
        "ontology": "elizaos:ontology:code/general/refactor_request", "performative": "TASK_REQUEST",
        "payload": {"task_type": "tidy", "task_description": "Tidy it.", "task_parameters": {}},
    });
    for text in [cap("kid", "vera", "m1"), request.to_string()] {
        let mut desk = house("review");
        let held = desk.send(&text, by(CHILD));
        let Verdict::Held { position, .. } = held else { panic!("not held: {held:?}") };
        assert!(desk.waiting("vera").is_empty());
        let digest = desk.state.rules().holds.get(position).unwrap().digest.clone().unwrap();
        let review = Review { message: position, says: Says::Approve, digest, why: "seen".to_owned() };
        accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() }));
        desk.passes(std::time::Duration::ZERO);
        assert_eq!(desk.waiting("vera").len(), 1, "a person has looked");
        let mut desk = house("block");
        assert_eq!(refused(&desk.send(&text, by(CHILD))), Code::ConstraintViolated);
        assert!(desk.waiting("vera").is_empty());
        accepted(&house("safe").send(&text, by(CHILD)));
    }
}

#[test]
fn escalations_and_their_acknowledgements_are_never_stopped() {
    let mut desk = family();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "token_limit", &json!(1)));
    accepted(&lay(&mut desk, PARENT, CHILD, 2, "merge", "audience_restrict", &json!([PEER])));
    let escalation = |from, to, number, payload: Value| envelope(from, to, "escalation", number, TIME, &payload);
    let alarm = json!({"severity": "info", "reason": "a long reason for it", "context": "⏰🌅", "requires_ack": false});
    accepted(&desk.send(&escalation(CHILD, PARENT, 3, alarm), signed()));
    assert_eq!(refused(&desk.send(&share(CHILD, PEER, TIME), signed())), Code::ConstraintViolated);
}

#[test]
fn a_block_is_never_too_long_to_be_heard() {
    let mut desk = family();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "token_limit", &json!(1)));
    let words = "This must not go on.";
    assert_eq!(refused(&desk.send(&claim(CHILD, PEER, "MSG001", words), by(CHILD))), Code::ConstraintViolated);
    let block =
        claim(CHILD, PEER, "MSG002", words).replace(r#""confidence""#, r#""safety":{"level":"block"},"confidence""#);
    accepted(&desk.send(&block, by(CHILD)));
    // Who may hear it is another matter.
    accepted(&lay(&mut desk, PARENT, CHILD, 2, "merge", "audience_restrict", &json!([PARENT])));
    assert_eq!(refused(&desk.send(&block.replace("MSG002", "MSG003"), by(CHILD))), Code::ConstraintViolated);
}

#[test]
fn an_unknown_type_is_delivered_and_noted_as_not_enforced() {
    let mut desk = family();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "x.rate", &json!({"per_hour": 5})));
    assert_eq!(findings(&desk), ["not_enforced"]);
    let child = desk.state.registry().agent(CHILD).unwrap();
    let shown = desk.state.binding(child);
    assert_eq!((shown.len(), shown[0].enforced, shown[0].setter.as_deref()), (1, false, Some(PARENT)));
}

#[test]
fn who_is_gone_takes_its_constraints_along_and_moving_changes_what_binds() {
    let mut desk = family();
    accepted(&lay(&mut desk, GRAND, PARENT, 1, "merge", "token_limit", &json!(100)));
    accepted(&lay(&mut desk, PARENT, CHILD, 2, "merge", "token_limit", &json!(200)));
    assert_eq!(bound(&desk, CHILD).token_limit, Some(100));
    let moved = Registration { parent: Said::To(PEER.to_owned()), ..Registration::default() };
    desk.register(CHILD, moved, Who::operator()).unwrap();
    assert_eq!(bound(&desk, CHILD).token_limit, Some(200));
    desk.ask(Input::Remove { id: CHILD.to_owned(), who: Who::operator() });
    desk.register(CHILD, below(Some(PARENT), 1), Who::operator()).unwrap();
    assert_eq!(bound(&desk, CHILD).token_limit, Some(100));
}

#[test]
fn a_copy_of_an_agent_is_under_what_the_agent_is_under() {
    let mut desk = family();
    accepted(&lay(&mut desk, PARENT, CHILD, 1, "merge", "token_limit", &json!(2)));
    let copy = Registration { instance_of: Some(CHILD.to_owned()), ..Registration::default() };
    desk.register("agent://h/child-2", copy, Who::operator()).unwrap();
    let text = claim("agent://h/child-2", PEER, "MSG001", "more than two tokens");
    assert_eq!(refused(&desk.send(&text, by("agent://h/child-2"))), Code::ConstraintViolated);
    // And so is whoever the copy makes.
    let below = Registration { parent: Said::To("agent://h/child-2".to_owned()), ..Registration::default() };
    desk.register("agent://h/spawn", below, crate::desk::agent("agent://h/child-2")).unwrap();
    let text = claim("agent://h/spawn", PEER, "MSG002", "more than two tokens");
    assert_eq!(refused(&desk.send(&text, by("agent://h/spawn"))), Code::ConstraintViolated);
}

#[test]
fn only_so_many_constraints_stand_on_one_agent() {
    let mut desk = family();
    let many: Vec<_> = (0..256).map(|n| one("topic_block", &json!([format!("t{n}")]))).collect();
    accepted(&desk.send(&propagate(PARENT, CHILD, 1, TIME, "merge", &many), signed()));
    let more = lay(&mut desk, PARENT, CHILD, 2, "merge", "token_limit", &json!(5));
    assert_eq!(refused(&more), Code::OutOfRange);
    accepted(&lay(&mut desk, PARENT, CHILD, 3, "override", "topic_block", &json!(["t"])));
    accepted(&lay(&mut desk, PARENT, CHILD, 4, "merge", "token_limit", &json!(5)));
}

/// The state that the record, as it is on disk, folds to.
pub(crate) fn folded(desk: &Desk) -> State {
    let mut state = State::deciding();
    for entry in &desk.record {
        let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
        state.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    state
}

#[test]
fn what_bound_somebody_by_one_above_who_is_gone_goes_on_binding_it() {
    let mut desk = family();
    accepted(&wish(&mut desk, PARENT, &[one("token_limit", &json!(50))], Mode::Merge, &[], Who::operator()));
    accepted(&lay(&mut desk, GRAND, PARENT, 1, "merge", "topic_block", &json!(["weapons"])));
    let before = bound(&desk, CHILD);
    accepted(&desk.ask(Input::Remove { id: PARENT.to_owned(), who: Who::Agent(GRAND.to_owned()) }));
    assert_eq!(bound(&desk, CHILD), before);
    // Whoever stands above it now weakens nothing of others, and an operator may.
    let weaker = lay(&mut desk, GRAND, CHILD, 2, "override", "token_limit", &json!(500));
    assert_eq!(refused(&weaker), Code::ConstraintWeakening);
    accepted(&wish(&mut desk, CHILD, &[], Mode::Merge, &["token_limit"], Who::operator()));
    assert_eq!(bound(&desk, CHILD).token_limit, None);
}
