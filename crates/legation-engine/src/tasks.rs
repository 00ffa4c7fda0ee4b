//! Reading tasks, and saying what becomes of them. Each sees those it has a part in.

use crate::exchange::{Error, Exchange};
use legation_exchange::rules::cap::{Order, Review, Rights, Step, Task, question_of_order};
use legation_exchange::{Accepted, Directive, Effect, Input, Role, State, Verdict, Who};
use legation_protocol::{Code, Rejection};
use serde_json::Value;
use std::collections::BTreeMap;

/// A task as somebody may see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// Its number: the position of the entry that opened it.
    pub number: u64,
    /// Its state, as far as the one who looks may know.
    pub state: &'static str,
    /// The task, with those reviews of its work that the one who looks may know of.
    pub task: Task,
    /// The ids from its root down to itself.
    pub lineage: Vec<String>,
    /// Its parts.
    pub parts: Vec<Part>,
    /// What its assignee may use in it, all told.
    pub rights: Rights,
    /// Who reviews the work in it.
    pub overseer: Option<String>,
}

/// A part of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its id.
    pub id: String,
    /// Who works on it.
    pub assignee: String,
    /// How it stands.
    pub state: &'static str,
}

/// Something that was said in a task.
#[derive(Clone, Debug, PartialEq)]
pub struct Spoken {
    /// Where it lies.
    pub position: u64,
    /// Who said it, to whom, and what kind of message it was.
    pub accepted: Accepted,
    /// What it carries, without what is in it.
    pub attachments: Vec<Value>,
}

/// Which tasks are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskQuery {
    /// In this state.
    pub state: Option<String>,
    /// With this agent among its parties.
    pub agent: Option<String>,
    /// Opened after this position.
    pub after: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

impl Exchange {
    /// Tasks that somebody may see, oldest first.
    pub fn tasks(&self, who: &Who, query: &TaskQuery) -> Vec<Sight> {
        let state = self.state();
        let agent = query.agent.as_deref();
        let agent = agent.map(|name| state.registry().resolve(name).map_or(name, |agent| agent.id.as_str()));
        let fits = |sight: &Sight| {
            query.state.as_ref().is_none_or(|wanted| sight.state == wanted)
                && agent.is_none_or(|agent| has_part(&state, sight, agent))
        };
        let cap = &state.rules().cap;
        let later = cap.tasks().filter(|(number, _)| query.after.is_none_or(|after| *number > after));
        let seen = later.filter(|(number, _)| state.may_see_task(who, *number));
        seen.map(|(number, task)| self.sight(&state, who, number, task)).filter(fits).take(query.limit).collect()
    }

    /// The task with this id, if somebody may see it. Where several openers use the id, one has to be named.
    pub fn task(&self, who: &Who, id: &str, opener: Option<&str>) -> Result<Sight, Rejection> {
        let state = self.state();
        let opener = opener.map(|name| state.registry().resolve(name).map_or(name, |agent| agent.id.as_str()));
        let named = state.rules().cap.named(id);
        let mut seen = named.filter(|(number, task)| {
            state.may_see_task(who, *number) && opener.is_none_or(|opener| task.opener == opener)
        });
        match (seen.next(), seen.next()) {
            (None, _) => Err(Rejection::because(Code::UnknownTask, "there is no such task")),
            (Some((number, task)), None) => Ok(self.sight(&state, who, number, task)),
            (Some(_), Some(_)) => {
                let message = "several openers have a task with this id: name one with `?opener=`";
                Err(Rejection::because(Code::AmbiguousReference, message))
            }
        }
    }

    fn sight(&self, state: &State, who: &Who, number: u64, task: &Task) -> Sight {
        let (cap, registry) = (&state.rules().cap, state.registry());
        let mut lineage: Vec<_> = cap.line(number).map(|(_, task)| task.id.clone()).collect();
        lineage.reverse();
        let parts = task.parts.iter().filter_map(|part| cap.task(*part));
        let part =
            |part: &Task| Part { id: part.id.clone(), assignee: part.assignee.clone(), state: state_for(who, part) };
        let overseer = cap.overseer_in(registry, task);
        let overseer =
            overseer.map(|name| registry.referent(&name).map_or(name.into_owned(), |agent| agent.id.clone()));
        let rights = cap.left_in(registry, number, self.policies.borrow().narrowing);
        let (standing, reviews) = (state_for(who, task), known_reviews(who, task));
        let mut known = task.clone();
        known.reviews = reviews;
        Sight { number, state: standing, task: known, lineage, parts: parts.map(part).collect(), rights, overseer }
    }

