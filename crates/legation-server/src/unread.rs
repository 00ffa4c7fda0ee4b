//! Bytes of answers that principals have not read. They lie in memory until the client takes them, so each principal
//! may leave so many unread and no more, over all its connections: what is written piece by piece waits, and another
//! large answer is refused meanwhile. Small answers are not counted.

use crate::guest::Guest;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::body::{Body, Bytes};
use axum::response::{IntoResponse, Response};
use http_body::{Frame, SizeHint};
use legation_exchange::Who;
use legation_protocol::Code;
use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// The bytes a principal may leave unread.
pub(crate) const MOST: usize = 32 << 20;
/// The bytes of an answer that is small.
const SMALL: usize = 32 << 10;

/// What each principal has not read.
#[derive(Debug, Default)]
pub(crate) struct UnreadAnswers {
    accounts: Mutex<BTreeMap<String, Weak<UnreadAccount>>>,
    all: Arc<AtomicUsize>,
}

/// What one principal has not read.
#[derive(Debug, Default)]
pub(crate) struct UnreadAccount {
    bytes: AtomicUsize,
    waiting: Mutex<Vec<Waker>>,
    all: Arc<AtomicUsize>,
}

impl UnreadAnswers {
    /// The bytes that nobody has read yet.
    pub(crate) fn bytes(&self) -> usize {
        self.all.load(Ordering::Relaxed)
    }

    fn account(&self, name: String) -> Arc<UnreadAccount> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(account) = accounts.get(&name).and_then(Weak::upgrade) {
            return account;
        }
        accounts.retain(|_, account| account.strong_count() > 0);
        let account = Arc::new(UnreadAccount { all: Arc::clone(&self.all), ..UnreadAccount::default() });
        accounts.insert(name, Arc::downgrade(&account));
        account
    }
}

impl UnreadAccount {
    fn has_room(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) < MOST
    }

    fn add(&self, bytes: usize) {
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.all.fetch_add(bytes, Ordering::Relaxed);
    }

    /// They are read, or nobody reads them any more.
    pub(crate) fn release(&self, bytes: usize) {
        if bytes == 0 {
            return;
        }
        self.all.fetch_sub(bytes, Ordering::Relaxed);
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        if self.has_room() {
            self.waiting().drain(..).for_each(Waker::wake);
        }
    }

    /// Ready when there is room for more.
    fn poll_room(&self, cx: &mut Context<'_>) -> Poll<()> {
        if self.has_room() {
            return Poll::Ready(());
        }
        self.waiting().push(cx.waker().clone());
        // Some may have been read between the two.
        if self.has_room() { Poll::Ready(()) } else { Poll::Pending }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waker>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The answer, counted for whoever asked until it is read. `looked` is whether nothing was changed by asking.
pub(crate) fn counted(shared: &Shared, guest: &Guest, looked: bool, response: Response) -> Response {
    let hint = http_body::Body::size_hint(response.body());
    let size = hint.exact().map(|size| usize::try_from(size).unwrap_or(usize::MAX));
    let Some(visit) = guest.visit().filter(|_| size.is_none_or(|size| size > SMALL)) else { return response };
    let name = match guest.who() {
        Who::Nobody => format!(" {}", guest.source.key()),
        who => who.to_string(),
    };
    let account = shared.unread.account(name);
    if looked && size.is_some() && !account.has_room() {
        let refusal =
            Refusal::because(Code::RateLimited, "read the answers you have been given before asking for more");
        return refusal.after(Duration::from_secs(1)).into_response();
    }
    // What is there as a whole is in memory from now on.
    let held = size.unwrap_or_default();
    account.add(held);
    let visit = Arc::clone(visit);
    visit.answers_for(&account);
    response.map(|body| Body::new(UnreadBody { body, visit, account, held, is_whole: size.is_some() }))
}

struct UnreadBody {
    body: Body,
    visit: Arc<crate::visits::Visit>,
    account: Arc<UnreadAccount>,
    /// Counted here, and not handed over to the connection yet.
    held: usize,
    is_whole: bool,
}

impl http_body::Body for UnreadBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        if !self.is_whole {
            std::task::ready!(self.account.poll_room(cx));
        }
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            let bytes = frame.data_ref().map_or(0, Bytes::len);
            if self.is_whole {
                self.held = self.held.saturating_sub(bytes);
            } else {
                self.account.add(bytes);
            }
            // From here on the connection gives them back, as they are written.
            self.visit.owes(bytes);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for UnreadBody {
    fn drop(&mut self) {
        self.account.release(self.held);
    }
}

#[cfg(test)]
mod tests {
    use super::{MOST, UnreadAnswers};
    use std::sync::Arc;

    #[test]
    fn what_is_read_makes_room_and_nobody_counts_for_another() {
        let all = UnreadAnswers::default();
        let (ann, bob) = (all.account("ann".to_owned()), all.account("bob".to_owned()));
        ann.add(MOST);
        assert!(!ann.has_room() && bob.has_room());
        assert!(!all.account("ann".to_owned()).has_room());
        ann.release(1);
        assert!(ann.has_room());
        assert_eq!(all.bytes(), MOST - 1);
        ann.release(MOST - 1);
        drop(ann);
        assert!(all.account("ann".to_owned()).has_room());
        assert_eq!((all.bytes(), Arc::strong_count(&bob)), (0, 1));
    }
}
