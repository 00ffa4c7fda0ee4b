//! What an exchange answers when it does not do what it was asked.

use legation_protocol::Code;
use serde::Deserialize;
use std::fmt;
use std::time::Duration;

/// A refusal. `code` is stable; `message` is for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// What is wrong, by its name in `docs/errors.md`.
    pub code: String,
    /// What is wrong, for people.
    pub message: String,
    /// Whether the same could succeed later, in the exchange's words; where somebody between answered, by the status.
    pub retryable: bool,
    /// A JSON pointer to the member to blame.
    pub at: Option<Box<str>>,
    /// The section that has the rule.
    pub spec: Option<Box<str>>,
    /// The digest of the message that was refused, if it was read: what the refusal is looked up by.
    pub digest: Option<Box<str>>,
    /// The HTTP status; none where the answer came by another way.
    pub status: Option<u16>,
    /// How long the exchange asks to wait before the same is sent again.
    pub retry_after: Option<Duration>,
}

/// The error body.
#[derive(Deserialize)]
struct Wire {
    error: String,
    #[serde(default)]
    message: String,
    retryable: Option<bool>,
    at: Option<Box<str>>,
    spec: Option<Box<str>>,
    digest: Option<Box<str>>,
}

impl Refused {
    /// Reads an error body.
    pub(crate) fn read(body: &[u8], status: Option<u16>) -> Result<Refused, serde_json::Error> {
        let Wire { error, message, retryable, at, spec, digest } = serde_json::from_slice(body)?;
        let retryable = retryable.unwrap_or_else(|| status.is_some_and(is_retryable));
        Ok(Refused { code: error, message, retryable, at, spec, digest, status, retry_after: None })
    }

    /// The code, if this version knows it.
    pub fn known(&self) -> Option<Code> {
        Code::named(&self.code)
    }

    /// Whether sending the same again could succeed. A status says nothing against what the exchange says: a tool that
    /// did not answer in time may have done all it was asked.
    pub fn is_retryable(&self) -> bool {
        self.retryable
    }

    pub(crate) fn is_fenced(&self) -> bool {
        self.code == "fenced"
    }
}

/// Whether a status says that the same may succeed later.
pub(crate) const fn is_retryable(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..=599)
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "refused[{}]: {}", self.code, self.message)?;
        match &self.at {
            Some(at) if !at.is_empty() => write!(f, " (at {at})"),
            Some(_) | None => Ok(()),
        }
    }
}

impl std::error::Error for Refused {}

#[cfg(test)]
mod tests {
    use super::{Refused, is_retryable};

    #[test]
    fn a_refusal_is_read_with_and_without_what_may_be_absent() {
        let body = br#"{"error":"stale","message":"too old","retryable":false,"at":"/timestamp","spec":"VCP 7.4"}"#;
        let refused = Refused::read(body, Some(422)).unwrap();
        assert_eq!(refused.to_string(), "refused[stale]: too old (at /timestamp)");
        assert!(!refused.is_retryable() && refused.known().is_some());
        assert!(Refused::read(br#"{"error":"x","retryable":true}"#, None).unwrap().is_retryable());
        assert!(Refused::read(b"{}", Some(500)).is_err());
    }

    #[test]
    fn what_the_exchange_says_counts_and_a_status_only_without_that() {
        let check = |body: &str, status: u16, want: bool| {
            assert_eq!(Refused::read(body.as_bytes(), Some(status)).unwrap().is_retryable(), want, "{status} {body}");
        };
        check(r#"{"error":"tool_timeout","retryable":false}"#, 504, false);
        check(r#"{"error":"tool_failed","retryable":false}"#, 502, false);
        check(r#"{"error":"tool_unavailable","retryable":true}"#, 503, true);
        check(r#"{"error":"bad gateway"}"#, 502, true);
        check(r#"{"error":"forbidden"}"#, 403, false);
    }

    #[test]
    fn only_some_statuses_invite_another_try() {
        for status in [408, 425, 429, 500, 502, 503, 504, 507] {
            assert!(is_retryable(status), "{status}");
        }
        for status in [200, 301, 400, 401, 403, 404, 409, 413, 415, 422, 423] {
            assert!(!is_retryable(status), "{status}");
        }
    }
}
