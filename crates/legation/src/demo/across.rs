//! An editor asks in one language, an agent answers in another, and each hears its own.

use super::stage::{Fares, Stage};
use legation_client::encoded;
use serde_json::{Value, json};

const EDITOR: &str = "demo-editor";
const HELPER: &str = "demo-helper";

pub(super) fn play(stage: &mut Stage) -> anyhow::Result<()> {
    Stage::act("Across: an editor speaks ACL to an agent that speaks CAP")?;
    stage.enter(EDITOR, json!({"dialects": ["acl"]}))?;
    stage.enter(HELPER, json!({"dialects": ["cap"]}))?;
    let request = json!({
        "mcp_version": "0.1.0",
        "message_id": stage.uuid(EDITOR)?,
        "performative": "TASK_REQUEST",
        "sender": {"agent_id": EDITOR},
        "receiver": {"agent_id": HELPER},
        "language": "application/json",
        "ontology": "elizaos:ontology:code/general/refactor_request",
        "timestamp": stage.time(EDITOR)?,
        "payload": {
            "task_type": "refactor_code_snippet",
            "task_description": "Make this readable.",
            "task_parameters": {"code_snippet": "x=[i for i in y if i]", "programming_language": "python"},
        },
    });
    stage.says(EDITOR, "asks for a refactoring (TASK_REQUEST)", &request, Fares::Accepted)?;
    let heard = stage.inbox(HELPER)?;
    let task = heard.last().and_then(|item| item.pointer("/message/task_id")).and_then(Value::as_str);
    let task = task.unwrap_or_default().to_owned();
    Stage::tell(&format!("The helper reads it as a delegation_notice of the task {task}."))?;
    let result = json!({
        "type": "message", "task_id": task, "sender_id": HELPER, "recipient_id": "legation",
        "content": "kept = [item for item in items if item]", "final": true,
    });
    stage.says(HELPER, "answers with a final message", &result, Fares::Accepted)?;
    let back = stage.ask("GET", &format!("/v1/agents/{}/inbox?limit=1000", encoded(EDITOR)), &Value::Null)?;
    let last = back.get("messages").and_then(Value::as_array).and_then(|messages| messages.last().cloned());
    let act = last.as_ref().and_then(|item| item.pointer("/message/performative")).and_then(Value::as_str);
    Stage::tell(&format!("The editor reads it as an {}.", act.unwrap_or("answer")))?;
    Ok(())
}
