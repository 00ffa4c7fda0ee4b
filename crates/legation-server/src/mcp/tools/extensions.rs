//! The tools of extensions, each there while its extension is active: an operation by its name, as at the other
//! doors.

use super::described::{given, members};
use super::{Call, Done, told};
use crate::mcp::ask::Asked;
use crate::mcp::greeting::Greeting;
use legation_engine::Operation;
use rmcp::model::{Tool, ToolAnnotations};
use serde_json::Value;
use std::sync::{Arc, LazyLock};

static ALL: LazyLock<Vec<(&'static Operation, Tool)>> =
    LazyLock::new(|| Operation::ALL.iter().map(|operation| (operation, described(operation))).collect());

fn described(operation: &Operation) -> Tool {
    let takes = members(operation.input());
    let gives = members(given(operation));
    let hints = ToolAnnotations::new().read_only(!operation.writes).destructive(false).open_world(false);
    Tool::new(operation.tool(), operation.about, takes).with_raw_output_schema(Arc::new(gives)).with_annotations(hints)
}

/// Those of the extensions that are active.
pub(in crate::mcp) fn active(greeting: &Greeting) -> impl Iterator<Item = Tool> {
    let is_active = |operation: &Operation| greeting.has(&operation.extension.name());
    ALL.iter().filter(move |(operation, _)| is_active(operation)).map(|(_, tool)| tool.clone())
}

/// The operation of this name, if its extension is active.
pub(in crate::mcp) fn named(name: &str, greeting: &Greeting) -> Option<&'static Operation> {
    let found = ALL.iter().find(|(_, tool)| tool.name == name).map(|(operation, _)| *operation);
    found.filter(|operation| greeting.has(&operation.extension.name()))
}

pub(super) async fn run(operation: &Operation, call: &Call<'_>) -> Done {
    let asked = asked(operation, &Value::Object(call.arguments.clone()));
    Ok(told(call.desk.ask(call.parts, asked).await))
}

/// What the door of an operation is asked.
pub(in crate::mcp) fn asked(operation: &Operation, params: &Value) -> Asked {
    Asked::post(format!("/v1/extensions/{}/{}", operation.extension.as_str(), operation.name), params.to_string())
}
