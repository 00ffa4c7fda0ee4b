//! The record's clock: the wall's, as long as it goes forward. Set back, it goes on by the steady clock, so
//! that deadlines fall due all the same.

use legation_exchange::Moment;
use std::time::Instant;

/// What time it is for whoever decides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    last: Moment,
    at: Instant,
}

impl Clock {
    pub(crate) fn new(last: Moment, at: Instant) -> Clock {
        Clock { last, at }
    }

    /// The time, given what both clocks say.
    pub(crate) fn tell(&mut self, wall: Moment, at: Instant) -> Moment {
        let steady = self.last.plus(at.saturating_duration_since(self.at));
        if wall >= self.last {
            // Ahead of the steady clock or a little behind it: the wall's clock is kept right by others.
            (self.last, self.at) = (wall, at);
            return wall;
        }
        steady
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use legation_exchange::Moment;
    use std::time::Duration;

    #[test]
    fn a_clock_that_is_set_back_goes_on() {
        let start = crate::decider::instant();
        let (at, wall) =
            (|seconds| start + Duration::from_secs(seconds), |seconds: u64| Moment::from_micros(seconds * 1_000_000));
        let mut clock = Clock::new(wall(100), at(0));
        assert_eq!(clock.tell(wall(101), at(1)), wall(101));
        assert_eq!(clock.tell(wall(50), at(3)), wall(103), "set back: two seconds have passed");
        assert_eq!(clock.tell(wall(54), at(7)), wall(107));
        assert_eq!(clock.tell(wall(200), at(8)), wall(200), "set right again");
    }
}
