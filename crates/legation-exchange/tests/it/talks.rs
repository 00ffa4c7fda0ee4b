//! Conversations in the ElizaOS agent language: who says what when, and what the exchange says.

mod cancelled;
mod held;

use crate::desk::{Desk, accepted, agent, by, refused};
use legation_exchange::rules::acl::{Stage, Talk};
use legation_exchange::rules::hold::{Lifter, Reason, Review, Says};
use legation_exchange::{Directive, Effect, Entry, Input, Misunderstood, Registration, Said, State, Verdict, Who};
use legation_protocol::{Code, Received};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;

/// An id that is easy to read in a failing test.
fn id(number: u64) -> String {
    format!("5b1f0c9e-3a77-4c1d-9a46-{number:012}")
}

/// A message; members of `more` replace those of the wrapper.
pub(crate) fn acl(performative: &str, from: &str, to: &str, number: u64, payload: &Value, more: &Value) -> String {
    let mut message = json!({
        "mcp_version": "0.1.0",
        "message_id": id(number),
        "performative": performative,
        "sender": {"agent_id": from},
        "receiver": {"agent_id": to},
        "language": "application/json",
        "ontology": "elizaos:ontology:code/python/debug_request",
        "timestamp": "2026-02-15T10:30:00Z",
        "payload": payload,
    });
    for (name, value) in more.as_object().unwrap() {
        message[name] = value.clone();
    }
    message.to_string()
}

fn payload(performative: &str) -> Value {
    match performative {
        "TASK_REQUEST" => json!({"task_type": "debug_code", "task_description": "Mend it.", "task_parameters": {}}),
        "TASK_ACCEPT" => json!({"status": "accepted"}),
        "TASK_REJECT" => json!({"status": "rejected", "reason_code": "busy"}),
        "INFORM_RESULT" => json!({"task_status": "success", "result_summary": "Done.", "result_details": {"value": 1}}),
        "FAILURE" => json!({"status": "failure", "error_code": "crash", "error_text": "It broke."}),
        "NOT_UNDERSTOOD" => json!({"reason_code": "parsing_error"}),
        "QUERY_IF" => json!({"condition": {"free": true}}),
        "QUERY_REF" => json!({"reference": "latest_commit_hash"}),
        "QUERY_CAPABILITIES" => json!({"query_type": "summary"}),
        "INFORM_CAPABILITIES" => json!({"status": "success", "capabilities": {"topics": [], "actions": []}}),
        "CANCEL" => json!({"reason": "Not needed any more."}),
        other => panic!("{other} is no performative"),
    }
}

struct Story {
    desk: Desk,
    next: u64,
}

impl Story {
    fn new() -> Story {
        let mut desk = Desk::new();
        for name in ["Eddy", "Jules", "Mallory"] {
            desk.agent(name);
        }
        Story { desk, next: 0 }
    }

    fn with(wanted: Registration) -> Story {
        let mut story = Story::new();
        assert_eq!(story.desk.register("Jules", wanted, Who::operator()), Ok(false));
        story
    }

    /// Says something; gives the message's number.
    fn try_say(&mut self, performative: &str, from: &str, to: &str, more: &Value) -> (u64, Verdict) {
        self.next += 1;
        let mut more = more.clone();
        let payload = more.as_object_mut().unwrap().remove("payload").unwrap_or_else(|| payload(performative));
        let text = acl(performative, from, to, self.next, &payload, &more);
        (self.next, self.desk.send(&text, by(from)))
    }

    #[track_caller]
    fn ask(&mut self, performative: &str, from: &str, to: &str) -> u64 {
        let (number, verdict) = self.try_say(performative, from, to, &json!({}));
        accepted(&verdict);
        number
    }

    #[track_caller]
    fn say(&mut self, performative: &str, from: &str, to: &str, about: u64) {
        accepted(&self.try_say(performative, from, to, &json!({"in_reply_to": id(about)})).1);
    }

    #[track_caller]
    fn refused(&mut self, performative: &str, from: &str, to: &str, about: u64, want: Code) {
        let verdict = self.try_say(performative, from, to, &json!({"in_reply_to": id(about)})).1;
        assert_eq!(refused(&verdict), want, "{performative} by {from}: {verdict:?}");
    }

    fn talk(&self, requester: &str, number: u64) -> &Talk {
        self.desk.state.rules().acl.opened_by(requester, &id(number)).unwrap().1
    }

    #[track_caller]
    fn stands(&self, number: u64, want: Stage) {
        assert_eq!(self.talk("Eddy", number).stage, want);
    }

