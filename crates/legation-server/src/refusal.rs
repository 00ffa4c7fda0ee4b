//! What a request gets that gets nothing else: the error body, the same everywhere.

use crate::noted::Unrecorded;
use crate::status::{retry_after, status};
use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use legation_engine::Error;
use legation_protocol::json::Digest;
use legation_protocol::{Code, Rejection};
use serde::Serialize;
use std::borrow::Cow;
use std::time::Duration;

/// Why a request is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    rejection: Rejection,
    /// Another status than the code's own.
    status: Option<StatusCode>,
    /// When to try again, if that is not the code's own time.
    wait: Option<Duration>,
    /// Whether it is on the record already.
    recorded: bool,
    /// The digest of the body, if it was read.
    digest: Option<String>,
}

/// The error body.
#[derive(Debug, Serialize)]
pub(crate) struct Body<'r> {
    error: Code,
    message: &'r str,
    retryable: bool,
    at: Option<&'r str>,
    spec: Option<&'static str>,
    /// The digest of the message that was refused, if it was read: what the refusal is looked up by.
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<&'r str>,
}

impl Refusal {
    pub(crate) fn because(code: Code, message: impl Into<Cow<'static, str>>) -> Refusal {
        Refusal::from(Rejection::because(code, message))
    }

    /// What the exchange has refused, and put on the record or counted.
    pub(crate) fn recorded(rejection: Rejection) -> Refusal {
        Refusal { recorded: true, ..Refusal::from(rejection) }
    }

    /// With another status than the code's own.
    pub(crate) fn with_status(mut self, status: StatusCode) -> Refusal {
        self.status = Some(status);
        self
    }

    /// With the time after which it may be tried again.
    pub(crate) fn after(mut self, wait: Duration) -> Refusal {
        self.wait = Some(wait);
        self
    }

    /// With the digest of the body it is about.
    pub(crate) fn about(mut self, body: &[u8]) -> Refusal {
        self.digest = Some(Digest::of_bytes(body).to_string());
        self
    }

    /// What the record has to be told of it.
    pub(crate) fn unrecorded(&self) -> Option<Unrecorded> {
        let unrecorded = || Unrecorded { code: self.rejection.code(), digest: self.digest.clone() };
        (!self.recorded).then(unrecorded)
    }

    pub(crate) fn code(&self) -> Code {
        self.rejection.code()
    }

    /// With the place it is about.
    pub(crate) fn at(mut self, pointer: &str) -> Refusal {
        self.rejection = self.rejection.at(pointer);
        self
    }

    pub(crate) fn body(&self) -> Body<'_> {
        let first = self.rejection.first();
        Body {
            error: first.code,
            message: &first.message,
            retryable: self.rejection.retryable(),
            at: first.at.as_deref(),
            spec: first.spec,
            digest: self.rejection.digest(),
        }
    }
}

impl From<Rejection> for Refusal {
    fn from(rejection: Rejection) -> Self {
        Refusal { rejection, status: None, wait: None, recorded: false, digest: None }
    }
}

impl From<Error> for Refusal {
    /// A fault of ours is told to the log, and to the client only that it may come again.
    fn from(error: Error) -> Self {
        if let Error::Closed = error {
            return Refusal::because(Code::Busy, "the exchange is shutting down");
        }
        if let Error::Crowded = error {
            return Refusal::because(Code::RateLimited, error.to_string());
        }
        if let Error::Behind { position } = error {
            return Refusal::because(Code::Busy, format!("the index has not come to position {position} yet"));
        }
        if let Error::Overtaken { .. } = error {
            return Refusal::because(Code::Busy, error.to_string());
        }
        tracing::error!(error = %chain(&error), "a request failed");
        Refusal::because(Code::Busy, "the exchange cannot do this now; its log says why")
    }
}

/// An error with all that caused it.
fn chain(error: &dyn std::error::Error) -> String {
    std::iter::successors(error.source(), |cause| cause.source())
        .fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let code = self.rejection.code();
        let status = self.status.unwrap_or(status(code));
        let mut response = (status, Json(self.body())).into_response();
        if let Some(wait) = self.wait.or_else(|| retry_after(code)) {
            // A second is the smallest time there is a word for.
            let seconds = wait.as_millis().div_ceil(1000);
            response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(u64::try_from(seconds).unwrap_or(u64::MAX)));
        }
        if status == StatusCode::UNAUTHORIZED {
            response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"legation\""));
        }
        if let Some(unrecorded) = self.unrecorded() {
            response.extensions_mut().insert(unrecorded);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::Refusal;
    use legation_engine::Error;

    #[test]
    fn whoever_takes_a_copy_that_an_erase_overtook_is_told_to_begin_again() {
        let told = serde_json::to_value(Refusal::from(Error::Overtaken { position: 7 }).body()).unwrap();
        assert_eq!((&told["error"], &told["retryable"]), (&"busy".into(), &true.into()));
        assert!(told["message"].as_str().unwrap().contains("begin the copy again"), "{told}");
    }
}
