//! VCP inter-agent messaging 1.2: signed envelopes that share context, announce constitutions, lay
//! rules on children and raise alarms. Everything here judges a message by itself; what depends on
//! keys, clocks or other messages belongs to the exchange.

mod build;
mod constraint;
mod context;
mod creed;
mod envelope;
mod escalation;
mod payload;
mod personal;
mod rules;
mod scope;

pub use build::{Broadcast, Origin};
pub use constraint::{Constraint, ConstraintPropagate, Floor, Mode, Other, Resume, Rule};
pub use context::{BadContext, Context, Dimension, Transition, Value};
pub use creed::{BadCreedUri, BadManifestHash, CreedUri, ManifestHash};
pub use envelope::{Envelope, Kind, Order, Recipient, Version};
pub use escalation::{BadAck, Escalation, Need, Obligations, Propagated, Role, Severity};
pub use payload::{ConstitutionAnnounce, ContextShare, Payload};
pub use personal::{Body, Emotional, PersonalState};
pub use rules::{Change, Effective, Rules, Setter, Weakening};
pub use scope::{Environment, Scope};

use crate::code::Code;
use crate::read::{At, any_text};
use crate::stamp::{BadTimestamp, Timestamp};
use std::borrow::Cow;
use std::fmt::Display;

/// A text that is not empty and that `parse` takes, with what helps when it does not.
fn spelled<T, E: Display>(
    at: At<'_, '_>,
    code: Code,
    help: &'static str,
    parse: impl FnOnce(&str) -> Result<T, E>,
) -> Option<T> {
    helped(at, code, help, parse, |_| help.into())
}

/// The same where each error has a help of its own.
fn helped<T, E: Display>(
    at: At<'_, '_>,
    code: Code,
    example: &'static str,
    parse: impl FnOnce(&str) -> Result<T, E>,
    help: impl FnOnce(E) -> Cow<'static, str>,
) -> Option<T> {
    match at.node.text() {
        Some(text) if text.is_empty() => at.fail_with(Code::SchemaInvalid, "must not be empty", example),
        Some(text) => match parse(&text) {
            Ok(value) => Some(value),
            Err(error) => at.fail_with(code, error.to_string(), help(error)),
        },
        None => any_text(at).and(None),
    }
}

fn timestamp(at: At<'_, '_>) -> Option<Timestamp> {
    let example = "write it like 2026-02-15T10:30:00Z";
    helped(at, Code::BadTimestamp, example, Timestamp::zulu, |error| match error {
        BadTimestamp::Zulu => "convert it to UTC and end it in Z, like 2026-02-15T10:30:00Z".into(),
        BadTimestamp::Second60 => "write second 59, or second 00 of the next minute".into(),
        BadTimestamp::Form | BadTimestamp::Calendar => example.into(),
    })
}

fn creed_uri(at: At<'_, '_>) -> Option<CreedUri> {
    let help = "write it like creed://creed.space/family.safe.guide@1.2.0";
    spelled(at, Code::BadCreedUri, help, CreedUri::parse)
}

fn context(at: At<'_, '_>) -> Option<Context> {
    helped(at, Code::BadContext, context::EXAMPLE, Context::parse, BadContext::help)
}

/// A text of `low` to `high` characters.
fn lengthy(at: At<'_, '_>, low: usize, high: usize) -> Option<String> {
    let Some(text) = at.node.text() else { return any_text(at) };
    // No text has more characters than bytes, and most are far from the limit.
    let count = if text.len() <= high { text.len() } else { text.chars().count() };
    if (low..=high).contains(&count) {
        return Some(text.into_owned());
    }
    at.fail(Code::OutOfRange, format!("must have {low} to {high} characters, and has {count}"))
}
