//! Taking back what was asked, where the exchange extends the language.

use super::{Story, acl, coders, folds, id, payload};
use crate::desk::{accepted, by, refused};
use crate::tasks::house::held;
use legation_exchange::Verdict;
use legation_exchange::rules::acl::Stage;
use legation_exchange::rules::hold::Says;
use legation_protocol::Code;
use legation_scan::Severity::High;
use serde_json::{Value, json};
use std::time::Duration;

fn extended() -> Story {
    let mut story = Story::new();
    story.desk.policy.extended_acl = true;
    // So that nothing that waits expires meanwhile.
    story.desk.policy.time_to_live = Duration::from_hours(10_000);
    story
}

/// How far a conversation of Eddy's with Jules has come.
const OPEN: [(&str, &[&str], u64); 5] = [
    ("TASK_REQUEST", &[], 0),
    ("TASK_REQUEST", &["TASK_ACCEPT"], 0),
    ("TASK_REQUEST", &["TASK_ACCEPT"], 60),
    ("QUERY_IF", &[], 0),
    ("QUERY_CAPABILITIES", &[], 0),
];

fn opened((asks, answers, minutes): (&str, &[&str], u64)) -> (Story, u64) {
    let mut story = extended();
    let asked = story.ask(asks, "Eddy", "Jules");
    for answer in answers {
        let soon =
            json!({"in_reply_to": id(asked), "payload": {"status": "accepted", "estimated_completion_time": 60}});
        accepted(&story.try_say(answer, "Jules", "Eddy", &soon).1);
    }
    story.desk.passes(Duration::from_mins(minutes));
    story.empties("Jules");
    (story, asked)
}

#[test]
fn whoever_asked_takes_it_back_and_nobody_else_does() {
    for how in OPEN {
        let (mut story, asked) = opened(how);
        let heard = story.reads("Eddy").len();
        let before = story.talk("Eddy", asked).clone();
        story.refused("CANCEL", "Jules", "Eddy", asked, Code::NotAParty);
        story.refused("CANCEL", "Mallory", "Jules", asked, Code::NotAParty);
        story.refused("CANCEL", "Eddy", "Mallory", asked, Code::NotAParty);
        assert_eq!(story.talk("Eddy", asked), &before, "{how:?}");
        story.say("CANCEL", "Eddy", "Jules", asked);
        story.stands(asked, Stage::Cancelled);
        let told = (payload("CANCEL"), Some(id(asked)));
        assert_eq!(story.reads("Jules"), [("CANCEL".to_owned(), told.1, told.0)], "{how:?}");
        for late in ["TASK_ACCEPT", "TASK_REJECT", "INFORM_RESULT", "FAILURE", "NOT_UNDERSTOOD", "INFORM_CAPABILITIES"]
        {
            story.refused(late, "Jules", "Eddy", asked, Code::TaskState);
        }
        story.refused("CANCEL", "Eddy", "Jules", asked, Code::TaskState);
        // Nothing of it falls due, and whoever took it back is told of no failure.
        let talk = story.talk("Eddy", asked);
        assert!(talk.due.is_none() && talk.until.is_some(), "{how:?}");
        assert_eq!(talk.answer.as_deref(), Some(id(story.next - 7).as_str()), "the CANCEL moved it last");
        story.desk.passes(story.desk.policy.talks.idle);
        assert_eq!(story.reads("Eddy").len(), heard, "{how:?}");
        folds(&story.desk);
    }
}

#[test]
fn what_is_over_is_not_taken_back() {
    for (asks, answers) in [
        ("TASK_REQUEST", &["TASK_REJECT"][..]),
        ("TASK_REQUEST", &["NOT_UNDERSTOOD"]),
        ("TASK_REQUEST", &["TASK_ACCEPT", "INFORM_RESULT"]),
        ("TASK_REQUEST", &["TASK_ACCEPT", "FAILURE"]),
        ("QUERY_REF", &["INFORM_RESULT"]),
        ("QUERY_CAPABILITIES", &["INFORM_CAPABILITIES"]),
    ] {
        let mut story = extended();
        let asked = story.ask(asks, "Eddy", "Jules");
        for answer in answers {
            story.say(answer, "Jules", "Eddy", asked);
        }
        let stage = story.talk("Eddy", asked).stage;
        story.refused("CANCEL", "Eddy", "Jules", asked, Code::TaskState);
        story.stands(asked, stage);
    }
}

#[test]
fn it_is_named_by_its_id_or_by_what_an_answer_was_to_carry() {
    let mut story = extended();
    let wants = json!({"reply_with": "debug-1"});
    let cancel = |named: &str| json!({"in_reply_to": named});
    let (first, _) = story.try_say("TASK_REQUEST", "Eddy", "Jules", &wants);
    let (second, _) = story.try_say("TASK_REQUEST", "Eddy", "Mallory", &wants);
    accepted(&story.try_say("CANCEL", "Eddy", "Mallory", &cancel("debug-1")).1);
    story.stands(second, Stage::Cancelled);
    story.stands(first, Stage::Requested);
    let (third, _) = story.try_say("TASK_REQUEST", "Eddy", "Jules", &wants);
    let ambiguous = story.try_say("CANCEL", "Eddy", "Jules", &cancel("debug-1")).1;
    assert_eq!(refused(&ambiguous), Code::AmbiguousReference);
    accepted(&story.try_say("CANCEL", "Eddy", "Jules", &cancel(&id(first).to_uppercase())).1);
    accepted(&story.try_say("CANCEL", "Eddy", "Jules", &cancel("debug-1")).1);
    story.stands(third, Stage::Cancelled);
    assert_eq!(refused(&story.try_say("CANCEL", "Eddy", "Jules", &cancel("debug-2")).1), Code::TaskState);
    assert_eq!(refused(&story.try_say("CANCEL", "Eddy", "Jules", &json!({})).1), Code::InReplyToMissing);
}

