//! Changing keys and writing segments anew, with whatever goes wrong in between.

use super::World;
use legation_store::{Error, Rewrite, Snapshots};
use std::collections::BTreeSet;
use std::sync::Arc;

impl World {
    /// Seals some of the record with the newest key, now and then a new one, as the engine does in the
    /// background. The machine may stop in the middle.
    pub(super) fn rewrite(&mut self) -> Result<(), String> {
        if self.ring.list().len() == 1 && self.rng.chance(50) {
            self.ring.add(self.clock).map_err(|error| error.to_string())?;
        }
        if self.rng.chance(30) {
            self.plan_fault(12);
        }
        let state = self.ledger()?.state().clone();
        match self.rewritten() {
            // For want of room it is done later.
            Ok(()) | Err(Error::Full { .. }) => self.forget_keys(),
            Err(_) => self.crash(&[state]),
        }
    }

    fn rewritten(&mut self) -> Result<(), Error> {
        let Ok(ledger) = self.ledger() else { return Ok(()) };
        ledger.seal_active()?;
        let rewriter = ledger.rewriter();
        for segment in rewriter.segments().into_iter().filter(|segment| !segment.active) {
            if self.rng.chance(60) {
                rewriter.segment(segment.first, &Rewrite::default())?;
                self.summary.rewritten += 1;
            }
        }
        let disk = Arc::<super::Flaky>::clone(&self.disk);
        Snapshots::on(self.dir.path(), disk, Arc::clone(&self.ring))?.reseal()
    }

    /// Lets go of the keys that nothing is sealed with: if anything were, no start would read it.
    fn forget_keys(&mut self) -> Result<(), String> {
        let segments = self.ledger()?.rewriter().segments();
        let snapshots = Snapshots::open(self.dir.path(), Arc::clone(&self.ring)).and_then(|kept| kept.keys());
        let snapshots = snapshots.map_err(|error| error.to_string())?;
        let used: BTreeSet<u32> = segments.into_iter().map(|segment| segment.key).chain(snapshots).flatten().collect();
        self.ring.retain(&used).map(drop).map_err(|error| error.to_string())
    }
}
