//! Whether an agent may go on (messaging 1.2, section 6.3): running, paused or suspended. What is so of an
//! agent is so of all its instances, and lasts until whoever stands above it, or an operator, says otherwise.

use super::alarms::Stopping;
use super::pause::Does;
use crate::agent::Agent;
use crate::moment::Moment;
use crate::policy::Policy;
use crate::registry::Registry;
use crate::rules::hold::{self, Lifter, Reason, Which};
use crate::rules::{At, Case, Ruling};
use crate::state::State;
use crate::who::Who;
use legation_protocol::vcp::Severity;
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Whether an agent may go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It may.
    #[default]
    Running,
    /// It may finish what it has begun.
    Paused,
    /// It may say nothing.
    Suspended,
}

impl Standing {
    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Standing::Running => "running",
            Standing::Paused => "paused",
            Standing::Suspended => "suspended",
        }
    }

    /// What an escalation makes of whoever raised it.
    pub(super) const fn after(severity: Severity) -> Standing {
        match severity {
            Severity::Info | Severity::Warning => Standing::Running,
            Severity::Critical => Standing::Paused,
            Severity::Emergency => Standing::Suspended,
        }
    }

    /// What somebody is told of it: a name for programs.
    const fn code(self) -> &'static str {
        match self {
            Standing::Running => "agent_resumed",
            Standing::Paused => "agent_paused",
            Standing::Suspended => "agent_suspended",
        }
    }
}

/// Why an agent may not go on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// Open escalations, and what they make of it.
    pub alarms: BTreeMap<u64, Standing>,
    /// An operator's order.
    pub ordered: Option<Ordered>,
}

/// An operator's order to say nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ordered {
    /// Who gave it.
    pub by: String,
    /// What they gave as their reason.
    pub why: String,
    /// When.
    pub at: Moment,
    /// Whom it was for.
    #[serde(default, skip_serializing_if = "StopScope::is_agent")]
    pub scope: StopScope,
}

/// Whom an operator's order to stop was for, the widest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopScope {
    /// Everybody.
    All,
    /// An agent and all below it.
    Subtree,
    /// The agent it names.
    #[default]
    Agent,
}

impl StopScope {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
    fn is_agent(&self) -> bool {
        *self == StopScope::Agent
    }
}

/// What an operator changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Change {
    /// An agent says nothing from now on.
    Suspended {
        /// Which, with its instances.
        agent: String,
        /// Who says so.
        by: String,
        /// Why.
        why: String,
        /// Whom the order was for.
        #[serde(default, skip_serializing_if = "StopScope::is_agent")]
        scope: StopScope,
    },
    /// It may go on, as far as operators are concerned.
    Resumed {
        /// Which, with its instances.
        agent: String,
        /// Who says so.
        by: String,
        /// Why.
        why: String,
    },
    /// All agents are suspended, each by an entry of its own; nobody but operators registers another.
    ExchangeSuspended {
        /// Who says so.
        by: String,
        /// Why.
        why: String,
    },
    /// All agents that were suspended so are resumed, each by an entry of its own.
    ExchangeResumed {
        /// Who says so.
        by: String,
        /// Why.
        why: String,
    },
}

/// Everybody who may not go on, by the id of whom they are instances of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Standings {
    stopped: BTreeMap<String, Stop>,
    /// The order that suspends all agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    everything: Option<Ordered>,
}

impl Stop {
    /// What it comes to without these escalations.
    pub(super) fn without(&self, closed: &[u64]) -> Standing {
        let left = self.alarms.iter().filter(|(alarm, _)| !closed.contains(alarm)).map(|(_, standing)| *standing);
        let ordered = self.ordered.as_ref().map(|_| Standing::Suspended);
        left.chain(ordered).max().unwrap_or_default()
    }

    /// What it comes to without the operator's order.
    pub(super) fn without_order(&self) -> Standing {
        self.alarms.values().copied().max().unwrap_or_default()
    }
}

impl Standings {
    /// How an agent stands.
    pub fn of(&self, agent: &Agent) -> Standing {
        self.stop(family(agent)).map_or(Standing::Running, |stop| stop.without(&[]))
    }

    /// Why an agent, or those it is an instance of, may not go on.
    pub fn stop(&self, family: &str) -> Option<&Stop> {
        self.stopped.get(family)
    }

