//! The server's no (section 3.3) and its codes (section 4).

use super::{ExtensionName, Kind, Server, Version, capability, typed};
use crate::code::Code;
use crate::finding::{Findings, Rejection, Severity};
use crate::json::{Limits, Node};
use crate::read::{self, At, Extra, Object};
use crate::wire::Wire;
use serde::{Serialize, Serializer};
use std::time::Duration;

/// Why a handshake failed (section 4).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ErrorCode {
    /// The version ranges do not meet.
    VersionUnsupported,
    /// A requested extension needs to know who the client is.
    IdentityRequired,
    /// The identity token was not accepted.
    IdentityInvalid,
    /// Two requested extensions exclude each other.
    ExtensionConflict,
    /// Too many handshakes.
    RateLimited,
    /// The server's own fault.
    InternalError,
    /// The hello is malformed or too large. Not in the spec, which has no code for it.
    HelloInvalid,
    /// A code of somebody else's.
    Other(String),
}

impl ErrorCode {
    /// The code on the wire.
    pub fn as_str(&self) -> &str {
        match self {
            ErrorCode::VersionUnsupported => "VERSION_UNSUPPORTED",
            ErrorCode::IdentityRequired => "IDENTITY_REQUIRED",
            ErrorCode::IdentityInvalid => "IDENTITY_INVALID",
            ErrorCode::ExtensionConflict => "EXTENSION_CONFLICT",
            ErrorCode::RateLimited => "RATE_LIMITED",
            ErrorCode::InternalError => "INTERNAL_ERROR",
            ErrorCode::HelloInvalid => "HELLO_INVALID",
            ErrorCode::Other(code) => code,
        }
    }
}

