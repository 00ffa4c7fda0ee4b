//! What is blocked in VLP stops, whatever those it concerns speak.

use super::{EXCHANGE, babel, cap, go_on, halted, inbox, last, name, request, sent, speaking, vlp};
use crate::desk::{Desk, by, key, refused};
use crate::tasks::house::folds_again;
use legation_exchange::{Alert, Effect, Entry, Input, Kind, Registration, Voice, Who};
use legation_protocol::{Code, Format};
use serde_json::{Value, json};

/// The observer stops a session with somebody who speaks this dialect alone. What that one hears first, and the desk.
fn blocked(dialect: Format, kind: &str, before: impl Fn(&mut Desk)) -> (Value, Desk) {
    let (mut desk, to) = (babel(), "agent://test/other");
    desk.policy.voice = Some(Voice::new(key(9)));
    let aliases = (dialect == Format::Cap).then(|| [(Format::Cap, "other".to_owned())].into());
    let wanted = Registration { aliases, ..speaking(&[dialect]) };
    assert_eq!(desk.register(to, wanted, Who::operator()), Ok(true));
    before(&mut desk);
    let stop = json!({"session_id": "S-1", "content": "STOP", "safety": {"level": "block"}, "provenance": ["log"]});
    sent(&mut desk, "observer", &vlp(kind, "MSG-9", to, None, stop));
    (inbox(&desk, to).remove(0), desk)
}

#[test]
fn a_block_halts_its_session_whatever_its_recipient_speaks() {
    let session = |desk: &Desk| desk.state.rules().vlp.sessions.get("S-1").unwrap().halted.is_some();
    for kind in ["notice", "claim", "query"] {
        for dialect in [Format::Vcp, Format::Acl, Format::Cap, Format::Vlp] {
            let (heard, mut desk) = blocked(dialect, kind, |_| {});
            assert!(session(&desk), "{kind} in {dialect}");
            assert_eq!(
                desk.record.iter().filter_map(Alert::raised_by).map(|alert| alert.kind).collect::<Vec<_>>(),
                [Kind::Halted]
            );
            match dialect {
                Format::Cap => {
                    assert_eq!((&heard["type"], &heard["error_code"]), (&json!("error_response"), &json!(423)));
                    assert_eq!(
                        (&heard["error_message"], &heard["translated_from"]["message_id"]),
                        (&json!("STOP"), &json!("MSG-9"))
                    );
                }
                Format::Vcp => {
                    let told = &heard["payload"]["constraints"][0];
                    assert_eq!(
                        (&told["type"], &told["value"]["code"]),
                        (&json!("notice"), &json!("blocked")),
                        "{heard}"
                    );
                    assert_eq!((&told["value"]["message"], &told["value"]["about"]), (&json!("STOP"), &json!("MSG-9")));
                    assert!(heard["signature"].is_string(), "{heard}");
                }
                _ => assert_eq!(heard["id"], "MSG-9", "as it is: {heard}"),
            }
            let more = vlp("notice", "MSG-10", "agent://test/other", None, json!({"session_id": "S-1"}));
            assert_eq!(refused(&desk.send(&more, by("observer"))), Code::Halted);
        }
    }
}

#[test]
fn a_block_reaches_the_task_that_was_handed_over_in_its_session() {
    let ask = |desk: &mut Desk| {
        sent(desk, "observer", &vlp("query", "QRY-1", "agent://test/other", None, json!({"session_id": "S-1"})));
    };
    let (heard, mut desk) = blocked(Format::Cap, "notice", ask);
    let task = heard["task_id"].as_str().unwrap().to_owned();
    assert!(task.starts_with("legation-") && heard["error_code"] == 423, "{heard}");
    assert!(inbox(&desk, "agent://test/other").iter().all(|left| left["type"] != "delegation_notice"), "taken back");
    let done = json!({"type": "message", "task_id": task, "sender_id": "other", "recipient_id": "legation", "content": "5", "final": true});
    assert_eq!(refused(&desk.send(&done.to_string(), by("agent://test/other"))), Code::Halted);
    go_on(&mut desk);
    sent(&mut desk, "agent://test/other", &done.to_string());
    assert_eq!(last(&desk, "observer")["refers_to"], "QRY-1");
}

#[test]
fn whoever_was_asked_blocks_towards_the_exchange_and_the_asker_hears_it() {
    for (asker, opening) in [
        ("ide", request(1, "observer")),
        ("analyst", cap("delegation_notice", "T1", "observer", json!({"context_summary": "Count."}))),
    ] {
        let mut desk = babel();
        sent(&mut desk, asker, &opening);
        let query = name(&last(&desk, "observer"));
        let stop = json!({"safety": {"level": "block"}});
        let position = sent(&mut desk, "observer", &vlp("notice", "NTC-1", EXCHANGE, Some(&query), stop));
        assert!(desk.state.rules().vlp.sessions.get(&format!("message {position}")).unwrap().halted.is_some());
        let heard = last(&desk, asker);
        if asker == "ide" {
            assert_eq!(heard["id"], "NTC-1", "ACL has no words for it: it goes as it is");
        } else {
            assert_eq!((&heard["error_code"], &heard["task_id"]), (&json!(423), &json!("T1")));
        }
        let answer = vlp("response", "RSP-1", EXCHANGE, Some(&query), json!({}));
        assert_eq!(refused(&desk.send(&answer, by("observer"))), Code::Halted, "{asker}");
    }
}

