//! How far a message may go by itself (VLP V, VI, VII), and what a block stops.

use crate::desk::{Desk, accepted, person, refused};
use crate::vlp::{held, three};
use legation_exchange::rules::vlp::{Order, Strictness};
use legation_exchange::{Alert, Directive, Input, Kind, Proof, Registration, Role, Said, Verdict, Who};
use legation_protocol::Code;
use legation_protocol::vlp::{Gate, Level};
use proptest::prelude::*;
use serde_json::{Value, json};

const KINDS: [&str; 7] = ["claim", "evidence", "query", "response", "correction", "notice", "session_context"];

/// Members a message of this kind must have, naming MSG-0.
fn needed(kind: &str) -> Value {
    match kind {
        "evidence" => json!({"refers_to": "MSG-0", "provenance": ["log"]}),
        "response" | "correction" => json!({"refers_to": "MSG-0"}),
        _ => json!({}),
    }
}

fn with(mut members: Value, more: &Value) -> Value {
    members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    members
}

/// A desk where ann has said MSG-0 to bob.
fn begun() -> Desk {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-0", &json!({"receiver": "bob"})));
    desk
}

#[track_caller]
fn check(strictness: Strictness, kind: &str, more: &Value, level: Level, reasons: &[&str]) {
    let mut desk = begun();
    desk.policy.truth = strictness;
    let members = with(with(needed(kind), &json!({"receiver": "bob"})), more);
    let verdict = desk.say(kind, "ann", "MSG-1", &members);
    let position = match verdict {
        Verdict::Accepted { position, .. } | Verdict::Held { position, .. } => position,
        other => panic!("{kind} {more}: {other:?}"),
    };
    assert_eq!(desk.beside(position).level, Some(level), "{kind} {more}");
    assert_eq!(desk.reasons(position), reasons, "{kind} {more}");
    assert_eq!(desk.waiting("bob").contains(&position), reasons.is_empty(), "{kind} {more}");
}

#[test]
fn safe_goes_on_by_itself() {
    for kind in KINDS {
        check(Strictness::Standard, kind, &json!({}), Level::Safe, &[]);
        check(Strictness::Strict, kind, &json!({}), Level::Safe, &[]);
    }
}

#[test]
fn a_declared_review_always_waits() {
    for kind in KINDS {
        for safety in [json!({"level": "review"}), json!({"level": "safe", "requires_human": true})] {
            check(Strictness::Standard, kind, &json!({"safety": safety}), Level::Review, &["declared_review"]);
        }
    }
}

#[test]
fn a_review_that_is_found_holds_assertions_and_marks_queries_and_notices() {
    let unearned = json!({"confidence": 0.9});
    let why = ["missing_provenance_high_confidence"];
    for kind in ["claim", "response", "correction", "session_context"] {
        check(Strictness::Standard, kind, &unearned, Level::Review, &why);
    }
    for kind in ["query", "notice"] {
        check(Strictness::Standard, kind, &unearned, Level::Review, &[]);
        check(Strictness::Strict, kind, &unearned, Level::Review, &[why[0], "gate_review"]);
    }
    let earned = json!({"confidence": 0.95, "provenance": ["deploy_log"]});
    for kind in KINDS {
        check(Strictness::Standard, kind, &earned, Level::Safe, &[]);
    }
}

#[test]
fn both_reasons_stand_beside_a_message() {
    let both = json!({"confidence": 1, "safety": {"level": "review"}});
    let why = ["declared_review", "missing_provenance_high_confidence"];
    check(Strictness::Standard, "claim", &both, Level::Review, &why);
}

#[test]
fn a_block_stays_one_and_is_delivered() {
    for more in [json!({}), json!({"confidence": 0.95}), json!({"refers_to": "MSG-9"})] {
        let blocked = with(more, &json!({"safety": {"level": "block", "requires_human": true}}));
        check(Strictness::Strict, "claim", &blocked, Level::Block, &[]);
    }
    let mut desk = begun();
    let block = json!({"receiver": "bob", "confidence": 0.95, "safety": {"level": "block"}});
    let position = accepted(&desk.say("claim", "ann", "MSG-1", &block));
    assert_eq!(desk.found(position), ["missing_provenance_high_confidence"]);
    let alert = Alert::raised_by(&desk.record[usize::try_from(position).unwrap()]).unwrap();
    assert_eq!((alert.kind, alert.about.as_deref()), (Kind::Halted, Some("ann")));
}

