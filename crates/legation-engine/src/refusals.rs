//! Rejections, all of which are on the record. One of somebody known gets an entry of its own, and is answered once
//! that is durable; where there are too many of a kind, or the queue is full, they are counted. Those of strangers are
//! counted by code, source and minute, so that nobody makes the record grow by knocking.

mod count_file;
mod tallies;

pub(crate) use tallies::Tallies;

use crate::decider::{Answer, Job};
use crate::exchange::{Error, Exchange, Head};
use legation_exchange::{Effect, Input, Refused, Verdict, Who};
use legation_protocol::{Code, Rejection};
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};

/// How often counts go into the record.
const OFTEN: Duration = Duration::from_mins(1);

/// Where something came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// From a machine.
    Address(IpAddr),
    /// From this process.
    #[default]
    InProcess,
}

/// A rejection on its way to the record.
#[derive(Debug)]
pub(crate) struct Recording {
    /// The answer to its entry, if it gets one of its own.
    answer: Option<oneshot::Receiver<Answer>>,
    tallies: Arc<Tallies>,
    code: Code,
    by: String,
    digest: Option<String>,
}

impl Recording {
    /// Waits until the rejection is on the record, or counted.
    pub(crate) async fn recorded(self) {
        let Some(answer) = self.answer else { return };
        let is_recorded = matches!(answer.await, Ok(Answer { verdict: Verdict::Accepted { .. }, .. }));
        if !is_recorded {
            // The record had no room for it, or the exchange ends: it is counted, and told later.
            self.tallies.count_known(self.code.as_str(), &self.by, self.digest);
        }
    }
}

impl Tallies {
    /// Counts a rejection of a stranger.
    pub(crate) fn count(&self, code: Code, source: Source, digest: Option<String>) {
        self.count_stranger(code.as_str(), source, digest);
    }
}

impl Exchange {
    /// Notes that something was refused before it came to a decision, and returns once that is on the record or
    /// counted. `digest` is that of what was asked, if it was read.
    pub async fn note_refusal(&self, who: &Who, code: Code, source: Source, digest: Option<String>) {
        let refused = Refused { by: who.to_string(), code: code.as_str().to_owned(), digest, ..Refused::default() };
        self.note_refused(who, code, source, refused).recorded().await;
    }

    /// Counts a rejection, whoever it was for, where a flood is no reason to let the record grow.
    pub fn count_refusal(&self, code: Code, source: Source, digest: Option<String>) {
        self.tallies.count(code, source, digest);
    }

    /// The same, with what they were told.
    pub(crate) fn note_rejection(
        &self,
        who: &Who,
        rejection: &Rejection,
        source: Source,
        digest: Option<String>,
    ) -> Recording {
        let refused = Refused { digest, ..Refused::of(who.to_string(), rejection) };
        self.note_refused(who, rejection.code(), source, refused)
    }

    fn note_refused(&self, who: &Who, code: Code, source: Source, refused: Refused) -> Recording {
        let (by, digest) = (refused.by.clone(), refused.digest.clone());
        let recording = Recording { answer: None, tallies: Arc::clone(&self.tallies), code, by, digest };
        if *who == Who::Nobody {
            self.tallies.count(code, source, refused.digest);
            return recording;
        }
        let stands_alone = self.tallies.may_stand_alone(code.as_str(), &recording.by);
        let answer = if stands_alone { self.ask_if_room(Input::Refusal(refused)) } else { None };
        if answer.is_none() {
            self.tallies.count_known(code.as_str(), &recording.by, recording.digest.clone());
        }
        Recording { answer, ..recording }
    }

    /// Writes what was counted into the record.
    pub async fn write_tallies(&self) -> Result<(), Error> {
        write(&self.tallies, &self.jobs, self.head().size).await
    }

    /// Takes over what was counted by a process that was killed.
    pub(crate) fn take_over_tallies(&self) {
        let size = self.head().size;
        self.tallies.take_over(size, |from| {
            let entries = (from..size).filter_map(|position| self.entry(position).ok().flatten());
            let batch = |effect| match effect {
                Effect::Tallied { batch, .. } => batch,
                _ => None,
            };
            entries.filter_map(|entry| batch(entry.effect)).collect::<BTreeSet<_>>()
        });
    }
}

/// Brings all that was counted into the record. What finds no room there waits for the next time.
async fn write(tallies: &Tallies, jobs: &mpsc::Sender<Job>, size: u64) -> Result<(), Error> {
    let mut closed = tallies.closed.lock().await;
    closed.extend(tallies.close(size));
    while let Some(counts) = closed.front_mut() {
        while let Some(batch) = counts.batches.front() {
            let (answer, answered) = oneshot::channel();
            let job = Job::of_exchange(Input::Tally(batch.clone()), answer);
            jobs.send(job).await.map_err(|_| Error::Closed)?;
            match answered.await.map_err(|_| Error::Closed)?.verdict {
                Verdict::Accepted { .. } | Verdict::Held { .. } | Verdict::Duplicate { .. } => {}
                Verdict::Refused(_) => return Err(Error::NoRoom),
            }
            counts.batches.pop_front();
        }
        if let Some(counts) = closed.pop_front() {
            counts.is_recorded();
        }
    }
    Ok(())
}

/// Writes counts each minute until nobody asks anything any more; first those that another process left.
pub(crate) async fn keep(jobs: mpsc::WeakSender<Job>, tallies: Arc<Tallies>, head: watch::Receiver<Head>) {
    loop {
        let Some(jobs) = jobs.upgrade() else { return };
        let size = head.borrow().size;
        if let Err(Error::Closed) = write(&tallies, &jobs, size).await {
            return;
        }
        drop(jobs);
        tokio::time::sleep(OFTEN).await;
    }
}
