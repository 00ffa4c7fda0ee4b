//! The mailbox over a WebSocket: control frames of the subprotocol `legation.v1`.

use crate::client::Client;
use crate::dial::Stream;
use crate::error::Error;
use crate::http::{Reply, encoded};
use crate::incoming::Item;
use crate::poll::fenced;
use crate::refused::Refused;
use crate::session::agreed;
use futures_util::{SinkExt as _, StreamExt as _};
use http::header::{AUTHORIZATION, HeaderValue, SEC_WEBSOCKET_PROTOCOL};
use legation_protocol::negotiation::{Handshake, Hello};
use legation_protocol::{Code, build, parse};
use serde::Deserialize;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::time::{Instant, Interval, interval_at, timeout, timeout_at};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{self, Message};

const PROTOCOL: HeaderValue = HeaderValue::from_static("legation.v1");
/// How often to ask whether the other side is there (VCP messaging 1.2, section 8.3).
const PING: Duration = Duration::from_secs(30);
/// How long a socket may be silent.
const SILENCE: Duration = Duration::from_secs(75);
/// How long opening and closing may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The largest frame: an exchange writes none larger. Receipts name everybody a broadcast went to, and older exchanges send
/// them along with items.
const LARGEST: usize = 40 << 20;

/// An open socket.
pub(crate) struct Socket {
    stream: WebSocketStream<Stream>,
    ping: Interval,
    url: String,
    /// Whether the other side has answered a ping.
    has_stood: bool,
    /// What came before the answer to the hello.
    early: VecDeque<tungstenite::Utf8Bytes>,
}

#[derive(Deserialize)]
struct Kind<'f> {
    r#type: &'f str,
}

impl Socket {
    /// Opens a socket that delivers what lies beyond a position.
    pub(crate) async fn open(client: &Client, after: Option<u64>) -> Result<Socket, Error> {
        let http = client.http();
        let base = &http.address.base;
        let after = after.map(|after| format!("&after={after}")).unwrap_or_default();
        let agent = encoded(client.named()?);
        let url = format!("ws{}/vcp/ws?agent={agent}{after}", base.strip_prefix("http").unwrap_or(base));
        let unfit = |_| Error::Setting { what: "the URL" };
        let mut request = url.as_str().into_client_request().map_err(unfit)?;
        request.headers_mut().insert(SEC_WEBSOCKET_PROTOCOL, PROTOCOL);
        request.headers_mut().extend(http.authorization().map(|token| (AUTHORIZATION, token)));
        let lost = |why: Box<dyn std::error::Error + Send + Sync>| http.lost(why);
        let opened = async {
            let stream = http.dial.connect().await.map_err(|why| lost(why.into()))?;
            let config = WebSocketConfig::default().max_message_size(Some(LARGEST)).max_frame_size(Some(LARGEST));
            match tokio_tungstenite::client_async_with_config(request, stream, Some(config)).await {
                Ok((stream, _)) => Ok(stream),
                Err(tungstenite::Error::Http(response)) => Err(refused(*response)),
                Err(error) => Err(lost(error.into())),
            }
        };
        let stream = timeout(PATIENCE, opened).await.unwrap_or(Err(Error::Timeout(PATIENCE)))?;
        let (ping, early) = (interval_at(Instant::now() + PING, PING), VecDeque::new());
        let mut socket = Socket { stream, ping, url: base.clone(), has_stood: false, early };
        if let Some(hello) = client.hello() {
            timeout(PATIENCE, socket.greet(client, hello)).await.unwrap_or(Err(Error::Timeout(PATIENCE)))?;
        }
        Ok(socket)
    }

    /// Says hello before anything else, and waits for the answer.
    async fn greet(&mut self, client: &Client, hello: &Hello) -> Result<(), Error> {
        let text = build(hello).map_err(Error::Message)?.text().to_owned();
        self.stream.send(Message::text(text)).await.map_err(|why| self.lost(why.into()))?;
        loop {
            let frame = self.frame().await?;
            match parse::<Handshake>(frame.as_bytes()) {
                Ok(answer) => {
                    client.memory().judge(&agreed(answer.value, hello)?);
                    return Ok(());
                }
                Err(_) => self.early.push_back(frame),
            }
        }
    }

    /// The next message.
    pub(crate) async fn next(&mut self) -> Result<Item, Error> {
        loop {
            let frame = match self.early.pop_front() {
                Some(frame) => frame,
                None => self.frame().await?,
            };
            let kind: Kind<'_> = serde_json::from_str(&frame).map_err(|why| Error::Answer(Some(why)))?;
            // What else an exchange says on a socket is of no concern to a reader.
            if kind.r#type == "item" {
                return serde_json::from_str(&frame).map_err(|why| Error::Answer(Some(why)));
            }
        }
    }

    /// The next text. Whatever comes shows that the other side is there; what is said to it does not.
    async fn frame(&mut self) -> Result<tungstenite::Utf8Bytes, Error> {
        let silent = |_| Error::Timeout(SILENCE);
        let mut until = Instant::now() + SILENCE;
        loop {
            let frame = tokio::select! {
                frame = timeout_at(until, self.stream.next()) => frame.map_err(silent)?,
                _ = self.ping.tick() => {
                    timeout_at(until, self.say_ping()).await.map_err(silent)??;
                    continue;
                }
            };
            until = Instant::now() + SILENCE;
            match frame {
                Some(Ok(Message::Text(text))) => return Ok(text),
                Some(Ok(Message::Close(close))) => return Err(self.closed(close.as_ref())),
                Some(Ok(Message::Pong(_))) => self.has_stood = true,
                Some(Ok(Message::Binary(_) | Message::Ping(_) | Message::Frame(_))) => {}
                Some(Err(why)) => return Err(self.lost(why.into())),
                None => return Err(self.closed(None)),
            }
        }
    }

    async fn say_ping(&mut self) -> Result<(), Error> {
        self.stream.send(Message::Ping(bytes::Bytes::new())).await.map_err(|why| self.lost(why.into()))
    }

    /// Whether it was there for some time: until a ping was answered.
    pub(crate) fn has_stood(&self) -> bool {
        self.has_stood
    }

    /// Says goodbye.
    pub(crate) async fn close(mut self) {
        // One that is gone has heard enough.
        drop(timeout(Duration::from_secs(1), self.stream.close(None)).await);
    }

    fn lost(&self, why: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Unreachable { url: self.url.clone(), source: why }
    }

    /// A socket closed for a reason that stays is refused; any other may be opened again.
    fn closed(&self, close: Option<&CloseFrame>) -> Error {
        match close.filter(|close| close.code == CloseCode::Policy) {
            None => self.lost("the exchange closed the socket".into()),
            Some(close) => {
                let code = close.reason.to_string();
                let retryable = Code::named(&code).is_some_and(Code::is_retryable);
                let message = "the exchange closed the socket".to_owned();
                let (at, spec, digest, status, retry_after) = (None, None, None, None, None);
                fenced(Refused { code, message, retryable, at, spec, digest, status, retry_after }.into())
            }
        }
    }
}

fn refused(response: http::Response<Option<Vec<u8>>>) -> Error {
    let (head, body) = response.into_parts();
    let body = body.unwrap_or_default().into();
    let reply = Reply { status: head.status.as_u16(), headers: head.headers, body };
    reply.accepted().map_or_else(fenced, |_| Error::Answer(None))
}
