//! A socket's frames in and out. Writing never waits: what the client has not read yet is counted, and
//! whoever writes looks at that first.

use super::close::Close;
use super::metered::Metered;
use super::sockets::Sockets;
use futures_util::{Sink as _, Stream as _};
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use legation_protocol::json::Limits;
use serde::Serialize;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Bytes, Message, Utf8Bytes};

/// Read at once: small, since ten thousand sockets have one each.
const READ: usize = 4 << 10;
/// Gathered before it is written.
const WRITE: usize = 32 << 10;
/// What a socket may owe its client at the very most, far beyond what is written before looking: the largest answer there can
/// be, to whoever sends to very many. Its receipt quotes an effect of up to 16 MiB, some of it escaped.
const MOST: usize = 40 << 20;
/// Read of a message of somebody who has proven nothing yet: the largest hello, and what may come beside it.
const STRANGER: usize = Limits::HANDSHAKE.bytes + (16 << 10);
/// How long the last frame may take, and the other side's to it.
const LAST: Duration = Duration::from_secs(1);

pub(crate) struct Wire {
    socket: WebSocketStream<Metered<TokioIo<Upgraded>>>,
    sockets: Arc<Sockets>,
    /// Bytes written and not known to be gone.
    backlog: usize,
}

/// What comes from a socket.
#[derive(Debug)]
pub(crate) enum Heard {
    Text(Utf8Bytes),
    Binary,
    Ping,
    Pong(Bytes),
    /// All that was written has gone out.
    Flushed,
}

impl Wire {
    /// `largest` is the most bytes of a message. A stranger's says little before it is [opened](Wire::open).
    pub(crate) async fn new(upgraded: Upgraded, largest: usize, stranger: bool, sockets: Arc<Sockets>) -> Wire {
        let config = WebSocketConfig::default()
            .read_buffer_size(READ)
            .write_buffer_size(WRITE)
            .max_write_buffer_size(MOST)
            .max_message_size(Some(largest))
            .max_frame_size(Some(largest));
        let connection = Metered::new(TokioIo::new(upgraded), stranger.then_some(STRANGER));
        let socket = WebSocketStream::from_raw_socket(connection, Role::Server, Some(config)).await;
        Wire { socket, sockets, backlog: 0 }
    }

    /// Whoever speaks is no stranger any more.
    pub(crate) fn open(&mut self) {
        self.socket.get_mut().open();
    }

    /// Bytes written and not known to be gone.
    pub(crate) fn backlog(&self) -> usize {
        self.backlog
    }

    /// Writes a frame behind those before it.
    pub(crate) fn put(&mut self, message: Message) -> Result<(), Close> {
        self.backlog += message.len() + 14;
        self.sockets.wrote();
        Pin::new(&mut self.socket).start_send(message).map_err(|error| Close::of(&error))
    }

    /// Writes JSON.
    pub(crate) fn put_json(&mut self, value: &impl Serialize) -> Result<(), Close> {
        let text = serde_json::to_string(value).map_err(|_| Close::Ours)?;
        self.put(Message::text(text))
    }

    /// What comes next, if anything is to be read; meanwhile what was written goes out.
    pub(crate) async fn next(&mut self, reading: bool) -> Result<Heard, Close> {
        poll_fn(|cx| self.poll_next(cx, reading)).await
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, reading: bool) -> Poll<Result<Heard, Close>> {
        let flushed = if self.backlog > 0 { Pin::new(&mut self.socket).poll_flush(cx) } else { Poll::Pending };
        let flushed = flushed.map(|flushed| flushed.map(|()| Heard::Flushed).map_err(|error| Close::of(&error)));
        if flushed.is_ready() {
            self.backlog = 0;
        }
        if !reading || matches!(flushed, Poll::Ready(Err(_))) {
            return flushed;
        }
        // Whoever has much to write writes again once all is gone: what there is to read comes before that.
        match self.poll_read(cx) {
            Poll::Ready(read) => Poll::Ready(read),
            Poll::Pending => flushed,
        }
    }

    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<Result<Heard, Close>> {
        Pin::new(&mut self.socket).poll_next(cx).map(|read| {
            let message = read.ok_or(Close::Lost)?.map_err(|error| Close::of(&error))?;
            self.sockets.read();
            let connection = self.socket.get_mut();
            match &message {
                Message::Text(_) | Message::Binary(_) => connection.is_whole(),
                Message::Ping(_) | Message::Pong(_) | Message::Close(_) | Message::Frame(_) => connection.is_beside(),
            }
            match message {
                Message::Text(text) => Ok(Heard::Text(text)),
                Message::Binary(_) | Message::Frame(_) => Ok(Heard::Binary),
                Message::Ping(_) => Ok(Heard::Ping),
                Message::Pong(payload) => Ok(Heard::Pong(payload)),
                Message::Close(_) => Err(Close::Theirs),
            }
        })
    }

    /// Says goodbye, and hears the other side out: bytes left unread would break the connection before the
    /// last frame is read.
    pub(crate) async fn finish(mut self, close: Close) {
        let last = async {
            // A pong that still waits goes first: nothing comes after goodbye.
            let mut flushed = poll_fn(|cx| Pin::new(&mut self.socket).poll_flush(cx)).await;
            if let Some(frame) = close.frame() {
                drop(Pin::new(&mut self.socket).start_send(Message::Close(Some(frame))));
                flushed = poll_fn(|cx| Pin::new(&mut self.socket).poll_flush(cx)).await;
            }
            if flushed.is_err() {
                return;
            }
            let mut connection = self.socket.into_inner();
            connection.open();
            connection.is_whole();
            let mut rest = vec![0; READ];
            if connection.shutdown().await.is_ok() {
                while connection.read(&mut rest).await.is_ok_and(|read| read > 0) {}
            }
        };
        if close != Close::Lost {
            // Whoever does not listen has lost nothing.
            drop(tokio::time::timeout(LAST, last).await);
        }
    }
}
