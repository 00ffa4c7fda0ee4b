//! How much may come from where. Plain requests are not counted: a signed message needs no token, so they
//! may be anybody's. What is counted is failing, and who fails too often is answered before anything more
//! of theirs is read. A token that is known always gets through, and
//! so does whoever is signed in.

use crate::caller::bearer;
use crate::guest::Guest;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::settings::Limits;
use crate::shared::Shared;
use crate::ws::offered_token;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;
use legation_engine::Limiter;
use legation_protocol::Code;
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
    limited: AtomicU64,
}

impl Sources {
    pub(crate) fn new(limits: &Limits) -> Sources {
        let (failures, registrations) = (Limiter::new(limits.failures), Limiter::new(limits.registrations));
        Sources { failures, registrations, limited: AtomicU64::new(0) }
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
    request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    if let Err(refusal) = shared.sources.may_fail(&guest)
        && guest.session.is_none()
        && !is_known(&shared, request.headers())
    {
        return Err(refusal);
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

fn is_known(shared: &Shared, headers: &HeaderMap) -> bool {
    let token = match Header::of(headers, &AUTHORIZATION) {
        Header::Once(text) => bearer(text),
        Header::Absent => offered_token(headers),
        Header::Unclear => None,
    };
    token.is_some_and(|token| shared.exchange.who(token).is_ok())
}

fn is_registration(request: &Request) -> bool {
    let path = request.extensions().get::<MatchedPath>().map(MatchedPath::as_str);
    request.method() == Method::PUT && path == Some("/v1/agents/{id}")
}
