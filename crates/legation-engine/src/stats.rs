//! What the running exchange counts about itself. Atomics alone: whoever counts waits for nobody, and
//! nothing here names an agent or holds anything that was said.

use legation_exchange::{Clocks, Fate, Moment, Verdict};
use legation_protocol::{Code, Format};
use legation_scan::{Found, Severity};
use legation_store::Disk;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use crate::decider::instant;

/// Microseconds from a tenth of a millisecond to ten seconds.
const TIMES: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    10_000_000,
];
const SIZES: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/// How often values fell below each of a row of bounds.
#[derive(Debug)]
pub struct Histogram {
    bounds: &'static [u64],
    /// One more than there are bounds.
    counts: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    /// One for times.
    pub fn of_times() -> Histogram {
        Histogram::with(TIMES)
    }

    fn with(bounds: &'static [u64]) -> Histogram {
        Histogram { bounds, counts: (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect(), sum: AtomicU64::new(0) }
    }

    /// Counts a time, in microseconds.
    pub fn time(&self, time: Duration) {
        self.count(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    }

    fn count(&self, value: u64) {
        let place = self.bounds.partition_point(|bound| *bound < value);
        if let Some(count) = self.counts.get(place) {
            count.fetch_add(1, Ordering::Relaxed);
            self.sum.fetch_add(value, Ordering::Relaxed);
        }
    }

    /// Each bound with how many values it did not exclude.
    pub fn below(&self) -> impl Iterator<Item = (u64, u64)> {
        let mut seen = 0;
        self.bounds.iter().zip(&self.counts).map(move |(bound, count)| {
            seen += count.load(Ordering::Relaxed);
            (*bound, seen)
        })
    }

    /// How many values there were.
    pub fn total(&self) -> u64 {
        self.counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// What they come to.
    pub fn sum(&self) -> u64 {
        self.sum.load(Ordering::Relaxed)
    }
}

/// The ways a message can end that are no refusal; those come after, one a code.
const TAKEN: [&str; 3] = ["accepted", "duplicate", "held"];
/// Dialects a message can be of; the last stands for those that were never found out.
const DIALECTS: [Option<Format>; 5] =
    [Some(Format::Vcp), Some(Format::Acl), Some(Format::Cap), Some(Format::Vlp), None];

/// What the exchange counts.
#[derive(Debug)]
pub struct Stats {
    /// From a submission to its durable answer.
    pub answered: Histogram,
    /// Inputs decided together.
    pub batches: Histogram,
    /// How long the disk took to make a batch durable.
    pub syncs: Histogram,
    /// A row for each dialect, in it a count for each verdict.
    verdicts: Box<[AtomicU64]>,
    /// Attempts to bring messages to endpoints, by what became of the message.
    pushes: [AtomicU64; 3],
    /// Findings of the scan, by severity.
    scanned: [AtomicU64; 3],
    /// Whether the record had no room when it was last asked for some.
    full: AtomicBool,
    /// The microseconds that the record's clock is ahead of the machine's.
    ahead: AtomicI64,
    /// The record's time when the decider looked, in microseconds, and what the steady clock said then.
    record: AtomicU64,
    steady: AtomicU64,
    /// When the decider was last seen, in milliseconds since the start.
    seen: AtomicU64,
    start: std::time::Instant,
}

/// A count of verdicts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdicts {
    /// On messages of this dialect; `None` where it was not found out.
    pub dialect: Option<Format>,
    /// `accepted`, `duplicate` or the code of a refusal.
    pub verdict: &'static str,
    /// How many.
    pub count: u64,
}

impl Default for Stats {
    fn default() -> Stats {
        let cells = DIALECTS.len() * (TAKEN.len() + Code::ALL.len());
        Stats {
            answered: Histogram::of_times(),
            batches: Histogram::with(SIZES),
            syncs: Histogram::of_times(),
            verdicts: (0..cells).map(|_| AtomicU64::new(0)).collect(),
            pushes: Default::default(),
            scanned: Default::default(),
            full: AtomicBool::new(false),
            ahead: AtomicI64::new(0),
            record: AtomicU64::new(0),
            steady: AtomicU64::new(0),
            seen: AtomicU64::new(0),
            start: instant(),
        }
    }
}

/// The clocks, compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClockDifference {
    /// The microseconds that the record's clock is ahead of the machine's; less than zero where it is behind.
    pub ahead_micros: i64,
}

impl ClockDifference {
    /// The difference from which on people are told.
    pub const TOLD: Duration = Duration::from_mins(1);

    /// The difference, whichever clock is ahead.
    pub fn apart(self) -> Duration {
        Duration::from_micros(self.ahead_micros.unsigned_abs())
    }

    /// The whole seconds that the record's clock is ahead; less than zero where it is behind.
    pub fn ahead_seconds(self) -> i64 {
        self.ahead_micros / 1_000_000
    }

    /// Whether people are told of it.
    pub fn is_told(self) -> bool {
        self.apart() > ClockDifference::TOLD
    }
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl From<Clocks> for ClockDifference {
    fn from(Clocks { record, machine }: Clocks) -> ClockDifference {
        let apart = i64::try_from(record.micros().abs_diff(machine.micros())).unwrap_or(i64::MAX);
        ClockDifference { ahead_micros: if record < machine { -apart } else { apart } }
    }
}

impl Stats {
    /// How the record's clock and the machine's stood to each other when the decider last looked.
    pub fn clock_difference(&self) -> ClockDifference {
        ClockDifference { ahead_micros: self.ahead.load(Ordering::Relaxed) }
    }

