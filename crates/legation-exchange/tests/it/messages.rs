//! Which messages are taken, and whom they reach.

use crate::desk::{Desk, accepted, by, claim, key, refused, share};
use legation_exchange::{Input, Proof, Registration, Said, Verdict, Who};
use legation_protocol::Code;
use std::time::Duration;

fn pair() -> Desk {
    let mut desk = Desk::new();
    desk.agent("observer");
    desk.agent("archivist");
    desk
}

#[test]
fn a_message_waits_for_its_recipient_until_it_is_acknowledged() {
    let mut desk = pair();
    let first = accepted(&desk.send(&claim("observer", "archivist", "MSG001", "one"), by("observer")));
    let second = accepted(&desk.send(&claim("observer", "archivist", "MSG002", "two"), by("observer")));
    assert_eq!(desk.waiting("archivist"), [first, second]);
    let ack = |up_to, positions: &[u64], who| Input::Acknowledge {
        agent: "archivist".to_owned(),
        up_to,
        positions: positions.to_vec(),
        who,
    };
    let thief = desk.ask(ack(Some(second), &[], Who::Agent("observer".to_owned())));
    assert_eq!(refused(&thief), Code::NotAllowed);
    let nobody = desk.ask(ack(Some(second), &[], Who::Nobody));
    assert_eq!(refused(&nobody), Code::Unauthenticated);
    accepted(&desk.ask(ack(None, &[second], Who::Agent("archivist".to_owned()))));
    assert_eq!(desk.waiting("archivist"), [first]);
    accepted(&desk.ask(ack(Some(second), &[], Who::Agent("archivist".to_owned()))));
    assert!(desk.waiting("archivist").is_empty());
}

#[test]
fn an_acknowledgement_that_changes_nothing_is_answered_without_an_entry() {
    let mut desk = pair();
    let first = accepted(&desk.send(&claim("observer", "archivist", "MSG001", "one"), by("observer")));
    let last = accepted(&desk.send(&claim("observer", "archivist", "MSG002", "two"), by("observer")));
    let mut check = |up_to, positions: &[u64], entries: u64| {
        let (agent, who) = ("archivist".to_owned(), Who::Agent("archivist".to_owned()));
        let before = desk.record.len() as u64;
        let answer = desk.ask(Input::Acknowledge { agent, up_to, positions: positions.to_vec(), who });
        assert_eq!(accepted(&answer), before + entries - 1, "{up_to:?} {positions:?}");
        assert_eq!(desk.record.len() as u64 - before, entries, "{up_to:?} {positions:?}");
    };
    check(None, &[], 0);
    check(Some(first - 1), &[], 0);
    check(Some(first), &[], 1);
    for _ in 0..20 {
        check(Some(first), &[], 0);
        check(None, &[first, first], 0);
    }
    check(None, &[first, last], 1);
    check(Some(last), &[first, last], 0);
    assert!(desk.waiting("archivist").is_empty());
}

#[test]
fn what_the_record_has_not_come_to_is_not_acknowledged() {
    let mut desk = pair();
    let first = accepted(&desk.send(&claim("observer", "archivist", "MSG001", "one"), by("observer")));
    let mut ack = |up_to, positions: &[u64]| {
        let (agent, who) = ("archivist".to_owned(), Who::Agent("archivist".to_owned()));
        desk.ask(Input::Acknowledge { agent, up_to, positions: positions.to_vec(), who })
    };
    for (up_to, positions) in [(Some(u64::MAX), &[][..]), (Some(99), &[]), (None, &[first, 99])] {
        assert_eq!(refused(&ack(up_to, positions)), Code::AheadOfRecord);
    }
    assert_eq!(desk.waiting("archivist"), [first]);
}

#[test]
fn a_copy_is_told_apart_from_a_second_message_with_the_same_id() {
    let mut desk = pair();
    let text = claim("observer", "archivist", "MSG001", "one");
    let position = accepted(&desk.send(&text, by("observer")));
    // Another spelling of the same message is the same message.
    let again = desk.send(&text.replace("0.5", "5e-1"), by("observer"));
    assert_eq!(again, Verdict::Duplicate { position, id: "MSG001".to_owned() });
    assert_eq!(desk.waiting("archivist"), [position]);
    let other = desk.send(&claim("observer", "archivist", "MSG001", "two"), by("observer"));
    assert_eq!(refused(&other), Code::MessageIdConflict);
    // Another sender's ids are its own.
    accepted(&desk.send(&claim("archivist", "observer", "MSG001", "one"), by("archivist")));
}

