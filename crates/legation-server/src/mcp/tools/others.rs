//! Tools of others, called through the exchange.

use super::{Call, Done, told};
use crate::mcp::ask::Asked;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Nothing {}

pub(super) async fn list(call: &mut Call<'_>) -> Done {
    let Nothing {} = call.taken()?;
    Ok(told(call.desk.ask(call.parts, Asked::get("/v1/tools")).await))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    server_id: String,
    tool: String,
    #[serde(default)]
    arguments: Map<String, Value>,
    task_id: Option<String>,
    #[serde(default)]
    scopes: Vec<String>,
}

pub(super) async fn call(call: &mut Call<'_>) -> Done {
    let Wanted { server_id, tool, arguments, task_id, scopes } = call.taken()?;
    let body = json!({
        "server_id": server_id, "tool": tool, "arguments": arguments, "task_id": task_id, "scopes": scopes,
    });
    Ok(told(call.desk.ask(call.parts, Asked::post("/v1/tools/call", body.to_string())).await))
}
