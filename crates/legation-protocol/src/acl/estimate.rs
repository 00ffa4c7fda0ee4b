//! How long a task is expected to take (section 4.2): seconds or an ISO 8601 duration.

use crate::code::Code;
use crate::json::Kind;
use crate::read::At;
use serde::{Serialize, Serializer};
use std::fmt;
use std::time::Duration;

/// An estimate, in the form it was given.
#[derive(Clone, Debug, PartialEq)]
pub enum Estimate {
    /// A number of seconds, zero or more.
    Seconds(f64),
    /// A duration such as `PT5M`.
    Duration(IsoDuration),
}

/// An ISO 8601 duration, as written.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct IsoDuration(Box<str>);

/// Why a text is no duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a duration is written like PT5M or P1DT12H: capital letters, no sign, a fraction in the last part only")]
pub struct BadDuration;

impl Estimate {
    /// How long that is, unless years or months leave it open.
    pub fn length(&self) -> Option<Duration> {
        match self {
            Estimate::Seconds(seconds) => Duration::try_from_secs_f64(*seconds).ok(),
            Estimate::Duration(duration) => duration.length(),
        }
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Estimate> {
        match (at.node.number(), at.node.text()) {
            (Some(seconds), _) if seconds >= 0.0 => Some(Estimate::Seconds(seconds)),
            (Some(_), _) => {
                at.fail_with(Code::BadEstimate, "nothing takes less than no time", "give zero seconds or more")
            }
            (None, Some(text)) => match IsoDuration::parse(&text) {
                Ok(duration) => Some(Estimate::Duration(duration)),
                Err(error) => at.fail_with(Code::BadEstimate, error.to_string(), fix(&text)),
            },
            (None, None) => {
                let found = Kind::noun(at.node.kind());
                at.fail(Code::SchemaInvalid, format!("expected a number of seconds or a duration, found {found}"))
            }
        }
    }
}

fn fix(text: &str) -> &'static str {
    if text.parse::<f64>().is_ok() {
        "write seconds as a number, without quotes"
    } else {
        "write for example \"PT5M\" for five minutes, or 300"
    }
}

impl From<Duration> for Estimate {
    fn from(length: Duration) -> Self {
        Estimate::Seconds(length.as_secs_f64())
    }
}

impl Serialize for Estimate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            // Whole seconds are written without a point, as people do.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole and within 2^53")]
            Estimate::Seconds(seconds)
                if seconds.fract() == 0.0 && (0.0..9_007_199_254_740_992.0).contains(seconds) =>
            {
                serializer.serialize_u64(*seconds as u64)
            }
            Estimate::Seconds(seconds) => serializer.serialize_f64(*seconds),
            Estimate::Duration(duration) => duration.serialize(serializer),
        }
    }
}

impl IsoDuration {
    /// Reads `P[nY][nM][nD][T[nH][nM][nS]]` with at least one part, or `PnW`.
    pub fn parse(text: &str) -> Result<IsoDuration, BadDuration> {
        let rest = text.strip_prefix('P').ok_or(BadDuration)?;
        let mut any = false;
        read_parts(rest, |_, _| any = true).filter(|()| any).map(|()| IsoDuration(text.into())).ok_or(BadDuration)
    }

