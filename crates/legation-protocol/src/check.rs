//! Judging a document as written, whatever it is: what `legation validate` and every door of an
//! exchange ask first.

use crate::code::Code;
use crate::finding::{Findings, Severity, Violation};
use crate::format::Format;
use crate::json::{Doc, Limits, Node};
use crate::message::Message;
use crate::sign::Signature;
use crate::wire::Wire;
use crate::{cap, negotiation};

/// What was read.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// A message of a dialect.
    Message(Message),
    /// A part of the VCP 3.1 handshake.
    Handshake(Box<negotiation::Handshake>),
    /// A CAP agent manifest.
    Manifest(Box<cap::Manifest>),
}

/// The judgement of one document.
#[derive(Debug)]
pub struct Checked {
    /// What it is, once that is known.
    pub format: Option<Format>,
    /// What it says; nothing unless it is valid.
    pub content: Option<Content>,
    /// All that is wrong with it.
    pub violations: Vec<Violation>,
}

impl Checked {
    /// Whether no error was found. Warnings leave a document valid.
    pub fn is_valid(&self) -> bool {
        self.violations.iter().all(|v| v.severity == Severity::Warning)
    }
}

/// Judges bytes as one document, of the given format or whichever it shows itself to be.
///
/// ```
/// let checked = legation_protocol::check(br#"{"protocol":"VLP/1.1","type":"claim"}"#, None);
/// assert!(!checked.is_valid());
/// assert_eq!(checked.violations[0].at.as_deref(), Some("/id"));
/// ```
pub fn check(bytes: &[u8], expected: Option<Format>) -> Checked {
    match Doc::parse(bytes) {
        Ok(doc) => check_doc(&doc, expected),
        Err(rejection) => Checked { format: expected, content: None, violations: rejection.into_vec() },
    }
}

/// Judges a document that has come through the front door.
pub fn check_doc(doc: &Doc<'_>, expected: Option<Format>) -> Checked {
    judged(doc, expected, |_, _| {})
}

/// Judges a message that somebody sent. What an exchange holds for a person, rather than refuse it, is a
/// warning here; and so is an act of a later version that it may take, where nothing else is wrong with it.
pub(crate) fn check_sent(doc: &Doc<'_>) -> Checked {
    judged(doc, None, |content, out| {
        out.forgive(Code::MissingProvenanceHighConfidence);
        if content.is_some() && out.errors().all(|error| error.code == Code::UnknownPerformative) {
            out.forgive(Code::UnknownPerformative);
        }
    })
}

fn judged(doc: &Doc<'_>, expected: Option<Format>, forgive: impl FnOnce(Option<&Content>, &mut Findings)) -> Checked {
    let mut out = Findings::new();
    let message = unwrapped(doc.root(), &mut out);
    let format = match expected {
        Some(format) => format.demand(message, &mut out),
        None => Format::detect(message, &mut out),
    };
    let content =
        format.filter(|format| fits(*format, doc, &mut out)).and_then(|format| read(format, message, &mut out));
    forgive(content.as_ref(), &mut out);
    let content = content.filter(|_| !out.has_errors());
    Checked { format, content, violations: out.into_vec() }
}

fn read(format: Format, node: Node<'_>, out: &mut Findings) -> Option<Content> {
    fn boxed<T: Wire>(node: Node<'_>, out: &mut Findings) -> Option<Box<T>> {
        T::read(node, out).map(Box::new)
    }
    match format {
        Format::Vcp => boxed(node, out).map(Message::Vcp).map(Content::Message),
        Format::Acl => boxed(node, out).map(Message::Acl).map(Content::Message),
        Format::Cap => boxed(node, out).map(Message::Cap).map(Content::Message),
        Format::Vlp => boxed(node, out).map(Message::Vlp).map(Content::Message),
        Format::Hello => boxed(node, out).map(Content::Handshake),
        Format::Manifest => boxed(node, out).map(Content::Manifest),
    }
}

/// A handshake has a limit of its own (negotiation 3.1, section 11).
fn fits(format: Format, doc: &Doc<'_>, out: &mut Findings) -> bool {
    let limit = Limits::HANDSHAKE.bytes;
    let fits = format != Format::Hello || doc.text().len() <= limit;
    if !fits {
        out.at(Code::TooLarge, doc.root(), "NEG 11", format!("a handshake has at most {limit} bytes"));
    }
    fits
}

/// The message inside `{"message": …, "signature": …}`, the form in which a dialect without a
/// signature of its own carries one; any other document is its own message.
pub fn unwrapped<'d>(node: Node<'d>, out: &mut Findings) -> Node<'d> {
    if node.keyed().take(3).count() != 2 {
        return node;
    }
    let (Some(message), Some(signature)) = (node.get("message"), node.get("signature")) else { return node };
    // VCP has a place for its signature, and a handshake or manifest has none at all.
    let unsigned =
        matches!(Format::detect(message, &mut Findings::new()), Some(Format::Acl | Format::Cap | Format::Vlp));
    if !unsigned {
        return node;
    }
    if let Err(error) = Signature::parse(&signature.text().unwrap_or_default()) {
        out.at(Code::SignatureFormat, signature, "Legation detached signatures", error.to_string());
    }
    message
}
