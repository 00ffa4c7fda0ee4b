//! Reading a mailbox.

use crate::exchange::{Error, Exchange};
use crate::outgoing::Receipts;
use crate::receipt::Receipted;
use legation_exchange::rules::Ruled;
use legation_exchange::{Agent, Epoch, Mailbox, Moment, PRINCIPALS};
use legation_protocol::Format;

/// A message in a mailbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// What to acknowledge.
    pub position: u64,
    /// Its dialect.
    pub dialect: Format,
    /// The message as it was sent.
    pub bytes: Box<[u8]>,
    /// When it was taken.
    pub received_at: Moment,
    /// SHA-256 of its canonical form.
    pub digest: String,
    /// That it was taken, signed by the exchange.
    pub receipt: Receipted,
    /// The trace it was sent in.
    pub trace: Option<String>,
    /// The epoch the position is counted in: the record's newest.
    pub epoch: Epoch,
    /// What the rules made of it.
    pub ruled: Box<Ruled>,
    /// The decision by which it was released, if it was held and somebody decided.
    pub review: Option<Box<DeliveredReview>>,
}

/// The decision by which a delivered message was released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredReview {
    /// `approve`.
    pub decision: String,
    /// Who decided; a person's role where names are not shown.
    pub by: String,
    /// When it was released.
    pub at: Moment,
    /// The entry that released it.
    pub entry: u64,
    /// The exchange's receipt over that entry.
    pub receipt: Receipted,
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
    /// What waits for an agent beyond `after`, at most `limit` messages. Listing never acknowledges, and
    /// takes nobody's turn.
    pub fn inbox(&self, agent: &str, after: Option<u64>, limit: usize) -> Result<Vec<Delivery>, Error> {
        self.first_of(agent, after, limit, usize::MAX, Receipts::All)
    }

    /// The same, until it comes to so many bytes.
    pub fn inbox_up_to(
        &self,
        agent: &str,
        after: Option<u64>,
        limit: usize,
        enough: usize,
    ) -> Result<Vec<Delivery>, Error> {
        self.first_of(agent, after, limit, enough, Receipts::All)
    }

    /// The same with the most urgent first, until it comes to so many bytes. There is nothing beyond: what
    /// comes next is known once these are acknowledged.
    pub fn urgent(&self, agent: &str, limit: usize, enough: usize) -> Result<Vec<Delivery>, Error> {
        let items = self.state().by_urgency(agent, self.stats.record_time(self.wall.steady()));
        let listed = items.into_iter().take(limit).map(|item| (item.position, item.message));
        self.fetched(listed, enough, Receipts::All)
    }

    /// The first of it, until it comes to so many bytes, with these receipts.
    pub(crate) fn first_of(
        &self,
        agent: &str,
        after: Option<u64>,
        limit: usize,
        enough: usize,
        receipts: Receipts,
    ) -> Result<Vec<Delivery>, Error> {
        let mut after = after;
        loop {
            let listed = self.listed(agent, after, limit);
            let Some(last) = listed.last() else { return Ok(Vec::new()) };
            after = Some(last.0);
            let page = self.fetched(listed.into_iter(), enough, receipts)?;
            // What all was erased since it was listed is no end: more may lie behind it.
            if !page.is_empty() {
                return Ok(page);
            }
        }
    }

    fn fetched(
        &self,
        listed: impl Iterator<Item = (u64, u64)>,
        enough: usize,
        receipts: Receipts,
    ) -> Result<Vec<Delivery>, Error> {
        let (mut page, mut bytes) = (Vec::new(), 0);
        for (position, message) in listed {
            if bytes >= enough {
                break;
            }
            let Some(delivery) = self.delivery(position, message, receipts)? else { continue };
            // The receipt of what many were sent names all of them.
            bytes += delivery.bytes.len() + delivery.receipt.weight();
            page.push(delivery);
        }
        Ok(page)
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

    /// How much waits for an agent.
    pub fn waiting_for(&self, agent: &str) -> usize {
        self.state().mailbox(agent).map_or(0, Mailbox::len)
    }

    pub(crate) fn agent_since(&self, agent: &str) -> Option<u64> {
        self.state().registry().agent(agent).map(|agent| agent.since)
    }

    fn listed(&self, agent: &str, after: Option<u64>, limit: usize) -> Vec<(u64, u64)> {
        let state = self.state();
        let Some(mailbox) = state.mailbox(agent) else { return Vec::new() };
        mailbox.after(after).take(limit).map(|item| (item.position, item.message)).collect()
    }

    /// Nothing if it was erased since it was listed, or is while it is read.
    fn delivery(&self, position: u64, message: u64, receipts: Receipts) -> Result<Option<Delivery>, Error> {
        if self.is_erased(message) {
            return Ok(None);
        }
        match self.outgoing.deliver(position, message, receipts) {
            Err(_) if self.is_erased(message) => Ok(None),
            delivered => delivered.map(Some),
        }
    }
}
