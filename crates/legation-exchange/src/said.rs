//! What a registration says of something that can be taken away again.

use serde::{Deserialize, Deserializer};

/// What is said of something: nothing, that it is no more, or what it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Said<T> {
    /// Nothing: it stays as it is.
    #[default]
    Unsaid,
    /// It is taken away: `null`.
    Ended,
    /// It is this.
    To(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Said<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Said<T>, D::Error> {
        Option::<T>::deserialize(deserializer).map(|said| said.map_or(Said::Ended, Said::To))
    }
}

/// None is nothing said.
impl<T> From<Option<T>> for Said<T> {
    fn from(said: Option<T>) -> Said<T> {
        said.map_or(Said::Unsaid, Said::To)
    }
}

impl<T> Said<T> {
    /// What it makes of what was before.
    pub(crate) fn onto(self, before: Option<T>) -> Option<T> {
        match self {
            Said::Unsaid => before,
            Said::Ended => None,
            Said::To(new) => Some(new),
        }
    }

    /// What it is from now on, if that is said.
    pub fn value(&self) -> Option<&T> {
        match self {
            Said::To(new) => Some(new),
            Said::Unsaid | Said::Ended => None,
        }
    }

    /// Whether anything is said of it.
    pub fn is_said(&self) -> bool {
        !matches!(self, Said::Unsaid)
    }
}

/// Reads what cannot be taken away: nobody takes a `null` for more than it says.
pub(crate) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    let null = "null takes nothing away here: leave the member out, or give an empty list where it is a list";
    Option::<T>::deserialize(deserializer)?.map(Some).ok_or_else(|| serde::de::Error::custom(null))
}
