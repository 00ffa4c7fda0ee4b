//! How much may come from where. Plain requests are not counted: a signed message needs no token, so they
//! may be anybody's. What is counted is failing, and who fails too often is answered before anything more
//! of theirs is read. A token that is known always gets through, and so does whoever is signed in; so do questions
//! about how the exchange is, and alarms that are signed: what a neighbour does must silence neither.

use crate::body;
use crate::caller::bearer;
use crate::guest::Guest;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::settings::Limits;
use crate::shared::Shared;
use crate::ws::offered_token;
use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use legation_engine::{Limiter, Rate};
use legation_exchange::rules::is_alarm;
use legation_protocol::{Code, Received};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// What is counted by source.
#[derive(Debug)]
pub(crate) struct Sources {
    failures: Limiter<IpAddr>,
    registrations: Limiter<IpAddr>,
    /// Alarms in vain of those who failed too often.
    alarms: Limiter<IpAddr>,
    limited: AtomicU64,
}

/// How many alarms of a source that has failed too often are refused in full though their signature is nobody's.
const ALARMS: Rate = Rate::per_second(20);
/// How long an alarm may take to come.
const AT_ONCE: Duration = Duration::from_secs(2);

impl Sources {
    pub(crate) fn new(limits: &Limits) -> Sources {
        let (failures, registrations) = (Limiter::new(limits.failures), Limiter::new(limits.registrations));
        Sources { failures, registrations, alarms: Limiter::new(Some(ALARMS)), limited: AtomicU64::new(0) }
    }

    /// Holds everybody to other limits from now on. What was counted stays.
    pub(crate) fn take_over(&self, limits: &Limits) {
        self.failures.set(limits.failures);
        self.registrations.set(limits.registrations);
    }

    /// Lets those through who have not failed too often.
    pub(crate) fn may_fail(&self, guest: &Guest) -> Result<(), Refusal> {
        let checked = self.failures.check(&guest.source.key(), Instant::now());
        checked.map_err(|wait| self.too_much(wait, "failed here"))
    }

    /// Somebody has failed.
    pub(crate) fn failed(&self, guest: &Guest) {
        // Who is over the limit already stays there.
        let _ = self.failures.take(&guest.source.key(), Instant::now());
    }

    fn may_register(&self, guest: &Guest) -> Result<(), Refusal> {
        let taken = self.registrations.take(&guest.source.key(), Instant::now());
        taken.map_err(|wait| self.too_much(wait, "registered agents"))
    }

    fn too_much(&self, wait: Duration, what: &str) -> Refusal {
        self.limited.fetch_add(1, Ordering::Relaxed);
        Refusal::because(Code::RateLimited, format!("somebody at your address has {what} too often")).after(wait)
    }

    /// How often somebody was told to wait.
    pub(crate) fn limited(&self) -> u64 {
        self.limited.load(Ordering::Relaxed)
    }
}

/// Turns away those who failed too often, and counts those who fail.
pub(crate) async fn limit(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    if let Err(refusal) = shared.sources.may_fail(&guest)
        && guest.session.is_none()
        && !is_known(&shared, request.headers())
        && !asks_how_it_is(&request)
    {
        request = alarm_of(&shared, &guest, request).await.ok_or(refusal)?;
    }
    if guest.anonymous && is_registration(&request) {
        shared.sources.may_register(&guest)?;
    }
    let response = next.run(request).await;
    let status = response.status();
    let in_vain = guest.anonymous && status.is_client_error() && status != StatusCode::TOO_MANY_REQUESTS;
    if in_vain || status == StatusCode::UNAUTHORIZED {
        shared.sources.failed(&guest);
    }
    Ok(response)
}

/// Doors at which whoever watches an exchange looks, and whoever checks what it signed.
const OPEN: [&str; 5] = ["/healthz", "/readyz", "/metrics", "/.well-known/legation/keys", "/v1/audit/head"];

fn asks_how_it_is(request: &Request) -> bool {
    request.method().is_safe() && path(request).is_some_and(|path| OPEN.contains(&path))
}

/// Where messages come in that need no token.
const MESSAGES: [&str; 2] = ["/.well-known/vcp/messages", "/v1/messages"];

/// The request again, if it brings an alarm that somebody signed. One that its sender did sign always gets through: what is
/// counted is what a neighbour cannot use up for it. Those that nobody signed find out so, as long as they are few.
async fn alarm_of(shared: &Shared, guest: &Guest, request: Request) -> Option<Request> {
    let is_message = request.method() == Method::POST && path(&request).is_some_and(|path| MESSAGES.contains(&path));
    if !is_message {
        return None;
    }
    let (parts, body) = request.into_parts();
    let bytes = tokio::time::timeout(AT_ONCE, body::whole(body)).await.ok()?.ok()?;
    let received = Received::read(bytes.as_ref()).ok()?;
    if received.signature().is_none() || !is_alarm(received.message()) {
        return None;
    }
    let may_fail = || shared.sources.alarms.take(&guest.source.key(), Instant::now()).is_ok();
    (shared.exchange.is_signed(&received) || may_fail()).then(|| Request::from_parts(parts, Body::from(bytes)))
}

fn path(request: &Request) -> Option<&str> {
    request.extensions().get::<MatchedPath>().map(MatchedPath::as_str)
}

fn is_known(shared: &Shared, headers: &HeaderMap) -> bool {
    let token = match Header::of(headers, &AUTHORIZATION) {
        Header::Once(text) => bearer(text),
        Header::Absent => offered_token(headers),
        Header::Unclear => None,
    };
    token.is_some_and(|token| shared.exchange.who(token).is_ok())
}

fn is_registration(request: &Request) -> bool {
    request.method() == Method::PUT && path(request) == Some("/v1/agents/{id}")
}
