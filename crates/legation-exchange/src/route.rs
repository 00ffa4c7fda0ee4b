//! The way to one agent's endpoint: which message goes when, and when the endpoint is left alone. It holds
//! a place in the mailbox, those before it that go once more and the few that are on their way, never a queue
//! of its own.
//!
//! Times are those of a clock that only rises, as told since the route began.

use crate::push::{Fate, Lost, Outcome, Try};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// A route.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Route {
    /// The last message that was taken from the mailbox.
    cursor: Option<u64>,
    /// Those at or before it that go once more.
    again: BTreeSet<u64>,
    /// Those on their way.
    legs: BTreeMap<u64, Leg>,
    circuit: Circuit,
    life: Life,
}

/// Whether the endpoint has taken anything since one was last given up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Life {
    /// It has not, or nothing is known of it.
    #[default]
    Away,
    /// It just has.
    Back,
    /// It has, and those that were given up were asked for.
    There,
}

/// Where a message is on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leg {
    /// An attempt is being made.
    Tried { number: u8 },
    /// The next attempt waits for its time.
    Waits { number: u8, due: Duration },
}

/// Whether the endpoint is thought to answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Circuit {
    #[default]
    Closed,
    /// All attempts of a message failed. Nothing goes there for a while.
    Open { pause: Duration, until: Duration },
    /// One message finds out.
    Probing { pause: Duration },
}

/// What happens to a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The next message could go.
    Offered {
        /// Where it was routed.
        position: u64,
    },
    /// A message that was taken before goes once more.
    Again {
        /// Where it was routed.
        position: u64,
    },
    /// A message is too old to go, or to be tried again.
    TooOld {
        /// Where it was routed.
        position: u64,
    },
    /// Time passes.
    Passed,
    /// An attempt ended.
    Ended {
        /// Where the message was routed.
        position: u64,
        /// How.
        outcome: Outcome,
        /// How long the endpoint asks to be left alone.
        retry_after: Option<Duration>,
        /// What the time until the next attempt is multiplied by, in thousandths: 900 to 1100.
        jitter: u32,
    },
    /// A message has left the mailbox by another way.
    Gone {
        /// Where it was routed.
        position: u64,
    },
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Make an attempt.
    Post {
        /// Where the message was routed.
        position: u64,
        /// Which attempt, from 1.
        number: u8,
    },
    /// Note an attempt, and what became of the message by it.
    Note(Fate, Try),
}

impl Route {
    /// How many messages may be on their way at a time.
    pub const WINDOW: usize = 16;
    /// How many attempts a message has (VCP 5.2).
    pub const ATTEMPTS: u8 = 4;
    /// How long an endpoint is left alone that does not answer: at first, and at most.
    const PAUSE: Duration = Duration::from_secs(1);
    const LONGEST_PAUSE: Duration = Duration::from_mins(1);

    /// The last message that was taken from the mailbox: the next is the first beyond it.
    pub fn cursor(&self) -> Option<u64> {
        self.cursor
    }

    /// The first of those that go once more.
    pub fn next_again(&self) -> Option<u64> {
        self.again.first().copied()
    }

    /// Whether a message is on its way, or goes once more.
    pub fn has(&self, position: u64) -> bool {
        self.again.contains(&position) || self.legs.contains_key(&position)
    }

    /// Whether the endpoint took something for the first time since one was given up, or since the route began.
    /// It is told once.
    pub fn is_back(&mut self) -> bool {
        let is_back = self.life == Life::Back;
        if is_back {
            self.life = Life::There;
        }
        is_back
    }

    /// How many messages could go now.
    pub fn room(&self, now: Duration) -> usize {
        match self.circuit {
            Circuit::Closed => Route::WINDOW.saturating_sub(self.legs.len()),
            Circuit::Open { until, .. } => usize::from(self.legs.is_empty() && until <= now),
            Circuit::Probing { .. } => 0,
        }
    }

