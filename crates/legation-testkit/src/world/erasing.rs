//! Erasing what letters said, and taking it off the disk, with whatever goes wrong in between.

use super::World;
use super::asking::Ask;
use legation_store::{Error, Rewrite};
use std::collections::BTreeSet;

impl World {
    /// Somebody wants a few letters erased that were taken, whether or not they have arrived.
    pub(super) fn erase(&mut self) -> Option<Ask> {
        let some = 1 + self.rng.index(3);
        let chosen = (0..some).filter_map(|_| {
            let index = self.rng.index(self.asked.taken.len());
            self.asked.taken.keys().nth(index).copied()
        });
        let chosen: BTreeSet<u64> = chosen.collect();
        self.asked.doomed.extend(&chosen);
        (!chosen.is_empty()).then(|| Ask::Erase(chosen.into_iter().collect()))
    }

    /// Writes segments anew without what was erased, and notes that it is done, as the engine does in the
    /// background. The machine may stop in the middle.
    pub(super) fn clear(&mut self) -> Result<(), String> {
        let state = self.ledger()?.state().clone();
        let Some(newest) = state.erasures().newest().filter(|_| !state.erasures().is_clear()) else { return Ok(()) };
        if self.rng.chance(30) {
            self.plan_fault(12);
        }
        let pending = state.erasures().pending().flat_map(|span| span.first..=span.last).collect();
        match self.cleared(&pending) {
            Ok(()) => self.batch(&[Ask::Clear(newest)]),
            // For want of room it is done later.
            Err(Error::Full { .. }) => Ok(()),
            Err(_) => self.crash(&[state]),
        }
    }

    fn cleared(&mut self, pending: &BTreeSet<u64>) -> Result<(), Error> {
        let Ok(ledger) = self.ledger() else { return Ok(()) };
        ledger.seal_active()?;
        let rewriter = ledger.rewriter();
        for segment in rewriter.segments() {
            let erase: BTreeSet<u64> = pending.range(segment.first..segment.next).copied().collect();
            if !erase.is_empty() {
                rewriter.segment(segment.first, &Rewrite { erase, ..Rewrite::default() })?;
            }
        }
        Ok(())
    }
}
