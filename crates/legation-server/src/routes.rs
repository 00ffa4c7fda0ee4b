//! Which path leads where, and what every request passes on its way.

use crate::door::Door;
use crate::gate::{gate, is_own_name};
use crate::guest::Guest;
use crate::handshake::{self, door as hello};
use crate::header::Header;
use crate::limits::limit;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::traces::Trace;
use crate::visits::Visit;
use crate::{
    agents, alerts, backup, collisions, console, constraints, conversations, dead_letters, demo, entries, erase,
    escalations, evidence, extensions, feed, halts, health, identities, inbox, keys, leftover, mcp, memory, message,
    messages, metrics, openapi, paced, page, people, record, reviews, revocations, search, signin, storage, stream,
    talks, tasks, tools, truth, unread, ws,
};
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, HOST, STRICT_TRANSPORT_SECURITY, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state, map_request};
use axum::response::Response;
use axum::routing::any;
use axum::{Extension, Router};
use legation_protocol::Code;
use std::sync::Arc;
use tracing::Instrument as _;

/// Every way in. `openapi` describes each of them.
pub(crate) fn doors() -> Vec<Door> {
    vec![
        Door::get("/", page::home),
        Door::get("/style.css", page::style),
        Door::get("/assets/{file}", console::asset),
        Door::get("/signin", signin::ask),
        Door::post("/signin", signin::enter),
        Door::post("/signout", signin::leave),
        Door::post("/v1/signin-links", signin::link),
        Door::get("/v1/session", signin::session),
        Door::post("/.well-known/vcp/messages", messages::vcp),
        Door::get("/.well-known/legation/keys", record::keys),
        Door::get("/.well-known/legation/revocations", revocations::list),
        Door::get("/vcp/ws", ws::open),
        Door::post("/mcp", mcp::enter),
        Door::get("/mcp", mcp::enter),
        Door::delete("/mcp", mcp::enter),
        Door::post("/v1/hello", hello::post),
        Door::get("/v1/hello", hello::get),
        Door::delete("/v1/hello", hello::delete),
        Door::get("/v1/extensions/{name}", hello::extension),
        Door::get("/v1/extensions", extensions::list),
        Door::get("/v1/extensions/{name}/{operation}", extensions::look),
        Door::post("/v1/extensions/{name}/{operation}", extensions::call),
        Door::post("/v1/messages", messages::any),
        Door::get("/v1/messages", search::list),
        Door::get("/v1/messages/{key}", message::get),
        Door::get("/v1/messages/{key}/raw", message::raw),
        Door::get("/v1/messages/{key}/explain", message::explain),
        Door::get("/v1/memory", memory::list),
        Door::get("/v1/messages/{key}/truth", truth::get),
        Door::get("/v1/sessions", talks::list),
        Door::get("/v1/sessions/{id}", talks::get),
        Door::get("/v1/sessions/{id}/evidence", halts::get),
        Door::post("/v1/sessions/{id}/release", talks::release),
        Door::get("/v1/agents", agents::list),
        Door::put("/v1/agents/{id}", agents::put),
        Door::get("/v1/agents/{id}", agents::get),
        Door::delete("/v1/agents/{id}", agents::delete),
        Door::get("/v1/agents/{id}/inbox", inbox::list),
        Door::get("/v1/agents/{id}/stream", stream::open),
        Door::post("/v1/agents/{id}/ack", inbox::acknowledge),
        Door::post("/v1/agents/{id}/purge", inbox::purge),
        Door::post("/v1/agents/{id}/resend", dead_letters::resend),
        Door::get("/v1/agents/{id}/keys", keys::list),
        Door::post("/v1/agents/{id}/keys", keys::add),
        Door::post("/v1/agents/{id}/keys/{key}", keys::change),
        Door::get("/v1/agents/{id}/keys/{key}/staple", revocations::of_key),
        Door::get("/v1/conversations", conversations::list),
        Door::get("/v1/conversations/{key}", conversations::get),
        Door::post("/v1/agents/{id}/suspend", escalations::suspend),
        Door::post("/v1/agents/{id}/resume", escalations::resume),
        Door::post("/v1/suspend-all", escalations::suspend_all),
        Door::post("/v1/resume-all", escalations::resume_all),
        Door::get("/v1/escalations", escalations::list),
        Door::post("/v1/escalations/{id}/ack", escalations::acknowledge),
        Door::get("/v1/dead-letters", dead_letters::list),
        Door::get("/v1/constraints", constraints::list),
        Door::post("/v1/constraints", constraints::set),
        Door::get("/v1/tasks", tasks::list),
        Door::get("/v1/tasks/{id}", tasks::get),
        Door::post("/v1/tasks/{id}/retry", tasks::retry),
        Door::post("/v1/tasks/{id}/reassign", tasks::reassign),
        Door::post("/v1/tasks/{id}/escalate", tasks::escalate),
        Door::get("/v1/tools", tools::list),
        Door::post("/v1/tools/call", tools::call),
        Door::get("/v1/tools/calls", tools::calls),
        Door::get("/v1/tools/calls/{position}", tools::one_call),
        Door::get("/v1/reviews", reviews::list),
        Door::get("/v1/reviews/{id}", reviews::get),
        Door::post("/v1/reviews/{id}", reviews::decide),
        Door::get("/v1/reviews/{id}/evidence", evidence::get),
        Door::get("/v1/decisions", evidence::list),
        Door::get("/v1/tokens", people::list),
        Door::put("/v1/tokens/{name}", people::put),
        Door::delete("/v1/tokens/{name}", people::delete),
        Door::get("/v1/names/collisions", collisions::list),
        Door::get("/v1/identities", identities::list),
        Door::post("/v1/identities", identities::issue),
        Door::post("/v1/identities/revoke", identities::revoke),
        Door::get("/v1/identities/{hash}/staple", revocations::of_identity),
        Door::get("/v1/audit/head", record::head),
        Door::get("/v1/audit/checkpoints", record::checkpoints),
        Door::get("/v1/audit/entries", entries::list),
        Door::get("/v1/audit/proof", record::proof),
        Door::get("/v1/audit/consistency", record::consistency),
        Door::get("/v1/alerts", alerts::list),
        Door::get("/v1/feed", feed::open),
        Door::get("/v1/feed/reviews", feed::reviews::open),
        Door::get("/v1/demo", demo::get),
        Door::post("/v1/demo", demo::play),
        Door::get("/v1/erase", erase::state),
        Door::post("/v1/erase", erase::erase),
        Door::post("/v1/backup", backup::take),
        Door::get("/v1/storage", storage::get),
        Door::post("/v1/storage/rotate", storage::rotate),
        Door::get("/healthz", health::alive),
        Door::get("/readyz", health::ready),
        Door::get("/metrics", metrics::metrics),
        Door::get("/openapi.json", openapi::get),
    ]
}

