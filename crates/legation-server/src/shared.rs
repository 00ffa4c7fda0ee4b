//! What every request can reach.

use crate::refusal::Refusal;
use legation_engine::{Error, Exchange};
use std::future::Future;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) struct Shared {
    pub(crate) exchange: Exchange,
    /// Host names answered to, in lower case.
    pub(crate) hosts: Vec<String>,
    /// Work that goes on when its request does not.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the server stops.
    pub(crate) stopping: CancellationToken,
}

impl Shared {
    pub(crate) fn new(exchange: Exchange, hosts: &[String]) -> Shared {
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        let hosts = own.into_iter().chain(hosts.iter().map(|host| host.to_ascii_lowercase())).collect();
        Shared { exchange, hosts, tasks: TaskTracker::new(), stopping: CancellationToken::new() }
    }

    /// Does durable work apart from the request: a client that hangs up ends the waiting, never the
    /// work.
    pub(crate) async fn apart<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Refusal> {
        match self.tasks.spawn(work).await {
            Ok(done) => done.map_err(Refusal::from),
            Err(_) => Err(Refusal::from(Error::Closed)),
        }
    }
}
