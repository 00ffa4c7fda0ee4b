//! What people are to be told, for those who may see everything.

use crate::caller::Caller;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use legation_exchange::Alert;
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// How many are listed at once, and how long is waited for the first.
const MOST: usize = 1000;
const LONGEST: u64 = 60;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    after: Option<u64>,
    wait: u64,
}

#[derive(Serialize)]
struct Listing {
    alerts: Vec<Alert>,
    next: u64,
}

/// `GET /v1/alerts`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    let Wanted { after, wait } = query(&uri)?;
    if wait > LONGEST {
        return Err(Refusal::because(Code::OutOfRange, format!("wait is at most {LONGEST} seconds")));
    }
    let listed = tokio::select! {
        listed = shared.exchange.alerts(after, MOST, Duration::from_secs(wait)) => listed?,
        () = shared.stopping.cancelled() => Vec::new(),
    };
    let next = listed.last().map(|(number, _)| *number).or(after).unwrap_or_default();
    let alerts = listed.into_iter().map(|(_, alert)| alert).collect();
    Ok(Json(Listing { alerts, next }).into_response())
}
