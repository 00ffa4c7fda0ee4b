//! The guarded client: one post, within bounded time, to where it may go, with no redirect followed.

use crate::allow::Allow;
use crate::connect::{Connector, Guard, NoWay};
use crate::resolve::{Resolve, System};
use crate::target::{Host, Target};
use crate::tls::Tls;
use bytes::Bytes;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::Body;
use hyper::header::{CONTENT_TYPE, HeaderMap, HeaderValue, RETRY_AFTER, USER_AGENT};
use hyper::{Method, Request};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use legation_engine::{Asking, Carrier, Parcel, Posting, Reach, Reply};
use legation_exchange::{Lost, Outcome};
use legation_protocol::{Code, Rejection};
use std::error::Error as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// How long a post may take, from looking up the name to the head of the answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// How long the rest of an answer is read, after its head has said what became of the post.
const REST: Duration = Duration::from_secs(1);
/// How much of an answer is read.
const ANSWER: usize = 64 << 10;
/// How long a connection is kept that nothing goes over, and how many of them there are to one place.
const IDLE: Duration = Duration::from_secs(30);
const KEPT: usize = 16;
const AGENT: &str = concat!("legation/", env!("CARGO_PKG_VERSION"));

/// What a courier needs to know.
#[derive(Clone, Debug)]
pub struct Options {
    /// What may be sent to although it is not public.
    pub allow: Vec<Allow>,
    /// A PEM file of authorities to trust beside the system's.
    pub authorities: Option<PathBuf>,
    /// Who knows the addresses of names.
    pub resolver: Arc<dyn Resolve>,
    /// In which section of the configuration `allow` stands, to tell whoever is refused.
    pub section: &'static str,
}

impl Default for Options {
    fn default() -> Self {
        Options { allow: Vec::new(), authorities: None, resolver: Arc::new(System), section: "push" }
    }
}

/// Our own faults.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file of authorities that holds none.
    #[error("{} holds no certificates in PEM form", path.display())]
    Authorities {
        /// Which.
        path: PathBuf,
    },
}

/// Brings bytes out.
#[derive(Clone, Debug)]
pub struct Courier {
    client: Client<Connector, Full<Bytes>>,
    guard: Arc<Guard>,
    section: &'static str,
}

impl Courier {
    /// A courier with connections of its own. It opens none before there is something to bring.
    pub fn new(options: Options) -> Result<Courier, Error> {
        let Options { allow, authorities, resolver, section } = options;
        let guard = Arc::new(Guard { allow, resolver, tls: Tls::new(authorities.as_deref())? });
        Ok(Courier { client: client(&guard), guard, section })
    }

    /// A client that goes where this courier may, with bodies and connections of its own.
    pub(crate) fn client_for<B: Body + Send>(&self) -> Client<Connector, B>
    where
        B::Data: Send,
    {
        client(&self.guard)
    }

    fn judge(&self, target: &Target) -> Result<Reach, Rejection> {
        let reach = if target.host.is_near() { Reach::Near } else { Reach::Far };
        let named = self.guard.allow.iter().any(|allow| allow.names(&target.host, target.port));
        let is_let = match &target.host {
            Host::Ip(address) => self.guard.lets(&target.host, *address, target.port),
            // What this name leads to is known; of others it is known when they are used.
            Host::Name(_) => reach == Reach::Far || named,
        };
        if is_let {
            return Ok(reach);
        }
        let place = target.place();
        let message = format!(
            "{place} is no public address; an operator allows it by `allow = [\"{place}\"]` in the section [{}] \
             of the configuration",
            self.section
        );
        Err(Rejection::because(Code::UrlForbidden, message))
    }
}

impl Carrier for Courier {
    fn check(&self, url: &str) -> Result<Reach, Rejection> {
        let wrong = |why| Rejection::because(Code::UrlForbidden, format!("this URL is not sent to: {why}"));
        self.judge(&Target::parse(url).map_err(wrong)?)
    }

