//! People, each with a role and a token of their own. What is kept of a token is shown to nobody.

use crate::agents::in_path;
use crate::body;
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use legation_exchange::{Role, Verdict};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The person's name in the path, percent-decoded.
pub(crate) struct NamePath(String);

impl FromRequestParts<Arc<Shared>> for NamePath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        in_path(parts, shared).await.map(NamePath)
    }
}

#[derive(Serialize)]
struct Person {
    name: String,
    role: Role,
}

#[derive(Serialize)]
struct People {
    people: Vec<Person>,
}

/// `GET /v1/tokens`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    let people = shared.exchange.people().into_iter();
    let people = people.map(|person| Person { name: person.name, role: person.role }).collect();
    Ok(Json(People { people }).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    role: Role,
}

#[derive(Serialize)]
struct Granted {
    person: Person,
    token: String,
}

/// `PUT /v1/tokens/{name}`
pub(crate) async fn put(
    State(shared): State<Arc<Shared>>,
    NamePath(name): NamePath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { role } = body::object(&headers, body).await?;
    let exchange = shared.exchange.clone();
    let (verdict, token) = shared.apart(async move { exchange.grant(&name, role, caller.0).await }).await?;
    let (status, name) = match verdict {
        Verdict::Accepted { new: true, id, .. } => (StatusCode::CREATED, id),
        Verdict::Accepted { new: false, id, .. } | Verdict::Held { id, .. } | Verdict::Duplicate { id, .. } => {
            (StatusCode::OK, id)
        }
        Verdict::Refused(rejection) => return Err(Refusal::recorded(rejection)),
    };
    let token = token.map(|token| token.reveal().to_owned()).unwrap_or_default();
    Ok((status, Json(Granted { person: Person { name, role }, token })).into_response())
}

#[derive(Serialize)]
struct Withdrawn {
    withdrawn: String,
    position: u64,
}

/// `DELETE /v1/tokens/{name}`
pub(crate) async fn delete(
    State(shared): State<Arc<Shared>>,
    NamePath(name): NamePath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let exchange = shared.exchange.clone();
    match shared.apart(async move { exchange.withdraw(&name, caller.0).await }).await? {
        Verdict::Accepted { position, id, .. }
        | Verdict::Held { position, id, .. }
        | Verdict::Duplicate { position, id } => Ok(Json(Withdrawn { withdrawn: id, position }).into_response()),
        Verdict::Refused(rejection) => Err(Refusal::recorded(rejection)),
    }
}
