//! Collisions of names, in a record that was written before all names were one namespace.

use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use legation_exchange::Collision;
use serde::Serialize;
use std::sync::Arc;

/// The most collisions of one answer.
const LISTED: usize = 1000;

#[derive(Serialize)]
struct CollisionList {
    collisions: Vec<Collision>,
    total: usize,
}

/// `GET /v1/names/collisions`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    let all = shared.exchange.name_collisions();
    let total = all.len();
    Ok(Json(CollisionList { collisions: all.into_iter().take(LISTED).collect(), total }).into_response())
}
