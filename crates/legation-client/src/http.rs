//! One request and its answer. Redirects are not followed, and proxies not asked: what is sent goes
//! to the exchange and nowhere else.

use crate::address::Address;
use crate::dial::Dial;
use crate::error::Error;
use crate::refused::{Refused, is_retryable};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use http::{Method, Request, Response};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Incoming;
use hyper_util::client::legacy::Client as Pool;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use serde::de::DeserializeOwned;
use std::time::Duration;
use tokio::time::timeout;

const SIGNATURE: HeaderName = HeaderName::from_static("legation-signature");
const SESSION: HeaderName = HeaderName::from_static("legation-session");
const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The largest answer that is read.
const LARGEST: usize = 256 << 20;
/// How long an unused connection is kept; the exchange keeps it a little longer.
const IDLE: Duration = Duration::from_mins(1);

/// What is sent.
pub(crate) type Body = UnsyncBoxBody<Bytes, std::convert::Infallible>;

/// A request that has no method of its own in this crate.
#[derive(Clone, Debug, Default)]
pub struct Call {
    /// `GET`, unless another is named.
    pub method: Method,
    /// The path with its query, from the first `/`.
    pub path: String,
    /// The media type of the body; none where there is no body.
    pub media: Option<&'static str>,
    /// A signature beside the message.
    pub signature: Option<String>,
    /// What stands for the id of a message that has none.
    pub idempotency_key: Option<String>,
    /// The session it belongs to.
    pub session: Option<String>,
    /// Further headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
    /// How long an answer may take beyond what every request may take.
    pub wait: Duration,
}

impl Call {
    /// Asks for something.
    pub fn get(path: impl Into<String>) -> Call {
        Call { path: path.into(), ..Call::default() }
    }

    /// Sends a JSON text.
    pub fn json(method: Method, path: impl Into<String>, body: impl Into<Bytes>) -> Call {
        let media = Some("application/json");
        Call { method, path: path.into(), media, body: body.into(), ..Call::default() }
    }
}

/// What an exchange answered, be it yes or no.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The HTTP status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body.
    pub body: Bytes,
}

impl Reply {
    /// Whether it says yes.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The same, with a refusal as the error it is.
    pub fn accepted(self) -> Result<Reply, Error> {
        if self.is_success() {
            return Ok(self);
        }
        let refused = Refused::read(&self.body, Some(self.status));
        // A proxy between may answer in its own words: its status still says whether to try again.
        let mut refused = refused.unwrap_or_else(|_| Refused {
            code: format!("http_{}", self.status),
            message: "the answer is not an exchange's".to_owned(),
            retryable: is_retryable(self.status),
            at: None,
            spec: None,
            digest: None,
            status: Some(self.status),
            retry_after: None,
        });
        let after = self.headers.get(RETRY_AFTER).and_then(|after| after.to_str().ok());
        refused.retry_after = after.and_then(|after| after.trim().parse().ok()).map(Duration::from_secs);
        Err(Error::Refused(refused))
    }

    /// What it says, unless it is a refusal.
    pub fn read<T: DeserializeOwned>(self) -> Result<T, Error> {
        serde_json::from_slice(&self.accepted()?.body).map_err(|error| Error::Answer(Some(error)))
    }
}

/// Something large that is being answered.
#[derive(Debug)]
pub struct Download {
    status: u16,
    headers: HeaderMap,
    body: Incoming,
    exchange: String,
    patience: Duration,
}

impl Download {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// The headers of the answer.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// The next bytes; nothing after the last.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Error> {
        loop {
            let next = timeout(self.patience, self.body.frame()).await.map_err(|_| Error::Timeout(self.patience))?;
            let Some(frame) = next else { return Ok(None) };
            let lost = |why: hyper::Error| Error::Unreachable { url: self.exchange.clone(), source: Box::new(why) };
            if let Ok(bytes) = frame.map_err(lost)?.into_data() {
                return Ok(Some(bytes));
            }
        }
    }
}

/// The way to the exchange.
pub(crate) struct Http {
    pub(crate) address: Address,
    pub(crate) dial: Dial,
    pool: Pool<Dial, Body>,
    token: Option<HeaderValue>,
    patience: Duration,
}

