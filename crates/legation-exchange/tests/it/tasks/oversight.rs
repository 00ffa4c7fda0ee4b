//! Oversight: only after the overseer's approval does a result return to the delegator (CAP Oversight).

use super::house::{fail, findings, folds_again, hand, held, inbox, manifest, result, say, state, story, task, with};
use crate::desk::{Desk, accepted, refused};
use legation_exchange::rules::cap::Oversight;
use legation_exchange::rules::hold::{Lifter, Review, Says};
use legation_exchange::{Alert, Directive, Input, Kind, Registration, Verdict, Who};
use legation_protocol::Code;
use serde_json::{Value, json};
use std::time::Duration;

/// Up to where the analyst works.
fn analysed() -> Desk {
    let mut desk = story();
    accepted(&hand(&mut desk, "T1", "orchestrator", "pm-1"));
    accepted(&hand(&mut desk, "T1.1", "pm-1", "analyst-1"));
    desk
}

fn decide(desk: &mut Desk, task: &str, from: &str, to: &str, decision: &str, digest: Option<&str>) -> Verdict {
    let mut more = json!({ "decision": decision });
    if let Some(digest) = digest {
        more["digest"] = json!(digest);
    }
    say(desk, task, from, to, more)
}

/// The digest of the work that was shown to an overseer last.
fn shown(desk: &Desk, overseer: &str) -> String {
    let work = inbox(desk, overseer).pop().unwrap();
    work["oversight"]["digest"].as_str().unwrap().to_owned()
}

fn results(desk: &Desk, who: &str) -> usize {
    inbox(desk, who).iter().filter(|message| message["final"] == json!(true)).count()
}

