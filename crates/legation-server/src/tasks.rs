//! Tasks: those one has a part in, how they stand, and what becomes of them.

mod told;

use crate::agents::in_path;
use crate::body;
use crate::caller::Caller;
use crate::inbox::{MOST, done, query};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::{Sight, TaskQuery};
use legation_exchange::rules::cap::Step;
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use told::{Told, Whole};

/// The states a task may be asked for by.
pub(crate) const STATES: [&str; 7] = ["open", "in_review", "waits_for_user", "done", "failed", "expired", "closed"];

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    state: Option<String>,
    agent: Option<String>,
    after: Option<u64>,
    limit: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { state: None, agent: None, after: None, limit: 100 }
    }
}

#[derive(Serialize)]
struct Listing {
    tasks: Vec<Told>,
    next: Option<u64>,
}

/// `GET /v1/tasks`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { state, agent, after, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    if let Some(unknown) = state.as_deref().filter(|state| !STATES.contains(state)) {
        let message = format!("{unknown:?} is no state of a task: there are {}", STATES.join(", "));
        return Err(Refusal::because(Code::SchemaInvalid, message));
    }
    let seen = shared.exchange.tasks(&caller.0, &TaskQuery { state, agent, after, limit });
    let next = seen.last().map(|sight| sight.number).or(after);
    Ok(Json(Listing { tasks: seen.into_iter().map(Told::of).collect(), next }).into_response())
}

/// The task's id in the path, percent-decoded.
pub(crate) struct TaskPath(String);

impl FromRequestParts<Arc<Shared>> for TaskPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        in_path(parts, shared).await.map(TaskPath)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Whose {
    opener: Option<String>,
}

fn found(shared: &Shared, caller: &Caller, id: &str, uri: &Uri) -> Result<Sight, Refusal> {
    caller.must_be_somebody()?;
    let Whose { opener } = query(uri)?;
    Ok(shared.exchange.task(&caller.0, id, opener.as_deref())?)
}

/// `GET /v1/tasks/{id}`
pub(crate) async fn get(
    State(shared): State<Arc<Shared>>,
    TaskPath(id): TaskPath,
    caller: Caller,
    uri: Uri,
) -> Result<Response, Refusal> {
    let sight = found(&shared, &caller, &id, &uri)?;
    let spoken = shared.exchange.spoken(&sight.task, &caller.0)?;
    let count = shared.exchange.spoken_count(&sight.task, &spoken);
    Ok(Json(Whole::of(sight, spoken, count)).into_response())
}

/// `POST /v1/tasks/{id}/retry`
pub(crate) async fn retry(
    State(shared): State<Arc<Shared>>,
    TaskPath(id): TaskPath,
    caller: Caller,
    uri: Uri,
) -> Result<Response, Refusal> {
    direct(shared, caller, &id, &uri, Step::Retry).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Anew {
    to: String,
}

/// `POST /v1/tasks/{id}/reassign`
pub(crate) async fn reassign(
    State(shared): State<Arc<Shared>>,
    TaskPath(id): TaskPath,
    caller: Caller,
    uri: Uri,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Anew { to } = body::object(&headers, body).await?;
    direct(shared, caller, &id, &uri, Step::Reassign(to)).await
}

/// `POST /v1/tasks/{id}/escalate`
pub(crate) async fn escalate(
    State(shared): State<Arc<Shared>>,
    TaskPath(id): TaskPath,
    caller: Caller,
    uri: Uri,
) -> Result<Response, Refusal> {
    direct(shared, caller, &id, &uri, Step::Escalate).await
}

async fn direct(shared: Arc<Shared>, caller: Caller, id: &str, uri: &Uri, step: Step) -> Result<Response, Refusal> {
    let task = found(&shared, &caller, id, uri)?.number;
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.direct_task(task, step, caller.0).await }).await?)
}
