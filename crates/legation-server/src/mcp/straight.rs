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
/// Those whose hosts have one, which says who they are.
const OLDER: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];

/// A call that may go this way.
#[derive(Debug)]
pub(super) struct Straight {
    id: RequestId,
    message: Bytes,
    /// Whether the host says of itself what hosts without a session must.
    is_newer: bool,
}

impl Straight {
    /// The message in this request, if nothing else is in it.
    pub(super) fn of(root: Node<'_>, bytes: &Bytes) -> Option<Straight> {
        let [version, id, method, params] = exactly(root, ["jsonrpc", "id", "method", "params"])?;
        if !version.is_text("2.0") || !method.is_text(METHOD) {
            return None;
        }
        let (is_newer, name, arguments) = match exactly(params, ["_meta", "name", "arguments"]) {
            Some([meta, name, arguments]) if is_plain(meta) => (true, name, arguments),
            Some(_) => return None,
            None => exactly(params, ["name", "arguments"]).map(|[name, arguments]| (false, name, arguments))?,
        };
        let [message] = exactly(arguments, ["message"])?;
        let is_send = name.is_text(Tool::Send.name()) && message.kind() == Kind::Object;
        is_send.then_some(())?;
        Some(Straight { id: read(id)?, message: bytes.slice(message.span()), is_newer })
    }

    /// Whether the headers say what the body says, for a host with a session or without one.
    pub(super) fn is_announced(&self, headers: &HeaderMap, has_session: bool) -> bool {
        let said = |name: &'static str| Header::of(headers, &HeaderName::from_static(name));
        let version = said("mcp-protocol-version");
        let takes_both = matches!(Header::of(headers, &ACCEPT), Header::Once(text)
            if text.contains("application/json") && text.contains("text/event-stream"));
        takes_both
            && self.is_newer != has_session
            && headers.keys().all(|name| !name.as_str().starts_with("mcp-param-"))
            && if self.is_newer {
                version == Header::Once(GENERATION)
                    && said("mcp-method") == Header::Once(METHOD)
                    && said("mcp-name") == Header::Once(Tool::Send.name())
            } else {
                matches!(version, Header::Once(version) if OLDER.contains(&version))
                    && said("mcp-method") == Header::Absent
                    && said("mcp-name") == Header::Absent
            }
    }
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
        let Straight { id, message, is_newer } = straight;
        let said = self.ask(parts, Asked::post("/v1/messages", message.clone())).await;
        let result = letters::answered(said, || serde_json::from_slice(&message).unwrap_or_default());
        let mut result = ServerResult::CallToolResult(result);
        if !is_newer {
            result.strip_result_type_for_legacy_peer();
        }
        let answer = ServerJsonRpcMessage::response(result, id);
        let json = HeaderValue::from_static("application/json");
        ([(CONTENT_TYPE, json)], serde_json::to_vec(&answer).unwrap_or_default()).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::{GENERATION, Straight};
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

    /// A call of the older generation, which says nothing of itself.
    fn older() -> Value {
        let params = json!({"name": "send_message", "arguments": {"message": {"a": 1}}});
        json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
    }

    #[test]
    fn a_call_in_a_session_goes_straight_if_it_says_nothing_of_itself() {
        let both = ("accept", "application/json, text/event-stream");
        let headers = |version: &'static str| {
            let mut headers = HeaderMap::new();
            for (name, text) in [both, ("mcp-protocol-version", version)] {
                headers.append(HeaderName::from_static(name), HeaderValue::from_static(text));
            }
            headers
        };
        let straight = straight(&older()).unwrap();
        assert!(straight.is_announced(&headers("2025-11-25"), true));
        assert!(!straight.is_announced(&headers("2025-11-25"), false), "no session");
        assert!(!straight.is_announced(&headers("2030-01-01"), true), "nobody knows that");
        assert!(!super::tests::straight(&call()).unwrap().is_announced(&headers("2025-11-25"), true));
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
        let straight = straight(&call()).unwrap();
        let announced = |headers: &HeaderMap| straight.is_announced(headers, false);
        assert!(announced(&headers(&plain)));
        assert!(!straight.is_announced(&headers(&plain), true), "its hosts have no session");
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
