//! Sending: one message by the VCP binding, one of any dialect, or many, a line each.

use crate::body;
use crate::caller::Proven;
use crate::guest::Guest;
use crate::idempotency::IdempotencyKey;
use crate::lines;
use crate::media::Media;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use legation_engine::{RECEIPT_MAX, Submission};
use legation_exchange::record::Receipt;
use legation_exchange::{AnswerDetails, Verdict};
use legation_protocol::Format;
use serde::Serialize;
use std::sync::Arc;

/// The header that says where in the record an answer's entry lies.
const POSITION: HeaderName = HeaderName::from_static("legation-position");

/// The header that carries a receipt, in base64.
const RECEIPT: HeaderName = HeaderName::from_static("legation-receipt");

/// What waits for somebody's word.
const HELD: &str = "held";

/// What a sender is told of a message that was taken.
#[derive(Debug, Serialize)]
pub(crate) struct Taken {
    status: &'static str,
    message_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
    /// Findings, and the terms of the hold if the message is held.
    #[serde(flatten)]
    details: Option<Box<AnswerDetails>>,
    /// Written [at once](Taken::write), behind the rest.
    #[serde(skip)]
    receipt: Option<Receipt>,
}

impl Taken {
    pub(crate) fn of((verdict, receipt): (Verdict, Option<Receipt>)) -> Result<Taken, Refusal> {
        let (status, position, message_id, details) = match verdict {
            Verdict::Accepted { position, id, details, .. } => ("accepted", position, id, details),
            Verdict::Held { position, id, details } => (HELD, position, id, details),
            Verdict::Duplicate { position, id } => ("duplicate", position, id, None),
            Verdict::Refused(rejection) => return Err(Refusal::recorded(rejection)),
        };
        Ok(Taken { status, message_id, position: Some(position), details, receipt })
    }

    fn http_status(&self) -> StatusCode {
        if self.status == HELD { StatusCode::ACCEPTED } else { StatusCode::OK }
    }

    /// Adds the JSON form of what this is said with, an object that its members stand last in.
    pub(crate) fn write<'t, T: Serialize>(&'t self, said_with: impl FnOnce(&'t Taken) -> T, text: &mut Vec<u8>) {
        text.reserve(self.weight());
        // It has nothing in it that could fail to be written.
        drop(serde_json::to_writer(&mut *text, &said_with(self)));
        if let Some(receipt) = &self.receipt {
            text.pop();
            text.extend_from_slice(br#","receipt":"#);
            receipt.write_json(text);
            text.push(b'}');
        }
    }

    /// About as many bytes as its JSON form has.
    fn weight(&self) -> usize {
        100 + self.message_id.len() + self.receipt.as_ref().map_or(0, Receipt::weight)
    }
}

/// `POST /v1/messages`: any dialect.
pub(crate) async fn any(
    State(shared): State<Arc<Shared>>,
    Proven(credential): Proven,
    guest: Guest,
    IdempotencyKey(idempotency_key): IdempotencyKey,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    match Media::of(&headers)? {
        Media::Lines => Ok(lines::answered(&shared, credential, guest, body)),
        Media::Json => {
            let bytes = body::whole(body).await?.as_ref().into();
            let (source, trace) = (guest.source.into(), guest.trace.of_message());
            let submission = Submission { bytes, credential, only: None, source, idempotency_key, trace };
            let taken = receive(&shared, submission, &guest).await?;
            let mut text = Vec::new();
            taken.write(|taken| taken, &mut text);
            Ok((taken.http_status(), [(CONTENT_TYPE, "application/json")], text).into_response())
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
    let bytes = body::whole(body).await?.as_ref().into();
    let (source, trace, only) = (guest.source.into(), guest.trace.of_message(), Some(Format::Vcp));
    let submission = Submission { bytes, credential, only, source, idempotency_key: None, trace };
    let taken = receive(&shared, submission, &guest).await?;
    let (position, receipt) = (taken.position, taken.receipt.as_ref().and_then(in_header));
    // The binding knows two words for what is taken, and what is held is taken.
    let status = if taken.status == HELD { "accepted" } else { taken.status };
    let mut response = Json(Taken { status, position: None, details: None, receipt: None, ..taken }).into_response();
    let position = position.map(|position| (POSITION, HeaderValue::from(position)));
    response.headers_mut().extend(position.into_iter().chain(receipt.map(|receipt| (RECEIPT, receipt))));
    Ok(response)
}

/// A message to very many has a larger one, which the mailbox and `/v1/messages` give.
fn in_header(receipt: &Receipt) -> Option<HeaderValue> {
    let text = receipt.to_json();
    if text.len() > RECEIPT_MAX {
        return None;
    }
    HeaderValue::from_str(&STANDARD.encode(text)).ok()
}

/// What has been submitted is decided whether or not the client stays for the answer.
async fn receive(shared: &Shared, submission: Submission, guest: &Guest) -> Result<Taken, Refusal> {
    let settled = shared.exchange.submit(submission).await?.settled().await?;
    let taken = Taken::of(settled.receipted()?)?;
    guest.prove();
    Ok(taken)
}
