//! How much may come from whom in what time. Memory is bounded: an attacker with many names makes the
//! limiter forget names, never grow.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many names a generation has.
const NAMES: usize = 1 << 15;

/// So many in so much time; as many may come at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// How many: at least one.
    pub count: u32,
    /// In what time.
    pub per: Duration,
}

impl Rate {
    /// So many a second.
    pub const fn per_second(count: u32) -> Rate {
        Rate { count, per: Duration::from_secs(1) }
    }

    /// So many a minute.
    pub const fn per_minute(count: u32) -> Rate {
        Rate { count, per: Duration::from_mins(1) }
    }
}

/// Keeps everybody to a rate, which may change, or to none.
#[derive(Debug)]
pub struct Limiter<K> {
    /// The time one takes at the rate, in nanoseconds; nothing if there is no rate.
    every: AtomicU64,
    /// How far ahead of the rate somebody may be.
    slack: AtomicU64,
    seen: Mutex<Seen<K>>,
}

/// When each name would be due at the rate. What is not asked for stays in the older generation, and
/// is forgotten when the younger one has filled up.
#[derive(Debug)]
struct Seen<K> {
    young: BTreeMap<K, Instant>,
    old: BTreeMap<K, Instant>,
}

impl<K: Ord + Clone> Limiter<K> {
    /// One that nobody has come to yet.
    pub fn new(rate: impl Into<Option<Rate>>) -> Limiter<K> {
        let seen = Mutex::new(Seen { young: BTreeMap::new(), old: BTreeMap::new() });
        let limiter = Limiter { every: AtomicU64::new(0), slack: AtomicU64::new(0), seen };
        limiter.set(rate);
        limiter
    }

    /// Keeps everybody to another rate from now on. What was counted stays.
    pub fn set(&self, rate: impl Into<Option<Rate>>) {
        let nanos = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let (every, slack) = rate.into().map_or((0, 0), |rate| {
            let count = rate.count.max(1);
            // Nothing would mean no rate at all.
            let every = (rate.per / count).max(Duration::from_nanos(1));
            (nanos(every), nanos(every * (count - 1)))
        });
        self.slack.store(slack, Ordering::Relaxed);
        self.every.store(every, Ordering::Relaxed);
    }

    /// Counts one, or says how long it is until one can be counted.
    pub fn take(&self, key: &K, now: Instant) -> Result<(), Duration> {
        let Some(every) = self.every() else { return Ok(()) };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let due = seen.due(key).map_or(now, |due| due.max(now));
        self.judge(due, now)?;
        seen.put(key.clone(), due + every);
        Ok(())
    }

    /// Whether one could be counted; if not, how long it is until then.
    pub fn check(&self, key: &K, now: Instant) -> Result<(), Duration> {
        if self.is_idle() {
            return Ok(());
        }
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.due(key).map_or(Ok(()), |due| self.judge(due, now))
    }

    /// Whether there is no rate to keep to.
    pub fn is_idle(&self) -> bool {
        self.every().is_none()
    }

    /// The time one takes, if there is a rate.
    fn every(&self) -> Option<Duration> {
        let every = self.every.load(Ordering::Relaxed);
        (every > 0).then(|| Duration::from_nanos(every))
    }

    fn judge(&self, due: Instant, now: Instant) -> Result<(), Duration> {
        let slack = Duration::from_nanos(self.slack.load(Ordering::Relaxed));
        match due.saturating_duration_since(now).checked_sub(slack) {
            Some(wait) if !wait.is_zero() => Err(wait),
            Some(_) | None => Ok(()),
        }
    }
}

impl<K: Ord> Seen<K> {
    fn due(&self, key: &K) -> Option<Instant> {
        self.young.get(key).or_else(|| self.old.get(key)).copied()
    }

    fn put(&mut self, key: K, due: Instant) {
        if self.young.len() >= NAMES && !self.young.contains_key(&key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key, due);
    }
}

#[cfg(test)]
mod tests {
    use super::{Limiter, NAMES, Rate};
    use std::time::Duration;
    use tokio::time::{Instant, advance};

    /// Takes at these milliseconds; gives back how many were let through.
    fn through(rate: Rate, at: &[u64]) -> usize {
        let (limiter, start) = (Limiter::new(rate), Instant::now());
        at.iter().filter(|ms| limiter.take(&"x", start + Duration::from_millis(**ms)).is_ok()).count()
    }

    #[test]
    fn a_burst_is_let_through_and_then_the_rate() {
        let rate = Rate::per_second(2);
        assert_eq!(through(rate, &[0, 0, 0, 0]), 2);
        assert_eq!(through(rate, &[0, 0, 499, 500, 500, 1000]), 4);
        assert_eq!(through(rate, &[0, 0, 60_000, 60_000, 60_000]), 4);
        assert_eq!(through(Rate::per_minute(1), &[0, 59_999, 60_000]), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn who_is_over_is_told_how_long_and_costs_nobody_else() {
        let limiter = Limiter::new(Rate::per_second(1));
        assert_eq!(limiter.check(&"a", Instant::now()), Ok(()));
        assert_eq!(limiter.take(&"a", Instant::now()), Ok(()));
        let wait = limiter.take(&"a", Instant::now()).unwrap_err();
        assert_eq!((wait, limiter.check(&"a", Instant::now())), (Duration::from_secs(1), Err(wait)));
        assert_eq!(limiter.take(&"b", Instant::now()), Ok(()));
        advance(wait).await;
        assert_eq!(limiter.take(&"a", Instant::now()), Ok(()));
    }

    #[test]
    fn another_rate_counts_from_when_it_is_set() {
        let (limiter, start) = (Limiter::new(Rate::per_minute(1)), Instant::now());
        assert_eq!(limiter.take(&"a", start), Ok(()));
        assert!(limiter.take(&"a", start).is_err());
        limiter.set(Rate::per_minute(3));
        assert_eq!(limiter.take(&"b", start), Ok(()));
        assert_eq!(limiter.take(&"b", start), Ok(()));
        limiter.set(None);
        assert!((0..100).all(|_| limiter.take(&"a", start).is_ok() && limiter.check(&"a", start).is_ok()));
        limiter.set(Rate::per_minute(1));
        assert!(limiter.take(&"b", start).is_err());
    }

    #[test]
    fn any_number_of_names_takes_no_more_room() {
        let limiter = Limiter::new(Rate::per_minute(1));
        for name in 0..5 * NAMES {
            assert_eq!(limiter.take(&name, Instant::now()), Ok(()));
        }
        let seen = limiter.seen.lock().unwrap();
        assert!(seen.young.len() + seen.old.len() <= 2 * NAMES);
        // The latest are those that are still known.
        assert!(seen.due(&(5 * NAMES - 1)).is_some() && seen.due(&0).is_none());
    }
}
