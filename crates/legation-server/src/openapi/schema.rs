//! The small words that shapes are made of.

use serde_json::{Map, Value, json};

/// The largest integer every reader of JSON has.
const LARGEST: u64 = (1 << 53) - 1;

/// A member of an object.
pub(crate) struct Member {
    name: &'static str,
    schema: Value,
    is_required: bool,
}

/// A member that is always there.
pub(crate) fn must(name: &'static str, schema: Value) -> Member {
    Member { name, schema, is_required: true }
}

/// A member that may be left out.
pub(crate) fn may(name: &'static str, schema: Value) -> Member {
    Member { name, schema, is_required: false }
}

/// An object that has these members, and may gain others.
pub(crate) fn object(about: &str, members: impl IntoIterator<Item = Member>) -> Value {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    for Member { name, schema, is_required } in members {
        if is_required {
            required.push(name);
        }
        properties.insert(name.to_owned(), schema);
    }
    let object = json!({"type": "object", "description": about, "properties": properties});
    if required.is_empty() { object } else { with(object, "required", required) }
}

/// An object that may have these members and no others.
pub(crate) fn closed(about: &str, members: impl IntoIterator<Item = Member>) -> Value {
    with(object(about, members), "additionalProperties", false)
}

/// The component of this name.
pub(crate) fn of(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

/// The component of this name, with a word on its use here.
pub(crate) fn as_a(name: &str, about: &str) -> Value {
    with(of(name), "description", about)
}

pub(crate) fn text(about: &str) -> Value {
    json!({"type": "string", "description": about})
}

/// Text that a regular expression describes whole.
pub(crate) fn form(about: &str, pattern: &str) -> Value {
    with(text(about), "pattern", pattern)
}

pub(crate) fn one_of(about: &str, words: &[&str]) -> Value {
    with(text(about), "enum", words)
}

pub(crate) fn flag(about: &str) -> Value {
    json!({"type": "boolean", "description": about})
}

pub(crate) fn number(about: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "maximum": LARGEST, "description": about})
}

/// An integer in a range, with what it is when left out.
pub(crate) fn within(about: &str, least: u64, most: u64, default: u64) -> Value {
    json!({"type": "integer", "minimum": least, "maximum": most, "default": default, "description": about})
}

pub(crate) fn micros(about: &str) -> Value {
    number(&format!("{about}, in microseconds since 1970"))
}

pub(crate) fn time(about: &str) -> Value {
    with(text(about), "format", "date-time")
}

pub(crate) fn list(about: &str, items: &Value) -> Value {
    json!({"type": "array", "description": about, "items": items})
}

pub(crate) fn texts(about: &str) -> Value {
    list(about, &json!({"type": "string"}))
}

/// Either of these.
pub(crate) fn any_of(one: &Value, other: &Value) -> Value {
    json!({"anyOf": [one, other]})
}

/// This; or, for those who are not cleared for it, whether there is something.
pub(crate) fn or_flag(schema: &Value) -> Value {
    any_of(schema, &flag("Whether there is something, for those who are not cleared."))
}

/// This, or null.
pub(crate) fn or_null(mut schema: Value) -> Value {
    match schema.get_mut("type") {
        Some(kind) => {
            *kind = json!([kind.take(), "null"]);
            schema
        }
        None => json!({"anyOf": [schema, {"type": "null"}]}),
    }
}

/// With one more member.
pub(crate) fn with(mut schema: Value, name: &str, value: impl serde::Serialize) -> Value {
    if let Value::Object(members) = &mut schema {
        members.insert(name.to_owned(), json!(value));
    }
    schema
}
