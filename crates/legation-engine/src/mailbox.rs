//! Reading a mailbox: listing, and waiting for something to list.

use crate::exchange::{Error, Exchange};
use legation_exchange::record::Receipt;
use legation_exchange::{Accepted, Agent, Effect, Mailbox, Moment, PRINCIPALS};
use std::pin::pin;
use std::time::Duration;

/// A message in a mailbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// What to acknowledge.
    pub position: u64,
    /// The message as it was sent.
    pub bytes: Box<[u8]>,
    /// When it was taken.
    pub received_at: Moment,
    /// SHA-256 of its canonical form.
    pub digest: String,
    /// That it was taken, signed by the exchange.
    pub receipt: Receipt,
    /// The trace it was sent in.
    pub trace: Option<String>,
}

/// How much waits in all mailboxes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// How many mailboxes there are.
    pub mailboxes: usize,
    /// Messages in all of them.
    pub total: usize,
    /// Messages in the one that has most.
    pub largest: usize,
}

impl Exchange {
    /// What waits for an agent beyond `after`, at most `limit` messages. With nothing there yet,
    /// waits up to `wait` for the next commit that brings something. Listing never acknowledges.
    pub async fn inbox(
        &self,
        agent: &str,
        after: Option<u64>,
        limit: usize,
        wait: Duration,
    ) -> Result<Vec<Delivery>, Error> {
        // Whoever gets the name while somebody waits under it is another.
        let since = self.agent_since(agent);
        let list = || if self.agent_since(agent) == since { self.listed(agent, after, limit) } else { Vec::new() };
        let found = list();
        if !found.is_empty() || wait.is_zero() {
            return self.deliveries(&found);
        }
        let place = self.arrivals.wait_for(agent);
        let arrives = async {
            loop {
                let mut rings = pin!(place.bell.notified());
                // From here on a bell is heard, so that nothing arrives between looking and waiting.
                rings.as_mut().enable();
                let found = list();
                if !self.is_running() {
                    return found;
                }
                if !found.is_empty() {
                    return found;
                }
                rings.await;
            }
        };
        let found = tokio::time::timeout(wait, arrives).await.unwrap_or_default();
        self.deliveries(&found)
    }

    /// How much waits in all mailboxes.
    pub fn waiting(&self) -> Waiting {
        let state = self.state();
        let owners = state.registry().agents().map(|agent| agent.id.as_str()).chain(PRINCIPALS);
        owners.filter_map(|owner| state.mailbox(owner)).fold(Waiting::default(), |sum, mailbox| Waiting {
            mailboxes: sum.mailboxes + 1,
            total: sum.total + mailbox.len(),
            largest: sum.largest.max(mailbox.len()),
        })
    }

    /// The first agents by id, at most so many, each with how much waits for it; and how many there are.
    pub fn roster(&self, most: usize) -> (Vec<(Agent, usize)>, usize) {
        let state = self.state();
        let waiting = |agent: &Agent| state.mailbox(&agent.id).map_or(0, Mailbox::len);
        let agents = state.registry().agents().take(most).map(|agent| (agent.clone(), waiting(agent)));
        (agents.collect(), state.registry().len())
    }

    fn agent_since(&self, agent: &str) -> Option<u64> {
        self.state().registry().agent(agent).map(|agent| agent.since)
    }

    fn listed(&self, agent: &str, after: Option<u64>, limit: usize) -> Vec<(u64, u64)> {
        let state = self.state();
        let Some(mailbox) = state.mailbox(agent) else { return Vec::new() };
        mailbox.after(after).take(limit).map(|item| (item.position, item.message)).collect()
    }

    fn deliveries(&self, found: &[(u64, u64)]) -> Result<Vec<Delivery>, Error> {
        found.iter().filter_map(|(position, message)| self.delivery(*position, *message).transpose()).collect()
    }

    /// Nothing if it was erased since it was listed.
    fn delivery(&self, position: u64, message: u64) -> Result<Option<Delivery>, Error> {
        let frame = self.frame(message)?.ok_or(Error::Entry { position: message })?;
        if self.is_erased(message) {
            return Ok(None);
        }
        let receipt = self.notary.again(&frame)?;
        let effect = serde_json::from_slice(&frame.effect).map_err(|_| Error::Entry { position: message })?;
        let (Effect::Accepted(accepted), Some(body)) = (effect, frame.body.into_here()) else {
            return Err(Error::Entry { position: message });
        };
        let received_at = Moment::from_micros(frame.at);
        let Accepted { digest, trace, .. } = accepted;
        Ok(Some(Delivery { position, bytes: body.into(), received_at, digest, receipt, trace }))
    }
}
