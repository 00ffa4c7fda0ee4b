//! The torches that wait or were taken, and the lineage of each one.

use super::{LINEAGE, Torch};
use crate::extensions::{Subject, bounds};
use crate::moment::Moment;
use crate::rules::At;
use legation_protocol::Rejection;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// How much of a lineage goes with a torch: the newest.
const GOES_ALONG: usize = 32;

/// What changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A session was handed over.
    HandedOff {
        /// With this.
        torch: Torch,
        /// The session.
        session_id: String,
        /// To whom.
        to: Subject,
    },
    /// A torch was taken.
    Received {
        /// From whom.
        from: Subject,
        /// Whether the relation goes on from it.
        relates: bool,
    },
}

/// A session of a lineage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Summary {
    /// When it was handed over.
    pub date: Moment,
    /// How the self was, in a line.
    pub gestalt_token: Option<String>,
    /// Which session.
    pub session_id: String,
}

/// A torch that waits to be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// The torch.
    pub torch: Torch,
    /// The last of the lineage it comes with; none where it is one's own.
    pub lineage: VecDeque<Summary>,
}

/// What somebody carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Carried {
    /// How many sessions there were.
    pub depth: u64,
    /// The last of them, oldest first.
    pub lineage: VecDeque<Summary>,
    /// What waits, by whom it comes from.
    pub offers: BTreeMap<Subject, Offer>,
    /// What was taken last.
    pub received: Option<Torch>,
    /// For whom a torch of theirs waits.
    #[serde(default)]
    pub given: BTreeSet<Subject>,
}

impl Carried {
    /// Whether this is the session that was handed over last.
    pub(super) fn ended_with(&self, session_id: &str) -> bool {
        self.lineage.back().is_some_and(|last| last.session_id == session_id)
    }

    /// A session is in a lineage once, however often it is handed over.
    fn add(&mut self, summary: Summary) {
        if self.ended_with(&summary.session_id) {
            self.lineage.pop_back();
        }
        self.lineage.push_back(summary);
        if self.lineage.len() > LINEAGE {
            self.lineage.pop_front();
        }
    }
}

/// What each one carries.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kept {
    carried: BTreeMap<Subject, Carried>,
}

impl Kept {
    /// What somebody carries.
    pub fn of(&self, subject: &Subject) -> Option<&Carried> {
        self.carried.get(subject)
    }

    /// The torch of one that waits for another.
    pub fn offer(&self, to: &Subject, from: &Subject) -> Option<&Offer> {
        self.of(to)?.offers.get(from)
    }

    pub(super) fn waiting(&self, subject: &Subject) -> usize {
        self.of(subject).map_or(0, |carried| carried.offers.len())
    }

    pub(super) fn given(&self, subject: &Subject) -> usize {
        self.of(subject).map_or(0, |carried| carried.given.len())
    }

    pub(super) fn has_room(&self, subject: &Subject) -> Result<(), Rejection> {
        bounds::room(&self.carried, subject)
    }

    pub(in crate::extensions) fn apply(&mut self, at: At, subject: &Subject, change: &Change) {
        match change {
            Change::HandedOff { torch, session_id, to } => {
                let own = self.carried.entry(subject.clone()).or_default();
                own.depth = torch.session_count;
                let (gestalt_token, session_id) = (torch.gestalt_token.clone(), session_id.clone());
                own.add(Summary { date: at.at, gestalt_token, session_id });
                own.given.insert(to.clone());
                let skipped = own.lineage.len().saturating_sub(GOES_ALONG);
                let lineage = own.lineage.iter().skip(skipped).filter(|_| to != subject).cloned().collect();
                let offer = Offer { torch: Torch { handed_at: at.at, ..torch.clone() }, lineage };
                self.carried.entry(to.clone()).or_default().offers.insert(subject.clone(), offer);
            }
            Change::Received { from, .. } => {
                let own = self.carried.entry(subject.clone()).or_default();
                let Some(Offer { torch, lineage }) = own.offers.remove(from) else { return };
                if from == subject {
                    own.depth = own.depth.max(torch.session_count);
                } else {
                    (own.lineage, own.depth) = (lineage, torch.session_count);
                }
                own.received = Some(torch);
                if let Some(giver) = self.carried.get_mut(from) {
                    giver.given.remove(subject);
                }
            }
        }
    }

    pub(in crate::extensions) fn forget(&mut self, subject: &Subject) {
        self.carried.remove(subject);
        for carried in self.carried.values_mut() {
            carried.offers.remove(subject);
            carried.given.remove(subject);
        }
    }
}
