//! The registry and its directory.

use crate::body;
use crate::caller::Caller;
use crate::guest::Guest;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::view::{View, can};
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::Escalations;
use legation_exchange::{Below, Registration, Verdict, Who};
use legation_protocol::Code;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The agent's id in the path, percent-decoded.
pub(crate) struct AgentPath(pub(crate) String);

impl FromRequestParts<Arc<Shared>> for AgentPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        in_path(parts, shared).await.map(AgentPath)
    }
}

/// What stands in the path in the places of its names.
pub(crate) async fn in_path<T: DeserializeOwned + Send>(parts: &mut Parts, shared: &Arc<Shared>) -> Result<T, Refusal> {
    let path = Path::<T>::from_request_parts(parts, shared).await;
    let bad = |_| Refusal::because(Code::BadUnicode, "a name in the path is not UTF-8, percent-encoded");
    path.map(|Path(names)| names).map_err(bad)
}

#[derive(Serialize)]
struct Registered {
    agent: View,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

/// `PUT /v1/agents/{id}`
pub(crate) async fn put(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    Caller(who): Caller,
    guest: Guest,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let registration: Registration = body::object(&headers, body).await?;
    let registration = Registration { source: Some(guest.source.key().to_string()), ..registration };
    let (exchange, name, by) = (shared.exchange.clone(), id.clone(), who.clone());
    let asked = async move { exchange.register(&name, registration, by).await };
    let (verdict, token) = shared.apart(asked).await?;
    let status = match verdict {
        Verdict::Accepted { new: true, .. } => StatusCode::CREATED,
        Verdict::Accepted { new: false, .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => StatusCode::OK,
        // Strangers' refusals are not put on the record by the decision.
        Verdict::Refused(rejection) if who == Who::Nobody => return Err(rejection.into()),
        Verdict::Refused(rejection) => return Err(Refusal::recorded(rejection)),
    };
    // A removal may have come between.
    let agent = shared.exchange.agent(&id).ok_or_else(unknown)?;
    let agent = View::of(agent, &shared.exchange, &who);
    Ok((status, Json(Registered { agent, token: token.map(|token| token.reveal().to_owned()) })).into_response())
}

/// How many open escalations of an agent are shown with it.
const OPEN: usize = 100;

/// `GET /v1/agents/{id}`
pub(crate) async fn get(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let agent = shared.exchange.agent(&id).ok_or_else(unknown)?;
    let open = Escalations { agent: Some(&id), limit: OPEN, ..Escalations::default() };
    let open = shared.exchange.escalations(&caller.0, &open).into_iter().map(|(_, alarm)| alarm.id).collect();
    let view = View::of(agent, &shared.exchange, &caller.0).with_open(open);
    let charter = shared.exchange.charter_told(&id, &caller.0);
    Ok(Json(view.here(shared.sockets.of(&id)).under(charter)).into_response())
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    capability: Option<String>,
}

#[derive(Serialize)]
struct Directory {
    agents: Vec<View>,
}

/// `GET /v1/agents?capability=`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { capability } = query(&uri)?;
    let agents = shared.exchange.agents().into_iter();
    let fitting = agents.filter(|agent| capability.as_ref().is_none_or(|name| can(agent, name)));
    let agents = fitting.map(|agent| View::of(agent, &shared.exchange, &caller.0)).collect();
    Ok(Json(Directory { agents }).into_response())
}

#[derive(Serialize)]
struct Removed {
    removed: String,
    position: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RemoveQuery {
    #[serde(default)]
    below: Below,
}

/// `DELETE /v1/agents/{id}`
pub(crate) async fn delete(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    uri: Uri,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let RemoveQuery { below } = query(&uri)?;
    let exchange = shared.exchange.clone();
    let asked = async move {
        match below {
            Below::Keep => exchange.remove(&id, caller.0).await,
            Below::Suspend | Below::Remove => exchange.remove_with(&id, below, caller.0).await,
        }
    };
    match shared.apart(asked).await? {
        Verdict::Accepted { position, id, .. }
        | Verdict::Held { position, id, .. }
        | Verdict::Duplicate { position, id } => Ok(Json(Removed { removed: id, position }).into_response()),
        Verdict::Refused(rejection) => Err(Refusal::recorded(rejection)),
    }
}

pub(crate) fn unknown() -> Refusal {
    Refusal::because(Code::UnknownAgent, "there is no such agent")
}
