//! What must be true of tasks at any time, whatever is asked of them in whatever order. `model` says what becomes of each
//! step.

use super::house::{fail, folds_again, hand, hand_with, keeps_from, manifest, order, result, say, with};
use crate::desk::Desk;
use legation_exchange::rules::cap::{Narrowing, Step as Remedy};
use legation_exchange::{Input, Policy, Registration, Verdict, Who};
use proptest::prelude::*;
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;

const AGENTS: [&str; 4] = ["a", "b", "c", "d"];
const TOOLS: [&str; 3] = ["S/x", "S/y", "S/z"];

#[derive(Clone, Debug)]
enum Step {
    Open(usize, usize),
    Part { under: usize, to: usize, grants: u8 },
    Result(usize),
    Fail(usize),
    Decide(usize, usize),
    Retry(usize),
    Reassign(usize, usize),
    Manifest(usize, u8),
    Remove(usize),
    Pass(u64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3usize, 0..4usize).prop_map(|(id, to)| Step::Open(id, to)),
        6 => (0..20usize, 0..4usize, 0..8u8).prop_map(|(under, to, grants)| Step::Part { under, to, grants }),
        4 => (0..20usize).prop_map(Step::Result),
        2 => (0..20usize).prop_map(Step::Fail),
        3 => (0..20usize, 0..3usize).prop_map(|(task, decision)| Step::Decide(task, decision)),
        1 => (0..20usize).prop_map(Step::Retry),
        1 => (0..20usize, 0..4usize).prop_map(|(task, to)| Step::Reassign(task, to)),
        1 => (0..4usize, 0..8u8).prop_map(|(agent, tools)| Step::Manifest(agent, tools)),
        1 => (0..4usize).prop_map(Step::Remove),
        1 => (0..90u64).prop_map(Step::Pass),
    ];
    prop::collection::vec(step, 0..40)
}

fn picked(bits: u8) -> Vec<&'static str> {
    (0..3).filter(|bit| bits & (1 << bit) != 0).map(|bit| TOOLS[bit]).collect()
}

/// `c` is overseen by `d`; everybody may delegate to everybody.
fn write(desk: &mut Desk, agent: usize, tools: u8) {
    let id = AGENTS[agent];
    let others: Vec<_> = AGENTS.into_iter().filter(|other| *other != id).collect();
    let _ = with(desk, manifest(id, &others, (id == "c").then_some("d"), &picked(tools)));
}

/// Which task a step means, of those there are.
fn nth(desk: &Desk, index: usize) -> Option<(u64, String, String, String)> {
    let tasks: Vec<_> = desk.state.rules().cap.tasks().collect();
    let (number, task) = tasks.get(index % tasks.len().max(1))?;
    Some((*number, task.id.clone(), task.delegator.clone(), task.assignee.clone()))
}

fn run(desk: &mut Desk, step: &Step) {
    match step {
        Step::Open(id, to) => drop(hand(desk, &format!("T{id}"), "orchestrator", AGENTS[*to])),
        Step::Pass(minutes) => desk.passes(Duration::from_mins(*minutes)),
        Step::Manifest(agent, tools) => write(desk, *agent, *tools),
        Step::Remove(agent) => {
            desk.ask(Input::Remove { id: AGENTS[*agent].to_owned(), who: Who::operator() });
            desk.passes(Duration::from_secs(1));
            let _ = desk.register(AGENTS[*agent], Registration::default(), Who::operator());
            write(desk, *agent, 7);
        }
        Step::Part { .. }
        | Step::Result(_)
        | Step::Fail(_)
        | Step::Decide(..)
        | Step::Retry(_)
        | Step::Reassign(..) => {
            within(desk, step);
        }
    }
}

fn within(desk: &mut Desk, step: &Step) -> Option<Verdict> {
    match step {
        Step::Part { under, to, grants } => {
            let (_, id, _, me) = nth(desk, *under)?;
            let part = desk.record.len();
            let tools: Vec<_> = picked(*grants).iter().map(|tool| tool.trim_start_matches("S/")).collect();
            let grants = if *grants == 7 { json!({}) } else { json!({ "grants": { "tools": tools } }) };
            (me != AGENTS[*to]).then(|| hand_with(desk, &format!("{id}.{part}"), &me, AGENTS[*to], grants))
        }
        Step::Result(index) => nth(desk, *index).map(|(_, id, to, me)| result(desk, &id, &me, &to)),
        Step::Fail(index) => nth(desk, *index).map(|(_, id, to, me)| fail(desk, &id, &me, &to, 500)),
        Step::Decide(index, decision) => {
            let (_, id, to, _) = nth(desk, *index)?;
            let decision = ["approve", "revise", "reject"][*decision];
            (to != "d").then(|| say(desk, &id, "d", &to, json!({ "decision": decision })))
        }
        Step::Retry(index) => nth(desk, *index).map(|(_, id, ..)| order(desk, &id, Remedy::Retry, Who::operator())),
        Step::Reassign(index, to) => {
            let (_, id, ..) = nth(desk, *index)?;
            Some(order(desk, &id, Remedy::Reassign(AGENTS[*to].to_owned()), Who::operator()))
        }
        Step::Open(..) | Step::Manifest(..) | Step::Remove(_) | Step::Pass(_) => None,
    }
}