    /// What an agent has in its mailbox: performative, what it answers, its payload.
    fn reads(&self, agent: &str) -> Vec<(String, Option<String>, Value)> {
        let read = |position: u64| {
            let entry = &self.desk.record[usize::try_from(position).unwrap()];
            let message: Value = serde_json::from_slice(entry.body.as_ref().unwrap()).unwrap();
            let text = |name: &str| message[name].as_str().map(str::to_owned);
            (text("performative").unwrap_or_default(), text("in_reply_to"), message["payload"].clone())
        };
        let items = self.desk.state.mailbox(agent).unwrap().after(None).map(|item| read(item.message));
        items.collect()
    }

    /// How often an agent was told this by the exchange.
    fn told(&self, agent: &str, performative: &str, about: u64) -> usize {
        let is_it = |(act, named, _): &&(String, Option<String>, Value)| {
            act == performative && named.as_deref() == Some(id(about).as_str())
        };
        self.reads(agent).iter().filter(is_it).count()
    }

    fn empties(&mut self, name: &str) {
        let up_to = Some(self.desk.state.next() - 1);
        self.desk.ask(Input::Acknowledge { agent: name.to_owned(), up_to, positions: Vec::new(), who: agent(name) });
    }
}

#[test]
fn an_acceptance_that_is_held_moves_nothing_and_gives_its_step_back_when_it_is_refused() {
    for says in [Says::Approve, Says::Refuse] {
        let mut story = Story::new();
        let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
        let before = story.desk.state.clone();
        story.say("TASK_ACCEPT", "Jules", "Eddy", task);
        // As if a rule had held it for a person.
        story.desk.state = before;
        let entry = story.desk.record.last_mut().unwrap();
        let Effect::Accepted(held) = &mut entry.effect else { panic!("no message") };
        held.ruled.held = vec![Reason { code: "test".into(), says: "waits".into(), lifts: Lifter::Person }];
        let (message, digest) = (entry.position, held.digest.clone());
        story.desk.state.apply(entry);
        story.stands(task, Stage::Requested);
        let review = Review { message, says, digest, why: "because".to_owned() };
        let order = Box::new(Directive::Review(review));
        accepted(&story.desk.ask(Input::Order { order, who: Who::operator() }));
        let (want, next) = match says {
            Says::Approve => (Stage::Accepted, "INFORM_RESULT"),
            Says::Refuse | Says::Claim => (Stage::Requested, "TASK_REJECT"),
        };
        story.desk.passes(Duration::from_secs(1));
        story.stands(task, want);
        story.say(next, "Jules", "Eddy", task);
    }
}

#[test]
fn a_task_goes_request_acceptance_result() {
    // ACL 7.1
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    story.stands(task, Stage::Requested);
    story.say("TASK_ACCEPT", "Jules", "Eddy", task);
    story.stands(task, Stage::Accepted);
    story.say("INFORM_RESULT", "Jules", "Eddy", task);
    story.stands(task, Stage::Result);
    assert_eq!(story.talk("Eddy", task).outcome.as_deref(), Some("success"));
    assert_eq!(story.reads("Eddy").len(), 2);
}

#[test]
fn each_step_comes_once_and_in_order() {
    // ACL 4.2, 4.3, 4.5, 4.6: previously received, previously accepted, previously agreed to.
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    for early in ["INFORM_RESULT", "FAILURE", "INFORM_CAPABILITIES"] {
        story.refused(early, "Jules", "Eddy", task, Code::TaskState);
    }
    story.say("TASK_ACCEPT", "Jules", "Eddy", task);
    for again in ["TASK_ACCEPT", "TASK_REJECT", "NOT_UNDERSTOOD"] {
        story.refused(again, "Jules", "Eddy", task, Code::TaskState);
    }
    story.say("INFORM_RESULT", "Jules", "Eddy", task);
    for late in ["INFORM_RESULT", "FAILURE", "TASK_ACCEPT", "TASK_REJECT", "NOT_UNDERSTOOD"] {
        story.refused(late, "Jules", "Eddy", task, Code::TaskState);
    }
    let other = story.ask("TASK_REQUEST", "Eddy", "Jules");
    story.say("TASK_REJECT", "Jules", "Eddy", other);
    story.refused("TASK_ACCEPT", "Jules", "Eddy", other, Code::TaskState);
}

