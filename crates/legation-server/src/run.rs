//! Serving until told to stop, and then letting go in good order.

use crate::accept::accept;
use crate::listen::Listeners;
use crate::routes::router;
use crate::settings::Reloaded;
use crate::shared::Shared;
use futures_util::future::join_all;
use legation_engine::Exchange;
use std::future::{Future, pending};
use std::sync::{Arc, Weak};
use std::time::Duration;

/// How often is looked how the core features stand.
const LOOK: Duration = Duration::from_millis(500);

/// Serves until `shutdown` is over. Then nothing new is taken, those who wait for messages are
/// answered, and what has been asked is decided and committed before this returns, unless it takes
/// longer than the settings allow. Last comes what was counted of refusals.
pub async fn run(
    listeners: impl Into<Listeners>,
    exchange: Exchange,
    settings: impl Into<Reloaded>,
    shutdown: impl Future<Output = ()>,
) {
    let listeners = listeners.into();
    let shared = Arc::new(Shared::new(exchange, settings.into(), listeners.tls()));
    let accepting = listeners.0.into_iter().map(|listener| {
        let router = router(Arc::clone(&shared));
        accept(listener, Arc::clone(&shared), router)
    });
    tokio::select! {
        _ = join_all(accepting) => {}
        () = watch_settings(&shared) => {}
        () = watch_certificate(&shared) => {}
        () = watch_features(&shared) => {}
        () = shutdown => {}
    }
    shared.stopping.cancel();
    let drain = shared.settings().drain;
    let drained = async {
        shared.connections.close();
        shared.connections.wait().await;
        shared.tasks.close();
        shared.tasks.wait().await;
    };
    // Tools that have not answered by then have not answered: there must be time to write that down.
    let cut = async {
        tokio::time::sleep(drain / 2).await;
        shared.exchange.end_tool_calls();
        pending::<()>().await;
    };
    let drained = async {
        tokio::select! { () = drained => {}, () = cut => {} }
    };
    if tokio::time::timeout(drain, drained).await.is_err() {
        tracing::warn!("some requests were not over in time");
    }
    shared.exchange.end_tool_calls();
    if tokio::time::timeout(drain, shared.exchange.late_answers_kept()).await.is_err() {
        tracing::warn!("some answers of tools are not on the record");
    }
    let counted = tokio::time::timeout(drain, shared.exchange.write_tallies()).await;
    if !matches!(counted, Ok(Ok(()))) {
        tracing::warn!("what strangers were refused in the last minute is not on the record");
    }
}

/// Hands on what changes to those who do not look themselves.
async fn watch_settings(shared: &Shared) {
    let mut reloaded = shared.reloaded.clone();
    loop {
        let settings = reloaded.next().await;
        shared.sources.take_over(&settings.limits);
        shared.handshakes.take_over(&settings.limits);
        shared.sockets.take_over(settings.limits.sockets_per_agent);
        reloaded.is_taken(settings);
    }
}

/// Looks again and again how the core features stand.
async fn watch_features(shared: &Shared) {
    loop {
        tokio::time::sleep(LOOK).await;
        let exchange = shared.exchange.clone();
        // Reads a file, and a disk that does not answer must keep nobody waiting.
        if let Ok(observed) = tokio::task::spawn_blocking(move || exchange.core_features()).await {
            shared.handshakes.observe(observed);
            if let Some(desk) = shared.handshakes.hosts.get().and_then(Weak::upgrade) {
                desk.end_lost().await;
            }
        }
    }
}

/// Looks for another certificate again and again.
async fn watch_certificate(shared: &Shared) {
    let Some(tls) = &shared.tls else { return pending().await };
    loop {
        tokio::time::sleep(shared.settings().look_every).await;
        let tls = Arc::clone(tls);
        // A disk that does not answer must keep nobody waiting.
        drop(tokio::task::spawn_blocking(move || tls.look()).await);
    }
}
