//! Which of the last entries are how old, to the second. What lies before them is older.

use crate::moment::Moment;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::time::Duration;

/// How far back it is told.
const KEPT: Duration = Duration::from_mins(10);
/// How exactly.
const EXACTLY: Duration = Duration::from_secs(1);

/// The first entry of each of the last seconds in which there were any.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Lately(VecDeque<(Moment, u64)>);

impl Lately {
    /// An entry was folded in.
    pub(crate) fn note(&mut self, position: u64, at: Moment) {
        if self.0.back().is_none_or(|(last, _)| last.plus(EXACTLY) <= at) {
            self.0.push_back((at, position));
        }
        while self.0.get(1).is_some_and(|(next, _)| next.plus(KEPT) <= at) {
            self.0.pop_front();
        }
    }

    /// The first entry since a moment, where that is not long ago; all before it are older.
    pub(crate) fn since(&self, then: Moment) -> u64 {
        self.0.iter().find(|(at, _)| *at > then).map_or(u64::MAX, |(_, position)| *position)
    }
}

#[cfg(test)]
mod tests {
    use super::Lately;
    use crate::moment::Moment;

    fn at(second: u64) -> Moment {
        Moment::from_micros(second * 1_000_000)
    }

    #[test]
    fn entries_are_told_apart_by_their_seconds() {
        let mut lately = Lately::default();
        for position in 0..4000 {
            lately.note(position, at(position / 2));
        }
        assert_eq!(lately.since(at(1900)), 3802);
        assert_eq!(lately.since(at(1999)), u64::MAX, "all are older");
        assert_eq!(lately.since(at(1000)), 2798, "more is not kept");
        assert!(lately.0.len() <= 602);
    }
}
