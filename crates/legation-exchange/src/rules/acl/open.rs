//! Opening a conversation (sections 4.1, 4.4, 4.8 and 6): with an agent, with those of a group that can do
//! it, or with nobody, which the exchange tells at once.

use super::directory::{Asked, can_do, misses};
use super::machine::{Act, Stage, Step};
use super::talk::{Change, Due, Loss, Moved, Opening, What};
use super::words;
use crate::agent::Agent;
use crate::quota::{Resource, check_family};
use crate::rules::cap::passes_on;
use crate::rules::{Case, Ruling};
use legation_protocol::acl::{Content, Message, TaskRequest};
use legation_protocol::{Code, Format, Rejection};

/// What a message opens, if it opens anything.
pub(super) fn act_of(content: &Content) -> Result<Act, Step> {
    match content {
        Content::TaskRequest(_) => Ok(Act::Task),
        Content::QueryIf(_) => Ok(Act::QueryIf),
        Content::QueryRef(_) => Ok(Act::QueryRef),
        Content::QueryCapabilities(_) => Ok(Act::QueryCapabilities),
        Content::TaskAccept(_) => Err(Step::Accept),
        Content::TaskReject(_) => Err(Step::Reject),
        Content::InformResult(_) => Err(Step::Result),
        Content::Failure(_) => Err(Step::Failure),
        Content::NotUnderstood(_) => Err(Step::NotUnderstood),
        Content::InformCapabilities(_) => Err(Step::Capabilities),
        Content::Cancel(_) => Err(Step::Cancel),
    }
}

pub(super) fn open(case: &Case<'_>, message: &Message, act: Act, ruling: &mut Ruling) -> Result<(), Rejection> {
    let requester = case.speaker.id();
    if case.state.rules.acl.opened_by(requester, case.id).is_some() {
        let text = "a conversation of this sender has this id";
        return Err(Rejection::because(Code::MessageIdConflict, text).at("/message_id"));
    }
    let name = message.receiver.agent_id.as_str();
    if case.policy.is_exchange(name) {
        refuse_for_exchange(case, act, ruling);
        return Ok(());
    }
    if let Some(talk) = crowded_out(case, requester)? {
        let due = Due { at: case.now, what: What::Lost(Loss::Crowded) };
        ruling.change(Change::Waits { talk, due }.into());
    }
    let group = case.group();
    let members = group.is_some().then(|| able(case, message)).flatten();
    let offered = members.unwrap_or_else(|| case.to.to_vec());
    let priority = task(message).and_then(|task| task.priority);
    let asked = question(message).filter(|_| knows_capabilities(case));
    let due = match &asked {
        Some(_) => Due { at: case.now.plus(case.policy.talks.directory_after), what: What::Directory },
        None => Due { at: case.now.plus(case.policy.talks.idle), what: What::Idle },
    };
    let opening = Opening {
        act,
        id: case.id.to_owned(),
        requester: requester.to_owned(),
        offered: offered.iter().cloned().collect(),
        group: group.map(str::to_owned),
        reply_with: message.reply_with.clone(),
        priority,
        below: (act == Act::Task).then(|| passes_on(case)).flatten(),
        asked,
        due,
    };
    ruling.change(Change::Opened(Box::new(opening)).into());
    reach(case, message, offered, ruling);
    Ok(())
}

/// The conversation that makes room for another: the requester's oldest, where it or its family has as many as it may.
/// A family's quota is never met at the cost of another agent.
fn crowded_out(case: &Case<'_>, requester: &str) -> Result<Option<u64>, Rejection> {
    let talks = &case.state.rules.acl;
    if let Some(talk) = talks.crowded_out(requester, case.policy.shares.conversations) {
        return Ok(Some(talk));
    }
    check_family(case.state, case.policy, requester, Resource::Conversations)
        .map(|()| None)
        .or_else(|full| talks.crowded_out(requester, 1).map(Some).ok_or(full))
}

