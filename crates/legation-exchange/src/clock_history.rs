//! The times that both clocks had at messages of the record, as far as they tell which dedup entries are forgotten.

use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The length of a bucket: dedup entries of one bucket are forgotten together.
pub(crate) const BUCKET: u64 = 600_000_000;
/// The most peaks that are kept. A machine's clock that was set back more often than this in a row lets the oldest go, and
/// what was forgotten by it is remembered longer.
const PEAKS: usize = 64;
/// The longest that a dedup entry is remembered by the record's clock beyond what its own life asks for.
const LONGEST: Duration = Duration::from_hours(1);

/// The end of a dedup entry by both clocks, in buckets. It is forgotten when both are past it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct DedupEnd {
    /// By the machine's clock; zero for what has no signed timestamp.
    pub machine: u64,
    /// By the record's clock.
    pub record: u64,
}

impl DedupEnd {
    /// The end for an id that is remembered for a while and that no timestamp judges.
    pub(crate) fn timed(until: Moment) -> DedupEnd {
        DedupEnd { machine: 0, record: bucket(until) }
    }

    /// The end for an id that is remembered until its timestamp can no longer be fresh. The record's clock is past it where it
    /// is past that time, and in any case an hour after the message, or after the message's own life: a machine's clock that
    /// is far ahead of the record's must not make ids pile up.
    pub(crate) fn stamped(until: Moment, record: Moment, machine: Moment) -> DedupEnd {
        let life = Duration::from_micros(until.micros().saturating_sub(machine.micros()));
        let most = record.plus(life.max(LONGEST));
        DedupEnd { machine: bucket(until), record: bucket(until.clamp(record, most)) }
    }

    /// The later end by each clock.
    #[must_use]
    pub(crate) fn latest(self, other: DedupEnd) -> DedupEnd {
        DedupEnd { machine: self.machine.max(other.machine), record: self.record.max(other.record) }
    }
}

fn bucket(at: Moment) -> u64 {
    at.micros() / BUCKET
}

/// A time at which no later message found the machine's clock as far.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Peak {
    machine: u64,
    record: u64,
}

/// The times that both clocks had at messages whose ids are remembered, in buckets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct ClockHistory {
    /// The machine's falls and the record's rises from one to the next.
    peaks: Vec<Peak>,
    /// The record's bucket of the last message.
    record: u64,
    /// The furthest time of the machine's clock within that bucket, and before it.
    furthest: u64,
    furthest_before: u64,
    /// The longest that an id was to be remembered from its message on.
    life: u64,
    /// Entries whose end by the machine's clock lies before this may have been forgotten.
    horizon: u64,
    /// The position of the last message at which a peak was noted: what was forgotten lies before it.
    position: u64,
}

impl ClockHistory {
    /// Notes the clocks at a message. A signed message's end is noted too.
    pub(crate) fn note(&mut self, position: u64, record: Moment, machine: Moment, stamped_until: Option<Moment>) {
        let now = Peak { machine: bucket(machine), record: bucket(record) };
        if let Some(until) = stamped_until {
            self.life = self.life.max(bucket(until).saturating_sub(now.machine) + 1);
        }
        if self.peaks.last() == Some(&now) {
            return;
        }
        if now.record > self.record {
            self.furthest_before = self.furthest_before.max(self.furthest);
            (self.record, self.furthest) = (now.record, now.machine);
        }
        self.furthest = self.furthest.max(now.machine);
        while self.peaks.last().is_some_and(|peak| peak.machine <= now.machine) {
            self.peaks.pop();
        }
        self.peaks.push(now);
        if self.peaks.len() > PEAKS {
            self.peaks.remove(0);
        }
        // Whatever is forgotten now came in an earlier bucket of the record's clock: by then the machine's clock had not been
        // further than this. A clock that is far ahead for a moment puts nothing in doubt.
        let reach = now.machine.min(self.furthest_before + self.life + 1);
        self.horizon = self.horizon.max(reach);
        self.position = position;
    }

    /// Whether both clocks were past this end at one message.
    pub(crate) fn is_past(&self, end: DedupEnd) -> bool {
        self.peaks.iter().any(|peak| peak.machine > end.machine && peak.record > end.record)
    }

    /// The position before which a message lies whose id would be remembered until then and may be forgotten.
    pub(crate) fn may_have_forgotten(&self, until: Moment) -> Option<u64> {
        (bucket(until) < self.horizon).then_some(self.position)
    }
}

#[cfg(test)]
mod tests {
    use super::{BUCKET, ClockHistory, DedupEnd};
    use crate::moment::Moment;
    use std::time::Duration;

    fn at(bucket: u64) -> Moment {
        Moment::from_micros(bucket * BUCKET)
    }

    const LIFE: Duration = Duration::from_mins(15);

    fn note(history: &mut ClockHistory, record: u64, machine: u64) -> DedupEnd {
        let until = at(machine).plus(LIFE);
        history.note(record, at(record), at(machine), Some(until));
        DedupEnd::stamped(until, at(record), at(machine))
    }

    #[test]
    fn an_entry_is_past_only_when_both_clocks_were_at_once() {
        let mut history = ClockHistory::default();
        let end = note(&mut history, 1000, 1000);
        // The machine alone, a day ahead.
        note(&mut history, 1000, 1144);
        assert!(!history.is_past(end));
        // The record alone.
        note(&mut history, 1010, 1000);
        assert!(!history.is_past(end));
        note(&mut history, 1011, 1011);
        assert!(history.is_past(end));
        // For good, whatever the machine's clock does then.
        note(&mut history, 1012, 900);
        assert!(history.is_past(end));
    }

    #[test]
    fn a_clock_that_runs_puts_no_fresh_message_in_doubt() {
        let mut history = ClockHistory::default();
        for bucket in 1000..1200 {
            note(&mut history, bucket, bucket);
            assert_eq!(history.may_have_forgotten(at(bucket).plus(LIFE)), None);
            assert!(history.peaks.len() == 1);
        }
    }

    #[test]
    fn a_moment_far_ahead_puts_no_day_in_doubt() {
        let mut history = ClockHistory::default();
        for bucket in 1000..1010 {
            note(&mut history, bucket, bucket);
        }
        note(&mut history, 1010, 1154);
        note(&mut history, 1010, 1010);
        assert_eq!(history.may_have_forgotten(at(1012).plus(LIFE)), None);
    }

    #[test]
    fn all_that_was_forgotten_is_in_doubt() {
        let mut history = ClockHistory::default();
        let mut all = Vec::new();
        for (record, machine) in [(1000, 1000), (1001, 1144), (1002, 1145), (1150, 1290), (1300, 1000), (1310, 1010)] {
            all.push((at(machine).plus(LIFE), note(&mut history, record, machine)));
            for (until, _) in all.iter().filter(|(_, end)| history.is_past(*end)) {
                assert!(history.may_have_forgotten(*until).is_some(), "{until}");
            }
        }
    }

    #[test]
    fn a_clock_far_ahead_piles_nothing_up() {
        let mut history = ClockHistory::default();
        let end = note(&mut history, 1000, 5000);
        note(&mut history, 1010, 5010);
        assert!(history.is_past(end));
    }
}
