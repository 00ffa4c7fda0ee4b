//! Which path leads where, and what every request passes on its way.

use crate::gate::gate;
use crate::guest::Guest;
use crate::limits::limit;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::traces::Trace;
use crate::visits::Visit;
use crate::{
    agents, dead_letters, entries, health, inbox, keys, leftover, message, messages, metrics, people, record, search,
};
use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::header::CACHE_CONTROL;
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{Next, from_fn_with_state, map_request};
use axum::response::Response;
use axum::routing::{get, post, put};
use legation_protocol::Code;
use std::sync::Arc;
use tracing::Instrument as _;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let agent = put(agents::put).get(agents::get).delete(agents::delete);
    Router::new()
        .route("/.well-known/vcp/messages", post(messages::vcp))
        .route("/.well-known/legation/keys", get(record::keys))
        .route("/v1/messages", post(messages::any).get(search::list))
        .route("/v1/messages/{key}", get(message::get))
        .route("/v1/messages/{key}/raw", get(message::raw))
        .route("/v1/messages/{key}/explain", get(message::explain))
        .route("/v1/agents", get(agents::list))
        .route("/v1/agents/{id}", agent)
        .route("/v1/agents/{id}/inbox", get(inbox::list))
        .route("/v1/agents/{id}/ack", post(inbox::acknowledge))
        .route("/v1/agents/{id}/purge", post(inbox::purge))
        .route("/v1/agents/{id}/resend", post(dead_letters::resend))
        .route("/v1/agents/{id}/keys", get(keys::list).post(keys::add))
        .route("/v1/agents/{id}/keys/{key}", post(keys::change))
        .route("/v1/dead-letters", get(dead_letters::list))
        .route("/v1/tokens", get(people::list))
        .route("/v1/tokens/{name}", put(people::put).delete(people::delete))
        .route("/v1/audit/head", get(record::head))
        .route("/v1/audit/entries", get(entries::list))
        .route("/v1/audit/proof", get(record::proof))
        .route("/v1/audit/consistency", get(record::consistency))
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .route("/metrics", get(metrics::metrics))
        .fallback(async || Refusal::because(Code::NotFound, "there is nothing at this path"))
        .method_not_allowed_fallback(async || {
            let refusal = Refusal::because(Code::NotFound, "this path takes another method");
            refusal.with_status(StatusCode::METHOD_NOT_ALLOWED)
        })
        .layer(from_fn_with_state(Arc::clone(&shared), limit))
        .layer(from_fn_with_state(Arc::clone(&shared), gate))
        .layer(map_request(leftover::kept))
        .layer(from_fn_with_state(Arc::clone(&shared), trace))
        .with_state(shared)
}

/// One span a request, in the trace it belongs to. The route as it is written here, never the path or
/// anything that was sent.
async fn trace(State(shared): State<Arc<Shared>>, mut request: Request, next: Next) -> Response {
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str);
    let trace = Trace::of(request.headers());
    let (method, status) = (request.method(), tracing::field::Empty);
    let span = tracing::info_span!("request", %method, route, status, trace = trace.id());
    let visit = request.extensions_mut().remove::<Arc<Visit>>();
    let guest = Guest::of(visit, request.headers(), &shared.proxies, trace);
    request.extensions_mut().insert(guest);
    let mut response = next.run(request).instrument(span.clone()).await;
    trace.tell(response.headers_mut());
    // Answers hold tokens and messages: no cache on the way may keep them.
    response.headers_mut().insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    shared.answers.count(response.status());
    span.record("status", response.status().as_u16());
    tracing::debug!(parent: &span, "answered");
    response
}
