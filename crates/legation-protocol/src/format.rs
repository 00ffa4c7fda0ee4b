//! Telling the formats apart by marks each alone has. What carries two marks is refused: two
//! readers could take it for two messages.

use crate::code::Code;
use crate::finding::Findings;
use crate::json::{Kind, Node};
use crate::names::names;

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
        let mut marks = node.members().filter_map(|(name, value)| Some((Format::marked_by(&name, value)?, name)));
        let Some((format, name)) = marks.next() else { return by_type(node, out) };
        let Some((other, second)) = marks.find(|(other, _)| *other != format) else { return Some(format) };
        out.at(
            Code::AmbiguousDialect,
            node,
            SPEC,
            format!("`{name}` marks this as {format}, `{second}` marks it as {other}, and a message is of one dialect"),
        )
        .help("remove the one that does not belong");
        None
    }

    /// The format that a member of this name, or a `type` of this value, belongs to alone.
    fn marked_by(name: &str, value: Node<'_>) -> Option<Format> {
        match name {
            "vcp_message" => Some(Format::Vcp),
            "mcp_version" | "performative" => Some(Format::Acl),
            "sender_id" | "recipient_id" => Some(Format::Cap),
            "protocol" => Some(Format::Vlp),
            "type" if value.text()?.starts_with("vcp-") => Some(Format::Hello),
            "system_prompt" | "allowed_agents" | "delegate_rules" | "mcp_bindings" => Some(Format::Manifest),
            _ => None,
        }
    }
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
        "VCP has \"vcp_message\", ACL \"mcp_version\", CAP \"sender_id\", VLP \"protocol\", \
         a handshake a \"type\" of vcp-…, a manifest \"system_prompt\"",
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
        check(r#"{"type":"vcp-hello"}"#, Ok(Format::Hello));
        check(r#"{"id":"a","allowed_agents":[]}"#, Ok(Format::Manifest));
    }

    #[test]
    fn what_fits_none_or_two_is_refused() {
        check("{}", Err(Code::UnknownDialect));
        check(r#"{"type":"letter"}"#, Err(Code::UnknownDialect));
        check("[]", Err(Code::NotAnObject));
        check(r#"{"vcp_message":"1.2","mcp_version":"0.1.0"}"#, Err(Code::AmbiguousDialect));
        check(r#"{"vcp_message":"1.2","type":"vcp-hello"}"#, Err(Code::AmbiguousDialect));
        check(r#"{"protocol":"VLP/1.1","sender_id":"a"}"#, Err(Code::AmbiguousDialect));
        check(r#"{"performative":"FAILURE","protocol":"VLP/1.1"}"#, Err(Code::AmbiguousDialect));
    }
}
