//! Tools of others, called through the exchange: which there are, calling one, and what was called. What a call answers can
//! be put into a message as it is.

mod listed;
mod seen;

pub(crate) use listed::list;
pub(crate) use seen::{call as one_call, calls};

use crate::body;
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use legation_engine::{Error, ToolAnswer, ToolCall};
use legation_exchange::Who;
use legation_exchange::record::Receipt;
use legation_exchange::rules::Finding;
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

/// The most scopes a call names.
const SCOPES: usize = 64;

/// A call that is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    server_id: String,
    tool: String,
    arguments: Option<Box<RawValue>>,
    task_id: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
}

/// What a tool answered.
#[derive(Serialize)]
struct Told<'t> {
    status: &'static str,
    position: u64,
    call: u64,
    is_error: bool,
    result: &'t RawValue,
    findings: Vec<Finding>,
    attachment: Attachment<'t>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Receipt>,
}

/// The same as a message of CAP carries it.
#[derive(Serialize)]
struct Attachment<'t> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(flatten)]
    said: Said<'t>,
}

/// Which tool said what.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Said<'t> {
    pub(super) server_id: String,
    pub(super) tool: String,
    #[serde(borrow)]
    pub(super) result: &'t RawValue,
}

/// `POST /v1/tools/call`
pub(crate) async fn call(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let who = caller.0;
    if who == Who::Nobody {
        return Err(Refusal::because(Code::Unauthenticated, "this takes an agent's token"));
    }
    let call = wanted(body::object(&headers, body).await?)?;
    let exchange = shared.exchange.clone();
    // Whoever hangs up ends the waiting, and neither the call nor what the record says of it.
    let answered = shared.apart(async move { exchange.call_tool(call, who).await }).await?;
    told(answered.map_err(Refusal::recorded)?)
}

fn wanted(wanted: Wanted) -> Result<ToolCall, Refusal> {
    let Wanted { server_id: server, tool, arguments, task_id: task, scopes } = wanted;
    let arguments: Box<str> = arguments.map_or_else(|| "{}".into(), |arguments| arguments.get().into());
    if !arguments.starts_with('{') {
        let refusal = Refusal::because(Code::SchemaInvalid, "the arguments of a tool are an object");
        return Err(refusal.at("/arguments"));
    }
    if scopes.len() > SCOPES {
        return Err(Refusal::because(Code::OutOfRange, format!("a call names at most {SCOPES} scopes")).at("/scopes"));
    }
    Ok(ToolCall { server, tool, arguments, task, scopes })
}

fn told(answer: ToolAnswer) -> Result<Response, Refusal> {
    let ToolAnswer { call, position, is_error, told, findings, receipt } = answer;
    let said: Said<'_> = serde_json::from_str(&told).map_err(|_| Error::Entry { position })?;
    let attachment = Attachment { kind: "tool_call_result", said: said.clone() };
    let (status, result) = ("answered", said.result);
    Ok(Json(Told { status, position, call, is_error, result, findings, attachment, receipt }).into_response())
}
