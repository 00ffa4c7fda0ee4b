//! What a check has to say: violations, gathered while reading, and the rejection they add up to.

use crate::code::Code;
use crate::json::Node;
use serde::Serialize;
use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

/// Whether a violation refuses the message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A broken MUST: the message is refused.
    Error,
    /// A broken SHOULD: the message stays valid.
    Warning,
}

/// One broken rule, and where.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Violation {
    /// The rule.
    pub code: Code,
    /// JSON pointer to the offending place, or where a missing member would be.
    pub at: Option<String>,
    /// The rule in plain words.
    pub message: Cow<'static, str>,
    /// The section of the spec that has the rule.
    pub spec: Option<&'static str>,
    /// Error or warning.
    pub severity: Severity,
    /// What would fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<Cow<'static, str>>,
    /// First byte of the offending place.
    #[serde(rename = "offset", serialize_with = "start_only")]
    pub span: Range<usize>,
}

fn start_only<S: serde::Serializer>(span: &Range<usize>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_u64(span.start as u64)
}

/// How many violations of one message are kept. Nobody reads more, and finding the place of each
/// would let a message of nothing but faults cost the square of its size.
const MOST: usize = 100;

/// The violations found so far in one message: the first hundred, and one more if only that one is
/// an error.
#[derive(Debug, Default)]
pub struct Findings(Vec<Violation>);

impl Findings {
    /// Nothing found yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters an error at `node`; what is returned takes help or turns it into a warning.
    pub fn at<'d>(
        &mut self,
        code: Code,
        node: Node<'d>,
        spec: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Entered<'_, 'd> {
        self.enter(code, node, None, node.span(), spec, message.into())
    }

    /// Enters an error at the member `name` that `parent` does not have.
    pub fn missing<'d>(
        &mut self,
        code: Code,
        parent: Node<'d>,
        name: impl Into<Cow<'static, str>>,
        spec: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Entered<'_, 'd> {
        // Its bracket is where to look: the whole object would hide the place.
        let bracket = parent.span().start;
        self.enter(code, parent, Some(name.into()), bracket..bracket + 1, spec, message.into())
    }

    fn enter<'d>(
        &mut self,
        code: Code,
        node: Node<'d>,
        member: Option<Cow<'static, str>>,
        span: Range<usize>,
        spec: &'static str,
        message: Cow<'static, str>,
    ) -> Entered<'_, 'd> {
        let violation =
            Violation { code, at: None, message, spec: Some(spec), severity: Severity::Error, help: None, span };
        Entered { findings: self, node, member, violation: Some(violation) }
    }

    /// Whether one more is kept. The first error always is, however many warnings came before.
    fn keeps(&self, severity: Severity) -> bool {
        self.0.len() < MOST || (severity == Severity::Error && !self.has_errors())
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.errors().next().is_some()
    }

    /// The errors among them.
    pub(crate) fn errors(&self) -> impl Iterator<Item = &Violation> {
        self.0.iter().filter(|v| v.severity == Severity::Error)
    }

    /// Makes warnings of the errors with this code.
    pub(crate) fn forgive(&mut self, code: Code) {
        for violation in self.0.iter_mut().filter(|violation| violation.code == code) {
            violation.severity = Severity::Warning;
        }
    }

    /// The refusal they add up to if what has this code is an error; nothing if none has.
    pub(crate) fn unforgiven(mut self, code: Code) -> Option<Rejection> {
        let place = self.0.iter().position(|violation| violation.code == code)?;
        let first = Box::new(Violation { severity: Severity::Error, ..self.0.remove(place) });
        Some(Rejection { first, rest: self.0, digest: None })
    }

    /// The refusal they add up to; without an error among them, `node` is called unreadable.
    pub fn into_rejection(mut self, node: Node<'_>) -> Rejection {
        if !self.has_errors() {
            self.at(Code::SchemaInvalid, node, "Legation", "this cannot be read as the message it claims to be");
        }
        let place = self.0.iter().position(|v| v.severity == Severity::Error).unwrap_or(0);
        let first = Box::new(self.0.remove(place));
        Rejection { first, rest: self.0, digest: None }
    }

    /// All of them, in the order found.
    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}

impl From<Vec<Violation>> for Findings {
    fn from(violations: Vec<Violation>) -> Self {
        Findings(violations)
    }
}

/// The violation being entered, to be refined. It stands once this is dropped: only then is it known
/// whether it is kept and worth the search for its place.
pub struct Entered<'f, 'd> {
    findings: &'f mut Findings,
    node: Node<'d>,
    /// The member of `node` that is not there.
    member: Option<Cow<'static, str>>,
    violation: Option<Violation>,
}