#[test]
fn one_changed_digit_turns_the_gate() {
    let mut desk = begun();
    let digest = desk.digest(3);
    let last = if digest.ends_with('0') { '1' } else { '0' };
    let wrong = format!("{}{last}", &digest[..digest.len() - 1]);
    let forms: [fn(&str) -> Value; 4] = [
        |hash| json!([hash]),
        |hash| json!([{"ref": hash, "kind": "hash"}]),
        |hash| json!([{"ref": "MSG-0", "kind": "snapshot", "hash": hash}]),
        |hash| json!([{"ref": "MSG-0", "hash": hash.to_uppercase().replace("SHA256", "sha256")}, "a name"]),
    ];
    for (number, form) in (0..).zip(forms) {
        let evidence = |hash: &str| json!({"receiver": "bob", "refers_to": "MSG-0", "provenance": form(hash)});
        let right = accepted(&desk.say("evidence", "ann", &format!("EVD-{number}"), &evidence(&digest)));
        let metrics = desk.beside(right).metrics.unwrap();
        assert_eq!((metrics.gate(), metrics.integrity(), metrics.depth()), (Gate::Pass, 1.0, 5), "form {number}");
        let position = held(&desk.say("evidence", "ann", &format!("BAD-{number}"), &evidence(&wrong)));
        let metrics = desk.beside(position).metrics.unwrap();
        assert_eq!((metrics.gate(), metrics.debt()), (Gate::Review, 0.5), "form {number}");
        assert_eq!(desk.reasons(position), ["evidence_unverified"]);
    }
}

/// The gate of a message with this source, and the codes of what was found.
fn gate_of(desk: &mut Desk, id: &str, source: &Value) -> (Gate, Vec<String>) {
    let members = json!({"receiver": "bob", "provenance": ["a name", source]});
    let (Verdict::Accepted { position, .. } | Verdict::Held { position, .. }) = desk.say("claim", "ann", id, &members)
    else {
        panic!("{source} is refused")
    };
    let found = desk.found(position).into_iter().map(str::to_owned).collect();
    (desk.beside(position).metrics.unwrap().gate(), found)
}

#[test]
fn a_wrong_hash_beside_a_message_of_any_dialect_does_not_pass() {
    let mut desk = begun();
    let asks = json!({"task_type": "t", "task_description": "d", "task_parameters": {}});
    let time = "2026-02-15T10:30:00Z";
    let texts = [
        crate::vlp::said("claim", "ann", "VLP-1", &json!({"receiver": "bob"})),
        crate::desk::cap("ann", "bob", "CAP-1"),
        crate::talks::acl("TASK_REQUEST", "ann", "bob", 1, &asks, &json!({})),
        crate::desk::share("ann", "bob", time),
    ];
    for (dialect, text) in texts.iter().enumerate() {
        let position = accepted(&desk.send(text, Proof::InProcess));
        let (id, right) = (desk.id(position), desk.digest(position));
        let (hex, last) = right.split_at(right.len() - 1);
        let other = if last == "0" { "1" } else { "0" };
        let another = desk.digest(3);
        for (number, (hash, gate, found)) in [
            (right.clone(), Gate::Pass, None),
            (right.to_uppercase().replace("SHA256", "sha256"), Gate::Pass, None),
            (format!("{hex}{other}"), Gate::Fail, Some("evidence_unverified")),
            (another, Gate::Fail, Some("evidence_unverified")),
            (hex.to_owned(), Gate::Review, Some("schema_invalid")),
            (format!("{hex}g"), Gate::Review, Some("schema_invalid")),
        ]
        .into_iter()
        .enumerate()
        {
            let source = json!({"ref": id, "kind": "snapshot", "hash": hash});
            let told = gate_of(&mut desk, &format!("CLM-{dialect}-{number}"), &source);
            assert_eq!(told, (gate, found.into_iter().map(str::to_owned).collect()), "{id} {hash}");
        }
    }
    // A session has no hash to compare one with, and what lies elsewhere is not for us to tell.
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-1"})));
    let outside = format!("sha256:{}", "ab".repeat(32));
    for (number, (name, hash, gate)) in [
        ("S-1", outside.as_str(), Gate::Review),
        ("S-1", "sha256:ab", Gate::Review),
        ("https://h/x", &outside, Gate::Pass),
        ("https://h/x", "sha256:ab", Gate::Pass),
    ]
    .into_iter()
    .enumerate()
    {
        let told = gate_of(&mut desk, &format!("CLM-9-{number}"), &json!({"ref": name, "hash": hash}));
        assert_eq!(told.0, gate, "{name} {hash}");
    }
    // A hash beside what is no hash, of a message that is known.
    let known = desk.digest(3);
    let told = gate_of(&mut desk, "CLM-10", &json!({"ref": "sha256:ab", "kind": "hash", "hash": known}));
    assert_eq!(told, (Gate::Review, vec!["schema_invalid".to_owned()]));
}

