//! Reports of the self. A report that is sure of everything is taken, and flagged: it may be put on.

use crate::extensions::bounds;
use crate::extensions::words::words;
use legation_protocol::Rejection;
use legation_scan::Found;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Most dimensions of a report.
const DIMENSIONS: usize = 32;

words!(
    /// What a report is built on.
    Scaffold {
        /// A word or two.
        Minimal = "MINIMAL" | "minimal",
        /// The usual dimensions.
        Standard = "STANDARD" | "standard",
        /// Those of Interiora.
        Interiora = "INTERIORA" | "interiora",
        /// Ones of its own.
        Custom = "CUSTOM" | "custom",
    }
);

/// Which way a dimension goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// Up.
    Rising,
    /// Neither.
    Stable,
    /// Down.
    Falling,
    /// Nobody can tell.
    Unknown,
}

/// What is said of one dimension.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Report {
    /// From 1 to 9.
    pub value: f64,
    /// Whether that is uncertain. It has to be said.
    pub uncertain: bool,
    /// In a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// Which way it goes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
    /// How sure it is, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

/// To report on the self: valence, groundedness, presence, `task_fit`, friction, uncertainty, and others.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportSelf {
    /// What it is built on.
    #[serde(default = "standard")]
    pub scaffold: Scaffold,
    /// What is said, by dimension.
    pub dimensions: BTreeMap<String, Report>,
}

const fn standard() -> Scaffold {
    Scaffold::Standard
}

/// A report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// What it is built on.
    pub scaffold: Scaffold,
    /// What is said, by dimension.
    pub dimensions: BTreeMap<String, Report>,
    /// What was found in its texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Found>,
}

impl Model {
    /// Whether it is uncertain of anything. One that is not may be put on.
    pub fn has_uncertainty_markers(&self) -> bool {
        self.dimensions.values().any(|report| report.uncertain)
    }

    /// What it says of a dimension.
    pub fn value(&self, dimension: &str) -> Option<f64> {
        self.dimensions.get(dimension).map(|report| report.value)
    }

    pub(super) fn checked(wanted: &ReportSelf, scanned: &[Found]) -> Result<Model, Rejection> {
        let ReportSelf { scaffold, dimensions } = wanted;
        bounds::count(dimensions.len(), 1, DIMENSIONS, "/dimensions")?;
        for (name, Report { value, label, confidence, .. }) in dimensions {
            let at = |member: &str| format!("/dimensions/{name}/{member}");
            bounds::text(name, bounds::NAME, "/dimensions")?;
            bounds::number(*value, 1.0, 9.0, &at("value"))?;
            bounds::number(confidence.unwrap_or(1.0), 0.0, 1.0, &at("confidence"))?;
            label.iter().try_for_each(|label| bounds::text(label, bounds::NAME, &at("label")))?;
        }
        Ok(Model { scaffold: *scaffold, dimensions: dimensions.clone(), scanned: scanned.to_vec() })
    }
}
