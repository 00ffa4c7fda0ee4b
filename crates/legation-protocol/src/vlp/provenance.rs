//! Where a statement comes from (section X).

use super::message::filled;
use crate::code::Code;
use crate::json::{Kind, Node};
use crate::names::names;
use crate::read::{At, Extra, any_text, text};
use crate::stamp::Timestamp;
use serde::Serialize;

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Provenance {
    /// A source by name, URI or hash.
    Name(String),
    /// A source with what is known about it.
    Reference(Reference),
}

/// A structured source (section X).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// What to look up.
    #[serde(rename = "ref")]
    pub target: String,
    /// What sort of source that is. The list is open; see [`Reference::source_kind`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// A hash of what was found there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hash: Option<String>,
    /// When it was looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetched_at: Option<Timestamp>,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The sorts of source the spec lists (section X).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SourceKind {
    /// An HTTP or HTTPS address.
    Url,
    /// A SHA-256 hash of content.
    Hash,
    /// An internal document.
    Document,
    /// An API endpoint.
    Api,
    /// A capture of one moment.
    Snapshot,
    /// A log file.
    Log,
    /// Quoted text.
    Excerpt,
}

names!(SourceKind {
    Url = "url",
    Hash = "hash",
    Document = "document",
    Api = "api",
    Snapshot = "snapshot",
    Log = "log",
    Excerpt = "excerpt",
});

impl Provenance {
    /// A source of a listed kind.
    pub fn of(kind: SourceKind, target: impl Into<String>) -> Provenance {
        let kind = Some(kind.as_str().to_owned());
        Provenance::Reference(Reference { target: target.into(), kind, ..Reference::default() })
    }

    /// What to look up.
    pub fn target(&self) -> &str {
        match self {
            Provenance::Name(name) => name,
            Provenance::Reference(reference) => &reference.target,
        }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Provenance> {
        let at = At { spec: "VLP X", ..at };
        match at.node.kind() {
            Kind::String => called(at).map(Provenance::Name),
            Kind::Object => Reference::read(at).map(Provenance::Reference),
            other => at.fail_with(
                Code::SchemaInvalid,
                format!("a source is a string or an object, and this is {}", other.noun()),
                "name the source, or write {\"ref\": …}",
            ),
        }
    }
}

impl From<&str> for Provenance {
    fn from(name: &str) -> Self {
        Provenance::Name(name.to_owned())
    }
}

impl Reference {
    /// The listed kind it has, if it is one.
    pub fn source_kind(&self) -> Option<SourceKind> {
        self.kind.as_deref().and_then(SourceKind::named)
    }

    fn read(at: At<'_, '_>) -> Option<Reference> {
        let mut o = at.object()?;
        let target = o.required("ref", called);
        let kind = o.optional("kind", kind);
        let hash = o.optional("hash", text);
        let fetched_at = o.optional("fetched_at", |at| filled(at, Code::BadTimestamp, Timestamp::utc));
        Some(Reference { target: target?, kind, hash, fetched_at, extra: o.extra() })
    }
}

/// What a source is called: white space names nothing.
fn called(at: At<'_, '_>) -> Option<String> {
    match at.node.text() {
        Some(name) if !name.is_empty() && name.trim().is_empty() => at.fail(Code::SchemaInvalid, "must not be blank"),
        Some(_) | None => text(at),
    }
}

fn kind(at: At<'_, '_>) -> Option<String> {
    if at.node.text().is_some_and(|name| SourceKind::named(&name).is_none()) {
        at.out
            .at(Code::ProvenanceKindUnknown, at.node, at.spec, "this is none of the kinds of source the spec lists")
            .help("use url, hash, document, api, snapshot, log or excerpt")
            .warning();
    }
    any_text(at)
}

/// Whether a `provenance` member has an entry. `None` when it cannot be told because it is no list.
pub(super) fn has_any(node: Option<Node<'_>>) -> Option<bool> {
    let Some(node) = node else { return Some(false) };
    (node.kind() == Kind::Array).then(|| node.items().next().is_some())
}
