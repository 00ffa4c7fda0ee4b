//! Whether the other side is there, and whether it is there too much: one timer a socket.

use super::close::Close;
use legation_protocol::Code;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::{Instant, Sleep, sleep_until};

/// The most pings, and pongs nobody asked for, within the time below.
pub(crate) const MOST: usize = 100;
const WITHIN: Duration = Duration::from_secs(10);

pub(crate) struct Pulse {
    every: Duration,
    silence: Duration,
    heard_at: Instant,
    next: Pin<Box<Sleep>>,
    /// Since when pings are counted, and how many.
    counted: (Instant, usize),
}

impl Pulse {
    pub(crate) fn new(every: Duration, silence: Duration) -> Pulse {
        let now = Instant::now();
        Pulse { every, silence, heard_at: now, next: Box::pin(sleep_until(now + every)), counted: (now, 0) }
    }

    /// Something was heard.
    pub(crate) fn heard(&mut self) {
        self.heard_at = Instant::now();
    }

    /// A frame came that says nothing.
    pub(crate) fn said_nothing(&mut self) -> Result<(), Close> {
        if self.heard_at.saturating_duration_since(self.counted.0) > WITHIN {
            self.counted = (self.heard_at, 0);
        }
        self.counted.1 += 1;
        if self.counted.1 > MOST { Err(Close::Policy(Code::RateLimited)) } else { Ok(()) }
    }

    /// Ready when it is time to ask whether the other side is there.
    pub(crate) async fn beat(&mut self) {
        self.next.as_mut().await;
    }

    /// Looks whether it is, and waits again.
    pub(crate) fn again(&mut self) -> Result<(), Close> {
        let now = Instant::now();
        self.next.as_mut().reset(now + self.every);
        if now.saturating_duration_since(self.heard_at) >= self.silence { Err(Close::Silent) } else { Ok(()) }
    }
}
