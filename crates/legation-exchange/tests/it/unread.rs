//! Unread mail of all mailboxes together: its limit, the shares of quota families, and counts that follow the record.

use crate::desk::{Desk, accepted, agent, by, claim, key, refused, share};
use crate::line::{CHILD, PARENT, line, saying};
use legation_exchange::{Input, Proof, Registration, State, Who};
use legation_protocol::Code;
use proptest::prelude::*;

/// A message that an agent may send to anybody.
fn send(desk: &mut Desk, from: &str, to: &str, number: usize) -> Result<u64, Code> {
    match desk.send(&claim(from, to, &format!("MSG-{from}-{number}"), "x"), by(from)) {
        legation_exchange::Verdict::Refused(rejection) => Err(rejection.code()),
        verdict => Ok(accepted(&verdict)),
    }
}

fn stranger(desk: &mut Desk, id: &str, source: &str) {
    let wanted = Registration { source: Some(source.to_owned()), ..Registration::default() };
    assert_eq!(desk.register(id, wanted, Who::Nobody), Ok(true), "{id}");
}

fn child(desk: &mut Desk, parent: &str, id: &str) {
    let wanted = Registration { parent: Some(parent.to_owned()).into(), ..Registration::default() };
    assert_eq!(desk.register(id, wanted, agent(parent)), Ok(true), "{id}");
}

fn with_limit(limit: u64) -> Desk {
    let mut desk = Desk::new();
    desk.policy.unread_limit = limit;
    for id in ["hog", "polite", "sink", "other"] {
        desk.agent(id);
    }
    desk
}

#[test]
fn a_family_that_fills_the_mailboxes_is_refused_and_others_are_not() {
    let mut desk = with_limit(40);
    let sent = (0..40).take_while(|number| send(&mut desk, "hog", "sink", *number).is_ok()).count();
    assert_eq!(sent, 20, "half of the limit is for whoever comes");
    assert_eq!(send(&mut desk, "hog", "sink", 99), Err(Code::MailboxFull));
    // Two families have ten each of the other half.
    for number in 0..10 {
        send(&mut desk, "polite", "sink", number).unwrap();
    }
    assert_eq!(send(&mut desk, "polite", "sink", 99), Err(Code::MailboxFull));
    send(&mut desk, "other", "sink", 0).unwrap();
    // What is read makes room.
    let up_to = desk.waiting("sink")[14];
    accepted(&desk.ask(Input::Acknowledge {
        agent: "sink".to_owned(),
        up_to: Some(up_to),
        positions: Vec::new(),
        who: agent("sink"),
    }));
    send(&mut desk, "hog", "sink", 100).unwrap();
}

#[test]
fn children_share_what_their_family_may_have_unread() {
    let mut desk = with_limit(40);
    for number in 0..4 {
        child(&mut desk, "hog", &format!("child-{number}"));
    }
    let mut sent = 0;
    for number in 0..10 {
        for sender in ["hog", "child-0", "child-1", "child-2", "child-3"] {
            sent += usize::from(send(&mut desk, sender, "sink", number).is_ok());
        }
    }
    assert_eq!(sent, 20);
    send(&mut desk, "polite", "sink", 0).unwrap();
    // One who was removed leaves what it sent to its family.
    accepted(&desk.ask(Input::Remove { id: "child-0".to_owned(), who: Who::operator() }));
    child(&mut desk, "hog", "child-9");
    assert_eq!(send(&mut desk, "child-9", "sink", 0), Err(Code::MailboxFull));
}

#[test]
fn strangers_of_one_address_share_what_they_may_have_unread() {
    let mut desk = with_limit(40);
    desk.policy.open_registration = true;
    for number in 0..4 {
        stranger(&mut desk, &format!("stranger-{number}"), "192.0.2.7");
    }
    stranger(&mut desk, "elsewhere", "192.0.2.8");
    let sent =
        (0..40).filter(|number| send(&mut desk, &format!("stranger-{}", number % 4), "sink", *number).is_ok()).count();
    assert_eq!(sent, 20);
    send(&mut desk, "elsewhere", "sink", 0).unwrap();
}

