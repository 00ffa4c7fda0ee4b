//! Sending: one message by the VCP binding, one of any dialect, or many, a line each.

use crate::body;
use crate::caller::Proven;
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
use legation_protocol::json::Doc;
use legation_protocol::{Code, Findings, Format, unwrapped};
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
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    match Media::of(&headers)? {
        Media::Lines => Ok(lines::answered(&shared, credential, body)),
        Media::Json => {
            let bytes = body::whole(body).await?;
            let taken = receive(&shared, &bytes, credential).await?;
            Ok(Json(taken).into_response())
        }
    }
}

/// `POST /.well-known/vcp/messages`: the VCP binding (messaging 1.2, section 8.2), whose answer has
/// exactly two members.
pub(crate) async fn vcp(
    State(shared): State<Arc<Shared>>,
    Proven(credential): Proven,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    Media::json(&headers)?;
    let bytes = body::whole(body).await?;
    must_be_vcp(&bytes)?;
    let Taken { status, message_id, position } = receive(&shared, &bytes, credential).await?;
    let mut response = Json(Taken { status, message_id, position: None }).into_response();
    if let Some(position) = position {
        response.headers_mut().insert(POSITION, HeaderValue::from(position));
    }
    Ok(response)
}

/// Refuses messages of other dialects. What is wrong in other ways is left to the corridor.
fn must_be_vcp(bytes: &[u8]) -> Result<(), Refusal> {
    let Ok(doc) = Doc::parse(bytes) else { return Ok(()) };
    let message = unwrapped(doc.root(), &mut Findings::new());
    match Format::detect(message, &mut Findings::new()) {
        None | Some(Format::Vcp) => Ok(()),
        Some(other) => {
            let message = format!("this takes VCP messages, and this is {other}: send it to /v1/messages");
            Err(Refusal::because(Code::UnknownDialect, message))
        }
    }
}

async fn receive(shared: &Shared, bytes: &[u8], credential: Credential) -> Result<Taken, Refusal> {
    let submission = Submission { bytes: bytes.into(), credential };
    let exchange = shared.exchange.clone();
    let answer = shared.apart(async move { exchange.receive(submission).await }).await?;
    Taken::of(answer.verdict)
}
