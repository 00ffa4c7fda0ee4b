//! What of a conversation is held: whoever asked hears one answer, whatever waits and whoever lets it go on.

use super::{Story, coders, folds, id, payload};
use crate::desk::{accepted, by};
use crate::tasks::house::held;
use legation_exchange::rules::acl::Stage;
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::{Directive, Input, Who};
use legation_protocol::Code;
use legation_scan::Severity::High;
use serde_json::{Value, json};
use std::time::Duration;

impl Story {
    /// Says something in which the scan finds what holds it; gives where it is held.
    pub(super) fn suspect(&mut self, performative: &str, from: &str, to: &str, more: &Value) -> u64 {
        self.next += 1;
        let text = super::acl(performative, from, to, self.next, &payload(performative), more);
        held(&self.desk.suspect(&text, by(from), High))
    }

    pub(super) fn held_answer(&mut self, performative: &str, from: &str, about: u64) -> u64 {
        self.suspect(performative, from, "Eddy", &json!({"in_reply_to": id(about)}))
    }

    /// A person's word on what is held; and then all that follows by itself.
    pub(super) fn decide(&mut self, message: u64, says: Says) {
        let digest = self.desk.state.rules().holds.get(message).unwrap().digest.clone().unwrap();
        let order = Box::new(Directive::Review(Review { message, says, digest, why: "looked at it".to_owned() }));
        accepted(&self.desk.ask(Input::Order { order, who: Who::operator() }));
        self.desk.passes(Duration::ZERO);
    }

    pub(super) fn heard(&self, performative: &str) -> usize {
        self.reads("Eddy").iter().filter(|(act, _, _)| act == performative).count()
    }

    /// Whether a held message was refused, and is not held any more.
    pub(super) fn is_refused(&self, message: u64) -> bool {
        let holds = &self.desk.state.rules().holds;
        holds.get(message).is_none() && !holds.went_on(message)
    }
}

fn accepted_task() -> (Story, u64) {
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    story.say("TASK_ACCEPT", "Jules", "Eddy", task);
    (story, task)
}

#[test]
fn a_held_result_is_refused_when_another_is_taken() {
    for better in ["INFORM_RESULT", "FAILURE"] {
        let (mut story, task) = accepted_task();
        let waits = story.held_answer("INFORM_RESULT", "Jules", task);
        story.say(better, "Jules", "Eddy", task);
        assert!(story.is_refused(waits), "{better}");
        assert_eq!(story.heard("INFORM_RESULT") + story.heard("FAILURE"), 1);
        let told = story.desk.state.mailbox("Jules").unwrap().after(None).last().unwrap();
        let told = story.desk.record[usize::try_from(told.message).unwrap()].body.clone().unwrap();
        assert!(String::from_utf8_lossy(&told).contains("went on without it"), "its sender is told");
        folds(&story.desk);
    }
}

#[test]
fn of_two_held_answers_the_one_that_goes_on_first_is_the_answer() {
    for (acts, want) in
        [(["INFORM_RESULT", "INFORM_RESULT"], Stage::Result), (["FAILURE", "INFORM_RESULT"], Stage::Failed)]
    {
        let (mut story, task) = accepted_task();
        let [goes, stays] = acts.map(|act| story.held_answer(act, "Jules", task));
        story.decide(goes, Says::Approve);
        story.stands(task, want);
        assert!(story.is_refused(stays) && story.desk.state.rules().holds.went_on(goes));
        assert_eq!(story.heard("INFORM_RESULT") + story.heard("FAILURE"), 1);
        folds(&story.desk);
    }
}

#[test]
fn a_refused_answer_leaves_the_others_waiting() {
    let (mut story, task) = accepted_task();
    let [first, second] = [(); 2].map(|()| story.held_answer("INFORM_RESULT", "Jules", task));
    story.decide(first, Says::Refuse);
    story.decide(second, Says::Approve);
    story.stands(task, Stage::Result);
    assert_eq!(story.heard("INFORM_RESULT"), 1);
}

#[test]
fn what_refuses_a_task_is_refused_once_it_is_taken_on() {
    for late in ["TASK_REJECT", "NOT_UNDERSTOOD", "TASK_ACCEPT"] {
        let mut story = Story::new();
        let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
        let waits = story.held_answer(late, "Jules", task);
        story.say("TASK_ACCEPT", "Jules", "Eddy", task);
        assert!(story.is_refused(waits), "{late}");
        story.stands(task, Stage::Accepted);
        assert_eq!(story.reads("Eddy").len(), 1);
        folds(&story.desk);
    }
}

#[test]
fn a_second_member_does_not_take_on_what_waited_with_its_word() {
    let mut story = Story::new();
    coders(&mut story);
    let task = story.ask("TASK_REQUEST", "Eddy", "coders");
    let waits = story.held_answer("TASK_ACCEPT", "Ada", task);
    story.say("TASK_ACCEPT", "Bob", "Eddy", task);
    assert!(story.is_refused(waits));
    story.desk.passes(Duration::from_secs(1));
    assert_eq!(story.talk("Eddy", task).assignee.as_deref(), Some("Bob"));
    assert_eq!((story.heard("TASK_ACCEPT"), story.told("Bob", "FAILURE", task)), (1, 0), "and Bob is told nothing");
    folds(&story.desk);
}

