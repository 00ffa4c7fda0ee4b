//! What people go by who decide on held messages, and what was decided before: who, when and why.

use crate::caller::Caller;
use crate::inbox::query;
use crate::message::MessageFacts;
use crate::refusal::Refusal;
use crate::reviews::{ReviewPath, unknown};
use crate::shared::Shared;
use crate::truth::Bearing;
use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use legation_engine::{Decision, Error, Evidence, Exchange, Word};
use legation_exchange::Who;
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// How many decisions are told at once.
const MOST: usize = 200;

#[derive(Serialize)]
struct Told<'t> {
    /// Whether it still waits for a person.
    waits: bool,
    /// The message, what it names and what names it.
    chain: Vec<Bearing<'t>>,
    more: bool,
    /// The one of them that counts.
    authoritative: u64,
    /// What was asked for in its task.
    asked: Option<MessageFacts<'t>>,
    words: Vec<Remark>,
}

#[derive(Serialize)]
struct Remark {
    said: &'static str,
    by: String,
    at: String,
    reason: Option<String>,
    position: u64,
}

impl From<Word> for Remark {
    fn from(word: Word) -> Remark {
        let (said, at) = (word.said.as_str(), word.at.to_string());
        Remark { said, by: word.by, at, reason: word.why, position: word.position }
    }
}

/// `GET /v1/reviews/{id}/evidence`
pub(crate) async fn get(
    State(shared): State<Arc<Shared>>,
    id: ReviewPath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.may_see_reviews()?;
    let evidence = shared.exchange.evidence(id.position()?, &caller.0).await?.ok_or_else(unknown)?;
    let Evidence { waits, truth, asked, words } = &evidence;
    let (exchange, who) = (&shared.exchange, &caller.0);
    let chain = truth.chain.iter().map(|link| Bearing::of(link)?.told_to(exchange, who)).collect::<Result<_, _>>()?;
    let told = |(entry, accepted)| MessageFacts::of(entry, accepted, true)?.told_to(exchange, who);
    let asked = asked.as_ref().map(|(entry, accepted)| (entry, accepted)).map(told).transpose()?;
    let words = words.iter().cloned().map(Remark::from).collect();
    let (waits, more, authoritative) = (*waits, truth.more, truth.authoritative);
    Ok(Json(Told { waits, chain, more, authoritative, asked, words }).into_response())
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    before: Option<u64>,
    limit: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { before: None, limit: 50 }
    }
}

#[derive(Serialize)]
struct Decisions<'d> {
    decisions: Vec<Item<'d>>,
    next: Option<u64>,
}

#[derive(Serialize)]
struct Item<'d> {
    id: String,
    decision: &'static str,
    by: Option<&'d str>,
    at: Option<String>,
    reason: Option<&'d str>,
    message: MessageFacts<'d>,
}

impl<'d> Item<'d> {
    fn of(decided: &'d Decision, exchange: &Exchange, who: &Who) -> Result<Item<'d>, Error> {
        let Decision { entry, accepted, released, word } = decided;
        let word = word.as_ref();
        Ok(Item {
            id: entry.position.to_string(),
            decision: if *released { "approved" } else { "refused" },
            by: word.map(|word| word.by.as_str()),
            at: word.map(|word| word.at.to_string()),
            reason: word.and_then(|word| word.why.as_deref()),
            message: MessageFacts::of(entry, accepted, true)?.told_to(exchange, who)?,
        })
    }
}

/// `GET /v1/decisions`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.may_see_reviews()?;
    let Wanted { before, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    let (found, next) = shared.exchange.decisions(before, limit).await?;
    let decisions = found.iter().map(|one| Item::of(one, &shared.exchange, &caller.0)).collect::<Result<_, _>>()?;
    Ok(Json(Decisions { decisions, next }).into_response())
}
