//! Whether an agent may call a tool through the gateway (MCP Integration): by the same rights by which it may show what a
//! tool answered, in the same places. A call begins something, and what is handed to a tool leaves the house: it is held to
//! what holds the agent's messages.

use super::place::{Place, foreign, only};
use super::task::Task;
use super::tools::{Ground, Wanted};
use crate::agent::Agent;
use crate::policy::Policy;
use crate::rules::vcp;
use crate::state::State;
use legation_protocol::{Code, Rejection};
use std::collections::BTreeMap;

const SPEC: &str = "CAP MCP Integration";

/// The task a call is made in, if the agent may make it.
pub(crate) fn may_call(
    state: &State,
    policy: &Policy,
    agent: &Agent,
    call: &crate::decide::Call,
) -> Result<Option<u64>, Rejection> {
    vcp::may_act(state, &agent.id)?;
    let place = call.task.as_deref().map(|id| place(state, agent, id)).transpose()?;
    let within = place.map(|(number, _)| number);
    let wanted = Wanted { server: &call.server, tool: &call.tool, scopes: &call.scopes };
    Ground { state, policy }.may_use(agent, within, &wanted).map_err(|rejection| rejection.by(SPEC))?;
    if let Some((_, task)) = place.filter(|(_, task)| !task.is_open()) {
        let text = format!("{} is {}: nothing begins in it any more", task.id, task.public_state());
        return Err(Rejection::because(Code::TaskState, text).at("/task_id").by(SPEC));
    }
    vcp::constraints::may_hand(state, agent, &call.arguments).map_err(|broken| broken.at("/arguments"))?;
    Ok(within)
}

impl State {
    /// Whether an agent is told what came of its calls: not while it is suspended.
    pub fn may_be_told(&self, agent: &Agent) -> bool {
        vcp::may_be_heard(self, agent).is_ok()
    }

    /// Whether an agent may call a tool now, without naming a task.
    pub fn may_call(&self, policy: &Policy, agent: &Agent, server: &str, tool: &str) -> bool {
        let ground = Ground { state: self, policy };
        vcp::may_act(self, &agent.id).is_ok()
            && ground.may_use(agent, None, &Wanted { server, tool, scopes: &[] }).is_ok()
    }
}

/// The task with this id that the agent handed over or works on, or whoever it is one with.
fn place<'s>(state: &'s State, agent: &Agent, id: &str) -> Result<(u64, &'s Task), Rejection> {
    let kept = &state.rules.cap;
    if let Some((number, task)) = only(kept.seats(&agent.id, id), "")? {
        return Place::Own(number, task).own(id);
    }
    let family: BTreeMap<_, _> = state.registry.relatives(agent).flat_map(|one| kept.seats(&one.id, id)).collect();
    match only(family.into_iter(), "")? {
        Some(found) => Ok(found),
        None if kept.is_named(id, &agent.id) => Err(foreign(id)),
        None => Place::Unknown.own(id),
    }
}
