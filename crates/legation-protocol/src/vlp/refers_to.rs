//! Which earlier messages a message is about (section III).

use super::id::visible;
use super::message::filled;
use crate::code::Code;
use crate::json::{Kind, Node};
use crate::read::At;
use serde::Serialize;

/// The `refers_to` of a message: one id or a list of them. An empty text and an empty list are
/// kept as they came, and name nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum RefersTo {
    /// One message.
    One(String),
    /// Several.
    Many(Vec<String>),
}

impl RefersTo {
    /// The ids named.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        let ids = match self {
            RefersTo::One(id) => std::slice::from_ref(id),
            RefersTo::Many(ids) => ids,
        };
        ids.iter().map(String::as_str).filter(|id| !id.is_empty())
    }

    /// Reads it for the message called `own`, which it may not name.
    pub(super) fn read(at: At<'_, '_>, own: Option<&str>) -> Option<RefersTo> {
        match at.node.kind() {
            Kind::String if at.node.is_text("") => Some(RefersTo::One(String::new())),
            Kind::String => id(at, own).map(RefersTo::One),
            Kind::Array => at.list(|at| id(at, own)).map(RefersTo::Many),
            other => at.fail_with(
                Code::SchemaInvalid,
                format!("expected a string, an array or null, found {}", other.noun()),
                "name the message it is about by its id",
            ),
        }
    }
}

/// Whether a member names any message. `None` when it cannot be told because the member is broken.
pub(super) fn names_any(node: Option<Node<'_>>) -> Option<bool> {
    let Some(node) = node else { return Some(false) };
    match node.kind() {
        Kind::Null => Some(false),
        Kind::String => Some(!node.is_text("")),
        Kind::Array => Some(node.items().next().is_some()),
        Kind::Bool | Kind::Number | Kind::Object => None,
    }
}

fn id(at: At<'_, '_>, own: Option<&str>) -> Option<String> {
    if own.is_some_and(|own| at.node.is_text(own)) {
        let at = At { spec: "Legation reference cycles", ..at };
        return at.fail_with(Code::Cycle, "a message cannot refer to itself", "name an earlier message");
    }
    filled(at, Code::BadMessageId, |text| visible(text).map(|()| text.to_owned()))
}
