//! How a configuration writes times, sizes and rates.

use legation_protocol::negotiation::ExtensionName;
use legation_server::{Negotiation, Network};
use serde::de::{Error as _, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// A time, such as `5m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span(pub(crate) Duration);

const SPANS: [(&str, u64); 5] = [("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Span, String> {
        let millis = measured(text, &SPANS).ok_or("write a time as a number with ms, s, m, h or d: \"30s\", \"5m\"")?;
        Ok(Span(Duration::from_millis(millis)))
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let millis = u64::try_from(self.0.as_millis()).unwrap_or(u64::MAX);
        let (number, unit) = in_units(millis, &SPANS);
        write!(f, "{number}{unit}")
    }
}

/// A size, such as `64 KiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Size(pub(crate) u64);

const SIZES: [(&str, u64); 4] = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10), ("B", 1)];

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Size, String> {
        let bytes = measured(text, &SIZES).ok_or("write a size as a number with B, KiB, MiB or GiB: \"64 KiB\"")?;
        Ok(Size(bytes))
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, unit) = in_units(self.0, &SIZES);
        write!(f, "{number} {unit}")
    }
}

/// A whole number and its unit, as so many of the smallest unit.
fn measured(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let end = text.find(|c: char| !c.is_ascii_digit())?;
    let (number, unit) = text.split_at_checked(end)?;
    let (_, factor) = units.iter().find(|(name, _)| *name == unit.trim_start())?;
    number.parse::<u64>().ok()?.checked_mul(*factor)
}

/// So many of the largest unit that leaves nothing over. Units come largest first.
fn in_units<'u>(value: u64, units: &[(&'u str, u64)]) -> (u64, &'u str) {
    let fitting = units.iter().find(|(_, factor)| value >= *factor && value.is_multiple_of(*factor));
    let (unit, factor) = fitting.or(units.last()).copied().unwrap_or(("", 1));
    (value / factor, unit)
}

/// Who may open a file, such as `0600`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mode(pub(crate) u32);

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Mode, String> {
        let octal = text.len() <= 4 && text.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
        let mode = u32::from_str_radix(text, 8).ok().filter(|mode| octal && *mode <= 0o777);
        mode.map(Mode).ok_or_else(|| "write who may open it as three octal digits: \"0600\", \"0660\"".to_owned())
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04o}", self.0)
    }
}

/// A proxy's address, or all that begin alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Trusted(pub(crate) Network);

impl FromStr for Trusted {
    type Err = String;

    fn from_str(text: &str) -> Result<Trusted, String> {
        text.parse().map(Trusted)
    }
}

/// An extension of VCP, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extension(pub(crate) ExtensionName);

impl FromStr for Extension {
    type Err = String;

    fn from_str(text: &str) -> Result<Extension, String> {
        let known = Negotiation::KNOWN.into_iter().find(|name| name.as_str() == text);
        let names = || Negotiation::KNOWN.map(|name| name.to_string()).join(", ");
        known.map(Extension).ok_or_else(|| format!("there is no such extension; there are {}", names()))
    }
}

/// How many, or as many as there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    Unlimited,
    /// At least one.
    Most(u32),
}

impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Count::Unlimited => f.write_str("\"unlimited\""),
            Count::Most(number) => write!(f, "{number}"),
        }
    }
}

macro_rules! from_text {
    ($($kind:ident)*) => { $(
        impl<'de> Deserialize<'de> for $kind {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
            }
        }
    )* };
}

from_text!(Span Size Mode Trusted Extension);

/// One text, or a list of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Texts(pub(crate) Vec<String>);

impl<'de> Deserialize<'de> for Texts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Texts;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string, or a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<Texts, E> {
                Ok(Texts(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Texts, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(Texts(texts))
            }
        }
        deserializer.deserialize_any(Reader)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Wire {
            Number(u32),
            Word(String),
        }
        match Wire::deserialize(deserializer) {
            Ok(Wire::Number(number)) if number > 0 => Ok(Count::Most(number)),
            Ok(Wire::Word(word)) if word == "unlimited" => Ok(Count::Unlimited),
            Ok(_) | Err(_) => Err(D::Error::custom("write a whole number from 1, or \"unlimited\"")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Mode, Size, Span};

    #[test]
    fn times_are_read_as_they_are_written() {
        for (text, millis) in [("0ms", 0), ("250ms", 250), ("90s", 90_000), ("5m", 300_000), ("1h", 3_600_000)] {
            let span: Span = text.parse().unwrap();
            assert_eq!((span.0.as_millis(), span.to_string().as_str()), (millis, text));
        }
        assert_eq!("60s".parse::<Span>().unwrap().to_string(), "1m");
        assert_eq!("7d".parse::<Span>(), "168h".parse());
        for text in ["", "5", "m", "-5m", "5 minutes", "1.5h", "5M", "99999999999999999999s", "18446744073709551615d"] {
            assert!(text.parse::<Span>().is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_read_as_they_are_written() {
        for (text, bytes) in [("0 B", 0), ("100 B", 100), ("64 KiB", 65_536), ("64 MiB", 64 << 20), ("1 GiB", 1 << 30)]
        {
            let size: Size = text.parse().unwrap();
            assert_eq!((size.0, size.to_string().as_str()), (bytes, text));
        }
        assert_eq!("64KiB".parse(), Ok(Size(65_536)));
        for text in ["", "64", "64 kb", "64 KB", "KiB", "1.5 MiB"] {
            assert!(text.parse::<Size>().is_err(), "{text}");
        }
    }

    #[test]
    fn modes_are_octal() {
        for (text, mode) in [("0600", 0o600), ("660", 0o660), ("0777", 0o777)] {
            assert_eq!(text.parse(), Ok(Mode(mode)));
        }
        for text in ["", "0800", "rw", "1777", "00600", "+600", "-1"] {
            assert!(text.parse::<Mode>().is_err(), "{text}");
        }
    }
}
