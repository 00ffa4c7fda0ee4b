//! Where bytes come in and go out. What comes in has passed the front door, so nothing in it can be read in
//! two ways. The handshake of VCP has places in MCP that the library does not know: the hello is taken from there
//! on its way in, and the answer put there on its way out.

use super::straight::Straight;
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

/// A request, and what of it the library would not see.
#[derive(Debug)]
pub(super) struct Inward {
    pub(super) bytes: Bytes,
    /// Whether it opens a session.
    pub(super) opens: bool,
    /// The hello it brings, as it was written.
    pub(super) hello: Option<String>,
    /// What it sends, where it does nothing else.
    pub(super) straight: Option<Straight>,
}

pub(super) fn inward(bytes: Bytes) -> Result<Inward, Refusal> {
    let doc = Doc::parse_within(&bytes, LIMITS)?;
    if doc.root().kind() != Kind::Object {
        let message = format!("this takes one message of JSON-RPC, not {}", doc.root().kind().noun());
        return Err(Refusal::because(Code::NotAnObject, message));
    }
    let opens = doc.root().get("method").is_some_and(|method| method.is_text("initialize"));
    let params = doc.root().get("params");
    let hello = params.and_then(|params| if opens { opening_hello(params) } else { hello_of(params) });
    let hello = hello.map(|hello| hello.raw().to_owned());
    let straight = Straight::of(doc.root(), &bytes);
    drop(doc);
    Ok(Inward { bytes, opens, hello, straight })
}

/// The hello a session begins with: where the spec of VCP has it, or where MCP has room for it.
fn opening_hello(params: Node<'_>) -> Option<Node<'_>> {
    let spec = || params.get("initializationOptions")?.get("vcp");
    let capability = |group: &str, name: &str| params.get("capabilities")?.get(group)?.get(name);
    spec()
        .or_else(|| capability("experimental", "vcp"))
        .or_else(|| capability("extensions", VCP))
        .or_else(|| params.get("_meta")?.get(VCP))
}

/// The hello that comes with a request.
fn hello_of(params: Node<'_>) -> Option<Node<'_>> {
    let meta = params.get("_meta")?;
    let among_capabilities = || meta.get("io.modelcontextprotocol/clientCapabilities")?.get("extensions")?.get(VCP);
    meta.get(VCP).or_else(among_capabilities)
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

/// The object of this name, made if there is nothing.
fn within<'v>(value: &'v mut Value, name: &str) -> Option<&'v mut Value> {
    Some(value.as_object_mut()?.entry(name).or_insert_with(|| json!({})))
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
    fn check(method: &str, params: &Value, want: Option<&Value>) {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let inward = inward(request.to_string().into()).unwrap();
        assert_eq!(inward.opens, method == "initialize");
        assert_eq!(inward.hello, want.map(ToString::to_string), "{params}");
    }

    #[test]
    fn a_hello_is_found_wherever_it_may_stand() {
        let hello = json!({"type": "vcp-hello", "version": "3.1"});
        let capabilities = json!({"extensions": {"space.creed/vcp": hello}});
        check("initialize", &json!({}), None);
        check("initialize", &json!({"initializationOptions": {"other": 1}}), None);
        check("initialize", &json!({"initializationOptions": {"vcp": hello}}), Some(&hello));
        check("initialize", &json!({"initializationOptions": {"vcp": "hello"}}), Some(&json!("hello")));
        check("initialize", &json!({"capabilities": {"experimental": {"vcp": hello}}}), Some(&hello));
        check("initialize", &json!({"capabilities": capabilities}), Some(&hello));
        check("initialize", &json!({"_meta": {"space.creed/vcp": hello}, "capabilities": 1}), Some(&hello));
        check("tools/list", &json!({"initializationOptions": {"vcp": hello}}), None);
        check("tools/list", &json!({"_meta": {"space.creed/vcp": hello}}), Some(&hello));
        let meta = json!({"io.modelcontextprotocol/clientCapabilities": capabilities});
        check("server/discover", &json!({"_meta": meta}), Some(&hello));
        check("server/discover", &json!({"_meta": {}}), None);
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
        let answer =
            json!({"result": {"serverInfo": {"name": "x"}, "_meta": {"space.creed/vcp": {"type": "vcp-ack"}}}});
        for head in ["", "data: "] {
            let line = told(&format!("{head}{answer}"));
            let read: Value = serde_json::from_str(line.strip_prefix(head).unwrap()).unwrap();
            assert_eq!(read["result"]["serverInfo"]["metadata"]["vcp"]["type"], "vcp-ack");
        }
        assert_eq!(told("event: message"), "event: message");
        assert_eq!(told(r#"data: {"result":{}}"#), r#"data: {"result":{}}"#);
    }
}
