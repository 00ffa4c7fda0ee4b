//! Times on the wire: RFC 3339 in UTC, kept with the text they came in.

use serde::{Serialize, Serializer};
use std::fmt;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// An instant, as somebody wrote it. Ordered by the instant, then by its text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    unix_nanos: i128,
    text: Box<str>,
}

/// Why a text is no timestamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadTimestamp {
    /// Not of the form.
    #[error("a time is written like 2026-02-15T10:30:00Z, in UTC, with at most 9 digits of fraction")]
    Form,
    /// A time of the form that does not end in `Z`, where nothing else will do.
    #[error("the time must end in Z")]
    Zulu,
    /// A leap second.
    #[error("there is no second 60 here")]
    Second60,
    /// No such day or hour.
    #[error("there is no such day or time of day")]
    Calendar,
}

impl Timestamp {
    /// Reads a time that ends in `Z`, as VCP messaging 1.2 (section 3.2) asks.
    pub fn zulu(text: &str) -> Result<Timestamp, BadTimestamp> {
        if text.ends_with('Z') {
            return Timestamp::utc(text);
        }
        let timed = text.get(..SECONDS).is_some_and(|local| has_form(local.as_bytes()));
        Err(if timed { BadTimestamp::Zulu } else { BadTimestamp::Form })
    }

    /// Reads a time that ends in `Z` or `+00:00`, as the other dialects allow.
    pub fn utc(text: &str) -> Result<Timestamp, BadTimestamp> {
        let local = text.strip_suffix('Z').or_else(|| text.strip_suffix("+00:00")).ok_or(BadTimestamp::Form)?;
        if !has_form(local.as_bytes()) {
            return Err(BadTimestamp::Form);
        }
        if local.get(17..SECONDS) == Some("60") {
            return Err(BadTimestamp::Second60);
        }
        let at = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| BadTimestamp::Calendar)?;
        Ok(Timestamp { unix_nanos: at.unix_timestamp_nanos(), text: text.into() })
    }

    /// Nanoseconds since 1970.
    pub const fn unix_nanos(&self) -> i128 {
        self.unix_nanos
    }

    /// The text as written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

/// The length of `YYYY-MM-DDThh:mm:ss`.
const SECONDS: usize = 19;

/// `YYYY-MM-DDThh:mm:ss[.fraction]`
fn has_form(local: &[u8]) -> bool {
    let Some((seconds, fraction)) = local.split_at_checked(SECONDS) else { return false };
    let shaped = seconds.iter().zip(b"0000-00-00T00:00:00").all(|(byte, form)| match form {
        b'0' => byte.is_ascii_digit(),
        mark => byte == mark,
    });
    let fraction_ok = match fraction {
        [] => true,
        [b'.', digits @ ..] => (1..=9).contains(&digits.len()) && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    shaped && fraction_ok
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::{BadTimestamp, Timestamp};

    #[track_caller]
    fn check(text: &str, want: Result<i128, BadTimestamp>) {
        assert_eq!(Timestamp::utc(text).map(|t| t.unix_nanos()), want, "{text}");
    }

    #[test]
    fn utc_has_two_spellings_and_no_third() {
        check("1970-01-01T00:00:01Z", Ok(1_000_000_000));
        check("1970-01-01T00:00:01+00:00", Ok(1_000_000_000));
        check("1970-01-01T00:00:00.123456789Z", Ok(123_456_789));
        check("2024-02-29T23:59:59Z", Ok(1_709_251_199_000_000_000));
        for form in [
            "",
            "2026-02-15",
            "2026-02-15 10:30:00Z",
            "2026-02-15t10:30:00Z",
            "2026-02-15T10:30:00z",
            "2026-02-15T10:30:00",
            "2026-02-15T10:30:00-00:00",
            "2026-02-15T10:30:00+01:00",
            "2026-02-15T10:30Z",
            "2026-02-15T10:30:00.Z",
            "2026-02-15T10:30:00.1234567890Z",
            "+2026-02-15T10:30:00Z",
            "2026-02-15T10:30:00Z\n",
        ] {
            check(form, Err(BadTimestamp::Form));
        }
        for day in ["2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z", "2026-01-01T24:00:00Z", "2026-00-10T00:00:00Z"] {
            check(day, Err(BadTimestamp::Calendar));
        }
        for leap in ["2016-12-31T23:59:60Z", "2026-02-15T10:30:60Z", "2016-12-31T23:59:60.5+00:00"] {
            check(leap, Err(BadTimestamp::Second60));
        }
    }

    #[test]
    fn zulu_is_told_from_other_zones() {
        assert!(Timestamp::zulu("1970-01-01T00:00:01Z").is_ok());
        for zone in ["+00:00", "+01:00", "-00:00", "", "z", ".5+02:00"] {
            assert_eq!(Timestamp::zulu(&format!("1970-01-01T00:00:01{zone}")), Err(BadTimestamp::Zulu), "{zone}");
        }
        for form in ["", "1970-01-01", "1970-01-01 00:00:01+00:00", "1970-01-01T00:00+00:00"] {
            assert_eq!(Timestamp::zulu(form), Err(BadTimestamp::Form), "{form}");
        }
    }
}
