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

/// The violations found so far in one message.
#[derive(Debug, Default)]
pub struct Findings(Vec<Violation>);

impl Findings {
    /// Nothing found yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters an error at `node`; the returned reference takes help or turns it into a warning.
    pub fn at(
        &mut self,
        code: Code,
        node: Node<'_>,
        spec: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Entered<'_> {
        self.enter(code, node.pointer(), node.span(), spec, message.into())
    }

    /// Enters an error at the member `name` that `parent` does not have.
    pub fn missing(
        &mut self,
        code: Code,
        parent: Node<'_>,
        name: &str,
        spec: &'static str,
        message: impl Into<Cow<'static, str>>,
    ) -> Entered<'_> {
        let mut at = parent.pointer();
        at.push('/');
        at.push_str(name);
        // Its bracket is where to look: the whole object would hide the place.
        let bracket = parent.span().start;
        self.enter(code, at, bracket..bracket + 1, spec, message.into())
    }

    fn enter(
        &mut self,
        code: Code,
        at: String,
        span: Range<usize>,
        spec: &'static str,
        message: Cow<'static, str>,
    ) -> Entered<'_> {
        self.0.push(Violation {
            code,
            at: Some(at),
            message,
            spec: Some(spec),
            severity: Severity::Error,
            help: None,
            span,
        });
        Entered(self.0.last_mut())
    }

    /// Whether an error is among them.
    pub fn has_errors(&self) -> bool {
        self.0.iter().any(|v| v.severity == Severity::Error)
    }

    /// The refusal they add up to; without an error among them, `node` is called unreadable.
    pub fn into_rejection(mut self, node: Node<'_>) -> Rejection {
        if !self.has_errors() {
            self.at(Code::SchemaInvalid, node, "Legation", "this cannot be read as the message it claims to be");
        }
        let place = self.0.iter().position(|v| v.severity == Severity::Error).unwrap_or(0);
        let first = Box::new(self.0.remove(place));
        Rejection { first, rest: self.0 }
    }

    /// All of them, in the order found.
    pub fn into_vec(self) -> Vec<Violation> {
        self.0
    }
}

/// The violation just entered, to be refined.
pub struct Entered<'f>(Option<&'f mut Violation>);

impl Entered<'_> {
    /// Adds what would fix it.
    pub fn help(&mut self, help: impl Into<Cow<'static, str>>) -> &mut Self {
        self.change(|v| v.help = Some(help.into()))
    }

    /// Makes it a warning.
    pub fn warning(&mut self) -> &mut Self {
        self.change(|v| v.severity = Severity::Warning)
    }

    fn change(&mut self, change: impl FnOnce(&mut Violation)) -> &mut Self {
        if let Some(violation) = &mut self.0 {
            change(violation);
        }
        self
    }
}

/// Why a message was refused. Holds one error or more; warnings may stand beside them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rejection {
    first: Box<Violation>,
    rest: Vec<Violation>,
}

impl Rejection {
    /// A value that has no JSON form.
    pub(crate) fn unwritable(error: &serde_json::Error) -> Rejection {
        Rejection::from(Violation {
            code: Code::SchemaInvalid,
            at: None,
            message: format!("this cannot be written as JSON: {error}").into(),
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

    /// Whether sending the same bytes again could succeed. What is wrong with the bytes stays wrong.
    pub const fn retryable(&self) -> bool {
        false
    }

    /// All violations, the first error first.
    pub fn into_vec(self) -> Vec<Violation> {
        let mut all = self.rest;
        all.insert(0, *self.first);
        all
    }
}

impl From<Violation> for Rejection {
    fn from(first: Violation) -> Self {
        Rejection { first: Box::new(first), rest: Vec::new() }
    }
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.first.code, self.first.message)?;
        match &self.first.at {
            Some(at) if !at.is_empty() => write!(f, " (at {at})"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Rejection {}
