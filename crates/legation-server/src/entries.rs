//! The record's entries, as they come, for those who may see everything.

use crate::caller::Caller;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use legation_exchange::record::Disclosed;
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

const MOST: usize = 1000;
const LONGEST: u64 = 60;

/// Which entries are asked for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    after: Option<u64>,
    limit: usize,
    wait: u64,
    include: Option<Include>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Include {
    Body,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { after: None, limit: 100, wait: 0, include: None }
    }
}

#[derive(Serialize)]
struct Entries {
    entries: Vec<Disclosed>,
    next: Option<u64>,
}

/// `GET /v1/audit/entries`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    let Wanted { after, limit, wait, include } = query(&uri)?;
    if limit == 0 || limit > MOST || wait > LONGEST {
        let message = format!("limit is 1 to {MOST}, wait at most {LONGEST} seconds");
        return Err(Refusal::because(Code::OutOfRange, message));
    }
    let listed = shared.exchange.entries(after, limit, Duration::from_secs(wait), include == Some(Include::Body));
    let entries = tokio::select! {
        entries = listed => entries?,
        () = shared.stopping.cancelled() => Vec::new(),
    };
    let entries: Vec<_> =
        if caller.0.is_operator() { entries } else { entries.into_iter().map(Disclosed::without_private).collect() };
    let next = entries.last().map(|entry| entry.position).or(after);
    Ok(Json(Entries { entries, next }).into_response())
}
