//! The shapes of extensions.

use super::Shape;
use crate::openapi::schema::{flag, list, must, object, one_of, text, with};
use legation_exchange::extensions::Extension;
use serde_json::{Value, json};

pub(super) fn shapes() -> Vec<Shape> {
    let all = object("The extensions.", [must("extensions", list("All five.", &extension()))]);
    let call = with(json!({"type": "object"}), "description", "What the operation takes: its `input` describes it.");
    vec![("Extensions", all), ("ExtensionCall", call)]
}

fn extension() -> Value {
    let operation = object(
        "Something that can be asked.",
        [
            must("name", text("Its name.")),
            must("tool", text("Its name as a tool.")),
            must("writes", flag("Whether it changes anything.")),
            must("about", text("What it does.")),
            must("input", with(json!({"type": "object"}), "description", "What it takes, as JSON Schema.")),
        ],
    );
    object(
        "An extension.",
        [
            must("name", text("Its name in a handshake.")),
            must("short", one_of("Its short name.", &Extension::ALL.map(Extension::as_str))),
            must("offered", flag("Whether a handshake may activate it here.")),
            must("active", flag("Whether it is active in the session.")),
            must("operations", list("What can be asked of it.", &operation)),
        ],
    )
}
