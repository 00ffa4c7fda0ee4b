//! The deliberations there are, and how they change.

use super::{Candidate, Deliberation, Phase, Statement, Tally};
use crate::extensions::Subject;
use crate::extensions::relational::Standing;
use crate::quota::{Resource, UsageChanges};
use crate::rules::At;
use legation_scan::Found;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many that are decided are remembered.
const DECIDED: usize = 1000;

/// What changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// Something was proposed. The entry's position is its number.
    Proposed(Drafted),
    /// A draft is another now.
    Amended {
        /// Which.
        deliberation: u64,
        /// The whole of it.
        draft: Drafted,
    },
    /// A phase began.
    Advanced {
        /// Of which.
        deliberation: u64,
        /// Which phase.
        to: Phase,
        /// What it came to, where it is decided by that. It stays so, whoever takes a ballot back for good.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tally: Option<Tally>,
    },
    /// A stakeholder said something.
    Said {
        /// In which.
        deliberation: u64,
        /// What.
        text: String,
        /// What was found in it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        scanned: Vec<Found>,
    },
    /// A stakeholder ranked the candidates.
    Voted {
        /// In which.
        deliberation: u64,
        /// Groups of candidates, the best first.
        ballot: Vec<Vec<Pick>>,
    },
    /// It is given up.
    Withdrawn {
        /// Which.
        deliberation: u64,
    },
}

/// A candidate on a ballot. It stands there by its place: what it is called are the words of whoever proposed
/// it, and may be erased with them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Pick {
    /// By its place among the candidates, counted from 0.
    Place(usize),
    /// By its id, as older entries have it.
    Id(String),
}

/// What is proposed, as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Drafted {
    /// What it is called.
    pub title: String,
    /// What is proposed.
    pub text: String,
    /// What is chosen from.
    pub candidates: Vec<Candidate>,
    /// Who has how much of a say.
    pub stakeholders: BTreeMap<Subject, Standing>,
    /// Whom it is about.
    pub about: BTreeSet<Subject>,
    /// What was found in its texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Found>,
    /// The agent that proposed it in the name of an identity: it counts for that agent's quotas.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
}

impl Drafted {
    /// The same without a word of it: candidates are known by number, and who has a say stays.
    #[must_use]
    pub(in crate::extensions) fn redacted(&self) -> Drafted {
        Drafted {
            title: String::new(),
            text: String::new(),
            candidates: Candidate::numbered(self.candidates.len()),
            stakeholders: self.stakeholders.clone(),
            about: self.about.clone(),
            scanned: Vec::new(),
            agent: self.agent.clone(),
        }
    }
}

/// Deliberations, by the entry that proposed each.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kept {
    all: BTreeMap<u64, Deliberation>,
    /// Changes of how many are open that were not counted yet.
    #[serde(skip)]
    usage: UsageChanges,
}

impl Kept {
    /// The deliberation with this id.
    pub fn named(&self, id: &str) -> Option<(u64, &Deliberation)> {
        let number = id.strip_prefix('D')?.parse().ok()?;
        self.all.get(&number).map(|deliberation| (number, deliberation))
    }

    /// All of them, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (u64, &Deliberation)> {
        self.all.iter().map(|(number, deliberation)| (*number, deliberation))
    }

    /// The id of the one that was proposed in this entry.
    pub fn id(number: u64) -> String {
        format!("D{number}")
    }

    /// Those that are not decided.
    pub(super) fn open(&self) -> impl Iterator<Item = &Deliberation> {
        self.all.values().filter(|one| one.phase != Phase::Active)
    }

    /// The agents whose open deliberations count, once for each.
    pub(crate) fn usage(&self) -> impl Iterator<Item = &str> {
        self.open().filter_map(|one| one.charged_to.as_deref())
    }

    /// The changes of that which were not counted yet.
    pub(crate) const fn usage_changes(&mut self) -> &mut UsageChanges {
        &mut self.usage
    }

    /// Notes an open deliberation, or that it is none any more.
    fn count(&mut self, number: u64, change: i64) {
        let open = self.all.get(&number).filter(|one| one.phase != Phase::Active);
        if let Some(agent) = open.and_then(|one| one.charged_to.as_deref()) {
            self.usage.add(agent, Resource::Deliberations, change);
        }
    }

    pub(in crate::extensions) fn apply(&mut self, at: At, by: &Subject, change: &Change) {
        match change {
            Change::Proposed(draft) => {
                self.all.insert(at.position, Deliberation::new(by, draft, at));
                self.count(at.position, 1);
            }
            Change::Amended { deliberation, draft } => self.change(*deliberation, |one| one.amend(draft, at.position)),
            Change::Advanced { deliberation, to, tally } => {
                self.count(*deliberation, -1);
                self.change(*deliberation, |one| {
                    one.phase = *to;
                    one.tally.clone_from(tally);
                    one.began.insert(*to, at.at);
                });
                self.count(*deliberation, 1);
                self.prune();
            }
            Change::Said { deliberation, text, scanned } => self.change(*deliberation, |one| {
                one.statements.push(Statement {
                    by: by.clone(),
                    at: at.at,
                    text: text.clone(),
                    scanned: scanned.clone(),
                });
            }),
            Change::Voted { deliberation, ballot } => self.change(*deliberation, |one| {
                let places = one.places(ballot);
                if let Some(stakeholder) = one.stakeholders.get_mut(by) {
                    stakeholder.ballot = Some(places);
                }
            }),
            Change::Withdrawn { deliberation } => {
                self.count(*deliberation, -1);
                self.all.remove(deliberation);
            }
        }
    }

    fn change(&mut self, number: u64, change: impl FnOnce(&mut Deliberation)) {
        if let Some(deliberation) = self.all.get_mut(&number) {
            change(deliberation);
        }
    }

    /// The oldest that are decided go when there are too many.
    fn prune(&mut self) {
        let decided = self.all.iter().filter(|(_, one)| one.phase == Phase::Active);
        let decided: Vec<_> = decided.map(|(number, _)| *number).collect();
        for number in decided.iter().take(decided.len().saturating_sub(DECIDED)) {
            self.all.remove(number);
        }
    }

    /// What some said and how they ranked is erased, and so is what was proposed in these entries. What was decided
    /// stays decided.
    pub(in crate::extensions) fn erase(&mut self, subjects: &BTreeSet<Subject>, is_erased: &impl Fn(u64) -> bool) {
        self.all.values_mut().for_each(|deliberation| deliberation.erase(subjects, is_erased));
    }

    pub(in crate::extensions) fn forget(&mut self, subject: &Subject) {
        self.all.values_mut().for_each(|deliberation| deliberation.leave(subject));
    }
}
