//! Emergencies that come too late: refused, and told once to those who should know.

use crate::desk::{Desk, accepted, key, refused};
use legation_exchange::rules::vcp::Standing;
use legation_exchange::{
    Alert, Effect, KeyEvent, Kind, Moment, Proof, Registration, Said, StaleEmergency, State, Verdict, Voice, Who,
};
use legation_protocol::Code;
use std::time::Duration;

const PARENT: &str = "agent://test/parent";
const CHILD: &str = "agent://test/child";

fn desk() -> Desk {
    let mut desk = Desk::new();
    desk.policy.voice = Some(Voice::new(key(9)));
    desk.signing_agent(PARENT, 1);
    let below = Registration {
        keys: Some(vec![(&key(2).public()).into()]),
        parent: Said::To(PARENT.to_owned()),
        ..Registration::default()
    };
    desk.register(CHILD, below, Who::operator()).unwrap();
    desk
}

/// The nth escalation, made so many seconds ago.
fn escalation(desk: &Desk, from: &str, n: u64, severity: &str, reason: &str, ago: u64) -> String {
    let to = if from == CHILD { PARENT } else { "agent://local/exchange" };
    let made = Moment::from_micros(desk.now.micros() - ago * 1_000_000);
    format!(
        r#"{{"vcp_message":"1.2","type":"escalation","message_id":"019502a4-ad0f-7000-8000-{n:012x}","sender":"{from}","recipient":"{to}","timestamp":"{made}","payload":{{"severity":"{severity}","reason":"{reason}","context":"🧠😰","requires_ack":true}}}}"#
    )
}

fn emergency(desk: &Desk, n: u64) -> String {
    escalation(desk, CHILD, n, "emergency", "the reactor is on fire", 301)
}

fn by_child() -> Proof {
    Proof::Signature(key(2).public())
}

fn told(desk: &Desk) -> Vec<Alert> {
    desk.record.iter().filter_map(Alert::raised_by).filter(|alert| alert.kind == Kind::StaleEmergency).collect()
}

#[test]
fn a_stale_emergency_is_refused_and_its_parent_and_the_operators_are_told_with_its_text() {
    let mut desk = desk();
    let text = emergency(&desk, 1);
    assert_eq!(refused(&desk.send(&text, by_child())), Code::Stale);
    let alerts = told(&desk);
    let [alert] = &alerts[..] else { panic!("{alerts:?}") };
    assert_eq!((alert.about.as_deref(), alert.count), (Some(CHILD), 1));
    assert!(alert.text.contains("the reactor is on fire"), "{alert:?}");
    let waiting = desk.waiting(PARENT);
    let [position] = waiting[..] else { panic!("{waiting:?}") };
    let body = desk.record[usize::try_from(position).unwrap()].body.clone().unwrap();
    let body = String::from_utf8(body.into()).unwrap();
    assert!(body.contains("the reactor is on fire") && body.contains("stale_emergency"), "{body}");
    let child = desk.state.registry().agent(CHILD).unwrap();
    assert_eq!(desk.state.rules().vcp.standing.of(child), Standing::Running, "nobody is suspended for it");
    assert!(desk.state.rules().vcp.alarms.open().next().is_none());
}

#[test]
fn one_by_a_root_is_told_to_the_operators() {
    let mut desk = desk();
    let text = escalation(&desk, PARENT, 1, "emergency", "all is lost", 301);
    assert_eq!(refused(&desk.send(&text, Proof::Signature(key(1).public()))), Code::Stale);
    assert!(told(&desk)[0].text.contains("all is lost"));
    assert_eq!(told(&desk).len(), 1);
}

#[test]
fn people_are_told_once_for_an_id_also_after_a_start_and_after_a_long_time() {
    let mut desk = desk();
    let text = emergency(&desk, 1);
    for round in 0..4 {
        assert_eq!(refused(&desk.send(&text, by_child())), Code::Stale);
        assert_eq!(told(&desk).len(), 1, "round {round}");
        let mut started = State::from_bytes(&desk.state.to_bytes()).unwrap();
        started.add_taken(&desk.state.taken().0);
        assert_eq!(started.rules().vcp.stale_emergencies(), desk.state.rules().vcp.stale_emergencies());
        desk.state = started;
        if round > 1 {
            desk.passes(Duration::from_hours(48));
        }
    }
}

