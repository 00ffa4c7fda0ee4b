//! VCP/I tokens. A [`ValueToken`] names a set of values by a dotted path,
//! `family.safe.guide@1.2.0:ELEM`; an [`IdentityToken`] names who holds a session. Both are parsed
//! strictly: white space, case and Unicode are mended only by [`canonicalise`], when asked for.

mod error;
mod identity;
mod pattern;

pub use error::TokenError;
pub use identity::{IdentityToken, NotAnIdentityToken};
pub use pattern::Pattern;

use std::fmt;
use std::str::FromStr;
use unicode_normalization::UnicodeNormalization;

const MAX_CHARS: usize = 128;
const MAX_SEGMENT: usize = 32;
const MIN_SEGMENTS: usize = 3;
const MAX_SEGMENTS: usize = 10;

/// A VCP/I value token: three to ten segments, an optional version and an optional namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ValueToken {
    // Invariant: between MIN_SEGMENTS and MAX_SEGMENTS of them.
    segments: Vec<Box<str>>,
    version: Option<TokenVersion>,
    namespace: Option<Box<str>>,
}

impl ValueToken {
    /// The segments, first to last.
    pub fn segments(&self) -> impl ExactSizeIterator<Item = &str> + DoubleEndedIterator {
        self.segments.iter().map(AsRef::as_ref)
    }

    /// The first segment.
    pub fn domain(&self) -> &str {
        self.segments().next().unwrap_or_default()
    }

    /// The second segment.
    pub fn approach(&self) -> &str {
        self.segments().nth(1).unwrap_or_default()
    }

    /// The last segment.
    pub fn role(&self) -> &str {
        self.segments().next_back().unwrap_or_default()
    }

    /// What lies between the first segment and the last two; empty for a token of three.
    pub fn path(&self) -> impl Iterator<Item = &str> {
        self.segments().take(self.segments.len().saturating_sub(2)).skip(1)
    }

    /// The version, if there.
    pub fn version(&self) -> Option<&TokenVersion> {
        self.version.as_ref()
    }

    /// The namespace, if there.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Whether this path is a proper beginning of the other's. Versions and namespaces play no part.
    pub fn is_ancestor_of(&self, other: &ValueToken) -> bool {
        self.segments.len() < other.segments.len() && other.segments.starts_with(&self.segments)
    }

    /// The tokens above this one, nearest first, without version and namespace.
    pub fn ancestors(&self) -> impl Iterator<Item = ValueToken> {
        (MIN_SEGMENTS..self.segments.len()).rev().map(|length| ValueToken {
            segments: self.segments.iter().take(length).cloned().collect(),
            version: None,
            namespace: None,
        })
    }

    /// The URI under which the token's values are published.
    pub fn uri(&self) -> String {
        format!("creed://creed.space/{self}")
    }
}

impl fmt::Display for ValueToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segments.join("."))?;
        if let Some(version) = &self.version {
            write!(f, "@{version}")?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, ":{namespace}"),
            None => Ok(()),
        }
    }
}

impl FromStr for ValueToken {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        check_length(text)?;
        let (path, version, namespace) = split(text);
        let segments: Vec<_> = path.split('.').map(Box::from).collect();
        match segments.len() {
            ..MIN_SEGMENTS => return Err(TokenError::TooFewSegments),
            MIN_SEGMENTS..=MAX_SEGMENTS => {}
            _ => return Err(TokenError::TooManySegments),
        }
        segments.iter().try_for_each(|segment| check_segment(segment))?;
        let version = version.map(str::parse).transpose()?;
        let namespace = namespace.map(checked_namespace).transpose()?;
        Ok(ValueToken { segments, version, namespace })
    }
}

