//! Why agents stand still: by whose word, since when, and what they gave as their reason.

use crate::exchange::{Error, Exchange};
use legation_exchange::{Agent, Moment, Who};
use serde_json::Value;

/// Why an agent stands still.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Brake {
    /// Who stopped it: an operator, or the agent that escalated.
    pub by: String,
    /// Since when.
    pub since: Moment,
    /// What they gave as their reason, if it is still here.
    pub why: Option<String>,
    /// The entry that holds the escalation, where one stops it.
    pub escalation: Option<u64>,
}

impl Exchange {
    /// Why an agent stands still; nothing while it may go on. An operator's order comes before escalations, and
    /// of those what came first of the gravest.
    pub fn brake(&self, agent: &Agent) -> Result<Option<Brake>, Error> {
        let found = {
            let state = self.state();
            let family = agent.instance_of.as_deref().unwrap_or(&agent.id);
            let Some(stop) = state.rules().vcp.standing.stop(family) else { return Ok(None) };
            if let Some(ordered) = &stop.ordered {
                let (by, why) = (ordered.by.clone(), Some(ordered.why.clone()));
                return Ok(Some(Brake { by, since: ordered.at, why, escalation: None }));
            }
            let gravest = stop.alarms.values().max();
            let first = stop.alarms.iter().find(|(_, standing)| Some(*standing) == gravest);
            first.and_then(|(position, _)| Some((*position, state.rules().vcp.alarms.get(*position)?.clone())))
        };
        let Some((position, alarm)) = found else { return Ok(None) };
        let (by, why) = (Who::Agent(alarm.from).to_string(), self.reason_of(position)?);
        Ok(Some(Brake { by, since: alarm.at, why, escalation: Some(position) }))
    }

    /// What an escalation gives as its reason, by the entry that holds it; what the exchange raised because of a
    /// message is that message.
    pub fn reason_of(&self, escalation: u64) -> Result<Option<String>, Error> {
        let Some(body) = self.entry(escalation)?.and_then(|entry| entry.body) else { return Ok(None) };
        let said: Value = serde_json::from_slice(&body).map_err(|_| Error::Entry { position: escalation })?;
        let reason = said.pointer("/payload/reason").or_else(|| said.get("content"));
        Ok(reason.and_then(Value::as_str).map(str::to_owned))
    }
}
