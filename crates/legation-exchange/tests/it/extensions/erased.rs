//! What extensions keep of somebody is erased: the record without it folds to the state there is, whatever happened
//! before and after, and no word of theirs is left in either.

use super::consensus::{advance, vote};
use super::{all, read};
use crate::constraints::{below, signed};
use crate::desk::{Desk, accepted, agent, person, token};
use legation_exchange::extensions::consensus::{Act as Of, Phase};
use legation_exchange::extensions::{Act, Look, Subject, intent, personal, relational, torch};
use legation_exchange::rules::Change;
use legation_exchange::{Effect, Entry, Erasure, Input, Redaction, Role, State, Who, spans};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Everybody: agents, a person, and an operator.
const ALL: [&str; 4] = ["agent://h/a", "bravo", "ann", "operator"];

fn who(index: usize) -> Who {
    match ALL[index] {
        "ann" => person("ann", Role::Reviewer),
        "operator" => Who::operator(),
        id => agent(id),
    }
}

fn subject(index: usize) -> Subject {
    all(&who(index)).subject
}

/// A word that only this one says.
fn word(index: usize) -> String {
    format!("canary{index}")
}

#[derive(Clone, Debug)]
enum Step {
    Signal(usize),
    Engage(usize),
    Begin(usize, u8),
    Norm(usize),
    Report(usize),
    HandOff(usize, usize, u8),
    Receive(usize, usize),
    Infer(usize),
    Propose(usize),
    Amend(usize),
    Advance(usize),
    Say(usize),
    Vote(usize, usize),
    Withdraw(usize),
    Share(u8),
    Remove,
    Pass(u64),
    Erase(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let who = || 0..ALL.len();
    let step = prop_oneof![
        2 => who().prop_map(Step::Signal),
        1 => who().prop_map(Step::Engage),
        2 => (who(), 0..3u8).prop_map(|(who, session)| Step::Begin(who, session)),
        2 => who().prop_map(Step::Norm),
        1 => who().prop_map(Step::Report),
        6 => (who(), who(), 0..3u8).prop_map(|(who, to, session)| Step::HandOff(who, to, session)),
        5 => (who(), who()).prop_map(|(who, from)| Step::Receive(who, from)),
        1 => who().prop_map(Step::Infer),
        3 => who().prop_map(Step::Propose),
        2 => who().prop_map(Step::Amend),
        6 => who().prop_map(Step::Advance),
        4 => who().prop_map(Step::Say),
        5 => (who(), 0..3usize).prop_map(|(who, choice)| Step::Vote(who, choice)),
        1 => who().prop_map(Step::Withdraw),
        2 => (0..60u8).prop_map(Step::Share),
        1 => Just(Step::Remove),
        1 => (0..90u64).prop_map(Step::Pass),
        2 => who().prop_map(Step::Erase),
    ];
    prop::collection::vec(step, 0..80)
}

/// A desk, and what took the place of effects that were erased.
struct Run {
    desk: Desk,
    gone: BTreeMap<u64, Vec<u8>>,
    last: Option<String>,
}

impl Run {
    fn new() -> Run {
        let mut desk = Desk::new();
        desk.register(ALL[0], below(None, 1), Who::operator()).unwrap();
        desk.agent("bravo");
        let (name, role) = ("ann".to_owned(), Role::Reviewer);
        desk.ask(Input::Grant { name, role, who: Who::operator(), token: token("ann") });
        Run { desk, gone: BTreeMap::new(), last: None }
    }

    fn act(&mut self, index: usize, act: Act) -> Option<u64> {
        self.desk.act(&who(index), act).ok()
    }

