//! Connections to the exchange, whatever they run over: TCP, TLS or a Unix socket. HTTP and
//! WebSocket both begin here.

use crate::address::Place;
use http::Uri;
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

/// How long a connection may take to stand.
const PATIENCE: Duration = Duration::from_secs(10);

/// Dials the one exchange a client speaks to.
#[derive(Clone)]
pub(crate) struct Dial {
    way: Way,
}

#[derive(Clone)]
enum Way {
    Tcp {
        host: String,
        port: u16,
    },
    Tls {
        host: String,
        port: u16,
        config: Arc<rustls::ClientConfig>,
    },
    Unix(std::path::PathBuf),
    #[cfg(test)]
    Memory(tokio::sync::mpsc::UnboundedSender<tokio::io::DuplexStream>),
}

impl Dial {
    /// `config` makes TLS, where that is needed.
    pub(crate) fn new<E>(
        place: Place,
        config: impl FnOnce() -> Result<Arc<rustls::ClientConfig>, E>,
    ) -> Result<Dial, E> {
        let way = match place {
            Place::Tcp { host, port } => Way::Tcp { host, port },
            Place::Tls { host, port } => Way::Tls { host, port, config: config()? },
            Place::Unix(path) => Way::Unix(path),
        };
        Ok(Dial { way })
    }

    /// Connections that somebody in this process takes.
    #[cfg(test)]
    pub(crate) fn memory(taken: tokio::sync::mpsc::UnboundedSender<tokio::io::DuplexStream>) -> Dial {
        Dial { way: Way::Memory(taken) }
    }

    /// A new connection.
    pub(crate) async fn connect(&self) -> io::Result<Stream> {
        let slow = |_| io::Error::new(io::ErrorKind::TimedOut, "the connection does not come to stand");
        tokio::time::timeout(PATIENCE, self.open()).await.map_err(slow)?
    }

    async fn open(&self) -> io::Result<Stream> {
        match &self.way {
            Way::Tcp { host, port } => Ok(Stream::new(tcp(host, *port).await?)),
            Way::Tls { host, port, config } => {
                let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
                let socket = tcp(host, *port).await?;
                Ok(Stream::new(TlsConnector::from(Arc::clone(config)).connect(name, socket).await?))
            }
            #[cfg(unix)]
            Way::Unix(path) => Ok(Stream::new(tokio::net::UnixStream::connect(path).await?)),
            #[cfg(not(unix))]
            Way::Unix(_) => Err(io::ErrorKind::Unsupported.into()),
            #[cfg(test)]
            Way::Memory(taken) => {
                let (ours, theirs) = tokio::io::duplex(1 << 16);
                taken.send(theirs).map_err(|_| io::Error::from(io::ErrorKind::ConnectionRefused))?;
                Ok(Stream::new(ours))
            }
        }
    }
}

async fn tcp(host: &str, port: u16) -> io::Result<TcpStream> {
    let socket = TcpStream::connect((host, port)).await?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Bytes in both directions.
trait Duplex: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Duplex for T {}

/// An open connection.
pub(crate) struct Stream(Box<dyn Duplex>);

impl Stream {
    fn new(inner: impl Duplex + 'static) -> Stream {
        Stream(Box::new(inner))
    }
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_read(cx, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut *self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.0).poll_shutdown(cx)
    }
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

/// The pool asks by URI; there is one exchange, whatever it says.
impl tower_service::Service<Uri> for Dial {
    type Response = TokioIo<Stream>;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<TokioIo<Stream>>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let dial = self.clone();
        Box::pin(async move { dial.connect().await.map(TokioIo::new) })
    }
}
