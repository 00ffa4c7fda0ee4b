//! Why an agent stands still, as it is told.

use legation_engine::Exchange;
use legation_exchange::Agent;
use serde::Serialize;

#[derive(Debug, Serialize)]
pub(crate) struct Stopped {
    by: String,
    since: String,
    reason: Option<String>,
    /// The entry that holds the escalation, where one stops it.
    escalation: Option<u64>,
}

impl Stopped {
    /// Nothing while it may go on. A record that cannot be read is for others to tell.
    pub(crate) fn of(agent: &Agent, exchange: &Exchange) -> Option<Stopped> {
        let brake = exchange.brake(agent).ok().flatten()?;
        let (by, since) = (brake.by, brake.since.to_string());
        Some(Stopped { by, since, reason: brake.why, escalation: brake.escalation })
    }
}
