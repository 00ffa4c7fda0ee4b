//! Where a constitution applies (section 4.2.2), and whether two scopes can meet.

use crate::code::Code;
use crate::names::names;
use crate::read::{At, text};
use serde::{Deserialize, Serialize};

/// A kind of deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Environment {
    /// Real users.
    Production,
    /// A rehearsal of production.
    Staging,
    /// Somebody's desk.
    Development,
    /// Automatic tests.
    Testing,
}

names!(Environment {
    Production = "production",
    Staging = "staging",
    Development = "development",
    Testing = "testing",
});

/// Limits to where a constitution applies. A list that is absent or empty does not limit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Scope {
    /// Patterns of model names, in which `*` stands for any text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_families: Option<Vec<String>>,
    /// What the constitution is meant for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purposes: Option<Vec<String>>,
    /// Where it is meant to run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub environments: Option<Vec<Environment>>,
}

impl Scope {
    pub(super) fn read(at: At<'_, '_>) -> Option<Scope> {
        let mut o = At { spec: "VCP 4.2.2", ..at }.object()?;
        let scope = Scope {
            model_families: o.optional("model_families", |at| at.list(model_family)),
            purposes: o.optional("purposes", |at| at.list(purpose)),
            environments: o.optional("environments", |at| at.list(|at| at.named(Code::SchemaInvalid))),
        };
        o.closed();
        Some(scope)
    }

    /// Whether an agent of this model, with these purposes, in this environment falls under it.
    pub fn covers(&self, model: &str, purposes: &[String], environment: Environment) -> bool {
        any(self.model_families.as_ref(), |pattern| matches(pattern, model))
            && any(self.purposes.as_ref(), |purpose| purposes.contains(purpose))
            && any(self.environments.as_ref(), |own| *own == environment)
    }

    /// Whether some agent could fall under both.
    pub fn overlaps(&self, other: &Scope) -> bool {
        meet(self.model_families.as_ref(), other.model_families.as_ref(), |a, b| patterns_meet(a, b))
            && meet(self.purposes.as_ref(), other.purposes.as_ref(), |a, b| a == b)
            && meet(self.environments.as_ref(), other.environments.as_ref(), |a, b| a == b)
    }
}

/// A pattern of model names. The protocol's published schema has letters, digits, `*` and `-` alone.
fn model_family(at: At<'_, '_>) -> Option<String> {
    let is_usual = |c: char| c.is_ascii_alphanumeric() || matches!(c, '*' | '-');
    usual_text(at, is_usual, "letters, digits, * and -")
}

/// A purpose. The protocol's published schema has small letters, digits and `-` alone.
fn purpose(at: At<'_, '_>) -> Option<String> {
    let is_usual = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    usual_text(at, is_usual, "small letters, digits and -")
}

/// Text with something in it. The specification allows any; other characters than the usual earn a warning.
fn usual_text(at: At<'_, '_>, is_usual: impl Fn(char) -> bool, usual: &str) -> Option<String> {
    let At { node, spec, out } = at;
    let text = text(At { node, spec, out: &mut *out })?;
    if !text.chars().all(is_usual) {
        out.at(Code::ScopeForm, node, spec, "the protocol's published schema does not allow this in a scope")
            .help(format!("write it with {usual}"))
            .warning();
    }
    Some(text)
}

fn any<T>(list: Option<&Vec<T>>, fits: impl Fn(&T) -> bool) -> bool {
    list.is_none_or(|list| list.is_empty() || list.iter().any(fits))
}

/// More pairs than this are not compared: taking them to meet costs a notice, no more.
const MOST_PAIRS: usize = 1 << 16;

fn meet<T>(ours: Option<&Vec<T>>, theirs: Option<&Vec<T>>, fits: impl Fn(&T, &T) -> bool) -> bool {
    let pairs = ours.map_or(0, Vec::len).saturating_mul(theirs.map_or(0, Vec::len));
    if pairs > MOST_PAIRS {
        return true;
    }
    any(ours, |a| any(theirs, |b| fits(a, b)))
}

/// Whether `text` fits a pattern in which `*` stands for any text. Linear in both.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    for part in middle.split('*') {
        let Some((_, after)) = text.split_once(part) else { return false };
        text = after;
    }
    text.ends_with(tail)
}

/// Whether one text can fit both patterns. With a `*` in both, only the fixed ends can clash:
/// whatever is fixed between the stars can stand one after the other.
fn patterns_meet(a: &str, b: &str) -> bool {
    let ends = |pattern: &str| {
        let (head, rest) = pattern.split_once('*')?;
        Some((head.to_owned(), rest.rsplit_once('*').map_or(rest, |(_, tail)| tail).to_owned()))
    };
    match (ends(a), ends(b)) {
        (None, _) => matches(b, a),
        (_, None) => matches(a, b),
        (Some((a0, a1)), Some((b0, b1))) => {
            (a0.starts_with(&b0) || b0.starts_with(&a0)) && (a1.ends_with(&b1) || b1.ends_with(&a1))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Environment, Scope, matches, patterns_meet};

    #[test]
    fn a_star_stands_for_any_text() {
        for (pattern, text, want) in [
            ("claude-*", "claude-opus", true),
            ("claude-*", "claude-", true),
            ("claude-*", "gpt-4", false),
            ("*", "", true),
            ("gpt-4", "gpt-4", true),
            ("gpt-4", "gpt-4o", false),
            ("*-mini", "gpt-mini", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "ac", false),
            ("ab*ba", "aba", false),
            ("a**c", "abc", true),
        ] {
            assert_eq!(matches(pattern, text), want, "{pattern} {text}");
        }
    }

    #[test]
    fn two_patterns_meet_when_one_text_fits_both() {
        for (a, b, want) in [
            ("claude-*", "*-mini", true),
            ("claude-*", "claude-3*", true),
            ("claude-*", "gpt-*", false),
            ("*-mini", "*-large", false),
            ("gpt-4", "gpt-*", true),
            ("gpt-4", "gpt-5", false),
            ("*a*", "*b*", true),
        ] {
            assert_eq!(patterns_meet(a, b), want, "{a} {b}");
            assert_eq!(patterns_meet(b, a), want, "{b} {a}");
        }
    }

    #[test]
    fn absent_and_empty_lists_do_not_limit() {
        let purposes = ["triage".to_owned()];
        assert!(Scope::default().covers("any", &purposes, Environment::Testing));
        let empty = Scope { purposes: Some(vec![]), ..Scope::default() };
        assert!(empty.covers("any", &[], Environment::Testing));
        let narrow = Scope { environments: Some(vec![Environment::Production]), ..Scope::default() };
        assert!(!narrow.covers("any", &purposes, Environment::Testing));
    }

    #[test]
    fn scopes_overlap_when_every_list_meets() {
        let of = |model: &str, purpose: &str| Scope {
            model_families: Some(vec![model.to_owned()]),
            purposes: Some(vec![purpose.to_owned()]),
            environments: None,
        };
        assert!(of("claude-*", "triage").overlaps(&of("*", "triage")));
        assert!(!of("claude-*", "triage").overlaps(&of("*", "coding")));
        assert!(!of("claude-*", "triage").overlaps(&of("gpt-*", "triage")));
        assert!(Scope::default().overlaps(&of("gpt-*", "triage")));
    }
}
