//! What all wire types share: they are read from a checked document, and what is built goes
//! through the same reading before anybody can send it.

use crate::finding::{Findings, Rejection, Violation};
use crate::json::{Doc, Limits, Node};
use crate::sign::SecretKey;
use serde::Serialize;

/// A type that messages are read into and written from. What was read can be compared with what was
/// meant to be written.
pub trait Wire: Serialize + PartialEq + Sized {
    /// How large such a message may be.
    const LIMITS: Limits = Limits::MESSAGE;

    /// Reads one, entering whatever is wrong. A value without errors entered is valid.
    fn read(node: Node<'_>, out: &mut Findings) -> Option<Self>;
}

/// A message that was read, and the SHOULDs it broke.
#[derive(Clone, Debug, PartialEq)]
pub struct Parsed<T> {
    /// The message.
    pub value: T,
    /// What is not as it should be, yet allowed.
    pub warnings: Vec<Violation>,
}

/// Reads bytes as one message of this type.
///
/// ```
/// use legation_protocol::{parse, vlp};
/// let text = br#"{"id":"MSG001","protocol":"VLP/1.1","type":"query","timestamp":"2026-02-15T10:30:00Z",
///     "sender":"The Observer","content":"Is the bridge open?","confidence":0.5}"#;
/// let message = parse::<vlp::Message>(text)?.value;
/// assert_eq!(message.kind, vlp::Kind::Query);
/// # Ok::<(), legation_protocol::Rejection>(())
/// ```
pub fn parse<T: Wire>(bytes: &[u8]) -> Result<Parsed<T>, Rejection> {
    read(&Doc::parse_within(bytes, T::LIMITS)?)
}

/// Reads a checked document as one message of this type.
pub fn read<T: Wire>(doc: &Doc<'_>) -> Result<Parsed<T>, Rejection> {
    let mut out = Findings::new();
    match T::read(doc.root(), &mut out) {
        Some(value) if !out.has_errors() => Ok(Parsed { value, warnings: out.into_vec() }),
        _ => Err(out.into_rejection(doc.root())),
    }
}

/// A message that is valid because it was read back. Only [`build`] makes one.
#[derive(Clone, Debug, PartialEq)]
pub struct Built<T> {
    text: String,
    value: T,
    warnings: Vec<Violation>,
}

/// Writes a message and reads it back: what comes out is valid, ready to send, and what was given.
/// A value that JSON cannot hold, such as a NaN, is refused rather than left out, and so is one that
/// a reader would have in another form, such as `cap::ErrorCode::Other(404)`.
pub fn build<T: Wire>(value: &T) -> Result<Built<T>, Rejection> {
    let text = serde_json::to_string(value).map_err(Rejection::unwritable)?;
    let read = parse::<T>(text.as_bytes())?;
    if read.value != *value {
        return Err(Rejection::unwritable("what reads back is not what was given"));
    }
    Ok(Built { text, value: read.value, warnings: read.warnings })
}

impl<T: Wire> Built<T> {
    /// The bytes to send.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The message as any reader will see it.
    pub fn value(&self) -> &T {
        &self.value
    }

    /// What is not as it should be, yet allowed.
    pub fn warnings(&self) -> &[Violation] {
        &self.warnings
    }

    /// The message with a `signature` member over all else of it.
    pub fn signed(&self, key: &SecretKey) -> Result<Built<T>, Rejection> {
        let text = key.sign_in_place(&Doc::parse_within(self.text.as_bytes(), T::LIMITS)?)?;
        let Parsed { value, warnings } = parse::<T>(text.as_bytes())?;
        Ok(Built { text, value, warnings })
    }
}
