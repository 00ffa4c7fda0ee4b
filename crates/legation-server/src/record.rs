//! Where the record stands, and the key that says so. Both are for everybody: who keeps them can tell
//! later whether the record was changed.

use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use std::sync::Arc;

#[derive(Serialize)]
struct Head {
    size: u64,
    chain: String,
    checkpoint: Option<Box<RawValue>>,
}

/// `GET /v1/audit/head`
pub(crate) async fn head(State(shared): State<Arc<Shared>>) -> Response {
    let head = shared.exchange.head();
    let checkpoint = head.checkpoint.and_then(|signed| RawValue::from_string(signed.to_json()).ok());
    Json(Head { size: head.size, chain: head.chain.to_string(), checkpoint }).into_response()
}

#[derive(Serialize)]
struct Keys {
    keys: [Key; 1],
}

#[derive(Serialize)]
struct Key {
    public: String,
    state: &'static str,
}

/// `GET /.well-known/legation/keys`
pub(crate) async fn keys(State(shared): State<Arc<Shared>>) -> Response {
    let public = shared.exchange.public_key().to_string();
    Json(Keys { keys: [Key { public, state: "ACTIVE" }] }).into_response()
}
