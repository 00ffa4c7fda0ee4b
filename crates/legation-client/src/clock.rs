//! The one place that reads the clock and draws randomness.

use crate::error::Error;
use legation_protocol::Timestamp;
use legation_protocol::id::Uuid7;
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use uuid::Uuid;

/// The time, as messages write it.
pub(crate) fn now() -> Result<Timestamp, Error> {
    let now = OffsetDateTime::now_utc();
    let text = now.replace_nanosecond(u32::from(now.millisecond()) * 1_000_000).unwrap_or(now).format(&Rfc3339);
    Timestamp::zulu(&text.unwrap_or_default()).map_err(|_| Error::Setting { what: "this machine's clock" })
}

/// An id nobody has used.
pub(crate) fn fresh_id() -> Result<Uuid7, Error> {
    Uuid7::try_from(Uuid::now_v7()).map_err(|_| Error::Random)
}

/// What stands for the id of a message that has none.
pub(crate) fn fresh_key() -> Result<String, Error> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| Error::Random)?;
    Ok(format!("{:032x}", u128::from_le_bytes(bytes)))
}

/// A time up to a tenth longer or shorter, so that not all who wait come back at once.
pub(crate) fn jittered(time: Duration) -> Duration {
    jittered_by(time, 0.1)
}

/// The same, up to a part of it.
pub(crate) fn jittered_by(time: Duration, by: f64) -> Duration {
    // Without randomness all come at once, which is no reason not to come.
    let part = getrandom::u32().map_or(0.5, |drawn| f64::from(drawn) / f64::from(u32::MAX));
    time.mul_f64(1.0 - by + 2.0 * by * part)
}

#[cfg(test)]
mod tests {
    use super::{fresh_id, fresh_key, jittered, now};
    use std::time::Duration;

    #[test]
    fn times_and_ids_are_as_messages_want_them() {
        assert!(now().unwrap().as_str().ends_with('Z'));
        assert_ne!(fresh_id().unwrap(), fresh_id().unwrap());
        assert_ne!(fresh_key().unwrap(), fresh_key().unwrap());
    }

    #[test]
    fn a_pause_changes_by_a_tenth_at_most() {
        for _ in 0..1000 {
            let pause = jittered(Duration::from_secs(10));
            assert!(pause >= Duration::from_secs(9) && pause <= Duration::from_secs(11), "{pause:?}");
        }
    }
}
