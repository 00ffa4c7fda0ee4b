//! What people have to deal with still is known from the state alone, as it is after a start.

use crate::desk::{Desk, accepted};
use crate::line::{CHILD, OTHER, PARENT, TOP, line, saying};
use crate::vlp::three;
use legation_exchange::{Alert, Kind};
use serde_json::json;

fn open(desk: &Desk) -> Vec<(Kind, Option<String>, Option<u64>)> {
    Alert::still_open(&desk.state).into_iter().map(|alert| (alert.kind, alert.about, alert.position)).collect()
}

#[test]
fn open_emergencies_and_what_only_the_operator_answers_are_open() {
    let mut desk = line();
    let fire = accepted(&saying(CHILD, PARENT, 1).alarms(&mut desk, "emergency"));
    let own = accepted(&saying(TOP, "agent://local/exchange", 2).alarms(&mut desk, "critical"));
    accepted(&saying(OTHER, PARENT, 3).alarms(&mut desk, "critical"));
    let first =
        [(Kind::Emergency, Some(CHILD.to_owned()), Some(fire)), (Kind::Escalation, Some(TOP.to_owned()), Some(own))];
    assert_eq!(open(&desk), first, "the parent has to deal with the other first");
    // They are the alerts that were raised, under the same ids.
    let raised: Vec<_> = desk.record.iter().filter_map(Alert::raised_by).collect();
    assert_eq!(raised, Alert::still_open(&desk.state));
    (0..3).for_each(|_| desk.seconds(5));
    assert_eq!(open(&desk).last().unwrap().0, Kind::EscalationUnanswered);
    accepted(&saying(PARENT, CHILD, 4).resumes(&mut desk, 1));
    assert!(open(&desk).iter().all(|(kind, _, _)| *kind != Kind::Emergency), "it is over");
}

#[test]
fn halted_sessions_and_what_waits_for_a_person_are_open() {
    let mut desk = three();
    let held = desk.say("claim", "cat", "MSG-0", &json!({"receiver": "bob", "safety": {"level": "review"}}));
    let legation_exchange::Verdict::Held { position: held, .. } = held else { panic!("{held:?}") };
    let stop = json!({"receiver": "bob", "session_id": "S-1", "safety": {"level": "block"}});
    let halted = accepted(&desk.say("notice", "ann", "MSG-1", &stop));
    let want = [
        (Kind::ReviewWaiting, Some("cat".to_owned()), Some(held)),
        (Kind::Halted, Some("ann".to_owned()), Some(halted)),
    ];
    assert_eq!(open(&desk), want);
    let raised: Vec<_> = desk.record.iter().filter_map(Alert::raised_by).collect();
    assert_eq!(raised, Alert::still_open(&desk.state));
}
