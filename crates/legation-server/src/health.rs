//! Whether the exchange lives, and whether it takes work.

use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct Alive {
    alive: bool,
}

/// `GET /healthz`: the process answers.
pub(crate) async fn alive() -> Response {
    Json(Alive { alive: true }).into_response()
}

#[derive(Serialize)]
struct Ready {
    ready: bool,
}

/// `GET /readyz`: what is sent now would be decided and committed.
pub(crate) async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    let ready = shared.exchange.is_running() && !shared.stopping.is_cancelled();
    let status = if ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    (status, Json(Ready { ready })).into_response()
}
