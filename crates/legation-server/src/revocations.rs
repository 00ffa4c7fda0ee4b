//! What was revoked, and that something was not: statements in canonical JSON as they were signed, with the
//! signature in a header, so that the bytes on the wire are the bytes to verify.

use crate::agents::in_path;
use crate::caller::{Caller, SIGNATURE};
use crate::keys::KeyPath;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::Bytes;
use axum::extract::{FromRequestParts, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use legation_engine::Published;
use legation_exchange::TokenHash;
use legation_exchange::revocation::Signed;
use legation_protocol::sign::Signature;
use legation_protocol::{Code, Rejection};
use std::sync::Arc;

/// Everybody may keep the list for a minute.
const A_MINUTE: HeaderValue = HeaderValue::from_static("public, max-age=60");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The hash of an identity token in the path.
pub(crate) struct HashPath(TokenHash);

impl FromRequestParts<Arc<Shared>> for HashPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        let hash: String = in_path(parts, shared).await?;
        let bad = |why: &'static str| Rejection::because(Code::SchemaInvalid, why);
        Ok(HashPath(TokenHash::try_from(hash).map_err(bad)?))
    }
}

/// `GET /.well-known/legation/revocations`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, headers: HeaderMap) -> Result<Response, Refusal> {
    let published = shared.exchange.revocations()?;
    let tag = format!("\"{}\"", published.hash);
    let mut response = if headers.get_all(IF_NONE_MATCH).iter().any(|known| *known == tag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        let signature = &published.signed.signature;
        told(Bytes::from_owner(Statement(Arc::clone(&published))), signature)
    };
    response.headers_mut().insert(CACHE_CONTROL, A_MINUTE);
    response.headers_mut().extend(HeaderValue::from_str(&tag).ok().map(|tag| (ETAG, tag)));
    Ok(response)
}

/// `GET /v1/agents/{id}/keys/{key}/staple`
pub(crate) async fn of_key(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    KeyPath { agent, key }: KeyPath,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Signed { statement, signature } = shared.exchange.key_staple(&agent, &key)??;
    Ok(told(statement.into(), &signature))
}

/// `GET /v1/identities/{hash}/staple`: for whoever knows the hash, since who holds a token may have nothing else.
pub(crate) async fn of_identity(
    State(shared): State<Arc<Shared>>,
    HashPath(token): HashPath,
) -> Result<Response, Refusal> {
    let Signed { statement, signature } = shared.exchange.identity_staple(&token)??;
    Ok(told(statement.into(), &signature))
}

/// The statement of a list, which everybody who asks is sent without another copy.
struct Statement(Arc<Published>);

impl AsRef<[u8]> for Statement {
    fn as_ref(&self) -> &[u8] {
        self.0.signed.statement.as_bytes()
    }
}

fn told(statement: Bytes, signature: &Signature) -> Response {
    let mut response = ([(CONTENT_TYPE, JSON)], statement).into_response();
    let signature = HeaderValue::from_str(&signature.to_string()).ok();
    response.headers_mut().extend(signature.map(|signature| (SIGNATURE, signature)));
    response
}
