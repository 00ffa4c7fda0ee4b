//! What was called: for whoever called, those with a part in the task, and those who see everything.

use crate::agents::in_path;
use crate::caller::Caller;
use crate::inbox::{MOST, query};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::{FromRequestParts, State};
use axum::http::Uri;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use legation_engine::{CallQuery, Error, SeenAnswer, SeenCall};
use legation_exchange::rules::Finding;
use legation_exchange::tool::{Answered, Called};
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

/// A call, and what came of it.
#[derive(Serialize)]
struct Told {
    call: u64,
    agent: String,
    server_id: String,
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    task_id: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    called_at: String,
    digest: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<Box<RawValue>>,
    /// Nothing while it is under way.
    answer: Option<Answer>,
}

#[derive(Serialize)]
struct Answer {
    position: u64,
    outcome: &'static str,
    answered_at: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    findings: Vec<Finding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Listing {
    calls: Vec<Told>,
    next: Option<u64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    agent: Option<String>,
    task_id: Option<String>,
    before: Option<u64>,
    limit: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { agent: None, task_id: None, before: None, limit: 100 }
    }
}

/// `GET /v1/tools/calls`
pub(crate) async fn calls(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { agent, task_id: task, before, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    let asked = CallQuery { agent, task, before, limit };
    let (calls, next) = shared.exchange.tool_calls(asked, &caller.0).await?;
    let calls = calls.into_iter().map(Told::of).collect::<Result<_, _>>()?;
    Ok(Json(Listing { calls, next }).into_response())
}

/// The entry that a path names.
pub(crate) struct CallPath(u64);

impl FromRequestParts<Arc<Shared>> for CallPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        let named: String = in_path(parts, shared).await?;
        named.parse().map(CallPath).map_err(|_| unknown())
    }
}

fn unknown() -> Refusal {
    Refusal::because(Code::NotFound, "there is no such call for you here")
}

/// `GET /v1/tools/calls/{position}`: of the call, or of what came of it.
pub(crate) async fn call(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    CallPath(position): CallPath,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let seen = shared.exchange.tool_call(position, &caller.0).await?.ok_or_else(unknown)?;
    Ok(Json(Told::of(seen)?).into_response())
}

fn raw(body: Option<Box<[u8]>>, position: u64) -> Result<Option<Box<RawValue>>, Error> {
    let bad = |_| Error::Entry { position };
    body.map(|body| serde_json::from_slice(&body).map_err(bad)).transpose()
}

impl Told {
    fn of(seen: SeenCall) -> Result<Told, Error> {
        let SeenCall { position: call, at, called, arguments, answer } = seen;
        let Called { agent, server, tool, thread, scopes, digest, .. } = called;
        Ok(Told {
            call,
            agent,
            server_id: server,
            tool,
            task_id: thread,
            scopes,
            called_at: at.to_string(),
            digest,
            arguments: raw(arguments, call)?,
            answer: answer.map(Answer::of).transpose()?,
        })
    }
}

impl Answer {
    fn of(seen: SeenAnswer) -> Result<Answer, Error> {
        let SeenAnswer { position, at, answered, said } = seen;
        let Answered { outcome, why, digest, findings, .. } = answered;
        let (outcome, answered_at) = (outcome.as_str(), at.to_string());
        Ok(Answer { position, outcome, answered_at, why, digest, findings, said: raw(said, position)? })
    }
}