impl Http {
    pub(crate) fn new(address: Address, dial: Dial, token: Option<HeaderValue>, patience: Duration) -> Http {
        let mut pool = Pool::builder(TokioExecutor::new());
        pool.pool_idle_timeout(IDLE).pool_timer(TokioTimer::new());
        Http { address, pool: pool.build(dial.clone()), dial, token, patience }
    }

    /// How long an answer may take.
    pub(crate) fn patience(&self) -> Duration {
        self.patience
    }

    /// The header that says who asks.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        self.token.clone()
    }

    /// Asks once.
    pub(crate) async fn call(&self, call: Call) -> Result<Reply, Error> {
        let patience = self.patience + call.wait;
        let asked = async {
            let response = self.open(call).await?;
            let (head, body) = response.into_parts();
            let body = Limited::new(body, LARGEST).collect().await.map_err(|why| self.lost(why))?.to_bytes();
            Ok(Reply { status: head.status.as_u16(), headers: head.headers, body })
        };
        timeout(patience, asked).await.unwrap_or(Err(Error::Timeout(patience)))
    }

    /// Asks once for something large, whose bytes are taken as they come.
    pub(crate) async fn download(&self, call: Call) -> Result<Download, Error> {
        let Download { status, headers, body, .. } = match self.stream(call).await? {
            accepted if (200..300).contains(&accepted.status) => return Ok(accepted),
            refused => refused,
        };
        let body = Limited::new(body, LARGEST).collect().await.map_err(|why| self.lost(why))?.to_bytes();
        let refused = Reply { status, headers, body }.accepted();
        Err(refused.err().unwrap_or(Error::Answer(None)))
    }

    /// Asks once, and takes the bytes of the answer as they come, be it yes or no.
    pub(crate) async fn stream(&self, call: Call) -> Result<Download, Error> {
        let patience = self.patience + call.wait;
        let opened = timeout(patience, self.open(call)).await.unwrap_or(Err(Error::Timeout(patience)))?;
        let (head, body) = opened.into_parts();
        let exchange = self.address.base.clone();
        Ok(Download { status: head.status.as_u16(), headers: head.headers, body, exchange, patience })
    }

    async fn open(&self, call: Call) -> Result<Response<Incoming>, Error> {
        let Call { method, path, media, signature, idempotency_key, session, mut headers, body, wait: _ } = call;
        let unfit = |_| Error::Setting { what: "a header of the request" };
        headers.extend(media.map(|media| (CONTENT_TYPE, HeaderValue::from_static(media))));
        for (name, value) in [(SIGNATURE, signature), (IDEMPOTENCY_KEY, idempotency_key), (SESSION, session)] {
            headers.extend(value.map(HeaderValue::try_from).transpose().map_err(unfit)?.map(|v| (name, v)));
        }
        self.request(method, &path, headers, UnsyncBoxBody::new(Full::new(body))).await
    }

    /// Asks with a body that may still be growing; the answer's body is read by the caller.
    pub(crate) async fn request(
        &self,
        method: Method,
        path: &str,
        headers: HeaderMap,
        body: Body,
    ) -> Result<Response<Incoming>, Error> {
        let unfit = |_| Error::Setting { what: "the path of the request" };
        let mut request =
            Request::builder().method(method).uri(format!("{}{path}", self.address.base)).body(body).map_err(unfit)?;
        request.headers_mut().extend(headers);
        request.headers_mut().extend(self.token.clone().map(|token| (AUTHORIZATION, token)));
        self.pool.request(request).await.map_err(|why| self.lost(Box::new(why)))
    }

    /// The exchange is not there.
    pub(crate) fn lost(&self, why: Box<dyn std::error::Error + Send + Sync>) -> Error {
        Error::Unreachable { url: self.address.base.clone(), source: why }
    }
}

/// A text as one part of a path or a query.
pub fn encoded(part: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    let encode = |byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    part.bytes().map(encode).collect::<Vec<_>>().concat()
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn an_id_is_one_part_of_a_path() {
        assert_eq!(encoded("agent://h/é"), "agent%3A%2F%2Fh%2F%C3%A9");
    }
}
