//! What somebody carries, and what waits for them.

use crate::extensions::torch::{Carried, Kept, LINEAGE, Summary, Torch, is_heard};
use crate::extensions::{Asker, Extension};
use crate::state::State;
use serde_json::{Value, json};

pub(super) fn shown(state: &State, asker: &Asker) -> Value {
    let carried = state.rules.extensions.torch.of(&asker.subject);
    let offers = carried.into_iter().flat_map(|carried| &carried.offers).filter(|(from, _)| is_heard(state, from));
    let offers: Vec<_> = offers.map(|(from, offer)| json!({"from": from, "torch": one(&offer.torch)})).collect();
    json!({
        "subject": asker.subject,
        "degraded": !asker.active.contains(&Extension::Relational),
        "session_count": carried.map_or(0, |carried| carried.depth),
        "lineage_depth": carried.map_or(0, |carried| carried.lineage.len()),
        "received": carried.and_then(|carried| carried.received.as_ref()).map(one),
        "offers": offers,
    })
}

pub(super) fn lineage(kept: &Kept, asker: &Asker, limit: usize) -> Value {
    let carried: Option<&Carried> = kept.of(&asker.subject);
    let all = carried.into_iter().flat_map(|carried| &carried.lineage);
    let skipped = carried.map_or(0, |carried| carried.lineage.len()).saturating_sub(limit.min(LINEAGE));
    let told: Vec<_> = all.skip(skipped).map(summary).collect();
    json!({"subject": asker.subject, "session_count": carried.map_or(0, |carried| carried.depth), "lineage": told})
}

fn summary(summary: &Summary) -> Value {
    let Summary { date, gestalt_token, session_id, position: _ } = summary;
    json!({"date": date.to_string(), "gestalt_token": gestalt_token, "session_id": session_id})
}

fn one(torch: &Torch) -> Value {
    let told = json!({
        "quality_description": torch.quality_description,
        "handed_at": torch.handed_at.to_string(),
        "trajectory": torch.trajectory,
        "primes": torch.primes,
        "gift": torch.gift,
        "session_count": torch.session_count,
        "gestalt_token": torch.gestalt_token,
        "degraded": torch.degraded,
    });
    super::marked(told, &torch.scanned)
}
