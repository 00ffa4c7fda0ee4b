//! What every request can reach.

use crate::demo::Stage;
use crate::guest::Source;
use crate::handshake::Handshakes;
use crate::limits::Sources;
use crate::metrics::Answers;
use crate::refusal::Refusal;
use crate::sessions::{Sessions, Subject};
use crate::settings::{Reloaded, Settings};
use crate::tls::Tls;
use crate::unread::UnreadAnswers;
use crate::visits::{Holder, Visits};
use crate::ws::Sockets;
use legation_engine::{Error, Exchange};
use legation_exchange::{OPERATOR, Role, Who};
use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub(crate) struct Shared {
    pub(crate) exchange: Exchange,
    /// What the server is told, now and later.
    pub(crate) reloaded: Reloaded,
    /// The certificate, where one is shown.
    pub(crate) tls: Option<Arc<Tls>>,
    pub(crate) visits: Arc<Visits>,
    pub(crate) unread: UnreadAnswers,
    pub(crate) sources: Sources,
    pub(crate) sessions: Sessions,
    pub(crate) handshakes: Handshakes,
    pub(crate) sockets: Arc<Sockets>,
    pub(crate) answers: Answers,
    /// Whether the demo is being played.
    pub(crate) stage: Stage,
    /// When the server started, since 1970.
    pub(crate) started: Duration,
    /// Connections being served.
    pub(crate) connections: TaskTracker,
    /// Work that goes on when its request does not.
    pub(crate) tasks: TaskTracker,
    /// Cancelled when the server stops.
    pub(crate) stopping: CancellationToken,
}

impl Shared {
    pub(crate) fn new(exchange: Exchange, reloaded: Reloaded, tls: Option<Arc<Tls>>) -> Shared {
        let settings = reloaded.now();
        let sessions = Sessions::default();
        if let Some((code, operator)) = settings.code.as_ref().zip(Subject::named(&exchange, OPERATOR)) {
            sessions.offer(code, operator, Instant::now());
        }
        let handshakes = Handshakes::new(&settings.limits, exchange.core_features());
        Shared {
            exchange,
            reloaded,
            tls,
            visits: Arc::new(Visits::default()),
            unread: UnreadAnswers::default(),
            sources: Sources::new(&settings.limits),
            sessions,
            handshakes,
            sockets: Arc::new(Sockets::new(settings.limits.sockets_per_agent)),
            answers: Answers::default(),
            stage: Stage::default(),
            started: since_1970(),
            connections: TaskTracker::new(),
            tasks: TaskTracker::new(),
            stopping: CancellationToken::new(),
        }
    }

    /// What the server is told as of now.
    pub(crate) fn settings(&self) -> Arc<Settings> {
        self.reloaded.now()
    }

    /// The holder that a principal's connections are counted for.
    pub(crate) fn holder_of(&self, who: &Who, source: Source) -> Holder {
        match who {
            Who::Agent(id) => Holder::Family(self.exchange.quota_family_name(id)),
            Who::Person { role: Role::Operator, .. } => Holder::Operators,
            Who::Person { name, .. } => Holder::Person(name.clone()),
            Who::Nobody => source.holder(),
        }
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

#[expect(clippy::disallowed_methods, reason = "when something started or ends is told to people and their tools")]
pub(crate) fn since_1970() -> Duration {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}