#[test]
fn nobody_rests_on_what_is_halted() {
    let mut desk = three();
    let first = accepted(&desk.say("claim", "ann", "MSG-1", &json!({"session_id": "S-1", "receiver": "bob"})));
    let digest = desk.digest(first);
    let block = json!({"safety": {"level": "block"}, "receiver": "bob", "session_id": "S-1"});
    accepted(&desk.say("notice", "ann", "MSG-2", &block));
    let sources = [json!(digest), json!({"ref": digest, "kind": "hash"}), json!({"ref": "MSG-1", "hash": digest})];
    for source in &sources {
        let claim = json!({"receiver": "cat", "provenance": [source]});
        assert_eq!(refused(&desk.say("claim", "bob", "CLM-1", &claim)), Code::Halted, "{source}");
    }
    // A name alone may be anything's, so that it stops nobody; it does not pass either.
    let claim = json!({"receiver": "cat", "provenance": ["MSG-1"]});
    let position = accepted(&desk.say("claim", "bob", "CLM-1", &claim));
    assert_eq!(desk.found(position), ["evidence_unverified"]);
    assert_eq!(desk.beside(position).metrics.unwrap().gate(), Gate::Review);
    accepted(&release(&mut desk, "S-1", Who::operator()));
    desk.passes(std::time::Duration::ZERO);
    for (number, source) in sources.iter().enumerate() {
        let claim = json!({"receiver": "cat", "provenance": [source]});
        accepted(&desk.say("claim", "bob", &format!("CLM-2-{number}"), &claim));
    }
}

#[test]
fn more_sources_than_are_checked_do_not_pass() {
    let mut desk = begun();
    let digest = desk.digest(3);
    let evidence = |count: usize| json!({"receiver": "bob", "refers_to": "MSG-0", "provenance": vec![&digest; count]});
    let all = accepted(&desk.say("evidence", "ann", "EVD-1", &evidence(64)));
    assert_eq!(desk.beside(all).metrics.unwrap().gate(), Gate::Pass);
    let more = accepted(&desk.say("evidence", "ann", "EVD-2", &evidence(65)));
    assert_eq!(desk.beside(more).metrics.unwrap().gate(), Gate::Review);
    assert_eq!(desk.found(more), ["sources_unchecked"]);
}

#[test]
fn the_session_itself_and_repeated_sources_hide_nothing() {
    let mut desk = three();
    let within = json!({"receiver": "bob", "session_id": "S-1"});
    let first = accepted(&desk.say("claim", "ann", "MSG-0", &within));
    let digest = desk.digest(first);
    // Nothing else to check: the session is what it rests on.
    let plain = accepted(&desk.say("claim", "ann", "MSG-1", &within));
    let metrics = desk.beside(plain).metrics.unwrap();
    assert_eq!((metrics.gate(), metrics.integrity()), (Gate::Pass, 1.0));
    let sources =
        json!({"refers_to": "MSG-9", "provenance": [digest, digest, {"ref": "MSG-0", "hash": digest}, "S-1"]});
    let position = held(&desk.say("claim", "ann", "MSG-2", &with(within, &sources)));
    // The message, the session as a source, and the one that is missing.
    let metrics = desk.beside(position).metrics.unwrap();
    assert_eq!((metrics.gate(), metrics.integrity()), (Gate::Review, 2.0 / 3.0));
}

