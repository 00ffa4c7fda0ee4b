//! Opening a connection. The address is judged here, at the last moment, and the connection goes to the very
//! address that was judged.

use crate::address::is_public;
use crate::allow::Allow;
use crate::resolve::Resolve;
use crate::target::{Host, Target};
use crate::tls::Tls;
use hyper::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection};
use hyper_util::rt::TokioIo;
use legation_exchange::Lost;
use rustls::pki_types::ServerName;
use std::future::Future;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::client::TlsStream;

/// How long connecting may take, over all addresses of a name, TLS with it: one from which nothing comes leaves time for
/// the others, whether it takes a connection or not.
const CONNECTING: Duration = Duration::from_secs(8);

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
#[error("no connection: {}", .0.as_str())]
pub(crate) struct NoWay(pub(crate) Lost);

/// Whom connections may lead to.
#[derive(Debug)]
pub(crate) struct Guard {
    pub(crate) allow: Vec<Allow>,
    pub(crate) resolver: Arc<dyn Resolve>,
    pub(crate) tls: Tls,
}

impl Guard {
    /// Whether an address may be connected to for a host.
    pub(crate) fn lets(&self, host: &Host, address: IpAddr, port: u16) -> bool {
        is_public(address) || self.allow.iter().any(|allow| allow.names(host, port) || allow.covers(address, port))
    }

    async fn open(&self, target: &Target) -> Result<Wire, NoWay> {
        let addresses = self.addresses(target).await?;
        let share = CONNECTING / u32::try_from(addresses.len()).unwrap_or(u32::MAX).max(1);
        let mut why = Lost::Unreachable;
        for address in addresses {
            match self.reach(target, address, Instant::now() + share).await {
                Ok(wire) => return Ok(wire),
                // That nobody is there says less than what somebody did who was.
                Err(NoWay(lost)) if why == Lost::Unreachable => why = lost,
                Err(NoWay(_)) => {}
            }
        }
        Err(NoWay(why))
    }

    /// Opens a connection to an address that was judged, and has it prove whose it is.
    async fn reach(&self, target: &Target, address: IpAddr, until: Instant) -> Result<Wire, NoWay> {
        let connecting = TcpStream::connect(SocketAddr::new(address, target.port));
        let Ok(Ok(stream)) = timeout_at(until, connecting).await else { return Err(NoWay(Lost::Unreachable)) };
        // What is sent is sent at once: nothing follows for which to wait.
        stream.set_nodelay(true).map_err(|_| NoWay(Lost::Unreachable))?;
        if !target.is_tls {
            return Ok(Wire::Plain(TokioIo::new(stream)));
        }
        let name = match &target.host {
            Host::Ip(address) => ServerName::from(*address),
            Host::Name(name) => ServerName::try_from(name.clone()).map_err(|_| NoWay(Lost::Untrusted))?,
        };
        let connector = self.tls.connector().map_err(|_| NoWay(Lost::Untrusted))?;
        match timeout_at(until, connector.connect(name, stream)).await {
            Ok(Ok(stream)) => Ok(Wire::Tls(Box::new(TokioIo::new(stream)))),
            Ok(Err(_)) => Err(NoWay(Lost::Untrusted)),
            Err(_) => Err(NoWay(Lost::Timeout)),
        }
    }

    /// All addresses of a target. One that may not be connected to spoils the rest: whoever mixes them means
    /// no good.
    async fn addresses(&self, target: &Target) -> Result<Vec<IpAddr>, NoWay> {
        let found = match &target.host {
            Host::Ip(address) => vec![*address],
            Host::Name(name) => self.resolver.resolve(name).await.map_err(|_| NoWay(Lost::Unresolved))?,
        };
        if found.is_empty() {
            return Err(NoWay(Lost::Unresolved));
        }
        let plain_abroad = |address: &IpAddr| !target.is_tls && !address.is_loopback();
        let lets = |address: &IpAddr| self.lets(&target.host, *address, target.port) && !plain_abroad(address);
        if found.iter().all(lets) { Ok(found) } else { Err(NoWay(Lost::Forbidden)) }
    }
}

/// What the client asks for connections.
#[derive(Clone, Debug)]
pub(crate) struct Connector(pub(crate) Arc<Guard>);

impl tower_service::Service<Uri> for Connector {
    type Response = Wire;
    type Error = NoWay;
    type Future = Pin<Box<dyn Future<Output = Result<Wire, NoWay>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), NoWay>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let target = Target::of(uri).map_err(|_| NoWay(Lost::Forbidden))?;
            guard.open(&target).await
        })
    }
}

/// An open connection.
#[derive(Debug)]
pub(crate) enum Wire {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

impl Connection for Wire {
    fn connected(&self) -> Connected {
        Connected::new()
    }
}

impl Read for Wire {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: ReadBufCursor<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Wire::Plain(wire) => Pin::new(wire).poll_read(cx, buf),
            Wire::Tls(wire) => Pin::new(wire).poll_read(cx, buf),
        }
    }
}

impl Write for Wire {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Wire::Plain(wire) => Pin::new(wire).poll_write(cx, buf),
            Wire::Tls(wire) => Pin::new(wire).poll_write(cx, buf),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Wire::Plain(wire) => Pin::new(wire).poll_flush(cx),
            Wire::Tls(wire) => Pin::new(wire).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Wire::Plain(wire) => Pin::new(wire).poll_shutdown(cx),
            Wire::Tls(wire) => Pin::new(wire).poll_shutdown(cx),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Wire::Plain(wire) => wire.is_write_vectored(),
            Wire::Tls(wire) => wire.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Wire::Plain(wire) => Pin::new(wire).poll_write_vectored(cx, bufs),
            Wire::Tls(wire) => Pin::new(wire).poll_write_vectored(cx, bufs),
        }
    }
}