    /// The order that suspends all agents, while it lasts.
    pub fn everything(&self) -> Option<&Ordered> {
        self.everything.as_ref()
    }

    /// How many may not go on; an agent and its instances are one.
    pub fn stopped_len(&self) -> usize {
        self.stopped.values().filter(|stop| stop.without(&[]) != Standing::Running).count()
    }

    pub(super) fn apply(&mut self, at: At, change: &Change) {
        match change {
            Change::Suspended { agent, by, why, scope } => {
                let ordered = Ordered { by: by.clone(), why: why.clone(), at: at.at, scope: *scope };
                self.stopped.entry(agent.clone()).or_default().ordered = Some(ordered);
            }
            Change::Resumed { agent, .. } => self.change(agent, |stop| stop.ordered = None),
            Change::ExchangeSuspended { by, why } => {
                let ordered = Ordered { by: by.clone(), why: why.clone(), at: at.at, scope: StopScope::All };
                self.everything = Some(ordered);
            }
            Change::ExchangeResumed { .. } => self.everything = None,
        }
    }

    pub(super) fn stopping(&mut self, Stopping { agent, alarm, by }: Stopping) {
        match by {
            Some(severity) => {
                self.stopped.entry(agent).or_default().alarms.insert(alarm, Standing::after(severity));
            }
            None => self.change(&agent, |stop| {
                stop.alarms.remove(&alarm);
            }),
        }
    }

    fn change(&mut self, agent: &str, change: impl FnOnce(&mut Stop)) {
        let Some(stop) = self.stopped.get_mut(agent) else { return };
        change(stop);
        if *stop == Stop::default() {
            self.stopped.remove(agent);
        }
    }

    pub(super) fn forget(&mut self, agent: &str) {
        self.stopped.remove(agent);
    }
}

/// Whom an agent stands and falls with: whom it is an instance of, or itself.
pub(crate) fn family(agent: &Agent) -> &str {
    agent.instance_of.as_deref().unwrap_or(&agent.id)
}

/// The one an agent is, and all its instances.
pub(super) fn members<'r>(registry: &'r Registry, family: &'r str) -> impl Iterator<Item = &'r Agent> {
    registry.agent(family).into_iter().chain(registry.instances(family))
}

/// The first above an agent that is not one of its own instances' kind.
pub(super) fn above<'r>(registry: &'r Registry, agent: &'r Agent) -> Option<&'r Agent> {
    line(registry, agent).find(|other| family(other) != family(agent))
}

/// Everybody above an agent, from the next on.
pub(super) fn line<'r>(registry: &'r Registry, agent: &'r Agent) -> impl Iterator<Item = &'r Agent> {
    registry.above(agent)
}

/// Whether an agent may do more than speak: register and remove others, hand tasks over again.
pub(crate) fn may_act(state: &State, agent: &str) -> Result<(), Rejection> {
    let standing = state.registry.agent(agent).map_or(Standing::Running, |agent| state.rules.vcp.standing.of(agent));
    match standing {
        Standing::Running => Ok(()),
        Standing::Paused => Err(paused()),
        Standing::Suspended => Err(suspended()),
    }
}

/// Refuses a new agent that no operator registers while all agents are suspended: it would go on in their place.
pub(crate) fn check_newcomer(state: &State, who: &Who) -> Result<(), Rejection> {
    if who.is_operator() || state.rules.vcp.standing.everything().is_none() {
        return Ok(());
    }
    let message = "all agents are suspended: until an operator resumes them, only an operator registers another";
    Err(Rejection::because(Code::AgentSuspended, message))
}

/// Whether an agent may order something beside messages now.
pub(crate) fn may_order(state: &State, agent: &str, begins: bool) -> Result<(), Rejection> {
    may_act(state, agent).or_else(|refusal| match refusal.code() {
        Code::AgentPaused if !begins => Ok(()),
        _ => Err(refusal),
    })
}

/// Whether what an agent said before may be handed on now.
pub(crate) fn may_be_heard(state: &State, agent: &Agent) -> Result<(), Rejection> {
    match state.rules.vcp.standing.of(agent) {
        Standing::Running | Standing::Paused => Ok(()),
        Standing::Suspended => Err(suspended()),
    }
}

