//! Identity tokens: who issues and revokes them for whom, how long they count, and how many.

use crate::desk::{Desk, accepted, agent, person, refused, token};
use legation_exchange::rules::identity::{KNOWN_TOKENS, LIVE_TOKENS, LONGEST, Order, Which};
use legation_exchange::{Directive, Input, Role, State, Verdict, Who};
use legation_protocol::Code;
use std::time::Duration;

fn order(desk: &mut Desk, order: Order, who: Who) -> Verdict {
    desk.ask(Input::Order { order: Box::new(Directive::Identity(order)), who })
}

fn issue(desk: &mut Desk, name: &str, subject: &str, life: Duration, who: Who) -> Result<(), Code> {
    let expires = desk.now.plus(life);
    match order(desk, Order::Issue { token: token(name), subject: subject.to_owned(), expires }, who) {
        Verdict::Accepted { .. } => Ok(()),
        Verdict::Refused(rejection) => Err(rejection.code()),
        Verdict::Held { .. } | Verdict::Duplicate { .. } => panic!("an order is decided at once"),
    }
}

fn revoke(desk: &mut Desk, which: Which, who: Who) -> Verdict {
    order(desk, Order::Revoke { which, why: Some("lost".to_owned()) }, who)
}

fn counts(desk: &Desk, name: &str) -> bool {
    desk.state.rules().identities.get(&token(name)).is_some_and(|issued| issued.counts(desk.now))
}

const HOUR: Duration = Duration::from_hours(1);

#[test]
fn operators_issue_for_anybody_and_agents_for_themselves() {
    let mut desk = Desk::new();
    desk.agent("ann");
    for (who, subject, want) in [
        (Who::operator(), "user_42", Ok(())),
        (agent("ann"), "ann", Ok(())),
        (agent("ann"), "user_42", Err(Code::NotAllowed)),
        (person("rita", Role::Reviewer), "rita", Err(Code::NotAllowed)),
        (person("anna", Role::Auditor), "user_42", Err(Code::NotAllowed)),
        (Who::Nobody, "user_42", Err(Code::Unauthenticated)),
    ] {
        assert_eq!(issue(&mut desk, &format!("{who} {subject}"), subject, HOUR, who.clone()), want, "{who}");
    }
}

#[test]
fn a_token_lasts_a_day_at_most_and_then_is_forgotten() {
    let mut desk = Desk::new();
    for (life, want) in [
        (Duration::ZERO, Err(Code::OutOfRange)),
        (LONGEST + Duration::from_secs(1), Err(Code::OutOfRange)),
        (LONGEST, Ok(())),
    ] {
        assert_eq!(issue(&mut desk, "t", "user_42", life, Who::operator()), want, "{life:?}");
    }
    assert!(counts(&desk, "t"));
    desk.passes(LONGEST);
    assert!(!counts(&desk, "t"));
    issue(&mut desk, "next", "user_42", HOUR, Who::operator()).unwrap();
    assert_eq!(desk.state.rules().identities.iter().count(), 1);
}

#[test]
fn so_many_of_one_subject_and_no_more() {
    let mut desk = Desk::new();
    for number in 0..LIVE_TOKENS {
        issue(&mut desk, &number.to_string(), "user_42", HOUR, Who::operator()).unwrap();
    }
    assert_eq!(issue(&mut desk, "more", "user_42", HOUR, Who::operator()), Err(Code::RateLimited));
    assert_eq!(issue(&mut desk, "more", "user_43", HOUR, Who::operator()), Ok(()));
    accepted(&revoke(&mut desk, Which::Token(token("7")), Who::operator()));
    assert_eq!(issue(&mut desk, "again", "user_42", HOUR, Who::operator()), Ok(()));
}

#[test]
fn a_token_that_was_revoked_is_not_issued_again() {
    let mut desk = Desk::new();
    issue(&mut desk, "t", "user_42", HOUR, Who::operator()).unwrap();
    accepted(&revoke(&mut desk, Which::Token(token("t")), Who::operator()));
    assert_eq!(issue(&mut desk, "t", "user_42", HOUR, Who::operator()), Err(Code::Busy));
    assert!(!counts(&desk, "t"));
}

#[test]
fn issuing_and_revoking_without_end_has_an_end() {
    let mut desk = Desk::new();
    for number in 0..KNOWN_TOKENS {
        issue(&mut desk, &number.to_string(), "user_42", HOUR, Who::operator()).unwrap();
        accepted(&revoke(&mut desk, Which::Of("user_42".to_owned()), Who::operator()));
    }
    assert_eq!(issue(&mut desk, "more", "user_42", HOUR, Who::operator()), Err(Code::RateLimited));
}

#[test]
fn what_is_revoked_counts_no_longer_and_says_by_whom_and_why() {
    let mut desk = Desk::new();
    desk.agent("ann");
    desk.agent("bob");
    for (name, subject) in [("one", "ann"), ("two", "ann"), ("three", "bob")] {
        issue(&mut desk, name, subject, HOUR, Who::operator()).unwrap();
    }
    // Of another's token nobody learns whether it is there.
    assert_eq!(refused(&revoke(&mut desk, Which::Token(token("three")), agent("ann"))), Code::NotFound);
    assert_eq!(refused(&revoke(&mut desk, Which::Token(token("none")), agent("ann"))), Code::NotFound);
    assert_eq!(refused(&revoke(&mut desk, Which::Of("bob".to_owned()), agent("ann"))), Code::NotAllowed);
    assert_eq!(refused(&revoke(&mut desk, Which::Token(token("one")), Who::Nobody)), Code::Unauthenticated);
    accepted(&revoke(&mut desk, Which::Token(token("one")), agent("ann")));
    assert_eq!(refused(&revoke(&mut desk, Which::Token(token("one")), agent("ann"))), Code::NotFound);
    assert_eq!(["one", "two", "three"].map(|name| counts(&desk, name)), [false, true, true]);
    accepted(&revoke(&mut desk, Which::Of("ann".to_owned()), Who::operator()));
    assert_eq!(["one", "two", "three"].map(|name| counts(&desk, name)), [false, false, true]);
    let revoked = desk.state.rules().identities.get(&token("one")).unwrap().revoked.clone().unwrap();
    assert_eq!((revoked.by.as_str(), revoked.why.as_deref()), ("agent ann", Some("lost")));
}

#[test]
fn an_agent_that_is_removed_takes_its_tokens_along() {
    let mut desk = Desk::new();
    desk.agent("ann");
    issue(&mut desk, "t", "ann", HOUR, agent("ann")).unwrap();
    accepted(&desk.ask(Input::Remove { id: "ann".to_owned(), who: Who::operator() }));
    assert!(!counts(&desk, "t"));
}

#[test]
fn a_snapshot_and_the_record_know_the_same_tokens() {
    let mut desk = Desk::new();
    issue(&mut desk, "one", "user_42", HOUR, Who::operator()).unwrap();
    issue(&mut desk, "two", "user_42", HOUR, Who::operator()).unwrap();
    accepted(&revoke(&mut desk, Which::Token(token("two")), Who::operator()));
    let read = State::from_bytes(&desk.state.to_bytes()).unwrap();
    assert_eq!(read.rules().identities, desk.state.rules().identities);
    let mut folded = State::deciding();
    for entry in &desk.record {
        folded.apply(entry);
    }
    assert_eq!(folded.rules().identities, desk.state.rules().identities);
}
