//! Erasing what letters said, also in effects, and taking it off the disk, with whatever goes wrong in between.

use super::World;
use super::asking::Ask;
use legation_exchange::Redaction;
use legation_store::{Error, Rewrite};
use std::collections::{BTreeMap, BTreeSet};

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
        let pending: BTreeSet<u64> =
            state.erasures().pending().into_iter().flat_map(|span| span.first..=span.last).collect();
        let given: BTreeSet<_> =
            pending.iter().copied().filter(|position| state.erasures().redacted(*position).is_some()).collect();
        match self.cleared(&pending, &given) {
            Ok(()) => self.batch(&[Ask::Clear(newest)]),
            // For want of room it is done later.
            Err(Error::Full { .. }) => Ok(()),
            Err(_) => self.crash(&[state]),
        }
    }

    /// What takes the place of the effect at a position, where that says something that could go.
    pub(super) fn redaction(&self, position: u64) -> Option<Redaction> {
        let frame = self.ledger.as_ref()?.log().read(position).ok()??;
        Redaction::of(position, &serde_json::from_slice(&frame.effect).ok()?)
    }

    fn cleared(&mut self, pending: &BTreeSet<u64>, given: &BTreeSet<u64>) -> Result<(), Error> {
        let effects = given.iter().filter_map(|position| Some((*position, self.redaction(*position)?.effect)));
        let effects: BTreeMap<_, _> = effects.collect();
        let Ok(ledger) = self.ledger() else { return Ok(()) };
        ledger.seal_active()?;
        let rewriter = ledger.rewriter();
        for segment in rewriter.segments() {
            let erase: BTreeSet<u64> = pending.range(segment.first..segment.next).copied().collect();
            if !erase.is_empty() {
                let own = effects.range(segment.first..segment.next);
                let redact = own.map(|(position, effect)| (*position, effect.clone())).collect();
                rewriter.segment(segment.first, &Rewrite { erase, redact, ..Rewrite::default() })?;
            }
        }
        Ok(())
    }
}