#[test]
fn a_message_to_many_counts_once_for_each_of_them() {
    let mut desk = with_limit(7);
    desk.signing_agent("agent://h/hog", 1);
    let text = share("agent://h/hog", "broadcast", "2026-02-15T10:30:00Z");
    let proof = || Proof::Signature(key(1).public());
    // There are four others, and half of seven is three.
    assert_eq!(refused(&desk.send(&text, proof())), Code::MailboxFull);
    assert!(desk.state.unread() == 0 && desk.waiting("sink").is_empty());
    desk.policy.unread_limit = 8;
    accepted(&desk.send(&text, proof()));
    assert_eq!(desk.state.unread(), 4);
}

#[test]
fn an_alarm_finds_room_whatever_is_unread() {
    let mut desk = line();
    desk.policy.unread_limit = 0;
    assert_eq!(send(&mut desk, CHILD, PARENT, 0), Err(Code::MailboxFull));
    accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "critical"));
}

#[derive(Clone, Debug)]
enum Step {
    Register { id: usize, parent: Option<usize>, source: Option<usize> },
    Move { id: usize, parent: Option<usize> },
    Remove(usize),
    Send { from: usize, to: usize },
    Read { id: usize, count: usize },
    Expire,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let id = || 0..8usize;
    let step = prop_oneof![
        3 => (id(), prop::option::of(id()), prop::option::of(0..2usize))
            .prop_map(|(id, parent, source)| Step::Register { id, parent, source }),
        1 => (id(), prop::option::of(id())).prop_map(|(id, parent)| Step::Move { id, parent }),
        1 => id().prop_map(Step::Remove),
        8 => (id(), id()).prop_map(|(from, to)| Step::Send { from, to }),
        2 => (id(), 1..5usize).prop_map(|(id, count)| Step::Read { id, count }),
        1 => Just(Step::Expire),
    ];
    prop::collection::vec(step, 0..80)
}

fn apply(desk: &mut Desk, number: usize, step: &Step) {
    let name = |id: usize| format!("agent-{id}");
    let placed = |parent: Option<usize>| Registration { parent: parent.map(name).into(), ..Registration::default() };
    match *step {
        Step::Register { id, parent: Some(parent), .. } => {
            let _ = desk.register(&name(id), placed(Some(parent)), agent(&name(parent)));
        }
        Step::Register { id, source: Some(source), .. } => {
            let wanted = Registration { source: Some(format!("192.0.2.{source}")), ..Registration::default() };
            let _ = desk.register(&name(id), wanted, Who::Nobody);
        }
        Step::Register { id, .. } => drop(desk.register(&name(id), Registration::default(), Who::operator())),
        Step::Move { id, parent } => {
            if desk.state.registry().agent(&name(id)).is_some() {
                let _ = desk.register(&name(id), placed(parent), Who::operator());
            }
        }
        Step::Remove(id) => drop(desk.ask(Input::Remove { id: name(id), who: Who::operator() })),
        Step::Send { from, to } if from == to => {}
        Step::Send { from, to } => drop(send(desk, &name(from), &name(to), number)),
        Step::Read { id, count } => {
            let Some(up_to) = desk.waiting(&name(id)).get(count - 1).copied() else { return };
            let (agent, who) = (name(id), agent(&name(id)));
            drop(desk.ask(Input::Acknowledge { agent, up_to: Some(up_to), positions: Vec::new(), who }));
        }
        Step::Expire => desk.passes(desk.policy.time_to_live),
    }
}

proptest! {
    #[test]
    fn counts_of_unread_mail_are_those_of_the_mailboxes_whatever_happens(steps in steps()) {
        let mut desk = Desk::new();
        desk.policy.open_registration = true;
        desk.policy.unread_limit = 40;
        for (number, step) in steps.iter().enumerate() {
            apply(&mut desk, number, step);
            let waiting: u64 = desk.state.mailboxes().map(|(_, mailbox)| mailbox.len() as u64).sum();
            prop_assert_eq!(desk.state.unread(), waiting);
            prop_assert!(waiting <= 40);
        }
        // A start counts anew what the snapshot holds, by sender and by family too.
        let read = State::from_bytes(&desk.state.to_bytes()).unwrap();
        prop_assert!(read.for_readers() == desk.state.for_readers());
    }
}
