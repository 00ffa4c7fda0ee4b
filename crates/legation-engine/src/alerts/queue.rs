//! What somebody has not been told yet: which alert goes next, and when. One that cannot be told holds up no
//! other, and an emergency goes before all.

use legation_exchange::{Alert, Urgency};
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::time::Instant;

/// How long is waited after each of the first attempts, and after each of the others.
const SOON: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
const LATER: Duration = Duration::from_mins(1);
/// How many attempts there are: about an hour's.
const ATTEMPTS: usize = SOON.len() + 1 + 60;
/// How many wait at most. Beyond that the oldest of those with the least hurry is let go.
const MOST: usize = 4096;

/// What one has not been told, by the alerts' numbers.
#[derive(Debug, Default)]
pub(super) struct Queue {
    open: BTreeMap<u64, Open>,
}

#[derive(Debug)]
struct Open {
    alert: Alert,
    /// How many attempts failed.
    failed: usize,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// It waits for its time.
    Waits { due: Instant },
    /// An attempt is being made.
    Tried,
}

/// What became of an alert by an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It is told.
    Told,
    /// It is tried again.
    Waits,
    /// It is not.
    GivenUp,
}

impl Queue {
    /// Takes one in. Gives back what there is no room for.
    pub(super) fn put(&mut self, number: u64, alert: Alert, now: Instant) -> Option<Alert> {
        self.open.insert(number, Open { alert, failed: 0, stage: Stage::Waits { due: now } });
        if self.open.len() <= MOST {
            return None;
        }
        let least = self.open.iter().rev().max_by_key(|(_, open)| open.alert.kind.urgency()).map(|(number, _)| *number);
        least.and_then(|number| self.open.remove(&number)).map(|open| open.alert)
    }

    /// The next to be told now, if there is room for another attempt: the most urgent, of those the oldest.
    pub(super) fn next(&mut self, now: Instant) -> Option<(u64, Alert)> {
        let is_due = |open: &Open| matches!(open.stage, Stage::Waits { due } if due <= now);
        let (room, due) = (self.room(), self.open.iter().filter(|(_, open)| is_due(open)));
        let due = due.filter(|(_, open)| room.is_for(open.alert.kind.urgency()));
        let number =
            due.min_by_key(|(number, open)| (open.alert.kind.urgency(), **number)).map(|(number, _)| *number)?;
        let open = self.open.get_mut(&number)?;
        open.stage = Stage::Tried;
        Some((number, open.alert.clone()))
    }

    /// When time alone makes another due.
    pub(super) fn due(&self) -> Option<Instant> {
        let room = self.room();
        let waiting = self.open.values().filter(|open| room.is_for(open.alert.kind.urgency()));
        let dues = waiting.filter_map(|open| match open.stage {
            Stage::Waits { due } => Some(due),
            Stage::Tried => None,
        });
        dues.min()
    }

    /// Notes what came of an attempt.
    pub(super) fn ended(&mut self, number: u64, is_told: bool, now: Instant) -> Fate {
        let Some(open) = self.open.get_mut(&number).filter(|_| !is_told) else {
            self.open.remove(&number);
            return Fate::Told;
        };
        let wait = SOON.get(open.failed).copied().unwrap_or(LATER);
        open.failed += 1;
        if open.failed >= ATTEMPTS {
            self.open.remove(&number);
            return Fate::GivenUp;
        }
        open.stage = Stage::Waits { due: now + wait };
        Fate::Waits
    }

    /// Lets one go, whatever came of it.
    pub(super) fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// Whoever made attempts has ended: they are made anew.
    pub(super) fn reset(&mut self, now: Instant) {
        for open in self.open.values_mut().filter(|open| open.stage == Stage::Tried) {
            open.stage = Stage::Waits { due: now };
        }
    }

    /// What is not told.
    pub(super) fn open(&self) -> impl Iterator<Item = &Alert> {
        self.open.values().map(|open| &open.alert)
    }

    fn room(&self) -> Room {
        let tried = self.open.values().filter(|open| open.stage == Stage::Tried);
        let mut room = Room { emergency: 4, grave: 2, usual: 1 };
        for open in tried {
            let own = room.of(open.alert.kind.urgency());
            *own = own.saturating_sub(1);
        }
        room
    }
}

/// How many more may go at a time: those with less hurry never keep those with more waiting.
struct Room {
    emergency: usize,
    grave: usize,
    usual: usize,
}

