//! How somebody is, with what time left of it. Others see that they said so, never what.

use crate::extensions::personal::{Lifecycle, Signal, Source};
use crate::extensions::{Asker, Subject};
use crate::moment::Moment;
use crate::opacity::Clearance;
use crate::state::State;
use legation_protocol::{Code, Rejection};
use serde_json::{Value, json};

pub(super) fn shown(state: &State, asker: &Asker, of: Option<&str>, now: Moment) -> Result<Value, Rejection> {
    let unknown = || Rejection::because(Code::UnknownAgent, "there is nobody of this name").at("/of");
    let subject = match of {
        Some(name) => Subject::meant(state, name).ok_or_else(unknown)?,
        None => asker.subject.clone(),
    };
    let signals = || state.rules.extensions.personal.of(&subject);
    if subject == asker.subject {
        let signals: Vec<_> = signals().map(|signal| one(signal, now)).collect();
        return Ok(json!({"subject": subject, "as_of": now.to_string(), "signals": signals}));
    }
    let says = signals().any(|signal| signal.lifecycle(now) != Lifecycle::Expired);
    Ok(json!({"subject": subject, "clearance": Clearance::Flags.as_str(), "signals": says}))
}

fn one(signal: &Signal, now: Moment) -> Value {
    let effective = signal.effective(now);
    let source = if effective < signal.intensity { Source::Decayed } else { signal.source };
    json!({
        "dimension": signal.dimension,
        "category": signal.category,
        "intensity": effective,
        "source": source,
        "declared_intensity": signal.intensity,
        "declared_source": signal.source,
        "confidence": signal.confidence,
        "pinned": signal.pinned,
        "lifecycle": signal.lifecycle(now),
        "since": signal.since.to_string(),
    })
}
