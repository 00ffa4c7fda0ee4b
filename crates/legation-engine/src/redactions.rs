//! What takes the place of effects that were erased, worked out again from the record: it must be to the byte what
//! the entry says that erased them, since nothing else vouches for it.

use crate::exchange::Error;
use legation_exchange::record::Frame;
use legation_exchange::{Effect, Redaction};
use legation_store::Reader;
use std::collections::{BTreeMap, BTreeSet};

/// Effects that are to give way.
#[derive(Default)]
pub(crate) struct Redactions {
    /// What takes the place of each that has not, by position.
    pub(crate) effects: BTreeMap<u64, Vec<u8>>,
    /// Whether any was to, or something was to be forgotten.
    pub(crate) ordered: bool,
}

/// Those that these entries ordered.
pub(crate) fn redactions(reader: &Reader, entries: &BTreeSet<u64>) -> Result<Redactions, Error> {
    let mut found = Redactions::default();
    for entry in entries {
        let frame = read(reader, *entry)?;
        let Effect::Erased(erased) = effect_of(&frame)? else { return Err(Error::Entry { position: *entry }) };
        found.ordered |= !erased.redacted.is_empty() || !erased.forgets.is_empty();
        for says in erased.redacted {
            let frame = read(reader, says.position)?;
            if frame.was.is_some() {
                continue;
            }
            let redaction = Redaction::of(says.position, &effect_of(&frame)?).filter(|made| made.says == says);
            let redaction = redaction.ok_or(Error::Entry { position: says.position })?;
            found.effects.insert(says.position, redaction.effect);
        }
    }
    Ok(found)
}

/// What an entry is to be shown as once what its effect said is erased.
pub(crate) fn redacted(frame: Frame) -> Frame {
    match effect_of(&frame).ok().and_then(|effect| Redaction::of(frame.position, &effect)) {
        Some(redaction) if frame.was.is_none() => frame.redacted(redaction.effect),
        Some(_) | None => frame,
    }
}

fn read(reader: &Reader, position: u64) -> Result<Frame, Error> {
    reader.read(position).map_err(Error::Record)?.ok_or(Error::Entry { position })
}

fn effect_of(frame: &Frame) -> Result<Effect, Error> {
    serde_json::from_slice(&frame.effect).map_err(|_| Error::Entry { position: frame.position })
}
