//! Taking connections, whatever comes: too many are told so and sent away, and a system that has no more
//! files for us is waited for. Nothing here waits for a client.

use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::visits::{Underway, Visit};
use crate::watched::Watched;
use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Request, Response, StatusCode};
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use legation_protocol::Code;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;

/// How long to wait when the system gives no connection.
const PAUSE: Duration = Duration::from_millis(50);
/// How many at a time are told that there is no room; the rest is sent away without a word.
const TOLD: usize = 64;
/// How long that may take.
const TELLING: Duration = Duration::from_secs(1);
/// How long a request that has not quite come yet is waited for at the end.
const LAST_HEAD: Duration = Duration::from_secs(1);

/// Takes connections until the server stops.
pub(crate) async fn accept(listener: TcpListener, shared: Arc<Shared>, router: Router) {
    let (service, told) = (TowerToHyperService::new(router), Arc::new(Semaphore::new(TOLD)));
    let no_room: Arc<[u8]> = no_room().into();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = shared.stopping.cancelled() => return,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                missed(&error, &shared).await;
                continue;
            }
        };
        // Answers are small and waited for. A socket that cannot be told so still works.
        drop(stream.set_nodelay(true));
        if let Some(visit) = shared.visits.admit(peer.ip().to_canonical()) {
            shared.connections.spawn(serve(stream, visit, Arc::clone(&shared), service.clone()));
        } else if let Ok(permit) = Arc::clone(&told).try_acquire_owned() {
            let text = Arc::clone(&no_room);
            shared.connections.spawn(async move {
                // Whoever does not listen has lost nothing.
                drop(timeout(TELLING, tell(stream, &text)).await);
                drop(permit);
            });
        }
    }
}

/// A connection that went before it was taken is nothing. Anything else lies with the system, most likely
/// that it has no more files for us: somebody has to go, and then it can be tried again.
async fn missed(error: &io::Error, shared: &Shared) {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
        tracing::warn!(%error, open = shared.visits.open(), "cannot take a connection");
        shared.visits.make_room();
        tokio::time::sleep(PAUSE).await;
    }
}

type Routes = TowerToHyperService<Router>;

/// Answers what is asked on a connection, until it ends.
async fn serve(stream: TcpStream, visit: Arc<Visit>, shared: Arc<Shared>, routes: Routes) {
    let limits = &shared.limits;
    let socket = Watched::new(stream, Arc::clone(&visit), limits.head_time, limits.stall_time);
    let guest = Arc::clone(&visit);
    let service = service_fn(move |mut request: Request<Incoming>| {
        let underway = guest.begin();
        request.extensions_mut().insert(Arc::clone(&guest));
        let answer = routes.call(request);
        async move { answer.await.map(|response| counted(response, underway)) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.idle_time.max(limits.head_time));
    http.max_header_size(limits.head_bytes);
    let connection = http.serve_connection(TokioIo::new(socket), service).with_upgrades();
    tokio::pin!(connection);
    // What goes wrong on a connection is the client's to know.
    tokio::select! {
        _ = &mut connection => return,
        () = visit.told_to_leave() => return,
        () = shared.stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    if visit.is_busy() {
        drop(connection.await);
    } else {
        drop(timeout(LAST_HEAD, connection).await);
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
async fn tell(mut stream: TcpStream, text: &[u8]) -> io::Result<()> {
    stream.write_all(text).await?;
    stream.shutdown().await?;
    let mut rest = [0; 1024];
    while stream.read(&mut rest).await? > 0 {}
    Ok(())
}

/// An answer that is under way until its last byte is written.
fn counted(response: Response<Body>, underway: Underway) -> Response<Counted> {
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        underway.upgrade();
    }
    response.map(|body| Counted { body, _underway: underway })
}

struct Counted {
    body: Body,
    _underway: Underway,
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
