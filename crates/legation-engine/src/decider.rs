//! The one thread that decides and commits. What has gathered while the last batch was being
//! written is the next batch: one write and one sync for all of it, then all are answered.

use crate::exchange::Head;
use legation_exchange::record::{Checkpoint, Frame};
use legation_exchange::{Entry, Input, Moment, Policy, State, Verdict, decide, tick};
use legation_protocol::sign::SecretKey;
use legation_protocol::{Code, Rejection};
use legation_store::Log;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{mpsc, oneshot, watch};

/// Something asked, and where the answer goes.
pub(crate) struct Job {
    pub(crate) input: Input,
    pub(crate) answer: oneshot::Sender<Verdict>,
}

/// The most inputs decided before they are committed.
const BATCH: usize = 1024;
/// How often time passing is looked at when nothing else happens.
const IDLE: Duration = Duration::from_secs(1);
/// Entries after which a checkpoint is signed, if a second has not passed before.
const CHECKPOINT_ENTRIES: u64 = 1000;

pub(crate) struct Decider {
    pub(crate) log: Log,
    pub(crate) state: State,
    pub(crate) committed: Arc<RwLock<State>>,
    pub(crate) head: watch::Sender<Head>,
    pub(crate) policy: Policy,
    pub(crate) realm: String,
    pub(crate) key: SecretKey,
    pub(crate) signed: u64,
    pub(crate) signed_at: Instant,
}

impl Decider {
    /// Runs until nobody can ask any more. A record that cannot be written ends it with the error.
    pub(crate) fn run(
        mut self,
        jobs: &mut mpsc::Receiver<Job>,
        runtime: &tokio::runtime::Handle,
    ) -> Result<(), legation_store::Error> {
        loop {
            let first = runtime.block_on(async { tokio::time::timeout(IDLE, jobs.recv()).await });
            let mut batch = match first {
                Ok(None) => return Ok(()),
                Ok(Some(job)) => vec![job],
                Err(_) => Vec::new(),
            };
            while let (true, Ok(job)) = (batch.len() < BATCH, jobs.try_recv()) {
                batch.push(job);
            }
            self.batch(batch)?;
        }
    }

    fn batch(&mut self, jobs: Vec<Job>) -> Result<(), legation_store::Error> {
        let size: usize = jobs.iter().map(|job| weight(&job.input)).sum();
        match self.log.reserve(size as u64) {
            Ok(()) => {}
            Err(legation_store::Error::Full { .. }) => {
                refuse_all(jobs);
                return Ok(());
            }
            Err(error) => return Err(error),
        }
        let now = now();
        let mut entries = Vec::with_capacity(jobs.len());
        self.take_in(tick(&self.state, now), &mut entries);
        let mut answers = Vec::with_capacity(jobs.len());
        for job in jobs {
            let decision = decide(&self.state, &self.policy, job.input, now);
            self.take_in(decision.entries, &mut entries);
            answers.push((job.answer, decision.verdict));
        }
        self.commit(&entries)?;
        for (answer, verdict) in answers {
            // Whoever asked may be gone; what was decided stands all the same.
            let _ = answer.send(verdict);
        }
        Ok(())
    }

    /// Folds entries into the decider's own state, ahead of their commit.
    fn take_in(&mut self, new: Vec<Entry>, entries: &mut Vec<Entry>) {
        for entry in new {
            self.state.apply(&entry);
            entries.push(entry);
        }
    }

    fn commit(&mut self, entries: &[Entry]) -> Result<(), legation_store::Error> {
        if !entries.is_empty() {
            let frames: Vec<Frame> = entries.iter().map(frame).collect();
            self.log.append(&frames)?;
            let mut committed = self.committed.write().unwrap_or_else(PoisonError::into_inner);
            for entry in entries {
                committed.apply(entry);
            }
        }
        self.publish(!entries.is_empty());
        Ok(())
    }

    fn publish(&mut self, changed: bool) {
        let size = self.state.next();
        let due = size > self.signed
            && (size - self.signed >= CHECKPOINT_ENTRIES || self.signed_at.elapsed() >= Duration::from_secs(1));
        if !changed && !due {
            return;
        }
        let checkpoint = due.then(|| {
            (self.signed, self.signed_at) = (size, instant());
            let at = now().micros();
            let (root, chain) = (self.log.frontier().root(), self.log.chain());
            Checkpoint { realm: self.realm.clone(), epoch: 1, size, root, chain, at }.sign(&self.key)
        });
        self.head.send_modify(|head| {
            (head.size, head.chain, head.known) = (size, self.log.chain(), self.log.known());
            head.checkpoint = checkpoint.or(head.checkpoint.take());
        });
    }
}

fn refuse_all(jobs: Vec<Job>) {
    for job in jobs {
        let rejection = Rejection::because(Code::StorageFull, "the record has no room; nothing was changed");
        let _ = job.answer.send(Verdict::Refused(rejection));
    }
}

/// An upper bound of what an input adds to the record.
fn weight(input: &Input) -> usize {
    4096 + match input {
        Input::Message(verified) => verified.received.bytes().len() * 2,
        Input::Register { .. } => 512 * 1024,
        Input::Remove { .. } => 0,
        Input::Acknowledge { positions, .. } => positions.len() * 24,
    }
}

fn frame(entry: &Entry) -> Frame {
    let mut salt = [0; 16];
    let _ = getrandom::fill(&mut salt);
    let effect = serde_json::to_vec(&entry.effect).unwrap_or_default();
    Frame {
        position: entry.position,
        at: entry.at.micros(),
        salt,
        effect,
        body: entry.body.as_ref().map(|b| b.to_vec()),
    }
}

#[expect(clippy::disallowed_methods, reason = "the edge where the exchange meets the clock")]
fn now() -> Moment {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Moment::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}

#[expect(clippy::disallowed_methods, reason = "the edge where the exchange meets the clock")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}
