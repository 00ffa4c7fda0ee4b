//! One agent's endpoint, which fails now and then, and the route there. A process that ends takes its route
//! and what it had not yet written down with it.

use super::World;
use super::asking::Ask;
use legation_exchange::{Event, Lost, Order, Outcome, Pushed, Route};
use std::time::Duration;

/// Whose messages are pushed.
pub(crate) const PUSHED: &str = "eve";

/// What the running exchange knows of its way to the endpoint.
#[derive(Debug, Default)]
pub(super) struct Way {
    route: Route,
    notes: Pushed,
    now: Duration,
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
            let waits = |mailbox: &legation_exchange::Mailbox| {
                mailbox.pushable(position.checked_sub(1)).next().is_some_and(|item| item.position == position)
            };
            if self.ledger()?.state().mailbox(PUSHED).is_some_and(waits) {
                self.attempt(position);
            } else {
                self.way.route.after(Event::Gone { position }, now);
            }
        }
        let (cursor, room) = (self.way.route.cursor(), self.way.route.room(now));
        let mailbox = self.ledger()?.state().mailbox(PUSHED);
        let next: Vec<_> = mailbox.into_iter().flat_map(|mailbox| mailbox.pushable(cursor).take(room)).collect();
        for item in next {
            if let Some(Order::Post { position, .. }) =
                self.way.route.after(Event::Offered { position: item.position }, now)
            {
                self.attempt(position);
            }
        }
        let notes = Pushed { agent: PUSHED.to_owned(), ..self.way.notes.clone() };
        Ok((!notes.is_empty()).then_some(Ask::Pushed(notes)))
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
