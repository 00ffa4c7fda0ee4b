//! Which tools there are, for the one who asks.

use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use legation_engine::{Bound, BoundServer, Described, ServerTools, Tool};
use legation_exchange::Who;
use legation_exchange::rules::Finding;
use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeSet;
use std::sync::Arc;

#[derive(Serialize)]
struct Listing {
    servers: Vec<Listed>,
}

#[derive(Serialize)]
struct Listed {
    server_id: String,
    /// Whether it said what it has.
    answers: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    /// Those the agent has there.
    #[serde(skip_serializing_if = "Option::is_none")]
    scopes: Option<BTreeSet<String>>,
    tools: Vec<Told>,
}

#[derive(Default, Serialize)]
struct Told {
    name: String,
    /// Whether the server says that it has it.
    available: bool,
    /// Whether the agent may call it now, without naming a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    callable: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<Box<RawValue>>,
    /// What was found in the server's words.
    findings: Vec<Finding>,
}

/// `GET /v1/tools`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller) -> Result<Response, Refusal> {
    let servers = if let Who::Agent(agent) = &caller.0 {
        let bound = shared.exchange.bound_tools(agent).await?.map_err(Refusal::recorded)?;
        bound.into_iter().map(Listed::bound).collect()
    } else {
        caller.must_see_all()?;
        shared.exchange.tool_servers().await.into_iter().map(Listed::of).collect()
    };
    Ok(Json(Listing { servers }).into_response())
}

impl Listed {
    fn bound(BoundServer { id, scopes, fault, tools }: BoundServer) -> Listed {
        let tools = tools.into_iter().map(Told::bound).collect();
        Listed { server_id: id, answers: fault.is_none(), why: fault, scopes: Some(scopes), tools }
    }

    fn of(ServerTools { id, tools }: ServerTools) -> Listed {
        let (why, tools) = match tools {
            Ok(tools) => (None, tools.into_iter().map(Told::of).collect()),
            Err(why) => (Some(why), Vec::new()),
        };
        Listed { server_id: id, answers: why.is_none(), why, scopes: None, tools }
    }
}

impl Told {
    fn bound(Bound { name, callable, told }: Bound) -> Told {
        let told = told.map(Told::of).unwrap_or_default();
        Told { name, callable: Some(callable), ..told }
    }

    fn of(Described { tool, findings }: Described) -> Told {
        let Tool { name, description, input_schema } = tool;
        let input_schema = input_schema.and_then(|schema| RawValue::from_string(schema.into_string()).ok());
        Told { name, available: true, callable: None, description, input_schema, findings }
    }
}
