//! Where a request came from, and what its sender calls it.

use crate::header::Header;
use crate::refusal::Refusal;
use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::HeaderName;
use axum::http::request::Parts;
use legation_engine::Source;
use legation_protocol::Code;
use std::convert::Infallible;
use std::net::SocketAddr;

/// The address a request came from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin(pub(crate) Source);

impl<S: Sync> FromRequestParts<S> for Origin {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let address = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        Ok(Origin(address.map_or(Source::InProcess, |ConnectInfo(address)| Source::Address(address.ip()))))
    }
}

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
