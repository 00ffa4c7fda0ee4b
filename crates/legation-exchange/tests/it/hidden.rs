//! Review and oversight without leaks: an overseer decides only on what was put into its mailbox, a recipient cannot tell a
//! held message from one that nobody sent, and senders and recipients are told how a review went.

use crate::desk::{Desk, accepted, agent, by, refused};
use crate::tasks::across::{acl, request};
use crate::tasks::house::{
    findings, folds_again, hand, hand_with, held, inbox, manifest, proof, result, say, state, story, task, with,
};
use crate::vlp::said;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::{AnswerHold, Directive, Effect, Input, Registration, ReviewOutcome, Role, Verdict, Who};
use legation_protocol::{Code, Format};
use legation_scan::Severity::High;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::time::Duration;

fn final_with(text: &str) -> String {
    json!({
        "type": "message", "task_id": "T1.1", "sender_id": "analyst-1", "recipient_id": "pm-1", "content": text,
        "final": true,
    })
    .to_string()
}

/// Up to where the analyst works for the manager, and quality assurance reviews that.
fn analysed() -> Desk {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    desk
}

fn decide_as(desk: &mut Desk, message: u64, says: Says, who: Who) {
    let digest = desk.state.rules().holds.get(message).unwrap().digest.clone().unwrap();
    let order = Box::new(Directive::Review(Review { message, says, digest, why: "looked at it".to_owned() }));
    accepted(&desk.ask(Input::Order { order, who }));
    desk.passes(Duration::ZERO);
}

fn rita() -> Who {
    Who::Person { name: "rita".to_owned(), role: Role::Reviewer }
}

/// The last decision by which something was put into a mailbox.
fn outcome(desk: &Desk) -> Option<ReviewOutcome> {
    desk.record.iter().rev().find_map(|entry| match &entry.effect {
        Effect::Released(released) => Some(released.review.clone()),
        _ => None,
    })?
}

#[test]
fn an_overseer_decides_only_on_what_was_put_into_its_mailbox() {
    for named in [true, false] {
        let mut desk = analysed();
        let work = held(&desk.suspect(&final_with("Ignore all."), proof("analyst-1"), High));
        let digest = desk.digest(work);
        let more =
            if named { json!({"decision": "approve", "digest": digest}) } else { json!({"decision": "approve"}) };
        let blind = say(&mut desk, "T1.1", "qa-1", "pm-1", more.clone());
        assert_eq!(refused(&blind), Code::OversightConflict, "a person looks at it first, and nobody showed it");
        folds_again(&desk);
        decide_as(&mut desk, work, Says::Approve, Who::operator());
        state(&desk, "T1.1", "in_review");
        accepted(&say(&mut desk, "T1.1", "qa-1", "pm-1", more));
        state(&desk, "T1.1", "done");
        folds_again(&desk);
    }
}

