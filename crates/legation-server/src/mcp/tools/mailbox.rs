//! Reading a mailbox, waiting for it to fill, and taking out what was read.

use super::{Call, Done, told};
use crate::mcp::ask::{Asked, Said, encoded};
use legation_protocol::{Code, Rejection};
use rmcp::model::ProgressNotificationParam;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The longest anybody waits, and after how long those are told who want to know how it goes; in seconds.
pub(super) const LONGEST: u64 = 600;
const BETWEEN: u64 = 5;
const AT_ONCE: u64 = 55;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    agent: Option<String>,
    after: Option<u64>,
    limit: Option<u64>,
    #[serde(default)]
    wait: u64,
}

pub(super) async fn read(call: &mut Call<'_>) -> Done {
    let wanted: Wanted = call.taken()?;
    if wanted.wait > LONGEST {
        return Err(Rejection::because(Code::OutOfRange, format!("wait is at most {LONGEST} seconds")).at("/wait"));
    }
    let agent = call.speaker(wanted.agent.clone())?;
    let step = if call.context.meta.get_progress_token().is_some() { BETWEEN } else { AT_ONCE };
    let mut left = wanted.wait;
    loop {
        let next = step.min(left);
        let said = listed(call, &agent, &wanted, next).await?;
        left -= next;
        let is_empty = said.body.get("messages").and_then(Value::as_array).is_some_and(Vec::is_empty);
        if said.is_refusal() || !is_empty || left == 0 || call.desk.shared.stopping.is_cancelled() {
            return Ok(told(said));
        }
        tell_progress(call, wanted.wait - left, wanted.wait).await;
    }
}

async fn listed(call: &Call<'_>, agent: &str, wanted: &Wanted, wait: u64) -> Result<Said, Rejection> {
    let asked = Asked::get(format!("/v1/agents/{}/inbox", encoded(agent)))
        .with("after", wanted.after)
        .with("limit", Some(wanted.limit.unwrap_or(20)))
        .with("wait", (wait > 0).then_some(wait));
    tokio::select! {
        said = call.desk.ask(call.parts, asked) => Ok(said),
        () = call.context.ct.cancelled() => Err(Rejection::because(Code::Busy, "the waiting was called off")),
    }
}

async fn tell_progress(call: &Call<'_>, done: u64, of: u64) {
    let Some(token) = call.context.meta.get_progress_token() else { return };
    let [progress, total] = [done, of].map(|seconds| u32::try_from(seconds).map_or(0.0, f64::from));
    let progress = ProgressNotificationParam::new(token, progress).with_total(total).with_message("nothing yet");
    // Whoever has gone away is not told.
    let _ = call.context.peer.notify_progress(progress).await;
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Read {
    agent: Option<String>,
    position: Option<u64>,
    positions: Option<Vec<u64>>,
}

pub(super) async fn acknowledge(call: &mut Call<'_>) -> Done {
    let read: Read = call.taken()?;
    let agent = call.speaker(read.agent)?;
    let named = [("position", read.position.map(Value::from)), ("positions", read.positions.map(|list| json!(list)))];
    let body: Map<_, _> = named.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
    let asked = Asked::post(format!("/v1/agents/{}/ack", encoded(&agent)), Value::Object(body).to_string());
    Ok(told(call.desk.ask(call.parts, asked).await))
}
