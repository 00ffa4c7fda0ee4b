//! Why a record does not begin with what a checkpoint covers: it was restored, or there are two of it.

use anyhow::Context as _;
use legation_exchange::record::Checkpoint;
use legation_exchange::{Effect, Restored};
use legation_store::{Offline, Ring};
use std::path::Path;

/// How the record in a data directory and a checkpoint parted by a restore, in words.
pub(super) fn parted(data: &Path, ring: Ring, checkpoint: &Checkpoint) -> anyhow::Result<Option<String>> {
    let restores = restores(data, ring)?;
    let size = checkpoint.size;
    let own = checkpoint.epoch.checked_sub(2).and_then(|at| restores.get(at as usize));
    if let Some(Restored { epoch, restore, .. }) = own.filter(|own| Some(&own.restore) != checkpoint.restore.as_ref()) {
        return Ok(Some(format!(
            "a fork: this record began epoch {epoch} by restore {restore}, and not the checkpoint's"
        )));
    }
    let next = restores.iter().find(|restored| restored.epoch == checkpoint.epoch.saturating_add(1));
    Ok(next.filter(|next| next.size < size).map(|Restored { size: first, epoch, .. }| {
        let last = size.saturating_sub(1);
        format!(
            "{epoch}: the record was restored from a copy at position {first}; {first} to {last} of before are lost"
        )
    }))
}

/// Everything the record was restored from, oldest first.
fn restores(data: &Path, ring: Ring) -> anyhow::Result<Vec<Restored>> {
    let mut found = Vec::new();
    for frame in Offline::open(&data.join("record"), 0, ring).context("the record cannot be read")? {
        // What is damaged is told apart from this; what comes before it counts.
        let Ok(frame) = frame else { break };
        if frame.effect.starts_with(br#"{"entry":"restored""#)
            && let Ok(Effect::Restored(restored)) = serde_json::from_slice(&frame.effect)
        {
            found.push(restored);
        }
    }
    Ok(found)
}
