//! What stands whole in bytes that begin as a JSON object and do not go on as one. What stands there twice is left out:
//! nothing says which of the two would count.

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::fmt;

/// The members that say which message it is, whose, and what it does.
const TOLD: [&str; 4] = ["mcp_version", "performative", "message_id", "sender"];

/// These members of a message, or of the one in a wrapper, as far as the bytes can be read.
pub(super) fn begun(bytes: &[u8]) -> Value {
    let mut seen = Seen::default();
    // Whatever it ends with, what was seen stays.
    serde_json::Deserializer::from_slice(bytes).deserialize_map(Members(&mut seen)).unwrap_or_default();
    let Seen { told, wrapped } = seen;
    let told = wrapped.map_or(told, |message| message.told);
    Value::Object(told.into_iter().filter_map(|(name, value)| Some((name, value?))).collect::<Map<_, _>>())
}

#[derive(Default)]
struct Seen {
    /// What was told; nothing of what was told twice.
    told: BTreeMap<String, Option<Value>>,
    /// The message in a wrapper.
    wrapped: Option<Box<Seen>>,
}

struct Members<'s>(&'s mut Seen);

impl<'de> DeserializeSeed<'de> for Members<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Members<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Members(seen) = self;
        while let Some(name) = map.next_key::<String>()? {
            if name == "message" {
                let is_first = seen.wrapped.is_none();
                let mut message = Box::<Seen>::default();
                let read = map.next_value_seed(Members(&mut message));
                seen.wrapped = Some(if is_first { message } else { Box::default() });
                read?;
            } else if TOLD.contains(&name.as_str()) {
                let value = map.next_value()?;
                seen.told.entry(name).and_modify(|told| *told = None).or_insert(Some(value));
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