/// The watcher speaks in S-1 with the observer, who goes on from that with somebody outside it, and then this happens before
/// the watcher blocks it. What that somebody was asked, and the desk.
fn built(worker: &str, before: impl Fn(&mut Desk, &str)) -> (String, Desk) {
    let mut desk = babel();
    assert_eq!(desk.register("watcher", speaking(&[Format::Vlp]), Who::operator()), Ok(true));
    let within = |more: Value| {
        let mut members = json!({"session_id": "S-1", "sender": "watcher"});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        members
    };
    sent(&mut desk, "watcher", &vlp("notice", "NTC-1", "observer", None, within(json!({}))));
    sent(&mut desk, "observer", &vlp("query", "QRY-1", worker, Some("NTC-1"), json!({})));
    let asked = name(&last(&desk, worker));
    before(&mut desk, &asked);
    let stop = within(json!({"safety": {"level": "block"}}));
    sent(&mut desk, "watcher", &vlp("notice", "NTC-2", "observer", None, stop));
    (asked, desk)
}

#[test]
fn what_was_asked_in_another_dialect_and_goes_on_from_something_halted_is_not_answered() {
    let done = |asked: &str| cap("message", asked, "legation", json!({"content": "Five.", "final": true}));
    let (asked, mut desk) = built("analyst", |_, _| {});
    assert!(inbox(&desk, "analyst").iter().all(|left| name(left) != asked), "taken back");
    assert_eq!(refused(&desk.send(&done(&asked), by("analyst"))), Code::Halted);
    go_on(&mut desk);
    assert!(inbox(&desk, "analyst").iter().any(|left| name(left) == asked));
    sent(&mut desk, "analyst", &done(&asked));
    assert_eq!(last(&desk, "observer")["refers_to"], "QRY-1");
    folds_again(&desk);
}

#[test]
fn nobody_goes_on_from_an_answer_to_what_goes_on_from_something_halted() {
    let (_, mut desk) = built("analyst", |desk, asked| {
        sent(desk, "analyst", &cap("message", asked, "legation", json!({"content": "Five.", "final": true})));
        read_all(desk, "observer");
    });
    let is_answer = |entry: &&Entry| matches!(&entry.effect, Effect::Accepted(said) if said.kind == "response");
    let answer = desk.record.iter().find(is_answer).unwrap().position;
    let more = vlp("query", "QRY-2", "watcher", Some(&desk.id(answer)), json!({}));
    assert_eq!(refused(&desk.send(&more, by("observer"))), Code::Halted);
    // Nor from what it says in its own words.
    let original = desk.state.rules().translations.get(answer).unwrap().translation.original;
    for position in [answer, original] {
        let rests = json!({"provenance": [desk.digest(position)]});
        let claim = vlp("claim", "CLM-1", "watcher", None, rests);
        assert_eq!(refused(&desk.send(&claim, by("observer"))), Code::Halted, "{position}");
    }
    go_on(&mut desk);
    sent(&mut desk, "observer", &more);
}

#[test]
fn nobody_goes_on_from_what_names_an_answer_that_was_said_into_a_halted_session() {
    let (mut desk, _) = halted("analyst", |desk| {
        let asked = name(&last(desk, "analyst"));
        sent(desk, "analyst", &cap("message", &asked, "legation", json!({"content": "Five.", "final": true})));
        let answer = name(&last(desk, "observer"));
        sent(desk, "observer", &vlp("query", "QRY-2", "watcher", Some(&answer), json!({})));
    });
    let more = vlp("query", "QRY-3", "watcher", Some("QRY-2"), json!({}));
    assert_eq!(refused(&desk.send(&more, by("observer"))), Code::Halted);
    go_on(&mut desk);
    sent(&mut desk, "observer", &more);
}

#[test]
fn who_was_asked_in_another_dialect_what_goes_on_from_something_halted_is_told() {
    for worker in ["analyst", "ide"] {
        let (_, mut desk) = built(worker, |desk, _| read_all(desk, worker));
        let [told] = &inbox(&desk, worker)[..] else { panic!("one notice: {:?}", inbox(&desk, worker)) };
        let told = told.to_string();
        assert!(told.contains("reaches what you have taken") && !told.contains("S-1"), "{told}");
        go_on(&mut desk);
        assert!(last(&desk, worker).to_string().contains("lets go on what the halt stopped"), "{worker}");
    }
}

fn read_all(desk: &mut Desk, who: &str) {
    let (agent, positions) = (who.to_owned(), desk.waiting(who));
    desk.ask(Input::Acknowledge { agent, up_to: None, positions, who: Who::Agent(who.to_owned()) });
}

#[test]
fn whoever_answers_from_outside_is_not_told_the_name_of_what_is_halted() {
    let (asked, mut desk) = built("analyst", |_, _| {});
    let done = cap("message", &asked, "legation", json!({"content": "Five.", "final": true}));
    let verdict = desk.send(&done, by("analyst"));
    assert_eq!(refused(&verdict), Code::Halted);
    assert!(!format!("{verdict:?}").contains("S-1"), "{verdict:?}");
}
