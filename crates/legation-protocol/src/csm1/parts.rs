//! What a CSM-1 code is made of.

/// An enum whose variants each have one letter and one name.
macro_rules! lettered {
    ($(#[$doc:meta])* $type:ident { $($(#[$variant_doc:meta])* $variant:ident = $letter:literal $name:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum $type { $($(#[$variant_doc])* $variant,)* }

        impl $type {
            /// All of them.
            pub const ALL: &'static [$type] = &[$($type::$variant,)*];

            /// The one with this letter.
            pub const fn from_letter(letter: char) -> Option<Self> {
                match letter { $($letter => Some($type::$variant),)* _ => None }
            }

            /// Its letter in a code.
            pub const fn letter(self) -> char {
                match self { $($type::$variant => $letter,)* }
            }

            /// Its name.
            pub const fn name(self) -> &'static str {
                match self { $($type::$variant => $name,)* }
            }
        }
    };
}

lettered! {
    /// The character a constitution gives the model. `R` and `H` were personas once and are refused.
    Persona {
        /// Protects children.
        Nanny = 'N' "nanny",
        /// Guards security and privacy.
        Sentinel = 'Z' "sentinel",
        /// Guides with ethics in mind.
        Godparent = 'G' "godparent",
        /// Speaks in a professional setting.
        Ambassador = 'A' "ambassador",
        /// Helps with creative work.
        Muse = 'M' "muse",
        /// Keeps balance between parties.
        Mediator = 'D' "mediator",
        /// Defined by its user.
        Custom = 'C' "custom",
    }
}

lettered! {
    /// Where a constitution applies. Sorted by letter, as canonical output is.
    Scope {
        /// Adult.
        Adult = 'A' "adult",
        /// Education.
        Education = 'E' "education",
        /// Family.
        Family = 'F' "family",
        /// Health.
        Health = 'H' "health",
        /// Official.
        Official = 'O' "official",
        /// Privacy.
        Privacy = 'P' "privacy",
        /// Religious.
        Religious = 'R' "religious",
        /// Social.
        Social = 'S' "social",
        /// Technical.
        Technical = 'T' "technical",
        /// Vulnerable.
        Vulnerable = 'V' "vulnerable",
        /// Work.
        Work = 'W' "work",
    }
}

/// How strictly a constitution is followed, from 0 to 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Adherence {
    /// 0
    Minimal,
    /// 1
    Relaxed,
    /// 2
    Moderate,
    /// 3
    Standard,
    /// 4
    Strict,
    /// 5
    Maximum,
}

impl Adherence {
    /// All of them, weakest first.
    pub const ALL: &'static [Adherence] = &[
        Adherence::Minimal,
        Adherence::Relaxed,
        Adherence::Moderate,
        Adherence::Standard,
        Adherence::Strict,
        Adherence::Maximum,
    ];

    /// Its digit in a code.
    pub const fn digit(self) -> char {
        match self {
            Adherence::Minimal => '0',
            Adherence::Relaxed => '1',
            Adherence::Moderate => '2',
            Adherence::Standard => '3',
            Adherence::Strict => '4',
            Adherence::Maximum => '5',
        }
    }

    /// Its name.
    pub const fn name(self) -> &'static str {
        match self {
            Adherence::Minimal => "minimal",
            Adherence::Relaxed => "relaxed",
            Adherence::Moderate => "moderate",
            Adherence::Standard => "standard",
            Adherence::Strict => "strict",
            Adherence::Maximum => "maximum",
        }
    }

    pub(super) fn from_digits(digits: &str) -> Option<Self> {
        Adherence::ALL.iter().copied().find(|a| digits.chars().eq([a.digit()]))
    }
}
