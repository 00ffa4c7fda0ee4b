//! Tasks against a model of them: whoever hands on, reports, fails, decides, asks, orders, leaves or comes back, in whatever
//! order, each step ends as the model says, and every task stands as it says. The model is written from the spec and from
//! what `docs/guides/tasks.md` promises, in plain data of its own; nothing of the rules is asked.

mod fate;
mod orders;
mod play;
mod steps;
mod words;
mod world;

use super::house::{folds_again, keeps_from};
use crate::desk::{Desk, START};
use fate::USUAL;
use legation_exchange::Effect;
use legation_exchange::rules::cap::{Escalation, Narrowing, Oversight};
use legation_protocol::Code;
use play::{everything, play};
use proptest::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use steps::{Step, steps};
use words::Fate;
use world::{AGENTS, Agent, Model, Name, Rights, Stage, TOOLS};

const HOUR: u64 = 3_600_000_000;

/// All that is seen of a task.
#[derive(Debug, PartialEq)]
struct Seen {
    id: String,
    opener: String,
    parent: Option<u64>,
    depth: usize,
    delegator: String,
    assignee: String,
    former: Vec<String>,
    state: &'static str,
    open_parts: usize,
    in_review: bool,
    /// What waits, for whom, and whether it is the result.
    works: Vec<(u64, Option<String>, bool)>,
    result: Option<u64>,
    deadline: u64,
    tries: u32,
    errors: Vec<(i64, String)>,
    escalated: Option<String>,
}

/// The tasks as the exchange has them.
fn seen(desk: &Desk) -> BTreeMap<u64, Seen> {
    let see = |task: &legation_exchange::rules::cap::Task| Seen {
        id: task.id.clone(),
        opener: task.opener.clone(),
        parent: task.parent,
        depth: task.depth,
        delegator: task.delegator.clone(),
        assignee: task.assignee.clone(),
        former: task.former.clone(),
        state: task.state(),
        open_parts: task.open_parts,
        in_review: task.is_in_review(),
        works: task.reviews.iter().map(|(at, one)| (*at, one.overseer.clone(), one.is_final)).collect(),
        result: task.result,
        deadline: task.deadline.micros() - START,
        tries: task.tries,
        errors: task.errors.iter().map(|failure| (failure.code, failure.by.clone())).collect(),
        escalated: task.escalated.as_ref().map(|to| match to {
            Escalation::Party(to) => to.clone(),
            Escalation::Operator => "operators".to_owned(),
        }),
    };
    desk.state.rules().cap.tasks().map(|(number, task)| (number, see(task))).collect()
}

/// The tasks as the model has them.
fn expected(model: &Model) -> BTreeMap<u64, Seen> {
    let names = |names: &[Name]| names.iter().map(|name| (*name).to_owned()).collect();
    let see = |number: u64, task: &world::Task| Seen {
        id: task.id.clone(),
        opener: task.opener.to_owned(),
        parent: task.parent,
        depth: model.line(number).len(),
        delegator: task.delegator.to_owned(),
        assignee: task.assignee.to_owned(),
        former: names(&task.former),
        state: match task.stage {
            Stage::Open if task.waits || task.is_in_review() => "in_review",
            Stage::Open if task.asked_user => "waits_for_user",
            Stage::Open => "open",
            Stage::Done => "done",
            Stage::Failed => "failed",
            Stage::Expired => "expired",
            Stage::Closed => "closed",
        },
        open_parts: model.parts(number).iter().filter(|part| model.tasks[part].is_open()).count(),
        in_review: task.is_in_review(),
        works: task.works.iter().map(|(at, work)| (*at, work.overseer.map(str::to_owned), work.is_final)).collect(),
        result: task.result,
        deadline: task.deadline * HOUR,
        tries: task.tries,
        errors: task.errors.iter().rev().take(16).rev().map(|(code, by)| (*code, (*by).to_owned())).collect(),
        escalated: task.escalated.map(str::to_owned),
    };
    model.tasks.iter().map(|(number, task)| (*number, see(*number, task))).collect()
}

/// The errors that the exchange told somebody of since an entry: the task, to whom and the code.
fn told(desk: &Desk, since: usize) -> Vec<(String, String, i64)> {
    let said = desk.record[since..].iter().filter_map(|entry| {
        let Effect::Accepted(accepted) = &entry.effect else { return None };
        (accepted.kind == "error_response").then_some(())?;
        let body: Value = serde_json::from_slice(entry.body.as_ref()?).unwrap();
        (body["sender_id"] == "legation").then_some(())?;
        let text = |name: &str| body[name].as_str().unwrap().to_owned();
        Some((text("task_id"), text("recipient_id"), body["error_code"].as_i64().unwrap()))
    });
    let mut said: Vec<_> = said.collect();
    said.sort();
    said
}

