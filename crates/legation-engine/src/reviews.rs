//! What waits for a person, and what they say of it.

use crate::exchange::{Error, Exchange};
use legation_exchange::rules::hold::{Hold, Review};
use legation_exchange::rules::scan::SUSPECTED;
use legation_exchange::{Accepted, Directive, Effect, Input, Moment, Verdict, Who};

/// Which reviews come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReviewOrder {
    /// What waits longest.
    #[default]
    Oldest,
    /// What came last.
    Newest,
    /// What may steer its reader, then what its sender wants a person for; of equals, what has to be decided soonest.
    Urgent,
}

/// How soon a person should look at it, the least first.
fn rank(hold: &Hold) -> u8 {
    let has = |code: &str| hold.reasons.iter().any(|reason| reason.code == code);
    match (has(SUSPECTED), has("declared_review") || has("gate_fail")) {
        (true, _) => 0,
        (false, true) => 1,
        (false, false) => 2,
    }
}

/// A message that waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Reviewed {
    /// The entry that holds the message, which is the review's id.
    pub id: u64,
    /// Why it waits, since when, until when.
    pub hold: Hold,
    /// What came of the message.
    pub accepted: Accepted,
    /// When it was taken.
    pub received_at: Moment,
    /// The message as it was sent; nothing if it is gone.
    pub bytes: Option<Box<[u8]>>,
}

impl Exchange {
    /// What waits for a person, in an order, behind the review with an id; the most urgent from the first on.
    pub fn reviews(&self, order: ReviewOrder, after: Option<u64>, limit: usize) -> Result<Vec<Reviewed>, Error> {
        let waiting: Vec<_> = {
            let state = self.state();
            let mut waiting: Vec<_> = state.rules().holds.iter().filter(|(_, hold)| hold.is_review()).collect();
            match order {
                ReviewOrder::Oldest => waiting.retain(|(id, _)| after.is_none_or(|after| *id > after)),
                ReviewOrder::Newest => {
                    waiting.retain(|(id, _)| after.is_none_or(|after| *id < after));
                    waiting.reverse();
                }
                ReviewOrder::Urgent => {
                    waiting.sort_by_key(|(id, hold)| (rank(hold), hold.until.is_none(), hold.until, *id));
                }
            }
            waiting.into_iter().take(limit).map(|(id, hold)| (id, hold.clone())).collect()
        };
        let read = waiting.into_iter().map(|(id, hold)| self.waiting_at(id, hold));
        read.filter_map(Result::transpose).collect()
    }

    /// The review with this id.
    pub fn review_at(&self, id: u64) -> Result<Option<Reviewed>, Error> {
        let hold = self.state().rules().holds.get(id).filter(|hold| hold.is_review()).cloned();
        hold.map_or(Ok(None), |hold| self.waiting_at(id, hold))
    }

    /// How much waits for a person.
    pub fn reviews_waiting(&self) -> usize {
        self.state().rules().holds.iter().filter(|(_, hold)| hold.is_review()).count()
    }

    /// Says what becomes of a held message.
    pub async fn review(&self, review: Review, who: Who) -> Result<Verdict, Error> {
        self.order(Directive::Review(review), who).await
    }

    /// Asks for something that the rules leave to people, or to agents beside messages.
    pub async fn order(&self, order: Directive, who: Who) -> Result<Verdict, Error> {
        self.ask(Input::Order { order: Box::new(order), who }).await
    }

    fn waiting_at(&self, id: u64, hold: Hold) -> Result<Option<Reviewed>, Error> {
        let Some(entry) = self.entry(id)? else { return Ok(None) };
        let Effect::Accepted(accepted) = entry.effect else { return Ok(None) };
        Ok(Some(Reviewed { id, hold, accepted, received_at: entry.at, bytes: entry.body }))
    }
}
