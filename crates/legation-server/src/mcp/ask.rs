//! Asking another door from within: the same request a client would send, with the same token, and the same
//! answer. Its refusals go on the record as theirs do.

use super::{Bearer, Desk};
use crate::guest::Guest;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode};
use axum::response::Response;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::sync::Arc;
use tower_service::Service as _;

/// A question to a door.
pub(super) struct Asked {
    method: Method,
    path: String,
    body: Bytes,
}

impl Asked {
    pub(super) fn get(path: impl Into<String>) -> Asked {
        Asked { method: Method::GET, path: path.into(), body: Bytes::new() }
    }

    pub(super) fn post(path: impl Into<String>, body: impl Into<Bytes>) -> Asked {
        Asked { method: Method::POST, path: path.into(), body: body.into() }
    }

    /// With something behind the question mark, where there is something.
    pub(super) fn with(mut self, name: &str, value: Option<impl ToString>) -> Asked {
        if let Some(value) = value {
            self.path.push(if self.path.contains('?') { '&' } else { '?' });
            let _ = write!(self.path, "{name}={}", encoded(&value.to_string()));
        }
        self
    }
}

/// What a door said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) status: StatusCode,
    pub(super) body: Value,
}

impl Said {
    pub(super) fn is_refusal(&self) -> bool {
        !self.status.is_success()
    }
}

impl Desk {
    /// Asks a door what the one who sent this request asks.
    pub(super) async fn ask(&self, parts: &Parts, asked: Asked) -> Said {
        let (looked, guest) = (asked.method.is_safe(), parts.extensions.get::<Guest>().cloned());
        let mut request = Request::new(Body::from(asked.body));
        *request.method_mut() = asked.method;
        // Whatever is no path leads nowhere.
        *request.uri_mut() = asked.path.parse().unwrap_or_default();
        let token = parts.headers.get(AUTHORIZATION).cloned();
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().extend([(CONTENT_TYPE, json)]);
        request.headers_mut().extend(token.map(|token| (AUTHORIZATION, token)));
        if let Some(guest) = guest.clone() {
            request.extensions_mut().insert(guest);
        }
        if let Some(agreement) = parts.extensions.get::<Bearer>().and_then(|bearer| bearer.greeting.agreement()) {
            request.extensions_mut().insert(Arc::clone(agreement));
        }
        let Ok(mut response) = self.wall.clone().call(request).await;
        if let Some(guest) = &guest {
            self.shared.note_answer(guest, looked, &mut response).await;
        }
        said(response).await
    }
}

async fn said(response: Response) -> Said {
    let (status, body) = (response.status(), response.into_body());
    let bytes = axum::body::to_bytes(body, usize::MAX).await.unwrap_or_default();
    let body = serde_json::from_slice(&bytes).unwrap_or_else(|_| json!({}));
    Said { status, body }
}

/// A text as one part of a path, or of what stands behind the question mark.
pub(super) fn encoded(text: &str) -> String {
    text.bytes().fold(String::with_capacity(text.len()), |mut all, byte| {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => all.push(char::from(byte)),
            _ => {
                let _ = write!(all, "%{byte:02X}");
            }
        }
        all
    })
}

#[cfg(test)]
mod tests {
    use super::{Asked, encoded};

    #[test]
    fn a_name_cannot_leave_its_part_of_the_path() {
        assert_eq!(encoded("agent://a/b?c#d é"), "agent%3A%2F%2Fa%2Fb%3Fc%23d%20%C3%A9");
        assert_eq!(encoded("plain-1.0_~"), "plain-1.0_~");
        let asked =
            Asked::get("/v1/memory").with("text", Some("a&b=c")).with("topic", None::<&str>).with("limit", Some(3));
        assert_eq!(asked.path, "/v1/memory?text=a%26b%3Dc&limit=3");
    }
}
