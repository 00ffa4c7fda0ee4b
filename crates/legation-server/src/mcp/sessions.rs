//! Whose sessions are whose. A session belongs to the token that opened it: with any other it is as if it
//! were not there. Only hosts of the older generation have any.

use super::greeting::Greeting;
use crate::handshake::Features;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::settings::Limits;
use axum::http::{HeaderMap, HeaderName};
use legation_exchange::TokenHash;
use legation_protocol::Code;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
/// The most of one token at a time.
const MOST_OF_ONE: usize = 256;
/// How long one is kept that nobody uses.
const IDLE: Duration = Duration::from_hours(1);

/// What those are told who name no session of theirs.
pub(super) fn none() -> Refusal {
    Refusal::because(Code::NotFound, "there is no such session for you here: initialize, and say which it is")
}

pub(super) struct Sessions {
    manager: Arc<LocalSessionManager>,
    opened: Mutex<BTreeMap<String, Opened>>,
}

/// Whose a session is, and what it began with.
struct Opened {
    owner: TokenHash,
    /// The quota family of the owner when it was opened.
    family: String,
    greeting: Greeting,
}

impl Default for Sessions {
    fn default() -> Self {
        let mut manager = LocalSessionManager::default();
        manager.session_config.keep_alive = Some(IDLE);
        manager.session_config.sse_retry = None;
        Sessions { manager: Arc::new(manager), opened: Mutex::default() }
    }
}

impl Sessions {
    pub(super) fn manager(&self) -> &Arc<LocalSessionManager> {
        &self.manager
    }

    /// What the session began with that a request names, if it names one, and one of its own.
    pub(super) fn of(&self, headers: &HeaderMap, owner: TokenHash) -> Result<Option<Greeting>, Refusal> {
        let id = match Header::of(headers, &SESSION) {
            Header::Absent => return Ok(None),
            Header::Once(id) => id,
            Header::Unclear => return Err(none()),
        };
        let opened = self.opened_by();
        let own = opened.get(id).filter(|opened| opened.owner == owner);
        own.map(|opened| Some(opened.greeting.clone())).ok_or_else(none)
    }

    /// Whether the session a request names is still open, if it names one: one that nobody used for long has ended.
    pub(super) async fn are_open(&self, headers: &HeaderMap) -> bool {
        match Header::of(headers, &SESSION) {
            Header::Absent => true,
            Header::Once(id) => self.manager.sessions.read().await.contains_key(id),
            Header::Unclear => false,
        }
    }

    /// Makes sure that one more may be opened.
    pub(super) async fn has_room(&self, owner: TokenHash, family: &str, limits: &Limits) -> Result<(), Refusal> {
        if self.check(owner, family, limits).is_err() {
            self.forget_ended().await;
        }
        self.check(owner, family, limits)
    }

    fn check(&self, owner: TokenHash, family: &str, limits: &Limits) -> Result<(), Refusal> {
        let opened = self.opened_by();
        if opened.len() >= limits.negotiated_sessions
            || opened.values().filter(|other| other.owner == owner).count() >= MOST_OF_ONE
        {
            return Err(Refusal::because(Code::Busy, "too many sessions are open: end some, with DELETE"));
        }
        let most = limits.negotiated_sessions_per_family;
        if opened.values().filter(|other| other.family == family).count() >= most {
            let message = format!(
                "{family} has {most} open MCP sessions at most, and this would be more \
                 (`[limits] negotiated_sessions_per_family`): end some, with DELETE"
            );
            return Err(Refusal::because(Code::QuotaExceeded, message));
        }
        Ok(())
    }

    async fn forget_ended(&self) {
        let open = self.manager.sessions.read().await;
        self.opened_by().retain(|id, _| open.contains_key(id.as_str()));
    }

    /// Notes whose the session is that was just opened.
    pub(super) fn opened(&self, headers: &HeaderMap, (owner, family): (TokenHash, String), greeting: Greeting) {
        if let Header::Once(id) = Header::of(headers, &SESSION) {
            self.opened_by().insert(id.to_owned(), Opened { owner, family, greeting });
        }
    }

    /// Ends the session a request names.
    pub(super) async fn end(&self, headers: &HeaderMap) {
        let Header::Once(id) = Header::of(headers, &SESSION) else { return };
        let known = self.opened_by().remove_entry(id);
        if let Some((id, _)) = known {
            self.close(id).await;
        }
    }

    /// Closes those that hold no longer. Whose they were is kept until they ask, or room is needed.
    pub(super) async fn close_lost(&self, standing: Features) {
        let is_lost = |opened: &Opened| opened.greeting.agreement().is_some_and(|agreed| !agreed.holds_under(standing));
        let lost = |(id, opened): (&String, &Opened)| is_lost(opened).then(|| id.clone());
        let lost: Vec<_> = self.opened_by().iter().filter_map(lost).collect();
        for id in lost {
            self.close(id).await;
        }
    }

    /// What is watched in it ends with it.
    async fn close(&self, id: String) {
        if let Err(error) = self.manager.close_session(&Arc::from(id)).await {
            tracing::warn!(%error, "a session of a host did not close by itself");
        }
    }

    /// How many there are that something was agreed on in.
    pub(super) fn negotiated(&self) -> usize {
        // Whoever opens or ends one at this moment is done before the next look.
        let Ok(open) = self.manager.sessions.try_read() else { return 0 };
        let opened = self.opened_by();
        let agreed = opened.iter().filter(|(_, opened)| opened.greeting.agreement().is_some());
        agreed.filter(|(id, _)| open.contains_key(id.as_str())).count()
    }

    fn opened_by(&self) -> MutexGuard<'_, BTreeMap<String, Opened>> {
        self.opened.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
