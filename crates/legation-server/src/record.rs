//! Where the record stands, the key that says so, and proofs: for everybody, since who keeps them can
//! tell later whether the record was changed, and they show nothing of what it says.

use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::extract::State;
use axum::http::Uri;
use axum::response::{IntoResponse, Response};
use legation_engine::{Consistency, Inclusion};
use legation_exchange::Epoch;
use legation_exchange::record::{Hash, SignedCheckpoint};
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::sync::Arc;

#[derive(Serialize)]
struct Head {
    size: u64,
    chain: String,
    /// All of them; with one, the record was never restored.
    epochs: Vec<Epoch>,
    checkpoint: Option<Box<RawValue>>,
}

/// `GET /v1/audit/head`
pub(crate) async fn head(State(shared): State<Arc<Shared>>) -> Response {
    let head = shared.exchange.head();
    let checkpoint = head.checkpoint.as_ref().and_then(raw);
    let epochs = shared.exchange.epochs();
    Json(Head { size: head.size, chain: head.chain.to_string(), epochs, checkpoint }).into_response()
}

#[derive(Serialize)]
struct Stated {
    checkpoints: Vec<Box<RawValue>>,
}

/// `GET /v1/audit/checkpoints`
pub(crate) async fn checkpoints(State(shared): State<Arc<Shared>>) -> Response {
    let checkpoints = shared.exchange.checkpoints().iter().filter_map(raw).collect();
    Json(Stated { checkpoints }).into_response()
}

fn raw(checkpoint: &SignedCheckpoint) -> Option<Box<RawValue>> {
    RawValue::from_string(checkpoint.to_json()).ok()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    position: u64,
    size: Option<u64>,
}

#[derive(Serialize)]
struct Proven {
    position: u64,
    size: u64,
    leaf: Hash,
    path: Vec<Hash>,
    root: Hash,
    /// The newest checkpoint, where the proof leads to its root.
    checkpoint: Option<Box<RawValue>>,
}

/// `GET /v1/audit/proof`
pub(crate) async fn proof(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Refusal> {
    let Place { position, size } = query(&uri)?;
    let checkpoint = match size {
        Some(_) => shared.exchange.head().checkpoint,
        None => shared.exchange.stated_with(position).await,
    };
    let size = or_stated(size, checkpoint.as_ref())?;
    let Some(Inclusion { leaf, path, root }) = shared.exchange.inclusion(position, size)? else {
        let message = format!("position {position} is not among the first {size} entries, or there are not so many");
        return Err(Refusal::because(Code::NotFound, message));
    };
    let checkpoint = checkpoint.filter(|signed| signed.unverified().size == size).as_ref().and_then(raw);
    Ok(Json(Proven { position, size, leaf, path, root, checkpoint }).into_response())
}

/// The size asked for, or the newest checkpoint's.
fn or_stated(size: Option<u64>, checkpoint: Option<&SignedCheckpoint>) -> Result<u64, Refusal> {
    let size = size.or_else(|| checkpoint.map(|signed| signed.unverified().size));
    size.ok_or_else(|| Refusal::because(Code::NotFound, "no checkpoint is signed yet; name a size, or ask again soon"))
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Span {
    from: u64,
    to: Option<u64>,
}

#[derive(Serialize)]
struct Grown {
    from: u64,
    to: u64,
    from_root: Hash,
    to_root: Hash,
    proof: Vec<Hash>,
    /// The newest checkpoint, where the proof leads to its root.
    checkpoint: Option<Box<RawValue>>,
}

/// `GET /v1/audit/consistency`
pub(crate) async fn consistency(State(shared): State<Arc<Shared>>, uri: Uri) -> Result<Response, Refusal> {
    let Span { from, to } = query(&uri)?;
    let checkpoint = shared.exchange.head().checkpoint;
    let to = or_stated(to, checkpoint.as_ref())?;
    if from > to {
        return Err(Refusal::because(Code::OutOfRange, format!("from is at most to, and {from} is more than {to}")));
    }
    let Some(Consistency { from_root, to_root, proof }) = shared.exchange.consistency(from, to)? else {
        return Err(Refusal::because(Code::NotFound, format!("the record has not {to} entries yet")));
    };
    let checkpoint = checkpoint.filter(|signed| signed.unverified().size == to).as_ref().and_then(raw);
    Ok(Json(Grown { from, to, from_root, to_root, proof, checkpoint }).into_response())
}

#[derive(Serialize)]
struct Keys {
    realm: String,
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
    let realm = shared.exchange.realm().to_owned();
    Json(Keys { realm, keys: [Key { public, state: "ACTIVE" }] }).into_response()
}
