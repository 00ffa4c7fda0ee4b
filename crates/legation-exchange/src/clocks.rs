//! The two clocks that a decision knows: the record's and the machine's.
//!
//! The record's clock dates entries and drives deadlines. It never goes back, and no step of the machine's clock moves
//! it while the exchange runs. The machine's clock judges what others dated by theirs: it may be set to any time.

use crate::moment::Moment;
use std::time::Duration;

/// The time of an input by both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clocks {
    /// The record's time, for deadlines and for the stamps of entries.
    pub record: Moment,
    /// The machine's time, for timestamps that others wrote.
    pub machine: Moment,
}

impl From<Moment> for Clocks {
    fn from(now: Moment) -> Clocks {
        Clocks { record: now, machine: now }
    }
}

impl Clocks {
    /// Clocks that are nearer to each other count as one.
    pub const TOLERANCE: Duration = Duration::from_secs(1);

    /// The machine's time, where it differs from the record's.
    pub fn differing_machine(self) -> Option<Moment> {
        let apart = self.record.micros().abs_diff(self.machine.micros());
        (Duration::from_micros(apart) >= Clocks::TOLERANCE).then_some(self.machine)
    }

    /// The later of both: a credential ends as soon as either clock is past its end, so that no clock that is set back
    /// makes it count again.
    pub fn latest(self) -> Moment {
        self.record.max(self.machine)
    }

    /// The record's time at a moment that somebody named by the machine's clock.
    pub fn in_record_time(self, named: Moment) -> Moment {
        if self.differing_machine().is_none() {
            return named;
        }
        let ahead = Duration::from_micros(named.micros().saturating_sub(self.machine.micros()));
        let past = self.machine.micros().saturating_sub(named.micros());
        Moment::from_micros(self.record.micros().saturating_sub(past)).plus(ahead)
    }

    /// The same, with a record's clock that has not gone back.
    #[must_use]
    pub fn not_before(self, last: Moment) -> Clocks {
        Clocks { record: self.record.max(last), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::Clocks;
    use crate::moment::Moment;

    fn at(seconds: u64) -> Moment {
        Moment::from_micros(seconds * 1_000_000)
    }

    #[test]
    fn a_moment_named_by_the_machine_is_as_far_away_by_the_record() {
        for (record, machine) in [(1000, 4000), (4000, 1000), (1000, 1000)] {
            let clocks = Clocks { record: at(record), machine: at(machine) };
            assert_eq!(clocks.in_record_time(at(machine + 60)), at(record + 60));
            assert_eq!(clocks.in_record_time(at(machine - 60)), at(record - 60));
        }
        let near = Clocks { record: Moment::from_micros(1_000_400), machine: at(1) };
        assert_eq!(near.in_record_time(at(61)), at(61), "nobody's deadline gets odd microseconds");
    }
}