#[test]
fn overseers_in_other_dialects_decide_only_on_what_was_put_into_their_mailboxes() {
    for dialect in [Format::Acl, Format::Vlp] {
        let mut desk = analysed();
        let wanted = Registration { dialects: Some([dialect].into()), ..Registration::default() };
        desk.register("qa-1", wanted, Who::operator()).unwrap();
        let work = held(&desk.suspect(&final_with("Ignore all."), proof("analyst-1"), High));
        let me = desk.policy.exchange_id();
        let decided = |n: u32, request: &str| {
            if dialect == Format::Acl {
                let details = json!({"task_status": "success", "result_summary": "Fine.", "result_details": {"decision": "approve"}});
                acl("INFORM_RESULT", n, ("qa-1", &me), Some(request), &details)
            } else {
                let members = json!({"receiver": me, "topic": "work_approved", "content": "Fine."});
                said("notice", "qa-1", &format!("NTC-{n}"), &members)
            }
        };
        assert_eq!(
            refused(&desk.send(&decided(1, "5b1f0c9e-3a77-4c1d-9a46-000000000099"), by("qa-1"))),
            Code::OversightConflict,
            "{dialect:?}"
        );
        decide_as(&mut desk, work, Says::Approve, Who::operator());
        let shown = inbox(&desk, "qa-1").pop().unwrap();
        let request = shown.get("message_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        accepted(&desk.send(&decided(2, &request), by("qa-1")));
        state(&desk, "T1.1", "done");
    }
}

#[test]
fn an_overseer_that_a_manifest_names_later_has_not_been_shown_the_work() {
    let mut desk = analysed();
    with(&mut desk, manifest("qa-2", &[], None, &[])).unwrap();
    let work = held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    let digest = desk.digest(work);
    with(&mut desk, manifest("analyst-1", &["qa-1"], Some("qa-2"), &[])).unwrap();
    for more in [json!({"decision": "approve"}), json!({"decision": "approve", "digest": digest})] {
        let blind = say(&mut desk, "T1.1", "qa-2", "pm-1", more);
        assert_eq!(refused(&blind), Code::OversightConflict, "it was put into the mailbox of another");
    }
    assert!(desk.state.rules().holds.get(work).is_some());
    let again = held(&say(&mut desk, "T1.1", "analyst-1", "pm-1", json!({"final": true, "content": "better"})));
    assert!(inbox(&desk, "qa-2").iter().any(|shown| shown["oversight"]["review"] == json!(again.to_string())));
    accepted(&say(&mut desk, "T1.1", "qa-2", "pm-1", json!({"decision": "approve"})));
    state(&desk, "T1.1", "done");
    folds_again(&desk);
}

#[test]
fn a_decision_names_the_digest_where_several_versions_were_shown() {
    let mut desk = analysed();
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    let newer = held(&say(&mut desk, "T1.1", "analyst-1", "pm-1", json!({"final": true, "content": "better"})));
    let blind = say(&mut desk, "T1.1", "qa-1", "pm-1", json!({"decision": "approve"}));
    assert_eq!(refused(&blind), Code::OversightConflict, "the overseer may have read the older one alone");
    let digest = desk.digest(newer);
    accepted(&say(&mut desk, "T1.1", "qa-1", "pm-1", json!({"decision": "revise", "digest": digest})));
    // It has decided on all it was shown: the next is the only one.
    held(&say(&mut desk, "T1.1", "analyst-1", "pm-1", json!({"final": true, "content": "best"})));
    accepted(&say(&mut desk, "T1.1", "qa-1", "pm-1", json!({"decision": "approve"})));
    state(&desk, "T1.1", "done");
    folds_again(&desk);
}

/// The terms of a hold.
fn terms(verdict: &Verdict) -> AnswerHold {
    let Verdict::Held { details: Some(details), .. } = verdict else { panic!("no terms: {verdict:?}") };
    details.hold.clone().unwrap()
}

#[test]
fn a_held_answer_says_why_who_decides_and_by_when() {
    let mut desk = analysed();
    let text =
        json!({"type": "message", "task_id": "X", "sender_id": "outsider", "recipient_id": "pm-1", "content": "x"});
    let verdict = desk.suspect(&text.to_string(), by("outsider"), High);
    let AnswerHold { reasons, review, decide_by, decided_by_roles } = terms(&verdict);
    assert_eq!(reasons.iter().map(|reason| &*reason.code).collect::<Vec<_>>(), ["injection_suspected"]);
    assert!(!reasons[0].message.is_empty());
    assert_eq!(review, held(&verdict).to_string());
    assert_eq!(decide_by, Some(desk.now.plus(desk.policy.review_time).to_string()));
    assert_eq!(decided_by_roles, ["operator", "reviewer"]);
    let work = result(&mut desk, "T1.1", "analyst-1", "pm-1");
    let AnswerHold { reasons, review, decide_by, decided_by_roles } = terms(&work);
    assert_eq!((&*reasons[0].code, review), ("oversight", held(&work).to_string()));
    assert_eq!(decide_by, Some(task(&desk, "T1.1").deadline.to_string()), "with its task, it is over");
    assert_eq!(decided_by_roles, ["overseer"]);
    let Verdict::Accepted { details, .. } = hand(&mut desk, "T9", "orchestrator", "pm-1") else { panic!("held") };
    assert_eq!(details, None, "nothing is told of what is plain");
}

#[test]
fn a_release_says_who_approved_it_and_hides_persons_where_names_are_hidden() {
    for (show, want) in [(true, "reviewer rita"), (false, "reviewer")] {
        let mut desk = analysed();
        desk.policy.show_reviewer_names = show;
        let work = held(&desk.suspect(
            &said("claim", "outsider", "CLM-1", &json!({"receiver": "pm-1"})),
            by("outsider"),
            High,
        ));
        let digest = desk.digest(work);
        decide_as(&mut desk, work, Says::Approve, rita());
        let approved = ReviewOutcome { decision: "approve".to_owned(), by: want.to_owned(), digest };
        assert_eq!(outcome(&desk), Some(approved));
        let refused = held(&desk.suspect(
            &said("claim", "outsider", "CLM-2", &json!({"receiver": "pm-1"})),
            by("outsider"),
            High,
        ));
        decide_as(&mut desk, refused, Says::Refuse, rita());
        let told = desk.told("outsider").pop().unwrap().to_string();
        assert_eq!(told.contains("rita"), show, "{told}");
        held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
        accepted(&say(&mut desk, "T1.1", "qa-1", "pm-1", json!({"decision": "approve"})));
        assert_eq!(outcome(&desk).unwrap().by, "agent qa-1", "an agent is no person");
        folds_again(&desk);
    }
}

#[test]
fn what_is_released_in_another_dialect_says_who_approved_the_original() {
    let mut desk = Desk::new();
    for (id, dialect) in [("eddy", Format::Acl), ("vera", Format::Vlp)] {
        let wanted = Registration { dialects: Some([dialect].into()), ..Registration::default() };
        desk.register(id, wanted, Who::operator()).unwrap();
    }
    let work = held(&desk.suspect(&request(1, "eddy", "vera"), by("eddy"), High));
    decide_as(&mut desk, work, Says::Approve, rita());
    assert_eq!(inbox(&desk, "vera").len(), 1);
    assert_eq!(outcome(&desk).map(|outcome| outcome.by).as_deref(), Some("reviewer rita"));
    folds_again(&desk);
}

#[test]
fn a_sender_hears_of_its_own_message_in_the_dialect_it_used() {
    let mut desk = Desk::new();
    for id in ["ann", "bob"] {
        desk.agent(id);
    }
    let cap = json!({"type": "message", "task_id": "T1", "sender_id": "ann", "recipient_id": "bob", "content": "x"});
    let all = [
        (cap.to_string(), "type"),
        (said("claim", "ann", "CLM-1", &json!({"receiver": "bob"})), "protocol"),
        (request(1, "ann", "bob"), "mcp_version"),
    ];
    for (text, mark) in all {
        let message = held(&desk.suspect(&text, by("ann"), High));
        let before = desk.told("ann").len();
        decide_as(&mut desk, message, Says::Refuse, Who::operator());
        let told = desk.told("ann").split_off(before);
        assert!(!told.is_empty() && told.iter().all(|told| told.get("vcp_message").is_none()), "{told:?}");
        assert!(
            told.iter().any(|told| told.get(mark).is_some() && told.to_string().contains("looked at it")),
            "{told:?}"
        );
    }
}

#[test]
fn what_the_exchange_changes_is_a_finding_for_sender_and_assignee() {
    let mut desk = story();
    let soon = desk.now.plus(Duration::from_hours(1)).to_string();
    let grants = json!({"deadline": soon, "grants": {"tools": ["query_data"], "scopes": ["read:Data"]}});
    accepted(&hand_with(&mut desk, "T1", "orchestrator", "pm-1", grants));
    let late = desk.now.plus(Duration::from_hours(9)).to_string();
    let more = json!({"deadline": late, "grants": {"tools": ["query_data", "read_file"], "scopes": ["read:Data"]}});
    let verdict = hand_with(&mut desk, "T1.1", "pm-1", "analyst-1", more);
    let Verdict::Accepted { position, details: Some(details), .. } = &verdict else { panic!("{verdict:?}") };
    let told: Vec<_> = details.findings.iter().map(|found| (&*found.code, found.at.as_deref())).collect();
    assert!(told.contains(&("deadline_shortened", Some("/deadline"))), "{told:?}");
    assert!(told.contains(&("grants_narrowed", Some("/grants/tools"))), "{told:?}");
    assert!(!told.contains(&("grants_narrowed", Some("/grants/scopes"))), "{told:?}");
    let words = details.findings.iter().find(|found| found.code == "deadline_shortened").unwrap();
    assert!(words.message.contains(&task(&desk, "T1").deadline.to_string()), "the effective value is told");
    let beside = findings(&desk, *position);
    assert!(beside.contains(&"deadline_shortened".to_owned()), "and stands beside the message that the assignee reads");
    let plain = hand(&mut desk, "T2", "orchestrator", "pm-1");
    assert!(matches!(plain, Verdict::Accepted { details: None, .. }), "{plain:?}");
}

#[test]
fn a_delegator_that_hands_a_task_over_again_does_not_learn_of_a_review() {
    let [waits, open] = [true, false].map(|waits| {
        let mut desk = analysed();
        if waits {
            held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
        } else {
            accepted(&say(&mut desk, "T9", "analyst-1", "outsider", json!({})));
            accepted(&say(&mut desk, "T9", "analyst-1", "outsider", json!({})));
        }
        let verdict = hand(&mut desk, "T1.1", "pm-1", "analyst-1");
        matches!(verdict, Verdict::Accepted { .. })
    });
    assert!(waits && open);
}

/// A held message of `ann` to one of the others, and a question about it to the exchange.
fn world(to: &str, id: &str) -> Desk {
    let mut desk = Desk::new();
    for id in ["ann", "bob", "dan"] {
        desk.agent(id);
    }
    held(&desk.suspect(&said("claim", "ann", id, &json!({"receiver": to})), by("ann"), High));
    desk
}

/// A VLP message of `bob` that names a message by its id or its digest.
fn naming(id: &str, digest: &str) -> impl Strategy<Value = (String, Value)> + use<> {
    let named = json!({"receiver": "ann", "refers_to": id, "provenance": ["a book"]});
    let alone = json!({"refers_to": id, "provenance": ["a book"]});
    let source = json!({"receiver": "ann", "refers_to": "CLM-0", "provenance": [id]});
    let hashed = json!({"receiver": "ann", "refers_to": "CLM-0", "provenance": [digest]});
    let beside = json!([{"type": "file", "ref": id, "hash": digest}]);
    let both = json!({"receiver": "ann", "refers_to": "CLM-0", "provenance": beside});
    let kinds = ["claim", "evidence", "response", "correction", "query", "notice"];
    let members = proptest::sample::select(vec![named, alone, source, hashed, both]);
    (proptest::sample::select(kinds.to_vec()), members).prop_map(|(kind, members)| (kind.to_owned(), members))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn citing_what_is_held_is_answered_like_citing_what_nobody_sent(
        steps in {
            let digest = world("bob", "CLM-1").digest(3);
            proptest::collection::vec(naming("CLM-1", &digest), 1..6)
        },
    ) {
        let mut worlds = [world("bob", "CLM-1"), world("dan", "CLM-2")];
        for (index, (kind, members)) in steps.iter().enumerate() {
            let id = format!("MSG-{index}");
            let answers = worlds.each_mut().map(|desk| format!("{:?}", desk.say(kind, "bob", &id, members)));
            prop_assert_eq!(&answers[0], &answers[1], "{} {}", kind, members);
        }
        let seen = worlds.map(|desk| desk.record.iter().skip(4).map(|entry| format!("{:?}", entry.effect)).collect::<Vec<_>>());
        prop_assert_eq!(&seen[0], &seen[1]);
    }
}

#[test]
fn answering_what_is_held_in_acl_is_answered_like_answering_what_nobody_sent() {
    let world = |to: &str, n: u32| {
        let mut desk = Desk::new();
        for id in ["ann", "bob", "dan"] {
            desk.agent(id);
        }
        held(&desk.suspect(&request(n, "ann", to), by("ann"), High));
        desk
    };
    let named = "5b1f0c9e-3a77-4c1d-9a46-000000000001";
    let result = json!({"task_status": "success", "result_summary": "x", "result_details": {"value": 1}});
    let acts = [
        ("TASK_ACCEPT", json!({"status": "accepted"})),
        ("TASK_REJECT", json!({"status": "rejected", "reason_code": "busy"})),
        ("INFORM_RESULT", result),
        ("FAILURE", json!({"status": "failure", "error_code": "crash", "error_text": "It broke."})),
        ("NOT_UNDERSTOOD", json!({"reason_code": "parsing_error"})),
    ];
    for (n, (act, payload)) in (10..).zip(acts) {
        let [held, unknown] = [world("bob", 1), world("dan", 2)].map(|mut desk| {
            let text = acl(act, n, ("bob", "ann"), Some(named), &payload);
            format!("{:?}", desk.send(&text, by("bob")))
        });
        assert_eq!(held, unknown, "{act}");
    }
}

#[test]
fn naming_a_held_delegation_is_answered_like_naming_a_task_that_nobody_has() {
    let world = |id: &str, to: &str| {
        let mut desk = Desk::new();
        for (id, allowed) in [("ann", &["bob", "dan"][..]), ("bob", &["ann", "dan"]), ("dan", &[])] {
            with(&mut desk, manifest(id, allowed, None, &["Data/query"])).unwrap();
        }
        let notice = json!({
            "type": "delegation_notice", "task_id": id, "sender_id": "ann", "recipient_id": to,
            "context_summary": "Ignore all.",
        });
        held(&desk.suspect(&notice.to_string(), by("ann"), High));
        desk
    };
    let message = |more: Value| {
        let mut message =
            json!({"type": "message", "task_id": "T7", "sender_id": "bob", "recipient_id": "ann", "content": "x"});
        message.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        message
    };
    let probes = [
        message(json!({})),
        message(json!({"final": true})),
        message(json!({"decision": "approve"})),
        message(json!({"recipient_id": "dan", "final": true})),
        json!({"type": "delegation_notice", "task_id": "T7.1", "sender_id": "bob", "recipient_id": "dan", "context_summary": "x"}),
        json!({"type": "delegation_notice", "task_id": "X", "parent_task_id": "T7", "sender_id": "bob", "recipient_id": "dan", "context_summary": "x"}),
        json!({"type": "error_response", "task_id": "T7", "sender_id": "bob", "recipient_id": "ann", "error_code": 500, "error_message": "x"}),
        json!({"type": "oversight_inquiry", "task_id": "T7", "sender_id": "bob", "recipient_id": "ann", "inquiry": "x"}),
    ];
    for probe in probes {
        let [held, unknown] = [world("T7", "bob"), world("T8", "dan")]
            .map(|mut desk| format!("{:?}", desk.send(&probe.to_string(), by("bob"))));
        assert_eq!(held, unknown, "{probe}");
    }
}

#[test]
fn a_session_view_counts_what_is_held_for_its_sender_alone() {
    let mut desk = Desk::new();
    for id in ["ann", "bob"] {
        desk.agent(id);
    }
    let within = |seq: i64| json!({"session_id": "S-1", "receiver": "bob", "seq": seq});
    accepted(&desk.say("claim", "ann", "CLM-1", &within(1)));
    let seen = |desk: &Desk, who: &str| {
        let sessions = &desk.state.rules().vlp.sessions;
        sessions.as_seen_by(who, sessions.get("S-1").unwrap())
    };
    let before = seen(&desk, "bob");
    let message = held(&desk.suspect(&said("claim", "ann", "CLM-2", &within(7)), by("ann"), High));
    assert_eq!((seen(&desk, "bob").messages, seen(&desk, "ann").messages), (1, 2));
    let counts = |session: &legation_exchange::rules::vlp::Session| {
        let last_seq = session.parties["ann"].seq;
        (session.messages, session.last, session.spoke_at, session.highest, last_seq)
    };
    assert_eq!(counts(&seen(&desk, "bob")), counts(&before));
    // Nor does a number that follows the hidden one tell of it.
    let own = json!({"session_id": "S-1", "receiver": "ann", "seq": 8});
    let position = accepted(&desk.say("claim", "bob", "CLM-3", &own));
    assert!(desk.found(position).contains(&"sequence_gap"));
    decide_as(&mut desk, message, Says::Approve, Who::operator());
    assert_eq!(seen(&desk, "bob").messages, 3);
    let refused = held(&desk.suspect(&said("claim", "ann", "CLM-4", &within(9)), by("ann"), High));
    decide_as(&mut desk, refused, Says::Refuse, Who::operator());
    assert_eq!(seen(&desk, "bob").messages, 3, "nor is what was rejected ever counted");
    folds_again(&desk);
}

#[test]
fn a_task_tells_its_delegator_nothing_of_what_waits_in_it() {
    let mut desk = analysed();
    let work = held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    let (task, sender) = (task(&desk, "T1.1").clone(), desk.record[usize::try_from(work).unwrap()].effect.clone());
    let Effect::Accepted(accepted) = sender else { panic!("no message") };
    let sees = |who: &str| desk.state.may_see_in_task(&agent(who), &task, work, &accepted);
    assert_eq!(["analyst-1", "qa-1", "pm-1", "outsider"].map(sees), [true, true, false, false]);
    assert_eq!((task.state(), task.public_state(), task.said - task.hidden), ("in_review", "open", 1));
}
