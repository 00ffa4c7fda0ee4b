//! A parent answers and resumes by its token as it would by a message, and nobody else does.

use crate::desk::{Desk, accepted, agent, key, person, refused};
use crate::line::{CHILD, MIDDLE, OTHER, PARENT, TOP, id, line, saying};
use legation_exchange::rules::vcp::{Order, Stage, Standing};
use legation_exchange::{Directive, Effect, Input, Proof, Registration, Role, Said, Verdict, Who};
use legation_protocol::vcp::Payload;
use legation_protocol::{Code, Format};
use serde_json::{Value, json};

fn ordered(desk: &mut Desk, order: Order, who: Who) -> Verdict {
    desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who })
}

fn acks(desk: &mut Desk, escalation: &str, who: Who) -> Verdict {
    ordered(desk, Order::Acknowledge { escalation: escalation.to_owned() }, who)
}

fn resumes(desk: &mut Desk, child: &str, escalation: Option<&str>, who: Who) -> Verdict {
    let (agent, escalation, why) = (child.to_owned(), escalation.map(str::to_owned), "looked".to_owned());
    ordered(desk, Order::Resume { agent, escalation, why }, who)
}

fn alarmed(severity: &str) -> Desk {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, severity));
    desk
}

/// Who is behind the last change that no message made.
fn last_by(desk: &Desk) -> &str {
    let by = desk.record.iter().rev().find_map(|entry| match &entry.effect {
        Effect::Changed { by, .. } => Some(by.as_str()),
        _ => None,
    });
    by.unwrap()
}

#[test]
fn a_parent_acknowledges_by_its_token_and_its_child_hears_it() {
    let mut desk = alarmed("critical");
    for stranger in [CHILD, OTHER, MIDDLE, TOP] {
        assert_eq!(refused(&acks(&mut desk, &id(1), agent(stranger))), Code::AckUnmatched, "{stranger} was not told");
    }
    assert_eq!(refused(&acks(&mut desk, &id(1), person("rita", Role::Reviewer))), Code::NotAllowed);
    accepted(&acks(&mut desk, &id(1), agent(PARENT)));
    assert_eq!((desk.open()[0].stage, desk.open()[0].acked_by.as_deref()), (Stage::Answered, Some(PARENT)));
    assert_eq!(last_by(&desk), format!("agent {PARENT}"));
    let (envelope, _) = desk.propagated(CHILD).remove(0);
    let Payload::Escalation(ack) = &envelope.payload else { panic!("an acknowledgement") };
    assert_eq!(ack.reason, format!("ACK:{}", id(1)));
    assert_eq!(refused(&acks(&mut desk, &id(1), agent(PARENT))), Code::AckUnmatched, "once");
    desk.seconds(100);
    assert!(desk.propagated(MIDDLE).is_empty(), "the clock of the answer has stopped");
}

#[test]
fn one_further_above_acknowledges_once_it_was_told() {
    let mut desk = alarmed("critical");
    desk.seconds(5);
    let told = desk.propagated(MIDDLE).remove(0).0.message_id.to_string();
    accepted(&acks(&mut desk, &told, agent(MIDDLE)));
    assert_eq!(desk.open()[0].acked_by.as_deref(), Some(MIDDLE));
    desk.seconds(100);
    assert!(desk.propagated(TOP).is_empty());
}

#[test]
fn one_word_answers_both_that_one_message_told_of() {
    let mut desk = alarmed("critical");
    accepted(&saying(PARENT, MIDDLE, 2).alarms(&mut desk, "critical"));
    accepted(&acks(&mut desk, &id(2), agent(MIDDLE)));
    assert!(desk.open().iter().all(|alarm| alarm.stage == Stage::Answered) && desk.open().len() == 2);
}

