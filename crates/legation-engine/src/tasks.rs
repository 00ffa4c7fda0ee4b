//! Reading tasks, and saying what becomes of them. Each sees those it has a part in.

use crate::exchange::{Error, Exchange};
use legation_exchange::rules::cap::{Order, Rights, Step, Task, question_of_order};
use legation_exchange::{Accepted, Directive, Effect, Input, State, Verdict, Who};
use legation_protocol::{Code, Rejection};
use serde_json::Value;

/// A task as somebody may see it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sight {
    /// Its number: the position of the entry that opened it.
    pub number: u64,
    /// The task.
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
            query.state.as_ref().is_none_or(|wanted| sight.task.state() == wanted)
                && agent.is_none_or(|agent| has_part(&state, sight, agent))
        };
        let cap = &state.rules().cap;
        let later = cap.tasks().filter(|(number, _)| query.after.is_none_or(|after| *number > after));
        let seen = later.filter(|(number, _)| state.may_see_task(who, *number));
        seen.map(|(number, task)| self.sight(&state, number, task)).filter(fits).take(query.limit).collect()
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
            (Some((number, task)), None) => Ok(self.sight(&state, number, task)),
            (Some(_), Some(_)) => {
                let message = "several openers have a task with this id: name one with `?opener=`";
                Err(Rejection::because(Code::AmbiguousReference, message))
            }
        }
    }

    fn sight(&self, state: &State, number: u64, task: &Task) -> Sight {
        let (cap, registry) = (&state.rules().cap, state.registry());
        let mut lineage: Vec<_> = cap.line(number).map(|(_, task)| task.id.clone()).collect();
        lineage.reverse();
        let parts = task.parts.iter().filter_map(|part| cap.task(*part));
        let part = |part: &Task| Part { id: part.id.clone(), assignee: part.assignee.clone(), state: part.state() };
        let overseer = cap.overseer_in(registry, task);
        let overseer =
            overseer.map(|name| registry.referent(&name).map_or(name.into_owned(), |agent| agent.id.clone()));
        let rights = cap.left_in(registry, number, self.policies.borrow().narrowing);
        Sight { number, task: task.clone(), lineage, parts: parts.map(part).collect(), rights, overseer }
    }

    /// What was said in a task, as far as it is remembered there; not what is in it. Nothing is told of what
    /// work that waits for a word carries.
    pub fn spoken(&self, task: &Task) -> Result<Vec<Spoken>, Error> {
        let is_open =
            |position: u64| !task.reviews.contains_key(&position) && self.state().rules().holds.went_on(position);
        let spoken = |position: u64| {
            let Some(frame) = self.frame(position)? else { return Ok(None) };
            let Ok(Effect::Accepted(accepted)) = serde_json::from_slice(&frame.effect) else { return Ok(None) };
            let body = frame.body.into_here().filter(|_| is_open(position));
            let body = body.and_then(|body| serde_json::from_slice::<Value>(&body).ok()).unwrap_or_default();
            let attachments = body.get("attachments").and_then(Value::as_array).into_iter().flatten().map(outline);
            Ok(Some(Spoken { position, accepted, attachments: attachments.collect() }))
        };
        task.messages.iter().filter_map(|position| spoken(*position).transpose()).collect()
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
