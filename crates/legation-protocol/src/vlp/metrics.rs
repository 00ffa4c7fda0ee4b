//! How much of what a message rests on could be verified (section VII).
//!
//! The spec names the figures but neither the layers nor a formula for integrity; both are ours.
//! A validator keeps the figures beside the message: a sender that sets them is refused.

use super::safety::Level;
use crate::names::names;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a message rests on. Each can be verified or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The message is whole and its sender proven.
    Intent,
    /// The constraints it is under are known and kept.
    Constraints,
    /// The session or task it belongs to is as it says.
    State,
    /// What it remembers is on record.
    Memory,
    /// Its sources check out.
    Evidence,
    /// Its sender has the rights it uses.
    Capability,
}

names!(Layer {
    Intent = "intent",
    Constraints = "constraints",
    State = "state",
    Memory = "memory",
    Evidence = "evidence",
    Capability = "capability",
});

/// References that could be checked: messages, digests of bodies at hand, sessions, rights. Names
/// and addresses that nobody fetches count neither way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Those that hold.
    pub verified: u32,
    /// Those that do not.
    pub refuted: u32,
}

/// What the integrity lets a message do (section VII).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gate {
    /// Integrity of 0.75 or more.
    Pass,
    /// Integrity of 0.5 or more.
    Review,
    /// Less.
    Fail,
}

names!(Gate { Pass = "pass", Review = "review", Fail = "fail" });

/// The figures a validator computes (section VII).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metrics {
    context_depth: usize,
    context_integrity: f64,
    context_debt: f64,
    gate: Gate,
}

impl Metrics {
    /// Computes them from the layers verified, the references checked and the level that counts.
    pub fn compute(verified: &BTreeSet<Layer>, references: Tally, level: Level) -> Metrics {
        let integrity = references.integrity().unwrap_or(match level {
            Level::Safe => 1.0,
            Level::Review => 0.5,
            Level::Block => 0.0,
        });
        Metrics {
            context_depth: verified.len(),
            context_integrity: integrity,
            context_debt: 1.0 - integrity,
            gate: Gate::at(integrity),
        }
    }

    /// The same with a gate that is no better than this: by the figures alone, many sources that hold would hide one
    /// that was altered.
    #[must_use]
    pub fn no_better_than(self, gate: Gate) -> Metrics {
        Metrics { gate: self.gate.max(gate), ..self }
    }

    /// How many layers were verified, 0 to 6.
    pub const fn depth(&self) -> usize {
        self.context_depth
    }

    /// The share of checkable references that hold, 0 to 1.
    pub const fn integrity(&self) -> f64 {
        self.context_integrity
    }

    /// What is missing to full integrity.
    pub const fn debt(&self) -> f64 {
        self.context_debt
    }

    /// What follows.
    pub const fn gate(&self) -> Gate {
        self.gate
    }
}

impl Tally {
    fn integrity(self) -> Option<f64> {
        let checked = f64::from(self.verified) + f64::from(self.refuted);
        (checked > 0.0).then(|| f64::from(self.verified) / checked)
    }
}

impl Gate {
    /// The gating rules.
    pub fn at(integrity: f64) -> Gate {
        if integrity >= 0.75 {
            Gate::Pass
        } else if integrity >= 0.5 {
            Gate::Review
        } else {
            Gate::Fail
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Gate, Layer, Level, Metrics, Tally};
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[track_caller]
    fn check(verified: u32, refuted: u32, level: Level, integrity: f64, gate: Gate) {
        let metrics = Metrics::compute(&BTreeSet::new(), Tally { verified, refuted }, level);
        assert_eq!((metrics.integrity(), metrics.gate()), (integrity, gate));
    }

    #[test]
    fn gate_edges() {
        check(3, 1, Level::Safe, 0.75, Gate::Pass);
        check(74, 26, Level::Safe, 0.74, Gate::Review);
        check(1, 1, Level::Safe, 0.5, Gate::Review);
        check(49, 51, Level::Safe, 0.49, Gate::Fail);
        check(0, 1, Level::Safe, 0.0, Gate::Fail);
        check(5, 0, Level::Block, 1.0, Gate::Pass);
        assert_eq!(Gate::at(f64::NAN), Gate::Fail);
    }

    #[test]
    fn integrity_without_references_follows_the_level() {
        check(0, 0, Level::Safe, 1.0, Gate::Pass);
        check(0, 0, Level::Review, 0.5, Gate::Review);
        check(0, 0, Level::Block, 0.0, Gate::Fail);
    }

    #[test]
    fn depth_counts_verified_layers() {
        let mut layers = BTreeSet::new();
        for (depth, layer) in Layer::ALL.iter().enumerate() {
            assert_eq!(Metrics::compute(&layers, Tally::default(), Level::Safe).depth(), depth);
            layers.insert(*layer);
        }
        assert_eq!(Metrics::compute(&layers, Tally::default(), Level::Safe).depth(), 6);
    }

    #[test]
    fn metrics_from_layers_and_references() {
        let layers = BTreeSet::from([Layer::Intent, Layer::Evidence]);
        let metrics = Metrics::compute(&layers, Tally { verified: 3, refuted: 1 }, Level::Review);
        insta::assert_snapshot!(
            serde_json::to_string(&metrics).unwrap(),
            @r#"{"context_depth":2,"context_integrity":0.75,"context_debt":0.25,"gate":"pass"}"#
        );
    }

    proptest! {
        #[test]
        fn integrity_stays_in_range(verified: u32, refuted: u32) {
            let metrics = Metrics::compute(&BTreeSet::new(), Tally { verified, refuted }, Level::Review);
            prop_assert!((0.0..=1.0).contains(&metrics.integrity()));
            prop_assert!((0.0..=1.0).contains(&metrics.debt()));
        }
    }
}
