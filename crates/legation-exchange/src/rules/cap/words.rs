//! What the exchange itself says in tasks: errors, handoffs, and work for overseers.

use super::change::Change;
use super::order::is_here;
use super::oversight::Work;
use super::task::Task;
use crate::agent::Agent;
use crate::policy::Policy;
use crate::rules::voice::{IN_CAP, Notice, name_in};
use crate::rules::{Case, Ruling, translate};
use crate::state::State;
use legation_protocol::cap::{Attachment, ErrorCode, Message, TaskId};
use legation_protocol::id::AgentId;
use legation_protocol::json::Json;
use legation_protocol::vcp::Origin;
use legation_protocol::{Format, acl, vlp};
use serde_json::{Value, json};

/// The name of an agent or a principal in CAP.
fn name<'s>(state: &'s State, party: &'s str) -> &'s str {
    state.registry.agent(party).map_or(party, |agent| name_in(agent, Format::Cap))
}

/// Says something in a task.
fn say(
    state: &State,
    task: &str,
    to: &str,
    ruling: &mut Ruling,
    words: impl Fn(TaskId, AgentId, AgentId) -> Message + 'static,
) {
    // Whoever is gone is told nothing: another may have the name one day.
    if !is_here(state, to) {
        return;
    }
    let (task, name) = (task.to_owned(), name(state, to).to_owned());
    ruling.say(to, move |origin: Origin| {
        let said = words(TaskId::parse(&task).ok()?, AgentId::cap(IN_CAP).ok()?, AgentId::cap(&name).ok()?);
        let (message_id, timestamp) = (Some(origin.message_id.to_string()), Some(origin.timestamp));
        Some(legation_protocol::Message::Cap(Box::new(Message { message_id, timestamp, ..said })))
    });
}

/// Tells somebody of a failure (Error Schema).
pub(super) fn error(state: &State, task: &Task, to: &str, code: ErrorCode, text: String, ruling: &mut Ruling) {
    say(state, &task.id, to, ruling, move |id, me, to| Message::fail(id, me, to, code, text.clone()));
}

/// Tells somebody something.
pub(super) fn tell(state: &State, task: &Task, to: &str, text: String, ruling: &mut Ruling) {
    say(state, &task.id, to, ruling, move |id, me, to| Message::say(id, me, to, text.clone()));
}

/// Tells whoever works on a task, in a dialect it speaks, that nobody waits for it any more.
pub(super) fn not_awaited(
    state: &State,
    policy: &Policy,
    (number, task): (u64, &Task),
    text: String,
    ruling: &mut Ruling,
) {
    if translate::speaks(state, &task.assignee, Format::Cap) {
        tell(state, task, &task.assignee, text, ruling);
    } else {
        translate::work_not_awaited(state, policy, (number, task), text, ruling);
    }
}

/// Tells whoever works on a task, in a dialect it speaks, what became of its work.
pub(super) fn of_work(
    state: &State,
    policy: &Policy,
    (number, task): (u64, &Task),
    work: u64,
    text: String,
    ruling: &mut Ruling,
) {
    let hold = state.rules.holds.get(work);
    let agent = state.registry.agent(&task.assignee).filter(|agent| agent.dialects.is_empty());
    // Who registered no dialect is told in the one it used.
    let used = hold.and_then(|hold| hold.dialect).filter(|used| *used != Format::Cap);
    if let (Some(agent), Some(rather)) = (agent, used) {
        let (about, thread) = (hold.and_then(|hold| hold.id.as_deref()), Some(task.id.as_str()));
        ruling.notify(policy, agent, Notice { code: "work_refused", text, rather, about, thread });
    } else if translate::speaks(state, &task.assignee, Format::Cap) {
        tell(state, task, &task.assignee, text, ruling);
    } else {
        translate::notify(state, policy, (number, task), ("work_refused", text), ruling);
    }
}

/// Hands a task over again. The delegation itself goes with it, as it was sent.
pub(super) fn hand_over(state: &State, task: &Task, to: &str, text: String, ruling: &mut Ruling) {
    let original = Json::from(json!({ "position": task.notice, "delegator": name(state, &task.delegator) }));
    say(state, &task.id, to, ruling, move |id, me, to| {
        let mut notice = Message::delegate(id, me, to, text.clone());
        notice.extra.insert("original".to_owned(), original.clone());
        notice
    });
}

