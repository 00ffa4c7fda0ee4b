//! A sales report that is not done before quality assurance says so (CAP).

use super::stage::{Fares, Stage};
use serde_json::{Value, json};

const PM: &str = "demo-pm";
const ANALYST: &str = "demo-analyst";
const QA: &str = "demo-qa";

fn manifest(id: &str, to: &[&str], overseer: Option<&str>, bindings: &Value) -> Value {
    let rule = json!({"when_to_delegate": "When the work needs it."});
    let rules: serde_json::Map<_, _> = to.iter().map(|to| ((*to).to_owned(), rule.clone())).collect();
    json!({
        "dialects": ["cap"],
        "manifest": {
            "id": id,
            "system_prompt": "You take part in a demonstration.",
            "allowed_agents": to,
            "delegate_rules": rules,
            "overseer": overseer,
            "mcp_bindings": bindings,
        },
    })
}

fn say(task: &str, from: &str, to: &str, content: &str) -> Value {
    json!({"type": "message", "task_id": task, "sender_id": from, "recipient_id": to, "content": content})
}

fn with(mut message: Value, more: &Value) -> Value {
    if let (Some(members), Some(more)) = (message.as_object_mut(), more.as_object()) {
        members.extend(more.clone());
    }
    message
}

fn delegate(task: &str, from: &str, to: &str, summary: &str) -> Value {
    json!({"type": "delegation_notice", "task_id": task, "sender_id": from, "recipient_id": to, "context_summary": summary})
}

pub(super) fn play(stage: &mut Stage) -> anyhow::Result<()> {
    Stage::act("A sales report: rights, tools and an overseer")?;
    let data = json!([{"server_id": "DataServer", "scopes": ["read:data"], "allowed_tools": ["query_data"]}]);
    stage.enter(QA, manifest(QA, &[], None, &json!([])))?;
    stage.enter(ANALYST, manifest(ANALYST, &[QA], Some(QA), &data))?;
    stage.enter(PM, manifest(PM, &[ANALYST], None, &data))?;
    let task = format!("T{}", stage.run);
    let part = format!("{task}.1");
    let asked = delegate(&task, "orchestrator", PM, "Where did last quarter's sales go?");
    stage.says("orchestrator", "hands the question to the project manager", &asked, Fares::Accepted)?;
    let question = say(&task, PM, "user", "By region, by customer, or as a whole?");
    stage.says(PM, "asks the user how", &question, Fares::Accepted)?;
    stage.says("user", "answers: by region", &say(&task, "user", PM, "By region."), Fares::Accepted)?;
    let straight = delegate(&part, PM, QA, "Check numbers nobody has made yet.");
    stage.says(PM, "delegates to somebody it may not", &straight, Fares::Refused("delegation_denied"))?;
    let work = delegate(&part, PM, ANALYST, "Sales by region, and what two lost customers cost.");
    stage.says(PM, "delegates the analysis", &work, Fares::Accepted)?;
    let tool = json!({"type": "tool_call_result", "server_id": "MailServer", "tool": "send", "result": "sent"});
    let foreign = with(say(&part, ANALYST, PM, "I wrote to the customers."), &json!({"attachments": [tool]}));
    stage.says(ANALYST, "shows the result of a tool it is not bound to", &foreign, Fares::Refused("tool_not_bound"))?;
    let result = with(say(&part, ANALYST, PM, "Europe fell by 9 %, all else held."), &json!({"final": true}));
    let held = stage.says(ANALYST, "hands in the result", &result, Fares::Held)?;
    Stage::tell("It lies with the overseer. The project manager sees nothing of it yet.")?;
    let inquiry = json!({
        "type": "oversight_inquiry", "task_id": part, "sender_id": QA, "recipient_id": ANALYST,
        "inquiry": "Which table is that from?",
    });
    stage.says(QA, "asks for the source", &inquiry, Fares::Accepted)?;
    stage.says(ANALYST, "answers", &say(&part, ANALYST, QA, "sales_clean, closed orders."), Fares::Accepted)?;
    let approval = with(say(&part, QA, ANALYST, "Good."), &json!({"decision": "approve"}));
    stage.says(QA, "approves", &approval, Fares::Accepted)?;
    if held.is_some() {
        Stage::tell("Now it goes on, and the part is done.")?;
    }
    let report = with(say(&task, PM, "orchestrator", "Sales by region, checked."), &json!({"final": true}));
    stage.says(PM, "reports", &report, Fares::Accepted)?;
    Ok(())
}