    /// When time alone changes something.
    pub fn due(&self) -> Option<Duration> {
        let legs = self.legs.values().filter_map(|leg| match leg {
            Leg::Waits { due, .. } => Some(*due),
            Leg::Tried { .. } => None,
        });
        let probe = match self.circuit {
            Circuit::Open { until, .. } if self.legs.is_empty() => Some(until),
            Circuit::Open { .. } | Circuit::Closed | Circuit::Probing { .. } => None,
        };
        legs.chain(probe).min()
    }

    /// Takes an event in and says what is to be done. After [`Event::Passed`] there may be more of that:
    /// it is told until nothing is.
    pub fn after(&mut self, event: Event, now: Duration) -> Option<Order> {
        match event {
            Event::Offered { position } => self.offered(position, now),
            Event::Again { position } => {
                self.again(position, now);
                None
            }
            Event::TooOld { position } => {
                if !self.leave(position, now) {
                    self.advance(position)?;
                }
                Some(Order::Note(Fate::GivenUp, Try { position, number: 0, outcome: Outcome::Lost(Lost::TooOld) }))
            }
            Event::Passed => self.passed(now),
            Event::Ended { position, outcome, retry_after, jitter } => {
                let Some(Leg::Tried { number }) = self.legs.get(&position).copied() else { return None };
                let tried = Try { position, number, outcome };
                if outcome.is_retryable() && number < Route::ATTEMPTS {
                    let due = now + wait(number, retry_after, jitter);
                    self.legs.insert(position, Leg::Waits { number: number + 1, due });
                    return Some(Order::Note(Fate::Failed, tried));
                }
                self.learn(outcome, now, jitter);
                Some(Order::Note(self.arrived(position, outcome), tried))
            }
            Event::Gone { position } => {
                self.again.remove(&position);
                self.leave(position, now);
                None
            }
        }
    }

    /// Takes a message off its way, and says whether it was on it. If it was to find out, the next one does.
    fn leave(&mut self, position: u64, now: Duration) -> bool {
        let was_on_it = self.legs.remove(&position).is_some();
        if let (true, Circuit::Probing { pause }) = (was_on_it, self.circuit) {
            self.circuit = Circuit::Open { pause, until: now };
        }
        was_on_it
    }

    /// A message's way has ended. An endpoint that takes something is back.
    fn arrived(&mut self, position: u64, outcome: Outcome) -> Fate {
        self.legs.remove(&position);
        if !outcome.is_delivered() {
            self.life = Life::Away;
            return Fate::GivenUp;
        }
        if self.life == Life::Away {
            self.life = Life::Back;
        }
        Fate::Delivered
    }

    fn offered(&mut self, position: u64, now: Duration) -> Option<Order> {
        if self.room(now) == 0 {
            return None;
        }
        self.advance(position)?;
        if let Circuit::Open { pause, .. } = self.circuit {
            self.circuit = Circuit::Probing { pause };
        }
        self.legs.insert(position, Leg::Tried { number: 1 });
        Some(Order::Post { position, number: 1 })
    }

    /// Takes one in that was taken before. An endpoint that was left alone is not left alone for it.
    fn again(&mut self, position: u64, now: Duration) {
        if self.cursor.is_none_or(|cursor| cursor < position) || self.legs.contains_key(&position) {
            return;
        }
        self.again.insert(position);
        if let Circuit::Open { pause, .. } = self.circuit {
            self.circuit = Circuit::Open { pause, until: now };
        }
    }

    /// Nothing for what was taken already, and does not go once more.
    fn advance(&mut self, position: u64) -> Option<()> {
        if self.again.remove(&position) {
            return Some(());
        }
        if self.cursor.is_some_and(|cursor| position <= cursor) {
            return None;
        }
        self.cursor = Some(position);
        Some(())
    }

    fn passed(&mut self, now: Duration) -> Option<Order> {
        let (position, number) = self.legs.iter().find_map(|(position, leg)| match leg {
            Leg::Waits { number, due } if *due <= now => Some((*position, *number)),
            Leg::Waits { .. } | Leg::Tried { .. } => None,
        })?;
        self.legs.insert(position, Leg::Tried { number });
        Some(Order::Post { position, number })
    }