/// What is held is asked when it goes on, and from then on the directory waits for an answer.
pub(crate) fn ask_later(case: &Case<'_>, change: &mut crate::rules::Change) -> Option<crate::rules::Change> {
    let crate::rules::Change::Acl(Change::Opened(opening)) = change else { return None };
    let idle = Due { at: case.now.plus(case.policy.talks.idle), what: What::Idle };
    let due = match opening.due.what {
        What::Directory => std::mem::replace(&mut opening.due, idle),
        What::Overdue | What::Idle | What::Lost(_) => return None,
    };
    Some(Change::Waits { talk: case.state.next, due }.into())
}

/// Sends it to whoever can answer, or tells the requester that there is nobody.
fn reach(case: &Case<'_>, message: &Message, offered: Vec<String>, ruling: &mut Ruling) {
    let requester = case.speaker.agent();
    if case.group().is_some() {
        if let (true, Some(requester)) = (offered.is_empty(), requester) {
            let reject = words::reject("incapable", "nobody in this group can do it");
            ruling.reply(requester, case.id, reject);
            close(case, Stage::Rejected, "incapable", ruling);
        }
        ruling.instead = Some(offered);
        return;
    }
    let receiver = offered.first().and_then(|id| case.state.registry.agent(id));
    // What an agent can do may always be asked: that is how to find out what it understands.
    let missed = receiver.filter(|_| question(message).is_none()).and_then(|receiver| misses(receiver, message));
    if let (Some(known), Some(requester)) = (missed, requester) {
        ruling.reply(requester, case.id, words::unknown_ontology(known));
        close(case, Stage::NotUnderstood, "unknown_ontology", ruling);
        ruling.instead = Some(Vec::new());
    }
}

/// The conversation is over as soon as it is open.
fn close(case: &Case<'_>, to: Stage, outcome: &str, ruling: &mut Ruling) {
    let moved = Moved {
        talk: case.state.next(),
        to,
        by: None,
        answer: None,
        outcome: Some(outcome.to_owned()),
        estimate: None,
        due: None,
        until: Some(case.now.plus(case.policy.talks.remembered)),
    };
    ruling.change(Change::Moved(Box::new(moved)).into());
}

/// Those of the group that can do the task, and understand what it is about.
fn able(case: &Case<'_>, message: &Message) -> Option<Vec<String>> {
    let task = task(message)?;
    let can = |agent: &&Agent| {
        speaks_acl(agent) && can_do(agent, &task.task_type, &message.ontology) && misses(agent, message).is_none()
    };
    let members = case.to.iter().filter_map(|id| case.state.registry.agent(id));
    Some(members.filter(can).map(|agent| agent.id.clone()).collect())
}

/// A task for a group is told as it is: whoever does not speak the language has no part in it.
fn speaks_acl(agent: &Agent) -> bool {
    agent.dialects.is_empty() || agent.dialects.contains(&Format::Acl)
}

fn task(message: &Message) -> Option<&TaskRequest> {
    if let Content::TaskRequest(task) = &message.content { Some(task) } else { None }
}

fn question(message: &Message) -> Option<Asked> {
    if let Content::QueryCapabilities(question) = &message.content { Asked::of(question) } else { None }
}

fn knows_capabilities(case: &Case<'_>) -> bool {
    let receiver = case.to.first().and_then(|id| case.state.registry.agent(id));
    receiver.is_some_and(|agent| agent.capabilities.is_some())
}

/// The exchange does no tasks and has no opinions.
fn refuse_for_exchange(case: &Case<'_>, act: Act, ruling: &mut Ruling) {
    let Some(requester) = case.speaker.agent() else { return };
    let text = "the exchange carries messages; ask an agent";
    match act {
        Act::Task => ruling.reply(requester, case.id, words::reject("incapable", text)),
        Act::QueryIf | Act::QueryRef | Act::QueryCapabilities => {
            ruling.reply(requester, case.id, words::failure("incapable", text.to_owned()));
        }
    }
}
