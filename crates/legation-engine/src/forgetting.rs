//! What the index's thread is asked to let go of. Whoever asks waits: the words of a message must be gone
//! before its body is.

use crate::exchange::Error;
use legation_store::index::{self, Index};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::Notify;

/// Something asked, and where the answer goes.
enum Request {
    /// To take the words of these entries out. The answer is which index they were taken out of.
    Erase(Vec<u64>, Sender<Result<u64, index::Error>>),
    /// To begin again, unless this is still the index and nothing else speaks against it.
    Settle { begun: u64, anew: bool, done: Sender<Result<u64, index::Error>> },
}

/// What whoever asks holds.
pub(crate) struct Requests {
    asked: Sender<Request>,
    bell: Arc<Notify>,
}

/// What the thread holds.
pub(crate) struct Asked(Receiver<Request>);

pub(crate) fn requests(bell: Arc<Notify>) -> (Requests, Asked) {
    let (asked, heard) = channel();
    (Requests { asked, bell }, Asked(heard))
}

impl Requests {
    /// Takes the words of these entries out of the index, durably, and says which index that was.
    pub(crate) fn erase(&self, positions: Vec<u64>) -> Result<u64, Error> {
        self.ask(|done| Request::Erase(positions, done))
    }

    /// Makes the index again if it may have taken words in once more.
    pub(crate) fn settle(&self, begun: u64, anew: bool) -> Result<(), Error> {
        self.ask(|done| Request::Settle { begun, anew, done }).map(drop)
    }

    fn ask(&self, request: impl FnOnce(Sender<Result<u64, index::Error>>) -> Request) -> Result<u64, Error> {
        let (done, told) = channel();
        self.asked.send(request(done)).map_err(|_| Error::Closed)?;
        self.bell.notify_one();
        told.recv().map_err(|_| Error::Closed)?.map_err(Error::Index)
    }
}

impl Asked {
    /// Tells whoever waits why nothing can be done for them now.
    pub(crate) fn refuse(&self, error: index::Error) {
        if let Ok(Request::Erase(_, done) | Request::Settle { done, .. }) = self.0.try_recv() {
            // Whoever asked may have gone with the exchange.
            let _ = done.send(Err(error));
        }
    }

    /// Does what was asked for. True if something was.
    pub(crate) fn answer(&self, index: &mut Index) -> Result<bool, index::Error> {
        let Ok(request) = self.0.try_recv() else { return Ok(false) };
        let (answer, done) = match request {
            Request::Erase(positions, done) => (index.erase(&positions).map(|()| index.begun()), done),
            Request::Settle { begun, anew, done } if anew || begun != index.begun() => {
                (index.start_over().map(|()| index.begun()), done)
            }
            Request::Settle { begun, done, .. } => (Ok(begun), done),
        };
        let failed = match &answer {
            Err(error) if error.is_damage() => Err(index::Error::Damaged { what: error.to_string() }),
            Ok(_) | Err(_) => Ok(true),
        };
        // Whoever asked may have gone with the exchange.
        let _ = done.send(answer);
        failed
    }
}