    /// What was said in a task, as far as it is remembered there and somebody may know of it; not what is in it. Nothing
    /// is told of what work that waits for a word carries.
    pub fn spoken(&self, task: &Task, who: &Who) -> Result<Vec<Spoken>, Error> {
        let is_open = |position: u64| self.state().rules().holds.went_on(position);
        let spoken = |position: u64| {
            let Some(frame) = self.frame(position)? else { return Ok(None) };
            let Ok(Effect::Accepted(accepted)) = serde_json::from_slice(&frame.effect) else { return Ok(None) };
            if !self.state().may_see_in_task(who, task, position, &accepted) {
                return Ok(None);
            }
            let body = frame.body.into_here().filter(|_| is_open(position));
            let body = body.and_then(|body| serde_json::from_slice::<Value>(&body).ok()).unwrap_or_default();
            let attachments = body.get("attachments").and_then(Value::as_array).into_iter().flatten().map(outline);
            Ok(Some(Spoken { position, accepted, attachments: attachments.collect() }))
        };
        task.messages.iter().filter_map(|position| spoken(*position).transpose()).collect()
    }

    /// Returns how many messages of a task somebody may know of, given those that are listed for them.
    pub fn spoken_count(&self, task: &Task, listed: &[Spoken]) -> u64 {
        let state = self.state();
        let hidden = listed.iter().filter(|spoken| !state.rules().holds.went_on(spoken.position)).count();
        task.said.saturating_sub(task.hidden) + u64::try_from(hidden).unwrap_or_default()
    }

    /// Says what becomes of a task.
    pub async fn direct_task(&self, task: u64, step: Step, who: Who) -> Result<Verdict, Error> {
        let mut order = Order { task, step, opinion: None };
        let question = question_of_order(&self.state(), &order, &who);
        order.opinion = self.opinion(question).await;
        let order = Box::new(Directive::Cap(order));
        self.ask(Input::Order { order, who }).await
    }
}

/// Whether somebody decides on held messages, or looks on at those who do.
fn sees_reviews(who: &Who) -> bool {
    matches!(who, Who::Person { role: Role::Operator | Role::Auditor | Role::Reviewer, .. })
}

/// A task's state as somebody may know it: only its assignee, whose work it is, and those who decide on it know of a review.
fn state_for(who: &Who, task: &Task) -> &'static str {
    let is_senders = task.waits && who.is_or_speaks_as(&task.delegator);
    let knows = is_senders || who.is_or_speaks_as(&task.assignee) || !known_reviews(who, task).is_empty();
    if sees_reviews(who) || knows { task.state() } else { task.public_state() }
}

/// The reviews of a task's work that somebody may know of.
fn known_reviews(who: &Who, task: &Task) -> BTreeMap<u64, Review> {
    let is_overseer = |message: &u64| matches!(who, Who::Agent(id) if task.shown.get(message) == Some(id));
    let all = sees_reviews(who) || who.is_or_speaks_as(&task.assignee);
    let known = task.reviews.iter().filter(|(message, _)| all || is_overseer(message));
    known.map(|(message, review)| (*message, review.clone())).collect()
}

fn has_part(state: &State, sight: &Sight, agent: &str) -> bool {
    let Sight { task, overseer, .. } = sight;
    let base = |id: &str| state.registry().agent(id).and_then(|agent| agent.instance_of.clone());
    let is_it = |id: &str| id == agent || base(id).as_deref() == Some(agent);
    is_it(&task.delegator)
        || is_it(&task.assignee)
        || overseer.as_deref().is_some_and(is_it)
        || task.former.iter().any(|former| is_it(former))
}

/// What an attachment is, without what it says.
fn outline(attachment: &Value) -> Value {
    let names = ["type", "server_id", "tool", "path", "url"];
    let told = names.iter().filter_map(|name| Some(((*name).to_owned(), attachment.get(name)?.clone())));
    Value::Object(told.collect())
}
