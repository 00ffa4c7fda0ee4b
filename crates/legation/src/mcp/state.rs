//! What the bridge remembers: the session of a host of the older generation, how it began, and what is under way.

use legation_client::HeaderValue;
use serde_json::Value;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

#[derive(Default)]
pub(super) struct State(Mutex<Inner>);

#[derive(Default)]
pub(super) struct Inner {
    pub(super) session: Option<HeaderValue>,
    /// The version of MCP that was agreed on.
    pub(super) version: Option<HeaderValue>,
    /// What the session was opened with, to open another when it is gone.
    pub(super) opening: Option<Value>,
    /// What is being asked, by its id.
    pub(super) underway: BTreeMap<String, AbortHandle>,
}

impl State {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session(&self) -> (Option<HeaderValue>, Option<HeaderValue>) {
        let inner = self.lock();
        (inner.session.clone(), inner.version.clone())
    }
}
