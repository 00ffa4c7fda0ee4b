//! Sending: any message as it is, or one of a few kinds made here from what it says.

use super::{Call, Done, told};
use crate::mcp::ask::{Asked, Said};
use legation_protocol::vcp::Severity;
use legation_protocol::{Code, Rejection};
use rmcp::model::CallToolResult;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    message: Map<String, Value>,
}

pub(super) async fn send(call: &mut Call<'_>) -> Done {
    let Whole { message } = call.taken()?;
    sent(call, Value::Object(message)).await
}

async fn sent(call: &Call<'_>, message: Value) -> Done {
    let said = call.desk.ask(call.parts, Asked::post("/v1/messages", message.to_string())).await;
    Ok(answered(said, || message))
}

/// What the door said to a message. What lacks its signature comes back as it would be sent, for somebody with the
/// key to sign.
pub(in crate::mcp) fn answered(mut said: Said, message: impl FnOnce() -> Value) -> CallToolResult {
    let code = said.body.get("error").and_then(Value::as_str);
    if said.is_refusal() && code == Some(Code::SignatureRequired.as_str()) {
        said.body.as_object_mut().map(|body| body.insert("prepared".to_owned(), message()));
    }
    told(said)
}

/// An id nobody has used, and the time.
fn fresh() -> (String, String) {
    let id = Uuid::now_v7();
    let (seconds, nanos) = id.get_timestamp().map(|stamp| stamp.to_unix()).unwrap_or_default();
    let micros = seconds.saturating_mul(1_000_000).saturating_add(u64::from(nanos / 1000));
    (id.to_string(), legation_exchange::Moment::from_micros(micros).to_string())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Claimed {
    to: Option<String>,
    content: String,
    confidence: f64,
    #[serde(default)]
    sources: Vec<String>,
    #[serde(default)]
    keywords: Vec<String>,
    topic: Option<String>,
    session: Option<String>,
    from: Option<String>,
}

pub(super) async fn claim(call: &mut Call<'_>) -> Done {
    let claimed: Claimed = call.taken()?;
    let (id, timestamp) = fresh();
    let mut message = json!({
        "id": format!("CLM-{id}"), "protocol": "VLP/1.1", "type": "claim", "timestamp": timestamp,
        "sender": call.speaker(claimed.from)?, "content": claimed.content, "confidence": claimed.confidence,
    });
    let lists = [("provenance", claimed.sources), ("keywords", claimed.keywords)];
    let texts = [("receiver", claimed.to), ("topic", claimed.topic), ("session_id", claimed.session)];
    add(&mut message, lists.into_iter().filter(|(_, list)| !list.is_empty()).map(|(name, list)| (name, json!(list))));
    add(&mut message, texts.into_iter().filter_map(|(name, text)| Some((name, json!(text?)))));
    sent(call, message).await
}

fn add<'n>(message: &mut Value, members: impl Iterator<Item = (&'n str, Value)>) {
    if let Value::Object(message) = message {
        message.extend(members.map(|(name, value)| (name.to_owned(), value)));
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Asks {
    to: String,
    reference: Option<String>,
    condition: Option<Map<String, Value>>,
    ontology: Option<String>,
    from: Option<String>,
}

pub(super) async fn query(call: &mut Call<'_>) -> Done {
    let asks: Asks = call.taken()?;
    let (act, payload) = match (asks.reference, asks.condition) {
        (Some(reference), None) => ("QUERY_REF", json!({"reference": reference})),
        (None, Some(condition)) => ("QUERY_IF", json!({"condition": condition})),
        (Some(_), Some(_)) | (None, None) => {
            let message = "ask for a `reference`, whose value you want, or a `condition`, which holds or does not";
            return Err(Rejection::because(Code::SchemaInvalid, message));
        }
    };
    let from = call.speaker(asks.from)?;
    let about = asks.ontology.unwrap_or_else(|| "elizaos:general_query".to_owned());
    sent(call, act_of(&from, &asks.to, act, &about, &payload)).await
}

/// A message of the agent language.
fn act_of(from: &str, to: &str, act: &str, ontology: &str, payload: &Value) -> Value {
    let (id, timestamp) = fresh();
    json!({
        "mcp_version": "0.1.0", "message_id": id, "performative": act, "sender": {"agent_id": from},
        "receiver": {"agent_id": to}, "language": "application/json", "ontology": ontology,
        "timestamp": timestamp, "payload": payload,
    })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    to: String,
    task_type: String,
    description: String,
    #[serde(default)]
    parameters: Map<String, Value>,
    priority: Option<String>,
    ontology: Option<String>,
    from: Option<String>,
}

pub(super) async fn request_task(call: &mut Call<'_>) -> Done {
    let wanted: Wanted = call.taken()?;
    let from = call.speaker(wanted.from)?;
    let mut payload = json!({
        "task_type": wanted.task_type, "task_description": wanted.description, "task_parameters": wanted.parameters,
    });
    add(&mut payload, wanted.priority.into_iter().map(|priority| ("priority", json!(priority))));
    let about = wanted.ontology.unwrap_or_else(|| "elizaos:general_task".to_owned());
    sent(call, act_of(&from, &wanted.to, "TASK_REQUEST", &about, &payload)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct HandsOn {
    to: String,
    task: String,
    summary: String,
    deadline: Option<String>,
    from: Option<String>,
}

pub(super) async fn delegate(call: &mut Call<'_>) -> Done {
    let hands_on: HandsOn = call.taken()?;
    let (id, timestamp) = fresh();
    let mut message = json!({
        "type": "delegation_notice", "task_id": hands_on.task, "sender_id": call.speaker(hands_on.from)?,
        "recipient_id": hands_on.to, "context_summary": hands_on.summary, "message_id": id, "timestamp": timestamp,
    });
    add(&mut message, hands_on.deadline.into_iter().map(|deadline| ("deadline", json!(deadline))));
    sent(call, message).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raises {
    to: String,
    severity: String,
    reason: String,
    context: String,
    requires_ack: Option<bool>,
    from: Option<String>,
}

pub(super) async fn escalate(call: &mut Call<'_>) -> Done {
    let raises: Raises = call.taken()?;
    let (id, timestamp) = fresh();
    let is_grave = || matches!(Severity::named(&raises.severity), Some(Severity::Critical | Severity::Emergency));
    let message = json!({
        "vcp_message": "1.2", "type": "escalation", "message_id": id, "sender": call.speaker(raises.from)?,
        "recipient": raises.to, "timestamp": timestamp,
        "payload": {
            "severity": raises.severity, "reason": raises.reason, "context": raises.context,
            "requires_ack": raises.requires_ack.unwrap_or_else(is_grave),
        },
    });
    sent(call, message).await
}
