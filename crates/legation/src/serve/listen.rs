//! Opening the places to listen at. A socket in the file system is opened for those it is for from its first
//! moment, and takes the place of one that nobody listens at any more; never of anything else.

use crate::config::{Config, Listen};
use anyhow::Context as _;
use legation_server::{Listener, Tls};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpSocket};

/// What is listened at.
#[derive(Debug, Default)]
pub(super) struct Bound {
    pub(super) listeners: Vec<Listener>,
    pub(super) places: Vec<Place>,
    /// Removed with this.
    #[cfg(unix)]
    pub(super) sockets: Vec<unix::SocketFile>,
}

/// Where somebody can reach us.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Http(SocketAddr),
    Https(SocketAddr),
    Unix(PathBuf),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Place::Http(address) => write!(f, "http://{address}"),
            Place::Https(address) => write!(f, "https://{address}"),
            Place::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

impl Bound {
    pub(super) fn open(config: &Config, tls: Option<&Arc<Tls>>) -> anyhow::Result<Bound> {
        let mut bound = Bound::default();
        for listen in &config.listen {
            match listen {
                Listen::Tcp(address) => bound.tcp(*address, tls)?,
                Listen::Unix(path) => bound.unix(path, config.listen_mode)?,
            }
        }
        Ok(bound)
    }

    fn tcp(&mut self, address: SocketAddr, tls: Option<&Arc<Tls>>) -> anyhow::Result<()> {
        let listener = bind(address).with_context(|| format!("cannot listen at {address}"))?;
        let address = listener.local_addr().context("cannot listen")?;
        let (listener, place) = match tls {
            Some(tls) => (Listener::Tls(listener, Arc::clone(tls)), Place::Https(address)),
            None => (Listener::Tcp(listener), Place::Http(address)),
        };
        self.listeners.push(listener);
        self.places.push(place);
        Ok(())
    }

    #[cfg(unix)]
    fn unix(&mut self, path: &std::path::Path, mode: u32) -> anyhow::Result<()> {
        let (listener, file) = unix::bind(path, mode)?;
        self.listeners.push(Listener::Unix(listener));
        self.places.push(Place::Unix(path.to_owned()));
        self.sockets.push(file);
        Ok(())
    }

    #[cfg(not(unix))]
    #[expect(clippy::unused_self, reason = "there are no such sockets here")]
    fn unix(&mut self, path: &std::path::Path, _: u32) -> anyhow::Result<()> {
        anyhow::bail!("cannot listen at unix:{}: this system has no such sockets", path.display())
    }
}

/// Connections that have come and wait to be taken: so many at once are normal where thousands come back together.
const BACKLOG: u32 = 4096;

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() }?;
    // A port whose last connections have just been closed may be taken again; elsewhere it would let others take it.
    #[cfg(unix)]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

#[cfg(unix)]
mod unix;
