//! One connection, from its first byte to its last: TLS agreed on in time where it is spoken, and then
//! what is asked is answered.

use crate::accept::tell;
use crate::listen::Socket;
use crate::settings::Limits;
use crate::shared::Shared;
use crate::tls::Tls;
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
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;

/// How long a request that has not quite come yet is waited for at the end.
const LAST_HEAD: Duration = Duration::from_secs(1);

/// What those are told who do not speak TLS where it is spoken.
const SPEAK_TLS: &str = "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nCache-Control: no-store\r\n\
                         Connection: close\r\nContent-Length: 41\r\n\r\nThis address speaks TLS: say https here.\n";

pub(crate) type Routes = TowerToHyperService<Router>;

/// Serves a connection until it ends.
pub(crate) async fn serve(socket: Socket, visit: Arc<Visit>, shared: Arc<Shared>, routes: Routes) {
    let (limits, stopping) = (shared.settings().limits.clone(), &shared.stopping);
    match socket {
        Socket::Tcp(stream) => answer(Watched::new(stream, &visit, &limits), &limits, visit, stopping, routes).await,
        #[cfg(unix)]
        Socket::Unix(stream) => answer(Watched::new(stream, &visit, &limits), &limits, visit, stopping, routes).await,
        Socket::Tls(stream, tls) => {
            let agreed = tokio::select! {
                agreed = timeout(limits.handshake_time, agree(stream, &tls, &visit, &limits)) => agreed.ok().flatten(),
                () = visit.told_to_leave() => None,
                () = stopping.cancelled() => return,
            };
            match agreed {
                Some(stream) => answer(stream, &limits, visit, stopping, routes).await,
                None => tls.count_failure(),
            }
        }
    }
}

/// Agrees on TLS. Who speaks HTTP in the clear is told so, in the clear; who speaks anything else gets the
/// alert that TLS has for it.
async fn agree(
    stream: TcpStream,
    tls: &Tls,
    visit: &Arc<Visit>,
    limits: &Limits,
) -> Option<TlsStream<Watched<TcpStream>>> {
    let mut first = [0];
    let read = stream.peek(&mut first).await.ok()?;
    if read > 0 && first.iter().all(u8::is_ascii_alphabetic) {
        // Whoever does not listen has lost nothing.
        drop(tell(stream, SPEAK_TLS.as_bytes()).await);
        return None;
    }
    TlsAcceptor::from(tls.config()).accept(Watched::new(stream, visit, limits)).await.ok()
}

/// Answers what is asked on a connection, until it ends.
async fn answer<S>(socket: S, limits: &Limits, visit: Arc<Visit>, stopping: &CancellationToken, routes: Routes)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
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
        () = visit.told_to_leave() => {
            // A request may have come since it was chosen to leave.
            if visit.is_cut() || !visit.is_busy() {
                return;
            }
            connection.as_mut().graceful_shutdown();
        }
        () = stopping.cancelled() => connection.as_mut().graceful_shutdown(),
    }
    let has_ended = !visit.is_busy() && timeout(LAST_HEAD, connection.as_mut()).await.is_ok();
    // A request that came in that time is answered, however long it takes.
    if !has_ended && visit.is_busy() {
        drop(connection.await);
    }
}

/// An answer that is under way until its last byte is at hand to be written.
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

#[cfg(test)]
mod tests {
    use super::{Routes, answer};
    use crate::settings::Limits;
    use crate::visits::{Peer, Visits};
    use axum::Router;
    use axum::routing::get;
    use std::sync::Arc;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::Notify;
    use tokio_util::sync::CancellationToken;

    #[tokio::test(start_paused = true)]
    async fn a_request_whose_head_comes_while_the_server_stops_is_answered_to_the_end() {
        let (begun, go_on) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let (here, awaited) = (Arc::clone(&begun), Arc::clone(&go_on));
        let slow = get(move || async move {
            here.notify_one();
            awaited.notified().await;
            "at last"
        });
        let visit = Arc::<Visits>::default().admit(Peer::on_socket(), &Limits::default()).unwrap();
        let (mut client, socket) = tokio::io::duplex(4096);
        let stopping = CancellationToken::new();
        let over = tokio::spawn({
            let stopping = stopping.clone();
            let routes = Routes::new(Router::new().route("/", slow));
            async move { answer(socket, &Limits::default(), visit, &stopping, routes).await }
        });
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\n").await.unwrap();
        // The clock goes on only when nobody has anything to do: each has got as far as it could.
        let passes = async |seconds| tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
        passes(0.5).await;
        stopping.cancel();
        passes(0.5).await;
        client.write_all(b"\r\n").await.unwrap();
        begun.notified().await;
        passes(60.0).await;
        go_on.notify_one();
        let mut text = String::new();
        client.read_to_string(&mut text).await.unwrap();
        assert!(text.starts_with("HTTP/1.1 200 ") && text.ends_with("at last"), "{text:?}");
        over.await.unwrap();
    }
}