#[test]
fn only_the_agent_asked_answers() {
    // ACL 4.2 to 4.6: a forged result never reaches the requester.
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    for forged in ["TASK_ACCEPT", "TASK_REJECT", "INFORM_RESULT", "FAILURE", "NOT_UNDERSTOOD"] {
        story.refused(forged, "Mallory", "Eddy", task, Code::NotAParty);
        story.refused(forged, "Eddy", "Jules", task, Code::NotAParty);
        story.refused(forged, "Jules", "Mallory", task, Code::NotAParty);
    }
    story.say("TASK_ACCEPT", "Jules", "Eddy", task);
    story.refused("INFORM_RESULT", "Mallory", "Eddy", task, Code::NotAParty);
    assert_eq!(story.reads("Eddy").len(), 1);
}

#[test]
fn a_breakdown_is_told_from_a_negative_result() {
    // ACL 4.6
    let mut story = Story::new();
    let [broken, tried] = [(); 2].map(|()| story.ask("TASK_REQUEST", "Eddy", "Jules"));
    story.say("TASK_ACCEPT", "Jules", "Eddy", broken);
    story.say("TASK_ACCEPT", "Jules", "Eddy", tried);
    story.say("FAILURE", "Jules", "Eddy", broken);
    let failed = json!({"task_status": "failure", "result_summary": "No bug found.", "result_details": {}});
    let more = json!({"in_reply_to": id(tried), "payload": failed});
    accepted(&story.try_say("INFORM_RESULT", "Jules", "Eddy", &more).1);
    story.stands(broken, Stage::Failed);
    story.stands(tried, Stage::Result);
    assert_eq!(story.talk("Eddy", broken).outcome.as_deref(), Some("crash"));
    assert_eq!(story.talk("Eddy", tried).outcome.as_deref(), Some("failure"));
}

#[test]
fn a_query_is_answered_once_by_what_fits_it() {
    // ACL 4.4, 4.8 and 4.9
    for (query, answer, wrong) in [
        ("QUERY_IF", "INFORM_RESULT", "INFORM_CAPABILITIES"),
        ("QUERY_REF", "INFORM_RESULT", "TASK_ACCEPT"),
        ("QUERY_CAPABILITIES", "INFORM_CAPABILITIES", "INFORM_RESULT"),
    ] {
        let mut story = Story::new();
        let [first, second, third] = [(); 3].map(|()| story.ask(query, "Eddy", "Jules"));
        story.stands(first, Stage::Asked);
        story.refused(wrong, "Jules", "Eddy", first, Code::TaskState);
        story.refused(answer, "Mallory", "Eddy", first, Code::NotAParty);
        story.say(answer, "Jules", "Eddy", first);
        story.stands(first, Stage::Answered);
        story.refused(answer, "Jules", "Eddy", first, Code::TaskState);
        story.say("FAILURE", "Jules", "Eddy", second);
        story.stands(second, Stage::Failed);
        story.say("NOT_UNDERSTOOD", "Jules", "Eddy", third);
        story.stands(third, Stage::NotUnderstood);
    }
}

#[test]
fn a_query_is_answered_by_a_value() {
    // ACL 4.4
    let mut story = Story::new();
    let query = story.ask("QUERY_REF", "Eddy", "Jules");
    let result = |status: &str| json!({"task_status": status, "result_summary": "Hm.", "result_details": {}});
    let more = json!({"in_reply_to": id(query), "payload": result("success")});
    assert_eq!(refused(&story.try_say("INFORM_RESULT", "Jules", "Eddy", &more).1), Code::SchemaInvalid);
    let more = json!({"in_reply_to": id(query), "payload": result("failure")});
    accepted(&story.try_say("INFORM_RESULT", "Jules", "Eddy", &more).1);
    story.stands(query, Stage::Answered);
}

#[test]
fn an_answer_names_a_message_id_first_and_a_reply_with_within_the_pair() {
    // ACL 3, 4.3
    let mut story = Story::new();
    let wants = json!({"reply_with": "debug-1"});
    let (task, verdict) = story.try_say("TASK_REQUEST", "Eddy", "Jules", &wants);
    accepted(&verdict);
    let named = json!({"in_reply_to": "debug-1"});
    assert_eq!(refused(&story.try_say("TASK_ACCEPT", "Mallory", "Eddy", &named).1), Code::TaskState);
    accepted(&story.try_say("TASK_ACCEPT", "Jules", "Eddy", &named).1);
    accepted(&story.try_say("INFORM_RESULT", "Jules", "Eddy", &named).1);
    story.stands(task, Stage::Result);
    assert_eq!(refused(&story.try_say("INFORM_RESULT", "Jules", "Eddy", &named).1), Code::TaskState);
    // What is over is not meant any more; two that are open could both be.
    let (second, _) = story.try_say("TASK_REQUEST", "Eddy", "Jules", &wants);
    accepted(&story.try_say("TASK_ACCEPT", "Jules", "Eddy", &named).1);
    story.stands(second, Stage::Accepted);
    story.try_say("TASK_REQUEST", "Eddy", "Jules", &wants);
    assert_eq!(refused(&story.try_say("INFORM_RESULT", "Jules", "Eddy", &named).1), Code::AmbiguousReference);
    story.say("INFORM_RESULT", "Jules", "Eddy", second);
}

