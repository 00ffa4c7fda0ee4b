//! Reading a body: never more of it than a message may have, and JSON only through the front door.

use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use futures_util::StreamExt as _;
use legation_protocol::json::{Doc, Kind, Limits};
use legation_protocol::{Code, Rejection};
use serde::de::DeserializeOwned;
use std::time::Duration;

const LIMIT: usize = Limits::MESSAGE.bytes;
/// How much of a body that is too large is read and thrown away, so that a client that writes before
/// it reads gets to see the answer.
const THROWN_AWAY: usize = 4 << 20;
const THROWN_AWAY_WITHIN: Duration = Duration::from_secs(5);

/// The whole body, unless it is larger than a message may be.
pub(crate) async fn whole(shared: &Shared, body: Body) -> Result<Bytes, Refusal> {
    let announced = body.size_hint().lower();
    let mut stream = body.into_data_stream();
    if announced > LIMIT as u64 {
        return Err(too_large(shared, stream));
    }
    let Some(first) = next(&mut stream).await? else { return Ok(Bytes::new()) };
    if first.len() as u64 == announced {
        return Ok(first);
    }
    let mut all = Vec::with_capacity(usize::try_from(announced).unwrap_or(0).max(first.len()));
    let mut more = Some(first);
    while let Some(chunk) = more {
        if all.len() + chunk.len() > LIMIT {
            return Err(too_large(shared, stream));
        }
        all.extend_from_slice(&chunk);
        more = next(&mut stream).await?;
    }
    Ok(all.into())
}

/// The next piece of a body; nothing at its end. A body that breaks off is no body.
pub(crate) async fn next(stream: &mut BodyDataStream) -> Result<Option<Bytes>, Refusal> {
    let chunk = stream.next().await.transpose();
    chunk.map_err(|_| Refusal::because(Code::BadJson, "the body broke off before its end"))
}

fn too_large(shared: &Shared, mut rest: BodyDataStream) -> Refusal {
    let throw_away = async move {
        let mut left = THROWN_AWAY;
        while let Some(Ok(chunk)) = rest.next().await {
            match left.checked_sub(chunk.len()) {
                Some(less) => left = less,
                None => break,
            }
        }
    };
    // Nobody waits for this, and the server's end does not either.
    let stopping = shared.stopping.clone();
    tokio::spawn(async move {
        let within = tokio::time::timeout(THROWN_AWAY_WITHIN, throw_away);
        tokio::select! { _ = within => {}, () = stopping.cancelled() => {} }
    });
    Refusal::because(Code::TooLarge, format!("a body has at most {LIMIT} bytes"))
}

/// Reads a JSON object that is not a message.
pub(crate) fn object<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Rejection> {
    let doc = Doc::parse(bytes)?;
    if doc.root().kind() != Kind::Object {
        let message = format!("this takes a JSON object, not {}", doc.root().kind().noun());
        return Err(Rejection::because(Code::NotAnObject, message).at(""));
    }
    serde_json::from_str(doc.text()).map_err(|error| Rejection::because(Code::SchemaInvalid, error.to_string()))
}
