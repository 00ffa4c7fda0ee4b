//! Integers in entries. Readers that follow I-JSON (RFC 7493) keep integers up to 2^53−1 exactly: larger ones are written as
//! decimal text. Both forms are read, since older entries have numbers.

use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserializer, Serializer};
use std::fmt;

/// The largest integer that every JSON reader keeps exactly.
const EXACT: u64 = (1 << 53) - 1;

/// Writes an integer that is never negative.
pub(crate) fn serialize<S: Serializer>(value: u64, serializer: S) -> Result<S::Ok, S::Error> {
    if value <= EXACT { serializer.serialize_u64(value) } else { serializer.collect_str(&value) }
}

/// Reads an integer in either form.
pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: TryFrom<i128>,
    D: Deserializer<'de>,
{
    let value = deserializer.deserialize_any(IntegerVisitor)?;
    T::try_from(value)
        .map_err(|_| D::Error::invalid_value(Unexpected::Other("an integer out of range"), &IntegerVisitor))
}

struct IntegerVisitor;

impl Visitor<'_> for IntegerVisitor {
    type Value = i128;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an integer, as a number or as decimal text")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<i128, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<i128, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<i128, E> {
        text.parse().map_err(|_| E::invalid_value(Unexpected::Str(text), &self))
    }
}

/// Signed integers that are mostly large, such as nanoseconds: always as text.
pub(crate) mod text {
    use serde::{Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
    pub(crate) fn serialize<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        super::deserialize(deserializer)
    }
}

/// The entry that registered a sender: `null` for [`NOBODY`](crate::NOBODY), which older entries write as 2^64−1.
pub(crate) mod sender {
    use crate::mailbox::NOBODY;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "asked by serde")]
    pub(crate) fn serialize<S: Serializer>(from: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        if *from == NOBODY { serializer.serialize_none() } else { serializer.serialize_u64(*from) }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.unwrap_or(NOBODY))
    }
}