#[test]
fn a_reply_with_that_is_another_requests_id_gives_way_to_it() {
    let mut story = Story::new();
    let first = story.ask("TASK_REQUEST", "Eddy", "Jules");
    let (second, _) = story.try_say("TASK_REQUEST", "Eddy", "Jules", &json!({"reply_with": id(first)}));
    story.say("TASK_ACCEPT", "Jules", "Eddy", first);
    story.stands(first, Stage::Accepted);
    story.stands(second, Stage::Requested);
}

#[test]
fn what_answers_nothing_is_refused() {
    let mut story = Story::new();
    for stray in ["TASK_ACCEPT", "TASK_REJECT", "INFORM_RESULT", "FAILURE", "NOT_UNDERSTOOD", "INFORM_CAPABILITIES"] {
        story.refused(stray, "Jules", "Eddy", 999, Code::TaskState);
    }
    assert!(story.reads("Eddy").is_empty());
}

#[test]
fn any_message_may_be_misunderstood_but_no_misunderstanding() {
    // ACL 4.7
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    story.say("TASK_ACCEPT", "Jules", "Eddy", task);
    let accept = story.next;
    story.refused("NOT_UNDERSTOOD", "Mallory", "Jules", accept, Code::NotAParty);
    story.say("NOT_UNDERSTOOD", "Eddy", "Jules", accept);
    let puzzled = story.next;
    story.refused("NOT_UNDERSTOOD", "Jules", "Eddy", puzzled, Code::TaskState);
    story.stands(task, Stage::Accepted);
}

#[test]
fn what_is_over_stays_known_for_a_while() {
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    story.say("TASK_REJECT", "Jules", "Eddy", task);
    story.desk.passes(Duration::from_hours(23));
    story.refused("TASK_ACCEPT", "Jules", "Eddy", task, Code::TaskState);
    story.desk.passes(Duration::from_hours(2));
    story.ask("TASK_REQUEST", "Eddy", "Mallory");
    assert!(story.desk.state.rules().acl.opened_by("Eddy", &id(task)).is_none());
    assert_eq!(story.desk.state.rules().acl.len(), 1);
}

#[test]
fn an_estimate_that_has_passed_is_told_once() {
    // ACL 4.2: seconds or an ISO duration.
    for estimate in [json!(300), json!("PT5M")] {
        let mut story = Story::new();
        let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
        let accept = json!({"status": "accepted", "estimated_completion_time": estimate});
        let more = json!({"in_reply_to": id(task), "payload": accept});
        let (accept, verdict) = story.try_say("TASK_ACCEPT", "Jules", "Eddy", &more);
        accepted(&verdict);
        story.desk.passes(Duration::from_secs(299));
        story.stands(task, Stage::Accepted);
        story.desk.passes(Duration::from_secs(1));
        story.stands(task, Stage::Overdue);
        story.desk.passes(Duration::from_hours(1));
        assert_eq!((story.told("Eddy", "FAILURE", accept), story.told("Eddy", "FAILURE", task)), (1, 0));
        story.say("INFORM_RESULT", "Jules", "Eddy", task);
        story.stands(task, Stage::Result);
    }
}

#[test]
fn a_request_that_reaches_nobody_fails_once() {
    // ACL 4.6: the exchange speaks for whoever cannot.
    for query in ["TASK_REQUEST", "QUERY_IF", "QUERY_CAPABILITIES"] {
        let mut story = Story::new();
        let asked = story.ask(query, "Eddy", "Jules");
        story.desk.passes(Duration::from_hours(169));
        story.stands(asked, Stage::Failed);
        assert_eq!(story.talk("Eddy", asked).outcome.as_deref(), Some("expired"));
        story.desk.passes(Duration::from_hours(1));
        assert_eq!(story.told("Eddy", "FAILURE", asked), 1);
    }
}

