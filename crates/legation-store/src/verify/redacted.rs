//! Effects that took the place of others. No leaf covers them: a later entry `erased` has the hash of each, and one
//! that none has was put there by somebody else.

use super::Fault;
use legation_exchange::record::Hash;
use legation_exchange::{Effect, Redacted};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What an opened entry has to do with effects that gave way.
pub(super) enum Told {
    /// Nothing.
    Nothing,
    /// Its own did: this is the hash of what is there instead.
    Redacted(Hash),
    /// It ordered that others do.
    Ordered(Vec<Redacted>),
}

impl Told {
    /// That of an entry with this effect, which took the place of another or not.
    pub(super) fn of(effect: &[u8], redacted: bool) -> Told {
        if redacted {
            return Told::Redacted(Hash::of(&[effect]));
        }
        if !effect.starts_with(br#"{"entry":"erased""#) {
            return Told::Nothing;
        }
        match serde_json::from_slice(effect) {
            Ok(Effect::Erased(erased)) => Told::Ordered(erased.redacted),
            Ok(_) | Err(_) => Told::Nothing,
        }
    }
}

/// Those that no entry was found for yet.
#[derive(Default)]
pub(super) struct Redactions {
    open: BTreeMap<u64, Open>,
}

struct Open {
    effect: Hash,
    file: PathBuf,
    offset: u64,
    /// The entry that says otherwise.
    otherwise: Option<u64>,
}

impl Redactions {
    /// Takes note of what an entry told, which lies in a batch at this byte.
    pub(super) fn take(&mut self, position: u64, told: Told, file: &Path, offset: u64) {
        match told {
            Told::Nothing => {}
            Told::Redacted(effect) => {
                self.open.insert(position, Open { effect, file: file.to_owned(), offset, otherwise: None });
            }
            Told::Ordered(all) => all.iter().for_each(|one| self.ordered(position, one)),
        }
    }

    fn ordered(&mut self, by: u64, Redacted { position, effect }: &Redacted) {
        let Some(open) = self.open.get_mut(position) else { return };
        if open.effect == *effect {
            self.open.remove(position);
        } else {
            open.otherwise = Some(by);
        }
    }

    /// The first that is not as it was ordered; or that nobody ordered, if all entries were read.
    pub(super) fn fault(&self, ended: bool) -> Option<Fault> {
        let (position, open) = self.open.iter().find(|(_, open)| ended || open.otherwise.is_some())?;
        let Open { file, offset, otherwise, .. } = open;
        let what = match otherwise {
            Some(by) => format!("its effect gave way to another than the entry {by} says"),
            None => "its effect gave way to another, and no entry erased it".to_owned(),
        };
        Some(Fault { file: file.clone(), offset: *offset, position: *position, what })
    }
}