    fn post(&self, url: &str, parcel: Parcel) -> Posting {
        let forbidden = Reply { outcome: Outcome::Lost(Lost::Forbidden), retry_after: None };
        // A configuration may have changed since the address was taken.
        let target = Target::parse(url).ok().filter(|target| self.judge(target).is_ok());
        let Some(request) = target.and_then(|target| request(&target, parcel)) else {
            return Box::pin(async move { forbidden });
        };
        let client = self.client.clone();
        Box::pin(posted(client, request))
    }

    fn ask(&self, url: &str, parcel: Parcel, within: Duration) -> Asking {
        let target = Target::parse(url).ok().filter(|target| self.judge(target).is_ok());
        let Some(request) = target.and_then(|target| request(&target, parcel)) else {
            return Box::pin(async move { Err(Outcome::Lost(Lost::Forbidden)) });
        };
        let client = self.client.clone();
        Box::pin(async move {
            let answered = tokio::time::timeout(within, answered(client, request)).await;
            answered.unwrap_or(Err(Outcome::Lost(Lost::Timeout)))
        })
    }
}

fn client<B: Body + Send>(guard: &Arc<Guard>) -> Client<Connector, B>
where
    B::Data: Send,
{
    Client::builder(TokioExecutor::new())
        .pool_idle_timeout(IDLE)
        .pool_max_idle_per_host(KEPT)
        .pool_timer(TokioTimer::new())
        .build(Connector(Arc::clone(guard)))
}

fn request(target: &Target, parcel: Parcel) -> Option<Request<Full<Bytes>>> {
    let Parcel { headers, body } = parcel;
    let mut request = Request::builder()
        .method(Method::POST)
        .uri(target.uri.clone())
        .header(CONTENT_TYPE, HeaderValue::from_static("application/json; charset=utf-8"))
        .header(USER_AGENT, HeaderValue::from_static(AGENT));
    for (name, value) in headers {
        request = request.header(name, value);
    }
    request.body(Full::new(Bytes::from_owner(body))).ok()
}

async fn posted(client: Client<Connector, Full<Bytes>>, request: Request<Full<Bytes>>) -> Reply {
    match tokio::time::timeout(TIMEOUT, client.request(request)).await {
        Ok(Ok(response)) => {
            let (head, body) = response.into_parts();
            // An answer that is read to its end leaves the connection for the next post. What it says is of
            // no interest, and one that goes on for too long is cut.
            drop(tokio::time::timeout(REST, Limited::new(body, ANSWER).collect()).await);
            Reply { outcome: Outcome::Status(head.status.as_u16()), retry_after: retry_after(&head.headers) }
        }
        Ok(Err(error)) => Reply { outcome: lost(&error), retry_after: None },
        Err(_) => Reply { outcome: Outcome::Lost(Lost::Timeout), retry_after: None },
    }
}

async fn answered(client: Client<Connector, Full<Bytes>>, request: Request<Full<Bytes>>) -> Result<Box<[u8]>, Outcome> {
    let response = client.request(request).await.map_err(|error| lost(&error))?;
    let (status, body) = (response.status(), response.into_body());
    let body = Limited::new(body, ANSWER).collect().await;
    match body.map(http_body_util::Collected::to_bytes) {
        Ok(bytes) if status.is_success() => Ok(bytes.as_ref().into()),
        Ok(_) => Err(Outcome::Status(status.as_u16())),
        Err(_) => Err(Outcome::Lost(Lost::Broken)),
    }
}

fn lost(error: &hyper_util::client::legacy::Error) -> Outcome {
    let no_way = error.source().and_then(|cause| cause.downcast_ref::<NoWay>());
    Outcome::Lost(no_way.map_or(Lost::Broken, |no| no.0))
}

/// Seconds; a date is left to those who can wait so long.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    headers.get(RETRY_AFTER)?.to_str().ok()?.trim().parse().ok().map(Duration::from_secs)
}
