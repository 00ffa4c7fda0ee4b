//! The state is what its record folds to, whatever happened.

use crate::desk::{Desk, by, claim, key, token};
use legation_exchange::{Effect, Entry, Input, KeyChange, Registration, Role, State, Verdict, Who};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::time::Duration;

#[derive(Clone, Debug)]
enum Step {
    Send { from: usize, to: usize, id: usize, content: usize },
    Acknowledge { agent: usize, up_to: u64 },
    Register(usize),
    Remove(usize),
    Pass(u64),
    Rotate(usize, u8),
    Confirm(usize, u8),
    Grant(usize, u8),
    Withdraw(usize),
    Key(usize, u8),
    Resend(usize, u64),
    Purge(usize, u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..4usize, 0..4usize, 0..6usize, 0..2usize).prop_map(|(from, to, id, content)| Step::Send { from, to, id, content }),
        2 => (0..4usize, 0..40u64).prop_map(|(agent, up_to)| Step::Acknowledge { agent, up_to }),
        2 => (0..4usize).prop_map(Step::Register),
        1 => (0..4usize).prop_map(Step::Remove),
        1 => (0..90u64).prop_map(Step::Pass),
        1 => Just(Step::Pass(7 * 24 * 60)),
        1 => (0..4usize, 0..4u8).prop_map(|(agent, token)| Step::Rotate(agent, token)),
        1 => (0..4usize, 0..8u8).prop_map(|(whose, token)| Step::Confirm(whose, token)),
        1 => (0..4usize, 4..8u8).prop_map(|(name, token)| Step::Grant(name, token)),
        1 => (0..4usize).prop_map(Step::Withdraw),
        1 => (0..4usize, 1..5u8).prop_map(|(agent, seed)| Step::Key(agent, seed)),
        2 => (0..4usize, 0..40u64).prop_map(|(agent, position)| Step::Resend(agent, position)),
        1 => (0..4usize, 0..40u64).prop_map(|(agent, up_to)| Step::Purge(agent, up_to)),
    ];
    prop::collection::vec(step, 0..60)
}

fn name(index: usize) -> String {
    ["alpha", "bravo", "charlie", "delta"][index].to_owned()
}

fn run(steps: &[Step]) -> Desk {
    let mut desk = Desk::new();
    for step in steps {
        match step {
            Step::Send { from, to, id, content } if from != to => {
                let text = claim(&name(*from), &name(*to), &format!("MSG00{id}"), &format!("c{content}"));
                desk.send(&text, by(&name(*from)));
            }
            Step::Send { .. } => {}
            Step::Acknowledge { agent, up_to } => {
                let who = Who::Agent(name(*agent));
                desk.ask(Input::Acknowledge { agent: name(*agent), up_to: Some(*up_to), positions: Vec::new(), who });
            }
            Step::Register(agent) => {
                let _ = desk.register(&name(*agent), Registration::default(), Who::operator());
            }
            Step::Remove(agent) => {
                desk.ask(Input::Remove { id: name(*agent), who: Who::operator() });
            }
            Step::Pass(minutes) => desk.passes(Duration::from_mins(*minutes)),
            Step::Rotate(..)
            | Step::Confirm(..)
            | Step::Grant(..)
            | Step::Withdraw(_)
            | Step::Key(..)
            | Step::Resend(..)
            | Step::Purge(..) => drop(desk.ask(asked(step))),
        }
    }
    desk
}

/// What an operator asks.
fn asked(step: &Step) -> Input {
    let who = Who::operator();
    // No two of them ever get the same token.
    let hash = |whose: usize, number: u8| token(&format!("{whose} {number}"));
    match *step {
        Step::Rotate(agent, number) => {
            let registration = Box::new(Registration { rotate_token: true, ..Registration::default() });
            Input::Register { id: name(agent), registration, who, token: hash(agent, number) }
        }
        Step::Confirm(whose, number) => Input::Confirm(hash(whose, number)),
        Step::Grant(person, number) => {
            Input::Grant { name: name(person), role: Role::Reviewer, who, token: hash(person, number) }
        }
        Step::Withdraw(person) => Input::Withdraw { name: name(person), who },
        Step::Key(agent, seed) => {
            let change = Box::new(KeyChange::Add { key: (&key(seed).public()).into(), proof: None });
            Input::Key { agent: name(agent), change, who }
        }
        Step::Resend(agent, position) => Input::Resend { agent: name(agent), positions: vec![position], who },
        Step::Purge(agent, up_to) => Input::Purge { agent: name(agent), up_to: Some(up_to), who },
        Step::Send { .. } | Step::Acknowledge { .. } | Step::Register(_) | Step::Remove(_) | Step::Pass(_) => {
            panic!("{step:?} is asked elsewhere")
        }
    }
}

proptest! {
    #[test]
    fn folding_the_record_gives_the_state(steps in steps()) {
        let mut desk = run(&steps);
        desk.state.settle();
        let mut folded = State::deciding();
        for (position, entry) in (0..).zip(&desk.record) {
            prop_assert_eq!(entry.position, position);
            // What is read back from disk has no body, and needs none.
            let written = entry.effect.to_json().unwrap();
            prop_assert_eq!(&written, &serde_json::to_vec(&entry.effect).unwrap());
            let effect: Effect = serde_json::from_slice(&written).unwrap();
            folded.apply(&Entry { effect, body: None, ..entry.clone() });
        }
        folded.settle();
        prop_assert_eq!(&folded, &desk.state);
        let mut read = State::from_bytes(&folded.to_bytes()).unwrap();
        read.add_taken(&folded.taken().0);
        prop_assert_eq!(read, folded);
    }

    #[test]
    fn nothing_is_taken_twice_within_its_window(steps in steps()) {
        let steps: Vec<_> = steps.into_iter().filter(|step| !matches!(step, Step::Pass(_) | Step::Remove(_))).collect();
        let desk = run(&steps);
        let mut seen = BTreeSet::new();
        for entry in &desk.record {
            if let Effect::Accepted(accepted) = &entry.effect {
                prop_assert!(seen.insert((accepted.sender.clone(), accepted.id.clone())), "taken twice");
            }
        }
    }

    #[test]
    fn a_verdict_names_the_entry_that_made_it_so(steps in steps()) {
        let mut desk = run(&steps);
        desk.agent("echo");
        desk.agent("foxtrot");
        let verdict = desk.send(&claim("echo", "foxtrot", "MSG999", "x"), by("echo"));
        let Verdict::Accepted { position, .. } = verdict else { panic!("{verdict:?}") };
        let entry = desk.record.last().unwrap();
        prop_assert_eq!(entry.position, position);
        prop_assert!(entry.body.is_some());
    }
}
