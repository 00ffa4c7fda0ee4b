//! What was erased: which positions, by which entry, and whether it is gone from the disk too.

use crate::extensions::Subject;
use crate::record::Hash;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Positions from the first to the last, both among them. Written as a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u64, u64)", into = "(u64, u64)")]
pub struct Span {
    /// The first.
    pub first: u64,
    /// The last.
    pub last: u64,
}

impl From<(u64, u64)> for Span {
    fn from((first, last): (u64, u64)) -> Span {
        Span { first, last }
    }
}

impl From<Span> for (u64, u64) {
    fn from(span: Span) -> (u64, u64) {
        (span.first, span.last)
    }
}

/// Positions, in order and each once, as few spans.
pub fn spans(positions: impl IntoIterator<Item = u64>) -> Vec<Span> {
    let mut sorted: Vec<_> = positions.into_iter().collect();
    sorted.sort_unstable();
    let mut spans: Vec<Span> = Vec::new();
    for position in sorted {
        match spans.last_mut() {
            Some(span) if position <= span.last.saturating_add(1) => span.last = position,
            _ => spans.push(Span { first: position, last: position }),
        }
    }
    spans
}

/// Whether a position is in one of these spans, which are in order.
pub fn covers(spans: &[Span], position: u64) -> bool {
    let after = spans.partition_point(|span| span.first <= position);
    after.checked_sub(1).and_then(|at| spans.get(at)).is_some_and(|span| position <= span.last)
}

/// An entry that does less than it did: its effect gave way to one that says nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u64, Hash)", into = "(u64, Hash)")]
pub struct Redacted {
    /// Where it lies.
    pub position: u64,
    /// SHA-256 of the effect that took the place of its own. No leaf covers that one: this does.
    pub effect: Hash,
}

impl From<(u64, Hash)> for Redacted {
    fn from((position, effect): (u64, Hash)) -> Redacted {
        Redacted { position, effect }
    }
}

impl From<Redacted> for (u64, Hash) {
    fn from(redacted: Redacted) -> (u64, Hash) {
        (redacted.position, redacted.effect)
    }
}

/// Constraints of a type that only agents know, on one of them, which go with what was said in them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Unbound {
    /// On whom.
    pub agent: String,
    /// Of which type.
    pub kind: String,
}

/// Messages that were erased, refusals, and entries of extensions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erased {
    /// Where they lie.
    pub positions: Vec<Span>,
    /// Those whose effects said something that goes too, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redacted: Vec<Redacted>,
    /// Of whom extensions keep nothing any more.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub forgets: BTreeSet<Subject>,
    /// Which constraints are kept no longer, whoever laid them, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbinds: Vec<Unbound>,
    /// Whose messages were to go, if that was how they were named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who did it.
    pub by: String,
    /// Open tasks whose delegation nobody has taken yet and is among them, by number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tasks: Vec<u64>,
}

/// Which bodies went that had been kept long enough.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dropped {
    /// Those before this position.
    pub before: u64,
    /// But not these.
    pub kept: Vec<Span>,
    /// The entry that says so.
    pub entry: u64,
}

/// Everything that was ever erased.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Erasures {
    /// In order, none overlapping another; each with the entry that erased it.
    spans: Vec<(Span, u64)>,
    /// The same of those whose effects gave way.
    #[serde(default)]
    redacted: Vec<(Span, u64)>,
    /// What entries before this one erased is gone from the disk.
    cleared: u64,
    /// The last entry that erased something.
    newest: Option<u64>,
}

impl Erasures {
    /// The entry that erased what lay at a position.
    pub fn of(&self, position: u64) -> Option<u64> {
        found(&self.spans, position)
    }

    /// The entry that redacted the effect at a position.
    pub fn redacted(&self, position: u64) -> Option<u64> {
        found(&self.redacted, position)
    }

    /// Entries that erased something which may still be on the disk.
    pub fn pending_entries(&self) -> BTreeSet<u64> {
        let all = self.spans.iter().chain(&self.redacted).map(|(_, entry)| *entry);
        all.filter(|entry| *entry >= self.cleared).collect()
    }

