//! What may be asked of deliberations, and by whom.

mod draft;

pub use draft::{Amend, Candidate, Propose, Wanted};

use super::{Change, Deliberation, Drafted, Phase, Pick};
use crate::extensions::relational::Standing;
use crate::extensions::{Asker, bounds};
use crate::policy::Policy;
use crate::quota::{Resource, check_known_family};
use crate::state::State;
use crate::who::Who;
use legation_protocol::{Code, Rejection};
use legation_scan::Found;
use serde::Deserialize;
use std::collections::BTreeSet;

/// How many are open at a time, altogether.
const OPEN: usize = 1000;
/// How many of them one may have proposed.
const OWN: usize = 20;
/// Most statements in one.
const STATEMENTS: usize = 100;
/// Most of one stakeholder.
const EACH: usize = 10;
/// Most characters of one.
const STATEMENT: usize = 1000;

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// To propose something.
    Propose(Propose),
    /// To write a draft otherwise.
    Amend(Amend),
    /// To begin the next phase.
    Advance(Advance),
    /// To say something.
    Say(Say),
    /// To rank the candidates.
    Vote(Vote),
    /// To give one up.
    Withdraw(super::Which),
}

/// To begin the next phase.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advance {
    /// Of which.
    pub deliberation_id: String,
    /// The phase to begin: the one that follows.
    pub to: Phase,
}

/// To say something.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Say {
    /// In which.
    pub deliberation_id: String,
    /// What.
    pub text: String,
}

/// To rank the candidates. A second ballot takes the place of the first.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vote {
    /// In which.
    pub deliberation_id: String,
    /// The best first. Those left out come last, together.
    pub ranking: Vec<Place>,
}

/// A place in a ranking.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub enum Place {
    /// One candidate, by id.
    One(String),
    /// Some that share it.
    Tie(Vec<String>),
}

/// Decides on what is asked.
pub(in crate::extensions) fn decide(
    state: &State,
    policy: &Policy,
    asker: &Asker,
    who: &Who,
    act: &Act,
    scanned: &[Found],
) -> Result<Change, Rejection> {
    let desk = Desk { state, policy, asker, who, scanned };
    match act {
        Act::Propose(propose) => desk.propose(propose),
        Act::Amend(amend) => desk.amend(amend),
        Act::Advance(advance) => desk.advance(advance),
        Act::Say(say) => desk.say(say),
        Act::Vote(vote) => desk.vote(vote),
        Act::Withdraw(which) => {
            let (deliberation, one) = desk.led(&which.deliberation_id)?;
            in_phase(one, one.phase != Phase::Active, "what is decided is not given up")?;
            Ok(Change::Withdrawn { deliberation })
        }
    }
}

struct Desk<'d> {
    state: &'d State,
    policy: &'d Policy,
    asker: &'d Asker,
    who: &'d Who,
    scanned: &'d [Found],
}