/// One of these ways to name MSG-0 with this hash.
fn source(form: usize, hash: &str) -> Value {
    match form {
        0 => json!(hash),
        1 => json!({"ref": hash, "kind": "hash"}),
        2 => json!({"ref": "MSG-0", "kind": "snapshot", "hash": hash}),
        _ => json!({"ref": "MSG-0", "hash": hash.trim_start_matches("sha256:")}),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// VLP VII: whatever else holds, and wherever the digit stands.
    #[test]
    fn one_flipped_digit_in_any_of_many_sources_never_passes(
        forms in prop::collection::vec(0..4usize, 1..70), at: prop::sample::Index, digit in 0..64usize, flip in 1..16u32, in_session: bool,
    ) {
        let mut desk = begun();
        let digest = desk.digest(3);
        let wrong: String = digest.char_indices().map(|(place, old)| match old.to_digit(16) {
            Some(value) if place == 7 + digit => char::from_digit(value ^ flip, 16).unwrap(),
            _ => old,
        }).collect();
        prop_assert_ne!(&wrong, &digest);
        let at = at.index(forms.len());
        let named = |(place, form): (usize, &usize)| source(*form, if place == at { &wrong } else { &digest });
        let sources: Vec<_> = forms.iter().enumerate().map(named).collect();
        let mut evidence = json!({"receiver": "bob", "refers_to": "MSG-0", "provenance": sources});
        if in_session {
            accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-1"})));
            evidence["session_id"] = json!("S-1");
        }
        let position = match desk.say("evidence", "ann", "EVD-1", &evidence) {
            Verdict::Accepted { position, .. } | Verdict::Held { position, .. } => position,
            other => panic!("{other:?}"),
        };
        prop_assert_ne!(desk.beside(position).metrics.unwrap().gate(), Gate::Pass);
    }
}

#[test]
fn names_addresses_and_what_lies_there_count_neither_way() {
    let mut desk = begun();
    let outside = format!("sha256:{}", "ab".repeat(32));
    let sources = json!(["google_places_api", "https://api.example.com/1", {"ref": "doc:policy", "kind": "document"},
        {"ref": "https://api.example.com/2", "kind": "url", "hash": outside}]);
    let claim = json!({"receiver": "bob", "confidence": 0.9, "provenance": sources});
    let position = accepted(&desk.say("claim", "ann", "MSG-1", &claim));
    let metrics = desk.beside(position).metrics.unwrap();
    assert_eq!((metrics.gate(), metrics.integrity()), (Gate::Pass, 1.0));
    assert!(desk.found(position).is_empty());
}

#[test]
fn a_session_is_a_source_for_those_who_have_a_part_in_it() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-0", &json!({"receiver": "bob", "session_id": "S-1"})));
    for (number, (sender, session, verified)) in
        [("ann", "S-1", 1), ("bob", "S-1", 1), ("cat", "S-1", 0), ("ann", "S-2", 0)].into_iter().enumerate()
    {
        let to = if sender == "ann" { "bob" } else { "ann" };
        let claim = json!({"receiver": to, "provenance": [session]});
        let position = accepted(&desk.say("claim", sender, &format!("CLM-{number}"), &claim));
        let depth = desk.beside(position).metrics.unwrap().depth();
        let plain = accepted(&desk.say("claim", sender, &format!("PLN-{number}"), &json!({"receiver": to})));
        assert_eq!(depth - desk.beside(plain).metrics.unwrap().depth(), verified, "{sender} names {session}");
    }
}

#[test]
fn a_hash_that_is_none_is_marked_and_not_compared() {
    let mut desk = begun();
    for (number, source) in (1..).zip([
        json!("sha256:abc123..."),
        json!({"ref": "deploy", "kind": "hash"}),
        json!({"ref": "https://api.example.com/1", "hash": "sha256:abc123..."}),
    ]) {
        let claim = json!({"receiver": "bob", "provenance": [source]});
        let position = accepted(&desk.say("claim", "ann", &format!("MSG-{number}"), &claim));
        assert_eq!(desk.found(position), ["schema_invalid"]);
        assert_eq!(desk.beside(position).level, Some(Level::Safe));
    }
}

