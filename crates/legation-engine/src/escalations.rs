//! Escalations and whether agents may go on: who sees what of them, and what operators do about them.

use crate::exchange::{Error, Exchange};
use legation_exchange::rules::vcp::{Alarm, Order, Standing, StopMany};
use legation_exchange::{Agent, Directive, Input, State, Verdict, Who};
use std::collections::BTreeSet;
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

/// Which escalations are wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Escalations<'e> {
    /// Only those this agent raised.
    pub agent: Option<&'e str>,
    /// Also the last that are closed.
    pub closed: bool,
    /// Only those beyond this position, in the order asked for.
    pub after: Option<u64>,
    /// The newest first.
    pub newest: bool,
    /// How many at most.
    pub limit: usize,
}

impl Escalations<'_> {
    fn is_beyond(&self, position: u64, after: u64) -> bool {
        if self.newest { position < after } else { position > after }
    }
}

/// How an agent and its instances stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turned {
    /// Which.
    pub agent: String,
    /// Whether they may go on.
    pub standing: Standing,
    /// The open escalations that stop them, oldest first.
    pub escalations: Vec<String>,
}

/// Agents that may go on no longer, or again, as it happens.
#[derive(Debug)]
pub struct Turns(broadcast::Receiver<String>);

impl Turns {
    /// The next; nothing where some were missed. Waits for ever once there will be none.
    pub async fn next(&mut self) -> Option<String> {
        match self.0.recv().await {
            Ok(agent) => Some(agent),
            Err(RecvError::Lagged(_)) => None,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

impl Exchange {
    /// Escalations by the entry that holds each, in the order asked for: for an agent those it raised or was
    /// told of.
    pub fn escalations(&self, who: &Who, wanted: &Escalations<'_>) -> Vec<(u64, Alarm)> {
        let state = self.state();
        let alarms = &state.rules().vcp.alarms;
        let closed = alarms.closed().filter(|_| wanted.closed);
        let mut found: Vec<_> = alarms
            .open()
            .chain(closed)
            .filter(|(position, _)| wanted.after.is_none_or(|after| wanted.is_beyond(*position, after)))
            .filter(|(_, alarm)| wanted.agent.is_none_or(|agent| agent == alarm.from))
            .filter(|(position, alarm)| sees(&state, who, *position, alarm))
            .collect();
        found.sort_unstable_by_key(|(position, _)| if wanted.newest { u64::MAX - *position } else { *position });
        found.into_iter().take(wanted.limit).map(|(position, alarm)| (position, alarm.clone())).collect()
    }

    /// Whether an agent may go on. Nobody keeps those from it that are no agents.
    pub fn standing(&self, agent: &str) -> Standing {
        let state = self.state();
        state.registry().agent(agent).map(|agent| state.rules().vcp.standing.of(agent)).unwrap_or_default()
    }

    /// Hears of agents that may go on no longer, or again.
    pub fn turns(&self) -> Turns {
        Turns(self.arrivals.stopped())
    }

    /// How those with this id stand, for an agent that is one of them or stands above them.
    pub fn turned(&self, agent: &str, family: &str) -> Option<Turned> {
        let state = self.state();
        let own = state.registry().agent(agent)?;
        let base = state.registry().agent(family)?;
        if family_of(own) != family && base.parent.as_deref() != Some(agent) {
            return None;
        }
        let stop = state.rules().vcp.standing.stop(family);
        let alarms = stop.into_iter().flat_map(|stop| stop.alarms.keys());
        let alarms = alarms.filter_map(|position| state.rules().vcp.alarms.get(*position));
        let escalations = alarms.map(|alarm| alarm.id.clone()).collect();
        Some(Turned { agent: family.to_owned(), standing: state.rules().vcp.standing.of(base), escalations })
    }

    /// The same for the agent itself.
    pub fn own_turn(&self, agent: &str) -> Option<Turned> {
        let family = self.state().registry().agent(agent).map(|agent| family_of(agent).to_owned())?;
        self.turned(agent, &family)
    }

    /// The same for the agent itself and all it stands above, for whoever missed which of them has turned.
    pub fn all_turned(&self, agent: &str) -> Vec<Turned> {
        let families: BTreeSet<_> = {
            let state = self.state();
            let Some(own) = state.registry().agent(agent) else { return Vec::new() };
            let below = state.registry().below(agent);
            std::iter::once(family_of(own)).chain(below.map(family_of)).map(str::to_owned).collect()
        };
        families.iter().filter_map(|family| self.turned(agent, family)).collect()
    }

    /// Acknowledges an escalation, by its message id or the entry that holds it, in the name of an operator or of whoever
    /// was told.
    pub async fn acknowledge_escalation(&self, escalation: &str, who: Who) -> Result<Verdict, Error> {
        self.order_vcp(Order::Acknowledge { escalation: escalation.to_owned() }, who).await
    }

    /// Lets an agent say nothing any more.
    pub async fn suspend(&self, agent: &str, why: String, who: Who) -> Result<Verdict, Error> {
        self.order_vcp(Order::Suspend { agent: agent.to_owned(), why }, who).await
    }

    /// Lets an agent go on from an escalation; an operator who names none, from all.
    pub async fn resume(
        &self,
        agent: &str,
        escalation: Option<String>,
        why: String,
        who: Who,
    ) -> Result<Verdict, Error> {
        self.order_vcp(Order::Resume { agent: agent.to_owned(), escalation, why }, who).await
    }

    /// Suspends an agent and all below it, or all agents, in one commit; or resumes them.
    pub async fn stop_many(&self, order: StopMany, who: Who) -> Result<Verdict, Error> {
        self.order_vcp(Order::Many(order), who).await
    }

    async fn order_vcp(&self, order: Order, who: Who) -> Result<Verdict, Error> {
        self.ask(Input::Order { order: Box::new(Directive::Vcp(order)), who }).await
    }
}

fn family_of(agent: &Agent) -> &str {
    agent.instance_of.as_deref().unwrap_or(&agent.id)
}

/// Whoever has a name now does not see what was raised before they had it.
fn sees(state: &State, who: &Who, position: u64, alarm: &Alarm) -> bool {
    match who {
        Who::Person { .. } => who.sees_all(),
        Who::Agent(id) => {
            let is_party = alarm.from == *id || alarm.told.iter().any(|told| told.to.as_ref() == Some(id));
            is_party && state.registry().agent(id).is_some_and(|agent| agent.since < position)
        }
        Who::Nobody => false,
    }
}
