//! Time as the record knows it.

use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Microseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Moment(u64);

impl Moment {
    /// This many microseconds after 1970 began.
    pub const fn from_micros(micros: u64) -> Moment {
        Moment(micros)
    }

    /// Microseconds since 1970.
    pub const fn micros(self) -> u64 {
        self.0
    }

    /// The moment so much later.
    #[must_use]
    pub fn plus(self, time: Duration) -> Moment {
        Moment(self.0.saturating_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX)))
    }

    /// The moment of a message's own clock.
    pub fn of(timestamp: &legation_protocol::Timestamp) -> Moment {
        Moment(u64::try_from(timestamp.unix_nanos() / 1000).unwrap_or(0))
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1000);
        let text = at.ok().and_then(|at| at.format(&Rfc3339).ok());
        f.write_str(text.as_deref().unwrap_or("9999-12-31T23:59:59Z"))
    }
}

/// Reads a moment that somebody wrote as a timestamp.
pub(crate) fn stamp<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Moment>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let stamp = text.map(|text| legation_protocol::Timestamp::utc(&text)).transpose();
    stamp.map(|stamp| stamp.as_ref().map(Moment::of)).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::Moment;

    #[test]
    fn a_moment_is_written_as_the_wire_has_it() {
        assert_eq!(Moment::from_micros(1_000_001).to_string(), "1970-01-01T00:00:01.000001Z");
        assert_eq!(Moment::from_micros(u64::MAX).to_string(), "9999-12-31T23:59:59Z");
    }
}
