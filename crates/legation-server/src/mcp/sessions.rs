//! Whose sessions are whose. A session belongs to the token that opened it: with any other it is as if it
//! were not there. Only hosts of the older generation have any.

use crate::header::Header;
use crate::refusal::Refusal;
use axum::http::{HeaderMap, HeaderName};
use legation_exchange::TokenHash;
use legation_protocol::Code;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The most there are at a time, and of one token.
const MOST: usize = 10_000;
const MOST_OF_ONE: usize = 256;
/// How long one is kept that nobody uses.
const IDLE: Duration = Duration::from_hours(1);

/// What those are told who name no session of theirs.
pub(super) fn none() -> Refusal {
    Refusal::because(Code::NotFound, "there is no such session for you here: initialize, and say which it is")
}

pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    owners: Mutex<BTreeMap<String, TokenHash>>,
}

impl Default for Sessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE);
        manager.session_config.sse_retry = None;
        Sessions { manager: Arc::new(manager), owners: Mutex::default() }
    }
}

impl Sessions {
    pub(super) fn manager(&self) -> &Arc<LocalSessionManager> {
        &self.manager
    }

    /// Lets through what names no session, or one of its own, and says which it is.
    pub(super) fn must_be_of(&self, headers: &HeaderMap, owner: TokenHash) -> Result<bool, Refusal> {
        match Header::of(headers, &SESSION) {
            Header::Absent => Ok(false),
            Header::Once(id) if self.owners().get(id) == Some(&owner) => Ok(true),
            Header::Once(_) | Header::Unclear => Err(none()),
        }
    }

    /// Makes sure that one more may be opened.
    pub(super) async fn has_room(&self, owner: TokenHash) -> Result<(), Refusal> {
        if self.is_full(owner) {
            self.forget_ended().await;
        }
        if self.is_full(owner) {
            return Err(Refusal::because(Code::Busy, "too many sessions are open: end some, with DELETE"));
        }
        Ok(())
    }

    fn is_full(&self, owner: TokenHash) -> bool {
        let owners = self.owners();
        owners.len() >= MOST || owners.values().filter(|other| **other == owner).count() >= MOST_OF_ONE
    }

    async fn forget_ended(&self) {
        let open = self.manager.sessions.read().await;
        self.owners().retain(|id, _| open.contains_key(id.as_str()));
    }

    /// Notes whose the session is that was just opened.
    pub(super) fn opened(&self, headers: &HeaderMap, owner: TokenHash) {
        if let Header::Once(id) = Header::of(headers, &SESSION) {
            self.owners().insert(id.to_owned(), owner);
        }
    }

    fn owners(&self) -> MutexGuard<'_, BTreeMap<String, TokenHash>> {
        self.owners.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
