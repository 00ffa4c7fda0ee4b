//! The capability objects of the five extensions (section 7): what ours say, and of which types the
//! members of anybody's are. Members outside the table belong to the extension and are left alone.

use super::ExtensionName;
use crate::code::Code;
use crate::json::Json;
use crate::read::{self, At};
use serde_json::json;

/// The type of a member.
#[derive(Clone, Copy)]
enum Shape {
    Flag,
    Name,
    Names,
    Count,
    Range,
}

const PERSONAL: &[(&str, Shape)] = &[
    ("decay", Shape::Flag),
    ("dimensions", Shape::Names),
    ("intensity_range", Shape::Range),
    ("lifecycle_states", Shape::Names),
    ("signal_sources", Shape::Names),
];
const RELATIONAL: &[(&str, Shape)] = &[
    ("trust_levels", Shape::Names),
    ("standing_levels", Shape::Names),
    ("self_model_scaffolds", Shape::Names),
    ("norm_origins", Shape::Names),
    ("performance_bias_detection", Shape::Flag),
];
const CONSENSUS: &[(&str, Shape)] = &[
    ("voting_method", Shape::Name),
    ("deliberation_phases", Shape::Names),
    ("max_stakeholders", Shape::Count),
    ("ai_standing", Shape::Flag),
    ("self_referential_detection", Shape::Flag),
];
const TORCH: &[(&str, Shape)] = &[
    ("degraded", Shape::Flag),
    ("gestalt_tokens", Shape::Flag),
    ("lineage_tracking", Shape::Flag),
    ("max_lineage_depth", Shape::Count),
];
const INTENT: &[(&str, Shape)] = &[
    ("personal_signals", Shape::Flag),
    ("categories", Shape::Names),
    ("max_alternatives", Shape::Count),
    ("user_correction", Shape::Flag),
];

/// Reads the capability object of `extension`.
pub(super) fn read(at: At<'_, '_>, extension: &ExtensionName) -> Option<Json> {
    let mut o = At { spec: "NEG 7", ..at }.object()?;
    for (name, shape) in members(extension) {
        let Some(at) = o.member(name) else { continue };
        shape.check(at);
    }
    Some(Json::from(o.node))
}

fn members(extension: &ExtensionName) -> &'static [(&'static str, Shape)] {
    match extension.as_str() {
        "VCP-X-Personal" => PERSONAL,
        "VCP-X-Relational" => RELATIONAL,
        "VCP-X-Consensus" => CONSENSUS,
        "VCP-X-Torch" => TORCH,
        "VCP-X-Intent" => INTENT,
        _ => &[],
    }
}

impl Shape {
    /// Enters what is wrong; the value itself stays text.
    fn check(self, at: At<'_, '_>) -> Option<()> {
        match self {
            Shape::Flag => read::boolean(at).map(drop),
            Shape::Name => read::any_text(at).map(drop),
            Shape::Names => at.list(|item| read::any_text(item).map(drop)).map(drop),
            Shape::Count => count(at).map(drop),
            Shape::Range => range(at),
        }
    }
}

fn range(at: At<'_, '_>) -> Option<()> {
    let At { node, spec, out } = at;
    let ends = At { node, spec, out: &mut *out }.list(|item| {
        let _ = item.integer(i64::MIN);
        Some(())
    })?;
    if ends.len() == 2 {
        return Some(());
    }
    At { node, spec, out }.fail_with(
        Code::OutOfRange,
        format!("a range has two ends, and this has {}", ends.len()),
        "write the lowest and the highest value, such as [1, 5]",
    )
}

/// A whole number from 0 to 2^53-1.
pub(super) fn count(at: At<'_, '_>) -> Option<u64> {
    at.integer(0).map(i64::unsigned_abs)
}

/// What `VCP-X-Personal` can do.
pub(super) fn personal(_missing: &[&ExtensionName]) -> Json {
    Json::from(json!({
        "decay": true,
        "dimensions": ["cognitive_state", "emotional_tone", "energy_level", "perceived_urgency", "body_signals"],
        "intensity_range": [1, 5],
        "lifecycle_states": ["SET", "ACTIVE", "DECAYING", "STALE", "EXPIRED"],
        "signal_sources": ["DECLARED", "INFERRED", "INFERRED_LOCAL", "PRESET", "DECAYED"],
    }))
}

/// What `VCP-X-Relational` can do.
pub(super) fn relational(_missing: &[&ExtensionName]) -> Json {
    Json::from(json!({
        "trust_levels": ["INITIAL", "DEVELOPING", "ESTABLISHED", "DEEP"],
        "standing_levels": ["NONE", "ADVISORY", "COLLABORATIVE", "BILATERAL"],
        "self_model_scaffolds": ["MINIMAL", "STANDARD", "INTERIORA", "CUSTOM"],
        "norm_origins": ["HUMAN", "AI", "CO_AUTHORED", "INHERITED"],
        "performance_bias_detection": true,
    }))
}

/// What `VCP-X-Consensus` can do.
pub(super) fn consensus(_missing: &[&ExtensionName]) -> Json {
    Json::from(json!({
        "voting_method": "schulze",
        "deliberation_phases": ["DRAFT", "DELIBERATION", "CONVERGENCE", "RATIFICATION", "ACTIVE"],
        "max_stakeholders": 100,
        "ai_standing": true,
        "self_referential_detection": true,
    }))
}

/// What `VCP-X-Torch` can do: without relations it is degraded.
pub(super) fn torch(missing: &[&ExtensionName]) -> Json {
    Json::from(json!({
        "degraded": missing.contains(&&ExtensionName::RELATIONAL),
        "gestalt_tokens": true,
        "lineage_tracking": true,
        "max_lineage_depth": 1000,
    }))
}

/// What `VCP-X-Intent` can do: without personal state it has no personal signals.
pub(super) fn intent(missing: &[&ExtensionName]) -> Json {
    Json::from(json!({
        "personal_signals": !missing.contains(&&ExtensionName::PERSONAL),
        "categories": [
            "PROFESSIONAL_INQUIRY", "URGENT_TASK", "PERSONAL_EXPLORATION", "EMOTIONAL_PROCESSING", "HEALTH_CHECK",
            "CASUAL_CONVERSATION", "CRISIS_SUPPORT", "CREATIVE_WORK", "LEARNING", "ROUTINE_CHECK",
        ],
        "max_alternatives": 3,
        "user_correction": true,
    }))
}
