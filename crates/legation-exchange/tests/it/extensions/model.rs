//! Anything asked of the extensions, in any order: the record folds to the same state, snapshots give it
//! back, phases only go forward, and nothing outgrows its bounds.

use super::consensus::{advance, desk, propose, vote};
use super::read;
use crate::desk::{Desk, agent};
use legation_exchange::extensions::consensus::Phase;
use legation_exchange::extensions::{Act, Subject, intent, personal, relational, torch};
use legation_exchange::{Effect, Entry, Input, State, Who};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Step {
    Signal(usize, u8),
    Engage(usize),
    Clear(usize),
    Begin(usize, u8),
    Norm(usize, u8),
    Report(usize, u8),
    HandOff(usize, usize),
    Receive(usize, usize),
    Infer(usize, u8),
    Correct(usize, u8),
    Propose(usize),
    Advance(usize, usize),
    Vote(usize, u8),
    Remove(usize),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = 0..3usize;
    let step = prop_oneof![
        1 => (who.clone(), 1..=5u8).prop_map(|(who, much)| Step::Signal(who, much)),
        1 => who.clone().prop_map(Step::Engage),
        1 => who.clone().prop_map(Step::Clear),
        1 => (who.clone(), 0..40u8).prop_map(|(who, session)| Step::Begin(who, session)),
        1 => (who.clone(), 0..4u8).prop_map(|(who, norm)| Step::Norm(who, norm)),
        1 => (who.clone(), 1..=9u8).prop_map(|(who, value)| Step::Report(who, value)),
        3 => (who.clone(), who.clone()).prop_map(|(who, to)| Step::HandOff(who, to)),
        2 => (who.clone(), who.clone()).prop_map(|(who, from)| Step::Receive(who, from)),
        1 => (who.clone(), 0..3u8).prop_map(|(who, session)| Step::Infer(who, session)),
        1 => (who.clone(), 0..3u8).prop_map(|(who, session)| Step::Correct(who, session)),
        2 => who.clone().prop_map(Step::Propose),
        6 => (who.clone(), 0..5usize).prop_map(|(who, phase)| Step::Advance(who, phase)),
        4 => (who.clone(), 0..3u8).prop_map(|(who, choice)| Step::Vote(who, choice)),
        1 => who.prop_map(Step::Remove),
        1 => (0..90u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 0..60)
}

fn name(index: usize) -> &'static str {
    ["alpha", "bravo", "charlie"][index]
}

/// The last deliberation and the phase it should be in.
type Phases = BTreeMap<String, Phase>;

fn take(desk: &mut Desk, phases: &mut Phases, step: &Step) {
    let last = phases.keys().last().cloned();
    match *step {
        Step::Signal(who, much) => {
            let signal = json!([{"dimension": "cognitive_state", "category": "foggy", "intensity": much}]);
            let _ = desk.act(&agent(name(who)), Act::Personal(personal::Act::Set(read(json!({"signals": signal})))));
        }
        Step::Engage(who) => {
            let _ = desk.act(&agent(name(who)), Act::Personal(personal::Act::Engage));
        }
        Step::Clear(who) => {
            let _ = desk.act(&agent(name(who)), Act::Personal(personal::Act::Clear(read(json!({})))));
        }
        Step::Begin(who, session) => {
            let _ = desk.act(&agent(name(who)), super::relational::begin(&session.to_string()));
        }
        Step::Norm(who, norm) => {
            let norm = json!({"id": norm.to_string(), "description": "x", "origin": "ai", "uncertainty": 0.1});
            let _ = desk.act(&agent(name(who)), super::relational::norm(norm));
        }
        Step::Report(who, value) => {
            let report =
                json!({"dimensions": {"valence": {"value": f64::from(value) * 0.97 + 0.1, "uncertain": true}}});
            let _ = desk.act(&agent(name(who)), Act::Relational(relational::Act::ReportSelf(read(report))));
        }
        Step::HandOff(who, to) => hand_off(desk, who, to),
        Step::Receive(who, from) => {
            let act = torch::Act::Receive(read(json!({"from": name(from)})));
            let _ = desk.act(&agent(name(who)), Act::Torch(act));
        }
        Step::Infer(who, session) => {
            let act = json!({"session_id": session.to_string(), "text": "explain the urgent status"});
            let _ = desk.act(&agent(name(who)), Act::Intent(intent::Act::Infer(read(act))));
        }
        Step::Correct(who, session) => {
            let act = json!({"session_id": session.to_string(), "category": "LEARNING"});
            let _ = desk.act(&agent(name(who)), Act::Intent(intent::Act::Correct(read(act))));
        }
        Step::Propose(who) => {
            if let Ok(id) = propose(desk, &agent(name(who)), &json!({})) {
                phases.insert(id, Phase::Draft);
            }
        }
        Step::Advance(who, phase) => {
            let (Some(id), to) = (last, Phase::ALL[phase]) else { return };
            let before = phases[&id];
            let done = advance(desk, &agent(name(who)), &id, to).is_ok();
            assert!(!done || before.next() == Some(to), "from {before} to {to}");
            if done {
                phases.insert(id, to);
            }
        }
        Step::Vote(who, choice) => {
            let Some(id) = last else { return };
            let choice = ["rotate", "alpha", "nobody"][usize::from(choice)];
            let ranking = json!([choice]);
            let done = vote(desk, &agent(name(who)), &id, &ranking).is_ok();
            assert!(!done || phases[&id].takes_ballots());
        }
        Step::Remove(who) => {
            desk.ask(Input::Remove { id: name(who).to_owned(), who: Who::operator() });
            desk.agent(name(who));
        }
        Step::Pass(minutes) => desk.passes(Duration::from_mins(minutes)),
    }
}

/// The lineage of whoever hands a new session over is one deeper afterwards.
fn hand_off(desk: &mut Desk, who: usize, to: usize) {
    let depth = |desk: &Desk| {
        let carried = desk.state.rules().extensions.torch.of(&Subject::agent(name(who)));
        carried.map_or((0, 0), |carried| (carried.depth, carried.lineage.len()))
    };
    let (count, long) = depth(desk);
    let act = torch::Act::HandOff(read(json!({"session_id": desk.record.len().to_string(), "to": name(to)})));
    desk.act(&agent(name(who)), Act::Torch(act)).unwrap();
    let after = depth(desk);
    assert!(after.0 > count && after.1 == long + 1, "{after:?} after {count} and {long}");
}

proptest! {
    #[test]
    fn whatever_is_asked_the_record_folds_to_the_same_state(steps in steps()) {
        let (mut desk, mut phases) = (desk(), Phases::new());
        for step in &steps {
            take(&mut desk, &mut phases, step);
        }
        desk.state.settle();
        let mut folded = State::deciding();
        for entry in &desk.record {
            let effect: Effect = serde_json::from_slice(&serde_json::to_vec(&entry.effect).unwrap()).unwrap();
            folded.apply(&Entry { effect, body: None, ..entry.clone() });
        }
        folded.settle();
        prop_assert_eq!(&folded, &desk.state);
        let mut read = State::from_bytes(&folded.to_bytes()).unwrap();
        read.add_taken(&folded.taken().0);
        prop_assert_eq!(read, folded);
        for (id, phase) in phases {
            prop_assert_eq!(desk.state.rules().extensions.consensus.named(&id).unwrap().1.phase, phase);
        }
    }
}
