//! What each is after, by session, and what they said themselves.

use super::{Category, Inference};
use crate::extensions::{Subject, bounds};
use crate::moment::Moment;
use crate::rules::At;
use legation_protocol::Rejection;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Of how many sessions of one it is known.
const SESSIONS: usize = 32;

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Something was concluded.
    Inferred {
        /// In which session.
        session_id: String,
        /// What.
        inference: Inference,
    },
    /// They said what it is.
    Corrected {
        /// In which session.
        session_id: String,
        /// What it is.
        category: Category,
    },
}

/// What somebody is after in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Intention {
    /// What was concluded last.
    pub inference: Inference,
    /// The entry that has it.
    pub position: u64,
    /// When that was.
    pub at: Moment,
    /// What they said it is: that stands for the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub corrected: Option<Category>,
    /// How often they said so.
    #[serde(default)]
    pub corrections: u64,
}

/// What each is after.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kept {
    intentions: BTreeMap<Subject, BTreeMap<String, Intention>>,
}

impl Kept {
    /// What somebody is after in a session.
    pub fn of(&self, subject: &Subject, session: &str) -> Option<&Intention> {
        self.intentions.get(subject)?.get(session)
    }

    pub(in crate::extensions) fn knows(&self, subject: &Subject) -> bool {
        self.intentions.contains_key(subject)
    }

    pub(super) fn has_room(&self, subject: &Subject) -> Result<(), Rejection> {
        bounds::room(&self.intentions, subject)
    }

    pub(in crate::extensions) fn apply(&mut self, at: At, subject: &Subject, change: &Change) {
        let own = self.intentions.entry(subject.clone()).or_default();
        match change {
            Change::Inferred { session_id, inference } => {
                let (corrected, corrections) =
                    own.get(session_id).map_or((None, 0), |known| (known.corrected, known.corrections));
                let (inference, position, at) = (inference.clone(), at.position, at.at);
                let new = Intention { inference, position, at, corrected, corrections };
                own.insert(session_id.clone(), new);
                if own.len() > SESSIONS {
                    let oldest = own.iter().min_by_key(|(_, known)| known.position).map(|(session, _)| session.clone());
                    oldest.map(|session| own.remove(&session));
                }
            }
            Change::Corrected { session_id, category } => {
                if let Some(known) = own.get_mut(session_id) {
                    known.corrected = Some(*category);
                    known.corrections += 1;
                }
            }
        }
    }

    pub(in crate::extensions) fn forget(&mut self, subject: &Subject) {
        self.intentions.remove(subject);
    }
}
