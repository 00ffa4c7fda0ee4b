//! Taking off the disk what was erased or kept long enough. A thread of its own, behind everything else
//! that wants the processor: first the words leave the index, then bodies and what effects said leave the
//! segments, then the snapshots go that have it, and only then the record says that it is done. A start goes on where an earlier one was interrupted.

use crate::alerts::Desk;
use crate::clock::since_boot;
use crate::complaint::Complaint;
use crate::decider::{Job, instant};
use crate::exchange::{Error, Head};
use crate::forgetting::Requests;
use crate::ledger::Ledger;
use crate::leisure::step_back;
use crate::look::look;
use crate::redactions::redactions;
use crate::retention::{Drop, Retaining, Retention};
use crate::snapshots::renew;
use crate::stats::Stats;
use legation_exchange::record::Body;
use legation_exchange::{Input, State, Verdict, spans};
use legation_store::{Reader, Rewrite, Rewriter, Snapshots};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// How long is rested between looks, and after a failure.
const REST: Duration = Duration::from_millis(20);
/// How soon a setting that changed is seen.
const LOOK: Duration = Duration::from_secs(1);
const RETRY: Duration = Duration::from_secs(5);
/// How long is waited for the decider to go on in a new segment.
const PATIENCE: Duration = Duration::from_secs(5);
/// How many old messages leave the index at once: new ones are to be found meanwhile.
const WORDS: usize = 1000;

/// What was erased and may still be on the disk.
struct Pending {
    /// The last entry that erased some of it.
    newest: u64,
    /// All entries that did.
    entries: BTreeSet<u64>,
    /// Where it lies.
    positions: Vec<u64>,
}

/// How far the clearing of what was erased is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clearing {
    /// Segments done.
    pub done: u64,
    /// Segments there are to do.
    pub of: u64,
}

/// The thread's own.
pub(crate) struct Clearer {
    rewriter: Rewriter,
    reader: Reader,
    snapshots: Snapshots,
    committed: Arc<RwLock<State>>,
    head: watch::Receiver<Head>,
    jobs: mpsc::WeakSender<Job>,
    index: Requests,
    pub(crate) progress: Arc<Mutex<Clearing>>,
    pub(crate) retaining: Retaining,
    /// What is being dropped, and the segments where that is done: a later attempt leaves them alone.
    dropping: (Rewrite, BTreeSet<u64>),
    stats: Arc<Stats>,
    complaint: Complaint,
}

impl Clearer {
    /// One for this record; its shelf and its progress are for whoever asks.
    pub(crate) fn beside(
        (ledger, snapshots): (&Ledger, Snapshots),
        head: watch::Receiver<Head>,
        jobs: mpsc::WeakSender<Job>,
        index: Requests,
        retention: Retention,
        stats: Arc<Stats>,
        alerts: Arc<Desk>,
    ) -> Clearer {
        Clearer {
            rewriter: ledger.rewriter(),
            reader: ledger.reader(),
            snapshots,
            committed: ledger.committed(),
            head,
            jobs,
            index,
            progress: Arc::default(),
            retaining: Retaining::new(retention),
            dropping: (Rewrite::default(), BTreeSet::new()),
            stats,
            complaint: Complaint::new("what is to go stays on disk for now", alerts),
        }
    }

    /// Runs until the decider has gone.
    pub(crate) fn run(mut self, runtime: &tokio::runtime::Handle) {
        step_back();
        loop {
            let pause = match self.step(runtime) {
                Ok(()) => {
                    self.complaint.over();
                    LOOK
                }
                Err(Error::Closed) => return,
                Err(error) => {
                    self.complaint.about(&error);
                    RETRY
                }
            };
            // Whoever waits by a clock that has stopped with the rest breaks.
            if self.still_wanted().is_err() || runtime.block_on(self.wait(pause)).is_err() {
                return;
            }
        }
    }

    /// So long, or until there is something to clear; an error once the decider has gone.
    async fn wait(&mut self, pause: Duration) -> Result<(), watch::error::RecvError> {
        let committed = Arc::clone(&self.committed);
        let erased = || !look(&committed).erasures().is_clear();
        let head = &mut self.head;
        let work = async {
            loop {
                head.changed().await?;
                if pause != RETRY && erased() {
                    return Ok(());
                }
                // To be woken by each of a thousand commits a second would cost more than all else here.
                tokio::time::sleep(REST).await;
            }
        };
        tokio::time::timeout(pause, work).await.unwrap_or(Ok(()))
    }

    fn step(&mut self, runtime: &tokio::runtime::Handle) -> Result<(), Error> {
        let cleared = self.clear_erased(runtime);
        if matches!(cleared, Err(Error::Closed)) {
            return cleared;
        }
        // What found no room may find some once old bodies are gone.
        cleared.and(self.retain(runtime))
    }

    fn clear_erased(&mut self, runtime: &tokio::runtime::Handle) -> Result<(), Error> {
        while let Some(pending) = self.pending() {
            self.clear(&pending)?;
            runtime.block_on(self.note(Input::Clear { up_to: pending.newest }))?;
        }
        Ok(())
    }

