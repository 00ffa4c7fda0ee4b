//! Acknowledges what is done, apart from whoever does it: those that gathered while one
//! acknowledgement was under way go together in the next.

use crate::client::Client;
use crate::error::Error;
use crate::mark::{Epoch, Mark};
use crate::retry::Backoff;
use crate::task::Task;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::mpsc;

/// How many go together at most, and how many may wait.
const MOST: usize = 1000;
/// How long the last of them may take once everything ends.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) struct Acks {
    pub(crate) done: mpsc::Sender<Mark>,
    task: Task<Result<(), Error>>,
}

impl Acks {
    pub(crate) fn spawn(client: Client) -> Acks {
        let (done, marks) = mpsc::channel(MOST);
        Acks { done, task: Task::spawn(run(client, marks)) }
    }

    /// Why acknowledging is no longer possible, once it is not.
    pub(crate) fn poll_failed(&mut self, cx: &mut Context<'_>) -> Poll<Error> {
        self.task.poll_ended(cx).map(|ended| match ended {
            Some(Err(error)) => error,
            // It goes on while there is a sender, and this holds one.
            Some(Ok(())) | None => Error::Answer(None),
        })
    }

    /// Acknowledges what is left.
    pub(crate) async fn finish(self) -> Result<(), Error> {
        let Acks { done, mut task } = self;
        drop(done);
        match tokio::time::timeout(PATIENCE, task.ended()).await {
            Ok(ended) => ended.unwrap_or(Ok(())),
            Err(_) => Err(Error::Timeout(PATIENCE)),
        }
    }
}

async fn run(client: Client, mut marks: mpsc::Receiver<Mark>) -> Result<(), Error> {
    let mut some = Vec::new();
    while marks.recv_many(&mut some, MOST).await > 0 {
        for together in some.chunk_by(|one, next| one.epoch == next.epoch) {
            let Some(Mark { epoch, .. }) = together.first() else { continue };
            let positions: Vec<_> = together.iter().map(Mark::position).collect();
            acknowledge(&client, epoch, &positions).await?;
        }
        some.clear();
    }
    Ok(())
}

async fn acknowledge(client: &Client, epoch: &Epoch, positions: &[u64]) -> Result<(), Error> {
    let mut backoff = Backoff::RECONNECT;
    loop {
        match client.acknowledge_in(epoch, positions).await {
            Ok(()) => return Ok(()),
            Err(error) if error.is_of_another_record() => {
                tracing::warn!(%error, "what was done is not acknowledged: the record was restored");
                return Ok(());
            }
            Err(error) if !error.is_retryable() => return Err(error),
            Err(error) => {
                tracing::info!(%error, "acknowledging again");
                backoff.wait(&error).await;
            }
        }
    }
}
