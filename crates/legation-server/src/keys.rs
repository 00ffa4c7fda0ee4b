//! The keys of an agent: seen, brought in, taken out.

use crate::agents::{AgentPath, in_path, unknown};
use crate::body;
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::view::{KeyView, View};
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use legation_exchange::{KeyChange, KeyEvent, KeyState, Moment, NewKey, Verdict};
use legation_protocol::sign::{PublicKey, Signature};
use legation_protocol::{Code, Rejection, Timestamp};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// An agent and one of its keys in the path, percent-decoded.
pub(crate) struct KeyPath {
    pub(crate) agent: String,
    pub(crate) key: PublicKey,
}

impl FromRequestParts<Arc<Shared>> for KeyPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        let (agent, key): (String, String) = in_path(parts, shared).await?;
        let key = PublicKey::parse(&key).map_err(|bad| Refusal::because(bad.code(), bad.to_string()))?;
        Ok(KeyPath { agent, key })
    }
}

#[derive(Serialize)]
struct KeyRing {
    realm: String,
    agent: String,
    keys: Vec<KeyView>,
}

/// `GET /v1/agents/{id}/keys`: also what a proof has to name.
pub(crate) async fn list(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let agent = shared.exchange.agent(&id).ok_or_else(unknown)?;
    let keys = agent.keys.iter().map(KeyView::of).collect();
    Ok(Json(KeyRing { realm: shared.exchange.realm().to_owned(), agent: agent.id, keys }).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Added {
    key: String,
    not_after: Option<String>,
    #[serde(default)]
    pending: bool,
    proof: Option<String>,
    key_proof: Option<String>,
}

/// `POST /v1/agents/{id}/keys`
pub(crate) async fn add(
    State(shared): State<Arc<Shared>>,
    AgentPath(id): AgentPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Added { key, not_after, pending, proof, key_proof } = body::object(&headers, body).await?;
    let not_after = not_after.as_deref().map(moment).transpose()?;
    let proof = proof.as_deref().map(|text| signature(text, "/proof")).transpose()?;
    let key_proof = key_proof.as_deref().map(|text| signature(text, "/key_proof")).transpose()?;
    let change = KeyChange::Add { key: NewKey { text: key, not_after, pending, proof: key_proof }, proof };
    changed(&shared, id, change, caller, StatusCode::CREATED).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Changed {
    state: KeyState,
    proof: Option<String>,
    reason: Option<String>,
}

/// `POST /v1/agents/{id}/keys/{key}`
pub(crate) async fn change(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    KeyPath { agent, key }: KeyPath,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Changed { state, proof, reason } = body::object(&headers, body).await?;
    let proof = proof.as_deref().map(|text| signature(text, "/proof")).transpose()?;
    let change = KeyChange::Event { key, event: leading_to(state)?, proof, why: reason };
    changed(&shared, agent, change, caller, StatusCode::OK).await
}

#[derive(Serialize)]
struct Told {
    agent: View,
    position: u64,
}

async fn changed(
    shared: &Shared,
    id: String,
    change: KeyChange,
    caller: Caller,
    status: StatusCode,
) -> Result<Response, Refusal> {
    let (exchange, who, name) = (shared.exchange.clone(), caller.0.clone(), id.clone());
    let position = match shared.apart(async move { exchange.change_key(&name, change, who).await }).await? {
        Verdict::Accepted { position, .. } | Verdict::Held { position, .. } | Verdict::Duplicate { position, .. } => {
            position
        }
        Verdict::Refused(rejection) => return Err(Refusal::recorded(rejection)),
    };
    // A removal may have come between.
    let agent = shared.exchange.agent(&id).ok_or_else(unknown)?;
    Ok((status, Json(Told { agent: View::of(agent, &shared.exchange, &caller.0), position })).into_response())
}

/// What has to happen to a key so that it gets into a state.
fn leading_to(state: KeyState) -> Result<KeyEvent, Rejection> {
    match state {
        KeyState::Active => Ok(KeyEvent::Activate),
        KeyState::Rotating => Ok(KeyEvent::Supersede),
        KeyState::Retired => Ok(KeyEvent::Retire),
        KeyState::Compromised => Ok(KeyEvent::Compromise),
        KeyState::Revoked => Ok(KeyEvent::Revoke),
        KeyState::Pending => {
            Err(Rejection::because(Code::KeyState, "a key is PENDING from the start, or never").at("/state"))
        }
    }
}

fn moment(text: &str) -> Result<Moment, Rejection> {
    let bad = |error: &dyn std::fmt::Display| Rejection::because(Code::BadTimestamp, error.to_string());
    Timestamp::utc(text).map(|time| Moment::of(&time)).map_err(|error| bad(&error).at("/not_after"))
}

fn signature(text: &str, place: &str) -> Result<Signature, Rejection> {
    Signature::parse(text).map_err(|bad| Rejection::because(Code::SignatureFormat, bad.to_string()).at(place))
}
