//! What happens, as it happens, for those who see everything: entries in short, counts, and what people are to be
//! told, as one stream of server-sent events. However much happens, a reader gets a bounded part of it: of more
//! entries than fit, the newest, and how many were left out.

mod counts;
mod happening;
pub(crate) mod reviews;

use crate::caller::Caller;
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::standing::Basis;
use crate::stream::{push, resumed};
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::Uri;
use axum::http::header::{CONTENT_TYPE, HeaderMap};
use axum::response::{IntoResponse, Response};
use counts::Counts;
use futures_util::stream;
use happening::Happening;
use legation_engine::Error;
use legation_exchange::Alert;
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often something is told, and every how many of these the counts are.
const BEAT: Duration = Duration::from_millis(250);
const BEATS: u32 = 4;
/// The most entries that are told at once.
const MOST: u64 = 250;
/// The most alerts that are told at once.
const ALERTS: usize = 1000;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    after: Option<u64>,
}

/// `GET /v1/feed`
pub(crate) async fn open(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    basis: Basis,
    headers: HeaderMap,
    uri: Uri,
) -> Result<Response, Refusal> {
    caller.must_see_all()?;
    let Wanted { after } = query(&uri)?;
    let after = resumed(&headers)?.or(after);
    shared.exchange.must_have(after)?;
    let next = after.map_or_else(|| shared.exchange.head().size.saturating_sub(MOST), |after| after + 1);
    let flow = Flow { shared, basis, next, alerted: None, due: Instant::now(), beats: 0, is_over: false };
    let body = Body::from_stream(stream::unfold(flow, Flow::told));
    Ok(([(CONTENT_TYPE, "text/event-stream")], body).into_response())
}

struct Flow {
    shared: Arc<Shared>,
    basis: Basis,
    /// The first entry that was not told.
    next: u64,
    /// The last alert that was.
    alerted: Option<u64>,
    due: Instant,
    beats: u32,
    is_over: bool,
}

#[derive(Serialize)]
struct Happened {
    entries: Vec<Happening>,
    skipped: u64,
    next: u64,
}

#[derive(Serialize)]
struct Raised {
    alerts: Vec<Alert>,
}

impl Flow {
    async fn told(mut self) -> Option<(Result<Bytes, Infallible>, Flow)> {
        while !self.is_over {
            let mut text = Vec::new();
            tokio::select! {
                biased;
                () = self.shared.stopping.cancelled() => self.end(&mut text, "ended", None),
                () = tokio::time::sleep_until(self.due) => {
                    if let Err(error) = self.beat(&mut text).await {
                        self.end(&mut text, "ended", Some(&Refusal::from(error)));
                    }
                }
            }
            if !text.is_empty() {
                return Some((Ok(text.into()), self));
            }
        }
        None
    }

    async fn beat(&mut self, text: &mut Vec<u8>) -> Result<(), Error> {
        // Who is told late is told on from there, not all the more often.
        self.due = Instant::now() + BEAT;
        if self.beats.is_multiple_of(BEATS) {
            if !self.basis.still_sees_all(&self.shared) {
                let refusal = Refusal::because(Code::Unauthenticated, "what proved who you are no longer counts");
                self.end(text, "refused", Some(&refusal));
                return Ok(());
            }
            event(text, "counts", None, &Counts::of(&self.shared));
            self.alerts(text).await?;
        }
        self.beats = self.beats.wrapping_add(1);
        self.entries(text).await
    }

    async fn alerts(&mut self, text: &mut Vec<u8>) -> Result<(), Error> {
        let listed = self.shared.exchange.alerts(self.alerted, ALERTS, Duration::ZERO).await?;
        let Some((last, _)) = listed.last() else { return Ok(()) };
        self.alerted = Some(*last);
        event(text, "alerts", None, &Raised { alerts: listed.into_iter().map(|(_, alert)| alert).collect() });
        Ok(())
    }

    async fn entries(&mut self, text: &mut Vec<u8>) -> Result<(), Error> {
        let size = self.shared.exchange.head().size;
        let from = self.next.max(size.saturating_sub(MOST));
        let skipped = from - self.next;
        if from >= size {
            return Ok(());
        }
        let most = usize::try_from(size - from).unwrap_or_default();
        let listed = self.shared.exchange.entries(from.checked_sub(1), most, Duration::ZERO, false).await?;
        let Some(last) = listed.last().map(|entry| entry.position) else { return Ok(()) };
        self.next = last + 1;
        let entries = listed.iter().map(Happening::of).collect::<Result<_, _>>()?;
        event(text, "entries", Some(last), &Happened { entries, skipped, next: last });
        Ok(())
    }

    /// The last words.
    fn end(&mut self, text: &mut Vec<u8>, name: &str, refusal: Option<&Refusal>) {
        self.is_over = true;
        match refusal {
            Some(refusal) => event(text, name, None, &refusal.body()),
            None => event(text, name, None, &serde_json::json!({})),
        }
    }
}

fn event(text: &mut Vec<u8>, name: &str, id: Option<u64>, data: &impl Serialize) {
    if let Some(id) = id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    text.extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
    push(text, data);
    text.extend_from_slice(b"\n\n");
}