    fn take(&mut self, step: &Step) {
        match *step {
            Step::Signal(index) => {
                let signals = json!([{"dimension": "body_signals", "category": "pain", "intensity": 4}]);
                self.act(index, Act::Personal(personal::Act::Set(read(json!({"signals": signals})))));
            }
            Step::Engage(index) => drop(self.act(index, Act::Personal(personal::Act::Engage))),
            Step::Begin(index, session) => {
                self.act(index, super::relational::begin(&format!("{}-{session}", word(index))));
            }
            Step::Norm(index) => {
                let norm = json!({"id": word(index), "description": word(index), "origin": "ai"});
                self.act(index, super::relational::norm(norm));
            }
            Step::Report(index) => {
                let report = json!({"dimensions": {"valence": {"value": 4, "uncertain": true, "label": word(index)}}});
                self.act(index, Act::Relational(relational::Act::ReportSelf(read(report))));
            }
            Step::HandOff(index, to, session) => {
                // The same names for everybody's sessions, so that one goes on with another's.
                let asked = json!({"session_id": session.to_string(), "to": ALL[to], "gift": word(index)});
                self.act(index, Act::Torch(torch::Act::HandOff(read(asked))));
            }
            Step::Receive(index, from) => {
                self.act(index, Act::Torch(torch::Act::Receive(read(json!({"from": ALL[from]})))));
            }
            Step::Infer(index) => {
                let act = json!({"session_id": word(index), "text": "explain the urgent status"});
                self.act(index, Act::Intent(intent::Act::Infer(read(act))));
            }
            Step::Share(second) => self.share(second),
            Step::Remove => {
                self.desk.ask(Input::Remove { id: "bravo".to_owned(), who: Who::operator() });
                self.desk.agent("bravo");
            }
            Step::Pass(minutes) => self.desk.passes(Duration::from_mins(minutes)),
            Step::Erase(index) => self.erase(index),
            Step::Propose(_)
            | Step::Amend(_)
            | Step::Advance(_)
            | Step::Say(_)
            | Step::Vote(..)
            | Step::Withdraw(_) => self.deliberate(step),
        }
    }

    fn deliberate(&mut self, step: &Step) {
        let id = self.last.clone();
        if let Step::Propose(index) = *step {
            let word = word(index);
            let candidates = json!([{"id": format!("{word}-a"), "label": word}, format!("{word}-b"), "bravo"]);
            let asked = json!({"title": word, "text": word, "candidates": candidates, "stakeholders": ALL});
            let made = self.act(index, Act::Consensus(Of::Propose(read(asked))));
            self.last = made.map(|position| format!("D{position}")).or(id);
            return;
        }
        let Some(id) = id else { return };
        let Some((_, one)) = self.desk.state.rules().extensions.consensus.named(&id) else { return };
        let (next, choices): (_, Vec<_>) =
            (one.phase.next(), one.candidates.iter().map(|one| one.id.clone()).collect());
        match *step {
            Step::Amend(index) => {
                let asked = json!({"deliberation_id": id, "title": word(index)});
                self.act(index, Act::Consensus(Of::Amend(read(asked))));
            }
            Step::Advance(index) => drop(next.map(|to| advance(&mut self.desk, &who(index), &id, to))),
            Step::Say(index) => {
                self.act(index, Act::Consensus(Of::Say(read(json!({"deliberation_id": id, "text": word(index)})))));
            }
            Step::Vote(index, choice) => drop(vote(&mut self.desk, &who(index), &id, &json!([choices[choice]]))),
            Step::Withdraw(index) => {
                self.act(index, Act::Consensus(Of::Withdraw(read(json!({"deliberation_id": id})))));
            }
            _ => {}
        }
    }

    fn share(&mut self, second: u8) {
        let text = json!({
            "vcp_message": "1.2", "type": "context_share",
            "message_id": format!("019502a4-7e5c-7000-8000-{:012x}", self.desk.record.len()),
            "sender": ALL[0], "recipient": "bravo", "timestamp": format!("2026-02-15T10:29:{second:02}Z"),
            "payload": {"context": "📍🏡|⏰🌅", "constitution_ref": format!("creed://h/{}.y.z", word(0))},
        });
        self.desk.send(&text.to_string(), signed());
    }

