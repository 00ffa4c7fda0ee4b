//! What handshakes came to, and how many agreements hold, for whoever watches the exchange.

use super::Handshakes;
use legation_protocol::negotiation::ErrorCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tokio::time::Instant;

/// What a hello is answered with; `legacy` where none came and version 1.0 is spoken.
const OUTCOMES: [&str; 9] = [
    "ack",
    "legacy",
    "VERSION_UNSUPPORTED",
    "IDENTITY_REQUIRED",
    "IDENTITY_INVALID",
    "EXTENSION_CONFLICT",
    "RATE_LIMITED",
    "INTERNAL_ERROR",
    "HELLO_INVALID",
];

#[derive(Debug, Default)]
pub(super) struct Counted {
    outcomes: [AtomicU64; OUTCOMES.len()],
    sockets: Arc<AtomicUsize>,
}

/// A socket with an agreement. It counts until this is dropped.
#[derive(Debug)]
pub(crate) struct Open(Arc<AtomicUsize>);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Handshakes {
    pub(super) fn count_ack(&self) {
        self.count("ack");
    }

    /// Somebody is served as version 1.0 for want of a hello.
    pub(crate) fn count_legacy(&self) {
        self.count("legacy");
    }

    pub(crate) fn count_error(&self, code: &ErrorCode) {
        self.count(code.as_str());
    }

    fn count(&self, outcome: &str) {
        let counts = OUTCOMES.iter().zip(&self.counted.outcomes);
        for (_, count) in counts.filter(|(name, _)| **name == outcome) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A socket has an agreement from now on.
    pub(crate) fn on_socket(&self) -> Open {
        self.counted.sockets.fetch_add(1, Ordering::Relaxed);
        Open(Arc::clone(&self.counted.sockets))
    }

    /// Hellos by what they came to.
    pub(crate) fn outcomes(&self) -> impl Iterator<Item = (&'static str, u64)> {
        OUTCOMES.into_iter().zip(self.counted.outcomes.iter().map(|count| count.load(Ordering::Relaxed)))
    }

    /// Negotiated sessions that are open, by the door they came through.
    pub(crate) fn negotiated(&self) -> [(&'static str, usize); 3] {
        let now = Instant::now();
        let hosts = self.hosts.get().and_then(std::sync::Weak::upgrade).map_or(0, |desk| desk.negotiated(now));
        [
            ("http", self.sessions.count(now, self.standing())),
            ("websocket", self.counted.sockets.load(Ordering::Relaxed)),
            ("mcp", hosts),
        ]
    }
}
