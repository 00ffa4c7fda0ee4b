//! `/v1/hello`: the handshake for those who speak plain HTTP, and what their session comes to.

use super::Holder;
use super::sessions::{Negotiated, SESSION};
use crate::agents::in_path;
use crate::body;
use crate::caller::Caller;
use crate::guest::Guest;
use crate::media::Media;
use crate::refusal::Refusal as Refused;
use crate::shared::Shared;
use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{FromRequestParts, State};
use axum::http::header::RETRY_AFTER;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use legation_protocol::Code;
use legation_protocol::json::{Doc, Kind, Limits};
use legation_protocol::negotiation::{ErrorCode, ExtensionName, Refusal};
use serde::Serialize;
use std::sync::Arc;
use tokio::time::Instant;

/// `POST /v1/hello`
pub(crate) async fn post(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    Caller(who): Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refused> {
    if headers.contains_key(SESSION) {
        let again = Refusal::hello_invalid("this session is negotiated: leave its id out to begin another");
        shared.handshakes.count_error(&again.code);
        return Ok(refused(&again, StatusCode::CONFLICT));
    }
    Media::json(&headers)?;
    let bytes = match body::whole(body).await {
        // Larger than anything that is read here, and so than a hello: any bytes too many say so.
        Err(refusal) if refusal.code() == Code::TooLarge => Bytes::from(vec![b' '; Limits::HANDSHAKE.bytes + 1]),
        read => read?,
    };
    let agreed = shared.greet(&guest, &who, &bytes).await.and_then(|agreement| {
        let (settings, holder) = (shared.settings(), Holder::of(&guest, &headers));
        let holder = (holder, shared.quota_family(&guest, &who));
        let (life, sessions) = (settings.negotiation.session, &shared.handshakes.sessions);
        let opened = sessions.open(agreement, holder, life, &settings.limits, Instant::now());
        opened.inspect_err(|refusal| shared.handshakes.count_error(&refusal.code))
    });
    match agreed {
        Ok(agreement) => {
            let id = agreement.ack.session_id.as_deref().and_then(|id| HeaderValue::from_str(id).ok());
            let mut response = Json(&agreement.ack).into_response();
            response.headers_mut().extend(id.map(|id| (SESSION, id)));
            Ok(response)
        }
        Err(refusal) => Ok(refused(&refusal, status(&refusal, &bytes))),
    }
}

fn status(refusal: &Refusal, hello: &[u8]) -> StatusCode {
    match refusal.code {
        ErrorCode::IdentityRequired | ErrorCode::IdentityInvalid => StatusCode::UNAUTHORIZED,
        ErrorCode::ExtensionConflict => StatusCode::CONFLICT,
        ErrorCode::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        ErrorCode::InternalError | ErrorCode::Other(_) => StatusCode::SERVICE_UNAVAILABLE,
        ErrorCode::HelloInvalid if hello.len() > Limits::HANDSHAKE.bytes => StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::HelloInvalid if !is_object(hello) => StatusCode::BAD_REQUEST,
        ErrorCode::VersionUnsupported | ErrorCode::HelloInvalid => StatusCode::UNPROCESSABLE_ENTITY,
    }
}

fn is_object(hello: &[u8]) -> bool {
    Doc::parse_within(hello, Limits::HANDSHAKE).is_ok_and(|doc| doc.root().kind() == Kind::Object)
}

fn refused(refusal: &Refusal, status: StatusCode) -> Response {
    let mut response = (status, Json(refusal)).into_response();
    if let Some(seconds) = refusal.retry_after {
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    response
}

/// `GET /v1/hello`: the ack again.
pub(crate) async fn get(_: Caller, Negotiated(agreement): Negotiated) -> Response {
    Json(&agreement.ack).into_response()
}

#[derive(Serialize)]
struct Ended {
    ended: bool,
}

/// `DELETE /v1/hello`
pub(crate) async fn delete(
    State(shared): State<Arc<Shared>>,
    _: Caller,
    Negotiated(agreement): Negotiated,
) -> Response {
    shared.handshakes.sessions.end(&agreement);
    Json(Ended { ended: true }).into_response()
}

/// The extension a path names, if it is active in the request's session.
#[derive(Debug)]
pub(crate) struct Active(pub(crate) ExtensionName, pub(crate) Negotiated);

impl FromRequestParts<Arc<Shared>> for Active {
    type Rejection = Refused;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refused> {
        // Whoever proves nothing that counts is told so first.
        Caller::from_request_parts(parts, shared).await?;
        let name: String = in_path(parts, shared).await?;
        let session = Negotiated::from_request_parts(parts, shared).await?;
        let unknown = |_| Refused::because(Code::ExtensionInactive, "no extension has such a name");
        let name: ExtensionName = name.parse().map_err(unknown)?;
        session.0.must_have(shared, &name)?;
        Ok(Active(name, session))
    }
}

/// `GET /v1/extensions/{name}`: what an active extension can do in this session.
pub(crate) async fn extension(Active(name, Negotiated(agreement)): Active) -> Response {
    Json(agreement.ack.capabilities.get(&name)).into_response()
}
