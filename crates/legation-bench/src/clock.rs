//! The clock. Measuring is reading it.

use legation_exchange::Moment;
use std::time::{Instant, SystemTime};

#[expect(clippy::disallowed_methods, reason = "a measurement")]
pub(crate) fn instant() -> Instant {
    Instant::now()
}

/// The time of day, for messages that must be fresh.
#[expect(clippy::disallowed_methods, reason = "a measurement")]
pub(crate) fn now() -> Moment {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Moment::from_micros(u64::try_from(since.as_micros()).unwrap_or(u64::MAX))
}