/// Whether the sender may speak at all now.
pub(super) fn may_speak(case: &Case<'_>) -> Result<(), Rejection> {
    let Some(agent) = case.speaker.agent() else { return Ok(()) };
    match case.state.rules.vcp.standing.of(agent) {
        Standing::Running => Ok(()),
        Standing::Paused if Does::of(case.received.message()) == Does::Finishes => Ok(()),
        Standing::Paused => Err(paused()),
        Standing::Suspended => Err(suspended()),
    }
}

fn paused() -> Rejection {
    let message = "this agent is paused by an open escalation: it finishes what it has begun, and begins nothing";
    Rejection::because(Code::AgentPaused, message).by("VCP 6.3")
}

fn suspended() -> Rejection {
    let message = "this agent is suspended: it says nothing until the one above it, or an operator, lets it go on";
    Rejection::because(Code::AgentSuspended, message).by("VCP 6.3")
}

/// What agents raised is over when they are removed, and whoever stands above them is told.
pub(crate) fn leave(state: &State, policy: &Policy, gone: &[&Agent], by: &str) -> Ruling {
    let mut ruling = Ruling::default();
    for agent in gone {
        let open: Vec<_> = state.rules.vcp.alarms.of(&agent.id).map(|(alarm, _)| alarm).collect();
        if open.is_empty() {
            continue;
        }
        let why = format!("{by} removed {}, and its open escalations are closed.", agent.id);
        if let Some(up) = above(&state.registry, agent) {
            ruling.tell(policy, up, "escalation_closed", why.clone());
        }
        // Whoever is left of its instances may go on; what the gone themselves said does not.
        if gone.iter().all(|other| other.id != family(agent)) {
            super::resume::close(state, policy, family(agent), &open, by, why, &mut ruling);
        }
    }
    ruling.heard.retain(|heard| gone.iter().all(|agent| agent.id != heard.to));
    ruling
}

/// What follows when an agent comes to stand otherwise: what it said and nobody has yet is taken back or goes
/// on, and it and whoever stands above it are told.
pub(super) struct Turn<'t> {
    pub(super) state: &'t State,
    pub(super) policy: &'t Policy,
    /// Whom it is about, with instances.
    pub(super) family: &'t str,
    pub(super) before: Standing,
    pub(super) after: Standing,
    /// Why, in words of ours.
    pub(super) why: String,
}

impl Turn<'_> {
    pub(super) fn follow(self, ruling: &mut Ruling) {
        if self.is_one() {
            self.hold(ruling);
            self.tell_members(ruling);
            self.tell_parent(ruling);
        }
    }

    /// Whether anything changes.
    pub(super) fn is_one(&self) -> bool {
        self.before != self.after
    }

    /// Holds back what the agent said and nobody has yet, or lets it go on.
    pub(super) fn hold(&self, ruling: &mut Ruling) {
        let Turn { state, family, before, after, .. } = *self;
        let lifts = Lifter::Resume(family.to_owned());
        if after == Standing::Suspended {
            let code = Code::AgentSuspended.as_str().to_owned();
            let reason = Reason { code, says: format!("{family} is suspended"), lifts };
            for agent in members(&state.registry, family) {
                let (which, reason) = (Which::From(agent.since), reason.clone());
                ruling.change(hold::Change::Frozen { which, reason }.into());
            }
        } else if before == Standing::Suspended {
            ruling.change(hold::Change::Thawed { lifts }.into());
        }
    }

    /// Tells the agent and its instances.
    pub(super) fn tell_members(&self, ruling: &mut Ruling) {
        let Turn { state, policy, family, after, why, .. } = self;
        for agent in members(&state.registry, family) {
            ruling.tell(policy, agent, after.code(), format!("You are {}. {why}", after.as_str()));
        }
    }

    /// Tells whoever stands above the agent.
    pub(super) fn tell_parent(&self, ruling: &mut Ruling) {
        let Turn { state, policy, family, after, why, .. } = self;
        let parent = state.registry.agent(family).and_then(|agent| above(&state.registry, agent));
        if let Some(parent) = parent {
            ruling.tell(policy, parent, after.code(), format!("{family} is {}. {why}", after.as_str()));
        }
    }
}
