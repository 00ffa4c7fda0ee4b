//! Many messages in one request, a line each. Every line is decided on its own and in its order, and
//! its verdict goes back once it is durable, while later lines still come in.

use crate::body::next;
use crate::guest::Guest;
use crate::media::NDJSON;
use crate::messages::Taken;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::work_slice::WorkSlice;
use axum::body::{Body, BodyDataStream, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use legation_engine::{Credential, Pending, Settled, Submission};
use legation_protocol::ndjson::{Line, Lines};
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How many lines of one request may be on their way to a verdict.
const WINDOW: usize = 256;
/// How many verdicts wait for a client that writes all its lines before it reads.
const VERDICTS: usize = 1 << 16;
/// How long a client may leave verdicts unread beyond that.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a stranger may leave the next bytes out.
const STRANGER: Duration = Duration::from_secs(10);

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
pub(crate) fn answered(shared: &Arc<Shared>, credential: Credential, guest: Guest, body: Body) -> Response {
    let (told, verdicts) = mpsc::channel(VERDICTS);
    let (underway, decided) = mpsc::channel(WINDOW);
    let (teller, trace) = (Teller { shared: Arc::clone(shared), guest: guest.clone() }, guest.trace.of_message());
    let feed = Feed { shared: Arc::clone(shared), guest, credential, trace, underway };
    // Apart from the request: what was submitted is seen to its end when the client is gone.
    shared.tasks.spawn(async move { tokio::join!(feed.all(body.into_data_stream()), teller.all(decided, told)) });
    ([(CONTENT_TYPE, NDJSON)], Body::from_stream(chunks(verdicts))).into_response()
}

/// Submits lines in their order.
struct Feed {
    shared: Arc<Shared>,
    guest: Guest,
    credential: Credential,
    trace: Option<String>,
    underway: mpsc::Sender<Underway>,
}

/// Nobody waits for verdicts any more, the body broke off, or the server stops.
struct Over;

impl Feed {
    /// Takes itself, so that the last verdict is known to be the last.
    async fn all(self, mut body: BodyDataStream) -> Result<(), Over> {
        let (mut lines, mut slice) = (Lines::default(), WorkSlice::begin());
        // The beginning of a line whose end never comes is not a line.
        while let Some(bytes) = self.next(&mut body).await? {
            let mut chunk = bytes.as_ref();
            while let Some(line) = lines.next(&mut chunk) {
                self.one(line).await?;
                slice.yield_if_over().await;
            }
        }
        match lines.finish() {
            Some(line) => self.one(line).await,
            None => Ok(()),
        }
    }

    /// Somebody who is known may take as long as they like between lines; a stranger holds a place that
    /// others wait for.
    async fn next(&self, body: &mut BodyDataStream) -> Result<Option<Bytes>, Over> {
        let patience = if self.guest.anonymous { STRANGER } else { Duration::MAX };
        tokio::select! {
            bytes = tokio::time::timeout(patience, next(body)) => bytes.map_err(|_| Over)?.map_err(|_| Over),
            () = self.shared.stopping.cancelled() => Err(Over),
        }
    }

    async fn one(&self, line: Line<'_>) -> Result<(), Over> {
        // The place in the window comes first, so that a full one holds back the submission too.
        let place = self.underway.reserve().await.map_err(|_| Over)?;
        let pending = match line.bytes {
            Err(rejection) => Err(self.noted(Refusal::from(rejection)).await),
            Ok(bytes) => self.submit(bytes).await,
        };
        place.send((line.number, pending));
        Ok(())
    }

    /// A refusal that does not come from the exchange, put on the record.
    async fn noted(&self, refusal: Refusal) -> Refusal {
        if let Some(unrecorded) = refusal.unrecorded() {
            self.shared.note(&self.guest, unrecorded).await;
        }
        refusal
    }

    async fn submit(&self, bytes: &[u8]) -> Result<Pending, Refusal> {
        if self.guest.anonymous {
            if let Err(refusal) = self.shared.sources.may_fail(&self.guest) {
                return Err(self.noted(refusal).await);
            }
        }
        let (credential, trace) = (self.credential.clone(), self.trace.clone());
        let (source, idempotency_key) = (self.guest.source.into(), None);
        let submission = Submission { bytes: bytes.into(), credential, only: None, source, idempotency_key, trace };
        self.shared.exchange.submit(submission).await.map_err(Refusal::from)
    }
}

/// Passes verdicts on in their order.
struct Teller {
    shared: Arc<Shared>,
    guest: Guest,
}

impl Teller {
    /// Goes on until nobody takes them.
    async fn all(self, mut decided: mpsc::Receiver<Underway>, told: mpsc::Sender<Told>) {
        while let Some((line, pending)) = decided.recv().await {
            let settled = match pending {
                Err(refusal) => Err(refusal),
                Ok(pending) => pending.settled().await.map_err(Refusal::from),
            };
            self.note(&settled);
            if told.send_timeout((line, settled), PATIENCE).await.is_err() {
                return;
            }
        }
    }

    /// Whoever gets a message accepted has proven to be somebody; a stranger's failures are counted.
    fn note(&self, settled: &Result<Settled, Refusal>) {
        if settled.as_ref().is_ok_and(Settled::is_taken) {
            self.guest.prove();
        } else if self.guest.anonymous {
            self.shared.sources.failed(&self.guest);
        }
    }
}

/// A verdict as its line. Receipts are large: they are made when the client reads.
fn push((line, settled): Told, text: &mut Vec<u8>) {
    match settled.and_then(|settled| Taken::of(settled.receipted()?)) {
        Ok(taken) => taken.write(|verdict| Numbered { line, verdict }, text),
        // It has nothing in it that could fail to be written.
        Err(refusal) => drop(serde_json::to_writer(&mut *text, &Numbered { line, verdict: refusal.body() })),
    }
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
