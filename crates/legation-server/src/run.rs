//! Serving until told to stop, and then letting go in good order.

use crate::accept::accept;
use crate::routes::router;
use crate::settings::Settings;
use crate::shared::Shared;
use legation_engine::Exchange;
use std::future::Future;
use std::sync::Arc;
use tokio::net::TcpListener;

/// Serves until `shutdown` is over. Then nothing new is taken, those who wait for messages are
/// answered, and what has been asked is decided and committed before this returns, unless it takes
/// longer than the settings allow. Last comes what was counted of refusals.
pub async fn run(listener: TcpListener, exchange: Exchange, settings: Settings, shutdown: impl Future<Output = ()>) {
    let drain = settings.drain;
    let shared = Arc::new(Shared::new(exchange, settings));
    let accepting = accept(listener, Arc::clone(&shared), router(Arc::clone(&shared)));
    tokio::select! {
        () = accepting => {}
        () = shutdown => {}
    }
    shared.stopping.cancel();
    let drained = async {
        shared.connections.close();
        shared.connections.wait().await;
        shared.tasks.close();
        shared.tasks.wait().await;
    };
    if tokio::time::timeout(drain, drained).await.is_err() {
        tracing::warn!("some requests were not over in time");
    }
    let counted = tokio::time::timeout(drain, shared.exchange.write_tallies()).await;
    if !matches!(counted, Ok(Ok(()))) {
        tracing::warn!("what strangers were refused in the last minute is not on the record");
    }
}
