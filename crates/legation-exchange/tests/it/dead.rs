//! Letters that reach nobody: why, who sends them again, and mailboxes emptied unread.

use crate::desk::{Desk, accepted, agent, by, cap, claim, key, person, refused, share};
use crate::line::{CHILD, MIDDLE, PARENT, TOP, id, line, saying};
use legation_exchange::{Effect, Entry, Input, Proof, Role, State, Verdict, Who, Why};
use legation_protocol::Code;
use std::time::Duration;

fn pair() -> Desk {
    let mut desk = Desk::new();
    desk.agent("observer");
    desk.agent("archivist");
    desk
}

fn send(desk: &mut Desk, id: &str) -> u64 {
    accepted(&desk.send(&claim("observer", "archivist", id, id), by("observer")))
}

fn listed(desk: &Desk) -> Vec<(u64, String, u64, Why)> {
    let letters = desk.state.dead_letters().after(None);
    letters.map(|(position, agent, letter)| (position, agent.to_owned(), letter.message, letter.why)).collect()
}

fn resend(desk: &mut Desk, positions: &[u64], who: Who) -> Verdict {
    desk.ask(Input::Resend { agent: "archivist".to_owned(), positions: positions.to_vec(), who })
}

fn remove(desk: &mut Desk) {
    accepted(&desk.ask(Input::Remove { id: "archivist".to_owned(), who: Who::operator() }));
}

#[test]
fn a_letter_that_waited_too_long_is_listed_and_can_be_sent_again() {
    let mut desk = pair();
    let position = send(&mut desk, "MSG001");
    desk.passes(desk.policy.time_to_live);
    assert!(desk.waiting("archivist").is_empty());
    assert_eq!(listed(&desk), [(position, "archivist".to_owned(), position, Why::Expired)]);
    let again = accepted(&resend(&mut desk, &[position], agent("archivist")));
    assert!(again > position);
    assert_eq!(desk.waiting("archivist"), [again]);
    assert!(listed(&desk).is_empty());
    // It waits its whole time again, and what dies twice is listed by where it was routed last.
    desk.passes(desk.policy.time_to_live.checked_sub(Duration::from_secs(1)).unwrap());
    assert_eq!(desk.waiting("archivist"), [again]);
    desk.passes(Duration::from_secs(1));
    assert_eq!(listed(&desk), [(again, "archivist".to_owned(), position, Why::Expired)]);
}

