//! Time slices of tasks that read many messages from one connection. A task that always finds more to read would keep its
//! processor from everybody else's requests: after a slice it lets the others go first.

use std::time::Duration;
use tokio::time::Instant;

/// How long a task goes on before others have their turn: a verified signature or a few messages by token.
const SLICE: Duration = Duration::from_micros(50);

/// When a task last let others go first.
#[derive(Debug)]
pub(crate) struct WorkSlice {
    since: Instant,
}

impl WorkSlice {
    pub(crate) fn begin() -> WorkSlice {
        WorkSlice { since: Instant::now() }
    }

    /// Lets others go first if the slice is used up.
    pub(crate) async fn yield_if_over(&mut self) {
        if self.since.elapsed() >= SLICE {
            tokio::task::yield_now().await;
            self.since = Instant::now();
        }
    }
}
