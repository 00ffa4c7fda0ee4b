//! Reading a body: never more of it than a message may have, and JSON only through the front door.

use crate::media::Media;
use crate::paced::TooSlow;
use crate::refusal::Refusal;
use axum::body::{Body, BodyDataStream, Bytes, HttpBody as _};
use axum::http::{HeaderMap, StatusCode};
use futures_util::StreamExt as _;
use legation_engine::members;
use legation_protocol::json::{Doc, Kind, Limits};
use legation_protocol::{Code, Rejection};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::time::Duration;

const LIMIT: usize = Limits::MESSAGE.bytes;
/// How long a body may take to come.
const PATIENCE: Duration = Duration::from_secs(30);

/// The whole body, unless it is larger than a message may be, or too slow in coming.
pub(crate) async fn whole(body: Body) -> Result<Bytes, Refusal> {
    within(body, LIMIT).await
}

/// The same with another limit.
pub(crate) async fn within(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    tokio::time::timeout(PATIENCE, collect(body, limit)).await.unwrap_or_else(|_| Err(too_slow()))
}

fn too_slow() -> Refusal {
    let refusal = Refusal::because(Code::BadJson, "the body did not come to its end in time");
    refusal.with_status(StatusCode::REQUEST_TIMEOUT)
}

async fn collect(body: Body, limit: usize) -> Result<Bytes, Refusal> {
    let announced = body.size_hint().lower();
    let mut stream = body.into_data_stream();
    if announced > limit as u64 {
        return Err(too_large(limit));
    }
    let Some(first) = next(&mut stream).await? else { return Ok(Bytes::new()) };
    if first.len() as u64 == announced {
        return Ok(first);
    }
    let mut all = Vec::with_capacity(usize::try_from(announced).unwrap_or(0).max(first.len()));
    let mut more = Some(first);
    while let Some(chunk) = more {
        if all.len() + chunk.len() > limit {
            return Err(too_large(limit));
        }
        all.extend_from_slice(&chunk);
        more = next(&mut stream).await?;
    }
    Ok(all.into())
}

/// The next piece of a body; nothing at its end. A body that breaks off is no body.
pub(crate) async fn next(stream: &mut BodyDataStream) -> Result<Option<Bytes>, Refusal> {
    let chunk = stream.next().await.transpose();
    chunk.map_err(|error| {
        if TooSlow::caused(&error) {
            too_slow()
        } else {
            Refusal::because(Code::BadJson, "the body broke off before its end")
        }
    })
}

fn too_large(limit: usize) -> Refusal {
    Refusal::because(Code::TooLarge, format!("a body has at most {limit} bytes"))
}

/// Reads a JSON object that is not a message.
pub(crate) async fn object<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T, Refusal> {
    Media::json(headers)?;
    let bytes = whole(body).await?;
    parsed(&bytes).map_err(|rejection| Refusal::from(rejection).about(&bytes))
}

/// The same where every member may be left out, and so the whole body too.
pub(crate) async fn object_or_nothing<T: DeserializeOwned>(headers: &HeaderMap, body: Body) -> Result<T, Refusal> {
    let bytes = whole(body).await?;
    if bytes.is_empty() {
        return Ok(parsed(b"{}")?);
    }
    Media::json(headers)?;
    parsed(&bytes).map_err(|rejection| Refusal::from(rejection).about(&bytes))
}

/// Makes sure that nothing is asked where there is nothing to ask: no body, or an object without members.
pub(crate) async fn nothing(headers: &HeaderMap, body: Body) -> Result<(), Refusal> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    let bytes = whole(body).await?;
    if bytes.is_empty() {
        return Ok(());
    }
    Media::json(headers)?;
    let asked: Result<Nothing, _> = parsed(&bytes);
    asked.map(|Nothing {}| ()).map_err(|rejection| Refusal::from(rejection).about(&bytes))
}

fn parsed<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Rejection> {
    let doc = Doc::parse(bytes)?;
    if doc.root().kind() != Kind::Object {
        let message = format!("this takes a JSON object, not {}", doc.root().kind().noun());
        return Err(Rejection::because(Code::NotAnObject, message).at(""));
    }
    members::read(doc.text())
}
