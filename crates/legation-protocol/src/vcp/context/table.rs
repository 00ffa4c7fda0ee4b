//! The nine dimensions and the values that have names.

use super::emoji;
use crate::names::names;

/// What a part of a context is about, in canonical order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Dimension {
    /// When.
    Time,
    /// Where.
    Space,
    /// Who is there.
    Company,
    /// How people deal with each other here.
    Culture,
    /// What is going on.
    Occasion,
    /// How the person is.
    State,
    /// What the surroundings are like.
    Environment,
    /// What the person can decide.
    Agency,
    /// What limits them.
    Constraints,
}

names!(Dimension {
    Time = "time",
    Space = "space",
    Company = "company",
    Culture = "culture",
    Occasion = "occasion",
    State = "state",
    Environment = "environment",
    Agency = "agency",
    Constraints = "constraints",
});

impl Dimension {
    /// The symbol that begins its part.
    pub const fn symbol(self) -> &'static str {
        match self {
            Dimension::Time => "⏰",
            Dimension::Space => "📍",
            Dimension::Company => "👥",
            Dimension::Culture => "🌍",
            Dimension::Occasion => "🎭",
            Dimension::State => "🧠",
            Dimension::Environment => "🌡️",
            Dimension::Agency => "🔷",
            Dimension::Constraints => "🔶",
        }
    }

    /// The dimension whose symbol a part begins with, in any style, and what follows the symbol.
    pub(super) fn begun(part: &str) -> Option<(Dimension, &str)> {
        let after = |dimension: &Dimension| {
            let symbol = dimension.symbol();
            let rest = part.strip_prefix(symbol.strip_suffix(emoji::is_style).unwrap_or(symbol))?;
            Some((*dimension, emoji::skip(rest, emoji::is_style)))
        };
        Dimension::ALL.iter().find_map(after).filter(|(_, rest)| !emoji::continues(rest))
    }

    /// Its values that have names: emoji and name.
    pub const fn table(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Dimension::Time => TIME,
            Dimension::Space => SPACE,
            Dimension::Company => COMPANY,
            Dimension::Culture => CULTURE,
            Dimension::Occasion => OCCASION,
            Dimension::State => STATE,
            Dimension::Environment => ENVIRONMENT,
            Dimension::Agency => AGENCY,
            Dimension::Constraints => CONSTRAINTS,
        }
    }
}

const TIME: &[(&str, &str)] = &[
    ("🌅", "morning"),
    ("☀️", "daytime"),
    ("🌆", "evening"),
    ("🌙", "night"),
    ("📅", "weekday"),
    ("🎉", "weekend"),
    ("⏰", "time_pressure"),
    ("📆", "scheduled"),
    ("🔄", "recurring"),
];

const SPACE: &[(&str, &str)] = &[
    ("🏡", "home"),
    ("🏢", "office"),
    ("🏫", "school"),
    ("🏥", "hospital"),
    ("⛪", "religious"),
    ("🏛️", "government"),
    ("🏪", "commercial"),
    ("🚗", "vehicle"),
    ("🌳", "outdoor"),
    ("💻", "digital"),
    ("🏠", "shared_space"),
    ("🔒", "secure_facility"),
];

const COMPANY: &[(&str, &str)] = &[
    ("👤", "alone"),
    ("👶", "children"),
    ("👨‍👩‍👧", "family"),
    ("👔", "colleagues"),
    ("👨‍🏫", "teacher"),
    ("👮", "authority"),
    ("👴", "elders"),
    ("💑", "partner"),
    ("🤝", "peers"),
    ("👨‍⚕️", "professional"),
    ("🧑‍🤝‍🧑", "strangers"),
    ("👥", "crowd"),
];

const CULTURE: &[(&str, &str)] = &[
    ("🔇", "high_context"),
    ("📢", "low_context"),
    ("🎩", "formal"),
    ("👋", "informal"),
    ("📊", "hierarchical"),
    ("⚖️", "egalitarian"),
    ("👥", "collectivist"),
    ("👤", "individualist"),
];

const OCCASION: &[(&str, &str)] = &[
    ("➖", "normal"),
    ("🎂", "celebration"),
    ("💼", "business"),
    ("⚰️", "mourning"),
    ("💒", "ceremony"),
    ("🏥", "medical"),
    ("🚨", "emergency"),
    ("👨‍🏫", "educational"),
    ("🎪", "entertainment"),
    ("⚖️", "legal"),
    ("🗳️", "political"),
    ("🎓", "graduation"),
];

const STATE: &[(&str, &str)] = &[
    ("😊", "happy"),
    ("😴", "tired"),
    ("😰", "anxious"),
    ("😡", "angry"),
    ("😢", "sad"),
    ("🤒", "sick"),
    ("😋", "hungry"),
    ("🥳", "excited"),
    ("😌", "calm"),
    ("🤔", "contemplative"),
    ("😵", "overwhelmed"),
    ("🥺", "vulnerable"),
];

const ENVIRONMENT: &[(&str, &str)] = &[
    ("☀️", "comfortable"),
    ("🥵", "hot"),
    ("🥶", "cold"),
    ("🌧️", "wet"),
    ("🌪️", "dangerous"),
    ("🔇", "quiet"),
    ("📢", "loud"),
    ("🔥", "fire"),
    ("💨", "windy"),
    ("🌫️", "poor_visibility"),
    ("🏔️", "high_altitude"),
    ("🌊", "near_water"),
];

const AGENCY: &[(&str, &str)] = &[
    ("👑", "leader"),
    ("🤝", "peer"),
    ("👇", "subordinate"),
    ("💰", "wealthy"),
    ("💵", "adequate"),
    ("🕳️", "scarce"),
    ("🏡", "owner"),
    ("🔑", "authorized"),
    ("🎓", "expert"),
    ("🆓", "autonomous"),
    ("🔐", "limited"),
    ("🏃", "mobile"),
];

const CONSTRAINTS: &[(&str, &str)] = &[
    ("○", "minimal"),
    ("🚧", "physical"),
    ("⚖️", "legal"),
    ("💸", "economic"),
    ("⏰", "time"),
    ("🤐", "social"),
    ("📱", "surveillance"),
    ("🚨", "emergency"),
    ("👮", "enforcement"),
    ("📜", "contractual"),
    ("🏥", "medical"),
    ("🔒", "confidential"),
];
