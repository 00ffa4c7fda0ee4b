//! A proposal as it is asked for: names become those they stand for, and nobody is listed who is not there.

use crate::extensions::consensus::{Deliberation, Drafted, STAKEHOLDERS};
use crate::extensions::relational::Standing;
use crate::extensions::{Subject, bounds};
use crate::state::State;
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

const TITLE: usize = 200;
const TEXT: usize = 8000;
const LABEL: usize = 500;
/// Most candidates.
const CANDIDATES: usize = 32;

/// To propose something.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Propose {
    /// What it is called.
    pub title: String,
    /// What is proposed.
    #[serde(default)]
    pub text: String,
    /// What is chosen from.
    pub candidates: Vec<Candidate>,
    /// Who has a say.
    pub stakeholders: Vec<Wanted>,
    /// Whom it is about, by name.
    #[serde(default)]
    pub about: Vec<String>,
}

/// To write a draft otherwise. What is left out stays.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amend {
    /// Which.
    pub deliberation_id: String,
    /// What it is called.
    pub title: Option<String>,
    /// What is proposed.
    pub text: Option<String>,
    /// What is chosen from.
    pub candidates: Option<Vec<Candidate>>,
    /// Who has a say.
    pub stakeholders: Option<Vec<Wanted>>,
    /// Whom it is about, by name.
    pub about: Option<Vec<String>>,
}

/// Something to choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "WireCandidate")]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// What it is.
    pub label: String,
}

impl Candidate {
    /// So many that are known by number alone.
    pub(in crate::extensions) fn numbered(count: usize) -> Vec<Candidate> {
        (1..=count).map(|number| Candidate { id: number.to_string(), label: String::new() }).collect()
    }
}

/// By its id alone, or with a label.
#[derive(Deserialize)]
#[serde(untagged)]
enum WireCandidate {
    Id(String),
    Labelled { id: String, label: Option<String> },
}

impl From<WireCandidate> for Candidate {
    fn from(wire: WireCandidate) -> Self {
        match wire {
            WireCandidate::Id(id) | WireCandidate::Labelled { id, label: None } => Candidate { label: id.clone(), id },
            WireCandidate::Labelled { id, label: Some(label) } => Candidate { id, label },
        }
    }
}

/// Somebody who is to have a say: by name alone, or with a standing.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Wanted {
    /// By name.
    Name(String),
    /// With a standing.
    Standing {
        /// By name.
        who: String,
        /// How much of a say.
        standing: Standing,
    },
}

impl Wanted {
    fn parts(&self) -> (&str, Standing) {
        match self {
            Wanted::Name(name) => (name, Standing::Collaborative),
            Wanted::Standing { who, standing } => (who, *standing),
        }
    }
}

impl Propose {
    pub(super) fn drafted(&self, state: &State) -> Result<Drafted, Rejection> {
        let Propose { title, text, candidates, .. } = self;
        bounds::text(title, TITLE, "/title")?;
        bounds::count(text.chars().count(), 0, TEXT, "/text")?;
        distinct(candidates)?;
        let stakeholders = self.stakeholders(state)?;
        let mut about = BTreeSet::new();
        bounds::count(self.about.len(), 0, STAKEHOLDERS, "/about")?;
        for (number, name) in self.about.iter().enumerate() {
            about.insert(meant(state, name, &format!("/about/{number}"))?);
        }
        // Who can be chosen is what the proposal is about.
        let chosen = candidates.iter().flat_map(|candidate| Subject::all_meant(state, &candidate.id));
        about.extend(chosen.filter(|subject| stakeholders.contains_key(subject)));
        let (title, text, candidates) = (title.clone(), text.clone(), candidates.clone());
        Ok(Drafted { title, text, candidates, stakeholders, about, scanned: Vec::new(), agent: None })
    }

    fn stakeholders(&self, state: &State) -> Result<BTreeMap<Subject, Standing>, Rejection> {
        bounds::count(self.stakeholders.len(), 1, STAKEHOLDERS, "/stakeholders")?;
        let mut all = BTreeMap::new();
        for (number, wanted) in self.stakeholders.iter().enumerate() {
            let (at, (name, standing)) = (format!("/stakeholders/{number}"), wanted.parts());
            if all.insert(meant(state, name, &at)?, standing).is_some() {
                return Err(bounds::twice(name, &at));
            }
        }
        Ok(all)
    }
}

impl Amend {
    /// Whether what was found at a place is still there.
    pub(super) fn leaves(&self, at: &str) -> bool {
        match at.split('/').nth(1) {
            Some("title") => self.title.is_none(),
            Some("text") => self.text.is_none(),
            Some("candidates") => self.candidates.is_none(),
            Some(_) | None => true,
        }
    }

    /// The whole draft, as it is to be.
    pub(super) fn of(&self, one: &Deliberation) -> Propose {
        let standing = |who: &Subject, standing| Wanted::Standing { who: who.to_string(), standing };
        let present = || one.stakeholders.iter().filter(|(_, stakeholder)| !stakeholder.left);
        let stakeholders = || present().map(|(who, stakeholder)| standing(who, stakeholder.standing)).collect();
        Propose {
            title: self.title.clone().unwrap_or_else(|| one.title.clone()),
            text: self.text.clone().unwrap_or_else(|| one.text.clone()),
            candidates: self.candidates.clone().unwrap_or_else(|| one.candidates.clone()),
            stakeholders: self.stakeholders.clone().unwrap_or_else(stakeholders),
            about: self.about.clone().unwrap_or_else(|| one.about.iter().map(ToString::to_string).collect()),
        }
    }
}

fn meant(state: &State, name: &str, at: &str) -> Result<Subject, Rejection> {
    let unknown = || Rejection::because(Code::UnknownAgent, Subject::unknown(state, name)).at(at);
    Subject::meant(state, name).ok_or_else(unknown)
}

fn distinct(candidates: &[Candidate]) -> Result<(), Rejection> {
    bounds::count(candidates.len(), 2, CANDIDATES, "/candidates")?;
    let mut seen = BTreeSet::new();
    for (number, Candidate { id, label }) in candidates.iter().enumerate() {
        let at = format!("/candidates/{number}");
        bounds::text(id, bounds::NAME, &at)?;
        bounds::text(label, LABEL, &at)?;
        if !seen.insert(id) {
            return Err(bounds::twice(id, &at));
        }
    }
    Ok(())
}
