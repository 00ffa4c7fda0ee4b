//! Whether the exchange lives, and whether it takes work.

use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;

/// How long the decider may be silent: with nothing to do it shows every second.
const SILENCE: Duration = Duration::from_secs(10);

#[derive(Serialize)]
struct Alive {
    alive: bool,
}

/// `GET /healthz`: the process answers, and its decider runs.
pub(crate) async fn alive(State(shared): State<Arc<Shared>>) -> Response {
    let alive = shared.exchange.is_running();
    (status(alive), Json(Alive { alive })).into_response()
}

#[derive(Serialize)]
struct ReadyAnswer {
    #[serde(rename = "ready")]
    is_ready: bool,
    #[serde(rename = "not_ready", skip_serializing_if = "Vec::is_empty")]
    lacks: Vec<Lack>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<Clock>,
}

/// A difference between the record's clock and the machine's. Work is taken all the same.
#[derive(Serialize)]
struct Clock {
    agrees: bool,
    /// Less than zero where the record's clock is behind.
    record_ahead_seconds: i64,
}

/// What keeps the exchange from taking work.
#[derive(Serialize)]
struct Lack {
    part: &'static str,
    reason: &'static str,
}

/// `GET /readyz`: what is sent now would be decided and committed.
pub(crate) async fn ready(State(shared): State<Arc<Shared>>) -> Response {
    let not_ready = lacks(&shared);
    let ready = not_ready.is_empty();
    let difference = shared.exchange.stats().clock_difference();
    let clock = difference.is_told().then(|| Clock { agrees: false, record_ahead_seconds: difference.ahead_seconds() });
    (status(ready), Json(ReadyAnswer { is_ready: ready, lacks: not_ready, clock })).into_response()
}

fn lacks(shared: &Shared) -> Vec<Lack> {
    let stats = shared.exchange.stats();
    let is_running = shared.exchange.is_running();
    let lacks = [
        (shared.stopping.is_cancelled(), "server", "it is shutting down"),
        (!is_running, "decider", "it has ended"),
        (is_running && stats.silence() > SILENCE, "decider", "it does not answer"),
        (stats.is_full(), "record", "it has no room"),
    ];
    lacks.into_iter().filter(|(is_so, ..)| *is_so).map(|(_, part, reason)| Lack { part, reason }).collect()
}

fn status(fine: bool) -> StatusCode {
    if fine { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }
}
