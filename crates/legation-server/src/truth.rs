//! What counts of a claim today: the original, what was said of it since, in order, and which of it counts.

use crate::message::{Found, MessageFacts};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use legation_engine::{Error, Exchange, Link, Truth};
use legation_exchange::Who;
use legation_protocol::vlp::{Level, Metrics};
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct Told<'t> {
    original: u64,
    authoritative: u64,
    chain: Vec<Bearing<'t>>,
    more: bool,
}

#[derive(Serialize)]
pub(crate) struct Bearing<'t> {
    role: &'static str,
    in_force: bool,
    /// Whether a correction took its place, also one that is not for the one who asks.
    corrected: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    corrected_by: Option<u64>,
    /// The messages it names that were found.
    names: Vec<u64>,
    #[serde(flatten)]
    facts: MessageFacts<'t>,
    level: Option<Level>,
    metrics: Option<Metrics>,
}

impl<'t> Bearing<'t> {
    pub(crate) fn of(link: &'t Link) -> Result<Bearing<'t>, Error> {
        let Link { part, entry, accepted, corrected, corrected_by, .. } = link;
        Ok(Bearing {
            role: part.as_str(),
            in_force: link.is_in_force(),
            corrected: *corrected,
            corrected_by: *corrected_by,
            names: accepted.named().collect(),
            facts: MessageFacts::of(entry, accepted, true)?,
            level: accepted.ruled.level,
            metrics: accepted.ruled.metrics,
        })
    }

    /// The same, with flags in place of what this one is not cleared for.
    pub(crate) fn told_to(self, exchange: &Exchange, who: &Who) -> Result<Bearing<'t>, Error> {
        Ok(Bearing { facts: self.facts.told_to(exchange, who)?, ..self })
    }
}

/// `GET /v1/messages/{id or position}/truth`
pub(crate) async fn get(State(shared): State<Arc<Shared>>, found: Found) -> Result<Response, Refusal> {
    let truth = shared.exchange.truth(&found.entry, &found.caller.0).await?;
    let Truth { original, authoritative, chain, more } = &truth;
    let chain = chain.iter().map(Bearing::of).collect::<Result<_, _>>()?;
    Ok(Json(Told { original: *original, authoritative: *authoritative, chain, more: *more }).into_response())
}
