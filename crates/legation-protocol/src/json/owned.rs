//! A JSON value kept as the text it was written in: for members whose shape is the sender's own
//! business. Nothing is lost or rewritten between reading and writing it.

use super::{Doc, Node};
use crate::finding::Rejection;
use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

/// The text of one JSON value that passed the front door.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Json(Box<str>);

impl Json {
    /// Checks a text and keeps it.
    pub fn parse(text: &str) -> Result<Json, Rejection> {
        Doc::parse(text.as_bytes()).map(|doc| Json::from(doc.root()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The value, for looking into it.
    pub fn to_value(&self) -> serde_json::Value {
        serde_json::from_str(&self.0).unwrap_or_default()
    }
}

impl From<Node<'_>> for Json {
    fn from(node: Node<'_>) -> Self {
        Json(node.raw().into())
    }
}

impl From<serde_json::Value> for Json {
    fn from(value: serde_json::Value) -> Self {
        Json(value.to_string().into())
    }
}

impl Default for Json {
    fn default() -> Self {
        Json("null".into())
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        RawValue::from_string(self.0.to_string()).map_err(ser::Error::custom)?.serialize(serializer)
    }
}
