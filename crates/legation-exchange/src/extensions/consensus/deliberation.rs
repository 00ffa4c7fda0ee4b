//! One deliberation, and what it comes to.

use super::schulze::{Matrix, preferences, ranked};
use super::{Ballot, Candidate, Drafted, Phase, Pick, Schulze};
use crate::extensions::Subject;
use crate::extensions::relational::Standing;
use crate::moment::Moment;
use crate::rules::At;
use crate::who::Who;
use legation_scan::Found;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// A deliberation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deliberation {
    /// Who proposed it; nobody once they are gone.
    pub convener: Option<Subject>,
    /// What it is called.
    pub title: String,
    /// What is proposed.
    pub text: String,
    /// What is chosen from.
    pub candidates: Vec<Candidate>,
    /// Who has a say.
    pub stakeholders: BTreeMap<Subject, Stakeholder>,
    /// Whom it is about.
    pub about: BTreeSet<Subject>,
    /// How far it has come.
    pub phase: Phase,
    /// When each phase began.
    pub began: BTreeMap<Phase, Moment>,
    /// What was said in it.
    pub statements: Vec<Statement>,
    /// The entry that has what is proposed, as it is now.
    pub drafted: u64,
    /// What it came to, once it is decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tally: Option<Tally>,
    /// What was found in what is proposed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Found>,
    /// The agent for whose quotas it counts, also once that is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::extensions) charged_to: Option<String>,
}

/// Somebody who has a say.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stakeholder {
    /// How much of one.
    pub standing: Standing,
    /// How they rank the candidates, by place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ballot: Option<Ballot>,
    /// Whether they are gone since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub left: bool,
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Statement {
    /// Who said it.
    pub by: Subject,
    /// When.
    pub at: Moment,
    /// What.
    pub text: String,
    /// What was found in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub scanned: Vec<Found>,
}

/// What ballots add up to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// How many prefer the one to the other.
    pub preferred: Matrix,
    /// How many of them count.
    pub counted: usize,
    /// How many were cast by those who are only heard.
    pub heard: usize,
}

/// What a deliberation comes to.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the ballots prefer.
    pub schulze: Schulze,
    /// How many of them count.
    pub counted: usize,
    /// How many were cast by those who are only heard.
    pub heard: usize,
    /// The candidates in the first place; none without ballots.
    pub winners: Vec<String>,
    /// Stakeholders who are the subject of what is proposed. Their ballots count.
    pub self_referential: Vec<Subject>,
}

impl Deliberation {
    pub(super) fn new(convener: &Subject, draft: &Drafted, at: At) -> Deliberation {
        let mut new = Deliberation {
            convener: Some(convener.clone()),
            title: String::new(),
            text: String::new(),
            candidates: Vec::new(),
            stakeholders: BTreeMap::new(),
            about: BTreeSet::new(),
            phase: Phase::Draft,
            began: BTreeMap::from([(Phase::Draft, at.at)]),
            statements: Vec::new(),
            drafted: at.position,
            tally: None,
            scanned: Vec::new(),
            charged_to: draft.agent.clone().or_else(|| convener.is_agent().then(|| convener.bare().to_owned())),
        };
        new.amend(draft, at.position);
        new
    }

    pub(super) fn amend(&mut self, draft: &Drafted, drafted: u64) {
        self.drafted = drafted;
        let stakeholder = |standing: &Standing| Stakeholder { standing: *standing, ballot: None, left: false };
        self.title.clone_from(&draft.title);
        self.text.clone_from(&draft.text);
        self.candidates.clone_from(&draft.candidates);
        self.about.clone_from(&draft.about);
        self.scanned.clone_from(&draft.scanned);
        self.stakeholders =
            draft.stakeholders.iter().map(|(who, standing)| (who.clone(), stakeholder(standing))).collect();
    }

    pub(super) fn leave(&mut self, subject: &Subject) {
        if self.convener.as_ref() == Some(subject) {
            self.convener = None;
        }
        if let Some(stakeholder) = self.stakeholders.get_mut(subject) {
            stakeholder.left = true;
        }
    }

    /// What some said is erased, how they ranked, and what is proposed where one of these entries has it.
    pub(super) fn erase(&mut self, subjects: &BTreeSet<Subject>, is_erased: &impl Fn(u64) -> bool) {
        self.statements.retain(|said| !subjects.contains(&said.by));
        for (_, stakeholder) in self.stakeholders.iter_mut().filter(|(who, _)| subjects.contains(who)) {
            stakeholder.ballot = None;
        }
        if is_erased(self.drafted) {
            self.title.clear();
            self.text.clear();
            self.candidates = Candidate::numbered(self.candidates.len());
            self.scanned.clear();
        }
    }

    /// A ballot by the places of the candidates.
    pub(super) fn places(&self, ballot: &[Vec<Pick>]) -> Ballot {
        let place = |pick: &Pick| match pick {
            Pick::Place(place) => Some(*place),
            Pick::Id(id) => self.candidates.iter().position(|candidate| candidate.id == *id),
        };
        ballot.iter().map(|group| group.iter().filter_map(place).collect()).collect()
    }

    /// Whether somebody may see it: those who have a part in it, and whoever sees everything.
    pub fn is_seen_by(&self, subject: &Subject, who: &Who) -> bool {
        who.sees_all() || self.convener.as_ref() == Some(subject) || self.stakeholder(subject).is_some()
    }

    /// Somebody who has a say in it, and is still there.
    pub fn stakeholder(&self, subject: &Subject) -> Option<&Stakeholder> {
        self.stakeholders.get(subject).filter(|stakeholder| !stakeholder.left)
    }

    /// What the ballots there are add up to.
    pub(super) fn tally(&self) -> Tally {
        let cast = self.stakeholders.values().filter_map(|one| Some((one.standing, one.ballot.as_ref()?)));
        let (counted, heard): (Vec<_>, Vec<_>) = cast.partition(|(standing, _)| counts(*standing));
        let ballots: Vec<Ballot> = counted.into_iter().map(|(_, ballot)| ballot.clone()).collect();
        let preferred = preferences(self.candidates.len(), &ballots);
        Tally { preferred, counted: ballots.len(), heard: heard.len() }
    }

    /// What it comes to: by what it was decided with, or else by the ballots there are.
    pub fn outcome(&self) -> Outcome {
        let Tally { preferred, counted, heard } = self.tally.clone().unwrap_or_else(|| self.tally());
        let schulze = ranked(preferred);
        let first = schulze.ranking.first().filter(|_| counted > 0);
        let named = first.into_iter().flatten().filter_map(|place| self.candidates.get(*place));
        let winners = named.map(|candidate| candidate.id.clone()).collect();
        let selves = self.stakeholders.keys().filter(|subject| self.about.contains(subject));
        let self_referential = selves.cloned().collect();
        Outcome { schulze, counted, heard, winners, self_referential }
    }
}

/// Whether a ballot counts: that of somebody who is only heard is kept beside.
const fn counts(standing: Standing) -> bool {
    match standing {
        Standing::None | Standing::Advisory => false,
        Standing::Collaborative | Standing::Bilateral => true,
    }
}