    /// An endpoint that answers is there, whatever it says; one that failed a message to the last is not.
    fn learn(&mut self, outcome: Outcome, now: Duration, jitter: u32) {
        if matches!(outcome, Outcome::Status(_)) && !outcome.is_retryable() {
            self.circuit = Circuit::Closed;
            return;
        }
        let pause = match self.circuit {
            Circuit::Closed => Route::PAUSE,
            Circuit::Probing { pause } => (pause * 2).min(Route::LONGEST_PAUSE),
            // Another that was on its way when the first was given up.
            Circuit::Open { .. } => return,
        };
        self.circuit = Circuit::Open { pause, until: now + scaled(pause, jitter) };
    }
}

/// How long is waited after an attempt: 1, 2, 4 seconds (VCP 5.2), give or take a little. An endpoint may ask
/// for up to twice that, never for less.
fn wait(number: u8, retry_after: Option<Duration>, jitter: u32) -> Duration {
    let gap = Duration::from_secs(1 << (number.clamp(1, 3) - 1));
    let asked = retry_after.unwrap_or_default().min(gap * 2);
    scaled(gap, jitter).max(asked)
}

fn scaled(time: Duration, jitter: u32) -> Duration {
    time * jitter.clamp(900, 1100) / 1000
}

#[cfg(test)]
mod tests {
    use super::{Event, Order, Route};
    use crate::push::{Fate, Lost, Outcome, Try};
    use std::time::Duration;

    fn ended(position: u64, outcome: Outcome) -> Event {
        Event::Ended { position, outcome, retry_after: None, jitter: 1000 }
    }

    /// Plays a message to its last failure and gives back when each attempt was made.
    fn exhaust(route: &mut Route, position: u64, outcome: Outcome, start: Duration) -> Vec<f64> {
        let mut made = Vec::new();
        let mut order = route.after(Event::Offered { position }, start);
        let mut now = start;
        while let Some(Order::Post { .. }) = order {
            made.push(now.saturating_sub(start).as_secs_f64());
            let told = route.after(ended(position, outcome), now);
            if matches!(told, Some(Order::Note(Fate::GivenUp | Fate::Delivered, _))) {
                break;
            }
            now = route.due().unwrap();
            order = route.after(Event::Passed, now);
        }
        made
    }

    #[test]
    fn a_message_has_four_attempts_further_and_further_apart() {
        let lost = Outcome::Lost(Lost::Unreachable);
        assert_eq!(exhaust(&mut Route::default(), 5, lost, Duration::ZERO), [0.0, 1.0, 3.0, 7.0]);
        assert_eq!(exhaust(&mut Route::default(), 5, Outcome::Status(503), Duration::ZERO), [0.0, 1.0, 3.0, 7.0]);
        for over in [200, 301, 400, 404, 422] {
            assert_eq!(exhaust(&mut Route::default(), 5, Outcome::Status(over), Duration::ZERO), [0.0], "{over}");
        }
    }

    #[track_caller]
    fn waits(jitter: u32, retry_after: Option<u64>, want: f64) {
        let mut route = Route::default();
        route.after(Event::Offered { position: 1 }, Duration::ZERO);
        let retry_after = retry_after.map(Duration::from_secs);
        route.after(
            Event::Ended { position: 1, outcome: Outcome::Status(429), retry_after, jitter },
            Duration::from_secs(9),
        );
        assert_eq!(route.due(), Some(Duration::from_secs(9) + Duration::from_secs_f64(want)));
    }

    #[test]
    fn an_endpoint_may_ask_for_more_time_but_not_for_less() {
        waits(1000, None, 1.0);
        waits(1000, Some(0), 1.0);
        waits(900, None, 0.9);
        waits(1100, None, 1.1);
        waits(1000, Some(2), 2.0);
        waits(1000, Some(3600), 2.0);
    }

