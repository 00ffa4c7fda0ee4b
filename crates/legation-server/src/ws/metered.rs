//! A connection from which only so much is read before a message is whole, since its pieces may be empty and never come
//! to an end; and little from somebody who has proven nothing yet, so that strangers cannot have memory taken for what
//! they never finish. Whoever sends much is read far at a time.

use std::io;
use std::ops::Range;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connection from which only so much is read before a message is whole.
#[derive(Debug)]
pub(crate) struct Metered<S> {
    inner: S,
    /// What is read of a stranger before a message is whole, until it is opened.
    stranger: Option<usize>,
    /// Bytes since the last whole message.
    since: usize,
    /// Room for what is read before it is asked for, while much comes, and where in it such bytes lie.
    ahead: Box<[u8]>,
    rest: Range<usize>,
}

/// Read at once from somebody who sends more than is asked for.
const AHEAD: usize = 32 << 10;

/// More than the largest message has in pieces of a byte each, with what stands before each piece.
const PIECES: usize = 2 << 20;

impl<S> Metered<S> {
    /// Reads at most so many bytes of a stranger before a message is whole.
    pub(crate) fn new(inner: S, stranger: Option<usize>) -> Metered<S> {
        Metered { inner, stranger, since: 0, ahead: Box::default(), rest: 0..0 }
    }

    /// A message is whole, and another begins.
    pub(crate) fn is_whole(&mut self) {
        self.since = 0;
    }

    /// Something came that may stand between the pieces of a message. Of strangers that counts as well; of others it would add
    /// up, where they say nothing else.
    pub(crate) fn is_beside(&mut self) {
        if self.stranger.is_none() {
            self.since = 0;
        }
    }

    /// Nobody strange any more.
    pub(crate) fn open(&mut self) {
        self.stranger = None;
    }
}

impl<S: AsyncRead + Unpin> Metered<S> {
    /// Fills what is to be filled, from what was read ahead where there is any.
    fn fill(&mut self, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.ahead.is_empty() {
            ready!(Pin::new(&mut self.inner).poll_read(cx, buf))?;
            if buf.remaining() == 0 && self.stranger.is_none() {
                self.ahead = vec![0; AHEAD].into();
            }
            return Poll::Ready(Ok(()));
        }
        if self.rest.is_empty() {
            let mut room = ReadBuf::new(&mut self.ahead);
            let read = Pin::new(&mut self.inner).poll_read(cx, &mut room);
            self.rest = 0..room.filled().len();
            if self.rest.is_empty() {
                // It is calm again.
                self.ahead = Box::default();
                return read;
            }
        }
        let some = self.rest.start..self.rest.end.min(self.rest.start + buf.remaining());
        self.rest.start = some.end;
        buf.put_slice(self.ahead.get(some).unwrap_or_default());
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        ready!(self.fill(cx, buf))?;
        self.since += buf.filled().len() - before;
        if self.since > self.stranger.unwrap_or(PIECES) {
            return Poll::Ready(Err(io::ErrorKind::FileTooLarge.into()));
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

#[cfg(test)]
mod tests {
    use super::{AHEAD, Metered};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    #[tokio::test]
    async fn what_is_read_ahead_comes_whole_and_in_order_and_its_room_goes_when_it_is_calm() {
        let (mut from, to) = duplex(3 * AHEAD);
        let mut metered = Metered::new(to, None);
        let said: Vec<u8> = (0..2 * AHEAD + 100).map(|at| u8::try_from(at % 251).unwrap()).collect();
        from.write_all(&said).await.unwrap();
        let (mut heard, mut part, mut most) = (Vec::<u8>::new(), [0; 1000], 0);
        while heard.len() < said.len() {
            let read = metered.read(&mut part).await.unwrap();
            heard.extend(&part[..read]);
            most = most.max(metered.ahead.len());
            metered.is_whole();
        }
        assert!(heard == said && most == AHEAD);
        // Nothing more is there, and then one byte.
        tokio::select! {
            biased;
            _ = metered.read(&mut part) => panic!("nothing was said"),
            () = std::future::ready(()) => assert!(metered.ahead.is_empty()),
        }
        from.write_all(b"x").await.unwrap();
        assert_eq!((metered.read(&mut part).await.unwrap(), part[0], metered.ahead.len()), (1, b'x', 0));
    }

    #[tokio::test]
    async fn of_a_stranger_nothing_is_read_ahead() {
        let (mut from, to) = duplex(4096);
        let mut metered = Metered::new(to, Some(2000));
        from.write_all(&[7; 3000]).await.unwrap();
        let mut part = [0; 1000];
        for _ in 0..2 {
            metered.read_exact(&mut part).await.unwrap();
            assert_eq!(metered.ahead.len(), 0);
        }
        assert!(metered.read(&mut part).await.is_err());
        // The next message has as much again.
        metered.is_whole();
        from.write_all(&[7; 2000]).await.unwrap();
        for _ in 0..2 {
            metered.read_exact(&mut part).await.unwrap();
        }
        from.write_all(&[7]).await.unwrap();
        assert!(metered.read(&mut part).await.is_err());
    }
}
