//! The thread that waits for the disk, so that whoever decides need not.

use crate::exchange;
use legation_store::{Durable, Error, Written};
use std::sync::mpsc::{Sender, channel};
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// A batch at a time is made durable elsewhere.
pub(crate) struct Syncing {
    written: Sender<Written>,
    durable: UnboundedReceiver<Result<Durable, Error>>,
    underway: bool,
}

impl Syncing {
    /// Starts the thread. It ends when this is gone.
    pub(crate) fn new() -> Result<Syncing, exchange::Error> {
        let (written, batches) = channel::<Written>();
        let (done, durable) = unbounded_channel();
        let sync = move || {
            for batch in batches {
                if done.send(batch.sync()).is_err() {
                    break;
                }
            }
        };
        let spawned = std::thread::Builder::new().name("record-sync".to_owned()).spawn(sync);
        spawned.map_err(|source| exchange::Error::File { what: "a thread".to_owned(), source })?;
        Ok(Syncing { written, durable, underway: false })
    }

    pub(crate) fn is_underway(&self) -> bool {
        self.underway
    }

    pub(crate) fn start(&mut self, batch: Written) -> Result<(), Error> {
        self.underway = true;
        self.written.send(batch).map_err(|_| Error::Broken)
    }

    /// What was started, if it is done.
    pub(crate) fn done(&mut self) -> Option<Result<Durable, Error>> {
        let done = self.durable.try_recv().ok();
        self.underway &= done.is_none();
        done
    }

    /// What was started, once it is done. Nothing is lost when this is dropped while it waits.
    pub(crate) async fn wait(&mut self) -> Result<Durable, Error> {
        let done = self.durable.recv().await;
        self.underway = false;
        // Without the thread nobody knows what is on the disk.
        done.unwrap_or(Err(Error::Broken))
    }
}
