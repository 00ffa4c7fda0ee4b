//! A tool server over HTTP: each message is a post, and the answer comes as JSON or in a stream of events. Nothing is sent
//! twice, no redirect is followed, and nothing is read without bound.

use super::events::Events;
use super::rpc::{self, MOST, Sent};
use super::wire::{Heads, Mark, Trouble};
use crate::connect::{Connector, NoWay};
use crate::courier::Courier;
use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderName, HeaderValue, USER_AGENT};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::client::legacy::Client;
use legation_engine::ToolReply as Reply;
use std::convert::Infallible;
use std::error::Error as _;
use std::pin::Pin;
use std::task::{Context, Poll};
use zeroize::Zeroizing;

const AGENT: &str = concat!("legation/", env!("CARGO_PKG_VERSION"));
/// The most bytes of a stream of events before the answer is in it, and the most requests of the server that are answered.
const STREAM: usize = 8 << 20;
const ASKED: usize = 16;

/// The way to one server.
pub(super) struct Http {
    client: Client<Connector, Letter>,
    uri: hyper::Uri,
    secret: Option<HeaderValue>,
}

/// A body that tells when it goes out.
pub(super) struct Letter {
    text: Option<Bytes>,
    mark: Mark,
}

impl Body for Letter {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let this = self.get_mut();
        this.mark.set();
        Poll::Ready(this.text.take().map(|text| Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        self.text.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.text.as_ref().map_or(0, |text| text.len() as u64))
    }
}

impl Http {
    /// The way to a URL that the courier may bring something to.
    pub(super) fn to(courier: &Courier, url: &str, secret: Option<&Zeroizing<String>>) -> Option<Http> {
        let bearer = |secret: &Zeroizing<String>| {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", secret.trim())).ok()?;
            value.set_sensitive(true);
            Some(value)
        };
        let secret = match secret {
            Some(secret) => Some(bearer(secret)?),
            None => None,
        };
        Some(Http { client: courier.client_for(), uri: url.parse().ok()?, secret })
    }

    /// Posts a request, and reads until its answer.
    pub(super) async fn ask(
        &self,
        id: u64,
        text: String,
        heads: &Heads,
        mark: &Mark,
    ) -> Result<(Reply, Heads), Trouble> {
        let response = self.post(text, heads, mark).await?;
        let session = response.headers().get("mcp-session-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
        let told = Heads { session: session.or(heads.session.clone()), ..heads.clone() };
        let is_stream = has_type(&response, "text/event-stream");
        match response.status() {
            status if !status.is_success() => Err(self.status(status, id, response).await),
            _ if is_stream => self.in_stream(id, response.into_body(), &told).await.map(|reply| (reply, told)),
            _ if has_type(&response, "application/json") => {
                let whole = whole(response.into_body()).await?;
                answer(id, &whole)?.map(|reply| (reply, told)).ok_or_else(no_answer)
            }
            _ => Err(Trouble::Unusable("it answered neither with JSON nor with events".to_owned())),
        }
    }

    /// Posts something that is not answered.
    pub(super) async fn tell(&self, text: String, heads: &Heads) -> Result<(), Trouble> {
        let response = self.post(text, heads, &Mark::default()).await?;
        // What it says to that is of no interest, but leaves the connection for the next.
        drop(whole(response.into_body()).await);
        Ok(())
    }

    async fn post(&self, text: String, heads: &Heads, mark: &Mark) -> Result<Response<Incoming>, Trouble> {
        let mut request = Request::builder()
            .method(Method::POST)
            .uri(self.uri.clone())
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json, text/event-stream")
            .header(USER_AGENT, AGENT);
        for (name, value) in heads.each() {
            request = request.header(HeaderName::from_static(name), value);
        }
        if let Some(secret) = &self.secret {
            request = request.header(AUTHORIZATION, secret.clone());
        }
        let letter = Letter { text: Some(text.into()), mark: mark.clone() };
        let request = request.body(letter).map_err(|_| Trouble::Way("it cannot be written to it".to_owned()))?;
        self.client.request(request).await.map_err(|error| {
            let no_way = error.source().and_then(|cause| cause.downcast_ref::<NoWay>());
            match no_way {
                Some(no) => Trouble::Way(format!("no connection: {}", no.0.as_str())),
                None => Trouble::Broken("the connection broke".to_owned()),
            }
        })
    }

    /// What a status that is no success means. Some servers put the error beside it.
    async fn status(&self, status: StatusCode, id: u64, response: Response<Incoming>) -> Trouble {
        let beside =
            if has_type(&response, "application/json") { whole(response.into_body()).await.ok() } else { None };
        let refused = beside.and_then(|text| match rpc::read(&text).ok()?.pop()? {
            Sent::Answer(own, Reply::Refused(error)) if own == id => Some(error),
            Sent::Answer(..) | Sent::Request(..) | Sent::Other => None,
        });
        Trouble::Status(status.as_u16(), refused)
    }

    /// Reads events until one has the answer. What the server asks meanwhile is answered.
    async fn in_stream(&self, id: u64, mut body: Incoming, heads: &Heads) -> Result<Reply, Trouble> {
        let (mut events, mut seen, mut asked) = (Events::default(), 0, 0);
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(|_| Trouble::Broken("the stream broke".to_owned()))?;
            let Some(piece) = frame.data_ref() else { continue };
            seen += piece.len();
            let whole = events.take(piece, MOST.bytes).ok().filter(|_| seen <= STREAM);
            for event in whole.ok_or_else(too_large)? {
                for sent in rpc::read(&event).map_err(Trouble::Unusable)? {
                    match sent {
                        Sent::Answer(own, reply) if own == id => return Ok(reply),
                        Sent::Request(other, method) if asked < ASKED => {
                            asked += 1;
                            drop(self.tell(rpc::answer_to(&other, &method), heads).await);
                        }
                        Sent::Answer(..) | Sent::Request(..) | Sent::Other => {}
                    }
                }
            }
        }
        Err(Trouble::Broken("the stream ended without an answer".to_owned()))
    }
}

fn has_type<B>(response: &Response<B>, media: &str) -> bool {
    let value = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().eq_ignore_ascii_case(media)
}

async fn whole(mut body: Incoming) -> Result<Vec<u8>, Trouble> {
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Trouble::Broken("the answer broke off".to_owned()))?;
        all.extend_from_slice(frame.data_ref().map_or(&[], |piece| piece));
        if all.len() > MOST.bytes {
            return Err(too_large());
        }
    }
    Ok(all)
}

fn answer(id: u64, text: &[u8]) -> Result<Option<Reply>, Trouble> {
    let all = rpc::read(text).map_err(Trouble::Unusable)?;
    Ok(all.into_iter().find_map(|sent| match sent {
        Sent::Answer(own, reply) if own == id => Some(reply),
        Sent::Answer(..) | Sent::Request(..) | Sent::Other => None,
    }))
}

fn too_large() -> Trouble {
    Trouble::Unusable(format!("it sent more than {} bytes", MOST.bytes))
}

fn no_answer() -> Trouble {
    Trouble::Unusable("what it sent is no answer to what it was asked".to_owned())
}
