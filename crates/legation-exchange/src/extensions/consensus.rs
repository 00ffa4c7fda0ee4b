//! VCP-X-Consensus: deliberations of agents and people. A proposal goes through its phases, forward only; its
//! stakeholders speak, then rank the candidates; the Schulze method says what they prefer together.

mod act;
mod deliberation;
mod kept;
mod schulze;

pub use act::{Act, Advance, Amend, Candidate, Place, Propose, Say, Vote, Wanted};
pub use deliberation::{Deliberation, Outcome, Stakeholder, Statement, Tally};
pub use kept::{Change, Drafted, Kept, Pick};
pub use schulze::{Ballot, Matrix, Schulze, schulze};

pub(super) use act::{decide, unknown};

use super::words::words;
use serde::Deserialize;

/// Most stakeholders of a deliberation.
pub const STAKEHOLDERS: usize = 100;

/// Which deliberation is meant.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Which {
    /// Its id.
    pub deliberation_id: String,
}

words!(
    /// How far a deliberation has come.
    Phase {
        /// It may still be written otherwise.
        Draft = "DRAFT" | "draft",
        /// Its stakeholders speak.
        Deliberation = "DELIBERATION" | "deliberation",
        /// They begin to rank.
        Convergence = "CONVERGENCE" | "convergence",
        /// They rank for the last time.
        Ratification = "RATIFICATION" | "ratification",
        /// It is decided.
        Active = "ACTIVE" | "active",
    }
);

impl Phase {
    /// The one that follows.
    pub const fn next(self) -> Option<Phase> {
        match self {
            Phase::Draft => Some(Phase::Deliberation),
            Phase::Deliberation => Some(Phase::Convergence),
            Phase::Convergence => Some(Phase::Ratification),
            Phase::Ratification => Some(Phase::Active),
            Phase::Active => None,
        }
    }

    /// Whether ballots are taken.
    pub const fn takes_ballots(self) -> bool {
        match self {
            Phase::Convergence | Phase::Ratification => true,
            Phase::Draft | Phase::Deliberation | Phase::Active => false,
        }
    }

    /// Whether stakeholders may speak.
    pub const fn hears(self) -> bool {
        match self {
            Phase::Deliberation | Phase::Convergence | Phase::Ratification => true,
            Phase::Draft | Phase::Active => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Phase;

    #[test]
    fn phases_go_forward_one_by_one_and_end() {
        let all: Vec<_> = std::iter::successors(Some(Phase::Draft), |phase| phase.next()).collect();
        assert_eq!(all, Phase::ALL);
        assert!(Phase::ALL.is_sorted());
    }

    #[test]
    fn ballots_are_taken_from_convergence_to_ratification() {
        let taken: Vec<_> = Phase::ALL.iter().copied().filter(|phase| phase.takes_ballots()).collect();
        assert_eq!(taken, [Phase::Convergence, Phase::Ratification]);
    }
}