/// What should keep an agent from calling a tool: it calls in a task of its own or of its family, while that is open.
fn should_keep_from(model: &Model, who: Name, named: Option<&str>, tool: Name) -> Option<Code> {
    let Some(id) = named else {
        return (!model.may_use(who, None, tool)).then_some(Code::ToolNotBound);
    };
    let own = model.meant(model.seats(who, id), "").and_then(|own| match own {
        Some(own) => Ok(Some(own)),
        None => model.meant(model.family_seats(who, id), ""),
    });
    match own {
        Err(world::Ambiguous) => Some(Code::AmbiguousReference),
        Ok(None) if model.is_known(who, id) => Some(Code::NotAParty),
        Ok(None) => Some(Code::UnknownTask),
        Ok(Some(task)) if !model.may_use(who, Some(task), tool) => Some(Code::ToolNotBound),
        Ok(Some(task)) if !model.tasks[&task].is_open() => Some(Code::TaskState),
        Ok(Some(_)) => None,
    }
}

fn check_tools(desk: &Desk, model: &Model, named: Option<&str>) -> Result<(), TestCaseError> {
    for who in AGENTS.into_iter().filter(|who| model.is_agent(who)) {
        for tool in TOOLS {
            let is = keeps_from(desk, &desk.policy, who, named, tool);
            let should = should_keep_from(model, who, named, tool);
            prop_assert_eq!(is, should, "{} in {:?}: {}", who, named, tool);
        }
    }
    Ok(())
}

/// Everybody may hand on to everybody, and `d` reviews what `c` does.
fn begin(narrowing: Narrowing, oversight: Oversight) -> (Desk, Model) {
    let mut desk = Desk::new();
    (desk.policy.narrowing, desk.policy.oversight) = (narrowing, oversight);
    desk.policy.task_deadline = Duration::from_hours(USUAL);
    // No mailbox loses anything but what is taken out of it.
    desk.policy.time_to_live = Duration::from_hours(100_000);
    let (agents, tasks, shown) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
    let (held, told) = (BTreeMap::new(), Vec::new());
    let mut model = Model { now: 0, narrowing, oversight, agents, tasks, shown, held, told };
    for who in AGENTS {
        let overseer = (who == "c").then_some("d");
        let rights = (who != "b-1").then(|| Rights { overseer, ..everything() });
        model.agents.insert(who, Agent { since: desk.record.len() as u64, manifest: rights.clone() });
        assert_eq!(play::register(&mut desk, who, rights.as_ref()), Fate::Taken);
    }
    (desk, model)
}

fn step(desk: &mut Desk, model: &mut Model, step: &Step) -> Result<(), TestCaseError> {
    let since = desk.record.len();
    let Some((should, is)) = play(desk, model, step) else { return Ok(()) };
    prop_assert_eq!(is, should, "{:?}", step);
    prop_assert_eq!(seen(desk), expected(model), "after {:?}", step);
    let mut errors: Vec<_> = model.told.drain(..).map(|(task, to, code)| (task, to.to_owned(), code)).collect();
    errors.sort();
    prop_assert_eq!(told(desk, since), errors, "told after {:?}", step);
    let held: BTreeSet<_> = desk.state.rules().holds.iter().map(|(message, _)| message).collect();
    prop_assert_eq!(held, model.waiting(), "held after {:?}", step);
    check_tools(desk, model, None)?;
    // One task a step is looked into; at the end, all are.
    let looked_at = model.tasks.values().nth(since % model.tasks.len().max(1)).map(|task| task.id.clone());
    looked_at.map_or(Ok(()), |id| check_tools(desk, model, Some(&id)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(384))]

    #[test]
    fn tasks_go_as_the_model_says(
        steps in steps(),
        narrowing in prop_oneof![2 => Just(Narrowing::Grants), 1 => Just(Narrowing::Strict)],
        oversight in prop_oneof![2 => Just(Oversight::Marked), 1 => Just(Oversight::Implied), 1 => Just(Oversight::Strict)],
    ) {
        let (mut desk, mut model) = begin(narrowing, oversight);
        for one in &steps {
            step(&mut desk, &mut model, one)?;
        }
        let ids: BTreeSet<_> = model.tasks.values().map(|task| task.id.clone()).collect();
        for id in &ids {
            check_tools(&desk, &model, Some(id))?;
        }
        folds_again(&desk);
    }
}
