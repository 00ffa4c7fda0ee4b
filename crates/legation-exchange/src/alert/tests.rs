//! What is told, when, and as how much.

use super::{Alert, Alerts, Kind};
use crate::dead::Why;
use crate::effect::{Effect, Entry, Refused};
use crate::moment::Moment;
use crate::push::{Outcome, Pushed, Try};
use legation_protocol::json::{Doc, canonical};
use std::time::Duration;

fn entry(position: u64, effect: Effect) -> Entry {
    Entry { position, at: Moment::from_micros(1_000_000 * position), effect, body: None }
}

fn died(position: u64, agent: &str) -> Alert {
    let effect = Effect::Died { agent: agent.to_owned(), positions: vec![1, 2], why: Why::Expired, tasks: Vec::new() };
    Alert::raised_by(&entry(position, effect)).unwrap()
}

#[test]
fn an_alert_is_canonical_as_it_is_written() {
    let text = serde_json::to_string(&died(7, "ann\u{1}\"é")).unwrap();
    assert_eq!(
        text,
        r#"{"about":"ann\u0001\"é","at":"1970-01-01T00:00:07Z","count":2,"id":"7","kind":"dead_letter","position":7,"realm":"","text":"messages reached nobody: expired"}"#
    );
    assert_eq!(canonical(Doc::parse(text.as_bytes()).unwrap().root()), text.as_bytes());
}

#[test]
fn only_some_refusals_are_told() {
    let refused = |code: &str| {
        let refused = Refused { by: "agent ann".to_owned(), code: code.to_owned(), ..Refused::default() };
        Alert::raised_by(&entry(1, Effect::Refused(refused))).map(|alert| alert.kind)
    };
    assert_eq!(refused("message_id_conflict"), Some(Kind::Conflict));
    assert_eq!(refused("key_revoked"), Some(Kind::KeyRevoked));
    assert_eq!(refused("stale"), None);
}

#[test]
fn what_waited_for_a_removed_agent_is_told() {
    let removed = |left| Effect::Removed { agent: "ann".to_owned(), by: "operator".to_owned(), left };
    let alert = Alert::raised_by(&entry(1, removed(5))).unwrap();
    assert_eq!((alert.kind, alert.about.as_deref(), alert.count), (Kind::DeadLetter, Some("ann"), 5));
    assert_eq!(Alert::raised_by(&entry(1, removed(0))), None);
}

#[test]
fn the_first_is_told_at_once_and_those_close_behind_are_one() {
    let (mut alerts, second) = (Alerts::default(), Duration::from_secs);
    alerts.raise(died(1, "ann"), second(0));
    alerts.raise(died(2, "ann"), second(1));
    alerts.raise(died(3, "bob"), second(9));
    alerts.raise(Alert::storage(Moment::from_micros(5), "full"), second(9));
    let told =
        |alerts: &Alerts| alerts.after(None).map(|(_, alert)| (alert.id.clone(), alert.count)).collect::<Vec<_>>();
    assert_eq!(told(&alerts), [("1".to_owned(), 2), ("storage-5".to_owned(), 1)]);
    alerts.pass(second(10));
    assert_eq!(told(&alerts).last(), Some(&("2".to_owned(), 4)));
    alerts.raise(died(4, "ann"), second(21));
    assert_eq!(told(&alerts).len(), 4);
    let numbers: Vec<_> = alerts.after(None).map(|(number, _)| number).collect();
    assert!(numbers.is_sorted_by(|a, b| a < b));
    assert_eq!(alerts.after(numbers.get(2).copied()).count(), 1);
}

#[test]
fn an_emergency_never_waits_for_another_agents() {
    let (mut alerts, second) = (Alerts::default(), Duration::from_secs);
    let raised = |position: u64, agent: &str, kind| Alert { kind, ..died(position, agent) };
    for (position, agent) in [(1, "ann"), (2, "bob"), (3, "ann"), (4, "cid")] {
        alerts.raise(raised(position, agent, Kind::Emergency), second(position));
    }
    let told = |alerts: &Alerts| {
        alerts.after(None).map(|(_, alert)| (alert.about.clone().unwrap(), alert.count)).collect::<Vec<_>>()
    };
    let want = |all: &[(&str, u64)]| all.iter().map(|(about, count)| ((*about).to_owned(), *count)).collect::<Vec<_>>();
    // Ann's second is the first one's echo, and waits as before.
    assert_eq!(told(&alerts), want(&[("ann", 2), ("bob", 2), ("cid", 2)]));
    alerts.pass(second(11));
    assert_eq!(told(&alerts), want(&[("ann", 2), ("bob", 2), ("cid", 2), ("ann", 2)]));
}

#[test]
fn an_endpoint_that_stays_away_is_told_of_now_and_then() {
    let (mut alerts, second) = (Alerts::default(), Duration::from_secs);
    let tried = |position| Try { position, number: 4, outcome: Outcome::Status(503) };
    for minute in 0..10 {
        let given_up = vec![tried(minute), tried(minute + 100)];
        let pushed = Pushed { agent: "ann".to_owned(), given_up, ..Pushed::default() };
        let alert = Alert::raised_by(&entry(minute, Effect::Pushed(pushed))).unwrap();
        assert_eq!((alert.kind, alert.about.as_deref(), alert.count), (Kind::PushFailed, Some("ann"), 2));
        alerts.raise(alert, second(minute * 60));
    }
    let counts: Vec<_> = alerts.after(None).map(|(_, alert)| alert.count).collect();
    assert_eq!(counts, [2, 8]);
    let delivered = Pushed { delivered: vec![tried(1)], ..Pushed::default() };
    assert_eq!(Alert::raised_by(&entry(1, Effect::Pushed(delivered))), None);
}

#[test]
fn however_many_there_are_few_are_kept() {
    let mut alerts = Alerts::default();
    for number in 0..10_000 {
        alerts.raise(died(number, "ann"), Duration::from_secs(number * 60));
    }
    assert_eq!(alerts.after(None).count(), super::KEPT);
}
