//! What a client offers when it asks for a socket, and the answer that opens it.

use super::session::Speech;
use crate::caller::bearer;
use crate::header::Header;
use crate::refusal::Refusal;
use axum::body::Body;
use axum::http::header::{
    AUTHORIZATION, CONNECTION, HeaderMap, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY, SEC_WEBSOCKET_PROTOCOL,
    SEC_WEBSOCKET_VERSION, UPGRADE,
};
use axum::http::{HeaderName, HeaderValue, StatusCode, Version};
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use legation_protocol::Code;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;

/// The subprotocol with frames beside messages.
const FRAMED: &str = "legation.v1";
/// What a page puts before its token, since it cannot set headers. It is never said back.
const TOKEN: &str = "legation.token.";

pub(crate) struct Offer<'h> {
    headers: &'h HeaderMap,
    pub(crate) speech: Speech,
    pub(crate) token: Option<&'h str>,
}

impl<'h> Offer<'h> {
    pub(crate) fn of(headers: &'h HeaderMap) -> Result<Offer<'h>, Refusal> {
        let unclear =
            || Refusal::because(Code::Unauthenticated, "say who you are once: by a header, or by a subprotocol");
        let speech = if protocols(headers).any(|name| name == FRAMED) { Speech::Framed } else { Speech::Plain };
        let token = match (Header::of(headers, &AUTHORIZATION), offered_token(headers)) {
            (Header::Absent, token) => token,
            (Header::Once(text), None) => Some(bearer(text).ok_or_else(unclear)?),
            (Header::Once(_), Some(_)) | (Header::Unclear, _) => return Err(unclear()),
        };
        Ok(Offer { headers, speech, token })
    }

    /// The answer, if this is a request for a socket at all.
    pub(crate) fn accepted(&self, spoken: Version) -> Result<Response, Refusal> {
        let named = |name: &HeaderName, word: &str| {
            let values = self.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            values.flat_map(|text| text.split(',')).any(|text| text.trim().eq_ignore_ascii_case(word))
        };
        let key = match Header::of(self.headers, &SEC_WEBSOCKET_KEY) {
            Header::Once(key) if STANDARD.decode(key).is_ok_and(|key| key.len() == 16) => Some(key),
            Header::Once(_) | Header::Absent | Header::Unclear => None,
        };
        let version = Header::of(self.headers, &SEC_WEBSOCKET_VERSION) == Header::Once("13");
        // HTTP/1.0 knows no upgrade (RFC 6455, section 4.1).
        let fits = named(&CONNECTION, "upgrade") && named(&UPGRADE, "websocket") && version;
        let fits = fits && spoken >= Version::HTTP_11;
        let Some(key) = key.filter(|_| fits) else {
            let refusal = Refusal::because(Code::SchemaInvalid, "this is for WebSockets, version 13 (RFC 6455)");
            return Err(refusal.with_status(StatusCode::UPGRADE_REQUIRED));
        };
        let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
        let mut response = Response::new(Body::empty());
        *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = response.headers_mut();
        headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.extend(accept.ok().map(|accept| (SEC_WEBSOCKET_ACCEPT, accept)));
        if self.speech == Speech::Framed {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(FRAMED));
        }
        Ok(response)
    }
}

fn protocols(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|text| text.split(',')).map(str::trim)
}

/// The token among the subprotocols.
pub(crate) fn offered_token(headers: &HeaderMap) -> Option<&str> {
    protocols(headers).find_map(|name| name.strip_prefix(TOKEN)).filter(|token| !token.is_empty())
}
