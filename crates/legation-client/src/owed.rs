//! Acknowledgements of escalations that are owed, and nobody is at: the handler took the message, and whoever
//! handled ended before they were sent. The next to handle sends them, unless it leaves escalations alone.

use crate::incoming::Incoming;
use crate::letter::Letter;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What a client and its clones owe.
#[derive(Default)]
pub(crate) struct Owed {
    left: Mutex<VecDeque<Debt>>,
    told: Notify,
}

/// An acknowledgement that is owed.
pub(crate) struct Debt {
    /// The message its handler has taken.
    pub(crate) incoming: Incoming,
    /// What was sent to acknowledge it, where it is not known whether that arrived.
    pub(crate) letter: Option<Letter>,
}

impl Owed {
    /// Leaves it to whoever handles next, or does now.
    pub(crate) fn leave(&self, debt: Debt) {
        self.left().push_back(debt);
        self.told.notify_one();
    }

    /// Waits for the next. Nothing is lost when it is not waited for any longer.
    pub(crate) async fn next(&self) -> Debt {
        loop {
            let first = self.left().pop_front();
            match first {
                Some(debt) => return debt,
                None => self.told.notified().await,
            }
        }
    }

    fn left(&self) -> MutexGuard<'_, VecDeque<Debt>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
