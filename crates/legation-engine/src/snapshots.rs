//! Snapshots, so that a start does not grow with history. A thread of its own folds what was
//! committed since the last one and writes the outcome; the decider never waits for it.

use crate::exchange::{Error, Head};
use crate::ledger::fold_onto;
use legation_exchange::State;
use legation_store::{Reader, Snapshots};
use tokio::sync::watch;

/// How many entries make a new snapshot worth its work.
pub(crate) const WORTH: u64 = 50_000;

pub(crate) struct Keeper {
    pub(crate) snapshots: Snapshots,
    pub(crate) reader: Reader,
    pub(crate) head: watch::Receiver<Head>,
    /// Entries the newest snapshot covers.
    pub(crate) covered: u64,
    /// How many more make a new one.
    pub(crate) worth: u64,
}

impl Keeper {
    /// Runs until the decider has gone. A snapshot that cannot be written costs only a slower start.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Handle) {
        while runtime.block_on(self.head.changed()).is_ok() {
            let known = self.head.borrow_and_update().known.clone();
            if known.position >= self.covered.saturating_add(self.worth) {
                if let Err(error) = self.write(&known) {
                    tracing::warn!(error = &error as &dyn std::error::Error, "no snapshot was written");
                }
                self.covered = known.position;
            }
        }
    }

    fn write(&self, known: &legation_store::Known) -> Result<(), Error> {
        let mut state = latest(&self.snapshots)?.map_or_else(State::default, |(_, state)| state);
        let frames = self.reader.frames(state.next());
        let new = known.position.saturating_sub(state.next());
        fold_onto(&mut state, frames.take(usize::try_from(new).unwrap_or(usize::MAX)))?;
        self.reader.sync_tree().map_err(Error::Record)?;
        self.snapshots.write(known, &state.to_bytes()).map_err(Error::Record)
    }
}

/// The newest snapshot that still reads.
pub(crate) fn latest(snapshots: &Snapshots) -> Result<Option<(legation_store::Known, State)>, Error> {
    let snapshot = snapshots.latest().map_err(Error::Record)?;
    Ok(snapshot.and_then(|snapshot| {
        let state = State::from_bytes(&snapshot.bytes)?;
        (state.next() == snapshot.known.position).then_some((snapshot.known, state))
    }))
}
