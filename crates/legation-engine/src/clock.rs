//! The record's clock: it runs with the steady one, and is led to the wall's. A wall clock that is set a little forward or
//! back is caught up with slowly, so that no deadline falls due much sooner or later than it should; set far forward it is
//! followed at once, as after a machine has slept, and set far back it is waited for. It never goes back.

use crate::alerts::Desk;
use crate::decider::now;
use legation_exchange::{Alert, Moment};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Further ahead than this the wall's clock is right at once: what agents send is dated by theirs.
const FAR: Duration = Duration::from_secs(15);
/// As much of the time that passes goes into catching up, a fiftieth: a deadline of five seconds is 0.1 s off at most.
const SHARE: u32 = 50;

/// Further ahead of the wall's clock than this the record's is told to people: what agents sign by a clock that is right grows
/// old too soon, and is refused where it is five minutes.
const AHEAD: Duration = Duration::from_mins(1);

/// How long one moment is counted from: much longer than the microseconds that are lost in counting.
const STRETCH: Duration = Duration::from_millis(10);

/// Tells the wall's time: the machine's, unless somebody has another.
#[derive(Clone)]
pub struct Wall(Arc<dyn Fn() -> Moment + Send + Sync>);

impl Wall {
    /// One that tells what this says.
    pub fn by(tells: impl Fn() -> Moment + Send + Sync + 'static) -> Wall {
        Wall(Arc::new(tells))
    }

    /// The time.
    pub(crate) fn now(&self) -> Moment {
        (self.0)()
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

/// What time it is for whoever decides.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    wall: Wall,
    /// What is counted from, and when that was.
    from: Moment,
    at: Instant,
    last: Moment,
    watch: Watch,
}

/// Tells people when the record's clock is far ahead of the wall's: once, until it is not.
#[derive(Clone, Debug)]
pub(crate) struct Watch {
    alerts: Arc<Desk>,
    is_told: bool,
}

impl Watch {
    pub(crate) fn new(alerts: &Arc<Desk>) -> Watch {
        Watch { alerts: Arc::clone(alerts), is_told: false }
    }

    fn look(&mut self, record: Moment, wall: Moment) {
        let ahead = Duration::from_micros(record.micros().saturating_sub(wall.micros()));
        if self.is_told {
            self.is_told = ahead > AHEAD / 2;
        } else if ahead > AHEAD {
            self.is_told = true;
            let (minutes, hours) = (ahead.as_secs() / 60, (ahead * SHARE).as_secs().div_ceil(3600));
            tracing::warn!(minutes, "the record's clock is ahead of this machine's, which was set back");
            let text = format!(
                "the record's clock is {minutes} min ahead of this machine's, which was set back, and is caught up with in \
                 about {hours} h: until then what is signed by a right clock may be refused as stale"
            );
            self.alerts.raise(Alert::clock(wall, text));
        }
    }
}

impl Clock {
    /// Starts with the wall's time, but never before the record's last.
    pub(crate) fn starting(last: Moment, wall: Wall, at: Instant, watch: Watch) -> Clock {
        let from = last.max(wall.now());
        Clock { wall, from, at, last: from, watch }
    }

    /// The time, given what the steady clock says.
    pub(crate) fn now(&mut self, at: Instant) -> Moment {
        let wall = self.wall.now();
        let now = self.tell(wall, at);
        self.watch.look(now, wall);
        now
    }

    /// The time, given what both clocks say.
    fn tell(&mut self, wall: Moment, at: Instant) -> Moment {
        let passed = at.saturating_duration_since(self.at);
        let (least, most) =
            (self.from.plus(passed.saturating_sub(passed / SHARE)), self.from.plus(passed + passed / SHARE));
        let is_far = wall > most.plus(FAR);
        self.last = if is_far { wall } else { wall.clamp(least, most).max(self.last) };
        if is_far || passed >= STRETCH {
            (self.from, self.at) = (self.last, at);
        }
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::{Clock, Wall, Watch};
    use crate::alerts::{AlertSettings, Desk};
    use legation_exchange::Moment;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const fn wall(millis: u64) -> Moment {
        Moment::from_micros(millis * 1000)
    }

    /// One whose record ends at a hundred seconds.
    fn starting(wall_says: u64, at: Instant) -> Clock {
        let desk = Arc::new(Desk::new("local", &AlertSettings::default(), 0));
        Clock::starting(wall(100_000), Wall::by(move || wall(wall_says)), at, Watch::new(&desk))
    }

    /// Runs for five seconds, looking every so many milliseconds, with a wall that is this many off from the start on.
    fn five_seconds(every: u64, off: i64) -> Moment {
        let start = crate::decider::instant();
        let mut clock = starting(100_000, start);
        let times = (1..=5000 / every).map(|turn| turn * every);
        let at =
            |millis: u64| (start + Duration::from_millis(millis), wall((100_000 + millis).saturating_add_signed(off)));
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
        let start = crate::decider::instant();
        let mut clock = starting(100_000, start);
        for turn in 1..=100_000_u64 {
            let nanos = turn * 1900;
            clock.tell(wall(100_000).plus(Duration::from_nanos(nanos)), start + Duration::from_nanos(nanos));
        }
        let at = start + Duration::from_millis(190);
        assert_eq!(clock.tell(wall(100_190), at), wall(100_190));
    }

    #[test]
    fn a_clock_that_is_set_a_little_moves_no_deadline_far() {
        for every in [1, 100, 1000] {
            between(five_seconds(every, 900), 105_000, 105_100);
            between(five_seconds(every, 14_000), 105_000, 105_100);
            between(five_seconds(every, -900), 104_900, 105_000);
            between(five_seconds(every, -50_000), 104_900, 105_000);
            // A little enough is caught up with.
            assert_eq!(five_seconds(every, 50), wall(105_050));
            assert_eq!(five_seconds(every, -50), wall(104_950));
        }
    }

    #[test]
    fn a_clock_that_is_set_far_forward_is_followed_at_once() {
        assert_eq!(five_seconds(100, 3_600_000), wall(3_705_000));
    }

    #[test]
    fn it_never_goes_back() {
        let start: Instant = crate::decider::instant();
        let mut clock = starting(100_000, start);
        let mut last = wall(0);
        for (turn, millis) in [100_500, 90_000, 0, 200_000, 150_000, 150_001].into_iter().enumerate() {
            let told = clock.tell(wall(millis), start + Duration::from_millis(turn as u64 * 10));
            assert!(told >= last);
            last = told;
        }
    }

    #[test]
    fn a_start_goes_by_the_wall_and_never_before_the_record() {
        let start = crate::decider::instant();
        for (wall_says, want) in [(200_000, 200_000), (50_000, 100_000)] {
            assert_eq!(starting(wall_says, start).tell(wall(wall_says), start), wall(want));
        }
    }
}