#[test]
fn under_the_strict_setting_the_gate_holds() {
    let mut desk = begun();
    desk.policy.truth = Strictness::Strict;
    let query = json!({"receiver": "bob", "refers_to": ["MSG-7", "MSG-8", "MSG-0"]});
    let position = held(&desk.say("query", "ann", "QRY-1", &query));
    assert_eq!(desk.reasons(position), ["evidence_unverified", "evidence_unverified", "gate_fail"]);
    desk.policy.truth = Strictness::Standard;
    let position = accepted(&desk.say("query", "ann", "QRY-2", &query));
    assert_eq!(desk.found(position), ["evidence_unverified", "evidence_unverified"]);
    assert_eq!(desk.beside(position).metrics.unwrap().gate(), Gate::Fail);
}

fn release(desk: &mut Desk, session: &str, who: Who) -> Verdict {
    let order = Order::Release { session: session.to_owned(), why: "looked at it".to_owned() };
    desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who })
}

#[test]
fn a_block_halts_its_session_until_a_person_lets_it_go_on() {
    let mut desk = three();
    let within = |to: &str| json!({"session_id": "S-1", "receiver": to});
    let first = accepted(&desk.say("claim", "ann", "MSG-1", &within("bob")));
    accepted(&desk.say("claim", "ann", "MSG-2", &within("cat")));
    let other = accepted(&desk.say("claim", "ann", "MSG-3", &json!({"receiver": "bob"})));
    desk.ask(Input::Acknowledge {
        agent: "cat".to_owned(),
        up_to: None,
        positions: desk.waiting("cat"),
        who: Who::Agent("cat".to_owned()),
    });
    let waits = held(&desk.say("claim", "ann", "MSG-4", &with(within("bob"), &json!({"safety": {"level": "review"}}))));
    let block =
        accepted(&desk.say("notice", "bob", "MSG-5", &with(within("ann"), &json!({"safety": {"level": "block"}}))));
    // What was on its way is held, what is held is held by one more, and what has nothing to do with it goes on.
    assert_eq!(desk.waiting("bob"), [other]);
    assert_eq!(desk.waiting("ann")[0], block);
    assert!(desk.state.rules().holds.get(first).is_some());
    assert_eq!(desk.state.rules().holds.get(waits).unwrap().reasons.len(), 2);
    // Who has something of it already is told.
    assert!(desk.told("cat")[0]["content"].as_str().unwrap().contains("halted until a person"));
    assert_eq!(desk.told("bob"), Vec::<Value>::new());
    // Nothing new, nothing that goes on from it, and nobody but a person lets it go on.
    assert_eq!(refused(&desk.say("claim", "ann", "MSG-6", &within("bob"))), Code::Halted);
    let from_it = json!({"receiver": "cat", "refers_to": "MSG-5"});
    assert_eq!(refused(&desk.say("response", "ann", "MSG-6", &from_it)), Code::Halted);
    let from_its_session = json!({"receiver": "cat", "refers_to": "MSG-1"});
    assert_eq!(refused(&desk.say("response", "ann", "MSG-6", &from_its_session)), Code::Halted);
    for who in [Who::Agent("bob".to_owned()), Who::Nobody, person("audra", Role::Auditor)] {
        assert_eq!(refused(&release(&mut desk, "S-1", who)), Code::NotAllowed);
    }
    assert_eq!(refused(&release(&mut desk, "S-2", Who::operator())), Code::UnknownSession);
    accepted(&release(&mut desk, "S-1", person("rita", Role::Reviewer)));
    desk.passes(std::time::Duration::ZERO);
    assert_eq!(desk.waiting("bob").len(), 3, "the other one, the first and a word that it goes on");
    assert!(desk.state.rules().holds.get(first).is_none());
    assert_eq!(desk.state.rules().holds.get(waits).unwrap().reasons.len(), 1, "it still waits for a review");
    accepted(&desk.say("claim", "ann", "MSG-6", &within("bob")));
    assert_eq!(refused(&release(&mut desk, "S-1", Who::operator())), Code::ReviewConflict);
}