#[test]
fn a_held_result_is_refused_when_the_exchange_gives_up() {
    let (mut story, task) = accepted_task();
    story.desk.policy.review_time = Duration::from_hours(2000);
    story.desk.policy.time_to_live = Duration::from_hours(2000);
    let waits = story.held_answer("INFORM_RESULT", "Jules", task);
    story.desk.passes(story.desk.policy.talks.idle);
    story.stands(task, Stage::Failed);
    assert!(story.is_refused(waits));
    assert_eq!((story.heard("FAILURE"), story.heard("INFORM_RESULT")), (1, 0));
    folds(&story.desk);
}

#[test]
fn an_agents_own_word_on_what_it_can_do_comes_after_the_directorys() {
    let mut story = Story::with(super::capable());
    let query = story.ask("QUERY_CAPABILITIES", "Eddy", "Jules");
    let waits = story.held_answer("INFORM_CAPABILITIES", "Jules", query);
    story.desk.passes(Duration::from_secs(2));
    story.stands(query, Stage::AnsweredFor);
    story.decide(waits, Says::Approve);
    story.stands(query, Stage::Answered);
    assert_eq!(story.heard("INFORM_CAPABILITIES"), 2);
    folds(&story.desk);
}

#[test]
fn a_group_has_rejected_when_the_last_held_word_goes_on() {
    let mut story = Story::new();
    coders(&mut story);
    let task = story.ask("TASK_REQUEST", "Eddy", "coders");
    let waits = story.held_answer("TASK_REJECT", "Ada", task);
    story.say("TASK_REJECT", "Bob", "Eddy", task);
    story.stands(task, Stage::Requested);
    story.decide(waits, Says::Approve);
    story.stands(task, Stage::Rejected);
    assert_eq!((story.told("Eddy", "TASK_REJECT", task), story.reads("Eddy").len()), (1, 1));
    folds(&story.desk);

    // Both held: the second that goes on is the last.
    let mut story = Story::new();
    coders(&mut story);
    let task = story.ask("TASK_REQUEST", "Eddy", "coders");
    let [ada, bob] = ["Ada", "Bob"].map(|name| story.held_answer("TASK_REJECT", name, task));
    story.decide(bob, Says::Approve);
    story.stands(task, Stage::Requested);
    story.decide(ada, Says::Approve);
    story.stands(task, Stage::Rejected);
    assert_eq!(story.told("Eddy", "TASK_REJECT", task), 1);
}

#[test]
fn nobody_answers_what_is_held_and_was_not_asked_yet() {
    for says in [Says::Approve, Says::Refuse] {
        let mut story = Story::new();
        let waits = story.suspect("TASK_REQUEST", "Eddy", "Jules", &json!({}));
        let task = story.next;
        for act in ["TASK_ACCEPT", "TASK_REJECT", "NOT_UNDERSTOOD"] {
            story.refused(act, "Jules", "Eddy", task, Code::TaskState);
            story.refused(act, "Jules", "Eddy", 9999, Code::TaskState);
        }
        story.stands(task, Stage::Requested);
        story.decide(waits, says);
        match says {
            Says::Approve => story.say("TASK_ACCEPT", "Jules", "Eddy", task),
            Says::Refuse | Says::Claim => story.refused("TASK_ACCEPT", "Jules", "Eddy", task, Code::TaskState),
        }
        folds(&story.desk);
    }
}

#[test]
fn the_directory_waits_for_an_answer_from_when_a_held_question_goes_on() {
    let mut story = Story::with(super::capable());
    let waits = story.suspect("QUERY_CAPABILITIES", "Eddy", "Jules", &json!({}));
    let query = story.next;
    let before = story.desk.record.len();
    story.desk.passes(Duration::from_mins(5));
    assert_eq!((story.heard("INFORM_CAPABILITIES"), story.desk.record.len()), (0, before), "nothing happens meanwhile");
    story.decide(waits, Says::Approve);
    story.desk.passes(Duration::from_millis(1999));
    story.stands(query, Stage::Asked);
    story.desk.passes(Duration::from_millis(1));
    story.stands(query, Stage::AnsweredFor);
    assert_eq!(story.heard("INFORM_CAPABILITIES"), 1);
    folds(&story.desk);

    let mut story = Story::with(super::capable());
    let waits = story.suspect("QUERY_CAPABILITIES", "Eddy", "Jules", &json!({}));
    story.decide(waits, Says::Refuse);
    story.desk.passes(Duration::from_mins(5));
    assert_eq!((story.heard("INFORM_CAPABILITIES"), story.heard("FAILURE")), (0, 1));
}