#[test]
fn the_sender_named_is_the_one_proven() {
    let mut desk = pair();
    desk.signing_agent("agent://h/signer", 7);
    let text = claim("observer", "archivist", "MSG001", "one");
    assert_eq!(refused(&desk.send(&text, by("archivist"))), Code::SenderMismatch);
    assert_eq!(refused(&desk.send(&text, Proof::Bearer(Who::operator()))), Code::SenderMismatch);
    assert_eq!(refused(&desk.send(&text, Proof::Bearer(Who::Nobody))), Code::Unauthenticated);
    assert_eq!(refused(&desk.send(&text, Proof::Signature(key(7).public()))), Code::KeyRevoked);
    let stranger = claim("stranger", "archivist", "MSG001", "one");
    assert_eq!(refused(&desk.send(&stranger, Proof::Bearer(Who::Agent("stranger".to_owned())))), Code::UnknownSender);
    let nowhere = claim("observer", "stranger", "MSG001", "one");
    assert_eq!(refused(&desk.send(&nowhere, by("observer"))), Code::UnknownRecipient);
    accepted(&desk.send(&text, by("observer")));
}

#[test]
fn a_vcp_message_is_signed_unless_it_never_left_the_process() {
    let mut desk = Desk::new();
    desk.signing_agent("agent://h/a", 1);
    desk.agent("agent://h/b");
    let text = share("agent://h/a", "agent://h/b", "2026-02-15T10:30:00Z");
    assert_eq!(refused(&desk.send(&text, by("agent://h/a"))), Code::SignatureRequired);
    assert_eq!(refused(&desk.send(&text, Proof::Signature(key(2).public()))), Code::KeyRevoked);
    accepted(&desk.send(&text, Proof::Signature(key(1).public())));
    let other = text.replace("8000-000000000001", "8000-000000000002");
    accepted(&desk.send(&other, Proof::InProcess));
}

#[test]
fn a_vcp_message_is_fresh_to_the_second() {
    let check = |time: &str, want: Result<(), Code>| {
        let mut desk = Desk::new();
        desk.signing_agent("agent://h/a", 1);
        desk.agent("agent://h/b");
        let got = match desk.send(&share("agent://h/a", "agent://h/b", time), Proof::Signature(key(1).public())) {
            Verdict::Refused(rejection) => Err(rejection.code()),
            Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Ok(()),
        };
        assert_eq!(got, want, "{time}");
    };
    check("2026-02-15T10:25:00Z", Ok(()));
    check("2026-02-15T10:24:59.999999Z", Err(Code::Stale));
    check("2026-02-15T10:30:30Z", Ok(()));
    check("2026-02-15T10:30:30.000001Z", Err(Code::Future));
}

#[test]
fn no_copy_comes_in_after_its_id_is_forgotten() {
    let mut desk = Desk::new();
    desk.signing_agent("agent://h/a", 1);
    desk.agent("agent://h/b");
    let text = share("agent://h/a", "agent://h/b", "2026-02-15T10:30:30Z");
    let position = accepted(&desk.send(&text, Proof::Signature(key(1).public())));
    for minutes in 0..30 {
        let verdict = desk.send(&text, Proof::Signature(key(1).public()));
        match verdict {
            Verdict::Duplicate { position: first, .. } => assert_eq!(first, position, "after {minutes} minutes"),
            Verdict::Refused(rejection) => assert_eq!(rejection.code(), Code::Stale, "after {minutes} minutes"),
            Verdict::Accepted { .. } | Verdict::Held { .. } => panic!("taken twice, after {minutes} minutes"),
        }
        desk.passes(Duration::from_mins(1));
    }
}

#[test]
fn a_clock_that_is_set_back_forgets_no_id() {
    let mut desk = Desk::new();
    desk.signing_agent("agent://h/a", 1);
    desk.agent("agent://h/b");
    let text = share("agent://h/a", "agent://h/b", "2026-02-15T10:30:30Z");
    let position = accepted(&desk.send(&text, Proof::Signature(key(1).public())));
    let before = desk.now;
    // So long that the id has been forgotten, and then back to when the message was new.
    desk.passes(Duration::from_hours(48));
    accepted(&desk.send(&claim("agent://h/a", "agent://h/b", "MSG-late", "x"), by("agent://h/a")));
    desk.now = before;
    match desk.send(&text, Proof::Signature(key(1).public())) {
        Verdict::Duplicate { position: first, .. } => assert_eq!(first, position),
        Verdict::Refused(rejection) => assert_eq!(rejection.code(), Code::Stale),
        Verdict::Accepted { .. } | Verdict::Held { .. } => panic!("taken twice"),
    }
}