#[test]
fn a_request_that_was_taken_on_does_not_expire_in_the_mailbox() {
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    story.say("TASK_ACCEPT", "Jules", "Eddy", task);
    story.desk.passes(Duration::from_hours(169));
    story.stands(task, Stage::Accepted);
}

#[test]
fn a_task_fails_once_with_its_assignee() {
    for accepts in [false, true] {
        let mut story = Story::new();
        let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
        if accepts {
            story.say("TASK_ACCEPT", "Jules", "Eddy", task);
            story.empties("Jules");
        }
        story.desk.ask(Input::Remove { id: "Jules".to_owned(), who: Who::operator() });
        story.desk.passes(Duration::from_secs(1));
        story.stands(task, Stage::Failed);
        assert_eq!(story.talk("Eddy", task).outcome.as_deref(), Some("assignee_removed"));
        assert_eq!(story.told("Eddy", "FAILURE", task), 1);
    }
}

#[test]
fn a_task_ends_silently_with_its_requester() {
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    story.desk.ask(Input::Remove { id: "Eddy".to_owned(), who: Who::operator() });
    let before = story.desk.record.len();
    story.desk.passes(Duration::from_secs(1));
    story.stands(task, Stage::Failed);
    assert_eq!(story.desk.record.len(), before + 1);
}

#[test]
fn an_emptied_mailbox_and_long_silence_are_told() {
    let mut story = Story::new();
    let [purged, silent] = ["Jules", "Mallory"].map(|to| story.ask("TASK_REQUEST", "Eddy", to));
    story.desk.ask(Input::Purge { agent: "Jules".to_owned(), up_to: None, who: Who::operator() });
    story.empties("Mallory");
    story.desk.passes(Duration::from_secs(1));
    assert_eq!(story.talk("Eddy", purged).outcome.as_deref(), Some("purged"));
    story.stands(silent, Stage::Requested);
    story.desk.passes(Duration::from_hours(720));
    assert_eq!(story.talk("Eddy", silent).outcome.as_deref(), Some("abandoned"));
}

fn capable() -> Registration {
    let capabilities = json!({
        "topics": ["Python", "debugging"],
        "actions": ["refactor", {"name": "debug_code", "description": "Finds bugs.", "parameters": {"code": "text"}}],
    });
    Registration { capabilities: Said::To(capabilities), ..Registration::default() }
}

#[test]
fn the_directory_answers_for_an_agent_that_does_not() {
    // ACL 4.8, 4.9 and 9
    let specific = |names: &[&str], matches: &str| json!({"query_type": "specific", "query_parameters": {"capabilities": names, "match_type": matches}});
    let details = json!({"query_type": "action_details", "query_parameters": {"action_name": "debug_code"}});
    for (question, want) in [
        (
            json!({"query_type": "summary"}),
            json!({"topics": ["Python", "debugging"], "actions": capable().capabilities.value().unwrap()["actions"]}),
        ),
        (specific(&["python", "rust"], "all"), json!({"match_result": false, "matched_capabilities": ["python"]})),
        (specific(&["python", "rust"], "any"), json!({"match_result": true, "matched_capabilities": ["python"]})),
        (details, json!({"action_name": "debug_code", "description": "Finds bugs.", "parameters": {"code": "text"}})),
    ] {
        let mut story = Story::with(capable());
        let (query, verdict) = story.try_say("QUERY_CAPABILITIES", "Eddy", "Jules", &json!({"payload": question}));
        accepted(&verdict);
        story.desk.passes(Duration::from_millis(1999));
        assert!(story.reads("Eddy").is_empty());
        story.desk.passes(Duration::from_millis(1));
        story.stands(query, Stage::AnsweredFor);
        let heard = story.reads("Eddy");
        assert_eq!((heard[0].0.as_str(), &heard[0].1), ("INFORM_CAPABILITIES", &Some(id(query))));
        assert_eq!((&heard[0].2["capabilities"], &heard[0].2["answered_for"]), (&want, &json!("Jules")));
        // The agent's own word is newer than the directory's, and is still taken, once.
        story.say("INFORM_CAPABILITIES", "Jules", "Eddy", query);
        story.refused("INFORM_CAPABILITIES", "Jules", "Eddy", query, Code::TaskState);
    }
}

#[test]
fn the_directory_keeps_quiet_when_the_agent_answers_or_told_it_nothing() {
    let mut story = Story::with(capable());
    let query = story.ask("QUERY_CAPABILITIES", "Eddy", "Jules");
    story.say("INFORM_CAPABILITIES", "Jules", "Eddy", query);
    let silent = story.ask("QUERY_CAPABILITIES", "Eddy", "Mallory");
    story.desk.passes(Duration::from_secs(10));
    assert_eq!(story.reads("Eddy").len(), 1);
    story.stands(silent, Stage::Asked);
}

