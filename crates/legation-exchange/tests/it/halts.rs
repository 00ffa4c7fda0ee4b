//! How much one sender halts by a `block`, and the escalation that comes of it (VLP VI, rule 4).

use crate::desk::{Desk, accepted, refused};
use crate::line::{CHILD, EXCHANGE, MIDDLE, OTHER, PARENT, TOP, line, saying};
use crate::references::let_many_go_by;
use crate::vlp::{held, three};
use legation_exchange::rules::vcp::{Order as AlarmOrder, Stage, Standing};
use legation_exchange::rules::vlp::Order;
use legation_exchange::{Directive, Input, Kind, Registration, Said, Verdict, Who};
use legation_protocol::Code;
use legation_protocol::vcp::Payload;
use serde_json::{Value, json};
use std::time::Duration;

fn release(desk: &mut Desk, session: &str) -> Verdict {
    let order = Order::Release { session: session.to_owned(), why: "looked at it".to_owned() };
    desk.ask(Input::Order { order: Box::new(Directive::Vlp(order)), who: Who::operator() })
}

/// A block to somebody, with these members beside.
fn block(to: &str, more: &Value) -> Value {
    let mut members = json!({"safety": {"level": "block"}, "receiver": to});
    members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    members
}

#[test]
fn what_one_sender_blocks_outside_sessions_is_one_halt() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-0", &json!({"receiver": "bob"})));
    let first = accepted(&desk.say("notice", "ann", "MSG-1", &block("bob", &json!({}))));
    let told = desk.told("bob").len();
    accepted(&desk.say("notice", "ann", "MSG-2", &block("cat", &json!({"refers_to": "MSG-0"}))));
    let sessions = &desk.state.rules().vlp.sessions;
    assert!(sessions.after(None).map(|(id, _)| id).eq([format!("message {first}")]));
    assert!(sessions.after(None).all(|(_, session)| session.parties.keys().eq(["ann", "bob"])), "cat is no party");
    assert_eq!(desk.told("bob").len(), told + 1, "of what was said to it, and not of what cat got");
    for named in ["MSG-0", "MSG-1", "MSG-2"] {
        let reply = json!({"receiver": "ann", "refers_to": named});
        assert_eq!(refused(&desk.say("response", "cat", "MSG-3", &reply)), Code::Halted, "{named}");
    }
    accepted(&release(&mut desk, &format!("message {first}")));
    assert!(desk.told("cat").last().unwrap()["content"].as_str().unwrap().contains("go on"));
    accepted(&desk.say("response", "cat", "MSG-3", &json!({"receiver": "ann", "refers_to": "MSG-2"})));
    // The next is another halt.
    let next = accepted(&desk.say("notice", "ann", "MSG-4", &block("bob", &json!({}))));
    assert!(desk.state.rules().vlp.sessions.get(&format!("message {next}")).is_some());
}

#[test]
fn one_agent_switches_block_off_for_itself_alone() {
    let mut desk = three();
    let outside = block("bob", &json!({}));
    for number in 0..1024 {
        accepted(&desk.say("notice", "ann", &format!("OUT-{number}"), &outside));
    }
    assert_eq!(refused(&desk.say("notice", "ann", "OUT-1024", &outside)), Code::RateLimited);
    let within = |number: usize| block("bob", &json!({"session_id": format!("S-{number}")}));
    for number in 1..desk.policy.shares.halts {
        accepted(&desk.say("notice", "ann", "MSG-1", &within(number)));
    }
    assert_eq!(refused(&desk.say("notice", "ann", "MSG-1", &within(99))), Code::RateLimited);
    assert_eq!(desk.state.rules().vlp.sessions.halted_by("ann").count(), desk.policy.shares.halts);
    // Others are not asked how much ann has halted.
    accepted(&desk.say("notice", "cat", "MSG-1", &within(99)));
    accepted(&desk.say("notice", "cat", "MSG-2", &outside));
    // A person makes room.
    accepted(&release(&mut desk, "S-1"));
    accepted(&desk.say("notice", "ann", "MSG-1", &within(100)));
}

#[test]
fn a_closed_session_that_is_halted_is_closed_when_it_is_released() {
    let mut desk = three();
    let last = block("bob", &json!({"session_id": "S-1"}));
    accepted(&desk.say("session_context", "ann", "CTX-1", &last));
    accepted(&release(&mut desk, "S-1"));
    let more = json!({"receiver": "bob", "session_id": "S-1"});
    assert_eq!(refused(&desk.say("claim", "ann", "MSG-1", &more)), Code::SessionClosed);
}

