//! What the handshake of VCP came to for a host. Whoever brings no hello is served as version 1.0; after an
//! error the four tools of the protocol stay, and nothing of the exchange. A session keeps what it began with;
//! hosts without sessions bring the hello with each request, and what was agreed on is remembered for them.

use super::Desk;
use crate::guest::Guest;
use crate::handshake::{Agreement, Features};
use crate::refusal::Refusal;
use crate::settings::Limits;
use axum::http::HeaderMap;
use legation_engine::Token;
use legation_exchange::{TokenHash, Who};
use legation_protocol::Code;
use legation_protocol::negotiation::{self, ExtensionName, Version};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// How many of one token: beyond that the one that ends first gives way.
const MOST_OF_ONE: usize = 16;

/// What a host's hello came to.
#[derive(Clone, Debug)]
pub(super) enum Greeting {
    /// There was none.
    Silent,
    Agreed(Arc<Agreement>),
    Refused(Arc<negotiation::Refusal>),
}

/// A token and a hello, as far as anything is kept of them.
type Key = (TokenHash, TokenHash);

/// An agreement, and until when it is remembered.
#[derive(Debug)]
struct Kept {
    agreement: Arc<Agreement>,
    /// The quota family of the token's holder.
    family: String,
    until: Instant,
}

/// Agreements with hosts that have no session.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<BTreeMap<Key, Kept>>);

impl Remembered {
    fn find(&self, key: Key, now: Instant) -> Option<Arc<Agreement>> {
        self.all().get(&key).filter(|kept| now < kept.until).map(|kept| Arc::clone(&kept.agreement))
    }

    pub(super) fn count(&self, now: Instant, standing: Features) -> usize {
        self.all().values().filter(|kept| now < kept.until && kept.agreement.holds_under(standing)).count()
    }

    fn drop_one(&self, agreement: &Arc<Agreement>) {
        self.all().retain(|_, kept| !Arc::ptr_eq(&kept.agreement, agreement));
    }

    fn keep(&self, key: Key, kept: Kept, limits: &Limits, now: Instant) {
        let mut all = self.all();
        if all.len() >= limits.negotiated_sessions {
            all.retain(|_, kept| now < kept.until);
        }
        let (first, last) = ((key.0, TokenHash([0; 32])), (key.0, TokenHash([u8::MAX; 32])));
        let own = all.range(first..=last);
        if own.clone().count() >= MOST_OF_ONE
            && let Some(oldest) = own.min_by_key(|(_, kept)| kept.until).map(|(key, _)| *key)
        {
            all.remove(&oldest);
        }
        let family = all.iter().filter(|(_, other)| other.family == kept.family);
        if family.clone().count() >= limits.negotiated_sessions_per_family
            && let Some(oldest) = family.min_by_key(|(_, kept)| kept.until).map(|(key, _)| *key)
        {
            all.remove(&oldest);
        }
        // Who finds no room is greeted again next time.
        if all.len() < limits.negotiated_sessions {
            all.insert(key, kept);
        }
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<Key, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Desk {
    /// Answers the hello a session begins with.
    pub(super) async fn greet(&self, guest: &Guest, who: &Who, hello: Option<&str>) -> Greeting {
        let Some(hello) = hello else {
            self.shared.handshakes.count_legacy();
            return Greeting::Silent;
        };
        match self.shared.greet(guest, who, hello.as_bytes()).await {
            Ok(agreement) => Greeting::Agreed(Arc::new(agreement)),
            Err(refusal) => Greeting::Refused(Arc::new(refusal)),
        }
    }

    /// Answers the hello that comes with a request, once.
    pub(super) async fn greet_again(
        &self,
        guest: &Guest,
        who: &Who,
        owner: TokenHash,
        hello: Option<&str>,
    ) -> Greeting {
        let Some(text) = hello else { return Greeting::Silent };
        let (key, now) = ((owner, Token::hash_of(text)), Instant::now());
        if let Some(known) = self.remembered.find(key, now) {
            return Greeting::Agreed(known);
        }
        let greeting = self.greet(guest, who, hello).await;
        if let Greeting::Agreed(agreement) = &greeting {
            let until = now + self.shared.settings().negotiation.session;
            let (agreement, family) = (Arc::clone(agreement), self.shared.quota_family(guest, who));
            self.remembered.keep(key, Kept { agreement, family, until }, &self.shared.settings().limits, now);
        }
        greeting
    }

    /// Lets a host go on that was told nothing which is no longer so. The others are told once, and then there is
    /// no such session.
    pub(super) async fn must_hold(&self, greeting: &Greeting, headers: &HeaderMap) -> Result<(), Refusal> {
        match greeting {
            Greeting::Agreed(agreement) if !agreement.holds_under(self.shared.handshakes.standing()) => {
                self.remembered.drop_one(agreement);
                self.sessions.end(headers).await;
                let message = "a core feature this session began with has failed, and the session has ended with it";
                Err(Refusal::because(Code::CoreFeatureLost, message))
            }
            Greeting::Silent | Greeting::Agreed(_) | Greeting::Refused(_) => Ok(()),
        }
    }

    /// Ends the sessions that hold no longer, also those nobody uses.
    pub(crate) async fn end_lost(&self) {
        self.sessions.close_lost(self.shared.handshakes.standing()).await;
    }

    /// Ready when what was agreed on holds no longer.
    pub(super) async fn lost(&self, greeting: &Greeting) {
        match greeting.agreement() {
            Some(agreement) => agreement.is_lost(&mut self.shared.handshakes.features()).await,
            None => std::future::pending().await,
        }
    }
}

impl Greeting {
    /// The ack or the error, as the client is told it.
    pub(super) fn word(&self) -> Option<Value> {
        match self {
            Greeting::Silent => None,
            Greeting::Agreed(agreement) => serde_json::to_value(&agreement.ack).ok(),
            Greeting::Refused(refusal) => serde_json::to_value(&**refusal).ok(),
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        matches!(self, Greeting::Refused(_))
    }

    pub(super) fn has(&self, extension: &ExtensionName) -> bool {
        matches!(self, Greeting::Agreed(agreement) if agreement.terms.allows(extension))
    }

    pub(super) fn agreement(&self) -> Option<&Arc<Agreement>> {
        match self {
            Greeting::Agreed(agreement) => Some(agreement),
            Greeting::Silent | Greeting::Refused(_) => None,
        }
    }

    /// The same for people and models to read.
    pub(super) fn shown(&self) -> Value {
        self.word().unwrap_or_else(|| json!({"version": Version::V1_0.to_string(), "extensions": []}))
    }
}
