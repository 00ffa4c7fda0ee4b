//! The registry and its directory.

use crate::body;
use crate::caller::Caller;
use crate::guest::Guest;
use crate::inbox::{MOST, query};
use crate::listing::{Pieces, answered};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::view::{View, can};
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::{Error, Escalations};
use legation_exchange::{Agent, Below, Registration, Verdict, Who};
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

/// How many agents are read at once.
const PAGE: usize = 16;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    capability: Option<String>,
    after: Option<String>,
    limit: usize,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { capability: None, after: None, limit: 100 }
    }
}

/// `GET /v1/agents?capability=&after=&limit=`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { capability, after, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    answered(DirectoryPage { shared, who: caller.0, capability, after, left: limit, listed: 0 })
}

/// The directory, as it is being listed.
struct DirectoryPage {
    shared: Arc<Shared>,
    who: Who,
    capability: Option<String>,
    /// The last agent that was listed.
    after: Option<String>,
    /// How many may still be listed.
    left: usize,
    listed: usize,
}

impl Pieces for DirectoryPage {
    fn write(&mut self, text: &mut Vec<u8>) -> Result<bool, Error> {
        if self.listed == 0 {
            text.extend_from_slice(br#"{"agents":["#);
        }
        let fits = |agent: &Agent| self.capability.as_ref().is_none_or(|name| can(agent, name));
        let wanted = self.left.min(PAGE);
        // One more tells whether there are others behind.
        let mut agents = self.shared.exchange.agents_after(self.after.as_deref(), wanted + 1, fits);
        let has_more = agents.len() > wanted;
        agents.truncate(wanted);
        for agent in agents {
            if self.listed > 0 {
                text.push(b',');
            }
            (self.after, self.listed, self.left) = (Some(agent.id.clone()), self.listed + 1, self.left - 1);
            // It has nothing in it that could fail to be written.
            drop(serde_json::to_writer(&mut *text, &View::of(agent, &self.shared.exchange, &self.who)));
        }
        let goes_on = has_more && self.left > 0;
        if !goes_on {
            let next = serde_json::to_string(&self.after.as_ref().filter(|_| has_more)).unwrap_or_default();
            text.extend_from_slice(format!("],\"next\":{next}}}").as_bytes());
        }
        Ok(goes_on)
    }
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
