//! What is found, and how much that means.

use serde::{Deserialize, Serialize};
use std::fmt;

/// How much a finding means, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Often harmless: worth a mark.
    Low,
    /// Seldom harmless.
    Medium,
    /// Hardly ever harmless.
    High,
}

impl Severity {
    /// All of them, least first.
    pub const ALL: [Severity; 3] = [Severity::Low, Severity::Medium, Severity::High];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
        }
    }

    pub(crate) const fn raised(self) -> Severity {
        match self {
            Severity::Low => Severity::Medium,
            Severity::Medium | Severity::High => Severity::High,
        }
    }

    pub(crate) const fn lowered(self) -> Severity {
        match self {
            Severity::High => Severity::Medium,
            Severity::Medium | Severity::Low => Severity::Low,
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// How something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum How {
    /// It stands there.
    Plain,
    /// Behind look-alikes, invisible characters or odd spacing.
    Normalised,
    /// In base64.
    Base64,
}

impl How {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            How::Plain => "plain",
            How::Normalised => "normalised",
            How::Base64 => "base64",
        }
    }
}

impl fmt::Display for How {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

/// Something found in one text. It says where, and never what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The name of the pattern.
    pub pattern: String,
    /// How much it means here.
    pub severity: Severity,
    /// The first byte, of the text as UTF-8.
    pub offset: usize,
    /// How many bytes.
    pub length: usize,
    /// How it was found.
    pub how: How,
}

/// Something found in a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// The name of the pattern.
    pub pattern: String,
    /// How much it means here.
    pub severity: Severity,
    /// The member, as a JSON pointer.
    pub at: String,
    /// The first byte, of the member's text as UTF-8.
    pub offset: usize,
    /// How many bytes.
    pub length: usize,
    /// How it was found.
    pub how: How,
}