#[test]
fn a_result_waits_until_the_overseer_approves_it() {
    let mut desk = analysed();
    let position = held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    state(&desk, "T1.1", "in_review");
    assert_eq!(results(&desk, "pm-1"), 0);
    let work = inbox(&desk, "qa-1").pop().unwrap();
    assert_eq!(work["content"], "words", "the overseer gets the work itself");
    assert_eq!(work["oversight"]["review"], position.to_string());
    assert_eq!(work["oversight"]["author"], "analyst-1");
    let digest = shown(&desk, "qa-1");
    accepted(&decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", Some(&digest)));
    state(&desk, "T1.1", "done");
    assert_eq!(results(&desk, "pm-1"), 1);
    assert_eq!(task(&desk, "T1.1").result, Some(position));
    folds_again(&desk);
}

#[test]
fn a_result_without_an_overseer_ends_the_task() {
    let mut desk = analysed();
    accepted(&result(&mut desk, "T1", "pm-1", "orchestrator"));
    state(&desk, "T1", "done");
    state(&desk, "T1.1", "closed");
    assert_eq!(refused(&result(&mut desk, "T1.1", "analyst-1", "pm-1")), Code::TaskState);
    assert_eq!(refused(&result(&mut desk, "T1", "pm-1", "orchestrator")), Code::TaskState);
}

#[test]
fn a_result_is_the_assignees_and_goes_to_the_delegator() {
    let mut desk = analysed();
    assert_eq!(refused(&result(&mut desk, "T1", "orchestrator", "pm-1")), Code::NotAParty);
    assert_eq!(refused(&result(&mut desk, "T1.1", "analyst-1", "user")), Code::TaskState);
    assert_eq!(refused(&result(&mut desk, "T7", "pm-1", "orchestrator")), Code::UnknownTask);
}

#[test]
fn nothing_above_is_finished_while_a_part_waits() {
    let mut desk = analysed();
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    assert_eq!(refused(&result(&mut desk, "T1", "pm-1", "orchestrator")), Code::TaskState);
    accepted(&decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", None));
    accepted(&result(&mut desk, "T1", "pm-1", "orchestrator"));
}

#[test]
fn only_the_overseer_decides() {
    let mut desk = analysed();
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    let digest = shown(&desk, "qa-1");
    for (who, to) in [("analyst-1", "pm-1"), ("pm-1", "analyst-1"), ("outsider", "pm-1"), ("orchestrator", "pm-1")] {
        for digest in [None, Some(digest.as_str())] {
            let verdict = decide(&mut desk, "T1.1", who, to, "approve", digest);
            assert_eq!(refused(&verdict), Code::NotOverseer, "{who}");
        }
    }
    state(&desk, "T1.1", "in_review");
}

#[test]
fn a_decision_is_about_the_work_it_names() {
    let mut desk = analysed();
    desk.policy.oversight = Oversight::Strict;
    let none = decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", None);
    assert_eq!(refused(&none), Code::OversightConflict, "nothing is held");
    let file = json!({ "attachments": [{ "type": "file", "path": "draft" }] });
    held(&say(&mut desk, "T1.1", "analyst-1", "pm-1", file));
    let first = shown(&desk, "qa-1");
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    let second = shown(&desk, "qa-1");
    assert_ne!(first, second);
    let any = decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", None);
    assert_eq!(refused(&any), Code::OversightConflict, "two are held");
    let other = decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", Some(&format!("sha256:{}", "0".repeat(64))));
    assert_eq!(refused(&other), Code::OversightConflict);
    accepted(&decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", Some(&second)));
    desk.passes(Duration::from_secs(1));
    assert_eq!(results(&desk, "pm-1"), 1, "only the one that was approved");
    let late = decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", Some(&first));
    assert_eq!(refused(&late), Code::OversightConflict);
    folds_again(&desk);
}

#[test]
fn work_is_turned_back_to_be_revised_and_its_author_is_told() {
    let mut desk = analysed();
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    let first = shown(&desk, "qa-1");
    accepted(&decide(&mut desk, "T1.1", "qa-1", "analyst-1", "revise", Some(&first)));
    state(&desk, "T1.1", "open");
    assert!(
        inbox(&desk, "analyst-1")
            .iter()
            .any(|told| told["content"].as_str().is_some_and(|text| text.contains("revised")))
    );
    let again = decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", Some(&first));
    assert_eq!(refused(&again), Code::OversightConflict, "what was turned back needs a new result");
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    accepted(&decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", None));
    state(&desk, "T1.1", "done");
}

#[test]
fn rejected_work_fails_the_task_and_its_delegator_is_told() {
    let mut desk = analysed();
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    accepted(&decide(&mut desk, "T1.1", "qa-1", "analyst-1", "reject", None));
    state(&desk, "T1.1", "failed");
    assert_eq!(results(&desk, "pm-1"), 0);
    assert_eq!(inbox(&desk, "pm-1").pop().unwrap()["error_code"], 403);
    folds_again(&desk);
}

#[test]
fn talk_flows_and_is_marked() {
    let mut desk = analysed();
    let asked = accepted(&say(&mut desk, "T1.1", "analyst-1", "pm-1", json!({})));
    assert_eq!(findings(&desk, asked), ["unreviewed"]);
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    let meanwhile = accepted(&say(&mut desk, "T1.1", "analyst-1", "pm-1", json!({})));
    assert_eq!(findings(&desk, meanwhile), ["unreviewed"]);
    let to_others = accepted(&say(&mut desk, "T1.1", "analyst-1", "qa-1", json!({})));
    assert!(findings(&desk, to_others).is_empty());
    state(&desk, "T1.1", "in_review");
}

#[test]
fn strictly_everything_with_attachments_waits() {
    let mut desk = analysed();
    desk.policy.oversight = Oversight::Strict;
    accepted(&say(&mut desk, "T1.1", "analyst-1", "pm-1", json!({})));
    let more = json!({ "attachments": [{ "type": "text_snippet", "text": "figures" }] });
    held(&say(&mut desk, "T1.1", "analyst-1", "pm-1", more));
    state(&desk, "T1.1", "open");
    accepted(&decide(&mut desk, "T1.1", "qa-1", "pm-1", "approve", None));
    state(&desk, "T1.1", "open");
    assert!(inbox(&desk, "pm-1").iter().any(|message| message["attachments"] != Value::Null));
    // Another id, or another instance, is no way round.
    let wanted = Registration { instance_of: Some("analyst-1".to_owned()), ..Registration::default() };
    desk.register("analyst-1-a", wanted, Who::operator()).unwrap();
    for (id, from) in [("another", "analyst-1"), ("T1.1", "analyst-1-a"), ("another", "analyst-1-a")] {
        let more = json!({ "attachments": [{ "type": "text_snippet", "text": format!("{id}, {from}") }] });
        held(&say(&mut desk, id, from, "pm-1", more));
    }
}

#[test]
fn an_overseers_plain_word_approves_where_that_is_set() {
    for (oversight, want) in [(Oversight::Marked, "in_review"), (Oversight::Implied, "done")] {
        let mut desk = analysed();
        desk.policy.oversight = oversight;
        held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
        accepted(&say(&mut desk, "T1.1", "qa-1", "analyst-1", json!({})));
        state(&desk, "T1.1", "in_review");
        accepted(&say(&mut desk, "T1.1", "qa-1", "pm-1", json!({})));
        state(&desk, "T1.1", want);
    }
}

#[test]
fn a_question_comes_from_the_overseer() {
    let mut desk = analysed();
    let ask = |desk: &mut Desk, from: &str, to: &str| {
        let inquiry = json!({
            "type": "oversight_inquiry", "task_id": "T1.1", "sender_id": from, "recipient_id": to, "inquiry": "why?",
        });
        super::house::send(desk, inquiry, json!({}))
    };
    accepted(&ask(&mut desk, "qa-1", "analyst-1"));
    assert_eq!(refused(&ask(&mut desk, "pm-1", "analyst-1")), Code::NotOverseer);
    assert_eq!(refused(&ask(&mut desk, "analyst-1", "qa-1")), Code::NotOverseer);
}

#[test]
fn without_its_overseer_a_result_waits_for_a_person() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("solo", &[], Some("nobody-yet"), &[])).unwrap();
    accepted(&hand(&mut desk, "T1", "orchestrator", "solo"));
    let position = held(&result(&mut desk, "T1", "solo", "orchestrator"));
    let alert = Alert::raised_by(&desk.record[usize::try_from(position).unwrap()]).unwrap();
    assert_eq!(alert.kind, Kind::ReviewWaiting);
    let digest = desk.state.rules().holds.get(position).unwrap().digest.clone().unwrap();
    let review = Review { message: position, says: Says::Approve, digest, why: String::new() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Review(review)), who: Who::operator() }));
    state(&desk, "T1", "done");
    assert_eq!(results(&desk, "orchestrator"), 1);
}

