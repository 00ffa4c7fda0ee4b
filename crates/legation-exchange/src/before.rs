//! Where messages lay in a mailbox before they were taken back from there. Whoever names such a place has what lay there,
//! wherever it is now. A place is known for as long as its message waits for that recipient, and no longer.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// How many places of one message are known: the newest.
const PLACES: usize = 8;

/// Where a message lay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Place {
    pub(crate) position: u64,
    /// The entry that took it back from there.
    pub(crate) until: u64,
}

/// Where messages of one recipient lay, by a number each of them has now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(u64, Vec<Place>)>", into = "Vec<(u64, Vec<Place>)>")]
pub(crate) struct Before {
    places: BTreeMap<u64, Vec<Place>>,
    /// The number of the message that lay at a position, and the entry that took it back.
    lay: BTreeMap<u64, (u64, u64)>,
}

impl From<Vec<(u64, Vec<Place>)>> for Before {
    fn from(wire: Vec<(u64, Vec<Place>)>) -> Self {
        let mut before = Before::default();
        for (number, places) in wire {
            before.put(number, places);
        }
        before
    }
}

impl From<Before> for Vec<(u64, Vec<Place>)> {
    fn from(before: Before) -> Self {
        before.places.into_iter().collect()
    }
}

impl Before {
    pub(crate) fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The message of this number lay at these places.
    pub(crate) fn put(&mut self, number: u64, places: Vec<Place>) {
        if places.is_empty() {
            return;
        }
        self.lay.extend(places.iter().map(|place| (place.position, (number, place.until))));
        let known = self.places.entry(number).or_default();
        known.extend(places);
        for old in known.drain(..known.len().saturating_sub(PLACES)) {
            self.lay.remove(&old.position);
        }
    }

    /// Where the message of this number lay, which is not known here any more.
    pub(crate) fn take(&mut self, number: u64) -> Vec<Place> {
        let places = self.places.remove(&number).unwrap_or_default();
        for place in &places {
            self.lay.remove(&place.position);
        }
        places
    }

    /// The same of all up to a number.
    pub(crate) fn take_up_to(&mut self, number: u64) {
        while let Some(first) = self.places.keys().next().copied().filter(|first| *first <= number) {
            self.take(first);
        }
    }

    /// The entry that took back what lay at a position.
    pub(crate) fn until(&self, position: u64) -> Option<u64> {
        self.lay.get(&position).map(|(_, until)| *until)
    }

    /// What lay at one of these positions; and, with one and the entry that took it back from there, what lay before it and
    /// was taken back no earlier. That was shown to whoever was shown the one.
    pub(crate) fn lay_at(&self, positions: &[u64], up_to: Option<(u64, u64)>) -> BTreeSet<u64> {
        let named = positions.iter().filter_map(|position| self.lay.get(position));
        let shown = up_to.into_iter().flat_map(|(position, until)| {
            self.lay.range(..=position).map(|(_, lay)| lay).filter(move |(_, own)| *own >= until)
        });
        named.chain(shown).map(|(number, _)| *number).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Before, PLACES, Place};

    fn places(all: &[(u64, u64)]) -> Vec<Place> {
        all.iter().map(|(position, until)| Place { position: *position, until: *until }).collect()
    }

    #[track_caller]
    fn check(positions: &[u64], up_to: Option<u64>, want: &[u64]) {
        let mut before = Before::default();
        // 1 to 3 were taken back together, 4 before that, and 5 later, for the second time.
        for (number, lay) in
            [(1, &[(10, 50)][..]), (2, &[(20, 50)]), (3, &[(30, 50)]), (4, &[(15, 40)]), (5, &[(5, 8), (25, 60)])]
        {
            before.put(number, places(lay));
        }
        let up_to = up_to.and_then(|position| Some((position, before.until(position)?)));
        assert_eq!(before.lay_at(positions, up_to).into_iter().collect::<Vec<_>>(), want);
    }

    #[test]
    fn what_lay_at_a_place_is_found_and_what_was_shown_before_it() {
        check(&[], None, &[]);
        check(&[10, 30, 31], None, &[1, 3]);
        check(&[5, 25], None, &[5]);
        check(&[], Some(30), &[1, 2, 3, 5]);
        check(&[], Some(20), &[1, 2]);
        check(&[], Some(15), &[1, 4]);
        check(&[], Some(25), &[5]);
        // Nothing lay there, so nothing says what was shown.
        check(&[], Some(29), &[]);
        check(&[15], Some(10), &[1, 4]);
    }

    #[test]
    fn what_is_taken_is_known_no_longer_and_few_places_are() {
        let mut before = Before::default();
        before.put(1, places(&[(10, 50)]));
        before.put(1, places(&[(60, 70)]));
        before.put(2, places(&[(20, 50)]));
        before.put(3, Vec::new());
        assert_eq!(before.take(1), places(&[(10, 50), (60, 70)]));
        assert_eq!((before.until(10), before.until(20)), (None, Some(50)));
        before.take_up_to(1);
        assert!(!before.is_empty());
        before.take_up_to(2);
        assert_eq!(before, Before::default());
        let many: Vec<_> = (0..=PLACES as u64).map(|round| (10 * round, 10 * round + 5)).collect();
        before.put(1, places(&many));
        assert_eq!((before.until(0), before.until(10)), (None, Some(15)));
        let wire: Vec<_> = before.clone().into();
        assert_eq!(Before::from(wire), before);
    }
}
