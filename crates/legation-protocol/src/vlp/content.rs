//! What a message says (section III): words for people, or an object for programs.

use crate::code::Code;
use crate::json::{Json, Kind};
use crate::read::At;
use serde::Serialize;

/// The `content` of a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Content {
    /// Words.
    Text(String),
    /// An object, as it was written.
    Object(Json),
}

impl Content {
    pub(super) fn read(at: At<'_, '_>) -> Option<Content> {
        if let Some(text) = at.node.text() {
            return Some(Content::Text(text.into_owned()));
        }
        match at.node.kind() {
            Kind::Object => Some(Content::Object(Json::from(at.node))),
            other => at.fail_with(
                Code::SchemaInvalid,
                format!("expected a string or an object, found {}", other.noun()),
                "put what is not text into an object",
            ),
        }
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Content::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Content::Text(text)
    }
}
