//! Where connections come from: an address, with TLS or in the clear, or a socket in the file system.

use crate::tls::Tls;
use crate::visits::{Peer, Via};
use std::io;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};

/// Something that connections come to.
#[derive(Debug)]
#[non_exhaustive]
pub enum Listener {
    /// An address, spoken to in the clear.
    Tcp(TcpListener),
    /// An address, spoken to with TLS.
    Tls(TcpListener, Arc<Tls>),
    /// A socket in the file system. Whoever may open it is on this machine.
    #[cfg(unix)]
    Unix(UnixListener),
}

/// All that connections come to.
#[derive(Debug)]
pub struct Listeners(pub(crate) Vec<Listener>);

impl From<Vec<Listener>> for Listeners {
    fn from(all: Vec<Listener>) -> Self {
        Listeners(all)
    }
}

impl From<TcpListener> for Listeners {
    fn from(listener: TcpListener) -> Self {
        Listeners(vec![Listener::Tcp(listener)])
    }
}

impl Listeners {
    /// The certificate that is shown. All that show one show the same.
    pub(crate) fn tls(&self) -> Option<Arc<Tls>> {
        self.0.iter().find_map(|listener| match listener {
            Listener::Tls(_, tls) => Some(Arc::clone(tls)),
            Listener::Tcp(_) => None,
            #[cfg(unix)]
            Listener::Unix(_) => None,
        })
    }
}

/// A connection that has come.
pub(crate) enum Socket {
    Tcp(TcpStream),
    Tls(TcpStream, Arc<Tls>),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Listener {
    pub(crate) async fn accept(&self) -> io::Result<(Socket, Peer)> {
        match self {
            Listener::Tcp(listener) => {
                let (stream, peer) = accepted(listener, Via::Tcp).await?;
                Ok((Socket::Tcp(stream), peer))
            }
            Listener::Tls(listener, tls) => {
                let (stream, peer) = accepted(listener, Via::Tls).await?;
                Ok((Socket::Tls(stream, Arc::clone(tls)), peer))
            }
            #[cfg(unix)]
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                Ok((Socket::Unix(stream), Peer::on_socket()))
            }
        }
    }
}

async fn accepted(listener: &TcpListener, via: Via) -> io::Result<(TcpStream, Peer)> {
    let (stream, peer) = listener.accept().await?;
    // Answers are small and waited for. A socket that cannot be told so still works.
    drop(stream.set_nodelay(true));
    Ok((stream, Peer { address: peer.ip().to_canonical(), via }))
}

#[cfg(test)]
mod tests {
    use super::{Listener, Socket};
    use tokio::net::{TcpListener, TcpStream};

    #[tokio::test]
    async fn what_is_written_to_a_connection_does_not_wait_for_more() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let _client = TcpStream::connect(address).await.unwrap();
        let (accepted, _) = Listener::Tcp(listener).accept().await.unwrap();
        let Socket::Tcp(stream) = accepted else { panic!("it came by TCP") };
        assert!(stream.nodelay().unwrap());
    }
}
