//! Taking from a mailbox as things arrive. A feed holds no queue: it is a place in the record and a bell, so
//! one that is slow costs nobody anything. One mailbox has one taker, and the last who comes is it.

use crate::arrivals::Place;
use crate::exchange::{Error, Exchange};
use crate::mailbox::Delivery;
use crate::outgoing::Receipts;
use crate::standing::Standing;
use legation_protocol::{Code, Rejection};
use std::pin::pin;

/// The most messages given at once.
const PAGE: usize = 32;
/// The bytes after which no more are added to them.
const ENOUGH: usize = 256 << 10;

/// Whoever takes from a mailbox, until this is dropped or another comes.
pub struct Feed {
    exchange: Exchange,
    place: Place,
    agent: String,
    /// The entry that registered the agent: whoever gets its name later is another.
    since: Option<u64>,
    standing: Standing,
    after: Option<u64>,
    receipts: Receipts,
}

/// Why a feed gives no more.
#[derive(Debug)]
pub enum End {
    /// Another takes from the mailbox now.
    Fenced,
    /// Who took from it may no longer.
    Barred(Rejection),
    /// The exchange has stopped, or cannot read its record.
    Failed(Error),
}

impl Exchange {
    /// Takes from an agent's mailbox what lies beyond `after`, in place of whoever did so before. Receipts that are too
    /// large for a header are left out, since each of very many would get one that names them all.
    pub fn consume(&self, agent: &str, after: Option<u64>, standing: Standing) -> Feed {
        Feed {
            place: self.arrivals.take_turn(agent),
            since: self.agent_since(agent),
            exchange: self.clone(),
            agent: agent.to_owned(),
            standing,
            after,
            receipts: Receipts::Small,
        }
    }
}

impl Feed {
    /// The same with all receipts.
    #[must_use]
    pub fn with_receipts(self) -> Feed {
        Feed { receipts: Receipts::All, ..self }
    }

    /// The next messages, oldest first; waits until there are some. What was given is not acknowledged by
    /// that. Nothing is lost when this is dropped while it waits.
    pub async fn next(&mut self) -> Result<Vec<Delivery>, End> {
        loop {
            let mut rings = pin!(self.place.bell().notified());
            // From here on a bell is heard, so that nothing arrives between looking and waiting.
            rings.as_mut().enable();
            self.check()?;
            let found = self.exchange.first_of(&self.agent, self.after, PAGE, ENOUGH, self.receipts);
            let found = found.map_err(End::Failed)?;
            if let Some(last) = found.last() {
                self.after = Some(last.position);
                return Ok(found);
            }
            rings.await;
        }
    }

    /// Makes sure that it may go on.
    pub fn check(&self) -> Result<(), End> {
        if !self.exchange.is_running() {
            return Err(End::Failed(Error::Closed));
        }
        if self.exchange.agent_since(&self.agent) != self.since {
            return Err(End::Barred(Rejection::because(Code::UnknownAgent, "there is no such agent any more")));
        }
        self.exchange.may_still_take(&self.agent, &self.standing).map_err(End::Barred)?;
        if self.place.is_fenced() { Err(End::Fenced) } else { Ok(()) }
    }

    /// Goes on behind this position.
    pub fn resume(&mut self, after: Option<u64>) {
        self.after = after;
    }

    /// What was given last.
    pub fn after(&self) -> Option<u64> {
        self.after
    }
}