    /// How long that is, unless years or months leave it open.
    pub fn length(&self) -> Option<Duration> {
        let mut seconds = Some(0.0);
        read_parts(self.0.get(1..)?, |number, unit| {
            seconds = seconds.and_then(|sum: f64| Some(sum + in_seconds(number, unit)?));
        })?;
        Duration::try_from_secs_f64(seconds?).ok()
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IsoDuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The units in the order they must come.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Minute,
    Second,
}

/// Walks over the parts after `P`; nothing when they break the grammar.
fn read_parts(text: &str, mut part: impl FnMut(&str, Unit)) -> Option<()> {
    let (date, time) = match text.split_once('T') {
        Some((_, "")) => return None,
        Some((date, time)) => (date, Some(time)),
        None => (text, None),
    };
    let mut last = None;
    let mut rest = date;
    let mut in_time = false;
    loop {
        while !rest.is_empty() {
            let (number, unit, after) = next_part(rest, in_time)?;
            let ends = after.is_empty() && (in_time || time.is_none());
            let alone = unit != Unit::Week || (last.is_none() && ends);
            let fraction = number.contains(['.', ',']);
            if last >= Some(unit) || !alone || (fraction && !ends) {
                return None;
            }
            part(number, unit);
            (last, rest) = (Some(unit), after);
        }
        match time {
            Some(time) if !in_time => (rest, in_time) = (time, true),
            Some(_) | None => return Some(()),
        }
    }
}

/// Takes digits, an optional fraction and a unit off the front.
fn next_part(text: &str, in_time: bool) -> Option<(&str, Unit, &str)> {
    let end = text.find(|c: char| c.is_ascii_uppercase())?;
    let (number, rest) = text.split_at(end);
    let mut runs = number.split(['.', ',']);
    let digits = |run: &str| !run.is_empty() && run.bytes().all(|b| b.is_ascii_digit());
    if !(runs.next().is_some_and(digits) && runs.next().is_none_or(digits) && runs.next().is_none()) {
        return None;
    }
    let unit = match (rest.as_bytes().first()?, in_time) {
        (b'Y', false) => Unit::Year,
        (b'M', false) => Unit::Month,
        (b'W', false) => Unit::Week,
        (b'D', false) => Unit::Day,
        (b'H', true) => Unit::Hour,
        (b'M', true) => Unit::Minute,
        (b'S', true) => Unit::Second,
        _ => return None,
    };
    Some((number, unit, rest.get(1..)?))
}

fn in_seconds(number: &str, unit: Unit) -> Option<f64> {
    let count: f64 = number.replace(',', ".").parse().ok()?;
    let one = match unit {
        Unit::Year | Unit::Month if count == 0.0 => 0.0,
        Unit::Year | Unit::Month => return None,
        Unit::Week => 604_800.0,
        Unit::Day => 86_400.0,
        Unit::Hour => 3_600.0,
        Unit::Minute => 60.0,
        Unit::Second => 1.0,
    };
    Some(count * one)
}

#[cfg(test)]
mod tests {
    use super::{BadDuration, Estimate, IsoDuration};
    use std::time::Duration;

    #[track_caller]
    fn check(text: &str, want: Option<u64>) {
        let length = IsoDuration::parse(text).unwrap().length();
        assert_eq!(length, want.map(Duration::from_millis), "{text}");
    }

    #[test]
    fn a_duration_has_a_length_unless_it_has_months() {
        check("PT5M", Some(300_000));
        check("PT0S", Some(0));
        check("P2W", Some(1_209_600_000));
        check("P1,5W", Some(907_200_000));
        check("P1DT12H", Some(129_600_000));
        check("PT1H5S", Some(3_605_000));
        check("PT0.5S", Some(500));
        check("PT1,5H", Some(5_400_000));
        check("P0Y0M1D", Some(86_400_000));
        check("P1M", None);
        check("P1Y2M10DT2H30M15S", None);
        check(&format!("P{}D", "9".repeat(400)), None);
    }

    #[test]
    fn parts_come_in_order_and_once() {
        for text in [
            "",
            "P",
            "PT",
            "P1DT",
            "5M",
            "300",
            "pt5m",
            "Pt5M",
            "-PT5M",
            "+PT5M",
            "P5H",
            "P5S",
            "PT5D",
            "PT5M1H",
            "PT5M5M",
            "PT1.5H30M",
            "P1.5DT1H",
            "PT.5S",
            "PT5.S",
            "PT1.2.3S",
            "P1W2D",
            "P1D1W",
            "P1WT1H",
            "PT5",
            "P5",
            "PTM",
            "P 1D",
            "P-1D",
            "PT5M ",
            "PT5MT5S",
            "00:05:00",
            "PT5M/PT10M",
            "P٣D",
            "PT5Ḿ",
        ] {
            assert_eq!(IsoDuration::parse(text), Err(BadDuration), "{text}");
        }
    }

    #[test]
    fn whole_seconds_are_written_whole() {
        let written = |estimate: Estimate| serde_json::to_string(&estimate).unwrap();
        assert_eq!(written(Duration::from_mins(5).into()), "300");
        assert_eq!(written(Duration::from_millis(1_500).into()), "1.5");
        assert_eq!(written(Estimate::Duration(IsoDuration::parse("PT5M").unwrap())), "\"PT5M\"");
        assert_eq!(Estimate::Seconds(-1.0).length(), None);
    }
}
