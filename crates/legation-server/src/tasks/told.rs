//! A task as it is told.

use legation_engine::{Part, Sight, Spoken};
use legation_exchange::rules::cap::{Escalation, Failure, Grant, Review, Rights, Task};
use legation_protocol::cap::{ErrorCode, Remedy};
use serde::Serialize;
use serde_json::{Value, json};

/// A task in a list.
#[derive(Serialize)]
pub(super) struct Told {
    task_id: String,
    opener: String,
    state: &'static str,
    delegator: String,
    assignee: String,
    overseer: Option<String>,
    parent: Option<String>,
    opened_at: String,
    deadline: String,
    ended_at: Option<String>,
    tries: u32,
    remedy: Option<&'static str>,
    position: u64,
}

impl Told {
    pub(super) fn of(sight: Sight) -> Told {
        let Sight { number, state, task, mut lineage, overseer, .. } = sight;
        lineage.pop();
        Told {
            state,
            remedy: remedy(&task),
            task_id: task.id,
            opener: task.opener,
            delegator: task.delegator,
            assignee: task.assignee,
            overseer,
            parent: lineage.pop(),
            opened_at: task.opened_at.to_string(),
            deadline: task.deadline.to_string(),
            ended_at: task.ended_at.map(|at| at.to_string()),
            tries: task.tries,
            position: number,
        }
    }
}

/// What its delegator can do about a task that did not go well.
fn remedy(task: &Task) -> Option<&'static str> {
    let last = task.errors.back().filter(|_| task.ended_at.is_some() && task.result.is_none())?;
    ErrorCode::from(last.code).remedy().map(name_of)
}

const fn name_of(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::Retry => "retry",
        Remedy::Reassign => "reassign",
        Remedy::Escalate => "escalate",
        Remedy::Mend => "mend",
    }
}

/// A task with all that belongs to it.
#[derive(Serialize)]
pub(super) struct Whole {
    #[serde(flatten)]
    told: Told,
    lineage: Vec<String>,
    former: Vec<String>,
    parts: Vec<Value>,
    grants: Option<Grant>,
    tools: Value,
    delegation: u64,
    result: Option<u64>,
    reviews: Vec<Value>,
    errors: Vec<Value>,
    waits_for_user: Option<u64>,
    escalated_to: Option<String>,
    messages: Vec<Value>,
    message_count: u64,
}

impl Whole {
    pub(super) fn of(sight: Sight, spoken: Vec<Spoken>, message_count: u64) -> Whole {
        let task = &sight.task;
        Whole {
            lineage: sight.lineage.clone(),
            former: task.former.clone(),
            parts: sight.parts.iter().map(part).collect(),
            grants: Some(task.grant.clone()).filter(|grant| *grant != Grant::default()),
            tools: tools(&sight.rights),
            delegation: task.notice,
            result: task.result,
            reviews: task.reviews.iter().map(review).collect(),
            errors: task.errors.iter().map(error).collect(),
            waits_for_user: task.asked_user,
            escalated_to: task.escalated.as_ref().map(whom),
            messages: spoken.into_iter().map(message).collect(),
            message_count,
            told: Told::of(sight),
        }
    }
}

fn part(part: &Part) -> Value {
    json!({ "task_id": part.id, "assignee": part.assignee, "state": part.state })
}

fn tools(rights: &Rights) -> Value {
    let bound = rights.bindings.iter().filter(|(_, binding)| !binding.tools.is_empty());
    bound.map(|(server, bound)| json!({ "server_id": server, "tools": bound.tools, "scopes": bound.scopes })).collect()
}

fn review((position, review): (&u64, &Review)) -> Value {
    let Review { digest, overseer, is_final, .. } = review;
    json!({ "position": position, "digest": digest, "overseer": overseer, "final": is_final })
}

fn error(failure: &Failure) -> Value {
    let code = ErrorCode::from(failure.code);
    let remedy = code.remedy().map(name_of);
    let Failure { position, by, rejected, .. } = failure;
    let meaning = if *rejected { Some("its overseer rejected the work") } else { code.meaning() };
    json!({ "position": position, "code": code, "by": by, "meaning": meaning, "remedy": remedy })
}

fn whom(escalation: &Escalation) -> String {
    match escalation {
        Escalation::Party(id) => id.clone(),
        Escalation::Operator => "operator".to_owned(),
    }
}

fn message(spoken: Spoken) -> Value {
    let Spoken { position, accepted, attachments } = spoken;
    let findings: Vec<_> = accepted.ruled.findings.iter().map(|found| &found.code).collect();
    json!({
        "position": position, "type": accepted.kind, "sender": accepted.sender, "message_id": accepted.id,
        "held": !accepted.ruled.held.is_empty(), "findings": findings, "attachments": attachments,
    })
}