impl Room {
    fn of(&mut self, urgency: Urgency) -> &mut usize {
        match urgency {
            Urgency::Emergency => &mut self.emergency,
            Urgency::Grave => &mut self.grave,
            Urgency::Usual => &mut self.usual,
        }
    }

    fn is_for(&self, urgency: Urgency) -> bool {
        match urgency {
            Urgency::Emergency => self.emergency > 0,
            Urgency::Grave => self.grave > 0,
            Urgency::Usual => self.usual > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{ATTEMPTS, Fate, MOST, Queue};
    use legation_exchange::{Alert, Kind, Moment};
    use std::time::Duration;
    use tokio::time::Instant;

    fn alert(kind: Kind) -> Alert {
        Alert { kind, ..Alert::storage(Moment::from_micros(1), "x") }
    }

    fn put(queue: &mut Queue, number: u64, kind: Kind, now: Instant) {
        assert_eq!(queue.put(number, alert(kind), now), None);
    }

    fn next(queue: &mut Queue, now: Instant) -> Option<u64> {
        queue.next(now).map(|(number, _)| number)
    }

    #[tokio::test(start_paused = true)]
    async fn attempts_are_made_soon_and_then_every_minute_for_an_hour() {
        let (mut queue, start) = (Queue::default(), Instant::now());
        put(&mut queue, 1, Kind::Conflict, start);
        let mut made = Vec::new();
        let mut now = start;
        loop {
            assert_eq!(next(&mut queue, now), Some(1));
            made.push((now - start).as_secs());
            match queue.ended(1, false, now) {
                Fate::Waits => now = queue.due().unwrap(),
                Fate::GivenUp => break,
                Fate::Told => panic!("nobody was told"),
            }
            assert_eq!(next(&mut queue, now - Duration::from_millis(1)), None);
        }
        let want = [0, 1, 3, 7].into_iter().chain((1..=60).map(|minute| 7 + minute * 60));
        assert_eq!(made, want.collect::<Vec<u64>>());
        assert_eq!((made.len(), queue.open().count(), queue.due()), (ATTEMPTS, 0, None));
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_cannot_be_told_holds_up_no_other() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for number in 1..4 {
            put(&mut queue, number, Kind::ReviewWaiting, now);
        }
        assert_eq!((next(&mut queue, now), next(&mut queue, now)), (Some(1), None));
        assert_eq!(queue.ended(1, false, now), Fate::Waits);
        assert_eq!((next(&mut queue, now), queue.ended(2, true, now)), (Some(2), Fate::Told));
        assert_eq!((next(&mut queue, now), queue.ended(3, true, now)), (Some(3), Fate::Told));
        let later = now + Duration::from_secs(1);
        assert_eq!((next(&mut queue, now), queue.due(), next(&mut queue, later)), (None, Some(later), Some(1)));
    }

    #[tokio::test(start_paused = true)]
    async fn an_emergency_goes_first_and_waits_for_no_attempt_of_others() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        for (number, kind) in [(1, Kind::Flood), (2, Kind::Storage), (3, Kind::Emergency), (4, Kind::Emergency)] {
            put(&mut queue, number, kind, now);
        }
        let order: Vec<_> = std::iter::from_fn(|| next(&mut queue, now)).collect();
        assert_eq!(order, [3, 4, 2, 1]);
        // While all of those are being told, one more finds its way.
        put(&mut queue, 5, Kind::Emergency, now);
        put(&mut queue, 6, Kind::Flood, now);
        assert_eq!((next(&mut queue, now), next(&mut queue, now), queue.due()), (Some(5), None, None));
        queue.reset(now);
        assert_eq!(next(&mut queue, now), Some(3));
    }

    #[tokio::test(start_paused = true)]
    async fn of_too_many_the_oldest_with_the_least_hurry_is_let_go() {
        let (mut queue, now) = (Queue::default(), Instant::now());
        put(&mut queue, 0, Kind::Emergency, now);
        for number in 1..MOST as u64 {
            put(&mut queue, number, Kind::Flood, now);
        }
        let gone = queue.put(MOST as u64, alert(Kind::Conflict), now).unwrap();
        assert_eq!((gone.kind, queue.open().count()), (Kind::Flood, MOST));
        assert_eq!(next(&mut queue, now), Some(0));
        queue.remove(0);
        assert_eq!(next(&mut queue, now), Some(2));
    }
}
