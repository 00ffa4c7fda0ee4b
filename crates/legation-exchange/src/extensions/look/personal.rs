//! How somebody is, with what time left of it.

use crate::extensions::Subject;
use crate::extensions::personal::{Kept, Signal, Source};
use crate::moment::Moment;
use serde_json::{Value, json};

pub(super) fn shown(kept: &Kept, subject: &Subject, now: Moment) -> Value {
    let signals: Vec<_> = kept.of(subject).map(|signal| one(signal, now)).collect();
    json!({"subject": subject, "as_of": now.to_string(), "signals": signals})
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