    /// Erases all of somebody, as the engine finds it.
    fn erase(&mut self, index: usize) {
        let whose = subject(index);
        let is_own = |entry: &Entry| match &entry.effect {
            Effect::Accepted(accepted) => accepted.sender == whose.bare(),
            effect => effect.kept_of() == Some(&whose),
        };
        let own: BTreeSet<u64> =
            self.desk.record.iter().filter(|entry| is_own(entry)).map(|entry| entry.position).collect();
        let amends = |entry: &&Entry| {
            let mut changes = entry.effect.made().iter().filter_map(Change::extension);
            changes.any(|change| change.amends().is_some_and(|proposal| own.contains(&proposal)))
        };
        let others: Vec<_> = self.desk.record.iter().filter(amends).map(|entry| entry.position).collect();
        let all: BTreeSet<u64> = own.iter().copied().chain(others).collect();
        let mut redacted = Vec::new();
        for position in &all {
            let effect = &self.desk.record[usize::try_from(*position).unwrap()].effect;
            let known = self.desk.state.erasures().redacted(*position).is_some();
            if let Some(redaction) = Redaction::of(*position, effect).filter(|_| !known) {
                redacted.push(redaction.says);
                self.gone.insert(*position, redaction.effect);
            }
        }
        let (positions, forgets) = (spans(all), [whose].into());
        let erasure = Erasure { positions, redacted, forgets, undelivered: true, ..Erasure::default() };
        self.desk.ask(Input::Erase { erasure: Box::new(erasure), who: Who::operator() });
        self.says_nothing_of(index);
    }

    /// The record as it lies on the disk once all is cleared.
    fn left(&self) -> Vec<Entry> {
        self.left_where(|_| true)
    }

    /// The same while some of it is not, as a crash leaves it.
    fn left_where(&self, is_cleared: impl Fn(u64) -> bool) -> Vec<Entry> {
        let left = |entry: &Entry| {
            let effect = serde_json::to_vec(&entry.effect).unwrap();
            let effect = self.gone.get(&entry.position).filter(|_| is_cleared(entry.position)).unwrap_or(&effect);
            Entry { effect: serde_json::from_slice(effect).unwrap(), body: None, ..entry.clone() }
        };
        self.desk.record.iter().map(left).collect()
    }