#[test]
fn without_the_extension_the_act_is_unknown() {
    for (asks, to) in [("TASK_REQUEST", "Jules"), ("QUERY_IF", "Jules"), ("TASK_REQUEST", "coders")] {
        let mut story = Story::new();
        coders(&mut story);
        let asked = story.ask(asks, "Eddy", to);
        let before = story.talk("Eddy", asked).clone();
        story.refused("CANCEL", "Eddy", to, asked, Code::UnknownPerformative);
        assert_eq!(story.talk("Eddy", asked), &before);
        assert_eq!(refused(&story.try_say("CANCEL", "Eddy", "Jules", &json!({})).1), Code::UnknownPerformative);
    }
}

#[test]
fn all_of_a_group_that_are_awaited_hear_it() {
    let heard = |story: &Story, name: &str| story.reads(name).iter().filter(|(act, ..)| act == "CANCEL").count();
    for (to, answers, want) in [
        ("coders", &[][..], [1, 1, 0]),
        ("Ada", &[], [1, 1, 0]),
        ("coders", &[("TASK_REJECT", "Ada")], [0, 1, 0]),
        ("coders", &[("TASK_ACCEPT", "Bob")], [0, 1, 0]),
        ("Bob", &[("TASK_ACCEPT", "Bob")], [0, 1, 0]),
    ] {
        let mut story = extended();
        coders(&mut story);
        let task = story.ask("TASK_REQUEST", "Eddy", "coders");
        for (answer, by) in answers {
            story.say(answer, by, "Eddy", task);
        }
        story.refused("CANCEL", "Eddy", "Cy", task, Code::NotAParty);
        let told = story.reads("Eddy").len();
        story.say("CANCEL", "Eddy", to, task);
        story.stands(task, Stage::Cancelled);
        assert_eq!(["Ada", "Bob", "Cy"].map(|name| heard(&story, name)), want, "{to} {answers:?}");
        story.refused("TASK_ACCEPT", "Ada", "Eddy", task, Code::TaskState);
        assert_eq!(story.reads("Eddy").len(), told);
        folds(&story.desk);
    }
}

/// Eddy takes something back in words that a person has to look at.
fn suspect(story: &mut Story, about: u64) -> Verdict {
    story.next += 1;
    let more: Value = json!({"in_reply_to": id(about)});
    let text = acl("CANCEL", "Eddy", "Jules", story.next, &payload("CANCEL"), &more);
    story.desk.suspect(&text, by("Eddy"), High)
}

#[test]
fn what_is_held_is_withdrawn_and_reaches_nobody() {
    for odd in [false, true] {
        let mut story = extended();
        let waits = story.suspect("TASK_REQUEST", "Eddy", "Jules", &json!({}));
        let task = story.next;
        if odd {
            accepted(&suspect(&mut story, task));
        } else {
            story.say("CANCEL", "Eddy", "Jules", task);
        }
        story.stands(task, Stage::Cancelled);
        assert!(story.is_refused(waits));
        story.desk.passes(Duration::from_hours(48));
        assert!(story.reads("Jules").is_empty() && story.reads("Eddy").is_empty());
        folds(&story.desk);
    }
}

#[test]
fn a_held_cancel_takes_nothing_back_until_it_goes_on() {
    for (says, want) in [(Says::Approve, Stage::Cancelled), (Says::Refuse, Stage::Accepted)] {
        let (mut story, task) = opened(OPEN[1]);
        let waits = held(&suspect(&mut story, task));
        story.stands(task, Stage::Accepted);
        story.decide(waits, says);
        story.stands(task, want);
        assert_eq!(story.told("Jules", "CANCEL", task), usize::from(says == Says::Approve));
        folds(&story.desk);
    }
    let (mut story, task) = opened(OPEN[1]);
    let waits = held(&suspect(&mut story, task));
    story.say("INFORM_RESULT", "Jules", "Eddy", task);
    assert!(story.is_refused(waits), "the task was done without it");
    story.stands(task, Stage::Result);
    folds(&story.desk);
}

#[test]
fn a_held_answer_is_refused_when_the_request_is_taken_back() {
    let (mut story, task) = opened(OPEN[1]);
    let waits = story.held_answer("INFORM_RESULT", "Jules", task);
    story.say("CANCEL", "Eddy", "Jules", task);
    assert!(story.is_refused(waits));
    story.stands(task, Stage::Cancelled);
    assert_eq!(story.heard("INFORM_RESULT"), 0);
    folds(&story.desk);
}
