//! A socket that is watched for those who take too long: to send the head of a request, or to read what
//! they are answered.

use crate::settings::Limits;
use crate::visits::Visit;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep_until};

pub(crate) struct Watched<S> {
    stream: S,
    /// Held for as long as the socket is open.
    visit: Arc<Visit>,
    head_time: Duration,
    stall_time: Duration,
    /// How long a request without a credential may take, its answer read.
    request_time: Duration,
    /// The head that has begun to come.
    head: Option<Head>,
    late: Option<Pin<Box<Sleep>>>,
    stalled: Option<Pin<Box<Sleep>>>,
}

/// The head of a request on its way.
#[derive(Clone, Copy)]
struct Head {
    until: Instant,
    /// How many requests had begun: one more, and this head has come.
    after: u64,
}

impl<S> Watched<S> {
    /// The first head is expected from when the connection was taken, whatever had to be agreed on before.
    pub(crate) fn new(stream: S, visit: &Arc<Visit>, limits: &Limits) -> Watched<S> {
        let (visit, head_time, stall_time) = (Arc::clone(visit), limits.head_time, limits.stall_time);
        let request_time = limits.unproven_request_time;
        let head = Some(Head { until: visit.since + head_time, after: 0 });
        Watched { stream, visit, head_time, stall_time, request_time, head, late: None, stalled: None }
    }

    /// Notes that bytes have come: those of a new head, if no request is being answered.
    fn heard(&mut self) {
        if !self.visit.is_busy() && self.coming().is_none() {
            self.head = Some(Head { until: Instant::now() + self.head_time, after: self.visit.begun() });
        }
        self.late = None;
    }

    /// The head that is still on its way.
    fn coming(&self) -> Option<Head> {
        self.head.filter(|head| !self.visit.is_busy() && head.after == self.visit.begun())
    }

    /// Ready when a head has taken too long.
    fn poll_late(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let Some(head) = self.coming() else {
            self.late = None;
            return Poll::Pending;
        };
        self.late.get_or_insert_with(|| Box::pin(sleep_until(head.until))).as_mut().poll(cx)
    }

    fn count(&self, written: &Poll<io::Result<usize>>) {
        if let Poll::Ready(Ok(bytes)) = written {
            self.visit.wrote(*bytes);
        }
    }

    /// What came of a write, unless the other side has taken nothing for too long.
    fn written<T>(&mut self, cx: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.visit.writes(written.is_pending());
        let deadline = self.visit.deadline(self.request_time);
        if deadline.is_some_and(|deadline| deadline <= Instant::now()) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        if written.is_ready() {
            self.stalled = None;
            return written;
        }
        let until = Instant::now() + self.stall_time;
        let until = deadline.map_or(until, |deadline| deadline.min(until));
        ready!(self.stalled.get_or_insert_with(|| Box::pin(sleep_until(until))).as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Watched<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        self.visit.reads(read.is_pending());
        match read {
            Poll::Ready(read) => {
                self.heard();
                Poll::Ready(read)
            }
            Poll::Pending => {
                ready!(self.poll_late(cx));
                Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Watched<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.count(&written);
        self.written(cx, written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.count(&written);
        self.written(cx, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}