    fn retain(&mut self, runtime: &tokio::runtime::Handle) -> Result<(), Error> {
        if !self.retaining.is_time(self.stats.is_full()) {
            return Ok(());
        }
        let due =
            self.retaining.due(self.stats.record_time(since_boot()), &self.committed, &self.rewriter, &self.reader)?;
        if let Some(drop) = due {
            self.drop_bodies(drop, runtime)?;
        }
        self.retaining.done();
        Ok(())
    }

    /// Drops bodies that were kept long enough, and then says so: what is interrupted is due again.
    fn drop_bodies(&mut self, drop: Drop, runtime: &tokio::runtime::Handle) -> Result<(), Error> {
        let Drop { before, keep, segments, left } = drop;
        let kept = spans(keep.iter().copied());
        let rewrite = Rewrite { drop_bodies_before: Some(before), keep, ..Rewrite::default() };
        let of = segments.len();
        if self.dropping.0 != rewrite {
            self.dropping = (rewrite.clone(), BTreeSet::new());
        }
        for segment in segments {
            self.still_wanted()?;
            if self.dropping.1.contains(&segment.first) {
                continue;
            }
            let going = (segment.first..segment.next).filter(|position| rewrite.takes(*position));
            for some in going.collect::<Vec<_>>().chunks(WORDS) {
                self.index.erase(some.to_vec())?;
            }
            self.rewriter.segment(segment.first, &rewrite).map_err(Error::Record)?;
            self.dropping.1.insert(segment.first);
        }
        self.retaining.count(left);
        tracing::info!(before, segments = of, "bodies that were kept long enough are off the disk");
        runtime.block_on(self.note(Input::Drop { before, kept }))
    }

    /// What was erased and is not cleared.
    fn pending(&self) -> Option<Pending> {
        let state = look(&self.committed);
        let erasures = state.erasures();
        if erasures.is_clear() {
            return None;
        }
        let positions = erasures.pending().into_iter().flat_map(|span| span.first..=span.last).collect();
        let entries = erasures.pending_entries();
        erasures.newest().map(|newest| Pending { newest, entries, positions })
    }

    fn clear(&mut self, pending: &Pending) -> Result<(), Error> {
        let Pending { positions, entries, .. } = pending;
        let Some(last) = positions.last().copied() else { return Ok(()) };
        // The decider goes on in a new segment as soon as it can, which is at once if there is room.
        let since = instant();
        while self.rewriter.segments().iter().any(|segment| segment.active && segment.first <= last) {
            if since.elapsed() > PATIENCE {
                return Err(Error::NoRoom);
            }
            std::thread::sleep(REST);
            self.still_wanted()?;
        }
        // Where an earlier attempt got on to the bodies, nobody knows what the index took in meanwhile.
        let interrupted = self.is_any_gone(positions)?;
        let redacted = redactions(&self.reader, entries)?;
        let index = self.index.erase(positions.clone())?;
        self.rewrite(positions, &redacted.effects)?;
        if redacted.ordered {
            let known = self.head.borrow().known.clone();
            renew(&self.snapshots, &self.reader, &known)?;
        }
        self.index.settle(index, interrupted)
    }

    fn is_any_gone(&self, positions: &[u64]) -> Result<bool, Error> {
        for position in positions {
            let frame = self.reader.read(*position).map_err(Error::Record)?;
            if frame.is_some_and(|frame| matches!(frame.body, Body::Gone(_))) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Writes every segment anew that has one of these bodies, or of the effects that give way.
    fn rewrite(&mut self, positions: &[u64], effects: &BTreeMap<u64, Vec<u8>>) -> Result<(), Error> {
        let all: BTreeSet<u64> = positions.iter().copied().collect();
        let has = |segment: &legation_store::Standing| all.range(segment.first..segment.next).next().is_some();
        let segments: Vec<_> = self.rewriter.segments().into_iter().filter(has).collect();
        let of = segments.len() as u64;
        let started = instant();
        for (segment, done) in segments.into_iter().zip(0..) {
            *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Clearing { done, of };
            self.still_wanted()?;
            let erase = all.range(segment.first..segment.next).copied().collect();
            let own = effects.range(segment.first..segment.next);
            let redact = own.map(|(position, effect)| (*position, effect.clone())).collect();
            let rewrite = Rewrite { erase, redact, ..Rewrite::default() };
            self.rewriter.segment(segment.first, &rewrite).map_err(Error::Record)?;
        }
        *self.progress.lock().unwrap_or_else(PoisonError::into_inner) = Clearing { done: of, of };
        tracing::info!(messages = all.len(), segments = of, took = ?started.elapsed(), "erased messages are off the disk");
        Ok(())
    }

    /// Between two segments is a good place to end.
    fn still_wanted(&self) -> Result<(), Error> {
        self.head.has_changed().map(drop).map_err(|_| Error::Closed)
    }

    async fn note(&self, input: Input) -> Result<(), Error> {
        let jobs = self.jobs.upgrade().ok_or(Error::Closed)?;
        let (answer, answered) = oneshot::channel();
        let job = Job::of_exchange(input, answer);
        jobs.send(job).await.map_err(|_| Error::Closed)?;
        drop(jobs);
        match answered.await.map_err(|_| Error::Closed)?.verdict {
            Verdict::Refused(_) => Err(Error::NoRoom),
            Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => Ok(()),
        }
    }
}
