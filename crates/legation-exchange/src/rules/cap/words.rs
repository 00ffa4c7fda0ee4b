//! What the exchange itself says in tasks: errors, handoffs, and work for overseers.

use super::order::is_here;
use super::oversight::Work;
use super::task::Task;
use crate::agent::Agent;
use crate::rules::voice::{IN_CAP, name_in};
use crate::rules::{Case, Ruling};
use crate::state::State;
use legation_protocol::cap::{Attachment, ErrorCode, Message, TaskId};
use legation_protocol::id::AgentId;
use legation_protocol::json::Json;
use legation_protocol::vcp::Origin;
use legation_protocol::{Format, vlp};
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

/// Shows work to the overseer who is to decide on it.
pub(super) fn show_work(case: &Case<'_>, task: &Task, work: &Work<'_>, overseer: &str, ruling: &mut Ruling) {
    let (state, position) = (case.state, case.state.next);
    let is_whole = case.received.bytes().len() <= SHOWN;
    let oversight = json!({
        "review": position.to_string(),
        "digest": case.received.digest().to_string(),
        "author": name(state, &task.assignee),
        "delegator": name(state, &task.delegator),
        "final": work.is_final,
        "whole": is_whole,
    });
    let content = match work.content {
        Some(content) if is_whole => content.to_owned(),
        _ => format!("Work of {} waits for your decision in entry {position}.", name(state, &task.assignee)),
    };
    let attachments: Option<Vec<Attachment>> = work.attachments.filter(|_| is_whole).map(<[_]>::to_vec);
    let in_vlp = state.registry.agent(overseer).filter(|agent| speaks_vlp_alone(agent));
    if let Some(agent) = in_vlp {
        let shown = json!({ "oversight": oversight, "attachments": attachments });
        show_in_vlp(agent, content, shown, ruling);
        return;
    }
    say(state, &task.id, overseer, ruling, move |id, me, to| {
        let mut shown = Message { attachments: attachments.clone(), ..Message::say(id, me, to, content.clone()) };
        shown.extra.insert("oversight".to_owned(), Json::from(oversight.clone()));
        shown
    });
}

/// Whether an agent hears of work in VLP, since it does not speak CAP.
fn speaks_vlp_alone(agent: &Agent) -> bool {
    agent.dialects.contains(&Format::Vlp) && !agent.dialects.contains(&Format::Cap)
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
