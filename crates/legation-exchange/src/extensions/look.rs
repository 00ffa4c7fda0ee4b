//! What is shown of what the extensions keep, to whom it may be shown.

mod consensus;
mod intent;
mod personal;
mod relational;
mod torch;

use super::consensus::Which;
use super::intent::Session;
use super::{Asker, Extension};
use crate::moment::Moment;
use crate::state::State;
use crate::who::Who;
use legation_protocol::Rejection;
use legation_scan::Found;
use serde::Deserialize;
use serde_json::Value;

/// What is to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Look {
    /// How they are, or whether another has said so.
    Personal(Whose),
    /// How their relation stands, or what another's shows.
    Relational(Whose),
    /// A deliberation.
    Deliberation(Which),
    /// Those they have a part in.
    Deliberations(Listed),
    /// What one comes to.
    Outcome(Which),
    /// What they carry, and what waits for them.
    Torch,
    /// The sessions before.
    Lineage(Listed),
    /// What they are after in a session.
    Intent(Session),
}

/// Whose.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Whose {
    /// Another, by name; one's own without one.
    pub of: Option<String>,
}

/// How much of a list.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Listed {
    /// How many at most, the newest.
    pub limit: usize,
}

impl Default for Listed {
    fn default() -> Self {
        Listed { limit: 100 }
    }
}

impl Look {
    /// Whose it is.
    pub const fn extension(&self) -> Extension {
        match self {
            Look::Personal(_) => Extension::Personal,
            Look::Relational(_) => Extension::Relational,
            Look::Deliberation(_) | Look::Deliberations(_) | Look::Outcome(_) => Extension::Consensus,
            Look::Torch | Look::Lineage(_) => Extension::Torch,
            Look::Intent(_) => Extension::Intent,
        }
    }
}

/// The same with what was found in its texts, if anything was.
fn marked(mut told: Value, scanned: &[Found]) -> Value {
    if let Some(told) = told.as_object_mut().filter(|_| !scanned.is_empty()) {
        told.insert("scanned".to_owned(), serde_json::json!(scanned));
    }
    told
}

/// Shows it, as of a moment.
pub fn look(state: &State, asker: &Asker, who: &Who, look: &Look, now: Moment) -> Result<Value, Rejection> {
    asker.must_have(look.extension())?;
    let kept = &state.rules.extensions;
    match look {
        Look::Personal(Whose { of }) => personal::shown(state, asker, of.as_deref(), now.max(state.now)),
        Look::Relational(Whose { of }) => relational::shown(state, asker, of.as_deref()),
        Look::Deliberation(which) => consensus::shown(&kept.consensus, asker, who, which),
        Look::Deliberations(listed) => Ok(consensus::listed(&kept.consensus, asker, who, listed.limit)),
        Look::Outcome(which) => consensus::outcome(&kept.consensus, asker, who, which),
        Look::Torch => Ok(torch::shown(state, asker)),
        Look::Lineage(listed) => Ok(torch::lineage(&kept.torch, asker, listed.limit)),
        Look::Intent(session) => intent::shown(&kept.intent, asker, session),
    }
}
