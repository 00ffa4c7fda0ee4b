//! Serving until told to stop, and then letting go in good order.

use crate::routes::router;
use crate::shared::Shared;
use axum::serve::ListenerExt as _;
use legation_engine::Exchange;
use std::future::{Future, IntoFuture as _};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// What the server may be told.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Host names it answers to, beside those of this machine itself.
    pub hosts: Vec<String>,
    /// How long what is under way may take once the server is told to stop.
    pub drain: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { hosts: Vec::new(), drain: Duration::from_secs(10) }
    }
}

/// Our own faults.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Connections can no longer be taken.
    #[error("cannot take connections")]
    Accept(#[source] std::io::Error),
}

/// Serves until `shutdown` is over. Then nothing new is taken, those who wait for messages are
/// answered, and what has been asked is decided and committed before this returns, unless it takes
/// longer than the settings allow.
pub async fn run(
    listener: TcpListener,
    exchange: Exchange,
    settings: Settings,
    shutdown: impl Future<Output = ()>,
) -> Result<(), Error> {
    let shared = Arc::new(Shared::new(exchange, &settings.hosts));
    let stopping = shared.stopping.clone();
    // Answers are small and waited for. A socket that cannot be told so still works.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    let server = axum::serve(listener, router(Arc::clone(&shared)));
    let server = server.with_graceful_shutdown(stopping.clone().cancelled_owned()).into_future();
    tokio::pin!(server);
    tokio::select! {
        ended = &mut server => return ended.map_err(Error::Accept),
        () = shutdown => {}
    }
    stopping.cancel();
    let drained = async {
        let ended = server.await;
        shared.tasks.close();
        shared.tasks.wait().await;
        ended
    };
    let Ok(ended) = tokio::time::timeout(settings.drain, drained).await else {
        tracing::warn!("some requests were not over in time");
        return Ok(());
    };
    ended.map_err(Error::Accept)
}
