//! The Model Context Protocol: a model's host comes in here as an agent, or as the person before it, by one
//! entry in its configuration. Nothing is decided here: a tool asks one of the other doors from within, with
//! the token the host came with, so what is checked and written there is checked and written here.

mod ask;
mod edge;
mod greeting;
mod host;
mod prompts;
mod remedy;
mod resources;
mod sessions;
mod straight;
mod tools;
mod watching;

use crate::body;
use crate::caller::{Caller, bearer};
use crate::guest::Guest;
use crate::header::Header;
use crate::media::Media;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use edge::Inward;
use greeting::{Greeting, Remembered};
use host::Host;
use legation_engine::Token;
use legation_exchange::{TokenHash, Who};
use legation_protocol::Code;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use sessions::Sessions;
use std::sync::Arc;
use tokio::time::Instant;
use tools::Tool;

/// Most bytes of a request: the largest message, and what stands around it.
const MOST: usize = 384 << 10;

/// Where hosts are served.
pub(crate) struct Desk {
    shared: Arc<Shared>,
    /// The other doors.
    wall: Router,
    sessions: Sessions,
    remembered: Remembered,
    service: StreamableHttpService<Host, LocalSessionManager>,
}

/// Who asks and what was agreed on, as the door found it. It travels with the request to where that is answered.
#[derive(Clone, Debug)]
struct Bearer {
    who: Who,
    greeting: Greeting,
}

impl Desk {
    pub(crate) fn open(shared: &Arc<Shared>, wall: Router) -> Arc<Desk> {
        let (shared, sessions) = (Arc::clone(shared), Sessions::default());
        // Hosts and origins were looked at by the gate, before anything was read.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_sse_retry(None)
            .with_json_response(true)
            .with_max_request_body_bytes(MOST)
            .with_cancellation_token(shared.stopping.child_token());
        let desk = Arc::new_cyclic(|desk| {
            // A session may outlast the server, and must not keep it.
            let desk = desk.clone();
            let host = move || Ok(Host::at(desk.clone()));
            let service = StreamableHttpService::new(host, Arc::clone(sessions.manager()), config);
            Desk { shared, wall, sessions, remembered: Remembered::default(), service }
        });
        // A second desk of the same exchange would be counted as the first.
        drop(desk.shared.handshakes.hosts.set(Arc::downgrade(&desk)));
        desk
    }

    /// How many agreements with hosts hold.
    pub(crate) fn negotiated(&self, now: Instant) -> usize {
        self.sessions.negotiated() + self.remembered.count(now, self.shared.handshakes.standing())
    }

    async fn serve(&self, owner: TokenHash, who: Who, mut parts: Parts, body: Body) -> Result<Response, Refusal> {
        let session = self.sessions.of(&parts.headers, owner)?;
        let mut opener = None;
        let Inward { bytes, opens, hello, straight } = read(&parts, body, session.is_some()).await?;
        let guest = parts.extensions.get::<Guest>().cloned().ok_or_else(sessions::none)?;
        let straight = straight.filter(|straight| straight.is_announced(&parts.headers, session.is_some()));
        let straight = if self.sessions.are_open(&parts.headers).await { straight } else { None };
        let greeting = match session {
            Some(_) if opens => return Err(again()),
            Some(greeting) => greeting,
            None if opens => {
                let family = self.shared.quota_family(&guest, &who);
                self.sessions.has_room(owner, &family, &self.shared.settings().limits).await?;
                opener = Some(family);
                self.greet(&guest, &who, hello.as_deref()).await
            }
            None => self.greet_again(&guest, &who, owner, hello.as_deref()).await,
        };
        self.must_hold(&greeting, &parts.headers).await?;
        let straight = straight.filter(|_| !greeting.is_refused() && Tool::Send.is_for(&who));
        parts.extensions.insert(Bearer { who, greeting: greeting.clone() });
        if let Some(straight) = straight {
            return Ok(self.send_straight(&parts, straight).await);
        }
        let ends = parts.method == Method::DELETE;
        let headers = parts.headers.clone();
        let response = self.service.handle(Request::from_parts(parts, Body::from(bytes))).await.map(Body::new);
        if response.status().is_server_error() {
            // It may have ended while it was asked.
            self.must_hold(&greeting, &headers).await?;
        }
        if ends && response.status().is_success() {
            // Some clients take 202 for a failure.
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
        let response = in_our_words(response)?;
        let Some(family) = opener else { return Ok(response) };
        self.sessions.opened(response.headers(), (owner, family), greeting);
        edge::outward(response).await
    }
}

/// What the library refuses in plain text is refused like everything else; what is said in MCP stays.
fn in_our_words(response: Response) -> Result<Response, Refusal> {
    let status = response.status();
    let media = response.headers().get(CONTENT_TYPE).and_then(|media| media.to_str().ok()).unwrap_or_default();
    if !(status.is_client_error() || status.is_server_error()) || media.starts_with("application/json") {
        return Ok(response);
    }
    let (code, message) = match status {
        StatusCode::NOT_ACCEPTABLE => {
            (Code::UnsupportedMediaType, "write `Accept: application/json, text/event-stream`; a GET takes the second")
        }
        StatusCode::NOT_FOUND => return Err(sessions::none()),
        StatusCode::PAYLOAD_TOO_LARGE => (Code::TooLarge, "a message of MCP is not as large as this"),
        StatusCode::FORBIDDEN => (Code::ForbiddenOrigin, "this host or origin is not allowed here"),
        _ if status.is_server_error() => (Code::Busy, "this could not be answered: try again"),
        _ => (Code::SchemaInvalid, "this is no message that MCP has here"),
    };
    Err(Refusal::because(code, message).with_status(status))
}

/// Only what is posted has a body; the rest is about a session.
async fn read(parts: &Parts, body: Body, has_session: bool) -> Result<Inward, Refusal> {
    if parts.method == Method::POST {
        Media::json(&parts.headers)?;
        return edge::inward(body::within(body, MOST).await?);
    }
    let nothing = Inward { bytes: Bytes::new(), opens: false, hello: None, straight: None };
    has_session.then_some(nothing).ok_or_else(sessions::none)
}

fn again() -> Refusal {
    Refusal::because(Code::SchemaInvalid, "this session is negotiated: leave its id out to begin another")
}

/// `/mcp`, by any of its methods. Only a bearer gets in: what a browser sends of itself opens nothing here.
pub(crate) async fn enter(
    Extension(desk): Extension<Arc<Desk>>,
    caller: Caller,
    request: Request,
) -> Result<Response, Refusal> {
    let owner = owner(request.headers())?;
    caller.must_be_somebody()?;
    let (parts, body) = request.into_parts();
    desk.serve(owner, caller.0, parts, body).await
}

fn owner(headers: &HeaderMap) -> Result<TokenHash, Refusal> {
    let token = match Header::of(headers, &AUTHORIZATION) {
        Header::Once(text) => bearer(text),
        Header::Absent | Header::Unclear => None,
    };
    let none =
        || Refusal::because(Code::Unauthenticated, "write `Authorization: Bearer …`: an agent's token, or yours");
    token.map(Token::hash_of).ok_or_else(none)
}
