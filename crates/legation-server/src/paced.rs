//! Request bodies that must keep a pace. A request that has shown no credential has an overall deadline, and its body
//! a minimum rate, so that a trickle of bytes holds no place. One that is shown to be somebody's has neither.

use crate::guest::Guest;
use crate::settings::Limits;
use crate::visits::Visit;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use http_body::{Frame, SizeHint};
use std::error::Error;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// How long a body may take to get going.
const START: Duration = Duration::from_secs(5);

/// The request, with a body that fails where it comes too slowly.
pub(crate) fn paced(guest: &Guest, limits: &Limits, request: Request) -> Request {
    let Some(visit) = guest.visit().cloned() else { return request };
    let Some(deadline) = visit.deadline(limits.unproven_request_time) else { return request };
    let (rate, begun, received) = (limits.unproven_body_rate.max(1), Instant::now(), 0);
    let paced = |body| PacedBody { body, visit, deadline, begun, rate, received, timer: None };
    request.map(|body| if http_body::Body::is_end_stream(&body) { body } else { Body::new(paced(body)) })
}

/// A body came more slowly than it must.
#[derive(Debug)]
pub(crate) struct TooSlow;

impl TooSlow {
    /// Whether an error lies in this.
    pub(crate) fn caused(error: &(dyn Error + 'static)) -> bool {
        let mut next = Some(error);
        while let Some(error) = next {
            if error.is::<TooSlow>() {
                return true;
            }
            next = error.source();
        }
        false
    }
}

impl fmt::Display for TooSlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the body came too slowly")
    }
}

impl Error for TooSlow {}

struct PacedBody {
    body: Body,
    visit: Arc<Visit>,
    deadline: Instant,
    begun: Instant,
    /// Bytes a second.
    rate: u64,
    received: u64,
    timer: Option<Pin<Box<Sleep>>>,
}

impl PacedBody {
    /// When the next bytes must be there.
    fn due(&self) -> Instant {
        let paid = Duration::from_secs(self.received / self.rate);
        self.deadline.min(self.begun + START + paid)
    }

    /// Ready when the next bytes are too late.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if self.visit.is_proven() {
            return Poll::Pending;
        }
        let due = self.due();
        let timer = self.timer.get_or_insert_with(|| Box::pin(sleep_until(due)));
        ready!(timer.as_mut().poll(cx));
        // It may have been proven while the timer ran: a line of it was taken.
        if self.visit.is_proven() { Poll::Pending } else { Poll::Ready(()) }
    }
}

impl http_body::Body for PacedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.visit.receives(polled.is_pending());
        if let Poll::Ready(read) = polled {
            let data = read.as_ref().and_then(|read| read.as_ref().ok()?.data_ref());
            self.received += data.map_or(0, |data| data.len() as u64);
            self.timer = None;
            return Poll::Ready(read);
        }
        ready!(self.poll_late(cx));
        self.visit.receives(false);
        Poll::Ready(Some(Err(axum::Error::new(TooSlow))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