#[test]
fn an_action_the_directory_does_not_know_is_a_failure() {
    let mut story = Story::with(capable());
    let details = json!({"query_type": "action_details", "query_parameters": {"action_name": "fly"}});
    let (query, _) = story.try_say("QUERY_CAPABILITIES", "Eddy", "Jules", &json!({"payload": details}));
    story.desk.passes(Duration::from_secs(2));
    assert_eq!(story.told("Eddy", "FAILURE", query), 1);
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

#[test]
fn an_unknown_ontology_is_answered_with_what_the_receiver_knows() {
    // ACL 4.7 and 5
    #[track_caller]
    fn check(wanted: Registration, act: &str, more: &Value, is_known: bool) {
        let mut story = Story::with(wanted);
        let (number, verdict) = story.try_say(act, "Eddy", "Jules", more);
        accepted(&verdict);
        assert_eq!(story.reads("Jules").len(), usize::from(is_known), "{more}");
        assert_eq!(story.told("Eddy", "NOT_UNDERSTOOD", number), usize::from(!is_known), "{more}");
        let open = if act == "TASK_REQUEST" { Stage::Requested } else { Stage::Asked };
        story.stands(number, if is_known { open } else { Stage::NotUnderstood });
        if let [(_, _, payload)] = story.reads("Eddy").as_slice() {
            assert_eq!(payload["reason_code"], "unknown_ontology");
        }
    }
    let ontologies = |names: &[&str]| Registration { ontologies: Some(set(names)), ..Registration::default() };
    let languages = |names: &[&str]| Registration { languages: Some(set(names)), ..Registration::default() };
    check(ontologies(&[]), "TASK_REQUEST", &json!({}), true);
    check(ontologies(&["elizaos:ontology:code/"]), "TASK_REQUEST", &json!({}), true);
    check(ontologies(&["elizaos:ontology:law/"]), "TASK_REQUEST", &json!({}), false);
    check(ontologies(&["elizaos:ontology:law/"]), "QUERY_IF", &json!({}), false);
    check(ontologies(&["elizaos:ontology:law/"]), "QUERY_IF", &json!({"ontology": "elizaos:general_query"}), true);
    check(ontologies(&["elizaos:ontology:law/"]), "QUERY_CAPABILITIES", &json!({}), true);
    for (prefix, term, is_known) in [
        ("http://a/on", "http://a/ontology", false),
        ("http://a/on", "http://a/on", true),
        ("http://a/on", "http://a/on/x", true),
        ("http://a/on", "http://a/on#x", true),
        ("http://a/on/", "http://a/on/x", true),
        ("elizaos:ontology:co", "elizaos:ontology:code/x", false),
        ("elizaos:ontology:code", "elizaos:ontology:code/x", true),
        ("elizaos:ontology", "elizaos:ontology:code/x", true),
    ] {
        check(ontologies(&[prefix]), "TASK_REQUEST", &json!({"ontology": term}), is_known);
    }
    check(languages(&["application/json"]), "TASK_REQUEST", &json!({}), true);
    check(languages(&["en"]), "TASK_REQUEST", &json!({"language": "en-GB"}), true);
    check(languages(&["en"]), "TASK_REQUEST", &json!({"language": "de"}), false);
}

#[test]
fn what_cannot_be_read_is_told_with_all_four_reasons() {
    // ACL 4.7
    let whole = acl("TASK_REQUEST", "Eddy", "Jules", 1, &payload("TASK_REQUEST"), &json!({}));
    for (text, reason) in [
        (whole.replace("TASK_REQUEST", "SUBSCRIBE"), "unknown_performative"),
        (whole.replacen('{', r#"{"language":"en","#, 1), "parsing_error"),
        (whole.replace("\"task_type\"", "\"type_of_task\""), "invalid_payload_structure"),
        (whole.replace("elizaos:ontology:code/python/debug_request", "two words"), "unknown_ontology"),
    ] {
        let mut story = Story::new();
        let rejection = Received::read(text.as_bytes()).unwrap_err();
        let code = rejection.code();
        let (agent, digest) = ("Eddy".to_owned(), "digest".to_owned());
        let verdict =
            story.desk.ask(Input::Misunderstood(Box::new(Misunderstood { agent, id: id(1), digest, rejection })));
        assert_eq!(refused(&verdict), code);
        let heard = story.reads("Eddy");
        assert_eq!((heard[0].0.as_str(), &heard[0].1), ("NOT_UNDERSTOOD", &Some(id(1))));
        assert_eq!(heard[0].2["reason_code"], reason, "{text}");
        let [refusal, said] = &story.desk.record[story.desk.record.len() - 2..] else { panic!("two entries") };
        assert!(matches!(&refusal.effect, Effect::Refused(refused) if refused.by == "agent Eddy"));
        assert!(matches!(&said.effect, Effect::Accepted(a) if a.ruled.because == Some(refusal.position)));
    }
}

fn coders(story: &mut Story) {
    for name in ["Ada", "Bob", "Cy"] {
        let groups = Some(set(&["coders"]));
        let capabilities = match name {
            "Cy" => json!({"topics": ["law"]}),
            _ => json!({"actions": ["debug_code"]}),
        };
        let wanted = Registration { groups, capabilities: Said::To(capabilities), ..Registration::default() };
        assert_eq!(story.desk.register(name, wanted, Who::operator()), Ok(true));
    }
}

#[test]
fn a_group_hears_a_task_and_the_first_that_accepts_takes_it() {
    // ACL 6
    let mut story = Story::new();
    coders(&mut story);
    let task = story.ask("TASK_REQUEST", "Eddy", "coders");
    let heard = |story: &Story, name: &str| story.reads(name).len();
    assert_eq!(["Ada", "Bob", "Cy"].map(|name| heard(&story, name)), [1, 1, 0], "only those who can do it");
    story.refused("TASK_ACCEPT", "Cy", "Eddy", task, Code::NotAParty);
    story.say("TASK_ACCEPT", "Bob", "Eddy", task);
    assert_eq!(story.talk("Eddy", task).assignee.as_deref(), Some("Bob"));
    assert_eq!(story.told("Ada", "FAILURE", task), 1, "the others are told");
    story.refused("TASK_ACCEPT", "Ada", "Eddy", task, Code::TaskState);
    story.refused("INFORM_RESULT", "Ada", "Eddy", task, Code::NotAParty);
    story.say("INFORM_RESULT", "Bob", "Eddy", task);
    story.stands(task, Stage::Result);
    assert_eq!(story.reads("Eddy").len(), 2);
}

#[test]
fn a_group_has_rejected_when_all_have() {
    let mut story = Story::new();
    coders(&mut story);
    let task = story.ask("TASK_REQUEST", "Eddy", "coders");
    story.say("TASK_REJECT", "Ada", "Eddy", task);
    assert!(story.reads("Eddy").is_empty(), "while others may accept");
    story.stands(task, Stage::Requested);
    story.refused("TASK_ACCEPT", "Ada", "Eddy", task, Code::TaskState);
    story.say("NOT_UNDERSTOOD", "Bob", "Eddy", task);
    story.stands(task, Stage::Rejected);
    assert_eq!((story.told("Eddy", "TASK_REJECT", task), story.reads("Eddy").len()), (1, 1));
}

#[test]
fn a_group_that_is_lost_one_by_one_fails_once() {
    let mut story = Story::new();
    coders(&mut story);
    let task = story.ask("TASK_REQUEST", "Eddy", "coders");
    story.desk.ask(Input::Remove { id: "Ada".to_owned(), who: Who::operator() });
    story.desk.passes(Duration::from_secs(1));
    story.stands(task, Stage::Requested);
    story.desk.ask(Input::Remove { id: "Bob".to_owned(), who: Who::operator() });
    story.desk.passes(Duration::from_secs(1));
    story.stands(task, Stage::Failed);
    assert_eq!(story.told("Eddy", "FAILURE", task), 1);
}

#[test]
fn a_group_in_which_nobody_can_rejects_at_once() {
    let mut story = Story::new();
    coders(&mut story);
    let tax = json!({"task_type": "tax", "task_description": "Sum it.", "task_parameters": {}});
    let more = json!({"payload": tax, "ontology": "elizaos:ontology:money/tax"});
    let (task, verdict) = story.try_say("TASK_REQUEST", "Eddy", "coders", &more);
    accepted(&verdict);
    story.stands(task, Stage::Rejected);
    assert_eq!(story.told("Eddy", "TASK_REJECT", task), 1);
}

#[test]
fn a_group_takes_tasks_alone_and_only_groups_are_groups() {
    let mut story = Story::new();
    coders(&mut story);
    assert_eq!(refused(&story.try_say("QUERY_IF", "Eddy", "coders", &json!({})).1), Code::UnknownRecipient);
    assert_eq!(refused(&story.try_say("TASK_REQUEST", "Eddy", "cooks", &json!({})).1), Code::UnknownRecipient);
    let text = crate::desk::claim("Eddy", "coders", "MSG001", "x");
    assert_eq!(refused(&story.desk.send(&text, by("Eddy"))), Code::UnknownRecipient, "other dialects have no groups");
}

#[test]
fn the_exchange_does_no_tasks() {
    let mut story = Story::new();
    let exchange = story.desk.policy.exchange_id();
    let task = story.ask("TASK_REQUEST", "Eddy", &exchange);
    let query = story.ask("QUERY_IF", "Eddy", &exchange);
    assert_eq!((story.told("Eddy", "TASK_REJECT", task), story.told("Eddy", "FAILURE", query)), (1, 1));
    story.refused("NOT_UNDERSTOOD", "Eddy", &exchange, task, Code::TaskState);
}

#[test]
fn an_id_opens_one_conversation_of_a_sender() {
    let mut story = Story::new();
    let task = story.ask("TASK_REQUEST", "Eddy", "Jules");
    // The same id later than copies are recognised, with the first still open.
    story.desk.passes(Duration::from_hours(2));
    story.next = task - 1;
    assert_eq!(refused(&story.try_say("TASK_REQUEST", "Eddy", "Mallory", &json!({})).1), Code::MessageIdConflict);
    // Another sender's ids are its own.
    story.next = task - 1;
    accepted(&story.try_say("TASK_REQUEST", "Mallory", "Jules", &json!({})).1);
}

#[test]
fn urgency_orders_between_senders_and_nothing_starves() {
    // ACL 4.1
    let mut story = Story::new();
    let ask = |story: &mut Story, from: &str, priority: &str| {
        let mut task = payload("TASK_REQUEST");
        task["priority"] = json!(priority);
        accepted(&story.try_say("TASK_REQUEST", from, "Jules", &json!({"payload": task})).1)
    };
    let low = ask(&mut story, "Eddy", "low");
    story.desk.passes(Duration::from_mins(9));
    let medium = ask(&mut story, "Mallory", "medium");
    let order = |story: &Story| {
        let items = story.desk.state.by_urgency("Jules", story.desk.now);
        items.into_iter().map(|item| item.position).collect::<Vec<_>>()
    };
    assert_eq!(order(&story), [medium, low]);
    story.desk.passes(Duration::from_mins(1));
    assert_eq!(order(&story), [low, medium], "what has waited long is as urgent as anything");
    let high = ask(&mut story, "Mallory", "high");
    assert_eq!(order(&story), [low, medium, high], "what one sender said first stays first");
}

#[test]
fn what_is_no_request_does_not_starve_either() {
    // ACL 4.1
    let mut story = Story::new();
    let plain = accepted(&story.desk.send(&crate::desk::cap("Eddy", "Jules", "m1"), by("Eddy")));
    let ask = |story: &mut Story| {
        let mut task = payload("TASK_REQUEST");
        task["priority"] = json!("high");
        accepted(&story.try_say("TASK_REQUEST", "Mallory", "Jules", &json!({"payload": task})).1)
    };
    let order = |story: &Story| {
        let items = story.desk.state.by_urgency("Jules", story.desk.now);
        items.into_iter().map(|item| item.position).collect::<Vec<_>>()
    };
    let mut urgent = Vec::new();
    for _ in 0..9 {
        urgent.push(ask(&mut story));
        assert_eq!(order(&story), [urgent.as_slice(), &[plain]].concat(), "the urgent first");
        story.desk.passes(Duration::from_mins(1));
    }
    story.desk.passes(Duration::from_mins(1));
    urgent.push(ask(&mut story));
    assert_eq!(order(&story), [&[plain], urgent.as_slice()].concat(), "but not for ever");
    let copy = State::from_bytes(&story.desk.state.to_bytes()).unwrap();
    assert_eq!(copy.by_urgency("Jules", story.desk.now), story.desk.state.by_urgency("Jules", story.desk.now));
}

/// The same state from the record and from a snapshot.
#[track_caller]
pub(crate) fn folds(desk: &Desk) {
    let mut folded = State::deciding();
    for entry in &desk.record {
        let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
        folded.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    assert_eq!(folded.rules(), desk.state.rules());
    assert!(desk.state.usage_is_exact() && folded.usage_is_exact());
    assert_eq!(State::from_bytes(&folded.to_bytes()).unwrap().rules(), desk.state.rules());
}
