//! When the same is sent again (VCP messaging 1.2, section 5.2): four attempts, one, two and four
//! seconds apart, and never sooner than the exchange asks. And how long a reader stays away from an
//! exchange that is not there (section 8.3).

use crate::clock::{jittered, jittered_by};
use crate::error::Error;
use std::time::Duration;
use tokio::time::sleep;

/// The pauses before the second, third and fourth attempt.
pub(crate) const PAUSES: [Duration; 3] = [Duration::from_secs(1), Duration::from_secs(2), Duration::from_secs(4)];
/// An exchange that asks to wait longer than this is not waited for.
const LONGEST: Duration = Duration::from_mins(1);

/// Does something until it works, it cannot work, or it has failed four times.
pub(crate) async fn persisting<T, F>(mut attempt: impl FnMut() -> F) -> Result<T, Error>
where
    F: Future<Output = Result<T, Error>>,
{
    for pause in PAUSES {
        let error = match attempt().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let Some(pause) = before_next(&error, pause) else { return Err(error) };
        tracing::debug!(%error, ?pause, "trying again");
        sleep(pause).await;
    }
    attempt().await
}

/// How long to wait after this error; nothing where waiting does not help.
fn before_next(error: &Error, pause: Duration) -> Option<Duration> {
    if !error.is_retryable() {
        return None;
    }
    let asked = asked(error);
    (asked <= LONGEST).then(|| jittered(pause).max(asked))
}

/// How long the exchange asks to wait.
fn asked(error: &Error) -> Duration {
    match error {
        Error::Refused(refused) => refused.retry_after.unwrap_or_default(),
        Error::Handshake(refusal) => refusal.wait().unwrap_or_default(),
        _ => Duration::ZERO,
    }
}

/// The growing pauses between attempts to come back: 1, 2, 4 … 30 s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Backoff {
    next: Duration,
    most: Duration,
    /// By what part of it a pause may be longer or shorter.
    jitter: f64,
}

impl Backoff {
    /// Of an exchange that is not there.
    pub(crate) const RECONNECT: Backoff = Backoff::up_to(Duration::from_secs(30), 0.1);
    /// Of a handshake that failed (VCP negotiation 3.1, section 4).
    pub(crate) const HANDSHAKE: Backoff = Backoff::up_to(Duration::from_secs(30), 0.5);
    /// Of a message that its handler failed on.
    pub(crate) const HANDLER: Backoff = Backoff::up_to(Duration::from_mins(5), 0.1);

    const fn up_to(most: Duration, jitter: f64) -> Backoff {
        Backoff { next: Duration::from_secs(1), most, jitter }
    }

    /// Whether the exchange is waited for so long.
    pub(crate) fn is_worth_it(error: &Error) -> bool {
        asked(error) <= LONGEST
    }

    /// The next pause, before jitter.
    pub(crate) fn step(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(self.most);
        pause
    }

    /// Waits for the next pause, or as long as the exchange asked.
    pub(crate) async fn wait(&mut self, error: &Error) {
        sleep(jittered_by(self.step(), self.jitter).max(asked(error).min(LONGEST))).await;
    }
}

#[cfg(test)]
mod tests {
    use super::{Backoff, persisting};
    use crate::error::Error;
    use crate::refused::Refused;
    use std::cell::RefCell;
    use std::time::Duration;
    use tokio::time::Instant;

    fn refused(status: u16, retry_after: Option<u64>) -> Error {
        let mut refused = Refused::read(br#"{"error":"busy"}"#, Some(status)).unwrap();
        refused.retry_after = retry_after.map(Duration::from_secs);
        Error::Refused(refused)
    }

    /// When attempts were made that always fail with this.
    async fn attempts(error: impl Fn() -> Error) -> Vec<f64> {
        let (start, times) = (Instant::now(), RefCell::new(Vec::new()));
        let attempt = || {
            times.borrow_mut().push(start.elapsed().as_secs_f64());
            let failed = error();
            async { Err::<(), _>(failed) }
        };
        persisting(attempt).await.unwrap_err();
        times.into_inner()
    }

    #[track_caller]
    fn near(times: &[f64], want: &[f64]) {
        assert_eq!(times.len(), want.len(), "{times:?}");
        for (time, want) in times.iter().zip(want) {
            assert!((time - want).abs() <= want * 0.1 + 0.01, "{times:?}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn four_attempts_at_0_1_3_and_7_seconds() {
        for status in [408, 425, 429, 500, 503] {
            near(&attempts(|| refused(status, None)).await, &[0.0, 1.0, 3.0, 7.0]);
        }
        near(&attempts(|| Error::Timeout(Duration::ZERO)).await, &[0.0, 1.0, 3.0, 7.0]);
    }

    #[tokio::test(start_paused = true)]
    async fn never_sooner_than_the_exchange_asks() {
        near(&attempts(|| refused(429, Some(5))).await, &[0.0, 5.0, 10.0, 15.0]);
        near(&attempts(|| refused(429, Some(3600))).await, &[0.0]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_cannot_succeed_is_not_repeated() {
        for status in [400, 401, 403, 404, 409, 413, 422, 423] {
            near(&attempts(|| refused(status, None)).await, &[0.0]);
        }
        near(&attempts(|| Error::Fenced).await, &[0.0]);
    }

    #[test]
    fn a_reader_comes_back_after_1_2_4_up_to_30_seconds() {
        let mut backoff = Backoff::RECONNECT;
        let pauses: Vec<_> = (0..8).map(|_| backoff.step().as_secs()).collect();
        assert_eq!(pauses, [1, 2, 4, 8, 16, 30, 30, 30]);
    }
}
