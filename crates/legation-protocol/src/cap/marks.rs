//! What Legation adds to CAP where the spec leaves it to prose: what a delegation passes on
//! (Delegation) and what an overseer decided about which result (Oversight).

mod read;

pub(super) use read::Marks;

use super::member::names;
use crate::code::Code;
use crate::json::Digest;
use crate::names::names as wire_names;
use crate::read::At;
use serde::{Serialize, Serializer};

/// An overseer's verdict on a result (Oversight).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// The result goes to its recipient.
    Approve,
    /// The result goes back to be changed.
    Revise,
    /// The result goes nowhere.
    Reject,
}

wire_names!(Decision { Approve = "approve", Revise = "revise", Reject = "reject" });

/// What a delegation passes on (Delegation). It narrows what the delegate may do anyway: `None`
/// leaves a kind as it was, an empty list passes nothing on. One of the two must be there, since
/// an empty object could be read as either.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Grants {
    /// The tools the delegate may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// The scopes the delegate may use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<String>>,
}

impl Grants {
    /// Whether these let a tool through. The delegate's own bindings must do so too.
    pub fn allow_tool(&self, tool: &str) -> bool {
        lists(self.tools.as_deref(), tool)
    }

    /// Whether these let a scope through. The delegate's own bindings must do so too.
    pub fn allow_scope(&self, scope: &str) -> bool {
        lists(self.scopes.as_deref(), scope)
    }

    /// What is left when a delegation under `self` passes on `next`: never more than either.
    #[must_use]
    pub fn narrowed_by(&self, next: &Grants) -> Grants {
        Grants {
            tools: both(self.tools.as_deref(), next.tools.as_deref()),
            scopes: both(self.scopes.as_deref(), next.scopes.as_deref()),
        }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Grants> {
        let node = at.node;
        let mut o = At { spec: "Legation grants", ..at }.object()?;
        if node.keyed().next().is_none() {
            o.out
                .at(Code::SchemaInvalid, node, "Legation grants", "empty grants could mean everything or nothing")
                .help("list \"tools\" or \"scopes\" (an empty list passes nothing on), or remove \"grants\"");
            return None;
        }
        let tools = o.optional("tools", names);
        let scopes = o.optional("scopes", names);
        o.closed();
        Some(Grants { tools, scopes })
    }
}

fn lists(names: Option<&[String]>, name: &str) -> bool {
    names.is_none_or(|names| names.iter().any(|listed| listed == name))
}

fn both(above: Option<&[String]>, next: Option<&[String]>) -> Option<Vec<String>> {
    match (above, next) {
        (None, one) | (one, None) => one.map(<[String]>::to_vec),
        (Some(above), Some(next)) => Some(next.iter().filter(|name| above.contains(name)).cloned().collect()),
    }
}

/// `sha256:` and 64 lower-case hex digits.
fn digest(at: At<'_, '_>) -> Option<Digest> {
    at.parsed(Code::SchemaInvalid, |text| {
        parse_digest(text).ok_or("a digest is `sha256:` and 64 hexadecimal digits in lower case")
    })
}

fn parse_digest(text: &str) -> Option<Digest> {
    let digits = text.strip_prefix("sha256:").filter(|digits| digits.len() == 64)?;
    let mut bytes = [0; 32];
    for (byte, pair) in bytes.iter_mut().zip(digits.as_bytes().chunks_exact(2)) {
        let [high, low] = *pair else { return None };
        *byte = hex(high)? << 4 | hex(low)?;
    }
    Some(Digest(bytes))
}

fn hex(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[expect(clippy::ref_option, reason = "the signature serde asks for")]
pub(super) fn write_digest<S: Serializer>(digest: &Option<Digest>, serializer: S) -> Result<S::Ok, S::Error> {
    match digest {
        Some(digest) => serializer.collect_str(digest),
        None => serializer.serialize_none(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Digest, Grants, parse_digest};

    #[test]
    fn grants_only_narrow() {
        let tools =
            |list: &[&str]| Grants { tools: Some(list.iter().map(ToString::to_string).collect()), scopes: None };
        let open = Grants::default();
        assert!(open.allow_tool("read") && open.allow_scope("any"));
        let narrow = tools(&["read", "list"]).narrowed_by(&tools(&["write", "read"]));
        assert_eq!(narrow, tools(&["read"]));
        assert!(narrow.allow_tool("read") && !narrow.allow_tool("write") && !narrow.allow_tool("list"));
        assert_eq!(tools(&["read"]).narrowed_by(&open), tools(&["read"]));
        assert_eq!(open.narrowed_by(&tools(&[])), tools(&[]));
        assert!(!tools(&[]).allow_tool("read"));
    }

    #[test]
    fn a_digest_reads_back_as_written() {
        let digest = Digest::of_bytes(b"result");
        assert_eq!(parse_digest(&digest.to_string()), Some(digest));
        let text = digest.to_string();
        for bad in [&text[1..], &text[..70], &text.to_uppercase(), &format!("{text}0"), &text.replace(':', "-")] {
            assert_eq!(parse_digest(bad), None, "{bad}");
        }
        assert_eq!(parse_digest(&format!("sha256:{}", "é".repeat(32))), None);
    }
}