#[test]
fn an_overseer_that_is_removed_leaves_the_work_to_a_person() {
    let mut desk = analysed();
    let position = held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    desk.ask(Input::Remove { id: "qa-1".to_owned(), who: Who::operator() });
    desk.passes(Duration::from_secs(1));
    let reasons = &desk.state.rules().holds.get(position).unwrap().reasons;
    assert_eq!(reasons.iter().map(|reason| reason.lifts.clone()).collect::<Vec<_>>(), [Lifter::Person]);
    assert!(desk.record.iter().filter_map(Alert::raised_by).any(|alert| alert.kind == Kind::ReviewWaiting));
    assert_eq!(results(&desk, "pm-1"), 0, "it is not released by that");
    folds_again(&desk);
}

#[test]
fn overseers_do_not_stand_in_a_circle() {
    let mut desk = Desk::new();
    with(&mut desk, manifest("a", &[], Some("b"), &[])).unwrap();
    with(&mut desk, manifest("b", &[], Some("c"), &[])).unwrap();
    assert_eq!(with(&mut desk, manifest("c", &[], Some("a"), &[])), Err(Code::OverseerSelf));
    with(&mut desk, manifest("c", &[], Some("d"), &[])).unwrap();
}

#[test]
fn nobody_is_overseen_by_its_own_instance_nor_in_a_circle_through_one() {
    let copy = |base: &str| Registration { instance_of: Some(base.to_owned()), ..Registration::default() };
    let mut desk = Desk::new();
    for (id, of) in [("a", None), ("a-1", Some("a")), ("a-2", Some("a")), ("b", None), ("b-1", Some("b"))] {
        desk.register(id, of.map_or_else(Registration::default, copy), Who::operator()).unwrap();
    }
    for (id, overseer) in [("a", "a-1"), ("a-1", "a"), ("a-1", "a-2")] {
        assert_eq!(with(&mut desk, manifest(id, &[], Some(overseer), &[])), Err(Code::OverseerSelf), "{id}");
    }
    with(&mut desk, manifest("a", &[], Some("b-1"), &[])).unwrap();
    assert_eq!(with(&mut desk, manifest("b", &[], Some("a-1"), &[])), Err(Code::OverseerSelf));
    with(&mut desk, manifest("c", &[], Some("c-1"), &[])).unwrap();
    assert_eq!(desk.register("c-1", copy("c"), Who::operator()), Err(Code::OverseerSelf), "it comes later");
}

