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
        /// Whether it is the session that was handed over last, once more. Older entries tell it by the session.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        again: Option<bool>,
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
    /// The entry that handed it over.
    pub position: u64,
}

/// A torch that waits to be taken.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Offer {
    /// The torch.
    pub torch: Torch,
    /// The last of the lineage it comes with; none where it is one's own.
    pub lineage: VecDeque<Summary>,
    /// The entry that handed it over.
    pub position: u64,
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
    /// The entry that handed it over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received_from: Option<u64>,
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
    fn add(&mut self, summary: Summary, again: Option<bool>) {
        if again.unwrap_or_else(|| self.ended_with(&summary.session_id)) {
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
            Change::HandedOff { torch, session_id, to, again } => {
                let own = self.carried.entry(subject.clone()).or_default();
                own.depth = torch.session_count;
                let (gestalt_token, session_id) = (torch.gestalt_token.clone(), session_id.clone());
                own.add(Summary { date: at.at, gestalt_token, session_id, position: at.position }, *again);
                own.given.insert(to.clone());
                let skipped = own.lineage.len().saturating_sub(GOES_ALONG);
                let lineage = own.lineage.iter().skip(skipped).filter(|_| to != subject).cloned().collect();
                let torch = Torch { handed_at: at.at, ..torch.clone() };
                let offer = Offer { torch, lineage, position: at.position };
                self.carried.entry(to.clone()).or_default().offers.insert(subject.clone(), offer);
            }
            Change::Received { from, .. } => {
                let own = self.carried.entry(subject.clone()).or_default();
                let Some(Offer { torch, lineage, position }) = own.offers.remove(from) else { return };
                if from == subject {
                    own.depth = own.depth.max(torch.session_count);
                } else {
                    (own.lineage, own.depth) = (lineage, torch.session_count);
                }
                (own.received, own.received_from) = (Some(torch), Some(position));
                if let Some(giver) = self.carried.get_mut(from) {
                    giver.given.remove(subject);
                }
            }
        }
    }

    /// What was handed over in these entries is erased, wherever it went: a torch that was taken keeps how many
    /// sessions there were, and lineages lose theirs.
    pub(in crate::extensions) fn erase(&mut self, is_erased: &impl Fn(u64) -> bool) {
        let erase = |lineage: &mut VecDeque<Summary>| lineage.retain(|summary| !is_erased(summary.position));
        for carried in self.carried.values_mut() {
            erase(&mut carried.lineage);
            for offer in carried.offers.values_mut() {
                erase(&mut offer.lineage);
                if is_erased(offer.position) {
                    offer.torch = offer.torch.redacted();
                }
            }
            if carried.received_from.is_some_and(is_erased) {
                carried.received = carried.received.as_ref().map(Torch::redacted);
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
