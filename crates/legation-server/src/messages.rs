//! Sending: one message by the VCP binding, one of any dialect, or many, a line each.

use crate::body;
use crate::caller::Proven;
use crate::guest::Guest;
use crate::lines;
use crate::media::Media;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::{IntoResponse, Response};
use legation_engine::{Credential, Submission};
use legation_exchange::Verdict;
use legation_protocol::Format;
use serde::Serialize;
use std::sync::Arc;

/// The header that says where in the record an answer's entry lies.
const POSITION: HeaderName = HeaderName::from_static("legation-position");

/// What a sender is told of a message that was taken.
#[derive(Debug, Serialize)]
pub(crate) struct Taken {
    status: &'static str,
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
}

impl Taken {
    pub(crate) fn of(verdict: Verdict) -> Result<Taken, Refusal> {
        match verdict {
            Verdict::Accepted { position, id, .. } => {
                Ok(Taken { status: "accepted", message_id: id, position: Some(position) })
            }
            Verdict::Duplicate { position, id } => {
                Ok(Taken { status: "duplicate", message_id: id, position: Some(position) })
            }
            Verdict::Refused(rejection) => Err(rejection.into()),
        }
    }
}

/// `POST /v1/messages`: any dialect.
pub(crate) async fn any(
    State(shared): State<Arc<Shared>>,
    Proven(credential): Proven,
    guest: Guest,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    match Media::of(&headers)? {
        Media::Lines => Ok(lines::answered(&shared, credential, guest, body)),
        Media::Json => {
            let bytes = body::whole(body).await?;
            let taken = receive(&shared, &bytes, credential, &guest, None).await?;
            Ok(Json(taken).into_response())
        }
    }
}

/// `POST /.well-known/vcp/messages`: the VCP binding (messaging 1.2, section 8.2), whose answer has
/// exactly two members.
pub(crate) async fn vcp(
    State(shared): State<Arc<Shared>>,
    Proven(credential): Proven,
    guest: Guest,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    Media::json(&headers)?;
    let bytes = body::whole(body).await?;
    let Taken { status, message_id, position } =
        receive(&shared, &bytes, credential, &guest, Some(Format::Vcp)).await?;
    let mut response = Json(Taken { status, message_id, position: None }).into_response();
    if let Some(position) = position {
        response.headers_mut().insert(POSITION, HeaderValue::from(position));
    }
    Ok(response)
}

async fn receive(
    shared: &Shared,
    bytes: &[u8],
    credential: Credential,
    guest: &Guest,
    only: Option<Format>,
) -> Result<Taken, Refusal> {
    let submission = Submission { bytes: bytes.into(), credential, only, trace: guest.trace.of_message() };
    let exchange = shared.exchange.clone();
    let taken = Taken::of(shared.apart(async move { exchange.receive(submission).await }).await?)?;
    guest.prove();
    Ok(taken)
}