#[test]
fn a_block_takes_back_what_waits_however_much_was_said_since() {
    let mut desk = three();
    let within = json!({"receiver": "bob", "session_id": "S-1"});
    let old = accepted(&desk.say("claim", "ann", "MSG-1", &within));
    let review = json!({"receiver": "bob", "session_id": "S-1", "safety": {"level": "review"}});
    let looked_at = held(&desk.say("claim", "ann", "MSG-2", &review));
    let other = accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-2"})));
    accepted(&desk.say("claim", "cat", "MSG-9", &json!({"receiver": "ann"})));
    let_many_go_by(&mut desk);
    // What a snapshot tells is the same.
    desk.state = legation_exchange::State::from_bytes(&desk.state.to_bytes()).unwrap();
    assert_eq!(desk.waiting("bob"), [old, other]);
    accepted(&desk.say("notice", "bob", "MSG-3", &block("ann", &json!({"session_id": "S-1"}))));
    assert_eq!(desk.waiting("bob"), [other]);
    assert_eq!(desk.state.rules().holds.get(looked_at).unwrap().reasons.len(), 2);
    accepted(&release(&mut desk, "S-1"));
    desk.passes(Duration::ZERO);
    assert_eq!(desk.waiting("bob").len(), 3, "the other one, the old one and a word that it goes on");
    // What went on once is taken back as before.
    accepted(&desk.say("notice", "bob", "MSG-4", &block("ann", &json!({"session_id": "S-1"}))));
    assert!(desk.state.rules().holds.get(old).is_some());
}

#[test]
fn what_goes_on_from_a_halted_session_and_is_on_its_way_is_taken_back() {
    let mut desk = three();
    desk.agent("dan");
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-1"})));
    accepted(&desk.say("claim", "ann", "OWN-1", &json!({"receiver": "dan"})));
    let refer = |to: &str, named: &str| json!({"receiver": to, "refers_to": named, "provenance": ["log"]});
    let read = accepted(&desk.say("evidence", "bob", "EVD-0", &refer("dan", "MSG-1")));
    let stranger = accepted(&desk.say("evidence", "ann", "EVD-9", &refer("dan", "OWN-1")));
    desk.ask(Input::Acknowledge {
        agent: "dan".to_owned(),
        up_to: None,
        positions: vec![read],
        who: Who::Agent("dan".to_owned()),
    });
    let direct = accepted(&desk.say("evidence", "bob", "EVD-1", &refer("cat", "MSG-1")));
    let over = accepted(&desk.say("evidence", "dan", "EVD-2", &refer("cat", "EVD-0")));
    assert_eq!(desk.waiting("cat"), [direct, over]);
    accepted(&desk.say("notice", "ann", "MSG-2", &block("bob", &json!({"session_id": "S-1"}))));
    let waits = |desk: &Desk, message: u64| desk.state.rules().holds.get(message).is_some();
    assert!(waits(&desk, direct) && waits(&desk, over));
    assert!(!waits(&desk, stranger) && desk.waiting("dan").contains(&stranger));
    accepted(&release(&mut desk, "S-1"));
    desk.passes(Duration::ZERO);
    assert!(!waits(&desk, direct) && !waits(&desk, over));
}

#[test]
fn another_block_is_delivered_whatever_it_goes_on_from() {
    let mut desk = three();
    accepted(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "session_id": "S-1"})));
    accepted(&desk.say("query", "bob", "MSG-2", &json!({"receiver": "ann", "session_id": "S-1"})));
    let early = block("cat", &json!({"refers_to": "MSG-2", "session_id": "S-2"}));
    let early = accepted(&desk.say("notice", "ann", "MSG-3", &early));
    accepted(&desk.say("notice", "bob", "MSG-4", &block("ann", &json!({"session_id": "S-1"}))));
    assert!(desk.waiting("cat").contains(&early));
}

#[test]
fn what_reached_nobody_is_not_sent_again_while_it_is_halted() {
    let mut desk = three();
    let within = json!({"receiver": "bob", "session_id": "S-1"});
    let letter = accepted(&desk.say("claim", "ann", "MSG-1", &within));
    let plain = accepted(&desk.say("claim", "ann", "MSG-2", &json!({"receiver": "bob"})));
    desk.passes(desk.policy.time_to_live);
    assert_eq!(desk.state.dead_letters().len(), 2);
    accepted(&desk.say("notice", "ann", "MSG-3", &block("bob", &json!({"session_id": "S-1"}))));
    let resend = |desk: &mut Desk, at: u64| {
        let who = Who::Agent("bob".to_owned());
        desk.ask(Input::Resend { agent: "bob".to_owned(), positions: vec![at], who })
    };
    assert_eq!(refused(&resend(&mut desk, letter)), Code::Halted);
    accepted(&resend(&mut desk, plain));
    accepted(&release(&mut desk, "S-1"));
    accepted(&resend(&mut desk, letter));
    // It is of the session still.
    accepted(&desk.say("notice", "ann", "MSG-4", &block("bob", &json!({"session_id": "S-1"}))));
    assert!(desk.state.rules().holds.get(letter).is_some());
}

