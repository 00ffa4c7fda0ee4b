//! How far each was told, as a start finds it: in `alerts.next`, by a hash of its name, since an address may hold a
//! secret. Who is not told any more is not in it.

use crate::tokens::hex;
use legation_exchange::Kind;
use legation_store::{Error, atomic_write};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// How far everybody was told.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Notes {
    each: BTreeMap<String, Note>,
    /// What an older exchange kept: one position for all.
    all: Option<u64>,
}

/// How far one was told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Note {
    /// The first entry that was not looked at.
    pub(super) next: u64,
    /// The first before it that raised what was not told, for each kind: those with less hurry, and those that gather,
    /// are told after others that came later.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) untold: BTreeMap<Kind, u64>,
}

impl Note {
    /// From which entry on those of a kind are to be told.
    pub(super) fn from(&self, kind: Kind) -> u64 {
        self.untold.get(&kind).copied().unwrap_or(self.next)
    }

    /// From which entry on some are to be told.
    pub(super) fn first(&self) -> u64 {
        self.untold.values().copied().fold(self.next, u64::min)
    }
}

impl Notes {
    pub(super) fn of(names: impl Iterator<Item = (String, Note)>) -> Notes {
        Notes { each: names.map(|(name, note)| (hash(&name), note)).collect(), all: None }
    }

    /// Nothing for one who was never told.
    pub(super) fn note(&self, name: &str) -> Option<Note> {
        let all = self.all.map(|next| Note { next, untold: BTreeMap::new() });
        self.each.get(&hash(name)).cloned().or(all)
    }

    /// What cannot be read is no reason not to start: everybody is new then.
    pub(super) fn read(file: &Path) -> Notes {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return Notes::default(),
            Err(error) => {
                tracing::warn!(%error, "how far alerts were told cannot be read: all are told what is open");
                return Notes::default();
            }
        };
        if let Ok(all) = text.trim().parse() {
            return Notes { each: BTreeMap::new(), all: Some(all) };
        }
        let each = serde_json::from_str(&text).unwrap_or_else(|error| {
            tracing::warn!(%error, "how far alerts were told cannot be read: all are told what is open");
            BTreeMap::new()
        });
        Notes { each, all: None }
    }

    pub(super) fn write(&self, file: &Path) -> Result<(), Error> {
        let text = serde_json::json!(self.each);
        atomic_write(file, format!("{text}\n").as_bytes(), 0o600)
    }
}

fn hash(name: &str) -> String {
    hex(&Sha256::digest(name.as_bytes()))
}
