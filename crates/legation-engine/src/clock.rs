//! The record's clock: it runs with the machine's steady clock, which no step of the wall's clock moves. A wall clock that
//! differs is caught up with by a thousandth of the time that passes, so that no deadline fires noticeably sooner or later for
//! it. It never goes back. Only a start takes over a wall clock that is ahead.

use crate::alerts::Desk;
use crate::decider::now;
use crate::stats::{ClockDifference, Stats};
use legation_exchange::{Alert, Clocks, Moment};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// As much of the time that passes goes into catching up, a thousandth: a deadline of five seconds is 5 ms off at most.
const SHARE: u32 = 1000;

/// How long one moment is counted from: much longer than the microseconds that are lost in counting.
const STRETCH: Duration = Duration::from_millis(10);

/// Tells the wall's time, and the steady one: the machine's, unless somebody has another.
#[derive(Clone)]
pub struct Wall {
    tells: Arc<dyn Fn() -> Moment + Send + Sync>,
    /// Whether the steady clock runs with it, rather than with the machine's own.
    is_steady: bool,
}

impl Wall {
    /// One that tells what this says, on a machine whose steady clock minds none of it.
    pub fn by(tells: impl Fn() -> Moment + Send + Sync + 'static) -> Wall {
        Wall { tells: Arc::new(tells), is_steady: false }
    }

    /// One that tells what this says, on a machine for which that is how time passes.
    pub fn passing(tells: impl Fn() -> Moment + Send + Sync + 'static) -> Wall {
        Wall { tells: Arc::new(tells), is_steady: true }
    }

    /// The time.
    pub(crate) fn now(&self) -> Moment {
        (self.tells)()
    }

    /// What the steady clock says.
    pub(crate) fn steady(&self) -> Duration {
        if self.is_steady { Duration::from_micros(self.now().micros()) } else { since_boot() }
    }
}

impl Default for Wall {
    fn default() -> Wall {
        Wall::by(now)
    }
}

impl fmt::Debug for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Wall")
    }
}

/// The time since the machine was started, the time it slept included: what has fallen due meanwhile is overdue then. Where the
/// system has no such clock, its monotonic one.
pub(crate) fn since_boot() -> Duration {
    #[cfg(any(target_os = "linux", target_os = "android"))]
    const STEADY: rustix::time::ClockId = rustix::time::ClockId::Boottime;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    const STEADY: rustix::time::ClockId = rustix::time::ClockId::Monotonic;
    let now = rustix::time::clock_gettime(STEADY);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

/// What time it is for whoever decides.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    wall: Wall,
    /// What is counted from, and what the steady clock said then.
    from: Moment,
    at: Duration,
    last: Moment,
    watch: Watch,
}

/// Tells people when the record's clock and the wall's are far apart: once, until they are not.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    alerts: Arc<Desk>,
    stats: Arc<Stats>,
    is_told: bool,
}

impl Watch {
    pub(crate) fn new(alerts: &Arc<Desk>, stats: &Arc<Stats>) -> Watch {
        Watch { alerts: Arc::clone(alerts), stats: Arc::clone(stats), is_told: false }
    }

    fn look(&mut self, now: Clocks, steady: Duration) {
        let difference = ClockDifference::from(now);
        self.stats.clocks(now, steady);
        if self.is_told {
            self.is_told = difference.apart() > ClockDifference::TOLD / 2;
        } else if difference.is_told() {
            self.is_told = true;
            let (minutes, is_ahead) = (difference.apart().as_secs() / 60, difference.ahead_micros > 0);
            tracing::warn!(minutes, is_ahead, "the record's clock and this machine's differ");
            self.alerts.raise(Alert::clock(now.machine, disagreement(minutes, is_ahead)));
        }
    }
}

fn disagreement(minutes: u64, is_ahead: bool) -> String {
    let (side, end) =
        if is_ahead { ("ahead of", "until that has caught up") } else { ("behind", "until the next start") };
    format!(
        "the record's clock is {minutes} min {side} this machine's, which was set: stamps of the record are that much off {end}. \
         Deadlines run on, and messages are judged by the machine's clock"
    )
}

impl Clock {
    /// Starts with the wall's time, but never before the record's last.
    pub(crate) fn starting(last: Moment, wall: Wall, watch: Watch) -> Clock {
        let steady = wall.steady();
        Clock::starting_at(last, wall, steady, watch)
    }

    fn starting_at(last: Moment, wall: Wall, at: Duration, watch: Watch) -> Clock {
        let machine = wall.now();
        let from = last.max(machine);
        watch.stats.clocks(Clocks { record: from, machine }, at);
        Clock { wall, from, at, last: from, watch }
    }

    /// The time by the record's clock and by the machine's.
    pub(crate) fn now(&mut self) -> Clocks {
        let (machine, steady) = (self.wall.now(), self.wall.steady());
        let record = self.tell(machine, steady);
        let now = Clocks { record, machine };
        self.watch.look(now, steady);
        now
    }