    #[test]
    fn an_endpoint_that_does_not_answer_is_left_alone_longer_and_longer() {
        let (mut route, mut now, mut pauses) = (Route::default(), Duration::ZERO, Vec::new());
        for position in 0..9 {
            exhaust(&mut route, position, Outcome::Status(500), now);
            let failed = now + Duration::from_secs(7);
            assert_eq!(route.room(failed), 0);
            now = route.due().unwrap();
            pauses.push(now.saturating_sub(failed).as_secs());
            assert_eq!(route.room(now), 1);
        }
        assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
        assert_eq!(exhaust(&mut route, 9, Outcome::Status(204), now), [0.0]);
        assert_eq!(route.room(now), Route::WINDOW);
    }

    #[test]
    fn an_endpoint_is_back_with_the_first_message_that_it_takes() {
        let mut route = Route::default();
        let mut ends = |position, status| {
            route.after(Event::Offered { position }, Duration::ZERO);
            route.after(ended(position, Outcome::Status(status)), Duration::ZERO);
            route.is_back()
        };
        // What was given up before a start is not forgotten by it.
        assert_eq!([ends(1, 200), ends(2, 200)], [true, false]);
        assert_eq!([ends(3, 404), ends(4, 410), ends(5, 200), ends(6, 204)], [false, false, true, false]);
    }

    #[test]
    fn what_goes_once_more_goes_first_and_has_four_attempts_again() {
        let mut route = Route::default();
        for position in 0..3 {
            exhaust(&mut route, position, Outcome::Status(503), Duration::from_secs(position * 100));
        }
        let now = Duration::from_mins(5);
        for position in [2, 0, 7] {
            route.after(Event::Again { position }, now);
        }
        // Beyond the cursor there is nothing that was taken.
        assert_eq!((route.next_again(), route.has(2), route.has(7)), (Some(0), true, false));
        assert_eq!(exhaust(&mut route, 0, Outcome::Status(503), now), [0.0, 1.0, 3.0, 7.0]);
        assert_eq!((route.next_again(), route.cursor()), (Some(2), Some(2)));
        // The endpoint is left alone again, until somebody asks.
        let now = now + Duration::from_secs(7);
        assert_eq!(route.after(Event::Offered { position: 2 }, now), None);
        route.after(Event::Again { position: 0 }, now);
        assert_eq!(exhaust(&mut route, 0, Outcome::Status(200), now), [0.0]);
        assert_eq!(exhaust(&mut route, 2, Outcome::Status(200), now), [0.0]);
        assert_eq!((route.next_again(), route.after(Event::Offered { position: 2 }, now)), (None, None));
    }

    #[test]
    fn what_grows_too_old_between_attempts_leaves_its_way() {
        let old = |position| {
            let outcome = Outcome::Lost(Lost::TooOld);
            Some(Order::Note(Fate::GivenUp, Try { position, number: 0, outcome }))
        };
        let mut route = Route::default();
        exhaust(&mut route, 0, Outcome::Status(503), Duration::ZERO);
        let now = Duration::from_mins(1);
        // This one finds out, and does not come to it.
        route.after(Event::Offered { position: 1 }, now);
        route.after(ended(1, Outcome::Status(503)), now);
        let due = route.due().unwrap();
        assert_eq!(route.after(Event::Passed, due), Some(Order::Post { position: 1, number: 2 }));
        assert_eq!(route.after(Event::TooOld { position: 1 }, due), old(1));
        assert_eq!((route.has(1), route.after(Event::TooOld { position: 1 }, due)), (false, None));
        assert_eq!(route.room(due), 1, "another finds out");
        assert_eq!(route.after(Event::TooOld { position: 2 }, due), old(2));
    }

    #[test]
    fn what_was_taken_by_another_way_is_not_sent() {
        let mut route = Route::default();
        route.after(Event::Offered { position: 1 }, Duration::ZERO);
        route.after(ended(1, Outcome::Status(500)), Duration::ZERO);
        assert_eq!(route.after(Event::Gone { position: 1 }, Duration::ZERO), None);
        assert_eq!((route.due(), route.after(Event::Passed, Duration::from_secs(9))), (None, None));
        assert_eq!(route.after(Event::Offered { position: 1 }, Duration::ZERO), None);
    }
}