/// The most bytes of work that are shown to an overseer; more it fetches by position.
const SHOWN: usize = 192 * 1024;

/// Shows work to the overseer who is to decide on it, and which work it takes the place of.
pub(super) fn show_work(
    case: &Case<'_>,
    task: &Task,
    work: &Work<'_>,
    (overseer, replaced): (&str, &[u64]),
    ruling: &mut Ruling,
) {
    let (state, position) = (case.state, case.state.next);
    let is_whole = case.received.bytes().len() <= SHOWN;
    let mut oversight = json!({
        "review": position.to_string(),
        "digest": case.received.digest().to_string(),
        "author": name(state, &task.assignee),
        "delegator": name(state, &task.delegator),
        "final": work.is_final,
        "whole": is_whole,
    });
    if let (false, Some(oversight)) = (replaced.is_empty(), oversight.as_object_mut()) {
        let older: Vec<_> = replaced.iter().map(u64::to_string).collect();
        oversight.insert("replaces".to_owned(), older.into());
    }
    let content = match work.content {
        Some(content) if is_whole => content.to_owned(),
        _ => format!("Work of {} waits for your decision in entry {position}.", name(state, &task.assignee)),
    };
    let attachments: Option<Vec<Attachment>> = work.attachments.filter(|_| is_whole).map(<[_]>::to_vec);
    let shown = || json!({ "oversight": oversight, "attachments": attachments });
    match state.registry.agent(overseer) {
        Some(agent) if speaks_no_cap(agent, Format::Vlp) => return show_in_vlp(agent, content, shown(), ruling),
        Some(agent) if speaks_no_cap(agent, Format::Acl) => {
            show_in_acl(agent, content, shown(), ruling);
            // A decision answers this request.
            let request = Change::Requested { message: position, request: String::new() };
            return ruling.change_with_last(request.into());
        }
        Some(_) | None => {}
    }
    say(state, &task.id, overseer, ruling, move |id, me, to| {
        let mut shown = Message { attachments: attachments.clone(), ..Message::say(id, me, to, content.clone()) };
        shown.extra.insert("oversight".to_owned(), Json::from(oversight.clone()));
        shown
    });
}

/// Whether an agent hears of work in this dialect, since it does not speak CAP.
fn speaks_no_cap(agent: &Agent, dialect: Format) -> bool {
    agent.dialects.contains(&dialect) && !agent.dialects.contains(&Format::Cap)
}

/// The same in the ElizaOS agent language: a request for a review, with all that is told of the work as its parameters.
fn show_in_acl(overseer: &Agent, content: String, shown: Value, ruling: &mut Ruling) {
    let name = name_in(overseer, Format::Acl).to_owned();
    ruling.say(overseer.id.clone(), move |origin| {
        let head = acl::Head {
            message_id: acl::MessageId::parse(&origin.message_id.to_string()).ok()?,
            sender: origin.sender,
            receiver: AgentId::named(&name).ok()?,
            timestamp: origin.timestamp,
        };
        let content = if content.is_empty() { "See the parameters.".to_owned() } else { content };
        let Value::Object(shown) = shown else { return None };
        let task = acl::TaskRequest::new("oversight", content, shown);
        let about = acl::Ontology::parse("elizaos:ontology:general/task_request").ok()?;
        Some(legation_protocol::Message::Acl(Box::new(head.request_about(task, about))))
    });
}

/// The same in VLP: a question about the work, with all that is told of it as its payload.
fn show_in_vlp(overseer: &Agent, content: String, shown: Value, ruling: &mut Ruling) {
    let name = name_in(overseer, Format::Vlp).to_owned();
    ruling.say(overseer.id.clone(), move |origin| {
        let id = vlp::MessageId::parse(&format!("{}-{}", vlp::Kind::Query.prefix(), origin.message_id)).ok()?;
        let header = vlp::Header { id, timestamp: origin.timestamp, sender: origin.sender };
        let asked = vlp::Message {
            receiver: Some(AgentId::named(&name).ok()?),
            topic: Some("oversight".to_owned()),
            provenance: Some(vec!["the record of the exchange".into()]),
            payload: Some(shown.into()),
            ..vlp::Message::query(header, content)
        };
        Some(legation_protocol::Message::Vlp(Box::new(asked)))
    });
}
