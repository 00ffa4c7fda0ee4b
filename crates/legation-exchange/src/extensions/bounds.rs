//! How much an extension takes: nothing that is kept grows without an end.

use super::Subject;
use legation_protocol::{Code, Rejection};
use std::collections::BTreeMap;

/// How many have state in one extension.
pub(super) const SUBJECTS: usize = 100_000;

/// Most characters of a name or an id.
pub(super) const NAME: usize = 128;

/// A text of 1 to so many characters.
pub(super) fn text(value: &str, most: usize, at: &str) -> Result<(), Rejection> {
    let count = value.chars().count();
    if (1..=most).contains(&count) {
        return Ok(());
    }
    let says = format!("this has {count} characters, and 1 to {most} are taken");
    Err(Rejection::because(Code::OutOfRange, says).at(at))
}

/// A number in a range.
pub(super) fn number(value: f64, least: f64, most: f64, at: &str) -> Result<(), Rejection> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Rejection::because(Code::OutOfRange, format!("{value} is not within {least} and {most}")).at(at))
}

/// So many things at most.
pub(super) fn count(found: usize, least: usize, most: usize, at: &str) -> Result<(), Rejection> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(Rejection::because(Code::OutOfRange, format!("these are {found}, and {least} to {most} are taken")).at(at))
}

/// More than is kept.
pub(super) fn full(says: impl Into<std::borrow::Cow<'static, str>>) -> Rejection {
    Rejection::because(Code::ExtensionLimit, says)
}

/// Whether there is room for one more who has state.
pub(super) fn room<T>(kept: &BTreeMap<Subject, T>, subject: &Subject) -> Result<(), Rejection> {
    if kept.contains_key(subject) || kept.len() < SUBJECTS {
        return Ok(());
    }
    Err(full(format!("this extension keeps the state of {SUBJECTS} at most")))
}

/// A refusal of a value that is not there twice.
pub(super) fn twice(what: &str, at: &str) -> Rejection {
    Rejection::because(Code::SchemaInvalid, format!("{what:?} is named twice")).at(at)
}