    /// The record's time, given what both clocks say.
    fn tell(&mut self, wall: Moment, at: Duration) -> Moment {
        let passed = at.saturating_sub(self.at);
        let (least, most) =
            (self.from.plus(passed.saturating_sub(passed / SHARE)), self.from.plus(passed + passed / SHARE));
        self.last = wall.clamp(least, most).max(self.last);
        if passed >= STRETCH {
            (self.from, self.at) = (self.last, at);
        }
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Wall, Watch};
    use crate::alerts::{AlertSettings, Desk};
    use crate::stats::Stats;
    use legation_exchange::{Clocks, Moment};
    use std::sync::Arc;
    use std::time::Duration;

    const fn wall(millis: u64) -> Moment {
        Moment::from_micros(millis * 1000)
    }

    const START: Duration = Duration::from_secs(1000);

    /// One whose record ends at a hundred seconds.
    fn starting(wall_says: u64) -> Clock {
        let desk = Arc::new(Desk::new("local", &AlertSettings::default(), 0));
        let watch = Watch::new(&desk, &Arc::new(Stats::default()));
        Clock::starting_at(wall(100_000), Wall::by(move || wall(wall_says)), START, watch)
    }

    /// Runs for five seconds, looking every so many milliseconds, with a wall that is this many off from the start on.
    fn five_seconds(every: u64, off: i64) -> Moment {
        let mut clock = starting(100_000);
        let times = (1..=5000 / every).map(|turn| turn * every);
        let at =
            |millis: u64| (START + Duration::from_millis(millis), wall((100_000 + millis).saturating_add_signed(off)));
        times.map(at).map(|(at, wall)| clock.tell(wall, at)).last().unwrap()
    }

    fn between(told: Moment, least: u64, most: u64) {
        assert!(wall(least) <= told && told <= wall(most), "{told:?}");
    }

    #[test]
    fn a_clock_that_is_right_is_told() {
        for every in [1, 100, 1000] {
            assert_eq!(five_seconds(every, 0), wall(105_000));
        }
    }

    #[test]
    fn nothing_is_lost_by_looking_often() {
        let mut clock = starting(100_000);
        for turn in 1..=100_000_u64 {
            let nanos = turn * 1900;
            clock.tell(wall(100_000).plus(Duration::from_nanos(nanos)), START + Duration::from_nanos(nanos));
        }
        assert_eq!(clock.tell(wall(100_190), START + Duration::from_millis(190)), wall(100_190));
    }

    #[test]
    fn a_wall_clock_that_jumps_moves_no_deadline() {
        for every in [1, 100, 1000] {
            for off in [900, 14_000, 60_000, 3_600_000, 86_400_000 * 365] {
                between(five_seconds(every, off), 105_000, 105_005);
                between(five_seconds(every, -off), 104_995, 105_000);
            }
            // A little is caught up with.
            assert_eq!(five_seconds(every, 3), wall(105_003));
            assert_eq!(five_seconds(every, -3), wall(104_997));
        }
    }

    #[test]
    fn a_wall_clock_that_jumps_to_and_fro_moves_no_deadline() {
        let mut clock = starting(100_000);
        let mut told = wall(0);
        for turn in 1..=5000_u64 {
            let off = [3_600_000, 0, 100_000_000, 7][usize::try_from(turn % 4).unwrap()];
            told = clock.tell(wall(turn * 977 % 200_000 + off), START + Duration::from_millis(turn));
        }
        between(told, 104_995, 105_005);
    }

    #[test]
    fn what_fell_due_while_the_machine_slept_is_overdue() {
        let mut clock = starting(100_000);
        let slept = Duration::from_hours(8);
        assert_eq!(clock.tell(wall(100_000).plus(slept), START + slept), wall(100_000).plus(slept));
    }

    #[test]
    fn it_never_goes_back() {
        let mut clock = starting(100_000);
        let mut last = wall(0);
        for (turn, millis) in [100_500, 90_000, 0, 200_000, 150_000, 150_001].into_iter().enumerate() {
            let told = clock.tell(wall(millis), START + Duration::from_millis(turn as u64 * 10));
            assert!(told >= last);
            last = told;
        }
    }

    #[test]
    fn a_start_goes_by_the_wall_and_never_before_the_record() {
        for (wall_says, want) in [(200_000, 200_000), (50_000, 100_000)] {
            assert_eq!(starting(wall_says).tell(wall(wall_says), START), wall(want));
        }
    }

    #[test]
    fn clocks_that_differ_are_told_once_whichever_is_ahead() {
        for (record, machine, ahead) in [(200_000, 100_000, 100_000_000), (100_000, 200_000, -100_000_000)] {
            let mut clock = starting(100_000);
            let listed = |clock: &Clock| clock.watch.alerts.listed().len();
            clock.watch.look(Clocks { record: wall(record), machine: wall(machine) }, START);
            clock.watch.look(Clocks { record: wall(record), machine: wall(machine) }, START);
            assert_eq!(clock.watch.stats.clock_difference().ahead_micros, ahead);
            assert_eq!(listed(&clock), 1);
            clock.watch.look(Clocks::from(wall(machine)), START);
            assert!(!clock.watch.is_told);
        }
    }
}
