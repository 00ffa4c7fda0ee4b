//! The headers of MCP over HTTP: what a message says of itself, said outside it too.

use legation_client::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
const METHOD: HeaderName = HeaderName::from_static("mcp-method");
const NAME: HeaderName = HeaderName::from_static("mcp-name");
const ACCEPT: HeaderName = HeaderName::from_static("accept");

/// The version a message of the newer generation names.
pub(super) fn version_of(message: &Value) -> Option<&str> {
    message.pointer("/params/_meta/io.modelcontextprotocol~1protocolVersion").and_then(Value::as_str)
}

/// The headers of a message in a session, or in none.
pub(super) fn headers(message: &Value, session: Option<&HeaderValue>, agreed: Option<&HeaderValue>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
    let Some(version) = version_of(message) else {
        headers.extend(session.map(|session| (SESSION, session.clone())));
        headers.extend(agreed.map(|version| (VERSION, version.clone())));
        return headers;
    };
    let method = message.get("method").and_then(Value::as_str).unwrap_or_default();
    let named = match method {
        "tools/call" | "prompts/get" => message.pointer("/params/name"),
        "resources/read" => message.pointer("/params/uri"),
        _ => None,
    };
    let values = [(VERSION, Some(version)), (METHOD, Some(method)), (NAME, named.and_then(Value::as_str))];
    // What fits into no header is for the exchange to refuse.
    headers.extend(values.into_iter().filter_map(|(name, text)| Some((name, HeaderValue::from_str(text?).ok()?))));
    headers
}

/// Those of a session that listens.
pub(super) fn listening(session: &HeaderValue, agreed: Option<&HeaderValue>) -> HeaderMap {
    let mut headers = headers(&Value::Null, Some(session), agreed);
    headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
    headers
}
