//! Messages being handled, and those that wait for another attempt: each on its own, so that one that
//! fails holds up no other.

use crate::alarm;
use crate::client::Client;
use crate::clock::jittered;
use crate::error::Error;
use crate::incoming::Incoming;
use crate::letter::Letter;
use crate::owed::Debt;
use crate::retry::Backoff;
use legation_protocol::Code;
use std::collections::BTreeMap;
use tokio::time::{Instant, sleep_until};

/// How many may wait before nothing new is read.
const MOST: usize = 1024;

/// A message being handled. Whatever ends that, an acknowledgement that is owed by then is not forgotten.
pub(crate) struct Work {
    client: Client,
    incoming: Incoming,
    stage: Stage,
    backoff: Backoff,
}

enum Stage {
    /// The handler has not taken it yet.
    Untaken,
    /// The handler has taken it, and is not asked again. It is to be acknowledged to its sender.
    Taken,
    /// This was sent to acknowledge it, and whether it arrived is not known.
    Answered(Letter),
    /// Nothing is left to do.
    Over,
}

impl Work {
    pub(crate) fn new(client: Client, incoming: Incoming) -> Work {
        Work { client, incoming, stage: Stage::Untaken, backoff: Backoff::HANDLER }
    }

    /// What another left that had begun it.
    pub(crate) fn left(client: Client, debt: Debt) -> Work {
        let Debt { incoming, letter } = debt;
        let stage = letter.map_or(Stage::Taken, Stage::Answered);
        Work { client, incoming, stage, backoff: Backoff::HANDLER }
    }

    pub(crate) fn incoming(&self) -> &Incoming {
        &self.incoming
    }

    /// The message, as long as the handler has not taken it.
    pub(crate) fn untaken(&self) -> Option<Incoming> {
        match self.stage {
            Stage::Untaken => Some(self.incoming.clone()),
            Stage::Taken | Stage::Answered(_) | Stage::Over => None,
        }
    }

    /// Nothing more is done about it.
    pub(crate) fn forget(mut self) {
        self.stage = Stage::Over;
    }

    /// It was judged again.
    pub(crate) fn renew(&mut self, incoming: Incoming) {
        self.incoming = incoming;
    }

    /// Does what is left to do; says whether that was all. What the handler said of a failure is its own to log.
    pub(crate) async fn attempt<H, F, E>(&mut self, answers_alarms: bool, handler: &mut H) -> bool
    where
        H: FnMut(Incoming) -> F,
        F: Future<Output = Result<(), E>>,
    {
        let position = self.incoming.position;
        if let Stage::Untaken = self.stage {
            if handler(self.incoming.clone()).await.is_err() {
                tracing::warn!(position, "the handler failed; the message comes again");
                return false;
            }
            if !answers_alarms || !alarm::is_owed(&self.incoming) {
                // It is done as soon as whoever called says so: nothing is waited for until then.
                self.stage = Stage::Over;
                return true;
            }
            self.client.journal().owe(&self.incoming.mark());
            self.stage = Stage::Taken;
        }
        if answers_alarms && let Err(error) = self.answer().await {
            if error.is_retryable() {
                tracing::warn!(position, %error, "the escalation is not acknowledged yet");
                return false;
            }
            tracing::warn!(position, %error, "the escalation cannot be acknowledged");
        }
        self.stage = Stage::Over;
        true
    }

    /// Sends the acknowledgement, if one is owed: the same as before, as long as it is fresh.
    async fn answer(&mut self) -> Result<(), Error> {
        if let Stage::Answered(letter) = &self.stage {
            match self.client.deliver(letter.clone()).await {
                // The exchange has none such, or would have said so: nothing is acknowledged twice by another.
                Err(Error::Refused(refused)) if refused.code == Code::Stale.as_str() => {}
                sent => return sent.map(drop),
            }
        }
        let Some(letter) = alarm::answer(&self.client, &self.incoming)? else { return Ok(()) };
        self.stage = Stage::Answered(letter.clone());
        self.client.deliver(letter).await.map(drop)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let letter = match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Untaken | Stage::Over => return,
            Stage::Taken => None,
            Stage::Answered(letter) => Some(letter),
        };
        self.client.owed().leave(Debt { incoming: self.incoming.clone(), letter });
    }
}

/// Messages that wait for another attempt, by when it is due.
#[derive(Default)]
pub(crate) struct Parked(BTreeMap<(Instant, u64), Work>);

impl Parked {
    pub(crate) fn park(&mut self, mut work: Work) {
        let due = Instant::now() + jittered(work.backoff.step());
        self.0.insert((due, work.incoming.position), work);
    }

    /// Whether nothing new may be read.
    pub(crate) fn holds_up(&self, in_order: bool) -> bool {
        self.0.len() >= if in_order { 1 } else { MOST }
    }

    /// Waits for the next that is due. Nothing is lost when it is not waited for any longer.
    pub(crate) async fn due(&mut self) -> Work {
        loop {
            let Some((due, _)) = self.0.first_key_value().map(|(key, _)| *key) else {
                return std::future::pending().await;
            };
            sleep_until(due).await;
            if let Some((_, work)) = self.0.pop_first() {
                return work;
            }
        }
    }
}
