//! What waits for a person, as it changes, for those who decide and those who look on: how much, and that it is
//! another than before. Nothing of what it is: that is asked for.

use super::beat::{self, Teller, event};
use super::counts::USER;
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::{Shared, since_1970};
use crate::standing::Basis;
use axum::extract::State;
use axum::response::Response;
use legation_engine::Error;
use legation_exchange::{Moment, Who};
use serde::Serialize;
use std::sync::Arc;

/// `GET /v1/feed/reviews`
pub(crate) async fn open(State(shared): State<Arc<Shared>>, caller: Caller, basis: Basis) -> Result<Response, Refusal> {
    caller.may_see_reviews()?;
    Ok(beat::stream(shared, basis, Waiting { last: None }))
}

/// What waits for a person.
struct Waiting {
    /// What was told last: reviews and what is so of them, sessions, questions.
    last: Option<((usize, u64), usize, usize)>,
}

#[derive(Serialize)]
struct Told {
    at: String,
    waiting: usize,
    /// Sessions that are halted until a person lets them go on.
    halted: usize,
    /// What waits in the mailbox of people.
    questions: usize,
    /// Whether it is another than what was told before.
    changed: bool,
}

impl Teller for Waiting {
    fn is_for(who: Who) -> bool {
        Caller(who).may_see_reviews().is_ok()
    }

    async fn tell(&mut self, shared: &Shared, is_full: bool, text: &mut Vec<u8>) -> Result<(), Error> {
        let exchange = &shared.exchange;
        let now = (exchange.reviews_mark(), exchange.sessions_halted(), exchange.waiting_for(USER));
        let changed = self.last.replace(now) != Some(now);
        if is_full || changed {
            let at = Moment::from_micros(u64::try_from(since_1970().as_micros()).unwrap_or(u64::MAX)).to_string();
            let ((waiting, _), halted, questions) = now;
            event(text, "reviews", None, &Told { at, waiting, halted, questions, changed });
        }
        Ok(())
    }
}
