//! One agent's endpoint, which fails now and then, and the route there. A process that ends takes its route
//! and what it had not yet written down with it.

use super::World;
use super::asking::Ask;
use crate::house::PUSHED;
use legation_exchange::{Event, Lost, Order, Outcome, Pushed, Route, Standing};
use std::time::Duration;

/// What the running exchange knows of its way to the endpoint.
#[derive(Debug, Default)]
pub(super) struct Way {
    route: Route,
    notes: Pushed,
    now: Duration,
    /// Whether those that were given up are to go once more.
    is_back: bool,
}

impl World {
    /// What is written down is not told again.
    pub(super) fn noted(&mut self) {
        self.way.notes = Pushed::default();
    }

    /// Tries what is due, and asks to write down what came of it.
    pub(super) fn push(&mut self) -> Result<Option<Ask>, String> {
        self.way.now += Duration::from_millis(self.rng.below(4000));
        let now = self.way.now;
        while let Some(Order::Post { position, .. }) = self.way.route.after(Event::Passed, now) {
            if self.waits(position)? {
                self.attempt(position);
            } else {
                self.way.route.after(Event::Gone { position }, now);
            }
        }
        self.go_again()?;
        for _ in 0..self.way.route.room(now) {
            let Some(position) = self.next()? else { break };
            if let Some(Order::Post { .. }) = self.way.route.after(Event::Offered { position }, now) {
                self.attempt(position);
            }
        }
        let notes = Pushed { agent: PUSHED.to_owned(), ..self.way.notes.clone() };
        Ok((!notes.is_empty()).then_some(Ask::Pushed(notes)))
    }

    /// Asks for those to go once more that were given up, and takes those in that do by the record.
    fn go_again(&mut self) -> Result<(), String> {
        let mailbox = self.ledger()?.state().mailbox(PUSHED);
        let standing = |wanted| -> Vec<u64> {
            mailbox.into_iter().flat_map(|mailbox| mailbox.standing(wanted)).map(|item| item.position).collect()
        };
        let (given_up, again) = (standing(Standing::GivenUp), standing(Standing::Again));
        let notes = &self.way.notes;
        let has_ended = |at: u64| notes.delivered.iter().chain(&notes.given_up).any(|tried| tried.position == at);
        let again: Vec<_> = again.into_iter().filter(|at| !self.way.route.has(*at) && !has_ended(*at)).collect();
        for position in again {
            self.way.route.after(Event::Again { position }, self.way.now);
        }
        self.way.is_back |= self.way.route.is_back();
        if self.way.is_back && !self.way.notes.is_turn() {
            self.way.is_back = false;
            self.way.notes.again = given_up;
        }
        Ok(())
    }

    /// What could go now: first what goes once more.
    fn next(&mut self) -> Result<Option<u64>, String> {
        while let Some(position) = self.way.route.next_again() {
            if self.waits(position)? {
                return Ok(Some(position));
            }
            self.way.route.after(Event::Gone { position }, self.way.now);
        }
        let cursor = self.way.route.cursor();
        let mailbox = self.ledger()?.state().mailbox(PUSHED);
        Ok(mailbox.and_then(|mailbox| mailbox.pushable(cursor).next()).map(|item| item.position))
    }

    fn waits(&mut self, position: u64) -> Result<bool, String> {
        let mailbox = self.ledger()?.state().mailbox(PUSHED);
        let first = mailbox.and_then(|mailbox| mailbox.pushable(position.checked_sub(1)).next());
        Ok(first.is_some_and(|item| item.position == position))
    }

    fn attempt(&mut self, position: u64) {
        let outcome = match self.rng.below(10) {
            0..4 => Outcome::Status(200),
            4 => Outcome::Status(404),
            5 => Outcome::Lost(Lost::Broken),
            _ => Outcome::Status(503),
        };
        // An endpoint may take a message and fail to say so.
        if outcome.is_delivered() || outcome == Outcome::Lost(Lost::Broken) {
            self.asked.took.insert(position);
        }
        let jitter = 900 + u32::try_from(self.rng.below(201)).unwrap_or_default();
        let ended = Event::Ended { position, outcome, retry_after: None, jitter };
        if let Some(Order::Note(fate, tried)) = self.way.route.after(ended, self.way.now) {
            self.way.notes.add(fate, tried);
        }
    }
}
