//! Eddy asks Jules for a bug fix (ElizaOS agent language).

use super::stage::{Fares, Stage};
use serde_json::{Value, json};

const EDDY: &str = "demo-Eddy";
const JULES: &str = "demo-Jules";

fn message(stage: &Stage, from: &str, to: &str, act: &str, term: &str, payload: &Value) -> anyhow::Result<Value> {
    Ok(json!({
        "mcp_version": "0.1.0",
        "message_id": stage.uuid(from)?,
        "performative": act,
        "sender": {"agent_id": from},
        "receiver": {"agent_id": to},
        "language": "application/json",
        "ontology": format!("elizaos:ontology:{term}"),
        "timestamp": stage.time(from)?,
        "payload": payload,
    }))
}

fn reply(mut message: Value, to: &Value) -> Value {
    let id = to.get("message_id").cloned().unwrap_or_default();
    if let Some(members) = message.as_object_mut() {
        members.insert("in_reply_to".to_owned(), id);
    }
    message
}

pub(super) fn play(stage: &mut Stage) -> anyhow::Result<()> {
    Stage::act("Eddy and Jules: a request has one answer and one result")?;
    stage.enter(EDDY, json!({"dialects": ["acl"]}))?;
    let able = json!({"topics": ["python", "debugging"], "actions": ["debug_code"]});
    stage.enter(JULES, json!({"dialects": ["acl"], "capabilities": able}))?;
    let task = json!({
        "task_type": "debug_code",
        "task_description": "The last element is read beyond the end of the list.",
        "task_parameters": {"code_to_debug": "print(names[len(names)])", "programming_language": "python"},
        "priority": "high",
    });
    let request = message(stage, EDDY, JULES, "TASK_REQUEST", "code/python/debug_request", &task)?;
    stage.says(EDDY, "asks Jules to fix an off-by-one", &request, Fares::Accepted)?;
    let done = json!({"task_status": "success", "result_summary": "Fixed.", "result_details": {"fixed_code": "print(names[-1])"}});
    let early = message(stage, JULES, EDDY, "INFORM_RESULT", "code/python/solution_provided", &done)?;
    stage.says(JULES, "has a result before it took the task", &reply(early, &request), Fares::Refused("task_state"))?;
    let taken = json!({"status": "accepted", "estimated_completion_time": "PT5M"});
    let accept = message(stage, JULES, EDDY, "TASK_ACCEPT", "general/task_acceptance", &taken)?;
    stage.says(JULES, "takes the task", &reply(accept, &request), Fares::Accepted)?;
    let result = message(stage, JULES, EDDY, "INFORM_RESULT", "code/python/solution_provided", &done)?;
    stage.says(JULES, "tells the result", &reply(result, &request), Fares::Accepted)?;
    let second = message(stage, JULES, EDDY, "INFORM_RESULT", "code/python/solution_provided", &done)?;
    stage.says(JULES, "tells another result", &reply(second, &request), Fares::Refused("task_state"))?;
    Ok(())
}
