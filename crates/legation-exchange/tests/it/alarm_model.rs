//! Escalations and standing under whatever is said, against a model of a few lines; and the state is what its
//! record folds to.

use crate::desk::Desk;
use crate::line::{CHILD, EXCHANGE, MIDDLE, PARENT, TOP, id, line, saying};
use legation_exchange::rules::vcp::{Order, Standing};
use legation_exchange::{Directive, Effect, Entry, Input, Kind, State, Verdict, Who};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Step {
    /// The child raises an alarm of this severity, with or without asking for an answer.
    Raise(usize, bool),
    /// The parent answers the nth.
    ParentAcks(u64),
    /// The one above it answers what the exchange told it of the nth.
    MiddleAcks(u64),
    /// The parent lets the child go on from the nth.
    Resume(u64),
    Time(u64),
    OperatorAcks(u64),
    Suspend,
    OperatorResumes,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        4 => (0..4usize, any::<bool>()).prop_map(|(severity, ack)| Step::Raise(severity, ack)),
        3 => (0..8u64).prop_map(Step::ParentAcks),
        2 => (0..8u64).prop_map(Step::MiddleAcks),
        3 => (0..8u64).prop_map(Step::Resume),
        4 => (0..7u64).prop_map(Step::Time),
        1 => prop_oneof![Just(60u64), Just(299), Just(301)].prop_map(Step::Time),
        1 => (0..8u64).prop_map(Step::OperatorAcks),
        1 => Just(Step::Suspend),
        1 => Just(Step::OperatorResumes),
    ];
    prop::collection::vec(step, 0..40)
}

const SEVERITIES: [&str; 4] = ["info", "warning", "critical", "emergency"];

/// An alarm as the model sees it.
#[derive(Debug)]
struct Seen {
    severity: usize,
    /// How far up it has gone: parent, middle, top, operator.
    level: usize,
    answered: bool,
    /// Who has answered.
    by: BTreeSet<&'static str>,
    due: Option<u64>,
}

#[derive(Debug, Default)]
struct Model {
    now: u64,
    open: BTreeMap<u64, Seen>,
    suspended: bool,
    /// How often middle and top were told, and the operator.
    told: [usize; 3],
}

impl Model {
    fn standing(&self) -> Standing {
        let by_alarm = |seen: &Seen| match seen.severity {
            3 => Standing::Suspended,
            2 => Standing::Paused,
            _ => Standing::Running,
        };
        let ordered = self.suspended.then_some(Standing::Suspended);
        self.open.values().map(by_alarm).chain(ordered).max().unwrap_or_default()
    }

    fn raise(&mut self, n: u64, severity: usize, ack: bool) -> bool {
        if self.standing() == Standing::Suspended {
            return false;
        }
        let (ack, wait) = (ack || severity > 1, if severity > 1 { 5 } else { 60 });
        let level = if severity == 3 { 2 } else { 0 };
        if severity == 3 {
            self.told[0] += 1;
            self.told[1] += 1;
        }
        let due = ack.then_some(self.now + wait);
        self.open.insert(n, Seen { severity, level, answered: false, by: BTreeSet::new(), due });
        true
    }

    /// Whether an answer counts, by whoever has not given it yet.
    fn ack(&mut self, n: u64, may: impl FnOnce(&mut Seen) -> bool) -> bool {
        let now = self.now;
        let Some(seen) = self.open.get_mut(&n) else { return false };
        if !may(seen) {
            return false;
        }
        if !seen.answered {
            (seen.answered, seen.due) = (true, (seen.severity == 2).then_some(now + 300));
        }
        if seen.severity < 2 {
            self.open.remove(&n);
        }
        true
    }

    fn pass(&mut self, seconds: u64) {
        self.now += seconds;
        for seen in self.open.values_mut().filter(|seen| seen.due.is_some_and(|due| due <= self.now)) {
            seen.answered = false;
            seen.level = (seen.level + 1).min(3);
            self.told[seen.level - 1] += 1;
            seen.due = (seen.level < 3).then_some(self.now + if seen.severity > 1 { 5 } else { 60 });
        }
    }
}

