//! VCP-X-Personal: how somebody is, in five dimensions. What they say fades with time; nothing changes for
//! that, since what is left of it is worked out when it is asked for.

mod decay;

pub use decay::{Lifecycle, effective, lifecycle};

use super::words::words;
use super::{Subject, bounds};
use crate::moment::Moment;
use crate::rules::At;
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// One side of how somebody is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// How they think.
    CognitiveState,
    /// How they feel.
    EmotionalTone,
    /// How much strength they have.
    EnergyLevel,
    /// How much of a hurry they are in.
    PerceivedUrgency,
    /// What their body tells.
    BodySignals,
}

impl Dimension {
    /// All of them.
    pub const ALL: [Dimension; 5] = [
        Dimension::CognitiveState,
        Dimension::EmotionalTone,
        Dimension::EnergyLevel,
        Dimension::PerceivedUrgency,
        Dimension::BodySignals,
    ];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Dimension::CognitiveState => "cognitive_state",
            Dimension::EmotionalTone => "emotional_tone",
            Dimension::EnergyLevel => "energy_level",
            Dimension::PerceivedUrgency => "perceived_urgency",
            Dimension::BodySignals => "body_signals",
        }
    }

    /// What may be said in it.
    pub const fn categories(self) -> &'static [&'static str] {
        match self {
            Dimension::CognitiveState => &["focused", "distracted", "overloaded", "foggy", "reflective"],
            Dimension::EmotionalTone => &["calm", "tense", "frustrated", "neutral", "uplifted"],
            Dimension::EnergyLevel => &["rested", "low_energy", "fatigued", "wired", "depleted"],
            Dimension::PerceivedUrgency => &["unhurried", "time_aware", "pressured", "critical"],
            Dimension::BodySignals => &["neutral", "discomfort", "pain", "unwell", "recovering"],
        }
    }

    /// After how long half of it is left.
    pub const fn half_life(self) -> Duration {
        Duration::from_secs(match self {
            Dimension::CognitiveState => 720,
            Dimension::EmotionalTone => 1800,
            Dimension::EnergyLevel => 7200,
            Dimension::PerceivedUrgency => 900,
            Dimension::BodySignals => 14_400,
        })
    }

    /// Whether it is fresh again when somebody engages.
    pub const fn resets_on_engagement(self) -> bool {
        match self {
            Dimension::CognitiveState => true,
            Dimension::EmotionalTone
            | Dimension::EnergyLevel
            | Dimension::PerceivedUrgency
            | Dimension::BodySignals => false,
        }
    }
}

words!(
    /// Where a signal comes from.
    Source {
        /// They said so.
        Declared = "DECLARED" | "declared",
        /// Somebody concluded it.
        Inferred = "INFERRED" | "inferred",
        /// Concluded on their own machine.
        InferredLocal = "INFERRED_LOCAL" | "inferred_local",
        /// Set beforehand.
        Preset = "PRESET" | "preset",
        /// What is left of an older one.
        Decayed = "DECAYED" | "decayed",
    }
);

/// What somebody is said to be, as it is asked for.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// In which dimension.
    pub dimension: Dimension,
    /// What.
    pub category: String,
    /// How much, from 1 to 5.
    #[serde(default = "medium")]
    pub intensity: u8,
    /// How sure that is, from 0 to 1.
    #[serde(default = "sure")]
    pub confidence: f64,
    /// Where it comes from.
    #[serde(default = "declared")]
    pub source: Source,
    /// Whether it stays as it is.
    #[serde(default)]
    pub pinned: bool,
}

const fn medium() -> u8 {
    3
}

const fn sure() -> f64 {
    1.0
}

const fn declared() -> Source {
    Source::Declared
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// To note signals.
    Set(Set),
    /// To take some back.
    Clear(Clear),
    /// To note that they engage: what then is fresh again, is.
    Engage,
}

/// To note signals, one a dimension.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Set {
    /// Which.
    pub signals: Vec<Wanted>,
}

