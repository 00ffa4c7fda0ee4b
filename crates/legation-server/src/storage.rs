//! How the record is stored, and with which keys. The keys themselves are shown to nobody.

use crate::body;
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use legation_engine::{KeyInUse, Retention, Rewriting, Storage};
use legation_exchange::Verdict;
use serde::Serialize;
use std::sync::Arc;

#[derive(Serialize)]
struct Stored {
    format: u32,
    bytes: u64,
    keys: Vec<Key>,
    open_segments: u64,
    rewriting: Option<Progress>,
    retention: Retained,
}

/// How long texts are kept, and what is known of them.
#[derive(Serialize)]
struct Retained {
    bodies_for_seconds: Option<u64>,
    size: Option<u64>,
    bytes: Option<u64>,
    dropped_before: u64,
}

#[derive(Serialize)]
struct Key {
    id: u32,
    created: String,
    segments: u64,
    newest: bool,
}

#[derive(Serialize)]
struct Progress {
    done: u64,
    of: u64,
}

impl Stored {
    fn of(storage: Storage, (setting, kept): (Retention, legation_engine::Retained)) -> Stored {
        let Storage { format, bytes, keys, open, rewriting } = storage;
        let key =
            |KeyInUse { id, created, segments, newest }| Key { id, created: created.to_string(), segments, newest };
        let rewriting = rewriting.map(|Rewriting { done, of }| Progress { done, of });
        let retention = Retained {
            bodies_for_seconds: setting.bodies_for.map(|span| span.as_secs()),
            size: setting.size,
            bytes: kept.bytes,
            dropped_before: kept.dropped_before,
        };
        let keys = keys.into_iter().map(key).collect();
        Stored { format, bytes, keys, open_segments: open, rewriting, retention }
    }
}

/// `GET /v1/storage`
pub(crate) async fn get(State(shared): State<Arc<Shared>>, caller: Caller) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    Ok(Json(Stored::of(shared.exchange.storage().await?, shared.exchange.retention())).into_response())
}

#[derive(Serialize)]
struct Rotated {
    key: String,
    position: u64,
}

/// `POST /v1/storage/rotate`
pub(crate) async fn rotate(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    body::nothing(&headers, body).await?;
    let exchange = shared.exchange.clone();
    match shared.apart(async move { exchange.rotate_key(caller.0).await }).await? {
        Verdict::Accepted { position, id, .. }
        | Verdict::Held { position, id, .. }
        | Verdict::Duplicate { position, id } => {
            Ok((StatusCode::ACCEPTED, Json(Rotated { key: id, position })).into_response())
        }
        Verdict::Refused(rejection) => Err(Refusal::recorded(rejection)),
    }
}
