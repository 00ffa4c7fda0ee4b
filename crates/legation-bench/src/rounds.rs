//! Turns between two sides. What a busy neighbour does to one side it does to the other a moment later,
//! so a round is judged by its ratio, and the middle round speaks for all.

use crate::{Against, Amount, Bound, Row, Scenario};

/// How often both sides have their turn.
pub(crate) const ROUNDS: u32 = 3;

#[derive(Debug, Default)]
pub(crate) struct Rounds(Vec<(f64, f64)>);

impl Rounds {
    pub(crate) fn add(&mut self, ours: f64, theirs: f64) {
        self.0.push((ours, theirs));
    }

    /// The comparison, by its middle round, which should have at least this ratio.
    pub(crate) fn row(self, scenario: Scenario, measured: &str, against: &'static str, least: f64) -> Row {
        let mut sorted = self.0.clone();
        sorted.sort_by(|one, two| (one.0 / one.1).total_cmp(&(two.0 / two.1)));
        let (ours, theirs) = sorted.get(sorted.len() / 2).copied().unwrap_or_default();
        let ratio = ours / theirs;
        Row {
            scenario,
            measured: measured.to_owned(),
            legation: Amount::PerSecond(ours),
            against: Some(Against { name: against, amount: Amount::PerSecond(theirs) }),
            ratio: Some(ratio),
            bound: Some(Bound { asked: format!("≥ {least:.2}"), held: ratio >= least }),
            rounds: self.0,
        }
    }
}