#[test]
fn a_block_stops_nobody_elses_talk() {
    let mut desk = three();
    let stranger = accepted(&desk.say("claim", "ann", "MSG-1", &json!({"session_id": "S-1", "receiver": "bob"})));
    let plain = accepted(&desk.say("claim", "ann", "MSG-2", &json!({"receiver": "bob"})));
    let block = json!({"safety": {"level": "block"}, "receiver": "ann", "session_id": "S-1"});
    assert_eq!(refused(&desk.say("notice", "cat", "MSG-3", &block)), Code::NotAParty);
    let block = json!({"safety": {"level": "block"}, "receiver": "ann", "refers_to": ["MSG-1", "MSG-2"]});
    let position = accepted(&desk.say("notice", "cat", "MSG-3", &block));
    assert_eq!(desk.waiting("bob"), [stranger, plain]);
    accepted(&desk.say("claim", "ann", "MSG-4", &json!({"session_id": "S-1", "receiver": "bob"})));
    accepted(&desk.say(
        "evidence",
        "bob",
        "MSG-5",
        &json!({"receiver": "ann", "refers_to": "MSG-2", "provenance": ["log"]}),
    ));
    // Nobody goes on from the block itself, until the session that was begun for it is released.
    let reply = json!({"receiver": "cat", "refers_to": "MSG-3"});
    assert_eq!(refused(&desk.say("response", "ann", "MSG-6", &reply)), Code::Halted);
    accepted(&release(&mut desk, &format!("message {position}"), Who::operator()));
    accepted(&desk.say("response", "ann", "MSG-6", &reply));
}

#[test]
fn a_block_outside_sessions_stops_what_it_names() {
    let mut desk = begun();
    let block = json!({"safety": {"level": "block"}, "receiver": "bob", "refers_to": "MSG-0"});
    let position = accepted(&desk.say("notice", "ann", "MSG-1", &block));
    assert_eq!(desk.waiting("bob")[0], position);
    let from_it = json!({"receiver": "ann", "refers_to": "MSG-0"});
    assert_eq!(refused(&desk.say("response", "bob", "MSG-2", &from_it)), Code::Halted);
    accepted(&release(&mut desk, &format!("message {position}"), Who::operator()));
    desk.passes(std::time::Duration::ZERO);
    assert_eq!(desk.state.rules().holds.iter().count(), 0);
    accepted(&desk.say("response", "bob", "MSG-2", &from_it));
}

#[test]
fn a_block_is_escalated_to_the_senders_parent() {
    let mut desk = Desk::new();
    desk.agent("agent://h/root");
    let below = || Registration { parent: Said::To("agent://h/root".to_owned()), ..Registration::default() };
    desk.register("ann", below(), Who::operator()).unwrap();
    desk.agent("bob");
    let block = json!({"safety": {"level": "block"}, "receiver": "bob", "session_id": "S-1"});
    accepted(&desk.say("claim", "ann", "MSG-1", &block));
    let [alarm] = &desk.told("agent://h/root")[..] else { panic!("one alarm") };
    assert_eq!((&alarm["type"], &alarm["payload"]["severity"]), (&json!("escalation"), &json!("critical")));
    assert_eq!(alarm["payload"]["requires_ack"], true);
    assert!(alarm["payload"]["reason"].as_str().unwrap().contains("S-1"));
}

proptest! {
    /// VLP VI: whatever else is found, no level is lower than declared, and rule 3 is always kept.
    #[test]
    fn a_level_is_never_lowered(kind in 0..7usize, confidence in 0.0..=1.0f64, sourced: bool, level in 0..3usize, human: bool, strict: bool) {
        let declared = [Level::Safe, Level::Review, Level::Block][level];
        let mut desk = begun();
        desk.policy.truth = if strict { Strictness::Strict } else { Strictness::Standard };
        let safety = json!({"level": declared.as_str(), "requires_human": human});
        let mut members = with(needed(KINDS[kind]), &json!({"receiver": "bob", "confidence": confidence, "safety": safety}));
        if sourced {
            members["provenance"] = json!(["log"]);
        }
        let verdict = desk.say(KINDS[kind], "ann", "MSG-1", &members);
        let (Verdict::Accepted { position, .. } | Verdict::Held { position, .. }) = verdict else { panic!("{verdict:?}") };
        let level = desk.beside(position).level.unwrap();
        let unproven = confidence >= 0.9 && !sourced && KINDS[kind] != "evidence";
        let least = declared.max(if human || unproven { Level::Review } else { Level::Safe });
        prop_assert_eq!(level, least);
        let holds = level == Level::Review && (strict || human || declared == Level::Review || ![2, 5].contains(&kind));
        prop_assert_eq!(matches!(verdict, Verdict::Held { .. }), holds);
    }
}
