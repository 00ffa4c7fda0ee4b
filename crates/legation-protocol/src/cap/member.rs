//! Readers for the kinds of member that messages and manifests share.

use super::task::TaskId;
use crate::code::Code;
use crate::id::AgentId;
use crate::read::{At, text};
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

/// A task's id.
pub(super) fn task(at: At<'_, '_>) -> Option<TaskId> {
    let At { node, spec, out } = at;
    match TaskId::parse(&filled(At { node, spec, out: &mut *out })?) {
        Ok(id) => Some(id),
        Err(error) => {
            At { node, spec, out }.fail_with(Code::BadTaskId, error.to_string(), "write an id like \"T1\" or \"T1.1\"")
        }
    }
}

/// A list of names, none of them empty.
pub(super) fn names(at: At<'_, '_>) -> Option<Vec<String>> {
    at.list(text)
}
