//! Canonical JSON (RFC 8785), written from the received nodes: what signatures and digests cover.

use super::doc::{Kind, Node};
use super::{escape, number, python};
use sha2::{Digest as _, Sha256};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

/// Which of two ways to put a message into bytes for signing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// RFC 8785, as the messaging spec (section 7.2) asks.
    #[default]
    Canonical,
    /// What that section's Python sample does: no RFC 8785, and off unless asked for.
    PythonSample,
}

/// The canonical form of a value.
///
/// ```
/// use legation_protocol::json::{Doc, canonical};
/// let doc = Doc::parse(br#"{"b": 1.0, "a": "\u0062"}"#)?;
/// assert_eq!(canonical(doc.root()), br#"{"a":"b","b":1}"#);
/// # Ok::<(), legation_protocol::Rejection>(())
/// ```
pub fn canonical(node: Node<'_>) -> Vec<u8> {
    bytes_of(node, Form::Canonical, None)
}

/// The bytes a signature over a message covers: all of it but the member `signature`.
pub fn signed_bytes(message: Node<'_>, form: Form) -> Vec<u8> {
    bytes_of(message, form, Some("signature"))
}

fn bytes_of(node: Node<'_>, form: Form, without: Option<&str>) -> Vec<u8> {
    let mut out = Vec::with_capacity(node.raw().len());
    push(&mut out, node, form, without);
    out
}

fn push(out: &mut Vec<u8>, node: Node<'_>, form: Form, without: Option<&str>) {
    match node.kind() {
        Kind::Null | Kind::Bool => out.extend_from_slice(node.raw().as_bytes()),
        Kind::Number => match form {
            Form::Canonical => number::push_canonical(out, node.raw()),
            Form::PythonSample => python::push_number(out, node.raw()),
        },
        Kind::String => push_text(out, node),
        Kind::Array => {
            out.push(b'[');
            for (index, item) in node.items().enumerate() {
                separate(out, index);
                push(out, item, form, None);
            }
            out.push(b']');
        }
        Kind::Object => {
            out.push(b'{');
            for (index, (key, value)) in sorted(node, form, without).into_iter().enumerate() {
                separate(out, index);
                escape::push_string(out, &key);
                out.push(b':');
                push(out, value, form, None);
            }
            out.push(b'}');
        }
    }
}

fn separate(out: &mut Vec<u8>, index: usize) {
    if index > 0 {
        out.push(b',');
    }
}

fn push_text(out: &mut Vec<u8>, node: Node<'_>) {
    match node.text() {
        // Without a backslash the received spelling is the canonical one.
        Some(Cow::Borrowed(_)) => out.extend_from_slice(node.raw().as_bytes()),
        Some(Cow::Owned(text)) => escape::push_string(out, &text),
        None => {}
    }
}

fn sorted<'d>(node: Node<'d>, form: Form, without: Option<&str>) -> Vec<(Cow<'d, str>, Node<'d>)> {
    let order = match form {
        Form::Canonical => utf16_order,
        Form::PythonSample => str::cmp,
    };
    let mut members: Vec<_> = node.members().filter(|(key, _)| without != Some(&**key)).collect();
    if !members.is_sorted_by(|a, b| order(&a.0, &b.0).is_le()) {
        members.sort_unstable_by(|a, b| order(&a.0, &b.0));
    }
    members
}

/// Order by UTF-16 code units. It differs from byte order only where U+E000 to U+FFFF meets what
/// lies beyond, so only such keys pay for it.
fn utf16_order(a: &str, b: &str) -> Ordering {
    let high = |text: &str| text.bytes().any(|byte| byte >= 0xee);
    if high(a) && high(b) { a.encode_utf16().cmp(b.encode_utf16()) } else { a.cmp(b) }
}

/// SHA-256 of a canonical form. Two messages with one digest say the same.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Reads what `Display` writes.
    pub fn parse(text: &str) -> Option<Digest> {
        let hex = text.strip_prefix("sha256:").filter(|hex| hex.len() == 64 && hex.is_ascii())?;
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(hex.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        Some(Digest(bytes))
    }

    /// The digest of bytes that are canonical already.
    pub fn of_bytes(canonical: &[u8]) -> Digest {
        Digest(Sha256::digest(canonical).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digit = |nibble: u8| if nibble < 10 { b'0' + nibble } else { b'a' + nibble - 10 };
        let mut text = *b"sha256:----------------------------------------------------------------";
        let (_, hex) = text.split_at_mut(7);
        for (pair, byte) in hex.chunks_exact_mut(2).zip(self.0) {
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        // In one piece: each would make a string grow.
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Doc;
    use super::{Digest, Form, canonical, signed_bytes};

    #[track_caller]
    fn check(text: &str, want: &str) {
        let doc = Doc::parse(text.as_bytes()).unwrap();
        assert_eq!(String::from_utf8(canonical(doc.root())).unwrap(), want);
    }

    #[test]
    fn members_stand_in_utf16_order() {
        // The keys of RFC 8785, section 3.2.3.
        check(
            r#"{"\u20ac":1,"\r":2,"\ufb33":3,"1":4,"\ud83d\ude00":5,"\u0080":6,"\u00f6":7}"#,
            "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}",
        );
        check(r#" { "b" : [ 1.0 , { } ] , "a" : null } "#, r#"{"a":null,"b":[1,{}]}"#);
    }

    #[test]
    fn the_signature_alone_is_left_out_and_only_on_top() {
        let doc = Doc::parse(br#"{"signature":"x","b":{"signature":1}}"#).unwrap();
        assert_eq!(signed_bytes(doc.root(), Form::Canonical), br#"{"b":{"signature":1}}"#);
    }

    #[test]
    fn a_digest_names_its_algorithm() {
        let doc = Doc::parse(br#"{"signature":"x"}"#).unwrap();
        assert_eq!(
            Digest::of_bytes(&signed_bytes(doc.root(), Form::Canonical)).to_string(),
            "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
    }
}
