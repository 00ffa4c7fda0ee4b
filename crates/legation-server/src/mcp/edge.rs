//! Where bytes come in and go out. What comes in has passed the front door, so nothing in it can be read in
//! two ways. The handshake of VCP has places in MCP that the library does not know: it is moved there on its
//! way in, and back on its way out.

use crate::refusal::Refusal;
use axum::body::{Body, Bytes};
use axum::response::Response;
use legation_protocol::Code;
use legation_protocol::json::{Doc, Kind, Limits, Node};
use serde_json::{Value, json};

/// By this name VCP is an extension of MCP.
pub(super) const VCP: &str = "space.creed/vcp";
/// A message within a request lies a few objects deep.
const LIMITS: Limits = Limits { bytes: super::MOST, depth: Limits::MESSAGE.depth + 8 };

/// A request as the library reads it.
pub(super) struct Inward {
    pub(super) bytes: Bytes,
    /// Whether it opens a session.
    pub(super) opens: bool,
}

pub(super) fn inward(bytes: Bytes) -> Result<Inward, Refusal> {
    let doc = Doc::parse_within(&bytes, LIMITS)?;
    if doc.root().kind() != Kind::Object {
        let message = format!("this takes one message of JSON-RPC, not {}", doc.root().kind().noun());
        return Err(Refusal::because(Code::NotAnObject, message));
    }
    if !doc.root().get("method").and_then(Node::text).is_some_and(|method| method == "initialize") {
        drop(doc);
        return Ok(Inward { bytes, opens: false });
    }
    let bad = |error: serde_json::Error| Refusal::because(Code::BadJson, error.to_string());
    let mut request: Value = serde_json::from_str(doc.text()).map_err(bad)?;
    if let Some(params) = request.get_mut("params") {
        place_hello(params);
    }
    Ok(Inward { bytes: request.to_string().into(), opens: true })
}

/// Puts the hello, from wherever it stands, among the extensions of the client's capabilities.
fn place_hello(params: &mut Value) {
    let places = ["/initializationOptions/vcp", "/capabilities/experimental/vcp", "/_meta/space.creed~1vcp"];
    let Some(hello) = places.iter().find_map(|place| params.pointer(place)).cloned() else { return };
    // What is no object is no hello, and is answered as what it is.
    let hello = if hello.is_object() { hello } else { json!({"hello": hello}) };
    let extensions = within(params, "capabilities").and_then(|capabilities| within(capabilities, "extensions"));
    if let Some(Value::Object(extensions)) = extensions {
        extensions.insert(VCP.to_owned(), hello);
    }
}

/// The object of this name, made if there is nothing.
fn within<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    Some(value.as_object_mut()?.entry(name).or_insert_with(|| json!({})))
}

/// The answer to what opens a session, with the acknowledgement where the spec of VCP has it.
pub(super) async fn outward(response: Response) -> Result<Response, Refusal> {
    let (mut parts, body) = response.into_parts();
    let broken = |_| Refusal::because(Code::Busy, "the answer broke off");
    let bytes = axum::body::to_bytes(body, usize::MAX).await.map_err(broken)?;
    parts.headers.remove(axum::http::header::CONTENT_LENGTH);
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<_> = text.split('\n').map(told).collect();
    Ok(Response::from_parts(parts, Body::from(lines.join("\n"))))
}

/// One line of it: JSON as such, or as an event.
fn told(line: &str) -> String {
    let (head, text) = line.strip_prefix("data:").map_or(("", line), |text| ("data: ", text));
    match serde_json::from_str::<Value>(text) {
        Ok(mut answer) if answer.is_object() => {
            place_ack(&mut answer);
            format!("{head}{answer}")
        }
        Ok(_) | Err(_) => line.to_owned(),
    }
}

fn place_ack(answer: &mut Value) {
    let Some(ack) = answer.pointer("/result/_meta/space.creed~1vcp").cloned() else { return };
    let info = answer.pointer_mut("/result/serverInfo");
    if let Some(Value::Object(metadata)) = info.and_then(|info| within(info, "metadata")) {
        metadata.insert("vcp".to_owned(), ack);
    }
}

#[cfg(test)]
mod tests {
    use super::{inward, told};
    use serde_json::{Value, json};

    #[track_caller]
    fn check(params: Value, want: Option<Value>) {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params});
        let inward = inward(request.to_string().into()).unwrap();
        assert!(inward.opens);
        let read: Value = serde_json::from_slice(&inward.bytes).unwrap();
        assert_eq!(read.pointer("/params/capabilities/extensions/space.creed~1vcp"), want.as_ref(), "{params}");
    }

    #[test]
    fn a_hello_is_found_wherever_it_may_stand() {
        let hello = json!({"type": "vcp-hello", "version": "3.1"});
        check(json!({}), None);
        check(json!({"initializationOptions": {"other": 1}}), None);
        check(json!({"initializationOptions": {"vcp": hello}}), Some(hello.clone()));
        check(json!({"capabilities": {"experimental": {"vcp": hello}}}), Some(hello.clone()));
        check(json!({"capabilities": {"extensions": {"space.creed/vcp": hello}}}), Some(hello.clone()));
        check(json!({"_meta": {"space.creed/vcp": hello}, "capabilities": {}}), Some(hello.clone()));
        check(json!({"initializationOptions": {"vcp": "hello"}}), Some(json!({"hello": "hello"})));
        check(json!({"initializationOptions": {"vcp": hello}, "capabilities": 1}), None);
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        for text in [r#"{"method":"ping","method":"initialize"}"#, "{} {}", "{\"id\":1e999}", "[]"] {
            assert!(inward(text.into()).is_err(), "{text}");
        }
        assert!(!inward("{}".into()).unwrap().opens);
    }

    #[test]
    fn the_ack_stands_where_the_spec_has_it() {
        let answer = json!({"result": {"serverInfo": {"name": "x"}, "_meta": {"space.creed/vcp": {"type": "vcp-ack"}}}});
        for head in ["", "data: "] {
            let line = told(&format!("{head}{answer}"));
            let read: Value = serde_json::from_str(line.strip_prefix(head).unwrap()).unwrap();
            assert_eq!(read["result"]["serverInfo"]["metadata"]["vcp"]["type"], "vcp-ack");
        }
        assert_eq!(told("event: message"), "event: message");
        assert_eq!(told(r#"data: {"result":{}}"#), r#"data: {"result":{}}"#);
    }
}