    /// What was erased and may still be on the disk.
    pub fn pending(&self) -> Vec<Span> {
        let pending = self.spans.iter().chain(&self.redacted).filter(|(_, entry)| *entry >= self.cleared);
        spans(pending.flat_map(|(span, _)| span.first..=span.last))
    }

    /// Whether anything may still be on the disk.
    pub fn is_clear(&self) -> bool {
        self.newest().is_none_or(|entry| entry < self.cleared)
    }

    /// The last entry that erased something.
    pub fn newest(&self) -> Option<u64> {
        self.newest
    }

    /// All spans, in order, each with the entry that erased it.
    pub fn iter(&self) -> impl Iterator<Item = (Span, u64)> {
        self.spans.iter().copied()
    }

    /// How many messages were erased.
    pub fn count(&self) -> u64 {
        self.spans.iter().map(|(span, _)| span.last - span.first + 1).sum()
    }

    /// Those of these positions that are not erased yet.
    pub(crate) fn without(&self, positions: &[Span]) -> Vec<Span> {
        let each = positions.iter().flat_map(|span| span.first..=span.last);
        spans(each.filter(|position| self.of(*position).is_none()))
    }

    pub(crate) fn add(&mut self, entry: u64, erased: &[Span], redacted: &[Redacted]) {
        self.spans.extend(self.without(erased).into_iter().map(|span| (span, entry)));
        self.spans.sort_unstable();
        let new = redacted.iter().map(|one| one.position).filter(|position| self.redacted(*position).is_none());
        let new = spans(new.collect::<Vec<_>>());
        self.redacted.extend(new.into_iter().map(|span| (span, entry)));
        self.redacted.sort_unstable();
        self.newest = Some(entry);
    }

    pub(crate) fn clear(&mut self, up_to: u64) {
        self.cleared = self.cleared.max(up_to.saturating_add(1));
    }
}

fn found(spans: &[(Span, u64)], position: u64) -> Option<u64> {
    let after = spans.partition_point(|(span, _)| span.first <= position);
    let (span, entry) = after.checked_sub(1).and_then(|at| spans.get(at))?;
    (position <= span.last).then_some(*entry)
}

#[cfg(test)]
mod tests {
    use super::{Erasures, Span, covers, spans};

    fn span(first: u64, last: u64) -> Span {
        Span { first, last }
    }

    #[test]
    fn positions_become_few_spans() {
        assert_eq!(spans([]), []);
        assert_eq!(spans([7, 3, 4, 4, 5, 9]), [span(3, 5), span(7, 7), span(9, 9)]);
        let some = spans([3, 4, 7]);
        assert_eq!([2, 3, 4, 5, 7, 8].map(|position| covers(&some, position)), [false, true, true, false, true, false]);
    }

    #[test]
    fn what_is_erased_keeps_the_entry_that_erased_it_first() {
        let mut erasures = Erasures::default();
        erasures.add(20, &[span(3, 5), span(9, 9)], &[]);
        erasures.add(30, &[span(4, 7)], &[]);
        assert_eq!(
            [2, 3, 5, 6, 7, 8, 9].map(|at| erasures.of(at)),
            [None, Some(20), Some(20), Some(30), Some(30), None, Some(20)]
        );
        assert_eq!((erasures.newest(), erasures.count()), (Some(30), 6));
    }

    #[test]
    fn what_is_cleared_is_no_longer_pending() {
        let mut erasures = Erasures::default();
        assert!(erasures.is_clear());
        erasures.add(20, &[span(3, 5)], &[]);
        erasures.add(30, &[span(9, 9)], &[]);
        erasures.clear(20);
        assert_eq!(erasures.pending(), [span(9, 9)]);
        assert!(!erasures.is_clear());
        erasures.clear(30);
        assert!(erasures.is_clear());
        assert_eq!(erasures.of(4), Some(20));
    }
}