impl Entered<'_, '_> {
    /// Adds what would fix it.
    pub fn help(&mut self, help: impl Into<Cow<'static, str>>) -> &mut Self {
        if let Some(violation) = &mut self.violation {
            violation.help = Some(help.into());
        }
        self
    }

    /// Makes it a warning.
    pub fn warning(&mut self) -> &mut Self {
        if let Some(violation) = &mut self.violation {
            violation.severity = Severity::Warning;
        }
        self
    }
}

impl Drop for Entered<'_, '_> {
    fn drop(&mut self) {
        let Some(violation) = self.violation.take().filter(|v| self.findings.keeps(v.severity)) else { return };
        let mut at = self.node.pointer();
        if let Some(member) = &self.member {
            at.push('/');
            at.push_str(member);
        }
        self.findings.0.push(Violation { at: Some(at), ..violation });
    }
}

/// Why a message was refused. Holds one error or more; warnings may stand beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    first: Box<Violation>,
    rest: Vec<Violation>,
    digest: Option<Box<str>>,
}

impl Rejection {
    /// A value that has no JSON form.
    pub(crate) fn unwritable(why: impl fmt::Display) -> Rejection {
        Rejection::from(Violation {
            code: Code::SchemaInvalid,
            at: None,
            message: format!("this cannot be written as JSON: {why}").into(),
            spec: None,
            severity: Severity::Error,
            help: None,
            span: 0..0,
        })
    }

    /// The first error: what a short answer names.
    pub fn first(&self) -> &Violation {
        &self.first
    }

    /// The code of the first error.
    pub fn code(&self) -> Code {
        self.first.code
    }

    /// A refusal for a reason that has no place in the message.
    pub fn because(code: Code, message: impl Into<Cow<'static, str>>) -> Rejection {
        Rejection::from(Violation {
            code,
            at: None,
            message: message.into(),
            spec: None,
            severity: Severity::Error,
            help: None,
            span: 0..0,
        })
    }

    /// Says which member is to blame.
    #[must_use]
    pub fn at(mut self, pointer: impl Into<String>) -> Self {
        self.first.at = Some(pointer.into());
        self
    }

    /// Says which section has the rule.
    #[must_use]
    pub fn by(mut self, spec: &'static str) -> Self {
        self.first.spec = Some(spec);
        self
    }

    /// Says which message it is about, by the digest under which the refusal can be looked up.
    #[must_use]
    pub fn about(mut self, digest: impl Into<Box<str>>) -> Self {
        self.digest = Some(digest.into());
        self
    }

    /// The digest of the message that was refused, if it was read.
    pub fn digest(&self) -> Option<&str> {
        self.digest.as_deref()
    }

    /// Whether sending the same again later could succeed.
    pub fn retryable(&self) -> bool {
        self.first.code.is_retryable()
    }

    /// All violations, the first error first.
    pub fn violations(&self) -> impl Iterator<Item = &Violation> {
        std::iter::once(&*self.first).chain(&self.rest)
    }

    /// All violations, the first error first, to keep.
    pub fn into_vec(self) -> Vec<Violation> {
        let mut all = self.rest;
        all.insert(0, *self.first);
        all
    }
}

impl From<Violation> for Rejection {
    fn from(first: Violation) -> Self {
        Rejection { first: Box::new(first), rest: Vec::new(), digest: None }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        match &self.at {
            Some(at) if !at.is_empty() => write!(f, " (at {at})"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.first.fmt(f)
    }
}

impl std::error::Error for Rejection {}

#[cfg(test)]
mod tests {
    use super::{Findings, MOST, Severity};
    use crate::code::Code;
    use crate::json::Doc;

    #[test]
    fn a_flood_of_warnings_drowns_no_error() {
        let doc = Doc::parse(b"[1]").unwrap();
        let mut out = Findings::new();
        for _ in 0..3 * MOST {
            out.at(Code::KeywordPractice, doc.root(), "", "odd").warning().help("mend it");
        }
        assert_eq!(out.0.len(), MOST);
        out.missing(Code::SchemaInvalid, doc.root(), "a", "", "wrong").help("mend it");
        out.at(Code::OutOfRange, doc.root(), "", "wrong too").help("mend it");
        out.at(Code::KeywordPractice, doc.root(), "", "odd").warning();
        let errors: Vec<_> = out.into_vec().into_iter().filter(|v| v.severity == Severity::Error).collect();
        assert!(errors.iter().map(|v| v.code).eq([Code::SchemaInvalid]));
    }

    #[test]
    fn a_flood_of_errors_ends() {
        let doc = Doc::parse(b"[1]").unwrap();
        let mut out = Findings::new();
        for _ in 0..3 * MOST {
            out.at(Code::SchemaInvalid, doc.root(), "", "wrong").help("mend it");
        }
        assert_eq!(out.into_vec().len(), MOST);
    }
}