impl From<String> for ErrorCode {
    fn from(code: String) -> Self {
        match code.as_str() {
            "VERSION_UNSUPPORTED" => ErrorCode::VersionUnsupported,
            "IDENTITY_REQUIRED" => ErrorCode::IdentityRequired,
            "IDENTITY_INVALID" => ErrorCode::IdentityInvalid,
            "EXTENSION_CONFLICT" => ErrorCode::ExtensionConflict,
            "RATE_LIMITED" => ErrorCode::RateLimited,
            "INTERNAL_ERROR" => ErrorCode::InternalError,
            "HELLO_INVALID" => ErrorCode::HelloInvalid,
            _ => ErrorCode::Other(code),
        }
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// `vcp-error` (section 3.3): there is no session, and why.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type", rename = "vcp-error")]
pub struct Refusal {
    /// Why, for programs.
    pub code: ErrorCode,
    /// Why, for people.
    pub message: String,
    /// The versions the server speaks; always there with `VERSION_UNSUPPORTED`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub supported_versions: Option<Vec<Version>>,
    /// Seconds to wait before trying again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<u64>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// How much of a rejection is told to a client, in characters.
const MAX_SUMMARY: usize = 1_024;

impl Refusal {
    fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Refusal { code, message: message.into(), supported_versions: None, retry_after: None, extra: Extra::new() }
    }

    /// The client's versions from `lowest` to `highest` are none of the server's.
    pub fn version_unsupported(server: &Server, lowest: Version, highest: Version) -> Self {
        let listed: Vec<_> = server.versions.iter().map(ToString::to_string).collect();
        let message = format!("this server speaks VCP {}; the client speaks {lowest} to {highest}", listed.join(", "));
        let versions = server.versions.iter().copied().collect();
        Refusal { supported_versions: Some(versions), ..Refusal::new(ErrorCode::VersionUnsupported, message) }
    }

    /// An extension needs to know who the client is.
    pub fn identity_required(extension: &ExtensionName) -> Self {
        Refusal::new(ErrorCode::IdentityRequired, format!("{extension} needs a valid VCP/I identity token"))
    }

    /// The identity token was not accepted. Never says why, so that nobody learns from trying.
    pub fn identity_invalid() -> Self {
        Refusal::new(ErrorCode::IdentityInvalid, "the identity token was not accepted")
    }

    /// Two extensions exclude each other.
    pub fn extension_conflict(one: &ExtensionName, other: &ExtensionName) -> Self {
        Refusal::new(ErrorCode::ExtensionConflict, format!("{one} and {other} exclude each other"))
    }

    /// Too many handshakes; the client may come back after `wait`, rounded up to whole seconds.
    pub fn rate_limited(wait: Duration) -> Self {
        let seconds = wait.as_secs().saturating_add(u64::from(wait.subsec_nanos() > 0));
        Refusal { retry_after: Some(seconds), ..Refusal::new(ErrorCode::RateLimited, "too many handshakes") }
    }

    /// The server's own fault.
    pub fn internal_error(message: impl Into<String>) -> Self {
        Refusal::new(ErrorCode::InternalError, message)
    }

    /// A hello that cannot be one, or cannot be one here.
    pub fn hello_invalid(message: impl Into<String>) -> Self {
        Refusal::new(ErrorCode::HelloInvalid, message)
    }

    /// The answer to a hello that could not be read.
    pub fn to_unreadable(rejection: Rejection, server: &Server) -> Self {
        if let Err(fault) = server.is_fit() {
            return fault;
        }
        // A pointer may be as long as the hello, and the answer has the same limit.
        let summary: String = rejection.to_string().chars().take(MAX_SUMMARY).collect();
        let errors = rejection.into_vec().into_iter().filter(|violation| violation.severity == Severity::Error);
        if errors.map(|violation| violation.code).all(|code| code == Code::VersionRange) {
            let versions = server.versions.iter().copied().collect();
            return Refusal {
                supported_versions: Some(versions),
                ..Refusal::new(ErrorCode::VersionUnsupported, summary)
            };
        }
        Refusal::new(ErrorCode::HelloInvalid, summary)
    }

    /// How long to wait before trying again, if that can help.
    pub fn wait(&self) -> Option<Duration> {
        self.retry_after.map(Duration::from_secs)
    }
}

impl Wire for Refusal {
    const LIMITS: Limits = Limits::HANDSHAKE;

    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self> {
        let mut o = At { node, spec: "NEG 3.3", out }.object()?;
        let kind = o.required("type", |at| typed(at, Kind::Error));
        let code = o.required("code", read::text).map(ErrorCode::from);
        let message = o.required("message", read::text);
        let supported_versions = o.optional("supported_versions", |at| at.list(Version::read));
        let retry_after = o.nullable("retry_after", capability::count);
        if let Some(code) = &code {
            check_code(&mut o, code, message.as_deref());
        }
        kind?;
        Some(Refusal { code: code?, message: message?, supported_versions, retry_after, extra: o.extra() })
    }
}

/// What each code asks of the other members.
fn check_code(o: &mut Object<'_, '_>, code: &ErrorCode, message: Option<&str>) {
    match code {
        ErrorCode::VersionUnsupported => needs_versions(o),
        ErrorCode::ExtensionConflict => message.into_iter().for_each(|message| needs_a_pair(o, message)),
        ErrorCode::RateLimited => needs_a_wait(o),
        ErrorCode::Other(_) => {
            o.wrong(Code::ErrorCodeUnknown, "code", "NEG 4", "no such code is defined")
                .help("clients treat it as INTERNAL_ERROR")
                .warning();
        }
        ErrorCode::IdentityRequired
        | ErrorCode::IdentityInvalid
        | ErrorCode::InternalError
        | ErrorCode::HelloInvalid => {}
    }
}

fn needs_versions(o: &mut Object<'_, '_>) {
    let name = "supported_versions";
    let is_empty = |node: Node<'_>| node.kind() == crate::json::Kind::Array && node.items().next().is_none();
    if o.node.get(name).is_none_or(is_empty) {
        o.wrong(Code::SchemaInvalid, name, "NEG 3.3", "VERSION_UNSUPPORTED lists the versions that are supported")
            .help("add \"supported_versions\", such as [\"3.0\", \"3.1\"]");
    }
}

fn needs_a_pair(o: &mut Object<'_, '_>, message: &str) {
    let mut names = ExtensionName::found_in(message);
    let first = names.next();
    if first.is_none() || names.all(|name| Some(name) == first) {
        o.wrong(Code::SchemaInvalid, "message", "NEG 4", "EXTENSION_CONFLICT names the two extensions in its message")
            .help("write both names in full, such as \"VCP-X-A and VCP-X-B exclude each other\"");
    }
}

fn needs_a_wait(o: &mut Object<'_, '_>) {
    if o.node.get("retry_after").is_none_or(Node::is_null) {
        o.wrong(Code::RetryAfterMissing, "retry_after", "NEG 4", "RATE_LIMITED says how long to wait")
            .help("add \"retry_after\" with a number of seconds")
            .warning();
    }
}

#[cfg(test)]
mod tests {
    use super::{ErrorCode, ExtensionName, Refusal, Server, Version};
    use crate::negotiation::{CoreFeatures, Hello, negotiate};
    use crate::wire::{build, parse};
    use std::time::Duration;

    #[test]
    fn what_the_constructors_make_can_be_sent() {
        let server = Server::default();
        for refusal in [
            Refusal::version_unsupported(&server, Version::new(4, 0), Version::new(4, 2)),
            Refusal::identity_required(&ExtensionName::PERSONAL),
            Refusal::identity_invalid(),
            Refusal::extension_conflict(&ExtensionName::PERSONAL, &ExtensionName::TORCH),
            Refusal::rate_limited(Duration::from_millis(1_500)),
            Refusal::internal_error("the key file cannot be read"),
        ] {
            let built = build(&refusal).unwrap();
            assert_eq!((built.value(), built.warnings().len()), (&refusal, 0));
        }
        assert_eq!(Refusal::rate_limited(Duration::from_millis(1_500)).wait(), Some(Duration::from_secs(2)));
    }

    #[track_caller]
    fn check(text: &str, want: &ErrorCode) {
        let refusal = Refusal::to_unreadable(parse::<Hello>(text.as_bytes()).unwrap_err(), &Server::default());
        assert_eq!(&refusal.code, want, "{text}");
        build(&refusal).unwrap();
    }

    #[test]
    fn what_a_broken_hello_is_answered_with() {
        let range = r#"{"type":"vcp-hello","version":"3.0","min_version":"3.1"}"#;
        check(range, &ErrorCode::VersionUnsupported);
        check(r#"{"type":"vcp-hello","version":"0.9"}"#, &ErrorCode::VersionUnsupported);
        for text in [
            "",
            "[]",
            "{}",
            r#"{"type":"vcp-ack","version":"3.1"}"#,
            r#"{"type":"vcp-hello","version":"three"}"#,
            r#"{"type":"vcp-hello","version":"3.0","min_version":"3.1","identity":7}"#,
            &range.replace('}', &format!("{}}}", " ".repeat(65_536))),
        ] {
            check(text, &ErrorCode::HelloInvalid);
        }
    }

    #[test]
    fn a_server_that_is_unfit_says_so_whatever_it_was_sent() {
        let silent = Server { versions: [].into(), ..Server::default() };
        let open = CoreFeatures { encryption: false, ..CoreFeatures::ALL };
        let unsafe_one = Server { core_features: open, ..Server::default() };
        for text in [r#"{"type":"vcp-hello","version":"3.0","min_version":"3.1"}"#, "{}"] {
            for server in [&silent, &unsafe_one] {
                let refusal = Refusal::to_unreadable(parse::<Hello>(text.as_bytes()).unwrap_err(), server);
                assert_eq!(refusal, negotiate(&Hello::new(Version::V3_1), server, |_| true).unwrap_err());
                assert_eq!((&refusal.code, &refusal.supported_versions), (&ErrorCode::InternalError, &None));
                build(&refusal).unwrap();
            }
        }
    }

    #[test]
    fn the_longest_pointer_still_fits_an_answer() {
        let text = format!(r#"{{"type":"vcp-hello","version":"3.1","{}":{{"a":1,"a":1}}}}"#, "~".repeat(65_000));
        check(&text, &ErrorCode::HelloInvalid);
    }

    #[test]
    fn codes_are_read_as_they_are_written() {
        for text in ["VERSION_UNSUPPORTED", "RATE_LIMITED", "HELLO_INVALID", "TEAPOT", "internal_error"] {
            assert_eq!(ErrorCode::from(text.to_owned()).as_str(), text);
        }
    }
}
