//! What of an ack a user should be told.

use legation_protocol::json::Json;
use legation_protocol::negotiation::{Ack, ExtensionName};
use serde_json::Value;

/// Something in an ack that a user should be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// What is stored is not encrypted.
    #[error("this exchange stores what it is sent unencrypted")]
    Unencrypted,
    /// A core feature that was on before.
    #[error("{0} was on before, and no longer is")]
    FeatureLost(&'static str),
    /// An extension that was granted before.
    #[error("{0} was there before, and no longer is")]
    ExtensionLost(ExtensionName),
    /// Part of what an extension could do before.
    #[error("{extension} could do `{capability}` before, and no longer can")]
    CapabilityLost {
        /// The extension.
        extension: ExtensionName,
        /// What of it.
        capability: String,
    },
}

impl Warning {
    /// What to tell of an ack, given the one before.
    pub(crate) fn about(ack: &Ack, before: Option<&Ack>) -> Vec<Warning> {
        let mut warnings = Vec::new();
        if !ack.features().encryption {
            warnings.push(Warning::Unencrypted);
        }
        let Some(before) = before else { return warnings };
        warnings.extend(ack.features().lost_since(before.features()).map(Warning::FeatureLost));
        // One that was not asked for this time is in neither list.
        let refused = |name: &&ExtensionName| {
            let unsupported = ack.unsupported.iter().flatten().any(|other| other == name.as_str());
            unsupported && !ack.granted().contains(name)
        };
        warnings.extend(before.granted().iter().filter(refused).cloned().map(Warning::ExtensionLost));
        for extension in ack.granted() {
            let pair = before.capabilities.get(extension).zip(ack.capabilities.get(extension));
            let lost = pair.map(|(before, now)| shrunk(before, now)).unwrap_or_default().into_iter();
            warnings
                .extend(lost.map(|capability| Warning::CapabilityLost { extension: extension.clone(), capability }));
        }
        warnings
    }
}

/// The members that are gone, or were true.
fn shrunk(before: &Json, now: &Json) -> Vec<String> {
    let members = |json: &Json| serde_json::to_value(json).ok();
    let (Some(Value::Object(before)), Some(now)) = (members(before), members(now)) else { return Vec::new() };
    let is_less = |name: &str, value: &Value| match now.get(name) {
        None => true,
        Some(now) => *value == Value::Bool(true) && *now == Value::Bool(false),
    };
    before.into_iter().filter(|(name, value)| is_less(name, value)).map(|(name, _)| name).collect()
}
