//! A checked JSON text and its nodes. A [`Node`] is an index into the list the scan made, so
//! walking a message allocates nothing and every node knows its place in the received bytes.

use super::{escape, number, scan};
use crate::finding::Rejection;
use std::borrow::Cow;
use std::ops::Range;

/// How much the front door lets in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Most bytes of one message.
    pub bytes: usize,
    /// Most arrays and objects inside each other.
    pub depth: usize,
}

impl Limits {
    /// What a message of any dialect may have.
    pub const MESSAGE: Limits = Limits { bytes: 256 * 1024, depth: 64 };
    /// What a handshake message may have (negotiation 3.1, section 11).
    pub const HANDSHAKE: Limits = Limits { bytes: 64 * 1024, depth: 64 };
}

/// What a node is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

impl Kind {
    /// The name people know it by, with its article.
    pub const fn noun(self) -> &'static str {
        match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        }
    }
}

/// One element of the list a scan makes: values in the order of their first byte, an object's
/// members as key and value in turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    pub(super) kind: Kind,
    /// A string that holds a backslash.
    pub(super) escaped: bool,
    /// First byte, with a string's quote and a container's bracket.
    pub(super) start: u32,
    /// One past the last byte.
    pub(super) end: u32,
    /// Index of the item after this one and all it holds.
    pub(super) next: u32,
}

/// Bytes that passed the front door.
///
/// ```
/// use legation_protocol::json::Doc;
/// let doc = Doc::parse(br#"{"to": ["a", "b"]}"#)?;
/// let second = doc.root().get("to").and_then(|to| to.items().nth(1)).unwrap();
/// assert_eq!((second.text().as_deref(), second.pointer().as_str()), (Some("b"), "/to/1"));
/// # Ok::<(), legation_protocol::Rejection>(())
/// ```
#[derive(Debug)]
pub struct Doc<'a> {
    text: &'a str,
    items: Vec<Item>,
}

impl<'a> Doc<'a> {
    /// Lets a message in, or refuses it with the first thing wrong.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Rejection> {
        Self::parse_within(bytes, Limits::MESSAGE)
    }

    /// The same under other limits.
    pub fn parse_within(bytes: &'a [u8], limits: Limits) -> Result<Self, Rejection> {
        let (text, items) = scan::scan(bytes, limits)?;
        Ok(Doc { text, items })
    }

    /// The outermost value.
    pub fn root(&self) -> Node<'_> {
        Node { doc: self, at: 0 }
    }

    /// The text as received.
    pub fn text(&self) -> &'a str {
        self.text
    }
}

/// A value inside a [`Doc`].
#[derive(Clone, Copy, Debug)]
pub struct Node<'d> {
    doc: &'d Doc<'d>,
    at: u32,
}

impl<'d> Node<'d> {
    fn item(self) -> Item {
        // Indices only come from the scan; the fallback keeps this total.
        const NOTHING: Item = Item { kind: Kind::Null, escaped: false, start: 0, end: 0, next: u32::MAX };
        self.doc.items.get(self.at as usize).copied().unwrap_or(NOTHING)
    }

    fn to(self, at: u32) -> Self {
        Node { doc: self.doc, at }
    }

    /// What it is.
    pub fn kind(self) -> Kind {
        self.item().kind
    }

    /// Whether it is the outermost value.
    pub fn is_root(self) -> bool {
        self.at == 0
    }

    /// Its bytes' place in the received text.
    pub fn span(self) -> Range<usize> {
        let item = self.item();
        item.start as usize..item.end as usize
    }

