//! Looking things up: agents, tasks, what was said before, and what became of a message.

use super::{Call, Done, told};
use crate::mcp::ask::{Asked, encoded};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Able {
    capability: Option<String>,
    after: Option<String>,
    limit: Option<u64>,
}

pub(super) async fn find_agents(call: &mut Call<'_>) -> Done {
    let Able { capability, after, limit } = call.taken()?;
    let asked = Asked::get("/v1/agents").with("capability", capability).with("after", after).with("limit", limit);
    Ok(told(call.desk.ask(call.parts, asked).await))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfTask {
    task: String,
    opener: Option<String>,
}

pub(super) async fn show_task(call: &mut Call<'_>) -> Done {
    let OfTask { task, opener } = call.taken()?;
    let asked = Asked::get(format!("/v1/tasks/{}", encoded(&task))).with("opener", opener);
    Ok(told(call.desk.ask(call.parts, asked).await))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sought {
    #[serde(default)]
    keywords: Vec<String>,
    text: Option<String>,
    sender: Option<String>,
    topic: Option<String>,
    session: Option<String>,
    since: Option<String>,
    limit: Option<u64>,
}

pub(super) async fn search_memory(call: &mut Call<'_>) -> Done {
    let sought: Sought = call.taken()?;
    let keywords = (!sought.keywords.is_empty()).then(|| sought.keywords.join(","));
    let asked = Asked::get("/v1/memory")
        .with("keywords", keywords)
        .with("text", sought.text)
        .with("sender", sought.sender)
        .with("topic", sought.topic)
        .with("session", sought.session)
        .with("since", sought.since)
        .with("limit", Some(sought.limit.unwrap_or(20)));
    Ok(told(call.desk.ask(call.parts, asked).await))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OfMessage {
    message: String,
    sender: Option<String>,
}

pub(super) async fn explain(call: &mut Call<'_>) -> Done {
    let OfMessage { message, sender } = call.taken()?;
    let asked = Asked::get(format!("/v1/messages/{}/explain", encoded(&message))).with("sender", sender);
    Ok(told(call.desk.ask(call.parts, asked).await))
}
