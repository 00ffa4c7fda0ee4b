//! The door for people with a browser: links that sign in once, the form behind them, the session and its
//! end. A link only asks; what signs in is the button, so whoever looks at a link ahead does not use it up.

use crate::caller::Caller;
use crate::guest::Guest;
use crate::header::Header;
use crate::inbox::query;
use crate::page;
use crate::refusal::Refusal;
use crate::sessions::{CODE_TIME, SESSION_TIME, Subject};
use crate::shared::{Shared, since_1970};
use crate::{body, cookie};
use axum::body::Body;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::header::{HOST, SET_COOKIE};
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Form, Json};
use legation_engine::Token;
use legation_exchange::{Moment, Role, Who};
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tokio::time::Instant;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    name: Option<String>,
}

#[derive(Serialize)]
struct Link {
    url: String,
    expires_at: String,
}

/// `POST /v1/signin-links`
pub(crate) async fn link(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    guest: Guest,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    let by = caller.must_be_operator()?;
    let Wanted { name } = body::object(&headers, body).await?;
    let name = name.as_deref().unwrap_or(by);
    let unknown = || Refusal::because(Code::NotFound, "there is nobody of that name");
    let subject = Subject::named(&shared.exchange, name).ok_or_else(unknown)?;
    let code = Token::fresh()?;
    shared.sessions.offer(&code, subject, Instant::now());
    tracing::info!(by, name, "a sign-in link was made");
    let scheme = if guest.source.secure { "https" } else { "http" };
    // The gate lets nobody in who does not say it, once.
    let Header::Once(host) = Header::of(&headers, &HOST) else { return Err(unknown()) };
    let url = format!("{scheme}://{host}/signin?code={}", code.reveal());
    let now = Moment::from_micros(u64::try_from(since_1970().as_micros()).unwrap_or(u64::MAX));
    Ok((StatusCode::CREATED, Json(Link { url, expires_at: now.plus(CODE_TIME).to_string() })).into_response())
}

#[derive(Serialize)]
struct Session<'s> {
    name: &'s str,
    role: Role,
    #[serde(skip_serializing_if = "Option::is_none")]
    csrf: Option<&'s str>,
}

/// `GET /v1/session`
pub(crate) async fn session(guest: Guest, caller: Caller) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Who::Person { name, role } = &caller.0 else {
        return Err(Refusal::because(Code::NotAllowed, "this is for people, and an agent asks"));
    };
    let csrf = guest.session.as_ref().map(|session| session.csrf.reveal());
    Ok(Json(Session { name, role: *role, csrf }).into_response())
}

#[derive(Deserialize)]
struct Offered {
    code: Option<String>,
}

/// `GET /signin`
pub(crate) async fn ask(uri: Uri) -> Result<Response, Refusal> {
    let Offered { code } = query(&uri)?;
    Ok(code.map_or_else(|| Redirect::to("/").into_response(), |code| page::confirm(&code)))
}

/// What the form sends: one of the two.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Proof {
    code: Option<String>,
    token: Option<String>,
}

/// `POST /signin`
pub(crate) async fn enter(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    request: Request,
) -> Result<Response, Refusal> {
    must_be_ours(request.headers())?;
    let headers = request.headers().clone();
    let before = cookie::read(guest.source.secure, &headers);
    let now = Instant::now();
    let subject = match form(request).await? {
        Proof { code: Some(code), token: None } => shared.sessions.redeem(&code, now),
        Proof { code: None, token: Some(token) } => Subject::holding(&shared.exchange, &token),
        Proof { .. } => None,
    };
    let Some(subject) = subject.filter(|subject| subject.who(&shared.exchange).is_some()) else {
        return Ok(page::turned_away());
    };
    guest.prove();
    if let Some(before) = before {
        shared.sessions.end(before, now);
    }
    let secret = shared.sessions.open(subject, now)?;
    let set = cookie::set(guest.source.secure, &headers, &secret, SESSION_TIME);
    Ok(([(SET_COOKIE, set)], Redirect::to("/")).into_response())
}

/// `POST /signout`
pub(crate) async fn leave(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    must_be_ours(&headers)?;
    if let Some(secret) = cookie::read(guest.source.secure, &headers) {
        shared.sessions.end(secret, Instant::now());
    }
    Ok(([(SET_COOKIE, cookie::cleared(guest.source.secure, &headers))], Redirect::to("/")).into_response())
}

/// Forms come from our own pages. The gate has looked at the origin; this keeps out pages of other servers
/// on this machine too, where the browser tells.
fn must_be_ours(headers: &HeaderMap) -> Result<(), Refusal> {
    if crate::gate::is_from_elsewhere(headers) {
        return Err(Refusal::because(Code::ForbiddenOrigin, "this form is not on a page of this exchange"));
    }
    Ok(())
}

async fn form(request: Request) -> Result<Proof, Refusal> {
    let (parts, body) = request.into_parts();
    let whole = Request::from_parts(parts, Body::from(body::whole(body).await?));
    let read = Form::from_request(whole, &()).await;
    read.map(|Form(proof)| proof).map_err(|bad| match bad.status() {
        StatusCode::UNSUPPORTED_MEDIA_TYPE => Refusal::because(Code::UnsupportedMediaType, "this takes a form"),
        _ => Refusal::because(Code::SchemaInvalid, "the form has a `code` or a `token`, once"),
    })
}
