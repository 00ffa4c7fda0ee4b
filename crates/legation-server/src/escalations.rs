//! Escalations, and whether agents may go on.

use crate::agents::{AgentPath, in_path};
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
use legation_engine::{Error, Escalations};
use legation_exchange::rules::vcp::{Alarm, StopMany, Telling};
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Which {
    #[default]
    Open,
    All,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Order {
    #[default]
    Oldest,
    Newest,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    agent: Option<String>,
    state: Which,
    order: Order,
    after: Option<u64>,
    limit: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { agent: None, state: Which::Open, order: Order::Oldest, after: None, limit: 100 }
    }
}

#[derive(Serialize)]
struct Listing {
    escalations: Vec<Item>,
    next: u64,
}

#[derive(Serialize)]
struct Item {
    id: String,
    position: u64,
    agent: String,
    severity: &'static str,
    state: &'static str,
    reason: Option<String>,
    requires_ack: bool,
    raised_at: String,
    told: Vec<Told>,
    acknowledged_by: Option<String>,
    goes_on_at: Option<String>,
    closed_by: Option<String>,
    closed_at: Option<String>,
}

#[derive(Serialize)]
struct Told {
    /// Nobody is the operator.
    agent: Option<String>,
    message_id: Option<String>,
    acknowledged: bool,
}

impl Item {
    fn of(position: u64, alarm: Alarm, reason: Option<String>) -> Item {
        let (closed_by, closed_at) = alarm.closed.map(|(by, at)| (by, at.to_string())).unzip();
        let told = |Telling { to, id, acked, .. }| Told { agent: to, message_id: id, acknowledged: acked };
        Item {
            id: alarm.id,
            position,
            agent: alarm.from,
            severity: alarm.severity.as_str(),
            state: alarm.stage.as_str(),
            reason,
            requires_ack: alarm.wants_ack,
            raised_at: alarm.at.to_string(),
            told: alarm.told.into_iter().map(told).collect(),
            acknowledged_by: alarm.acked_by,
            goes_on_at: alarm.due.map(|due| due.to_string()),
            closed_by,
            closed_at,
        }
    }
}

/// `GET /v1/escalations`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { agent, state, order, after, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    let (closed, newest) = (state == Which::All, order == Order::Newest);
    let wanted = Escalations { agent: agent.as_deref(), closed, newest, after, limit };
    let found = shared.exchange.escalations(&caller.0, &wanted);
    let next = found.last().map(|(position, _)| *position).or(after).unwrap_or_default();
    let told = |(position, alarm)| Ok(Item::of(position, alarm, shared.exchange.reason_of(position)?));
    let escalations = found.into_iter().map(told).collect::<Result<_, Error>>()?;
    Ok(Json(Listing { escalations, next }).into_response())
}

/// What the path names, percent-decoded.
pub(crate) struct EscalationPath(String);

impl FromRequestParts<Arc<Shared>> for EscalationPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        in_path(parts, shared).await.map(EscalationPath)
    }
}

/// `POST /v1/escalations/{id}/ack`
pub(crate) async fn acknowledge(
    State(shared): State<Arc<Shared>>,
    EscalationPath(id): EscalationPath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.acknowledge_escalation(&id, caller.0).await }).await?)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SuspendRequest {
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    subtree: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ResumeRequest {
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    escalation: Option<String>,
    #[serde(default)]
    subtree: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StopAllRequest {
    #[serde(default)]
    reason: Option<String>,
}

/// `POST /v1/agents/{id}/suspend`
pub(crate) async fn suspend(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let SuspendRequest { reason, subtree } = body::object(&headers, body).await?;
    let reason = reason.unwrap_or_default();
    if subtree {
        return stop_many(&shared, StopMany { below: Some(id), suspends: true, why: reason }, caller).await;
    }
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.suspend(&id, reason, caller.0).await }).await?)
}

/// `POST /v1/suspend-all`
pub(crate) async fn suspend_all(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    stop_all(&shared, true, caller, &headers, body).await
}

/// `POST /v1/resume-all`
pub(crate) async fn resume_all(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    stop_all(&shared, false, caller, &headers, body).await
}

async fn stop_all(
    shared: &Shared,
    suspends: bool,
    caller: Caller,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let StopAllRequest { reason } = body::object_or_nothing(headers, body).await?;
    stop_many(shared, StopMany { below: None, suspends, why: reason.unwrap_or_default() }, caller).await
}

async fn stop_many(shared: &Shared, order: StopMany, caller: Caller) -> Result<Response, Refusal> {
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.stop_many(order, caller.0).await }).await?)
}

/// `POST /v1/agents/{id}/resume`
pub(crate) async fn resume(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let ResumeRequest { reason, escalation, subtree } = body::object(&headers, body).await?;
    let reason = reason.unwrap_or_default();
    match (subtree, &escalation) {
        (true, None) => {
            return stop_many(&shared, StopMany { below: Some(id), suspends: false, why: reason }, caller).await;
        }
        (true, Some(_)) => {
            let message = "`escalation` resumes one agent from one escalation: leave it out, or `subtree`";
            return Err(Refusal::because(Code::SchemaInvalid, message));
        }
        (false, _) => {}
    }
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.resume(&id, escalation, reason, caller.0).await }).await?)
}
