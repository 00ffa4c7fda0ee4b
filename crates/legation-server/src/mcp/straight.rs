//! The straight way of `send_message`: a call with nothing in it for the library to weigh is taken to its door in
//! the bytes it came in. Whatever looks any other way goes through the library, and both are answered alike.

use super::Desk;
use super::ask::Asked;
use super::edge::VCP;
use super::tools::{Tool, letters};
use crate::header::Header;
use axum::body::Bytes;
use axum::http::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use legation_protocol::json::{Kind, Node};
use rmcp::model::{ClientCapabilities, Implementation, RequestId, ServerJsonRpcMessage, ServerResult};
use serde::de::DeserializeOwned;

const METHOD: &str = "tools/call";
/// Only its hosts have no session.
const GENERATION: &str = "2026-07-28";

/// A call that may go this way.
#[derive(Debug)]
pub(super) struct Straight {
    id: RequestId,
    message: Bytes,
}

impl Straight {
    /// The message in this request, if nothing else is in it.
    pub(super) fn of(root: Node<'_>, bytes: &Bytes) -> Option<Straight> {
        let [version, id, method, params] = exactly(root, ["jsonrpc", "id", "method", "params"])?;
        if !version.is_text("2.0") || !method.is_text(METHOD) {
            return None;
        }
        let [meta, name, arguments] = exactly(params, ["_meta", "name", "arguments"])?;
        let [message] = exactly(arguments, ["message"])?;
        let is_plain = name.is_text(Tool::Send.name()) && message.kind() == Kind::Object && is_plain(meta);
        is_plain.then_some(())?;
        Some(Straight { id: read(id)?, message: bytes.slice(message.span()) })
    }
}

/// Whether the headers say what the body says.
pub(super) fn announced(headers: &HeaderMap) -> bool {
    let says =
        |name: &'static str, text: &str| Header::of(headers, &HeaderName::from_static(name)) == Header::Once(text);
    let takes_both = matches!(Header::of(headers, &ACCEPT), Header::Once(text)
        if text.contains("application/json") && text.contains("text/event-stream"));
    takes_both
        && says("mcp-protocol-version", GENERATION)
        && says("mcp-method", METHOD)
        && says("mcp-name", Tool::Send.name())
        && headers.keys().all(|name| !name.as_str().starts_with("mcp-param-"))
}

/// The members of an object that has these and no others.
fn exactly<'d, const N: usize>(object: Node<'d>, names: [&str; N]) -> Option<[Node<'d>; N]> {
    (object.keyed().count() == N).then_some(())?;
    let mut members = [object; N];
    for (member, name) in members.iter_mut().zip(names) {
        *member = object.get(name)?;
    }
    Some(members)
}

/// Whether a host says of itself only what every host does. A hello was taken from there before.
fn is_plain(meta: Node<'_>) -> bool {
    let is_known = |(name, value): (std::borrow::Cow<'_, str>, Node<'_>)| match &*name {
        "io.modelcontextprotocol/protocolVersion" => value.is_text(GENERATION),
        "io.modelcontextprotocol/clientInfo" => read::<Implementation>(value).is_some(),
        "io.modelcontextprotocol/clientCapabilities" => read::<ClientCapabilities>(value).is_some(),
        other => other == VCP,
    };
    let has = |name| meta.get(name).is_some();
    has("io.modelcontextprotocol/protocolVersion")
        && has("io.modelcontextprotocol/clientCapabilities")
        && meta.members().all(is_known)
}

fn read<T: DeserializeOwned>(node: Node<'_>) -> Option<T> {
    serde_json::from_str(node.raw()).ok()
}

impl Desk {
    pub(super) async fn send_straight(&self, parts: &Parts, straight: Straight) -> Response {
        let Straight { id, message } = straight;
        let said = self.ask(parts, Asked::post("/v1/messages", message.clone())).await;
        let result = letters::answered(said, || serde_json::from_slice(&message).unwrap_or_default());
        let answer = ServerJsonRpcMessage::response(ServerResult::CallToolResult(result), id);
        let json = HeaderValue::from_static("application/json");
        ([(CONTENT_TYPE, json)], serde_json::to_vec(&answer).unwrap_or_default()).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::{GENERATION, Straight, announced};
    use axum::body::Bytes;
    use axum::http::{HeaderMap, HeaderName, HeaderValue};
    use legation_protocol::json::Doc;
    use serde_json::{Value, json};

    fn call() -> Value {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": GENERATION,
            "io.modelcontextprotocol/clientInfo": {"name": "host", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {"sampling": {}},
            "space.creed/vcp": {"type": "vcp-hello"},
        });
        let params = json!({"_meta": meta, "name": "send_message", "arguments": {"message": {"a": 1}}});
        json!({"jsonrpc": "2.0", "id": "7", "method": "tools/call", "params": params})
    }

    fn straight(call: &Value) -> Option<Straight> {
        let bytes = Bytes::from(call.to_string());
        Straight::of(Doc::parse(&bytes).unwrap().root(), &bytes)
    }

    #[test]
    fn a_call_that_only_sends_goes_straight() {
        assert_eq!(straight(&call()).unwrap().message, r#"{"a":1}"#);
    }

    #[test]
    fn whatever_the_library_has_to_weigh_goes_through_it() {
        let changes = [
            ("/jsonrpc", json!("1.0")),
            ("/id", json!(null)),
            ("/id", json!(1.5)),
            ("/method", json!("tools/list")),
            ("/params/name", json!("claim")),
            ("/params/more", json!(1)),
            ("/params/arguments", json!({})),
            ("/params/arguments/more", json!(1)),
            ("/params/arguments/message", json!("text")),
            ("/params/_meta", json!({})),
            ("/params/_meta/progressToken", json!(1)),
            ("/params/_meta/io.modelcontextprotocol~1protocolVersion", json!("2025-11-25")),
            ("/params/_meta/io.modelcontextprotocol~1clientInfo", json!("host")),
            ("/params/_meta/io.modelcontextprotocol~1clientCapabilities", json!([])),
        ];
        for (place, value) in changes {
            let mut call = call();
            let (above, name) = place.rsplit_once('/').unwrap();
            let above = if above.is_empty() { &mut call } else { call.pointer_mut(above).unwrap() };
            above[name.replace("~1", "/")] = value;
            assert!(straight(&call).is_none(), "{call}");
        }
    }

    #[test]
    fn headers_must_say_what_the_body_says() {
        let plain = [
            ("accept", "application/json, text/event-stream"),
            ("mcp-protocol-version", GENERATION),
            ("mcp-method", "tools/call"),
            ("mcp-name", "send_message"),
        ];
        let headers = |all: &[(&'static str, &'static str)]| -> HeaderMap {
            let one = |(name, text)| (HeaderName::from_static(name), HeaderValue::from_static(text));
            let mut headers = HeaderMap::new();
            for (name, value) in all.iter().copied().map(one) {
                headers.append(name, value);
            }
            headers
        };
        assert!(announced(&headers(&plain)));
        for left_out in 0..plain.len() {
            let mut fewer = plain.to_vec();
            fewer.remove(left_out);
            assert!(!announced(&headers(&fewer)), "{fewer:?}");
        }
        for more in [("mcp-method", "tools/call"), ("mcp-name", "claim"), ("mcp-param-x", "1")] {
            assert!(!announced(&headers(&[&plain[..], &[more]].concat())), "{more:?}");
        }
    }
}
