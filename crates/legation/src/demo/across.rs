//! An editor asks in one language, an agent answers in another, its overseer looks at the work in a third, and each
//! hears its own.

use super::stage::{Fares, Stage};
use anyhow::Context as _;
use serde_json::{Value, json};

const EDITOR: &str = "demo-editor";
const HELPER: &str = "demo-helper";
const REVIEWER: &str = "demo-reviewer";
const EXCHANGE: &str = "legation";

pub(super) fn play(stage: &mut Stage) -> anyhow::Result<()> {
    Stage::act("Across: an editor speaks ACL to an agent that speaks CAP, whose overseer speaks VLP")?;
    stage.enter(EDITOR, json!({"dialects": ["acl"]}))?;
    stage.enter(REVIEWER, json!({"dialects": ["vlp"]}))?;
    let manifest = json!({
        "id": HELPER, "system_prompt": "You make code readable.", "allowed_agents": [], "delegate_rules": {},
        "mcp_bindings": [], "overseer": REVIEWER,
    });
    stage.enter(HELPER, json!({"dialects": ["cap"], "manifest": manifest}))?;
    let request = request(stage)?;
    stage.says(EDITOR, "asks for a refactoring (TASK_REQUEST)", &request, Fares::Accepted)?;
    let task = heard(stage, HELPER, "/message/task_id")?;
    Stage::tell(&format!("The helper reads it as a delegation_notice of the task {task}."))?;
    let result = json!({
        "type": "message", "task_id": task, "sender_id": HELPER, "recipient_id": EXCHANGE,
        "content": "kept = [item for item in items if item]", "final": true,
    });
    stage.says(HELPER, "answers with a final message", &result, Fares::Held)?;
    review(stage, &task)?;
    let act = heard(stage, EDITOR, "/message/performative")?;
    Stage::tell(&format!("The editor reads the work as an {act}."))?;
    Ok(())
}

fn request(stage: &Stage) -> anyhow::Result<Value> {
    Ok(json!({
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
    }))
}

/// The overseer is shown the work, asks about it, and approves.
fn review(stage: &mut Stage, task: &str) -> anyhow::Result<()> {
    let (shown, digest) =
        (heard(stage, REVIEWER, "/message/id")?, heard(stage, REVIEWER, "/message/payload/oversight/digest")?);
    Stage::tell("The reviewer reads it as a query with the topic oversight, and the editor as nothing yet.")?;
    let (id, time) = (stage.id("QRY"), stage.time(REVIEWER)?);
    let query = json!({
        "id": id, "protocol": "VLP/1.1", "type": "query", "timestamp": time, "sender": REVIEWER, "receiver": HELPER,
        "content": "Are empty items meant to go?", "confidence": 0.8, "refers_to": shown,
    });
    stage.says(REVIEWER, "asks about the work (query)", &query, Fares::Accepted)?;
    let kind = heard(stage, HELPER, "/message/type")?;
    Stage::tell(&format!("The helper reads it as an {kind} in {task}."))?;
    let answer = json!({
        "type": "message", "task_id": task, "sender_id": HELPER, "recipient_id": EXCHANGE,
        "content": "Yes, as before.",
    });
    stage.says(HELPER, "answers the inquiry (message)", &answer, Fares::Accepted)?;
    let kind = heard(stage, REVIEWER, "/message/type")?;
    Stage::tell(&format!("The reviewer reads it as a {kind}."))?;
    let (id, time) = (stage.id("NTC"), stage.time(REVIEWER)?);
    let approved = json!({
        "id": id, "protocol": "VLP/1.1", "type": "notice", "timestamp": time, "sender": REVIEWER, "receiver": EXCHANGE,
        "content": "Fine.", "confidence": 0.8, "refers_to": shown, "topic": "work_approved",
        "payload": { "digest": digest },
    });
    stage.says(REVIEWER, "approves the work (notice)", &approved, Fares::Accepted)?;
    Ok(())
}

/// A member of the last thing that somebody was told.
fn heard(stage: &Stage, who: &str, member: &str) -> anyhow::Result<String> {
    let last = stage.hears(who)?.pop().with_context(|| format!("{who} was told nothing"))?;
    let said = last.pointer(member).and_then(Value::as_str);
    Ok(said.with_context(|| format!("what {who} was told last has no {member}"))?.to_owned())
}
