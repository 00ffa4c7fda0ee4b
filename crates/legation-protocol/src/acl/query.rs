//! Questions about the world (section 4.4).

use crate::json::Json;
use crate::read::{At, Extra, json_object, text};
use serde::Serialize;
use serde_json::{Map, Value};

/// Asks whether something is true (section 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueryIf {
    /// The statement to be checked: an object.
    pub condition: Json,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl QueryIf {
    /// Asks whether `condition` holds.
    pub fn new(condition: Map<String, Value>) -> Self {
        QueryIf { condition: Json::from(Value::Object(condition)), extra: Extra::new() }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<QueryIf> {
        let mut o = At { spec: "ACL 4.4", ..at }.object()?;
        let condition = o.required("condition", json_object);
        Some(QueryIf { condition: condition?, extra: o.extra() })
    }
}

/// Asks for a value (section 4.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QueryRef {
    /// Names the value, for example `user_preferences.theme`.
    pub reference: String,
    /// Members the spec does not define, kept as they came.
    #[serde(flatten)]
    pub extra: Extra,
}

impl QueryRef {
    /// Asks for the value of `reference`.
    pub fn new(reference: impl Into<String>) -> Self {
        QueryRef { reference: reference.into(), extra: Extra::new() }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<QueryRef> {
        let mut o = At { spec: "ACL 4.4", ..at }.object()?;
        let reference = o.required("reference", text);
        Some(QueryRef { reference: reference?, extra: o.extra() })
    }
}