/// To take signals back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Clear {
    /// Of these dimensions; of all without any.
    pub dimensions: BTreeSet<Dimension>,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Signals were noted.
    Set(Vec<Signal>),
    /// Signals were taken back.
    Cleared(BTreeSet<Dimension>),
    /// They engaged.
    Engaged,
}

/// What somebody is, as of when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Signal {
    /// In which dimension.
    pub dimension: Dimension,
    /// What.
    pub category: String,
    /// How much it was when it was noted.
    pub intensity: u8,
    /// How sure that is.
    pub confidence: f64,
    /// Where it comes from.
    pub source: Source,
    /// Whether it stays as it is.
    pub pinned: bool,
    /// Since when it fades: when it was noted, or they last engaged.
    #[serde(default)]
    pub since: Moment,
}

impl Signal {
    /// How much of it is left.
    pub fn effective(&self, now: Moment) -> u8 {
        effective(self, now)
    }

    /// Where it stands.
    pub fn lifecycle(&self, now: Moment) -> Lifecycle {
        lifecycle(self, now)
    }
}

/// How everybody is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kept {
    signals: BTreeMap<Subject, BTreeMap<Dimension, Signal>>,
}

impl Kept {
    /// How somebody is.
    pub fn of(&self, subject: &Subject) -> impl Iterator<Item = &Signal> {
        self.signals.get(subject).into_iter().flat_map(BTreeMap::values)
    }

    pub(super) fn decide(&self, subject: &Subject, act: &Act) -> Result<Change, Rejection> {
        match act {
            Act::Set(Set { signals }) => {
                bounds::room(&self.signals, subject)?;
                checked(signals).map(Change::Set)
            }
            Act::Clear(Clear { dimensions }) if dimensions.is_empty() => Ok(Change::Cleared(Dimension::ALL.into())),
            Act::Clear(Clear { dimensions }) => Ok(Change::Cleared(dimensions.clone())),
            Act::Engage => Ok(Change::Engaged),
        }
    }

    pub(super) fn apply(&mut self, at: At, subject: &Subject, change: &Change) {
        match change {
            Change::Set(signals) => {
                let own = self.signals.entry(subject.clone()).or_default();
                for signal in signals {
                    own.insert(signal.dimension, Signal { since: at.at, ..signal.clone() });
                }
            }
            Change::Cleared(dimensions) => {
                let Some(own) = self.signals.get_mut(subject) else { return };
                own.retain(|dimension, _| !dimensions.contains(dimension));
                if own.is_empty() {
                    self.signals.remove(subject);
                }
            }
            Change::Engaged => {
                let own = self.signals.get_mut(subject).into_iter().flat_map(BTreeMap::values_mut);
                own.filter(|signal| signal.dimension.resets_on_engagement()).for_each(|signal| signal.since = at.at);
            }
        }
    }

    pub(super) fn forget(&mut self, subject: &Subject) {
        self.signals.remove(subject);
    }
}

fn checked(wanted: &[Wanted]) -> Result<Vec<Signal>, Rejection> {
    bounds::count(wanted.len(), 1, Dimension::ALL.len(), "/signals")?;
    let mut seen = BTreeSet::new();
    for (number, one) in wanted.iter().enumerate() {
        let Wanted { dimension, category, intensity, confidence, .. } = one;
        let at = |member: &str| format!("/signals/{number}/{member}");
        if !seen.insert(*dimension) {
            return Err(bounds::twice(dimension.as_str(), &at("dimension")));
        }
        let known = dimension.categories();
        if !known.contains(&category.as_str()) {
            let text = format!("{category:?} is nothing in {}: there are {}", dimension.as_str(), known.join(", "));
            return Err(Rejection::because(Code::SchemaInvalid, text).at(at("category")));
        }
        bounds::number((*intensity).into(), 1.0, 5.0, &at("intensity"))?;
        bounds::number(*confidence, 0.0, 1.0, &at("confidence"))?;
    }
    let signal = |one: &Wanted| Signal {
        dimension: one.dimension,
        category: one.category.clone(),
        intensity: one.intensity,
        confidence: one.confidence,
        source: one.source,
        pinned: one.pinned,
        since: Moment::default(),
    };
    Ok(wanted.iter().map(signal).collect())
}