    pub(crate) fn clocks(&self, now: Clocks, steady: Duration) {
        self.ahead.store(ClockDifference::from(now).ahead_micros, Ordering::Relaxed);
        self.steady.store(micros(steady), Ordering::Relaxed);
        self.record.store(now.record.micros(), Ordering::Relaxed);
    }

    /// The record's time, given what the steady clock says, for those who measure durations by it beside the decider.
    pub(crate) fn record_time(&self, steady: Duration) -> Moment {
        let passed = micros(steady).saturating_sub(self.steady.load(Ordering::Relaxed));
        Moment::from_micros(self.record.load(Ordering::Relaxed)).plus(Duration::from_micros(passed))
    }

    pub(crate) fn batch(&self, inputs: usize) {
        self.batches.count(inputs as u64);
    }

    pub(crate) fn verdict(&self, dialect: Option<Format>, verdict: &Verdict) {
        let way = match verdict {
            Verdict::Accepted { .. } => 0,
            Verdict::Duplicate { .. } => 1,
            Verdict::Held { .. } => 2,
            Verdict::Refused(rejection) => TAKEN.len() + rejection.code() as usize,
        };
        let row = DIALECTS.iter().position(|known| *known == dialect).unwrap_or(DIALECTS.len() - 1);
        if let Some(count) = self.verdicts.get(row * (TAKEN.len() + Code::ALL.len()) + way) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// All verdicts there have been, by dialect.
    pub fn verdicts(&self) -> impl Iterator<Item = Verdicts> {
        let ways = || TAKEN.into_iter().chain(Code::ALL.iter().map(|code| code.as_str()));
        let names = DIALECTS.into_iter().flat_map(move |dialect| ways().map(move |verdict| (dialect, verdict)));
        let counted = names.zip(&self.verdicts);
        counted
            .map(|((dialect, verdict), count)| Verdicts { dialect, verdict, count: count.load(Ordering::Relaxed) })
            .filter(|verdicts| verdicts.count > 0)
    }

    pub(crate) fn pushed(&self, fate: Fate) {
        let [delivered, failed, given_up] = &self.pushes;
        let count = match fate {
            Fate::Delivered => delivered,
            Fate::Failed => failed,
            Fate::GivenUp => given_up,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Attempts to bring messages to endpoints, by what became of the message.
    pub fn pushes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = ["delivered", "failed", "given_up"];
        names.into_iter().zip(self.pushes.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    pub(crate) fn scanned(&self, found: &[Found]) {
        for (severity, count) in Severity::ALL.iter().zip(&self.scanned) {
            let found = found.iter().filter(|found| found.severity == *severity).count();
            count.fetch_add(found as u64, Ordering::Relaxed);
        }
    }

    /// What the scan has found in texts, by severity.
    pub fn findings(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let names = Severity::ALL.into_iter().map(Severity::as_str);
        names.zip(self.scanned.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    /// The decider is at work, and the record has room or has not.
    pub(crate) fn alive(&self, full: bool) {
        self.full.store(full, Ordering::Relaxed);
        let since = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.seen.store(since, Ordering::Relaxed);
    }

    /// Whether the record had no room when it was last asked for some.
    pub fn is_full(&self) -> bool {
        self.full.load(Ordering::Relaxed)
    }

    /// How long ago the decider was last seen at work. With nothing to do it shows every second.
    pub fn silence(&self) -> Duration {
        self.start.elapsed().saturating_sub(Duration::from_millis(self.seen.load(Ordering::Relaxed)))
    }
}

/// The disk, with its syncs timed.
#[derive(Debug)]
pub(crate) struct Timed(pub(crate) Arc<Stats>);

impl Disk for Timed {
    fn sync(&self, file: &File) -> io::Result<()> {
        let start = instant();
        let synced = file.sync_data();
        self.0.syncs.time(start.elapsed());
        synced
    }
}

#[cfg(test)]
mod tests {
    use super::{Stats, Verdicts};
    use legation_exchange::Verdict;
    use legation_protocol::{Code, Format, Rejection};
    use std::time::Duration;

    #[test]
    fn values_fall_below_their_bounds() {
        let stats = Stats::default();
        for micros in [0, 100, 101, 9_999_999, 10_000_001] {
            stats.answered.time(Duration::from_micros(micros));
        }
        let below: Vec<_> = stats.answered.below().map(|(_, count)| count).collect();
        assert_eq!((below.first(), below.get(1), below.last()), (Some(&2), Some(&3), Some(&4)));
        assert_eq!((stats.answered.total(), stats.answered.sum()), (5, 20_000_201));
    }

    #[test]
    fn verdicts_are_counted_by_dialect_and_code() {
        let stats = Stats::default();
        let last = *Code::ALL.last().unwrap();
        let refused = |code| Verdict::Refused(Rejection::because(code, "no"));
        stats.verdict(Some(Format::Vlp), &Verdict::Duplicate { position: 1, id: "m".to_owned() });
        stats.verdict(Some(Format::Vlp), &refused(last));
        stats.verdict(None, &refused(Code::TooLarge));
        stats.verdict(None, &refused(Code::TooLarge));
        let counted: Vec<_> = stats.verdicts().collect();
        let of = |dialect, verdict, count| Verdicts { dialect, verdict, count };
        let vlp = Some(Format::Vlp);
        assert_eq!(counted, [of(vlp, "duplicate", 1), of(vlp, last.as_str(), 1), of(None, "too_large", 2)]);
    }
}
