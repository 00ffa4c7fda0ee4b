//! What people do through their hosts: decide what waits for a person, and let agents go on.

use super::{Call, Done, told};
use crate::mcp::ask::{Asked, encoded};
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Page {
    after: Option<String>,
    limit: Option<u64>,
}

pub(super) async fn list_reviews(call: &mut Call<'_>) -> Done {
    let Page { after, limit } = call.taken()?;
    let asked = Asked::get("/v1/reviews").with("after", after).with("limit", Some(limit.unwrap_or(20)));
    Ok(told(call.desk.ask(call.parts, asked).await))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    review: String,
    decision: String,
    digest: String,
    #[serde(default)]
    reason: String,
}

pub(super) async fn decide_review(call: &mut Call<'_>) -> Done {
    let Decided { review, decision, digest, reason } = call.taken()?;
    let body = json!({"decision": decision, "digest": digest, "reason": reason});
    let asked = Asked::post(format!("/v1/reviews/{}", encoded(&review)), body.to_string());
    Ok(told(call.desk.ask(call.parts, asked).await))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GoOn {
    agent: String,
    reason: String,
}

pub(super) async fn resume_agent(call: &mut Call<'_>) -> Done {
    let GoOn { agent, reason } = call.taken()?;
    let asked = Asked::post(format!("/v1/agents/{}/resume", encoded(&agent)), json!({"reason": reason}).to_string());
    Ok(told(call.desk.ask(call.parts, asked).await))
}