impl Desk<'_> {
    fn propose(&self, propose: &Propose) -> Result<Change, Rejection> {
        let kept = &self.state.rules.extensions.consensus;
        let is_own = |one: &&Deliberation| one.convener.as_ref() == Some(&self.asker.subject);
        if kept.open().filter(is_own).count() >= OWN {
            return Err(bounds::full(format!(
                "one has {OWN} open deliberations at most: decide or withdraw one first"
            )));
        }
        if kept.open().count() >= OPEN {
            return Err(bounds::full(format!("{OPEN} deliberations are open, and no more at a time")));
        }
        let mut agent = None;
        if let Who::Agent(id) = self.who {
            check_known_family(self.state, self.policy, id, Resource::Deliberations)?;
            agent = Some(id.clone()).filter(|_| !self.asker.subject.is_agent());
        }
        let draft = propose.drafted(self.state)?;
        Ok(Change::Proposed(Drafted { scanned: self.scanned.to_vec(), agent, ..draft }))
    }

    fn amend(&self, amend: &Amend) -> Result<Change, Rejection> {
        let (deliberation, one) = self.led(&amend.deliberation_id)?;
        in_phase(one, one.phase == Phase::Draft, "only a draft is written otherwise")?;
        let mut draft = amend.of(one).drafted(self.state)?;
        draft.scanned =
            one.scanned.iter().filter(|found| amend.leaves(&found.at)).chain(self.scanned).cloned().collect();
        Ok(Change::Amended { deliberation, draft })
    }

    fn advance(&self, advance: &Advance) -> Result<Change, Rejection> {
        let (deliberation, one) = self.led(&advance.deliberation_id)?;
        let to = advance.to;
        let next = one.phase.next().map_or("nothing follows".to_owned(), |next| format!("{next} follows"));
        in_phase(one, one.phase.next() == Some(to), &format!("phases go forward one by one, and {next}"))?;
        let tally = (to == Phase::Active).then(|| one.tally());
        Ok(Change::Advanced { deliberation, to, tally })
    }

    fn say(&self, say: &Say) -> Result<Change, Rejection> {
        let (deliberation, one) = self.seen(&say.deliberation_id)?;
        self.has_a_say(one)?;
        in_phase(one, one.phase.hears(), "stakeholders speak from DELIBERATION to RATIFICATION")?;
        bounds::text(&say.text, STATEMENT, "/text")?;
        let own = one.statements.iter().filter(|said| said.by == self.asker.subject).count();
        if own >= EACH || one.statements.len() >= STATEMENTS {
            let text = format!("a stakeholder says {EACH} things at most, and all together {STATEMENTS}");
            return Err(bounds::full(text));
        }
        Ok(Change::Said { deliberation, text: say.text.clone(), scanned: self.scanned.to_vec() })
    }

    fn vote(&self, vote: &Vote) -> Result<Change, Rejection> {
        let (deliberation, one) = self.seen(&vote.deliberation_id)?;
        self.has_a_say(one)?;
        in_phase(one, one.phase.takes_ballots(), "ballots are taken from CONVERGENCE to RATIFICATION")?;
        Ok(Change::Voted { deliberation, ballot: ballot(one, &vote.ranking)? })
    }

    /// A deliberation, if there is one for whoever asks.
    fn seen(&self, id: &str) -> Result<(u64, &Deliberation), Rejection> {
        let found = self.state.rules.extensions.consensus.named(id);
        let found = found.filter(|(_, one)| one.is_seen_by(&self.asker.subject, self.who));
        found.ok_or_else(|| unknown().at("/deliberation_id"))
    }

    /// The same for whoever proposed it, and operators.
    fn led(&self, id: &str) -> Result<(u64, &Deliberation), Rejection> {
        let (number, one) = self.seen(id)?;
        if one.convener.as_ref() == Some(&self.asker.subject) || self.who.is_operator() {
            return Ok((number, one));
        }
        Err(Rejection::because(Code::NotAParty, "whoever proposed it does this, or an operator"))
    }

    fn has_a_say(&self, one: &Deliberation) -> Result<(), Rejection> {
        match one.stakeholder(&self.asker.subject).map(|stakeholder| stakeholder.standing) {
            Some(Standing::Advisory | Standing::Collaborative | Standing::Bilateral) => Ok(()),
            Some(Standing::None) => Err(Rejection::because(Code::NotAParty, "with the standing NONE one looks on")),
            None => Err(Rejection::because(Code::NotAParty, "only its stakeholders have a say in it")),
        }
    }
}

/// There is no such deliberation for whoever asks.
pub(in crate::extensions) fn unknown() -> Rejection {
    Rejection::because(Code::UnknownDeliberation, "there is no such deliberation for you here")
}

fn in_phase(one: &Deliberation, fits: bool, why: &str) -> Result<(), Rejection> {
    if fits {
        return Ok(());
    }
    Err(Rejection::because(Code::DeliberationPhase, format!("it is in {}: {why}", one.phase)))
}

fn ballot(one: &Deliberation, ranking: &[Place]) -> Result<Vec<Vec<Pick>>, Rejection> {
    bounds::count(ranking.len(), 1, one.candidates.len(), "/ranking")?;
    let mut seen = BTreeSet::new();
    let mut ballot = Vec::new();
    for (place, group) in ranking.iter().enumerate() {
        let at = format!("/ranking/{place}");
        let group = match group {
            Place::One(id) => std::slice::from_ref(id),
            Place::Tie(ids) => ids,
        };
        bounds::count(group.len(), 1, one.candidates.len(), &at)?;
        let mut picks = Vec::new();
        for id in group {
            let Some(place) = one.candidates.iter().position(|candidate| candidate.id == *id) else {
                return Err(Rejection::because(Code::SchemaInvalid, format!("{id:?} is no candidate")).at(at));
            };
            if !seen.insert(id) {
                return Err(bounds::twice(id, &at));
            }
            picks.push(Pick::Place(place));
        }
        ballot.push(picks);
    }
    Ok(ballot)
}