fn ordered(desk: &mut Desk, order: Order) -> bool {
    let order = Box::new(Directive::Vcp(order));
    matches!(desk.ask(Input::Order { order, who: Who::operator() }), Verdict::Accepted { .. })
}

/// The exchange's message to middle about the nth alarm.
fn told(desk: &Desk, n: u64) -> Option<String> {
    let about =
        |envelope: &legation_protocol::vcp::Envelope| envelope.refers_to().is_some_and(|of| of.to_string() == id(n));
    desk.propagated(MIDDLE)
        .into_iter()
        .map(|(envelope, _)| envelope)
        .find(about)
        .map(|said| said.message_id.to_string())
}

fn play(desk: &mut Desk, model: &mut Model, fresh: u64, raised: &mut Vec<usize>, step: &Step) {
    let taken = |verdict: &Verdict| matches!(verdict, Verdict::Accepted { .. });
    let severity = |raised: &[usize], n: u64| SEVERITIES[raised.get(usize::try_from(n).unwrap()).copied().unwrap_or(2)];
    let why = "because".to_owned();
    let (got, want) = match step {
        Step::Raise(kind, ack) => {
            let n = raised.len() as u64;
            raised.push(*kind);
            let verdict = saying(CHILD, PARENT, n).escalates(desk, SEVERITIES[*kind], "hot", *ack || *kind > 1);
            (taken(&verdict), model.raise(n, *kind, *ack))
        }
        Step::ParentAcks(n) => {
            let verdict = saying(PARENT, CHILD, fresh).acks(desk, severity(raised, *n), &id(*n));
            (taken(&verdict), model.ack(*n, |seen| seen.by.insert(PARENT)))
        }
        Step::MiddleAcks(n) => {
            let of = told(desk, *n).unwrap_or_else(|| id(*n));
            let verdict = saying(MIDDLE, EXCHANGE, fresh).acks(desk, severity(raised, *n), &of);
            let may = |seen: &mut Seen| seen.level > 0 && seen.by.insert(MIDDLE);
            (taken(&verdict), model.ack(*n, may))
        }
        Step::Resume(n) => {
            let verdict = saying(PARENT, CHILD, fresh).resumes(desk, *n);
            (taken(&verdict), model.open.remove(n).is_some())
        }
        Step::Time(seconds) => {
            desk.seconds(*seconds);
            model.pass(*seconds);
            (true, true)
        }
        Step::OperatorAcks(n) => (
            ordered(desk, Order::Acknowledge { escalation: id(*n) }),
            model.ack(*n, |seen| seen.by.is_empty() && seen.by.insert("operator")),
        ),
        Step::Suspend => {
            model.suspended = true;
            (ordered(desk, Order::Suspend { agent: CHILD.to_owned(), why }), true)
        }
        Step::OperatorResumes => {
            let was = model.standing() != Standing::Running;
            model.suspended = false;
            model.open.retain(|_, seen| seen.severity < 2);
            (ordered(desk, Order::Resume { agent: CHILD.to_owned(), escalation: None, why }), was)
        }
    };
    assert_eq!(got, want, "{step:?}");
    assert_eq!(desk.standing(CHILD), model.standing(), "after {step:?}");
    let open: Vec<_> = model.open.keys().map(|n| id(*n)).collect();
    assert_eq!(desk.open().iter().map(|alarm| alarm.id.clone()).collect::<Vec<_>>(), open, "after {step:?}");
}

proptest! {
    #[test]
    fn whatever_is_said_alarms_and_standing_are_as_the_model_has_them(steps in steps()) {
        let (mut desk, mut model, mut raised) = (line(), Model::default(), Vec::new());
        for (fresh, step) in (1000..).zip(&steps) {
            play(&mut desk, &mut model, fresh, &mut raised, step);
        }
        let told = |to| desk.propagated(to).into_iter().filter(|(said, _)| said.refers_to().is_some()).count();
        prop_assert_eq!([told(MIDDLE), told(TOP), desk.alerts(Kind::EscalationUnanswered)], model.told);
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
    }
}
