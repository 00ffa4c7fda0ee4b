//! What a relation has agreed on.

use crate::extensions::bounds;
use crate::extensions::words::words;
use legation_protocol::Rejection;
use legation_scan::Found;
use serde::{Deserialize, Serialize};

/// Most characters of one.
const DESCRIPTION: usize = 500;

words!(
    /// Who a norm comes from.
    Origin {
        /// A person.
        Human = "HUMAN" | "human",
        /// An AI.
        Ai = "AI" | "ai",
        /// Both.
        CoAuthored = "CO_AUTHORED" | "co_authored",
        /// An earlier relation.
        Inherited = "INHERITED" | "inherited",
    }
);

/// Something that was agreed on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Norm {
    /// Its id.
    pub id: String,
    /// What it says.
    pub description: String,
    /// Who it comes from.
    pub origin: Origin,
    /// How unsure it is, from 0 to 1.
    #[serde(default)]
    pub uncertainty: f64,
    /// Whether it counts now.
    #[serde(default = "yes")]
    pub active: bool,
    /// What was found in its texts; nobody outside says that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Found>,
}

const fn yes() -> bool {
    true
}

impl Norm {
    pub(super) fn check(&self) -> Result<(), Rejection> {
        bounds::text(&self.id, bounds::NAME, "/id")?;
        bounds::text(&self.description, DESCRIPTION, "/description")?;
        bounds::number(self.uncertainty, 0.0, 1.0, "/uncertainty")
    }
}