#[test]
fn a_parent_resumes_by_its_token_and_nobody_else_does() {
    for severity in ["critical", "emergency"] {
        let mut desk = alarmed(severity);
        for stranger in [CHILD, OTHER, MIDDLE, TOP] {
            let itself = stranger == CHILD && severity == "emergency";
            let want = if itself { Code::AgentSuspended } else { Code::NotParent };
            assert_eq!(refused(&resumes(&mut desk, CHILD, Some(&id(1)), agent(stranger))), want, "{stranger}");
        }
        assert_eq!(refused(&resumes(&mut desk, CHILD, Some(&id(9)), agent(PARENT))), Code::UnknownEscalation);
        assert_eq!(refused(&resumes(&mut desk, OTHER, Some(&id(1)), agent(PARENT))), Code::UnknownEscalation);
        accepted(&resumes(&mut desk, CHILD, None, agent(PARENT)));
        assert_eq!((desk.standing(CHILD), last_by(&desk)), (Standing::Running, &*format!("agent {PARENT}")));
        let closed = desk.state.rules().vcp.alarms.closed().next().unwrap().1.closed.clone();
        assert_eq!(closed.unwrap().0, PARENT);
    }
}

#[test]
fn of_several_a_parent_names_one_and_an_operators_word_stays() {
    let mut desk = alarmed("critical");
    accepted(&saying(CHILD, PARENT, 2).alarms(&mut desk, "critical"));
    assert_eq!(refused(&resumes(&mut desk, CHILD, None, agent(PARENT))), Code::AmbiguousReference);
    accepted(&resumes(&mut desk, CHILD, Some(&id(1)), agent(PARENT)));
    assert_eq!(desk.standing(CHILD), Standing::Paused);
    let stop = Order::Suspend { agent: CHILD.to_owned(), why: "odd".to_owned() };
    accepted(&ordered(&mut desk, stop, Who::operator()));
    accepted(&resumes(&mut desk, CHILD, None, agent(PARENT)));
    assert_eq!(desk.standing(CHILD), Standing::Suspended);
    assert_eq!(refused(&resumes(&mut desk, CHILD, None, agent(PARENT))), Code::UnknownEscalation);
    accepted(&resumes(&mut desk, CHILD, None, Who::operator()));
    assert_eq!(desk.standing(CHILD), Standing::Running);
}

#[test]
fn a_suspended_parent_orders_nothing() {
    let mut desk = alarmed("critical");
    let stop = Order::Suspend { agent: PARENT.to_owned(), why: "odd".to_owned() };
    accepted(&ordered(&mut desk, stop, Who::operator()));
    assert_eq!(refused(&acks(&mut desk, &id(1), agent(PARENT))), Code::AgentSuspended);
    assert_eq!(refused(&resumes(&mut desk, CHILD, None, agent(PARENT))), Code::AgentSuspended);
}

#[test]
fn a_parent_that_speaks_no_vcp_answers_what_it_was_told_in_its_own() {
    let mut desk = Desk::new();
    let boss = Registration { dialects: Some([Format::Cap].into()), ..Registration::default() };
    assert_eq!(desk.register("boss", boss, Who::operator()), Ok(true));
    desk.signing_agent("agent://test/kid", 7);
    let below = Registration { parent: Said::To("boss".to_owned()), ..Registration::default() };
    assert_eq!(desk.register("agent://test/kid", below, Who::operator()), Ok(false));
    let alarm = json!({
        "vcp_message": "1.2", "type": "escalation", "message_id": id(1), "sender": "agent://test/kid", "recipient": "boss",
        "timestamp": desk.now.to_string(),
        "payload": {"severity": "critical", "reason": "Smoke.", "context": "⏰🌅|📍🏡", "requires_ack": true},
    });
    accepted(&desk.send(&alarm.to_string(), Proof::Signature(key(7).public())));
    let first = desk.waiting("boss")[0];
    let heard: Value =
        serde_json::from_slice(desk.record[usize::try_from(first).unwrap()].body.as_ref().unwrap()).unwrap();
    assert_eq!((&heard["type"], &heard["error_code"]), (&json!("error_response"), &json!(423)));
    accepted(&acks(&mut desk, heard["message_id"].as_str().unwrap(), agent("boss")));
    accepted(&resumes(&mut desk, "agent://test/kid", None, agent("boss")));
    assert_eq!(desk.standing("agent://test/kid"), Standing::Running);
}
