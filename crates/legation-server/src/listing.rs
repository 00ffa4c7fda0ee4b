//! Answers that are written while they are read, so that a long one is never in memory as a whole. A short one has its
//! length; of a long one the next piece is made once the client has taken those before it.

use crate::refusal::Refusal;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use legation_engine::Error;

/// The bytes of an answer that is sent at once, with its length.
const WHOLE: usize = 256 << 10;

/// Something that is listed piece by piece.
pub(crate) trait Pieces: Send + 'static {
    /// Adds the next piece of the answer. False once it is complete.
    fn write(&mut self, text: &mut Vec<u8>) -> Result<bool, Error>;
}

/// The answer, in JSON. What fails later than at its beginning breaks the answer off.
pub(crate) fn answered(mut pieces: impl Pieces) -> Result<Response, Refusal> {
    let mut text = Vec::new();
    let mut more = true;
    while more && text.len() < WHOLE {
        more = pieces.write(&mut text)?;
    }
    let body = if more {
        let first = Some(Bytes::from(text));
        Body::from_stream(stream::unfold((first, Some(pieces)), next))
    } else {
        Body::from(text)
    };
    Ok(([(CONTENT_TYPE, "application/json")], body).into_response())
}

type Rest<P> = (Option<Bytes>, Option<P>);

async fn next<P: Pieces>((first, pieces): Rest<P>) -> Option<(Result<Bytes, Error>, Rest<P>)> {
    if let Some(first) = first {
        return Some((Ok(first), (None, pieces)));
    }
    let mut pieces = pieces?;
    let mut text = Vec::new();
    let wrote = pieces.write(&mut text).inspect_err(|error| tracing::error!(%error, "an answer was broken off"));
    Some(match wrote {
        Ok(more) => (Ok(text.into()), (None, more.then_some(pieces))),
        Err(error) => (Err(error), (None, None)),
    })
}
