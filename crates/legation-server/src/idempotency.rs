//! What stands for the id of a message that has none, so that it can be sent again.

use crate::header::Header;
use crate::refusal::Refusal;
use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::request::Parts;
use legation_protocol::Code;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const LONGEST: usize = 256;

/// What stands for the id of a message that has none.
#[derive(Clone, Debug)]
pub(crate) struct IdempotencyKey(pub(crate) Option<String>);

impl<S: Sync> FromRequestParts<S> for IdempotencyKey {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Refusal> {
        match Header::of(&parts.headers, &IDEMPOTENCY_KEY) {
            Header::Absent => Ok(IdempotencyKey(None)),
            Header::Once(key) if !key.is_empty() && key.len() <= LONGEST => Ok(IdempotencyKey(Some(key.to_owned()))),
            Header::Once(_) | Header::Unclear => {
                let message = format!("`Idempotency-Key` stands once, with 1 to {LONGEST} characters");
                Err(Refusal::because(Code::SchemaInvalid, message))
            }
        }
    }
}