    fn says_nothing_of(&self, index: usize) {
        let word = word(index);
        for entry in self.left() {
            let effect = serde_json::to_string(&entry.effect).unwrap();
            assert!(!effect.contains(&word), "{} says {effect}", entry.position);
        }
        let state = self.desk.state.to_bytes();
        assert!(!state.windows(word.len()).any(|some| some == word.as_bytes()), "the state knows {word}");
    }
}

fn folded(record: &[Entry]) -> State {
    let mut folded = State::deciding();
    for entry in record {
        folded.apply(entry);
    }
    folded.settle();
    folded
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn without_what_was_erased_the_record_folds_to_the_same_state(steps in steps(), cut in 0..80u64, every in 2..4u64) {
        let mut run = Run::new();
        for step in &steps {
            run.take(step);
        }
        run.desk.state.settle();
        prop_assert_eq!(&folded(&run.desk.record), &run.desk.state);
        prop_assert_eq!(&folded(&run.left()), &run.desk.state);
        prop_assert_eq!(&folded(&run.left_where(|position| position < cut)), &run.desk.state);
        prop_assert_eq!(&folded(&run.left_where(|position| position >= cut)), &run.desk.state);
        prop_assert_eq!(&folded(&run.left_where(|position| position % every == 0)), &run.desk.state);
    }
}

fn told(run: &Run, index: usize, look: &Look) -> Value {
    run.desk.sees(&who(index), look).unwrap()
}

#[test]
fn whoever_took_a_torch_goes_on_from_where_it_was_when_its_giver_is_erased() {
    let mut run = Run::new();
    for session in 0..3 {
        run.take(&Step::Begin(0, session));
    }
    for step in [Step::Norm(0), Step::HandOff(0, 1, 7), Step::Receive(1, 0), Step::HandOff(0, 2, 8)] {
        run.take(&step);
    }
    run.take(&Step::Erase(0));
    let torch = told(&run, 1, &Look::Torch);
    assert_eq!((&torch["session_count"], &torch["received"]["session_count"]), (&json!(4), &json!(4)), "{torch}");
    assert_eq!((&torch["received"]["gift"], &torch["received"]["primes"]), (&Value::Null, &json!([])), "{torch}");
    assert_eq!(torch["lineage_depth"], 0, "{torch}");
    let relation = told(&run, 1, &Look::Relational(read(json!({}))));
    assert_eq!((&relation["session_count"], &relation["standing"]), (&json!(4), &json!("ADVISORY")), "{relation}");
    assert_eq!(told(&run, 2, &Look::Torch)["offers"], json!([]));
    assert_eq!(told(&run, 0, &Look::Torch)["session_count"], 0);
}

#[test]
fn a_session_that_two_handed_over_stays_one_when_the_second_of_them_is_erased() {
    let mut run = Run::new();
    for step in [Step::HandOff(1, 0, 5), Step::Receive(0, 1), Step::HandOff(0, 2, 5), Step::Receive(2, 0)] {
        run.take(&step);
    }
    run.take(&Step::Erase(0));
    assert_eq!(told(&run, 2, &Look::Torch)["lineage_depth"], 0);
    run.desk.state.settle();
    assert_eq!(folded(&run.left()), run.desk.state);
}

#[test]
fn what_was_decided_stays_so_when_somebody_is_erased_who_had_a_say_or_proposed_it() {
    let mut run = Run::new();
    let which = |run: &Run| json!({"deliberation_id": run.last.clone().unwrap()});
    run.take(&Step::Propose(0));
    for _ in 0..2 {
        run.take(&Step::Advance(0));
    }
    for step in [Step::Say(1), Step::Say(2), Step::Vote(1, 1), Step::Vote(2, 1), Step::Vote(0, 2)] {
        run.take(&step);
    }
    let open = told(&run, 2, &Look::Outcome(read(which(&run))));
    assert_eq!(open["ballots"], 3);
    for _ in 0..2 {
        run.take(&Step::Advance(0));
    }
    let decided = told(&run, 2, &Look::Outcome(read(which(&run))));
    run.take(&Step::Erase(1));
    let after = told(&run, 2, &Look::Outcome(read(which(&run))));
    assert_eq!(after, decided, "a ballot that is gone still counted");
    let shown = told(&run, 2, &Look::Deliberation(read(which(&run))));
    assert_eq!(shown["statements"].as_array().unwrap().len(), 1, "{shown}");
    run.take(&Step::Erase(0));
    let after = told(&run, 2, &Look::Outcome(read(which(&run))));
    assert_eq!((&after["winner"], &after["d"], &after["ballots"]), (&json!("2"), &decided["d"], &json!(3)), "{after}");
    let shown = told(&run, 2, &Look::Deliberation(read(which(&run))));
    assert_eq!((&shown["title"], &shown["text"], &shown["phase"]), (&json!(""), &json!(""), &json!(Phase::Active)));
    assert_eq!(shown["own_ballot"], json!([["2"]]), "{shown}");
}

#[test]
fn a_ballot_that_is_erased_before_the_end_counts_no_more_and_may_be_cast_again() {
    let mut run = Run::new();
    run.take(&Step::Propose(2));
    for step in [Step::Advance(2), Step::Advance(2), Step::Vote(1, 0), Step::Erase(1)] {
        run.take(&step);
    }
    let which = json!({"deliberation_id": run.last.clone().unwrap()});
    assert_eq!(told(&run, 2, &Look::Outcome(read(which.clone())))["ballots"], 0);
    run.take(&Step::Vote(1, 2));
    assert_eq!(told(&run, 2, &Look::Outcome(read(which)))["ballots"], 1);
}

#[test]
fn a_context_goes_with_the_message_that_shared_it() {
    let mut run = Run::new();
    run.take(&Step::Share(10));
    let first = run.desk.record.last().unwrap().position;
    run.take(&Step::Share(20));
    let second = run.desk.record.last().unwrap().position;
    let current = |run: &Run| run.desk.state.rules().vcp.contexts.of(ALL[0]).map(|current| current.position);
    for (position, want) in [(first, Some(second)), (second, None)] {
        let effect = &run.desk.record[usize::try_from(position).unwrap()].effect;
        let redaction = Redaction::of(position, effect).unwrap();
        assert_eq!((redaction.says.position, &redaction.forgets), (position, &None));
        assert!(Redaction::of(position, &serde_json::from_slice(&redaction.effect).unwrap()).is_none());
        let (positions, redacted) = (spans([position]), vec![redaction.says]);
        let erasure = Erasure { positions, redacted, undelivered: true, ..Erasure::default() };
        accepted(&run.desk.ask(Input::Erase { erasure: Box::new(erasure), who: Who::operator() }));
        run.gone.insert(position, redaction.effect);
        assert_eq!(current(&run), want);
    }
    run.desk.state.settle();
    assert_eq!(folded(&run.left()), run.desk.state);
}
