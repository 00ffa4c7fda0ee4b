//! Taking connections, whatever comes: too many are told so and sent away, and a system that has no more
//! files for us is waited for. Nothing here waits for a client.

use crate::connection::serve;
use crate::listen::{Listener, Socket};
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::visits::Visits;
use axum::Router;
use hyper_util::service::TowerToHyperService;
use legation_protocol::Code;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long to wait when the system gives no connection.
const PAUSE: Duration = Duration::from_millis(50);
/// How long, and how often, those who have come are looked at before others are taken, where all places are new.
const CROWDED: Duration = Duration::from_millis(2);
const CROWDED_MOST: usize = 250;
/// How many at a time are told that there is no room; the rest is sent away without a word.
const TOLD: usize = 64;
/// How long that may take.
const TELLING: Duration = Duration::from_secs(1);

/// Takes connections until the server stops.
pub(crate) async fn accept(listener: Listener, shared: Arc<Shared>, router: Router) {
    let (service, told) = (TowerToHyperService::new(router), Arc::new(Semaphore::new(TOLD)));
    let no_room: Arc<[u8]> = no_room().into();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.stopping.cancelled() => return,
        };
        let (socket, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                missed(&error, &shared.visits).await;
                continue;
            }
        };
        for _ in 0..CROWDED_MOST {
            if !shared.visits.is_crowded(&shared.settings().limits) {
                break;
            }
            tokio::time::sleep(CROWDED).await;
        }
        if let Some(visit) = shared.visits.admit(peer, &shared.settings().limits) {
            shared.connections.spawn(serve(socket, visit, Arc::clone(&shared), service.clone()));
        } else if let Ok(permit) = Arc::clone(&told).try_acquire_owned() {
            let text = Arc::clone(&no_room);
            shared.connections.spawn(async move {
                send_away(socket, &text).await;
                drop(permit);
            });
        }
    }
}

/// Tells somebody that there is no room, unless it would take TLS to tell.
async fn send_away(socket: Socket, text: &[u8]) {
    // Whoever does not listen has lost nothing.
    match socket {
        Socket::Tcp(stream) => drop(timeout(TELLING, tell(stream, text)).await),
        #[cfg(unix)]
        Socket::Unix(stream) => drop(timeout(TELLING, tell(stream, text)).await),
        Socket::Tls(stream, _) => drop(stream),
    }
}

/// A connection that went before it was taken is nothing. Anything else lies with the system, most likely
/// that it has no more files for us: somebody has to go, and then it can be tried again.
async fn missed(error: &io::Error, visits: &Visits) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::warn!(%error, open = visits.open(), "cannot take a connection");
        visits.make_any_room();
        tokio::time::sleep(PAUSE).await;
    }
}

/// The answer to those there is no room for.
fn no_room() -> Vec<u8> {
    let refusal = Refusal::because(Code::Busy, "too many connections are open");
    let body = serde_json::to_string(&refusal.body()).unwrap_or_default();
    let head = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 1\r\n\
                Cache-Control: no-store\r\nConnection: close\r\n";
    format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Says it, and hears the other side out: bytes left unread would break the connection before it is heard.
pub(crate) async fn tell<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S, text: &[u8]) -> io::Result<()> {
    stream.write_all(text).await?;
    stream.shutdown().await?;
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::missed;
    use crate::settings::Limits;
    use crate::visits::{Holder, Peer, Visits};
    use std::io;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::time::timeout;

    #[tokio::test(start_paused = true)]
    async fn where_the_system_has_no_more_files_somebody_goes_whom_nobody_answers_now() {
        let visits: Arc<Visits> = Arc::default();
        let admit = || visits.admit(Peer::on_socket(), &Limits::default()).unwrap();
        let (busy, idle) = (admit(), admit());
        for visit in [&busy, &idle] {
            visit.prove(Holder::Operators);
        }
        let _request = busy.begin();
        // A connection that went by itself is nobody's fault.
        missed(&io::ErrorKind::ConnectionAborted.into(), &visits).await;
        assert_eq!(visits.open(), 2);
        missed(&io::Error::other("too many open files"), &visits).await;
        let left = timeout(Duration::from_hours(1), idle.told_to_leave()).await;
        assert_eq!((left, visits.open()), (Ok(()), 1));
    }
}
