//! What waits for a person, as it changes, for those who decide and those who look on: how much, and that it is
//! another than before. Nothing of what it is: that is asked for.

use super::{BEAT, BEATS, event};
use crate::caller::Caller;
use crate::refusal::Refusal;
use crate::shared::{Shared, since_1970};
use crate::standing::Basis;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use legation_exchange::Moment;
use legation_protocol::Code;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::time::Instant;

/// `GET /v1/feed/reviews`
pub(crate) async fn open(State(shared): State<Arc<Shared>>, caller: Caller, basis: Basis) -> Result<Response, Refusal> {
    caller.may_see_reviews()?;
    let flow = Flow { shared, basis, last: None, due: Instant::now(), beats: 0, is_over: false };
    let body = Body::from_stream(stream::unfold(flow, Flow::told));
    Ok(([(CONTENT_TYPE, "text/event-stream")], body).into_response())
}

struct Flow {
    shared: Arc<Shared>,
    basis: Basis,
    /// What was told last.
    last: Option<(usize, u64)>,
    due: Instant,
    beats: u32,
    is_over: bool,
}

#[derive(Serialize)]
struct Told {
    at: String,
    waiting: usize,
    /// Whether it is another than what was told before.
    changed: bool,
}

impl Flow {
    async fn told(mut self) -> Option<(Result<Bytes, Infallible>, Flow)> {
        while !self.is_over {
            let mut text = Vec::new();
            tokio::select! {
                biased;
                () = self.shared.stopping.cancelled() => self.end(&mut text, "ended", None),
                () = tokio::time::sleep_until(self.due) => self.beat(&mut text),
            }
            if !text.is_empty() {
                return Some((Ok(text.into()), self));
            }
        }
        None
    }

    fn beat(&mut self, text: &mut Vec<u8>) {
        self.due = Instant::now() + BEAT;
        let full = self.beats.is_multiple_of(BEATS);
        self.beats = self.beats.wrapping_add(1);
        let may = |shared| self.basis.still(shared).is_some_and(|who| Caller(who).may_see_reviews().is_ok());
        if full && !may(&self.shared) {
            let refusal = Refusal::because(Code::Unauthenticated, "what proved who you are no longer counts");
            return self.end(text, "refused", Some(&refusal));
        }
        let now = self.shared.exchange.reviews_mark();
        let changed = self.last.replace(now) != Some(now);
        if full || changed {
            let at = Moment::from_micros(u64::try_from(since_1970().as_micros()).unwrap_or(u64::MAX)).to_string();
            event(text, "reviews", None, &Told { at, waiting: now.0, changed });
        }
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
