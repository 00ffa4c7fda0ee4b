//! A task that ends with whoever holds it.

use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::task::JoinHandle;

/// A task that ends with whoever holds it.
pub(crate) struct Task<T>(Option<JoinHandle<T>>);

impl<T: Send + 'static> Task<T> {
    pub(crate) fn spawn(future: impl Future<Output = T> + Send + 'static) -> Task<T> {
        Task(Some(tokio::spawn(future)))
    }

    /// Waits for its end; nothing if it was ended, or its end has been told.
    pub(crate) async fn ended(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_ended(cx)).await
    }

    /// The same, for those who poll.
    pub(crate) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let Some(handle) = &mut self.0 else { return Poll::Ready(None) };
        let ended = ready!(Pin::new(handle).poll(cx));
        self.0 = None;
        Poll::Ready(ended.ok())
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Some(handle) = &self.0 {
            handle.abort();
        }
    }
}