#[test]
fn a_broadcast_reaches_every_peer_once_and_nobody_else() {
    let mut desk = Desk::new();
    desk.signing_agent("agent://h/root", 9);
    let below = |groups: &[&str]| Registration {
        parent: Said::To("agent://h/root".to_owned()),
        groups: Some(groups.iter().map(ToString::to_string).collect()),
        keys: Some(vec![(&key(1).public()).into()]),
        ..Registration::default()
    };
    desk.register("agent://h/a", below(&["night"]), Who::operator()).unwrap();
    desk.register("agent://h/b", Registration { keys: None, ..below(&[]) }, Who::operator()).unwrap();
    let elsewhere = Registration { groups: Some(["night".to_owned()].into()), ..Registration::default() };
    desk.register("agent://h/c", elsewhere, Who::operator()).unwrap();
    desk.agent("agent://h/d");
    let text = share("agent://h/a", "broadcast", "2026-02-15T10:30:00Z");
    let position = accepted(&desk.send(&text, Proof::Signature(key(1).public())));
    let reached: Vec<_> = ["a", "b", "c", "d", "root"]
        .into_iter()
        .filter(|name| !desk.waiting(&format!("agent://h/{name}")).is_empty())
        .collect();
    assert_eq!(reached, ["b", "c"]);
    assert_eq!(desk.waiting("agent://h/b"), [position]);
}

#[test]
fn a_full_mailbox_pushes_back_and_an_old_message_gives_way() {
    let mut desk = pair();
    desk.policy.mailbox_limit = 1;
    let first = accepted(&desk.send(&claim("observer", "archivist", "MSG001", "one"), by("observer")));
    let second = desk.send(&claim("observer", "archivist", "MSG002", "two"), by("observer"));
    assert_eq!(refused(&second), Code::MailboxFull);
    assert!(Code::MailboxFull.is_retryable());
    desk.passes(Duration::from_hours(7 * 24 - 1));
    assert_eq!(desk.waiting("archivist"), [first]);
    desk.passes(Duration::from_hours(1));
    assert!(desk.waiting("archivist").is_empty());
    accepted(&desk.send(&claim("observer", "archivist", "MSG002", "two"), by("observer")));
}

#[test]
fn every_refusal_is_on_the_record_and_changes_nothing_else() {
    let mut desk = pair();
    let before = desk.state.clone();
    desk.send(&claim("observer", "archivist", "MSG001", "one"), by("archivist"));
    assert_eq!(desk.state.next(), before.next() + 1);
    assert_eq!(desk.state.registry(), before.registry());
    assert!(desk.waiting("archivist").is_empty());
}

#[test]
fn personal_state_is_not_for_everybody() {
    let mut desk = Desk::new();
    desk.signing_agent("agent://h/a", 1);
    desk.agent("agent://h/b");
    let signed = || Proof::Signature(key(1).public());
    let personal = |to: &str| {
        let text = share("agent://h/a", to, "2026-02-15T10:30:00Z");
        text.replace(r#""constitution_ref""#, r#""personal_state":{"energy":5},"constitution_ref""#)
    };
    assert_eq!(refused(&desk.send(&personal("broadcast"), signed())), Code::PersonalStateBroadcast);
    accepted(&desk.send(&personal("agent://h/b"), signed()));
}

#[test]
fn a_vlp_session_has_ids_of_its_own() {
    let mut desk = pair();
    let within = |session: &str| {
        let text = claim("observer", "archivist", "MSG001", "one");
        text.replace(r#""content""#, &format!(r#""session_id":"{session}","content""#))
    };
    let first = accepted(&desk.send(&within("S-1"), by("observer")));
    accepted(&desk.send(&within("S-2"), by("observer")));
    let again = desk.send(&within("S-1"), by("observer"));
    assert!(matches!(again, Verdict::Duplicate { position, .. } if position == first), "{again:?}");
}
