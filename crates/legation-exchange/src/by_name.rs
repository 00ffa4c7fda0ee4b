//! A map by name, for what is looked up for every message: a lookup costs the same among ten names and among a
//! hundred thousand. It is written and gone through in the order of the names, so that no hash reaches the record.

use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;

#[expect(clippy::disallowed_types, reason = "never gone through in its own order")]
type Hashed<V> = std::collections::HashMap<String, V, foldhash::fast::RandomState>;

/// A map by name.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub(crate) struct ByName<V>(Hashed<V>);

impl<V> Default for ByName<V> {
    fn default() -> Self {
        ByName(Hashed::default())
    }
}

impl<V> ByName<V> {
    pub(crate) fn get(&self, name: &str) -> Option<&V> {
        self.0.get(name)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut V> {
        self.0.get_mut(name)
    }

    pub(crate) fn contains_key(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    pub(crate) fn insert(&mut self, name: String, value: V) {
        self.0.insert(name, value);
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<V> {
        self.0.remove(name)
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Those with this property, by name.
    pub(crate) fn filter(&self, has: impl Fn(&V) -> bool) -> impl Iterator<Item = (&str, &V)> {
        let found: BTreeMap<_, _> = self.0.iter().filter(|(_, value)| has(value)).collect();
        found.into_iter().map(|(name, value)| (name.as_str(), value))
    }

    /// All of them, by name.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &V)> {
        self.filter(|_| true)
    }

    /// All of them, by name, to be changed.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (&str, &mut V)> {
        let all: BTreeMap<_, _> = self.0.iter_mut().collect();
        all.into_iter().map(|(name, value)| (name.as_str(), value))
    }
}

impl<V: Default> ByName<V> {
    /// The value of a name, a new one if it has none.
    pub(crate) fn or_default(&mut self, name: &str) -> &mut V {
        self.0.entry(name.to_owned()).or_default()
    }
}

impl<V: Serialize> Serialize for ByName<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::ByName;

    #[test]
    fn it_is_written_and_gone_through_by_name() {
        let mut names = ByName::<u8>::default();
        for (number, name) in ["c", "a", "d", "b"].into_iter().enumerate() {
            *names.or_default(name) += u8::try_from(number).unwrap();
        }
        *names.or_default("a") += 10;
        assert_eq!(serde_json::to_string(&names).unwrap(), r#"{"a":11,"b":3,"c":0,"d":2}"#);
        assert_eq!(names.iter().map(|(name, _)| name).collect::<String>(), "abcd");
        assert_eq!(names.filter(|number| *number > 2).map(|(name, _)| name).collect::<String>(), "ab");
        let read: ByName<u8> = serde_json::from_str(r#"{"d":2,"b":3,"c":0,"a":11}"#).unwrap();
        assert_eq!(read, names);
    }
}
