//! Telling the formats apart by marks each alone has. What carries two marks is refused: two
//! readers could take it for two messages.

use crate::code::Code;
use crate::finding::Findings;
use crate::json::{Kind, Node};
use crate::names::names;
use std::borrow::Cow;

/// What a document is: a message in one of the four dialects, a handshake or an agent manifest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// VCP inter-agent messaging 1.2.
    Vcp,
    /// The ElizaOS agent language 0.1.
    Acl,
    /// CAP.
    Cap,
    /// VLP 1.1.
    Vlp,
    /// A message of the VCP 3.1 capability handshake.
    Hello,
    /// A CAP agent manifest.
    Manifest,
}

names!(Format { Vcp = "vcp", Acl = "acl", Cap = "cap", Vlp = "vlp", Hello = "hello", Manifest = "manifest" });

impl Format {
    /// Tells which format an object has, or enters why none or more than one.
    pub fn detect(node: Node<'_>, out: &mut Findings) -> Option<Format> {
        if node.kind() != Kind::Object {
            out.at(Code::NotAnObject, node, SPEC, format!("a message is a JSON object, not {}", node.kind().noun()));
            return None;
        }
        if is_handshake(node) {
            return Some(Format::Hello);
        }
        let Some((format, name)) = marks(node).next() else { return by_type(node, out) };
        let Some((other, second)) = marks(node).find(|(other, _)| *other != format) else { return Some(format) };
        let message =
            format!("`{name}` marks this as {format}, `{second}` marks it as {other}, and a message is of one dialect");
        out.at(Code::AmbiguousDialect, node, SPEC, message).help("remove the one that does not belong");
        None
    }

    /// The format asked for, unless the object carries its marks and another's too.
    pub(crate) fn demand(self, node: Node<'_>, out: &mut Findings) -> Option<Format> {
        let own = marks(node).any(|(format, _)| format == self);
        let foreign = marks(node).any(|(format, _)| format != self);
        if own && foreign { Format::detect(node, out) } else { Some(self) }
    }

    /// The format that a member of this name and value belongs to alone.
    fn marked_by(name: &str, value: Node<'_>) -> Option<Format> {
        let begins = |with: &str| value.text().is_some_and(|text| text.to_ascii_lowercase().starts_with(with));
        match name {
            "vcp_message" => Some(Format::Vcp),
            "mcp_version" | "performative" => Some(Format::Acl),
            "sender_id" | "recipient_id" => Some(Format::Cap),
            "protocol" if begins("vlp") => Some(Format::Vlp),
            "type" if begins("vcp-") => Some(Format::Hello),
            "system_prompt" | "allowed_agents" | "delegate_rules" | "mcp_bindings" => Some(Format::Manifest),
            _ => None,
        }
    }
}

/// A part of the handshake is known by its type alone, since whatever else it carries is to be
/// ignored (negotiation 3.1, section 8). Only a VCP envelope may not pass for one.
fn is_handshake(node: Node<'_>) -> bool {
    let kind = node.get("type").and_then(Node::text).unwrap_or_default();
    matches!(&*kind, "vcp-hello" | "vcp-ack" | "vcp-error") && node.get("vcp_message").is_none()
}

/// Every mark an object carries.
fn marks(node: Node<'_>) -> impl Iterator<Item = (Format, Cow<'_, str>)> {
    node.members().filter_map(|(name, value)| Some((Format::marked_by(&name, value)?, name)))
}

const SPEC: &str = "Legation dialects";
const CAP_TYPES: [&str; 4] = ["message", "delegation_notice", "error_response", "oversight_inquiry"];

/// Without any mark, CAP's own `type` values still tell.
fn by_type(node: Node<'_>, out: &mut Findings) -> Option<Format> {
    let kind = node.get("type").and_then(Node::text).unwrap_or_default();
    if CAP_TYPES.contains(&&*kind) {
        return Some(Format::Cap);
    }
    out.at(Code::UnknownDialect, node, SPEC, "nothing here says which dialect this is").help(
        "VCP has \"vcp_message\", ACL \"mcp_version\", CAP \"sender_id\", VLP \"protocol\": \"VLP/1.1\", \
         a handshake a \"type\" of vcp-…, a manifest \"system_prompt\"; \
         a signed wrapper has exactly \"message\" and \"signature\"",
    );
    None
}

#[cfg(test)]
mod tests {
    use super::Format;
    use crate::code::Code;
    use crate::finding::Findings;
    use crate::json::Doc;

    #[track_caller]
    fn check(text: &str, want: Result<Format, Code>) {
        let doc = Doc::parse(text.as_bytes()).unwrap();
        let mut out = Findings::new();
        let got = Format::detect(doc.root(), &mut out);
        let first = out.into_vec().first().map(|v| v.code);
        assert_eq!(got.ok_or_else(|| first.unwrap()), want, "{text}");
    }

    #[test]
    fn each_format_is_known_by_its_own_marks() {
        check(r#"{"vcp_message":"1.2","type":"escalation"}"#, Ok(Format::Vcp));
        check(r#"{"mcp_version":"0.1.0"}"#, Ok(Format::Acl));
        check(r#"{"performative":"FAILURE"}"#, Ok(Format::Acl));
        check(r#"{"type":"message","sender_id":"a"}"#, Ok(Format::Cap));
        check(r#"{"type":"error_response"}"#, Ok(Format::Cap));
        check(r#"{"protocol":"VLP/1.1","type":"message"}"#, Ok(Format::Vlp));
        check(r#"{"type":"message","sender_id":"a","protocol":"CAP"}"#, Ok(Format::Cap));
        check(r#"{"protocol":"VLP/2.0"}"#, Ok(Format::Vlp));
        check(r#"{"type":"vcp-hello"}"#, Ok(Format::Hello));
        check(r#"{"type":"vcp-hello","protocol":"VLP/1.1","sender_id":"a"}"#, Ok(Format::Hello));
        check(r#"{"type":"vcp-hullo"}"#, Ok(Format::Hello));
        check(r#"{"id":"a","allowed_agents":[]}"#, Ok(Format::Manifest));
    }

    #[test]
    fn what_fits_none_or_two_is_refused() {
        check("{}", Err(Code::UnknownDialect));
        check(r#"{"protocol":7}"#, Err(Code::UnknownDialect));
        check(r#"{"type":"letter"}"#, Err(Code::UnknownDialect));
        check("[]", Err(Code::NotAnObject));
        check(r#"{"vcp_message":"1.2","mcp_version":"0.1.0"}"#, Err(Code::AmbiguousDialect));
        check(r#"{"vcp_message":"1.2","type":"vcp-hello"}"#, Err(Code::AmbiguousDialect));
        check(r#"{"protocol":"VLP/1.1","sender_id":"a"}"#, Err(Code::AmbiguousDialect));
        check(r#"{"performative":"FAILURE","protocol":"VLP/1.1"}"#, Err(Code::AmbiguousDialect));
    }
}
