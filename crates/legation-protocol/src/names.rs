//! How types look on the wire: the names of enums, the texts of what is checked text.

/// Gives an enum of plain variants its wire names: `ALL`, `as_str`, `named`, `Display`, `Serialize`. Those beyond the
/// spec have names too, and are none of `ALL`.
macro_rules! names {
    ($type:ident { $($variant:ident = $name:literal),+ $(,)? } $(beyond { $($more:ident = $called:literal),+ })?) => {
        impl $type {
            /// All values, in the spec's order.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// The name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $name,)+ $($($type::$more => $called,)+)? }
            }

            /// The value with this name.
            pub fn named(name: &str) -> Option<Self> {
                match name { $($name => Some($type::$variant),)+ $($($called => Some($type::$more),)+)? _ => None }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let name = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::named(&name).ok_or_else(|| serde::de::Error::custom(format!("{name:?} is no value of this kind")))
            }
        }

        impl $crate::read::Named for $type {
            const ALL: &'static [Self] = $type::ALL;
            fn as_str(self) -> &'static str {
                $type::as_str(self)
            }
        }
    };
}

/// Shows and writes a type that is a checked text by that text.
macro_rules! as_text {
    ($type:ident) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl std::fmt::Debug for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Debug::fmt(self.as_str(), f)
            }
        }

        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }
    };
}

pub(crate) use as_text;
pub(crate) use names;