#[test]
fn an_instance_is_overseen_like_its_base_and_an_instance_of_the_overseer_decides() {
    let mut desk = analysed();
    for (id, base) in [("analyst-1-a", "analyst-1"), ("qa-1-a", "qa-1")] {
        let wanted = Registration { instance_of: Some(base.to_owned()), ..Registration::default() };
        desk.register(id, wanted, Who::operator()).unwrap();
    }
    accepted(&hand(&mut desk, "T1.2", "pm-1", "analyst-1-a"));
    held(&result(&mut desk, "T1.2", "analyst-1-a", "pm-1"));
    let digest = shown(&desk, "qa-1");
    accepted(&decide(&mut desk, "T1.2", "qa-1-a", "pm-1", "approve", Some(&digest)));
    state(&desk, "T1.2", "done");
}

#[test]
fn whoever_is_overseen_stays_so_while_the_task_runs() {
    let mut desk = analysed();
    with(&mut desk, manifest("analyst-1", &["qa-1"], None, &[])).unwrap();
    held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
}

#[test]
fn what_waits_in_a_task_that_ends_goes_nowhere() {
    let mut desk = analysed();
    let position = held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    accepted(&fail(&mut desk, "T1.1", "analyst-1", "pm-1", 500));
    desk.passes(Duration::from_secs(1));
    assert!(desk.state.rules().holds.get(position).is_none());
    assert_eq!(results(&desk, "pm-1"), 0);
    let mut desk = analysed();
    let position = held(&result(&mut desk, "T1.1", "analyst-1", "pm-1"));
    desk.passes(Duration::from_hours(168));
    state(&desk, "T1.1", "expired");
    assert!(desk.state.rules().holds.get(position).is_none());
    folds_again(&desk);
}

/// The story of the spec, message by message, after the analyst's work.
fn tell(desk: &mut Desk) {
    accepted(&hand(desk, "T1.1.1", "analyst-1", "qa-1"));
    accepted(&say(desk, "T1.1.1", "analyst-1", "qa-1", json!({})));
    accepted(&say(desk, "T1.1.1", "qa-1", "pm-1", json!({ "content": "Verified." })));
    accepted(&say(desk, "T1", "pm-1", "orchestrator", json!({})));
}

#[test]
fn the_story_as_printed_completes_nothing_unless_approval_is_implied() {
    let mut desk = analysed();
    tell(&mut desk);
    for id in ["T1", "T1.1", "T1.1.1"] {
        state(&desk, id, "open");
    }
    let mut desk = analysed();
    desk.policy.oversight = Oversight::Implied;
    tell(&mut desk);
    state(&desk, "T1.1", "done");
    state(&desk, "T1.1.1", "closed");
    state(&desk, "T1", "open");
}
