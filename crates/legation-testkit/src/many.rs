//! Many seeds at once, and what to say when one fails.

use crate::world::{Summary, run};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A seed under which a promise was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("seed {seed}, round {round}: {what}\nrepeat with: cargo xtask sim --seeds 1 --from {seed}")]
pub struct Failure {
    /// The seed.
    pub seed: u64,
    /// After so many batches.
    pub round: u64,
    /// What was broken.
    pub what: String,
}

/// Runs `count` seeds from `from` on, on all processors, and says what happened in them or the
/// lowest one that failed. `progress` hears how many are done.
pub fn many(from: u64, count: u64, progress: &(dyn Fn(u64) + Sync)) -> Result<Summary, Failure> {
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let all: Mutex<(Summary, Option<Failure>)> = Mutex::default();
    let lock = || all.lock().unwrap_or_else(PoisonError::into_inner);
    let work = || {
        while lock().1.is_none() {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                break;
            }
            let result = run(from.wrapping_add(index));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            let mut all = lock();
            match result {
                Ok(summary) => all.0.add(&summary),
                Err(failure) if all.1.as_ref().is_none_or(|old| failure.seed < old.seed) => all.1 = Some(failure),
                Err(_) => {}
            }
        }
    };
    thread::scope(|scope| {
        let threads = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let (summary, failure) = all.into_inner().unwrap_or_else(PoisonError::into_inner);
    failure.map_or(Ok(summary), Err)
}
