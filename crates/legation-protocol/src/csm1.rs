//! CSM-1 codes: a constitution's persona, adherence and scopes in a few characters, `N5+E+F` in the
//! short form and `N5:ELEM+E+F@1.2.0` in the long one. A [`Code`] is always well-formed, and its
//! scopes are sorted and each there once.

mod error;
mod parts;

pub use error::CodeError;
pub use parts::{Adherence, Persona, Scope};

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

/// A CSM-1 code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// Who the constitution makes the model be.
    pub persona: Persona,
    /// How strictly.
    pub adherence: Adherence,
    /// Where it applies; empty means everywhere.
    pub scopes: BTreeSet<Scope>,
    namespace: Option<Box<str>>,
    version: Option<Box<str>>,
}

impl Code {
    /// A code in the short form, without namespace and version.
    pub fn new(persona: Persona, adherence: Adherence, scopes: impl IntoIterator<Item = Scope>) -> Self {
        let scopes = scopes.into_iter().collect();
        Code { persona, adherence, scopes, namespace: None, version: None }
    }

    /// One to eight upper-case letters, if there.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// `X.Y.Z`, `latest` or `canary`, if there.
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The short (NANO) form: without namespace and version.
    pub fn nano(&self) -> String {
        Code::new(self.persona, self.adherence, self.scopes.iter().copied()).to_string()
    }
}

/// Writes the canonical long (MICRO) form: namespace, then sorted scopes, then version.
impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.persona.letter(), self.adherence.digit())?;
        if let Some(namespace) = &self.namespace {
            write!(f, ":{namespace}")?;
        }
        for scope in &self.scopes {
            write!(f, "+{}", scope.letter())?;
        }
        match &self.version {
            Some(version) => write!(f, "@{version}"),
            None => Ok(()),
        }
    }
}

/// Of several faults the leftmost part's is told.
impl FromStr for Code {
    type Err = CodeError;

    fn from_str(text: &str) -> Result<Self, CodeError> {
        if text.trim().is_empty() {
            return Err(CodeError::EmptyCode);
        }
        let (persona, rest) = persona(text)?;
        let (adherence, rest) = adherence(rest)?;
        let (body, version) = match rest.split_once('@') {
            Some((body, version)) => (body, Some(version)),
            None => (rest, None),
        };
        let (scopes, namespace) = scopes_and_namespace(body)?;
        let version = version.map(checked_version).transpose()?;
        Ok(Code { persona, adherence, scopes, namespace, version })
    }
}

fn persona(text: &str) -> Result<(Persona, &str), CodeError> {
    let mut letters = text.chars();
    let persona = letters.next().and_then(Persona::from_letter).ok_or(CodeError::InvalidPersona)?;
    Ok((persona, letters.as_str()))
}

fn adherence(text: &str) -> Result<(Adherence, &str), CodeError> {
    let rest = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_suffix(rest).unwrap_or_default();
    if digits.is_empty() {
        return Err(CodeError::MissingAdherence);
    }
    let adherence = Adherence::from_digits(digits).ok_or(CodeError::AdherenceOutOfRange)?;
    Ok((adherence, rest))
}

/// `:NAMESPACE` and `+S` scopes, in either order.
fn scopes_and_namespace(body: &str) -> Result<(BTreeSet<Scope>, Option<Box<str>>), CodeError> {
    let Some((before, after)) = body.split_once(':') else {
        return Ok((scopes(body)?, None));
    };
    if !before.is_empty() {
        return Ok((scopes(before)?, Some(namespace(after)?)));
    }
    let end = after.find('+').unwrap_or(after.len());
    let (name, rest) = after.split_at(end);
    let name = namespace(name)?;
    Ok((scopes(rest)?, Some(name)))
}

fn scopes(text: &str) -> Result<BTreeSet<Scope>, CodeError> {
    let mut scopes = BTreeSet::new();
    if text.is_empty() {
        return Ok(scopes);
    }
    let list = text.strip_prefix('+').ok_or(CodeError::InvalidScopeFormat)?;
    for item in list.split('+') {
        let mut letters = item.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else {
            return Err(CodeError::InvalidScopeFormat);
        };
        scopes.insert(Scope::from_letter(letter).ok_or(CodeError::InvalidScope)?);
    }
    Ok(scopes)
}

fn namespace(text: &str) -> Result<Box<str>, CodeError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_uppercase()) {
        return Err(CodeError::InvalidNamespace);
    }
    if text.len() > 8 {
        return Err(CodeError::NamespaceTooLong);
    }
    Ok(text.into())
}

fn checked_version(text: &str) -> Result<Box<str>, CodeError> {
    let numbers = || {
        let mut parts = text.split('.');
        let three = parts.by_ref().take(3).filter(|p| is_number(p)).count() == 3;
        three && parts.next().is_none()
    };
    if matches!(text, "latest" | "canary") || numbers() {
        return Ok(text.into());
    }
    Err(CodeError::InvalidVersion)
}

fn is_number(part: &str) -> bool {
    (1..=3).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests;