/// A child in the line of agents has blocked a session with another.
fn blocked() -> Desk {
    let mut desk = line();
    accepted(&desk.say("notice", CHILD, "MSG-1", &block(OTHER, &json!({"session_id": "S-1"}))));
    desk
}

#[test]
fn the_escalation_of_a_block_is_one_and_stops_nobody() {
    let mut desk = blocked();
    let [alarm] = desk.open()[..] else { panic!("one escalation") };
    assert_eq!((alarm.from.as_str(), alarm.session.as_deref(), alarm.wants_ack), (CHILD, Some("S-1"), true));
    assert_eq!((desk.standing(CHILD), desk.standing(PARENT)), (Standing::Running, Standing::Running));
    let said = desk.propagated(PARENT)[0].0.message_id.to_string();
    assert_eq!(said, alarm.id);
    // Whoever was told answers the exchange, once.
    assert_eq!(refused(&saying(MIDDLE, EXCHANGE, 1).acks(&mut desk, "critical", &said)), Code::AckUnmatched);
    accepted(&saying(PARENT, EXCHANGE, 2).acks(&mut desk, "critical", &said));
    assert_eq!(refused(&saying(PARENT, EXCHANGE, 3).acks(&mut desk, "critical", &said)), Code::AckUnmatched);
    desk.seconds(299);
    assert!(desk.propagated(MIDDLE).is_empty());
    // Answered is not dealt with; a rule that names it is.
    accepted(&saying(PARENT, CHILD, 4).rules(&mut desk, "look_into", &format!(r#"{{"escalation_id":"{said}"}}"#)));
    desk.seconds(1000);
    assert_eq!((desk.propagated(MIDDLE).len(), desk.open()[0].stage), (0, Stage::Handled));
    // It is over with the halt.
    accepted(&release(&mut desk, "S-1"));
    assert!(desk.open().is_empty());
}

#[test]
fn the_escalation_of_a_block_climbs_until_somebody_answers() {
    let mut desk = blocked();
    desk.passes(Duration::from_micros(4_999_999));
    assert!(desk.propagated(MIDDLE).is_empty());
    desk.passes(Duration::from_micros(1));
    let Payload::Escalation(said) = &desk.propagated(MIDDLE)[0].0.payload else { panic!("an escalation") };
    assert!(said.reason.starts_with("PROPAGATED:") && said.reason.contains("blocked the session"), "{}", said.reason);
    desk.seconds(5);
    assert_eq!(desk.propagated(TOP).len(), 1);
    desk.seconds(5);
    assert_eq!(desk.alerts(Kind::EscalationUnanswered), 1);
    desk.seconds(1000);
    assert_eq!((desk.propagated(MIDDLE).len(), desk.alerts(Kind::EscalationUnanswered)), (1, 1));
    let order = AlarmOrder::Acknowledge { escalation: desk.open()[0].id.clone() };
    accepted(&desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who: Who::operator() }));
    assert!(desk.propagated(CHILD).is_empty(), "it has sent nothing that could be answered");
}

#[test]
fn a_halt_has_one_escalation_and_a_parents_resume_ends_that_alone() {
    let mut desk = line();
    let block = block(OTHER, &json!({}));
    let first = accepted(&desk.say("notice", CHILD, "MSG-1", &block));
    accepted(&desk.say("notice", CHILD, "MSG-2", &block));
    assert_eq!((desk.open().len(), desk.propagated(PARENT).len()), (1, 1));
    assert_eq!(desk.notices(PARENT), ["halted"], "of the second it is told");
    let raised = desk.open()[0].id.clone();
    accepted(&saying(PARENT, CHILD, 1).rules(&mut desk, "resume", &format!(r#"{{"escalation_id":"{raised}"}}"#)));
    assert!(desk.open().is_empty());
    let session = format!("message {first}");
    assert!(desk.state.rules().vlp.sessions.get(&session).unwrap().halted.is_some(), "a person releases it");
    accepted(&desk.say("notice", CHILD, "MSG-3", &block));
    assert_eq!(desk.open().len(), 1);
}

#[test]
fn a_block_climbs_past_a_parent_that_has_no_name_in_vcp() {
    let mut desk = Desk::new();
    desk.agent("agent://h/root");
    for (id, parent) in [("mid", "agent://h/root"), ("ann", "mid")] {
        let below = Registration { parent: Said::To(parent.to_owned()), ..Registration::default() };
        desk.register(id, below, Who::operator()).unwrap();
    }
    desk.agent("bob");
    accepted(&desk.say("notice", "ann", "MSG-1", &block("bob", &json!({"session_id": "S-1"}))));
    assert_eq!(desk.open().len(), 1);
    desk.seconds(5);
    let [(envelope, _)] = &desk.propagated("agent://h/root")[..] else { panic!("one alarm") };
    let Payload::Escalation(said) = &envelope.payload else { panic!("an escalation") };
    assert!(said.reason.contains("blocked the session \"S-1\""), "{}", said.reason);
}
