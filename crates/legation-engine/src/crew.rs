//! The threads of a running exchange, and the order in which they end: the decider first, then those who
//! follow what it commits.

use crate::alerts::Desk;
use crate::arrivals::Arrivals;
use crate::clearing::Clearer;
use crate::decider::{Decider, JobQueue};
use crate::exchange::Error;
use crate::index::Follower;
use crate::snapshots::Keeper;
use crate::vault::Guard;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// Everybody who has a thread.
pub(crate) struct Crew {
    pub(crate) decider: Decider,
    pub(crate) queue: JobQueue,
    pub(crate) keeper: Keeper,
    pub(crate) follower: Follower,
    pub(crate) guard: Guard,
    pub(crate) clearer: Clearer,
    /// Told when nothing is decided any more.
    pub(crate) arrivals: Arc<Arrivals>,
    pub(crate) alerts: Arc<Desk>,
    /// Ends when it is noted how far everybody was told alerts.
    pub(crate) noted: std::sync::mpsc::Receiver<()>,
}

/// How long the end waits for that note: it takes a runtime, which may be gone.
const NOTE: Duration = Duration::from_secs(2);

/// Ends when the decider does: with an error if the record could not be written.
pub(crate) type Ended = oneshot::Receiver<Result<(), legation_store::Error>>;

impl Crew {
    pub(crate) fn start(self, runtime: &Handle) -> Result<Ended, Error> {
        let Crew { decider, mut queue, keeper, follower, guard, clearer, arrivals, alerts, noted } = self;
        let [keeping, following, guarding, clearing, deciding] = [(); 5].map(|()| runtime.clone());
        let followers = [
            spawn("snapshots", move || keeper.run(&keeping))?,
            spawn("index", move || follower.run(&following))?,
            spawn("vault", move || guard.run(&guarding))?,
            spawn("clearing", move || clearer.run(&clearing))?,
        ];
        let (end, ended) = oneshot::channel();
        spawn("decider", move || {
            let done = decider.run(&mut queue, &deciding);
            queue.close();
            arrivals.tell_all();
            alerts.close();
            // Whoever goes on after a good end may rely on nobody writing here any more.
            if done.is_ok() {
                for follower in followers {
                    drop(follower.join());
                }
                // Nothing is ever sent: this is over with whoever could.
                let _ = noted.recv_timeout(NOTE);
            }
            drop(end.send(done));
        })?;
        Ok(ended)
    }
}

fn spawn(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, Error> {
    let spawned = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    spawned.map_err(|source| Error::File { what: "a thread".to_owned(), source })
}