#[test]
fn a_letter_that_no_suspension_stops_is_sent_again_with_null() {
    let mut desk = pair();
    // A person's words are stopped by no agent's suspension.
    let words = cap("user", "archivist", "m-1");
    let position = accepted(&desk.send(&words, Proof::Bearer(Who::operator())));
    desk.passes(desk.policy.time_to_live);
    accepted(&resend(&mut desk, &[position], Who::operator()));
    let Entry { effect, .. } = desk.record.last().unwrap();
    let written = String::from_utf8(effect.to_json().unwrap()).unwrap();
    assert!(written.contains(r#""from":null"#), "{written}");
    // Older entries have a number in its place, or nothing.
    let older = written.replace(r#""from":null"#, r#""from":18446744073709551615"#);
    assert_eq!(Effect::read(older.as_bytes()).unwrap(), *effect);
    let older = written.replace(r#","from":null"#, "");
    assert_eq!(Effect::read(older.as_bytes()).unwrap(), *effect);
}

#[test]
fn what_waited_for_an_agent_that_was_removed_is_listed() {
    let mut desk = pair();
    let positions = [send(&mut desk, "MSG001"), send(&mut desk, "MSG002")];
    remove(&mut desk);
    assert_eq!(
        listed(&desk).iter().map(|letter| (letter.0, letter.3)).collect::<Vec<_>>(),
        [(positions[0], Why::Removed), (positions[1], Why::Removed)]
    );
    assert_eq!(refused(&resend(&mut desk, &positions, Who::operator())), Code::UnknownAgent);
    desk.agent("archivist");
    assert!(desk.waiting("archivist").is_empty(), "a new agent inherits nothing by itself");
    let first = accepted(&resend(&mut desk, &positions, Who::operator()));
    assert_eq!(desk.waiting("archivist"), [first, first + 1]);
}

#[test]
fn a_broadcast_passes_a_full_mailbox_by_and_the_letter_is_listed() {
    let mut desk = Desk::new();
    desk.signing_agent("agent://h/a", 1);
    desk.agent("agent://h/full");
    desk.agent("agent://h/free");
    desk.policy.mailbox_limit = 1;
    let fill = claim("agent://h/free", "agent://h/full", "MSG001", "x");
    accepted(&desk.send(&fill, by("agent://h/free")));
    let text = share("agent://h/a", "broadcast", "2026-02-15T10:30:00Z");
    let position = accepted(&desk.send(&text, Proof::Signature(key(1).public())));
    assert_eq!(desk.waiting("agent://h/free"), [position]);
    assert_eq!(listed(&desk), [(position, "agent://h/full".to_owned(), position, Why::MailboxFull)]);
    let again = Input::Resend { agent: "agent://h/full".to_owned(), positions: vec![position], who: Who::operator() };
    assert_eq!(refused(&desk.ask(again.clone())), Code::MailboxFull);
    let purge = Input::Purge { agent: "agent://h/full".to_owned(), up_to: None, who: Who::operator() };
    accepted(&desk.ask(purge));
    accepted(&desk.ask(again));
    assert_eq!(desk.waiting("agent://h/full").len(), 1);
}

#[test]
fn letters_are_sent_again_by_those_they_were_for() {
    let mut desk = pair();
    let position = send(&mut desk, "MSG001");
    desk.passes(desk.policy.time_to_live);
    for (who, want) in [
        (Who::Nobody, Code::Unauthenticated),
        (agent("observer"), Code::NotAllowed),
        (person("rita", Role::Reviewer), Code::NotAllowed),
        (person("anna", Role::Auditor), Code::NotAllowed),
    ] {
        assert_eq!(refused(&resend(&mut desk, &[position], who.clone())), want, "{who}");
    }
    for (positions, want) in [
        (vec![], Code::OutOfRange),
        (vec![position; 1001], Code::OutOfRange),
        (vec![position + 1], Code::NotFound),
        (vec![position, u64::MAX], Code::NotFound),
    ] {
        assert_eq!(refused(&resend(&mut desk, &positions, Who::operator())), want, "{}", positions.len());
        assert!(desk.waiting("archivist").is_empty(), "all of them or none");
    }
    let again = accepted(&resend(&mut desk, &[position, position], Who::operator()));
    assert_eq!(desk.waiting("archivist"), [again], "named twice, sent once");
    assert_eq!(refused(&resend(&mut desk, &[position], Who::operator())), Code::NotFound);
}

#[test]
fn a_mailbox_is_emptied_unread_by_operators_alone() {
    let mut desk = pair();
    let positions = [send(&mut desk, "MSG001"), send(&mut desk, "MSG002"), send(&mut desk, "MSG003")];
    let purge = |desk: &mut Desk, up_to, who| desk.ask(Input::Purge { agent: "archivist".to_owned(), up_to, who });
    for who in [agent("archivist"), person("anna", Role::Auditor), Who::Nobody] {
        assert_eq!(refused(&purge(&mut desk, None, who)), Code::NotAllowed);
    }
    accepted(&purge(&mut desk, Some(positions[0]), Who::operator()));
    assert_eq!(desk.waiting("archivist"), positions[1..]);
    accepted(&purge(&mut desk, None, Who::operator()));
    assert!(desk.waiting("archivist").is_empty());
    assert!(listed(&desk).is_empty(), "what was thrown away is not listed");
    let nemo = Input::Purge { agent: "nemo".to_owned(), up_to: None, who: Who::operator() };
    assert_eq!(refused(&desk.ask(nemo)), Code::UnknownAgent);
}

#[test]
fn the_list_goes_on_after_one_of_many_letters_at_a_position() {
    let mut desk = Desk::new();
    desk.signing_agent("agent://h/a", 1);
    for name in ["b", "c", "d"] {
        desk.agent(&format!("agent://h/{name}"));
    }
    desk.policy.mailbox_limit = 0;
    let text = share("agent://h/a", "broadcast", "2026-02-15T10:30:00Z");
    let position = accepted(&desk.send(&text, Proof::Signature(key(1).public())));
    let rest = desk.state.dead_letters().beyond(position, "agent://h/b");
    assert_eq!(rest.map(|(_, agent, _)| agent).collect::<Vec<_>>(), ["agent://h/c", "agent://h/d"]);
    assert_eq!(desk.state.dead_letters().after(Some(position)).count(), 0);
}

/// What waits for somebody, by the entry that holds it.
fn letters(desk: &Desk, agent: &str) -> Vec<u64> {
    let items = desk.state.mailbox(agent).unwrap().after(None);
    items.map(|item| item.message).collect()
}

fn expire(desk: &mut Desk) {
    desk.passes(desk.policy.time_to_live);
}

#[test]
fn a_constraint_or_an_escalation_that_reaches_nobody_climbs_above_its_sender() {
    // VCP 5.2
    let constraint = |desk: &mut Desk| saying(PARENT, CHILD, 1).rules(desk, "token_limit", "100");
    let escalation = |desk: &mut Desk| saying(CHILD, PARENT, 1).escalates(desk, "warning", "hm", false);
    for send in [&constraint as &dyn Fn(&mut Desk) -> Verdict, &escalation] {
        let mut desk = line();
        let position = accepted(&send(&mut desk));
        expire(&mut desk);
        assert_eq!(letters(&desk, MIDDLE)[0], position);
        assert_eq!(desk.notices(MIDDLE), ["undelivered"]);
        assert!(letters(&desk, TOP).is_empty());
        assert_eq!(listed(&desk).len(), 1, "it stays listed");
        expire(&mut desk);
        assert_eq!(letters(&desk, TOP)[0], position);
        assert_eq!(desk.notices(TOP), ["undelivered"]);
        expire(&mut desk);
        assert_eq!((desk.notices(MIDDLE).len(), desk.notices(TOP).len()), (1, 1), "and then it is the operator's");
        let mut folded = State::deciding();
        for entry in &desk.record {
            let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
            folded.apply(&Entry { effect, body: None, ..entry.clone() });
        }
        assert_eq!(folded.rules(), desk.state.rules());
        assert_eq!(State::from_bytes(&folded.to_bytes()).unwrap().rules(), desk.state.rules());
    }
}

#[test]
fn what_waited_for_whom_was_removed_climbs_too() {
    let mut desk = line();
    let position = accepted(&saying(MIDDLE, PARENT, 1).rules(&mut desk, "token_limit", "100"));
    accepted(&desk.ask(Input::Remove { id: PARENT.to_owned(), who: Who::operator() }));
    desk.passes(Duration::ZERO);
    assert_eq!(letters(&desk, TOP)[0], position);
}

#[test]
fn what_was_dealt_with_or_does_not_matter_for_safety_stays_where_it_died() {
    let mut desk = line();
    accepted(&saying(CHILD, PARENT, 1).escalates(&mut desk, "warning", "hm", false));
    accepted(&saying(PARENT, CHILD, 2).acks(&mut desk, "warning", &id(1)));
    accepted(&saying(PARENT, CHILD, 3).shares(&mut desk));
    expire(&mut desk);
    assert_eq!(listed(&desk).len(), 3);
    assert!(letters(&desk, MIDDLE).is_empty());
}
