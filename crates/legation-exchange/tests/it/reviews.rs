//! What nobody decides in time: a held message is refused when its time is over, not before, and once.

use crate::desk::{Desk, agent, person, refused};
use crate::vlp::{held, three};
use legation_exchange::rules::hold::{Review, Says};
use legation_exchange::rules::vcp::Order;
use legation_exchange::{Directive, Effect, Entry, Erasure, Input, Role, Span, State, Verdict, Who};
use legation_protocol::Code;
use serde_json::json;
use std::time::Duration;

/// What happens to a held message before its time is over.
#[derive(Clone, Copy, Debug)]
enum Happens {
    Nothing,
    Claimed,
    Approved,
    Refused,
    Erased,
    /// Its sender is suspended.
    Suspended,
    /// Its sender is suspended, and then a person approves.
    SuspendedApproved,
}

fn says(desk: &mut Desk, message: u64, says: Says) -> Verdict {
    let (digest, why) = (desk.digest(message), "looked at it".to_owned());
    let order = Box::new(Directive::Review(Review { message, says, digest, why }));
    desk.ask(Input::Order { order, who: person("rita", Role::Reviewer) })
}

fn orders(desk: &mut Desk, order: Order) {
    let verdict = desk.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who: Who::operator() });
    assert!(matches!(verdict, Verdict::Accepted { .. }), "{verdict:?}");
}

fn suspends(desk: &mut Desk) {
    orders(desk, Order::Suspend { agent: "ann".to_owned(), why: "odd".to_owned() });
}

fn happens(desk: &mut Desk, message: u64, what: Happens) {
    let verdict = match what {
        Happens::Nothing => return,
        Happens::Claimed => says(desk, message, Says::Claim),
        Happens::Approved => says(desk, message, Says::Approve),
        Happens::Refused => says(desk, message, Says::Refuse),
        Happens::Erased => {
            let positions = vec![Span { first: message, last: message }];
            let erasure = Box::new(Erasure { positions, undelivered: true, ..Erasure::default() });
            desk.ask(Input::Erase { erasure, who: Who::operator() })
        }
        Happens::Suspended => return suspends(desk),
        Happens::SuspendedApproved => {
            suspends(desk);
            says(desk, message, Says::Approve)
        }
    };
    assert!(matches!(verdict, Verdict::Accepted { .. }), "{what:?}: {verdict:?}");
}

/// How often the record says that nobody decided in time.
fn expiries(desk: &Desk) -> usize {
    let changed = desk.record.iter().filter(|entry| match &entry.effect {
        Effect::Changed { changes, .. } => {
            serde_json::to_string(changes).unwrap().contains(r#""why":"nobody decided in time""#)
        }
        _ => false,
    });
    changed.count()
}

fn folds_again(desk: &Desk) {
    let mut folded = State::deciding();
    for entry in &desk.record {
        let effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
        folded.apply(&Entry { effect, body: None, ..entry.clone() });
    }
    assert_eq!(folded.rules(), desk.state.rules());
    assert_eq!(State::from_bytes(&folded.to_bytes()).unwrap().rules(), desk.state.rules());
}

/// Holds a message, lets something happen to it and its time pass.
#[track_caller]
fn check(what: Happens, expires: bool, arrives: bool) {
    let mut desk = three();
    desk.policy.review_time = Duration::from_mins(1);
    let message = held(&desk.say("claim", "ann", "MSG-1", &json!({"receiver": "bob", "confidence": 0.95})));
    desk.passes(Duration::from_secs(30));
    happens(&mut desk, message, what);
    desk.passes(Duration::from_micros(29_999_999));
    assert_eq!(expiries(&desk), 0, "{what:?}: not before its time");
    desk.passes(Duration::from_micros(1));
    assert_eq!(expiries(&desk), usize::from(expires), "{what:?}");
    desk.passes(Duration::from_hours(1));
    assert_eq!(expiries(&desk), usize::from(expires), "{what:?}: once");
    if matches!(what, Happens::Suspended | Happens::SuspendedApproved) {
        assert!(desk.waiting("bob").is_empty(), "{what:?}: nothing of a suspended agent goes on");
        orders(&mut desk, Order::Resume { agent: "ann".to_owned(), escalation: None, why: "fine".to_owned() });
        desk.passes(Duration::from_secs(1));
    }
    assert_eq!(!desk.waiting("bob").is_empty(), arrives, "{what:?}");
    let told = desk.told("ann").iter().filter(|told| told.to_string().contains("nobody decided in time")).count();
    assert_eq!(told, usize::from(expires), "{what:?}: its sender is told, once");
    if expires {
        assert_eq!(refused(&says(&mut desk, message, Says::Approve)), Code::ReviewConflict, "{what:?}: too late");
    }
    folds_again(&desk);
}

#[test]
fn what_nobody_decides_in_time_is_refused_once() {
    for (what, expires, arrives) in [
        (Happens::Nothing, true, false),
        // Whoever looks at it has to decide too.
        (Happens::Claimed, true, false),
        (Happens::Approved, false, true),
        (Happens::Refused, false, false),
        (Happens::Erased, false, false),
        (Happens::Suspended, true, false),
        // A person has decided: that something else holds it is no reason to refuse it.
        (Happens::SuspendedApproved, false, true),
    ] {
        check(what, expires, arrives);
    }
}

#[test]
fn what_is_held_is_no_dead_letter_where_a_mailbox_is_full() {
    let mut desk = three();
    desk.policy.mailbox_limit = 1;
    for (id, to) in [("MSG-1", "bob"), ("MSG-2", "cat")] {
        let members = json!({"receiver": to, "session_id": "S"});
        assert!(matches!(desk.say("claim", "ann", id, &members), Verdict::Accepted { .. }));
    }
    let message = held(&desk.say("claim", "ann", "MSG-3", &json!({"session_id": "S", "confidence": 0.95})));
    assert!(desk.state.dead_letters().is_empty(), "its recipients could read it there");
    for name in ["bob", "cat"] {
        let input = Input::Resend { agent: name.to_owned(), positions: vec![message], who: agent(name) };
        assert!(matches!(desk.ask(input), Verdict::Refused(_)));
    }
    assert!(matches!(says(&mut desk, message, Says::Approve), Verdict::Accepted { .. }));
    assert_eq!((desk.waiting("bob").len(), desk.waiting("cat").len()), (2, 2));
}
