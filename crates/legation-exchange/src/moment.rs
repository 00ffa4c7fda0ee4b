//! Time as the record knows it.

use crate::wire_integer;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::time::Duration;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Microseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Moment(u64);

impl Serialize for Moment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        wire_integer::serialize(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Moment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Moment, D::Error> {
        wire_integer::deserialize(deserializer).map(Moment)
    }
}

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
    fn a_moment_beyond_i_json_is_written_as_text_and_read_in_both_forms() {
        for (micros, text) in [(9_007_199_254_740_991, "9007199254740991"), (u64::MAX, r#""18446744073709551615""#)] {
            let moment = Moment::from_micros(micros);
            assert_eq!(serde_json::to_string(&moment).unwrap(), text);
            for text in [text.to_owned(), micros.to_string()] {
                assert_eq!(serde_json::from_str::<Moment>(&text).unwrap(), moment, "{text}");
            }
        }
        for text in ["-1", "1.5", r#""x""#, "null", r#""18446744073709551616""#] {
            assert!(serde_json::from_str::<Moment>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_moment_is_written_as_the_wire_has_it() {
        assert_eq!(Moment::from_micros(1_000_001).to_string(), "1970-01-01T00:00:01.000001Z");
        assert_eq!(Moment::from_micros(u64::MAX).to_string(), "9999-12-31T23:59:59Z");
    }
}
