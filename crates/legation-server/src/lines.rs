//! Many messages in one request, a line each. Every line is decided on its own and in its order, and
//! its verdict goes back once it is durable, while later lines still come in.

use crate::body::next;
use crate::media::NDJSON;
use crate::messages::Taken;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use legation_engine::{Credential, Exchange, Pending, Settled, Source, Submission};
use legation_protocol::ndjson::{Line, Lines};
use serde::Serialize;
use std::convert::Infallible;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// How many lines of one request may be on their way to a verdict.
const WINDOW: usize = 256;
/// How many verdicts wait for a client that writes all its lines before it reads.
const VERDICTS: usize = 1 << 16;
/// How long a client may leave verdicts unread beyond that.
const PATIENCE: Duration = Duration::from_secs(30);

/// A line on its way, with its number.
type Underway = (u64, Result<Pending, Refusal>);
/// A line that is decided, with its number.
type Told = (u64, Result<Settled, Refusal>);

#[derive(Serialize)]
struct Numbered<T> {
    line: u64,
    #[serde(flatten)]
    verdict: T,
}

/// The answer to a request of many lines.
pub(crate) fn answered(shared: &Shared, credential: Credential, source: Source, body: Body) -> Response {
    let (told, verdicts) = mpsc::channel(VERDICTS);
    let (underway, decided) = mpsc::channel(WINDOW);
    let (exchange, stopping) = (shared.exchange.clone(), shared.stopping.clone());
    let feed = Feed { exchange, credential, source, underway, stopping };
    // Apart from the request: what was submitted is seen to its end when the client is gone.
    shared.tasks.spawn(async move { tokio::join!(feed.all(body.into_data_stream()), tell(decided, told)) });
    ([(CONTENT_TYPE, NDJSON)], Body::from_stream(chunks(verdicts))).into_response()
}

/// Submits lines in their order.
struct Feed {
    exchange: Exchange,
    credential: Credential,
    source: Source,
    underway: mpsc::Sender<Underway>,
    stopping: CancellationToken,
}

/// Nobody waits for verdicts any more, the body broke off, or the server stops.
struct Over;

impl Feed {
    /// Takes itself, so that the last verdict is known to be the last.
    async fn all(self, mut body: BodyDataStream) -> Result<(), Over> {
        let mut lines = Lines::default();
        // The beginning of a line whose end never comes is not a line.
        while let Some(bytes) = self.next(&mut body).await? {
            let mut chunk = bytes.as_ref();
            while let Some(line) = lines.next(&mut chunk) {
                self.one(line).await?;
            }
        }
        match lines.finish() {
            Some(line) => self.one(line).await,
            None => Ok(()),
        }
    }

    async fn next(&self, body: &mut BodyDataStream) -> Result<Option<Bytes>, Over> {
        tokio::select! {
            bytes = next(body) => bytes.map_err(|_| Over),
            () = self.stopping.cancelled() => Err(Over),
        }
    }

    async fn one(&self, line: Line<'_>) -> Result<(), Over> {
        // The place in the window comes first, so that a full one holds back the submission too.
        let place = self.underway.reserve().await.map_err(|_| Over)?;
        let pending = match line.bytes {
            Err(rejection) => Err(Refusal::from(rejection)),
            Ok(bytes) => {
                let (bytes, credential, source) = (bytes.into(), self.credential.clone(), self.source);
                let submission = Submission { bytes, credential, only: None, source, idempotency_key: None };
                self.exchange.submit(submission).await.map_err(Refusal::from)
            }
        };
        place.send((line.number, pending));
        Ok(())
    }
}

/// Passes verdicts on in the order of the lines, until nobody takes them.
async fn tell(mut decided: mpsc::Receiver<Underway>, told: mpsc::Sender<Told>) {
    while let Some((line, pending)) = decided.recv().await {
        let settled = match pending {
            Err(refusal) => Err(refusal),
            Ok(pending) => pending.settled().await.map_err(Refusal::from),
        };
        if told.send_timeout((line, settled), PATIENCE).await.is_err() {
            return;
        }
    }
}

/// A verdict as its line. Receipts are large: they are made when the client reads.
fn push((line, settled): Told, text: &mut Vec<u8>) {
    let taken = settled.and_then(|settled| Taken::of(settled.receipted()?));
    text.reserve(taken.as_ref().map_or(256, Taken::weight));
    // Neither has anything in it that could fail to be written.
    drop(match taken {
        Ok(verdict) => serde_json::to_writer(&mut *text, &Numbered { line, verdict }),
        Err(refusal) => serde_json::to_writer(&mut *text, &Numbered { line, verdict: refusal.body() }),
    });
    text.push(b'\n');
}

/// Verdicts as the pieces of a body: those that are there go together.
fn chunks(verdicts: mpsc::Receiver<Told>) -> impl stream::Stream<Item = Result<Bytes, Infallible>> {
    stream::unfold(verdicts, |mut verdicts| async move {
        let (mut some, mut text) = (Vec::new(), Vec::new());
        if verdicts.recv_many(&mut some, WINDOW).await == 0 {
            return None;
        }
        for told in some {
            push(told, &mut text);
        }
        Some((Ok(text.into()), verdicts))
    })
}
