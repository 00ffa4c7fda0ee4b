//! The one thread that decides and commits. What has gathered while the last batch was being
//! written is the next batch: one write and one sync for all of it, then all are answered.

use crate::exchange::Head;
use crate::ledger::{Batch, Ledger, weight};
use crate::receipt::{Answered, Notary};
use legation_exchange::{Input, Moment, Verdict};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio::sync::{mpsc, oneshot, watch};

/// Something asked, and where the answer goes.
pub(crate) struct Job {
    pub(crate) input: Input,
    pub(crate) answer: oneshot::Sender<Answer>,
}

/// A verdict, and the batch it was committed with.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) verdict: Verdict,
    pub(crate) batch: Option<Arc<Answered>>,
}

/// The most inputs decided before they are committed.
const BATCH: usize = 1024;
/// The most bytes they may come to, about; far below what the record takes as one batch.
const BATCH_BYTES: usize = 32 << 20;
/// How often time passing is looked at when nothing else happens.
const IDLE: Duration = Duration::from_secs(1);
/// Entries after which a checkpoint is signed, if a second has not passed before.
const CHECKPOINT_ENTRIES: u64 = 1000;

pub(crate) struct Decider {
    pub(crate) ledger: Ledger,
    pub(crate) head: watch::Sender<Head>,
    pub(crate) notary: Arc<Notary>,
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
            let mut bytes: usize = batch.iter().map(|job| weight(&job.input)).sum();
            while batch.len() < BATCH && bytes < BATCH_BYTES {
                let Ok(job) = jobs.try_recv() else { break };
                bytes += weight(&job.input);
                batch.push(job);
            }
            self.batch(batch)?;
        }
    }

    fn batch(&mut self, jobs: Vec<Job>) -> Result<(), legation_store::Error> {
        let (inputs, answers): (Vec<_>, Vec<_>) = jobs.into_iter().map(|job| (job.input, job.answer)).unzip();
        let Batch { verdicts, grown, fresh } = self.ledger.batch(inputs, now())?;
        self.publish(grown);
        let batch = fresh.map(|fresh| Arc::new(Answered::new(fresh)));
        for (answer, verdict) in answers.into_iter().zip(verdicts) {
            // Whoever asked may be gone; what was decided stands all the same.
            let _ = answer.send(Answer { verdict, batch: batch.clone() });
        }
        Ok(())
    }

    fn publish(&mut self, changed: bool) {
        let size = self.ledger.size();
        let due = size > self.signed
            && (size - self.signed >= CHECKPOINT_ENTRIES || self.signed_at.elapsed() >= Duration::from_secs(1));
        if !changed && !due {
            return;
        }
        let checkpoint = due.then(|| {
            (self.signed, self.signed_at) = (size, instant());
            self.notary.sign(self.ledger.checkpoint(&self.notary.realm, now()))
        });
        self.head.send_modify(|head| {
            (head.size, head.chain, head.known) = (size, self.ledger.chain(), self.ledger.log().known());
            head.checkpoint = checkpoint.or(head.checkpoint.take());
        });
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
