//! JSON-RPC as tool servers speak it: what is sent is built from JSON as it came, and what comes passes the front door.

use legation_engine::ToolReply as Reply;
use legation_protocol::json::{Doc, Kind, Limits, Node};
use serde_json::json;

/// The most bytes of one message, and how deep it may be: a page of tools has more than a result may have.
pub(super) const MOST: Limits = Limits { bytes: 1 << 20, depth: 66 };

/// The newest version that begins with `initialize`, and the first that does not.
pub(super) const WITH_SESSIONS: &str = "2025-11-25";
pub(super) const WITHOUT: &str = "2026-07-28";
/// The versions with sessions that are understood.
pub(super) const KNOWN: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", WITH_SESSIONS];

/// A request. Its parameters are a JSON object.
pub(super) fn request(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":{params}}}"#, json!(method))
}

/// Something that is told, and not answered.
pub(super) fn notice(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":{},"params":{params}}}"#, json!(method))
}

/// What a server that asks us something is answered: we are there, and do nothing for it.
pub(super) fn answer_to(id: &str, method: &str) -> String {
    if method == "ping" {
        return format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#);
    }
    let error = json!({ "code": -32601, "message": "this client does nothing for servers" });
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{error}}}"#)
}

/// Who we are.
pub(super) fn client_info() -> serde_json::Value {
    json!({ "name": "legation", "version": env!("CARGO_PKG_VERSION") })
}

/// The parameters of `initialize`.
pub(super) fn hello() -> String {
    json!({ "protocolVersion": WITH_SESSIONS, "capabilities": {}, "clientInfo": client_info() }).to_string()
}

/// What every request says of itself where there are no sessions.
pub(super) fn meta() -> serde_json::Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": WITHOUT,
        "io.modelcontextprotocol/clientInfo": client_info(),
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

/// Something a server sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// The answer to a request of ours.
    Answer(u64, Reply),
    /// A request of its own: its id as it is written, and the method.
    Request(String, String),
    /// Something else, that nobody waits for.
    Other,
}

/// Reads what a server sent: one message, or several at once.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Sent>, String> {
    let doc = Doc::parse_within(bytes, MOST)
        .map_err(|why| format!("what it sent is no JSON that can be used ({})", why.code()))?;
    let root = doc.root();
    Ok(if root.kind() == Kind::Array { root.items().map(sent).collect() } else { vec![sent(root)] })
}

fn sent(node: Node<'_>) -> Sent {
    if let Some(method) = node.get("method").and_then(Node::text) {
        let id = node.get("id").filter(|id| !id.is_null());
        return id.map_or(Sent::Other, |id| Sent::Request(id.raw().to_owned(), method.into_owned()));
    }
    let Some(id) = node.get("id").and_then(|id| id.raw().parse().ok()) else { return Sent::Other };
    match (node.get("result"), node.get("error")) {
        (Some(result), None) => Sent::Answer(id, Reply::Result(result.raw().into())),
        (None, Some(error)) => Sent::Answer(id, Reply::Refused(error.raw().into())),
        (Some(_), Some(_)) | (None, None) => Sent::Other,
    }
}

/// A text member of an object.
pub(super) fn text(json: &str, member: &str) -> Option<String> {
    let doc = Doc::parse_within(json.as_bytes(), MOST).ok()?;
    doc.root().get(member).and_then(Node::text).map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use super::{Reply, Sent, read};

    #[test]
    fn what_a_server_sends_is_told_apart() {
        let one = |text: &str| read(text.as_bytes()).map(|mut all| all.pop().unwrap());
        let result = |text: &str| Ok(Sent::Answer(7, Reply::Result(text.into())));
        assert_eq!(one(r#"{"jsonrpc":"2.0","id":7,"result":{"a": 1.0}}"#), result(r#"{"a": 1.0}"#));
        let refused = Sent::Answer(7, Reply::Refused(r#"{"code":1}"#.into()));
        assert_eq!(one(r#"{"jsonrpc":"2.0","id":7,"error":{"code":1}}"#), Ok(refused));
        assert_eq!(one(r#"{"id":"x","method":"ping"}"#), Ok(Sent::Request(r#""x""#.to_owned(), "ping".to_owned())));
        for other in [r#"{"method":"notifications/progress"}"#, "{}", "1", r#"{"id":7}"#, r#"{"id":"7","result":1}"#] {
            assert_eq!(one(other), Ok(Sent::Other), "{other}");
        }
        for bad in ["", "{", r#"{"id":7,"id":8}"#, r#"{"id":7,"result":1e999}"#, &"[".repeat(100)] {
            assert!(read(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
