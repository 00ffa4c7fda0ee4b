//! Enums of plain words, as the negotiation's capability objects spell them. The lower-case spelling is
//! taken too.

macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($(#[$about:meta])* $variant:ident = $name:literal | $lower:literal),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
        pub enum $type {
            $($(#[$about])* #[serde(rename = $name, alias = $lower)] $variant),+
        }

        impl $type {
            /// All of them, in order.
            pub const ALL: &'static [$type] = &[$($type::$variant),+];

            /// Its name on the wire.
            pub const fn as_str(self) -> &'static str {
                match self { $($type::$variant => $name),+ }
            }

            /// Its name within a sentence.
            pub const fn lower(self) -> &'static str {
                match self { $($type::$variant => $lower),+ }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

pub(super) use words;
