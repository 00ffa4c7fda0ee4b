//! What is refused, by status: made from the one table of codes, so that it names them all.

use super::headers::header;
use super::schema::{flag, may, must, object, of, one_of, or_null, text};
use crate::status::{retry_after, status};
use axum::http::StatusCode;
use legation_protocol::Code;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// The name of the answer with this status.
pub(super) fn name(status: u16) -> String {
    format!("Refused{status}")
}

/// The error body.
pub(super) fn refusal() -> Value {
    object("Why something was refused: the same body everywhere.", refusal_members())
}

pub(super) fn refusal_members() -> [super::schema::Member; 6] {
    [
        must("error", of("Code")),
        must("message", text("What is wrong, for people. Its words may change.")),
        must("retryable", flag("Whether the same request may succeed later. Where it may, `Retry-After` says when.")),
        must("at", or_null(text("The place in the body, as a JSON pointer, where there is one."))),
        must("spec", or_null(text("The section of the spec that says so, where there is one."))),
        may(
            "digest",
            text(
                "The digest of the message that was refused, if it was read: `/v1/messages/{digest}` tells of the refusal.",
            ),
        ),
    ]
}

/// All codes there are.
pub(super) fn code() -> Value {
    let codes: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
    one_of(
        "The stable name of what is wrong. Each has a page in `docs/errors/`, and none is ever used for another.",
        &codes,
    )
}

/// One answer for each status, with its codes.
pub(super) fn responses() -> Value {
    let mut by_status: BTreeMap<u16, Vec<Code>> = BTreeMap::new();
    for code in Code::ALL {
        by_status.entry(status(*code).as_u16()).or_default().push(*code);
    }
    // What did not come to its end in time cannot be read.
    by_status.insert(StatusCode::REQUEST_TIMEOUT.as_u16(), vec![Code::BadJson]);
    by_status.into_iter().map(|(status, codes)| (name(status), response(status, &codes))).collect::<Map<_, _>>().into()
}

fn response(status: u16, codes: &[Code]) -> Value {
    let names: Vec<_> = codes.iter().map(|code| code.as_str()).collect();
    let mut headers = Map::from_iter([header("traceparent")]);
    if codes.iter().any(|code| retry_after(*code).is_some()) {
        headers.extend([header("Retry-After")]);
    }
    if status == StatusCode::UNAUTHORIZED.as_u16() {
        headers.extend([header("WWW-Authenticate")]);
    }
    json!({
        "description": about(status),
        "headers": headers,
        "content": {"application/json": {"schema": {
            "allOf": [of("Refusal"), {"properties": {"error": {"enum": names}}}],
        }}},
    })
}

fn about(status: u16) -> &'static str {
    match status {
        400 => "Not JSON that is read here, or a name in the path that is not UTF-8",
        401 => "Nobody known: no token, one that is not known, or a signature that is not the sender's",
        403 => "Known, and not allowed",
        404 => "There is nothing of this name, or nothing that the one who asks may see",
        408 => "The body did not come to its end in time",
        409 => "At odds with what is there already",
        410 => "It was here, and its text is gone for good",
        413 => "Larger than is taken",
        415 => "A kind of body that is not read here",
        422 => "Read, and against a rule",
        428 => "It takes a session, which a hello begins",
        429 => "Too much for now",
        502 => "A tool server answered with no result",
        503 => "The exchange cannot do this now, or a tool server cannot be reached",
        504 => "A tool server was asked and has not answered",
        507 => "The record has no room",
        _ => "Refused",
    }
}