/// What must be true of the tasks at any time.
fn check(desk: &Desk) {
    let cap = &desk.state.rules().cap;
    let mut open_parts: BTreeMap<u64, usize> = BTreeMap::new();
    for (number, task) in cap.tasks() {
        assert_eq!(
            cap.held(&task.assignee).any(|held| held == number),
            task.is_open(),
            "{} is held while it is open",
            task.id
        );
        let line: Vec<_> = cap.line(number).map(|(_, task)| task).collect();
        assert_eq!(line.len(), task.depth);
        assert!(task.depth <= 8 && task.open_parts <= 64);
        if let Some(parent) = task.parent.filter(|_| task.is_open()) {
            *open_parts.entry(parent).or_default() += 1;
            assert!(task.deadline <= cap.task(parent).unwrap().deadline || !cap.task(parent).unwrap().is_open());
        }
        for (message, review) in &task.reviews {
            assert!(review.overseer.as_deref().is_none_or(|overseer| overseer == "d"));
            let is_held = desk.state.rules().holds.get(*message).is_some();
            assert!(is_held, "what is in review is held");
        }
        if task.is_open() {
            assert!(line.iter().skip(1).all(|above| above.assignee != task.assignee), "no circles");
        }
        narrows(desk, number);
    }
    for (number, task) in cap.tasks() {
        assert_eq!(open_parts.get(&number).copied().unwrap_or(0), task.open_parts, "{}", task.id);
    }
}

/// Nothing is left to a task that a grant above it has taken away, or, strictly, that one above it has not: not by what is
/// shown of it, and not on the wire.
fn narrows(desk: &Desk, number: u64) {
    let (cap, registry) = (&desk.state.rules().cap, desk.state.registry());
    let grants = |tool: &str| cap.line(number).all(|(_, task)| task.grant.allows_tool(tool));
    let left = cap.left_in(registry, number, Narrowing::Grants);
    let strict = cap.left_in(registry, number, Narrowing::Strict);
    for tool in ["x", "y", "z"] {
        assert!(grants(tool) || !left.bind("S", tool), "rights never widen along a lineage");
        assert!(grants(tool) || !may_use(desk, number, Narrowing::Grants, tool), "nor are they used");
        for (above, _) in cap.line(number).skip(1) {
            let more = cap.left_in(registry, above, Narrowing::Strict);
            assert!(more.bind("S", tool) || !strict.bind("S", tool), "strictly, nobody has more than those above");
        }
        // What ended above is nobody's to use; who handed this on is asked all the same.
        for (above, _) in cap.line(number).skip(1).filter(|(_, above)| above.is_open()) {
            let more = may_use(desk, above, Narrowing::Strict, tool);
            assert!(
                more || !may_use(desk, number, Narrowing::Strict, tool),
                "strictly, nobody uses more than those above"
            );
        }
    }
}

/// Whether the assignee of a task may use a tool in it, as it is asked on the wire. Of one id, the newest task is meant.
fn may_use(desk: &Desk, number: u64, narrowing: Narrowing, tool: &str) -> bool {
    let cap = &desk.state.rules().cap;
    let task = cap.task(number).unwrap();
    let is_newest = cap.keyed(&task.opener, &task.id).is_some_and(|(newest, _)| newest == number);
    let policy = Policy { narrowing, ..desk.policy.clone() };
    is_newest && task.is_open() && keeps_from(desk, &policy, &task.assignee, Some(&task.id), tool).is_none()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn whatever_is_asked_the_tasks_hold_together(steps in steps()) {
        let mut desk = Desk::new();
        (0..4).for_each(|agent| write(&mut desk, agent, 7));
        for step in &steps {
            run(&mut desk, step);
            check(&desk);
        }
        folds_again(&desk);
    }

    #[test]
    fn nothing_overseen_is_done_before_it_is_approved(steps in steps()) {
        let mut desk = Desk::new();
        (0..4).for_each(|agent| write(&mut desk, agent, 7));
        for step in &steps {
            let before: BTreeMap<_, _> = desk.state.rules().cap.tasks().map(|(n, task)| (n, task.clone())).collect();
            run(&mut desk, step);
            for (number, task) in desk.state.rules().cap.tasks().filter(|(_, task)| task.state() == "done") {
                let was = before.get(&number).filter(|was| was.is_open() && was.assignee == "c");
                if was.is_some() {
                    prop_assert!(matches!(step, Step::Decide(_, 0)), "{} by {step:?}", task.id);
                }
            }
        }
    }
}
