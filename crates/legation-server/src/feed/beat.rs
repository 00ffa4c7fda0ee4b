//! A stream of server-sent events that beats: four times a second its teller says what is new, and once a second it is
//! asked whether whoever listens still may. It ends when they may not, or with the exchange.

use crate::refusal::Refusal;
use crate::shared::Shared;
use crate::standing::Basis;
use crate::stream::push;
use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use futures_util::stream::unfold;
use legation_engine::Error;
use legation_exchange::Who;
use legation_protocol::Code;
use serde::Serialize;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// How often something is told, and every how many of these a beat is a full one.
const BEAT: Duration = Duration::from_millis(250);
const BEATS: u32 = 4;

/// What a stream tells of.
pub(super) trait Teller: Send + Sized + 'static {
    /// Whether somebody may hear it.
    fn is_for(who: Who) -> bool;

    /// Writes what is new; on a full beat also what is told every second.
    fn tell(
        &mut self,
        shared: &Shared,
        is_full: bool,
        text: &mut Vec<u8>,
    ) -> impl Future<Output = Result<(), Error>> + Send;
}

/// The stream of a teller, for as long as this counts.
pub(super) fn stream<T: Teller>(shared: Arc<Shared>, basis: Basis, teller: T) -> Response {
    let flow = Flow { shared, basis, teller, due: Instant::now(), beats: 0, is_over: false };
    let body = Body::from_stream(unfold(flow, Flow::told));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

struct Flow<T> {
    shared: Arc<Shared>,
    basis: Basis,
    teller: T,
    due: Instant,
    beats: u32,
    is_over: bool,
}

impl<T: Teller> Flow<T> {
    async fn told(mut self) -> Option<(Result<Bytes, Infallible>, Flow<T>)> {
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
        let is_full = self.beats.is_multiple_of(BEATS);
        self.beats = self.beats.wrapping_add(1);
        if is_full && !self.basis.still(&self.shared).is_some_and(T::is_for) {
            let refusal = Refusal::because(Code::Unauthenticated, "what proved who you are no longer counts");
            self.end(text, "refused", Some(&refusal));
            return Ok(());
        }
        self.teller.tell(&self.shared, is_full, text).await
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

pub(super) fn event(text: &mut Vec<u8>, name: &str, id: Option<u64>, data: &impl Serialize) {
    if let Some(id) = id {
        text.extend_from_slice(format!("id: {id}\n").as_bytes());
    }
    text.extend_from_slice(format!("event: {name}\ndata: ").as_bytes());
    push(text, data);
    text.extend_from_slice(b"\n\n");
}
