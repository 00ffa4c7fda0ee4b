//! Which of several versions counts, and what corrections are to the chain they stand in. Pure.

use std::collections::{BTreeMap, BTreeSet};

/// A correction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Correction {
    pub(super) position: u64,
    /// What it names.
    pub(super) names: Vec<u64>,
    /// What of that it has the right to take the place of.
    pub(super) amends: Vec<u64>,
    pub(super) went_on: bool,
    /// Whether the one who asks may see it.
    pub(super) is_seen: bool,
}

/// What corrections add up to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Counted {
    /// The last that takes the place of the original, or of what did before it, as far as it may be seen.
    pub(super) authoritative: u64,
    /// Corrections that take nothing's place here.
    pub(super) disputes: BTreeSet<u64>,
    /// What was corrected, and the last correction of it that may be seen.
    pub(super) corrected: BTreeMap<u64, Option<u64>>,
}

/// Counts the corrections in a chain, in the order of the record.
pub(super) fn count(original: u64, corrections: &[Correction]) -> Counted {
    let (mut versions, mut seen) = (BTreeSet::from([original]), BTreeSet::from([original]));
    let mut counted = Counted::default();
    for one in corrections {
        let amends_a_version = one.amends.iter().any(|amended| versions.contains(amended));
        if is_dispute(one, &versions) {
            counted.disputes.insert(one.position);
        }
        if !one.went_on {
            continue;
        }
        if amends_a_version {
            versions.insert(one.position);
        }
        if one.is_seen {
            seen.insert(one.position);
        }
        for amended in &one.amends {
            let by = counted.corrected.entry(*amended).or_default();
            *by = one.is_seen.then_some(one.position).or(*by);
        }
    }
    let last_seen = versions.intersection(&seen).last();
    counted.authoritative = last_seen.copied().unwrap_or(original);
    if versions.last().is_some_and(|last| !seen.contains(last)) {
        // What counts is not for this one to see, but that there is such a thing is.
        counted.corrected.entry(counted.authoritative).or_default();
    }
    counted
}

/// Whether it names a version of the original without the right to take its place; or, where it is about something else
/// in the chain, has no right at all.
fn is_dispute(one: &Correction, versions: &BTreeSet<u64>) -> bool {
    let of_versions = |those: &[u64]| those.iter().any(|message| versions.contains(message));
    if of_versions(&one.names) { !of_versions(&one.amends) } else { one.amends.is_empty() }
}

#[cfg(test)]
mod tests {
    use super::{Correction, Counted, count};
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn by(position: u64, names: &[u64], amends: &[u64]) -> Correction {
        Correction { position, names: names.to_vec(), amends: amends.to_vec(), went_on: true, is_seen: true }
    }

    fn hidden(one: Correction) -> Correction {
        Correction { is_seen: false, ..one }
    }

    #[track_caller]
    fn check(corrections: &[Correction], authoritative: u64, disputes: &[u64], corrected: &[(u64, Option<u64>)]) {
        let (disputes, corrected) = (disputes.iter().copied().collect(), corrected.iter().copied().collect());
        assert_eq!(count(1, corrections), Counted { authoritative, disputes, corrected });
    }

    #[test]
    fn corrections_add_up() {
        check(&[], 1, &[], &[]);
        check(&[by(2, &[1], &[1])], 2, &[], &[(1, Some(2))]);
        check(&[by(2, &[1], &[])], 1, &[2], &[]);
        check(&[by(2, &[1], &[1]), by(3, &[2], &[2])], 3, &[], &[(1, Some(2)), (2, Some(3))]);
        // It names one's own as well, which is no part of this chain.
        check(&[by(5, &[1, 4], &[4])], 1, &[5], &[(4, Some(5))]);
        // It is about evidence in the chain, and its author's.
        check(&[by(5, &[3], &[3])], 1, &[], &[(3, Some(5))]);
        // What is held does not count yet.
        check(&[Correction { went_on: false, ..by(2, &[1], &[1]) }], 1, &[], &[]);
    }

    #[test]
    fn that_there_is_more_is_told_without_what_it_is() {
        check(&[hidden(by(2, &[1], &[1]))], 1, &[], &[(1, None)]);
        check(&[by(2, &[1], &[1]), hidden(by(3, &[1], &[1]))], 2, &[], &[(1, Some(2)), (2, None)]);
        check(&[hidden(by(2, &[1], &[1])), by(3, &[2], &[2])], 3, &[], &[(1, None), (2, Some(3))]);
        check(&[hidden(by(2, &[1], &[]))], 1, &[2], &[]);
    }

    fn corrections() -> impl Strategy<Value = Vec<Correction>> {
        let one =
            (prop::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..4), any::<bool>(), any::<bool>());
        prop::collection::vec(one, 0..12).prop_map(|all| {
            let made = all.into_iter().zip(2u64..).map(|((named, went_on, is_seen), position)| {
                let at = |index: &prop::sample::Index| 1 + index.index(usize::try_from(position - 1).unwrap()) as u64;
                let names = named.iter().map(|(index, _)| at(index)).collect();
                let amends = named.iter().filter(|(_, may)| *may).map(|(index, _)| at(index)).collect();
                Correction { position, names, amends, went_on, is_seen }
            });
            made.collect()
        })
    }

    proptest! {
        #[test]
        fn no_dispute_and_nothing_held_changes_what_counts(all in corrections()) {
            let counted = count(1, &all);
            let plain: Vec<_> = all.iter().filter(|one| one.went_on && !one.amends.is_empty()).cloned().collect();
            let without = count(1, &plain);
            prop_assert_eq!(counted.authoritative, without.authoritative);
            prop_assert_eq!(&counted.corrected, &without.corrected);
            // What counts is the original, or comes of it by corrections that went on and may be seen.
            let by_position: BTreeMap<u64, &Correction> = all.iter().map(|one| (one.position, one)).collect();
            let mut ahead = vec![counted.authoritative];
            let mut comes_of_it = false;
            while let Some(at) = ahead.pop() {
                comes_of_it |= at == 1;
                ahead.extend(by_position.get(&at).filter(|one| one.went_on).into_iter().flat_map(|one| &one.amends));
            }
            prop_assert!(comes_of_it);
            let is_seen = |position: u64| by_position.get(&position).is_none_or(|one| one.is_seen && one.went_on);
            prop_assert!(is_seen(counted.authoritative));
        }

        /// Who may see less is told of the same corrections, and of none that is not for them.
        #[test]
        fn what_is_hidden_is_told_of_and_not_told(all in corrections()) {
            let counted = count(1, &all);
            let open: Vec<_> = all.iter().map(|one| Correction { is_seen: true, ..one.clone() }).collect();
            let open = count(1, &open);
            let is_seen = |position: u64| all.iter().any(|one| one.position == position && one.is_seen);
            prop_assert!(counted.corrected.values().flatten().all(|by| is_seen(*by)));
            prop_assert!(open.corrected.keys().all(|amended| counted.corrected.contains_key(amended)));
            prop_assert!(open.authoritative == counted.authoritative || counted.corrected.contains_key(&counted.authoritative));
        }
    }
}
