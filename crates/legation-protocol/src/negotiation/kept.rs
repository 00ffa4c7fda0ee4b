//! A value that is read leniently, beside the text it was read from: what was ignored in reading
//! still comes back in writing.

use crate::json::{Json, Node};
use serde::{Serialize, Serializer};
use std::ops::Deref;

/// What was understood of a member, and all that was said. Changing it means replacing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept<T> {
    value: T,
    text: Json,
}

impl<T> Kept<T> {
    pub(super) fn read(value: T, node: Node<'_>) -> Self {
        Kept { value, text: Json::from(node) }
    }

    /// What is understood of `said` when it is written and read again.
    pub(super) fn written(value: T, said: &impl Serialize) -> Self {
        let text = Json::from(serde_json::to_value(said).unwrap_or_default());
        Kept { value, text }
    }
}

impl<T> Deref for Kept<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Serialize for Kept<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.text.serialize(serializer)
    }
}
