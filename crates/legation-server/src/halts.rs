//! What people go by who let a halted session go on, with what rules and the scan found in it.

use crate::caller::Caller;
use crate::message::MessageFacts;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::talks::SessionPath;
use crate::truth::Bearing;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use legation_engine::HaltEvidence;
use legation_protocol::Code;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct Told<'t> {
    session: &'t str,
    halted_by: u64,
    /// The message that halted it, what it names and what names it.
    chain: Vec<Bearing<'t>>,
    authoritative: u64,
    /// What else was said in the session, or is stopped with it.
    messages: Vec<MessageFacts<'t>>,
    more: bool,
}

/// `GET /v1/sessions/{id}/evidence`
pub(crate) async fn get(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.may_see_reviews()?;
    let (exchange, who) = (&shared.exchange, &caller.0);
    if exchange.session(&id, who).is_none() {
        return Err(Refusal::because(Code::UnknownSession, "there is no such session for you here"));
    }
    let evidence = exchange.halt_evidence(&id, who).await?;
    let evidence = evidence.ok_or_else(|| Refusal::because(Code::ReviewConflict, "the session is not halted"))?;
    let HaltEvidence { by, truth, said, more } = &evidence;
    let chain = truth.chain.iter().map(|link| Bearing::of(link)?.told_to(exchange, who)).collect::<Result<_, _>>()?;
    let told = |(entry, accepted)| MessageFacts::of(entry, accepted, true)?.told_to(exchange, who);
    let messages = said.iter().map(|(entry, accepted)| told((entry, accepted))).collect::<Result<_, _>>()?;
    let (more, authoritative) = (*more || truth.more, truth.authoritative);
    Ok(Json(Told { session: &id, halted_by: *by, chain, authoritative, messages, more }).into_response())
}
