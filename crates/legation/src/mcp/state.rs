//! What the bridge remembers: the session of a host of the older generation, how it began, what is under way in it
//! and what is watched.

use legation_client::HeaderValue;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::task::AbortHandle;

/// A session, and the version agreed on in it.
pub(super) type Within = (Option<HeaderValue>, Option<HeaderValue>);

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
    /// What is watched for the host, by URI.
    pub(super) watched: BTreeSet<String>,
    /// What the handshake of VCP came to, if there was one.
    pub(super) ack: Option<Value>,
    /// Who listens to what the session is told unasked.
    pub(super) listening: Option<AbortHandle>,
}

impl State {
    pub(super) fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of an answer: what the host watches now.
    pub(super) fn note(&self, asked: &Value, heard: &Value) {
        if heard.get("result").is_none() || heard.get("id") != asked.get("id") {
            return;
        }
        let Some(uri) = asked.pointer("/params/uri").and_then(Value::as_str) else { return };
        match asked.get("method").and_then(Value::as_str) {
            Some("resources/subscribe") => self.lock().watched.insert(uri.to_owned()),
            Some("resources/unsubscribe") => self.lock().watched.remove(uri),
            Some(_) | None => return,
        };
    }

    pub(super) fn session(&self) -> Within {
        let inner = self.lock();
        (inner.session.clone(), inner.version.clone())
    }
}
