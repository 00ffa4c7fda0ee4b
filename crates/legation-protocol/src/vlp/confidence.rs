//! How sure a sender is (section III).

use crate::read::At;
use serde::Serialize;

/// A number from 0 (not at all) to 1 (fully).
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize)]
pub struct Confidence(f64);

impl Confidence {
    /// No doubt at all: what a query has in itself (section IV).
    pub const CERTAIN: Confidence = Confidence(1.0);

    /// A confidence, if the number lies from 0 to 1.
    pub fn new(value: f64) -> Option<Confidence> {
        (0.0..=1.0).contains(&value).then_some(Confidence(value))
    }

    /// The number.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// Whether it is so high that it must be earned (section VI, rule 3).
    pub fn is_high(self) -> bool {
        self.0 >= 0.9
    }

    pub(super) fn read(at: At<'_, '_>) -> Option<Confidence> {
        at.number(0.0, 1.0).and_then(Confidence::new)
    }
}

#[cfg(test)]
mod tests {
    use super::Confidence;

    #[track_caller]
    fn check(value: f64, high: Option<bool>) {
        assert_eq!(Confidence::new(value).map(Confidence::is_high), high, "{value}");
    }

    #[test]
    fn confidence_has_edges() {
        check(0.0, Some(false));
        check(0.899_999_999_999_999_9, Some(false));
        check(0.9, Some(true));
        check(1.0, Some(true));
        check(1.000_000_000_000_000_2, None);
        check(-f64::MIN_POSITIVE, None);
        check(f64::NAN, None);
    }
}