#[test]
fn an_emergency_that_was_accepted_is_known_for_ever() {
    let mut desk = desk();
    let text = escalation(&desk, CHILD, 1, "emergency", "help", 0);
    let first = accepted(&desk.send(&text, by_child()));
    desk.passes(Duration::from_hours(500));
    let later = escalation(&desk, CHILD, 2, "warning", "later", 0);
    let _ = desk.send(&later, by_child());
    desk.state.settle();
    let before = desk.record.len();
    assert!(matches!(desk.send(&text, by_child()), Verdict::Duplicate { position, .. } if position == first));
    assert_eq!((told(&desk).len(), desk.record.len()), (0, before));
}

#[test]
fn others_that_are_stale_are_only_refused() {
    let mut desk = desk();
    let warning = escalation(&desk, CHILD, 1, "critical", "x", 301);
    let ack = emergency(&desk, 2).replace("the reactor is on fire", "ACK:019502a4-ad0f-7000-8000-000000000001");
    let ack = ack.replace(r#""requires_ack":true"#, r#""requires_ack":false"#);
    for text in [warning, ack] {
        assert_eq!(refused(&desk.send(&text, by_child())), Code::Stale);
    }
    // Nor what nobody signed, or a key that is out of use.
    let text = emergency(&desk, 3);
    assert_eq!(refused(&desk.send(&text, Proof::InProcess)), Code::Stale);
    let change = legation_exchange::KeyChange::Event {
        key: key(2).public(),
        event: KeyEvent::Revoke,
        proof: None,
        why: Some("lost".to_owned()),
    };
    let input =
        legation_exchange::Input::Key { agent: CHILD.to_owned(), change: Box::new(change), who: Who::operator() };
    accepted(&desk.ask(input));
    assert_eq!(refused(&desk.send(&emergency(&desk, 4), by_child())), Code::KeyRevoked);
    assert_eq!(told(&desk), []);
    assert_eq!(desk.waiting(PARENT), Vec::<u64>::new());
}

#[test]
fn a_flood_of_stale_emergencies_does_not_reach_people() {
    let mut desk = desk();
    for n in 0..2000 {
        assert_eq!(refused(&desk.send(&emergency(&desk, n), by_child())), Code::Stale);
    }
    assert_eq!((told(&desk).len(), desk.waiting(PARENT).len()), (4, 4));
    // Others of its family are heard still, within the family's share.
    let own = escalation(&desk, PARENT, 5000, "emergency", "mine", 301);
    assert_eq!(refused(&desk.send(&own, Proof::Signature(key(1).public()))), Code::Stale);
    assert_eq!(told(&desk).len(), 5);
    // One that was not told is told later, when there is room.
    desk.passes(Duration::from_hours(2));
    assert_eq!(refused(&desk.send(&emergency(&desk, 1999), by_child())), Code::Stale);
    assert_eq!(told(&desk).len(), 6);
    for hour in 0..300 {
        desk.passes(Duration::from_hours(1));
        for n in 0..10 {
            let _ = desk.send(&emergency(&desk, 10_000 + hour * 10 + n), by_child());
        }
        assert!(desk.state.rules().vcp.stale_emergencies() <= 10);
    }
}

#[test]
fn a_text_that_hides_is_told_plainly() {
    let mut desk = desk();
    let text = escalation(&desk, CHILD, 1, "emergency", "a\\u202eb\\nc", 301).replace("\\\\", "\\");
    assert_eq!(refused(&desk.send(&text, by_child())), Code::Stale);
    assert!(told(&desk)[0].text.ends_with("a b c"), "{}", told(&desk)[0].text);
}

#[test]
fn where_it_is_set_so_a_stale_emergency_suspends_once_and_is_marked() {
    let mut desk = desk();
    desk.policy.stale_emergency = StaleEmergency::Suspend;
    let text = emergency(&desk, 1);
    let first = accepted(&desk.send(&text, by_child()));
    let Effect::Accepted(message) = &desk.record[usize::try_from(first).unwrap()].effect else { panic!("no message") };
    assert!(message.ruled.findings.iter().any(|finding| finding.code == "stale_emergency"));
    let child = desk.state.registry().agent(CHILD).unwrap();
    assert_eq!(desk.state.rules().vcp.standing.of(child), Standing::Suspended);
    for _ in 0..2 {
        desk.state.settle();
        assert!(matches!(desk.send(&text, by_child()), Verdict::Duplicate { position, .. } if position == first));
        desk.passes(Duration::from_hours(24));
    }
    // Nothing else that is stale gets in.
    let critical = escalation(&desk, CHILD, 2, "critical", "x", 301);
    assert_eq!(refused(&desk.send(&critical, by_child())), Code::Stale);
}