/// Mends what people write into the canonical spelling: applies NFKC, lower-cases the path, collapses
/// runs of dots, and strips white space and dots at both ends. Version and namespace are kept. The
/// outcome may still be no token, but mending it again changes nothing.
pub fn canonicalise(text: &str) -> String {
    let text: String = text.nfkc().collect();
    let text = text.trim();
    let end = text.find(['@', ':']).unwrap_or(text.len());
    let (path, rest) = text.split_at(end);
    // Small letters compose where capitals do not, such as j with a caron.
    let path: String = path.to_lowercase().nfkc().collect();
    let is_margin = |c: char| c == '.' || c.is_whitespace();
    let path = path.trim_start_matches(is_margin);
    let path = if rest.is_empty() { path.trim_end_matches(is_margin) } else { path };
    let segments: Vec<_> = path.split('.').filter(|segment| !segment.is_empty()).collect();
    segments.join(".") + rest
}

/// Path, version and namespace as they stand, unchecked.
fn split(text: &str) -> (&str, Option<&str>, Option<&str>) {
    let (text, namespace) = match text.split_once(':') {
        Some((text, namespace)) => (text, Some(namespace)),
        None => (text, None),
    };
    match text.split_once('@') {
        Some((path, version)) => (path, Some(version), namespace),
        None => (text, None, namespace),
    }
}

fn check_length(text: &str) -> Result<(), TokenError> {
    if text.trim().is_empty() {
        return Err(TokenError::EmptyToken);
    }
    if text.chars().nth(MAX_CHARS).is_some() {
        return Err(TokenError::TooLong);
    }
    Ok(())
}

fn check_segment(segment: &str) -> Result<(), TokenError> {
    let starts_well = segment.starts_with(|c: char| c.is_ascii_lowercase());
    let is_allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    if !starts_well || !segment.bytes().all(is_allowed) {
        return Err(TokenError::InvalidSegment);
    }
    if segment.len() > MAX_SEGMENT {
        return Err(TokenError::SegmentTooLong);
    }
    Ok(())
}

fn checked_namespace(text: &str) -> Result<Box<str>, TokenError> {
    let starts_well = text.starts_with(|c: char| c.is_ascii_uppercase());
    let is_allowed = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit();
    if starts_well && text.bytes().all(is_allowed) && text.len() <= MAX_SEGMENT {
        return Ok(text.into());
    }
    Err(TokenError::InvalidNamespace)
}

/// Which version of a value set a token means.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TokenVersion {
    /// Just this one: `X.Y.Z` or `X.Y.Z-prerelease`.
    Exact(Box<str>),
    /// `^X.Y.Z`: this one or a later one of the same major version.
    Compatible(Box<str>),
    /// `~X.Y.Z`: this one or a later one of the same minor version.
    Near(Box<str>),
    /// The latest release.
    Latest,
    /// The latest try-out.
    Canary,
}

impl fmt::Display for TokenVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TokenVersion::Exact(version) => f.write_str(version),
            TokenVersion::Compatible(version) => write!(f, "^{version}"),
            TokenVersion::Near(version) => write!(f, "~{version}"),
            TokenVersion::Latest => f.write_str("latest"),
            TokenVersion::Canary => f.write_str("canary"),
        }
    }
}

impl FromStr for TokenVersion {
    type Err = TokenError;

    fn from_str(text: &str) -> Result<Self, TokenError> {
        let release = |version: &str| is_release(version).then(|| Box::from(version));
        let version = match (text, text.split_at_checked(1)) {
            ("latest", _) => Some(TokenVersion::Latest),
            ("canary", _) => Some(TokenVersion::Canary),
            (_, Some(("^", version))) => release(version).map(TokenVersion::Compatible),
            (_, Some(("~", version))) => release(version).map(TokenVersion::Near),
            _ => is_exact(text).then(|| TokenVersion::Exact(text.into())),
        };
        version.ok_or(TokenError::InvalidVersion)
    }
}

fn is_exact(text: &str) -> bool {
    let Some((release, suffix)) = text.split_once('-') else {
        return is_release(text);
    };
    let is_allowed = |b: u8| b.is_ascii_alphanumeric() || b == b'-';
    is_release(release) && suffix.split('.').all(|part| !part.is_empty() && part.bytes().all(is_allowed))
}

fn is_release(text: &str) -> bool {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    text.split('.').count() == 3 && text.split('.').all(is_number)
}

#[cfg(test)]
mod tests;
