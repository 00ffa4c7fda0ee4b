//! How each one's relation stands, and how that changes.

use super::act::{Act, BeginSession, PutNorm, RemoveNorm, SetPrivacy, SetStanding};
use super::{Field, Model, Norm, Privacy, Standing, Trust};
use crate::extensions::{Subject, bounds};
use legation_protocol::{Code, Rejection};
use legation_scan::Found;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Most norms of a relation.
const NORMS: usize = 100;
/// How many sessions are known by name: one of these counts once.
const SESSIONS: usize = 32;

/// What changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// A session began.
    Began(String),
    /// An AI has so much to say.
    Stands(Standing),
    /// There is a report on the self.
    Reported(Model),
    /// There is a norm.
    Agreed(Norm),
    /// A norm was dropped.
    Dropped(String),
    /// Others are told of a field, or are not.
    Told {
        /// Of which.
        field: Field,
        /// Who.
        privacy: Privacy,
    },
}

/// How a relation stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Relation {
    /// How many sessions there were.
    pub sessions: u64,
    /// The last of them, oldest first.
    pub recent: VecDeque<String>,
    /// How much an AI has to say.
    pub standing: Standing,
    /// The last report on the self.
    pub model: Option<Model>,
    /// The valences of the last two reports that had one.
    pub valences: VecDeque<f64>,
    /// What was agreed on, in the order of that.
    pub norms: Vec<Norm>,
    /// Who is told of what; nobody of the rest.
    pub privacy: BTreeMap<Field, Privacy>,
}

impl Default for Relation {
    fn default() -> Self {
        Relation {
            sessions: 0,
            recent: VecDeque::new(),
            standing: Standing::None,
            model: None,
            valences: VecDeque::new(),
            norms: Vec::new(),
            privacy: BTreeMap::new(),
        }
    }
}

impl Relation {
    /// How far it has come.
    pub fn trust(&self) -> Trust {
        Trust::after(self.sessions)
    }

    /// Who is told of a field.
    pub fn privacy(&self, field: Field) -> Privacy {
        self.privacy.get(&field).copied().unwrap_or(Privacy::Private)
    }

    /// The norms that count.
    pub fn active_norms(&self) -> impl Iterator<Item = &Norm> {
        self.norms.iter().filter(|norm| norm.active)
    }

    /// Whether a session is one of the last that were counted.
    pub(in crate::extensions) fn knows(&self, session: &str) -> bool {
        self.recent.iter().any(|known| known == session)
    }

    fn begin(&mut self, session: &str) {
        if self.knows(session) {
            return;
        }
        self.sessions += 1;
        self.recent.push_back(session.to_owned());
        if self.recent.len() > SESSIONS {
            self.recent.pop_front();
        }
    }

    fn report(&mut self, model: &Model) {
        if let Some(valence) = model.value("valence") {
            self.valences.push_back(valence);
            if self.valences.len() > 2 {
                self.valences.pop_front();
            }
        }
        self.model = Some(model.clone());
    }

    fn agree(&mut self, norm: &Norm) {
        match self.norms.iter_mut().find(|known| known.id == norm.id) {
            Some(known) => known.clone_from(norm),
            None => self.norms.push(norm.clone()),
        }
    }
}

/// How each one's relation stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Kept {
    relations: BTreeMap<Subject, Relation>,
}

impl Kept {
    /// How somebody's relation stands.
    pub fn of(&self, subject: &Subject) -> Option<&Relation> {
        self.relations.get(subject)
    }

    pub(in crate::extensions) fn decide(
        &self,
        subject: &Subject,
        act: &Act,
        scanned: &[Found],
    ) -> Result<Change, Rejection> {
        bounds::room(&self.relations, subject)?;
        match act {
            Act::BeginSession(BeginSession { session_id }) => {
                bounds::text(session_id, bounds::NAME, "/session_id")?;
                Ok(Change::Began(session_id.clone()))
            }
            Act::SetStanding(SetStanding { standing }) => Ok(Change::Stands(*standing)),
            Act::ReportSelf(report) => Model::checked(report, scanned).map(Change::Reported),
            Act::PutNorm(PutNorm { norm }) => {
                norm.check()?;
                let norms = self.of(subject).map_or(&[][..], |relation| &relation.norms);
                if norms.len() >= NORMS && norms.iter().all(|known| known.id != norm.id) {
                    return Err(bounds::full(format!("a relation has {NORMS} norms at most: drop one first")));
                }
                Ok(Change::Agreed(Norm { scanned: scanned.to_vec(), ..norm.clone() }))
            }
            Act::RemoveNorm(RemoveNorm { id }) => {
                let norms = self.of(subject).map_or(&[][..], |relation| &relation.norms);
                if norms.iter().all(|known| known.id != *id) {
                    return Err(Rejection::because(Code::NotFound, "there is no such norm").at("/id"));
                }
                Ok(Change::Dropped(id.clone()))
            }
            Act::SetPrivacy(SetPrivacy { field, privacy }) => Ok(Change::Told { field: *field, privacy: *privacy }),
        }
    }

    pub(in crate::extensions) fn apply(&mut self, subject: &Subject, change: &Change) {
        let relation = self.relations.entry(subject.clone()).or_default();
        match change {
            Change::Began(session) => relation.begin(session),
            Change::Stands(standing) => relation.standing = *standing,
            Change::Reported(model) => relation.report(model),
            Change::Agreed(norm) => relation.agree(norm),
            Change::Dropped(id) => relation.norms.retain(|norm| norm.id != *id),
            Change::Told { field, privacy } => {
                relation.privacy.insert(*field, *privacy);
            }
        }
    }

    /// Somebody took a torch: they begin where it says the relation is, with a voice that is heard. Nobody's own
    /// takes anything from them.
    pub(in crate::extensions) fn hand_on(&mut self, subject: &Subject, sessions: u64, is_own: bool) {
        let relation = self.relations.entry(subject.clone()).or_default();
        (relation.sessions, relation.standing) = if is_own {
            (sessions.max(relation.sessions), relation.standing.max(Standing::Advisory))
        } else {
            (sessions, Standing::Advisory)
        };
    }

    pub(in crate::extensions) fn forget(&mut self, subject: &Subject) {
        self.relations.remove(subject);
    }
}
