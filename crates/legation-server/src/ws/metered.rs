//! A connection from which only so much is read: little from somebody who has proven nothing yet, so that strangers
//! cannot have memory taken for what they never finish; and from anybody no more than the pieces of one message, since
//! pieces may be empty and never come to an end.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection from which only so much is read until it is opened.
#[derive(Debug)]
pub(crate) struct Metered<S> {
    inner: S,
    left: Option<usize>,
    /// Bytes since the last whole message.
    since: usize,
}

/// More than the largest message has in pieces of a byte each, with what stands before each piece.
const PIECES: usize = 2 << 20;

impl<S> Metered<S> {
    /// Reads at most so many bytes; without a bound, all.
    pub(crate) fn new(inner: S, left: Option<usize>) -> Metered<S> {
        Metered { inner, left, since: 0 }
    }

    /// A message is whole, and another begins.
    pub(crate) fn is_whole(&mut self) {
        self.since = 0;
    }

    /// From now on everything is read.
    pub(crate) fn open(&mut self) {
        self.left = None;
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
        let read = buf.filled().len() - before;
        self.since += read;
        if self.since > PIECES {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
        }
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(read).ok_or(io::ErrorKind::FileTooLarge)?;
        }
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}
