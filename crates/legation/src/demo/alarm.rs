//! A child that raises the alarm: pause, suspension, and the one way back (VCP).

use super::stage::{Fares, Stage};
use serde_json::{Value, json};

const GRAND: &str = "agent://demo/lead";
const PARENT: &str = "agent://demo/parent";
const CHILD: &str = "agent://demo/child";
const CONTEXT: &str = "📍🏡|👥👶";
const CREED: &str = "creed://demo.local/family.safe.guide@1.2.0";

fn envelope(stage: &Stage, from: &str, to: &str, kind: &str, payload: &Value) -> anyhow::Result<Value> {
    Ok(json!({
        "vcp_message": "1.2",
        "type": kind,
        "message_id": stage.uuid(from)?,
        "sender": from,
        "recipient": to,
        "timestamp": stage.time(from)?,
        "payload": payload,
    }))
}

fn alarm(stage: &Stage, severity: &str, reason: &str) -> anyhow::Result<Value> {
    let payload = json!({"severity": severity, "reason": reason, "context": CONTEXT, "requires_ack": true});
    envelope(stage, CHILD, PARENT, "escalation", &payload)
}

fn resume(stage: &Stage, alarm: &Value) -> anyhow::Result<Value> {
    let id = alarm.get("message_id");
    let constraint = json!({"type": "resume", "value": {"escalation_id": id}, "source_constitution_ref": CREED});
    let payload = json!({"constraints": [constraint], "propagation_mode": "merge"});
    envelope(stage, PARENT, CHILD, "constraint_propagate", &payload)
}

pub(super) fn play(stage: &mut Stage) -> anyhow::Result<()> {
    Stage::act("A child raises the alarm: pause, suspension, and the one way back")?;
    stage.enter(GRAND, json!({"dialects": ["vcp"]}))?;
    stage.enter(PARENT, json!({"dialects": ["vcp"], "parent": GRAND}))?;
    stage.enter(CHILD, json!({"dialects": ["vcp"], "parent": PARENT}))?;
    let share = json!({"context": CONTEXT, "constitution_ref": CREED});
    let critical = alarm(stage, "critical", "The request comes close to a boundary.")?;
    stage.says(CHILD, "escalates: critical", &critical, Fares::Accepted)?;
    let fresh = envelope(stage, CHILD, "broadcast", "context_share", &share)?;
    stage.says(CHILD, "begins something new while it is paused", &fresh, Fares::Refused("agent_paused"))?;
    let ack = json!({
        "severity": "critical",
        "reason": format!("ACK:{}", critical.get("message_id").and_then(Value::as_str).unwrap_or_default()),
        "context": CONTEXT,
        "requires_ack": false,
    });
    let ack = envelope(stage, PARENT, CHILD, "escalation", &ack)?;
    stage.says(PARENT, "acknowledges within five seconds", &ack, Fares::Accepted)?;
    let go = resume(stage, &critical)?;
    stage.says(PARENT, "lets the child go on", &go, Fares::Accepted)?;
    let emergency = alarm(stage, "emergency", "Somebody is in danger.")?;
    stage.says(CHILD, "escalates: emergency", &emergency, Fares::Accepted)?;
    let told = match stage.inbox(GRAND)?.len() {
        1 => "1 message".to_owned(),
        many => format!("{many} messages"),
    };
    Stage::tell(&format!("In the same commit the child was suspended; the lead above its parent has {told}."))?;
    let more = envelope(stage, CHILD, PARENT, "context_share", &share)?;
    stage.says(CHILD, "says something all the same", &more, Fares::Refused("agent_suspended"))?;
    let routine = envelope(stage, PARENT, CHILD, "context_share", &share)?;
    stage.says(PARENT, "shares its context: that resumes nobody", &routine, Fares::Accepted)?;
    let go = resume(stage, &emergency)?;
    stage.says(PARENT, "lets the child go on", &go, Fares::Accepted)?;
    let calm = envelope(stage, CHILD, PARENT, "context_share", &share)?;
    stage.says(CHILD, "speaks again", &calm, Fares::Accepted)?;
    Ok(())
}
