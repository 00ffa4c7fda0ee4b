//! Calls as the record has them: for whoever made them, for those with a part in their task, who see no arguments and no
//! results, and for those who see everything.

use crate::erase::PAGE;
use crate::exchange::{Error, Exchange};
use legation_exchange::tool::{Answered, Called};
use legation_exchange::{Effect, Entry, Moment, Who};
use legation_store::index::{Order, Query, What};

/// A call, and what came of it if anything has.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenCall {
    /// The entry of the call.
    pub position: u64,
    /// When it was made.
    pub at: Moment,
    /// The call.
    pub called: Called,
    /// Its arguments, for those who may see them and while they are kept.
    pub arguments: Option<Box<[u8]>>,
    /// What came of it.
    pub answer: Option<SeenAnswer>,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenAnswer {
    /// The entry of the answer.
    pub position: u64,
    /// When it came.
    pub at: Moment,
    /// What came.
    pub answered: Answered,
    /// What the server said, for those who may see it and while it is kept.
    pub said: Option<Box<[u8]>>,
}

/// Which calls are asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallQuery {
    /// Made by this agent.
    pub agent: Option<String>,
    /// In this task.
    pub task: Option<String>,
    /// Before this position.
    pub before: Option<u64>,
    /// At most so many.
    pub limit: usize,
}

/// How much of a call somebody sees.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sight {
    All,
    /// That it was made, and how it ended.
    Facts,
}

impl Exchange {
    /// The call in an entry, or the one whose answer the entry is, if somebody may see it.
    pub async fn tool_call(&self, position: u64, who: &Who) -> Result<Option<SeenCall>, Error> {
        let Some(entry) = self.entry(position)? else { return Ok(None) };
        let (call, answer) = if let Effect::Answered(answered) = &entry.effect {
            (self.entry(answered.call)?, Some(entry))
        } else {
            (Some(entry), None)
        };
        let Some((call, sight)) = call.and_then(|call| self.sight_of(&call, who).map(|sight| (call, sight))) else {
            return Ok(None);
        };
        let answer = match answer {
            Some(answer) => Some(answer),
            None => self.answer_of(call.position).await?,
        };
        Ok(seen(call, answer, sight))
    }

    /// Calls that somebody may see, the newest first, without arguments and results.
    pub async fn tool_calls(&self, query: CallQuery, who: &Who) -> Result<(Vec<SeenCall>, Option<u64>), Error> {
        self.index_follows().await;
        let agent = match who {
            Who::Agent(id) if query.task.is_none() => Some(id.clone()),
            Who::Agent(_) | Who::Person { .. } | Who::Nobody => query.agent,
        };
        let limit = query.limit;
        let found = Query {
            what: Some(What::Called),
            sender: agent,
            thread: query.task,
            before: query.before,
            order: Order::Newest,
            limit,
            ..Query::default()
        };
        let found = self.asked(move |finder| finder.find(&found).map_err(Error::Index)).await?;
        let next = found.last().copied().filter(|_| found.len() == limit);
        let mut calls = Vec::new();
        for position in found {
            let Some(entry) = self.entry(position)?.filter(|entry| self.sight_of(entry, who).is_some()) else {
                continue;
            };
            let answer = self.answer_of(position).await?;
            calls.extend(seen(entry, answer, Sight::Facts));
        }
        Ok((calls, next))
    }

    fn sight_of(&self, entry: &Entry, who: &Who) -> Option<Sight> {
        let Effect::Called(called) = &entry.effect else { return None };
        if who.sees_all() {
            return Some(Sight::All);
        }
        let state = self.state();
        if let Who::Agent(id) = who {
            let own = state.registry().agent(id).filter(|agent| agent.since < entry.position);
            if let Some(own) = own.filter(|own| own.id == called.agent) {
                // What is not handed over to a suspended agent is not to be had this way either.
                let may_hear = state.may_be_told(own);
                return Some(if may_hear { Sight::All } else { Sight::Facts });
            }
        }
        called.task.filter(|task| state.may_see_task(who, *task)).map(|_| Sight::Facts)
    }

    /// The entry that says what came of a call.
    async fn answer_of(&self, call: u64) -> Result<Option<Entry>, Error> {
        if self.state().rules().cap.calls().open(call).is_some() {
            return Ok(None);
        }
        self.index_follows().await;
        let query = Query { what: Some(What::Answered), taken: Some(call), limit: PAGE, ..Query::default() };
        let found = self.asked(move |finder| finder.find(&query).map_err(Error::Index)).await?;
        found.first().map_or(Ok(None), |position| self.entry(*position))
    }
}

fn seen(call: Entry, answer: Option<Entry>, sight: Sight) -> Option<SeenCall> {
    let Entry { position, at, effect: Effect::Called(called), body } = call else { return None };
    let may = |body: Option<Box<[u8]>>| body.filter(|_| sight == Sight::All);
    let answer = answer.and_then(|Entry { position, at, effect, body }| {
        let Effect::Answered(answered) = effect else { return None };
        Some(SeenAnswer { position, at, answered, said: may(body) })
    });
    Some(SeenCall { position, at, called, arguments: may(body), answer })
}
