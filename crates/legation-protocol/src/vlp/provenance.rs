//! Where a statement comes from (section X).

use crate::code::Code;
use crate::read::{At, Extra, text};
use crate::stamp::Timestamp;
use serde::Serialize;

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Provenance {
    /// A source by name.
    Name(String),
    /// A source with its address.
    Reference(Reference),
}

/// A structured source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reference {
    /// What to look up.
    #[serde(rename = "ref")]
    pub target: String,
    /// What kind of thing that is.
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

impl Provenance {
    pub(super) fn read(at: At<'_, '_>) -> Option<Provenance> {
        if at.node.text().is_some() {
            return text(at).map(Provenance::Name);
        }
        let mut o = At { spec: "VLP X", ..at }.object()?;
        let target = o.required("ref", text);
        let kind = o.optional("kind", text);
        let hash = o.optional("hash", text);
        let fetched_at = o.optional("fetched_at", |at| at.parsed(Code::BadTimestamp, Timestamp::utc));
        Some(Provenance::Reference(Reference { target: target?, kind, hash, fetched_at, extra: o.extra() }))
    }
}