    /// The received text of this value alone.
    pub fn raw(self) -> &'d str {
        self.doc.text.get(self.span()).unwrap_or_default()
    }

    /// The text of a string.
    pub fn text(self) -> Option<Cow<'d, str>> {
        let item = self.item();
        (item.kind == Kind::String).then(|| content(self.doc.text, item))
    }

    /// Whether this is the string `other`.
    pub fn is_text(self, other: &str) -> bool {
        let item = self.item();
        item.kind == Kind::String && same(self.doc.text, item, other)
    }

    /// The value of a number.
    pub fn number(self) -> Option<f64> {
        (self.kind() == Kind::Number).then(|| number::value(self.raw()))
    }

    /// The value of a boolean.
    pub fn boolean(self) -> Option<bool> {
        (self.kind() == Kind::Bool).then(|| self.raw() == "true")
    }

    /// Whether it is `null`.
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// The member of an object with this name.
    pub fn get(self, name: &str) -> Option<Node<'d>> {
        let item = self.item();
        let end = if item.kind == Kind::Object { item.next } else { 0 };
        let mut at = self.at + 1;
        while at < end {
            let key = self.to(at).item();
            if same(self.doc.text, key, name) {
                return Some(self.to(at + 1));
            }
            at = self.to(at + 1).item().next;
        }
        None
    }

    /// The members of an object; nothing for any other kind.
    pub fn members(self) -> impl Iterator<Item = (Cow<'d, str>, Node<'d>)> {
        self.keyed().map(|(key, value)| (key.text().unwrap_or_default(), value))
    }

    /// The members of an object with their keys as nodes.
    pub fn keyed(self) -> impl Iterator<Item = (Node<'d>, Node<'d>)> {
        let mut at = self.at + 1;
        let end = if self.kind() == Kind::Object { self.item().next } else { 0 };
        std::iter::from_fn(move || {
            let (key, value) = (self.to(at), self.to(at + 1));
            (at < end).then(|| {
                at = value.item().next;
                (key, value)
            })
        })
    }

    /// How many members or elements there are at most, told without looking at them.
    pub(crate) fn len_at_most(self) -> usize {
        let inside = self.item().next.saturating_sub(self.at + 1) as usize;
        if self.kind() == Kind::Object { inside / 2 } else { inside }
    }

    /// The elements of an array; nothing for any other kind.
    pub fn items(self) -> impl Iterator<Item = Node<'d>> {
        let mut at = self.at + 1;
        let end = if self.kind() == Kind::Array { self.item().next } else { 0 };
        std::iter::from_fn(move || {
            let value = self.to(at);
            (at < end).then(|| {
                at = value.item().next;
                value
            })
        })
    }

    /// The JSON pointer (RFC 6901) that leads here from the root.
    pub fn pointer(self) -> String {
        let mut pointer = String::new();
        let mut here = self.doc.root();
        while here.at < self.at {
            match here.step_towards(self.at, &mut pointer) {
                Some(next) => here = next,
                None => break,
            }
        }
        pointer
    }

    fn step_towards(self, target: u32, pointer: &mut String) -> Option<Node<'d>> {
        // A key has its value's pointer: the two are one member.
        let holds = |first: u32, value: Node<'_>| (first..value.item().next).contains(&target);
        if let Some((key, value)) = self.keyed().find(|(key, value)| holds(key.at, *value)) {
            escape::push_token(pointer, &key.text().unwrap_or_default());
            return (target > key.at).then_some(value);
        }
        let (index, value) = self.items().enumerate().find(|(_, value)| holds(value.at, *value))?;
        escape::push_token(pointer, &index.to_string());
        Some(value)
    }
}

/// The text a string item stands for.
pub(super) fn content(text: &str, item: Item) -> Cow<'_, str> {
    let raw = inner(text, item);
    if item.escaped { Cow::Owned(escape::unescape(raw)) } else { Cow::Borrowed(raw) }
}

/// A string item's text between its quotes.
pub(super) fn inner(text: &str, item: Item) -> &str {
    text.get(item.start as usize + 1..item.end as usize - 1).unwrap_or_default()
}

fn same(text: &str, item: Item, other: &str) -> bool {
    if item.escaped {
        return escape::unescape(inner(text, item)) == other;
    }
    // Most names differ in length, and bytes need no look at character boundaries.
    (item.end - item.start) as usize == other.len() + 2
        && text.as_bytes().get(item.start as usize + 1..item.end as usize - 1) == Some(other.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::Doc;

    #[track_caller]
    fn check(text: &str, at: usize, want: &str) {
        let doc = Doc::parse(text.as_bytes()).unwrap();
        let node = super::Node { doc: &doc, at: u32::try_from(at).unwrap() };
        assert_eq!(node.pointer(), want);
    }

    #[test]
    fn a_pointer_leads_from_the_root_to_the_node() {
        check("1", 0, "");
        check(r#"{"a":1,"b":[true,{"c/d~":null}]}"#, 2, "/a");
        check(r#"{"a":1,"b":[true,{"c/d~":null}]}"#, 3, "/b");
        check(r#"{"a":1,"b":[true,{"c/d~":null}]}"#, 5, "/b/0");
        check(r#"{"a":1,"b":[true,{"c/d~":null}]}"#, 8, "/b/1/c~1d~0");
        check(r#"{"a":1,"b":2}"#, 3, "/b");
    }

    #[test]
    fn a_member_is_found_by_its_name_however_it_is_spelled() {
        let doc = Doc::parse(br#"{"\u0061b":1,"c":{"ab":2}}"#).unwrap();
        assert_eq!(doc.root().get("ab").and_then(super::Node::number), Some(1.0));
        assert!(doc.root().get("d").is_none());
    }
}