/// All doors, and nothing before them.
fn wall() -> Router<Arc<Shared>> {
    doors().into_iter().fold(Router::new(), |wall, door| door.into_wall(wall))
}

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let desk = mcp::Desk::open(&shared, wall().with_state(Arc::clone(&shared)));
    wall()
        .route("/mcp/", any(mcp::enter))
        .layer(Extension(desk))
        .fallback(async || Refusal::because(Code::NotFound, "there is nothing at this path"))
        .method_not_allowed_fallback(async || {
            let refusal = Refusal::because(Code::NotFound, "this path takes another method");
            refusal.with_status(StatusCode::METHOD_NOT_ALLOWED)
        })
        .layer(from_fn_with_state(Arc::clone(&shared), handshake::recognise))
        .layer(from_fn_with_state(Arc::clone(&shared), limit))
        .layer(from_fn_with_state(Arc::clone(&shared), gate))
        .layer(map_request(leftover::kept))
        .layer(from_fn_with_state(Arc::clone(&shared), trace))
        .with_state(shared)
}

/// For a year browsers come over https alone.
const HTTPS_ALONE: HeaderValue = HeaderValue::from_static("max-age=31536000");

/// One span a request, in the trace it belongs to. The route as it is written here, never the path or
/// anything that was sent.
async fn trace(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str);
    let (trace, looked) = (Trace::of(request.headers()), request.method().is_safe());
    let (method, status) = (request.method(), tracing::field::Empty);
    let span = tracing::info_span!("request", %method, route, status, trace = trace.id());
    let visit = request.extensions_mut().remove::<Arc<Visit>>();
    let mut guest = Guest::of(visit, request.headers(), &shared.settings().proxy, trace);
    guest.recognise(request.headers(), &shared);
    request = paced::paced(&guest, &shared.settings().limits, request);
    request.extensions_mut().insert(guest.clone());
    let named = matches!(Header::of(request.headers(), &HOST), Header::Once(host) if !is_own_name(host));
    let mut response = next.run(request).instrument(span.clone()).await;
    shared.note_answer(&guest, looked, &mut response).await;
    let mut response = unread::counted(&shared, &guest, looked, response);
    trace.tell(response.headers_mut());
    // Answers hold tokens and messages: no cache on the way may keep them, unless they say otherwise.
    response.headers_mut().entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response.headers_mut().insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if guest.source.secure && named {
        response.headers_mut().insert(STRICT_TRANSPORT_SECURITY, HTTPS_ALONE);
    }
    shared.answers.count(response.status());
    span.record("status", response.status().as_u16());
    tracing::debug!(parent: &span, "answered");
    response
}
