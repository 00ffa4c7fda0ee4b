//! Readers for the kinds of member that messages and manifests share.

use super::task::TaskId;
use crate::code::Code;
use crate::id::{AgentId, legible};
use crate::read::{At, text};
use crate::stamp::Timestamp;
use std::borrow::Cow;

/// A string with something in it, where the document has it.
pub(super) fn filled<'d>(at: At<'d, '_>) -> Option<Cow<'d, str>> {
    match at.node.text() {
        Some(text) if !text.is_empty() => Some(text),
        // What is no text, or is empty, is told as everywhere.
        _ => text(at).map(Cow::Owned),
    }
}

/// An agent's id.
pub(super) fn agent(at: At<'_, '_>) -> Option<AgentId> {
    let At { node, spec, out } = at;
    match AgentId::cap(&filled(At { node, spec, out: &mut *out })?) {
        Ok(id) => Some(id),
        Err(error) => {
            At { node, spec, out }.fail_with(Code::BadAgentId, error.to_string(), "write an id like \"pm-1\"")
        }
    }
}

/// An agent's id that is not one of those nobody has. The user and the orchestrator take part in CAP.
pub(super) fn somebody(at: At<'_, '_>, message: &'static str, help: &'static str) -> Option<AgentId> {
    if ["broadcast", "broker", "system", "exchange", "*"].iter().any(|name| at.node.is_text(name)) {
        return At { spec: RESERVED, ..at }.fail_with(Code::ReservedId, message, help);
    }
    agent(at)
}

/// The rule on names that carry weight.
pub(super) const RESERVED: &str = "Legation reserved ids";

/// A task's id.
pub(super) fn task(at: At<'_, '_>) -> Option<TaskId> {
    let At { node, spec, out } = at;
    match TaskId::parse(&filled(At { node, spec, out: &mut *out })?) {
        Ok(id) => Some(id),
        Err(error) => {
            let at = At { node, spec: "Legation task ids", out };
            at.fail_with(Code::BadTaskId, error.to_string(), "write an id like \"T1\" or \"T1.1\"")
        }
    }
}

/// A point in time.
pub(super) fn utc(at: At<'_, '_>) -> Option<Timestamp> {
    at.parsed(Code::BadTimestamp, Timestamp::utc)
}

/// The name of a server, a tool or a scope. Rights hang on it, so that nobody may mistake it.
pub(super) fn name(at: At<'_, '_>) -> Option<String> {
    let At { node, spec, out } = at;
    let name = filled(At { node, spec, out: &mut *out })?;
    if legible(&name).is_err() {
        let at = At { node, spec: "Legation names", out };
        let rule = "a name has at most 256 characters, none of them invisible";
        return at.fail_with(Code::SchemaInvalid, rule, "write the name as its server has it");
    }
    Some(name.into_owned())
}

/// A list of names.
pub(super) fn names(at: At<'_, '_>) -> Option<Vec<String>> {
    at.list(name)
}
