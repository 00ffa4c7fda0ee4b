//! Sessions over plain HTTP. One is known by its id and works with the credential that opened it, and with no
//! other; it ends by itself, with whoever opened it, or with a core feature.

use super::{Agreement, Features};
use crate::caller::bearer;
use crate::guest::Guest;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::settings::Limits;
use crate::shared::Shared;
use axum::extract::{FromRequestParts, Request, State};
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::middleware::Next;
use axum::response::Response;
use legation_engine::Token;
use legation_exchange::{TokenHash, Who};
use legation_protocol::{Code, negotiation};
use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The header that carries a session's id.
pub(crate) const SESSION: HeaderName = HeaderName::from_static("legation-session");

/// How many one holder may have: beyond that the one that ends first gives way.
const MOST_OF_ONE: usize = 16;

/// Whose a session is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// Whoever has this token.
    Token(TokenHash),
    /// A person who is signed in.
    Person(Who),
    /// A stranger at this address.
    Stranger(IpAddr),
}

impl Holder {
    /// What a request brings along. That it counts is for `Caller` to say.
    pub(crate) fn of(guest: &Guest, headers: &HeaderMap) -> Holder {
        let token = match Header::of(headers, &AUTHORIZATION) {
            Header::Once(text) => bearer(text),
            Header::Absent | Header::Unclear => None,
        };
        match (token, &guest.session) {
            (Some(token), _) => Holder::Token(Token::hash_of(token)),
            (None, Some(signed_in)) => Holder::Person(signed_in.who.clone()),
            (None, None) => Holder::Stranger(guest.source.key()),
        }
    }
}

#[derive(Debug)]
struct Open {
    agreement: Arc<Agreement>,
    holder: Holder,
    /// The quota family of the holder when it was opened.
    family: String,
    until: Instant,
}

/// The sessions that are open, by what is kept of their ids.
#[derive(Debug, Default)]
pub(crate) struct Sessions(Mutex<BTreeMap<TokenHash, Open>>);

impl Sessions {
    /// Opens a session. Its holder has room by ending its own, a family by ending those of the family: nobody ends
    /// another family's. A family that has none is told to wait where there are as many as there may be.
    pub(crate) fn open(
        &self,
        agreement: Agreement,
        (holder, family): (Holder, String),
        life: Duration,
        limits: &Limits,
        now: Instant,
    ) -> Result<Arc<Agreement>, negotiation::Refusal> {
        let id = kept(agreement.ack.session_id.as_deref().unwrap_or_default());
        let agreement = Arc::new(agreement);
        let mut all = self.all();
        all.retain(|_, open| now < open.until);
        make_room(&mut all, MOST_OF_ONE, |open| open.holder == holder);
        make_room(&mut all, limits.negotiated_sessions_per_family, |open| open.family == family);
        if all.len() >= limits.negotiated_sessions {
            make_room(&mut all, 1, |open| open.family == family);
        }
        if all.len() >= limits.negotiated_sessions {
            let first = all.values().map(|open| open.until).min().unwrap_or(now);
            return Err(negotiation::Refusal::rate_limited(first.saturating_duration_since(now)));
        }
        all.insert(id, Open { agreement: Arc::clone(&agreement), holder, family, until: now + life });
        Ok(agreement)
    }

    /// The session with this id, for its holder alone.
    fn find(&self, id: &str, holder: &Holder, now: Instant) -> Option<Arc<Agreement>> {
        let all = self.all();
        let open = all.get(&kept(id))?;
        (open.holder == *holder && now < open.until).then(|| Arc::clone(&open.agreement))
    }

    /// How many there are that hold.
    pub(super) fn count(&self, now: Instant, standing: Features) -> usize {
        self.all().values().filter(|open| now < open.until && open.agreement.holds_under(standing)).count()
    }

    pub(crate) fn end(&self, agreement: &Agreement) {
        let id = agreement.ack.session_id.as_deref().unwrap_or_default();
        self.all().remove(&kept(id));
    }

    fn all(&self) -> MutexGuard<'_, BTreeMap<TokenHash, Open>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// As of tokens, only hashes are kept and compared.
fn kept(id: &str) -> TokenHash {
    Token::hash_of(id)
}

fn make_room(all: &mut BTreeMap<TokenHash, Open>, most: usize, counts: impl Fn(&Open) -> bool) {
    let counted = all.iter().filter(|(_, open)| counts(open));
    if counted.clone().count() < most {
        return;
    }
    if let Some(id) = counted.min_by_key(|(_, open)| open.until).map(|(id, _)| *id) {
        all.remove(&id);
    }
}

/// An id that nobody guesses.
pub(super) fn fresh_id() -> Result<String, negotiation::Refusal> {
    let mut bytes = [0; 16];
    let failed = |_| negotiation::Refusal::internal_error("the system has no random bytes");
    getrandom::fill(&mut bytes).map_err(failed)?;
    Ok(format!("ses_{:032x}", u128::from_be_bytes(bytes)))
}

/// Looks whose the session is that a request names, and lets nothing through that names one in vain.
pub(crate) async fn recognise(
    State(shared): State<Arc<Shared>>,
    guest: Guest,
    mut request: Request,
    next: Next,
) -> Result<Response, Refusal> {
    let id = match Header::of(request.headers(), &SESSION) {
        Header::Absent => return Ok(next.run(request).await),
        Header::Once(id) => id,
        Header::Unclear => return Err(unknown()),
    };
    let holder = Holder::of(&guest, request.headers());
    let agreement = shared.handshakes.sessions.find(id, &holder, Instant::now()).ok_or_else(unknown)?;
    if !agreement.holds_under(shared.handshakes.standing()) {
        shared.handshakes.sessions.end(&agreement);
        let message = "a core feature this session began with has failed, and the session has ended with it";
        return Err(Refusal::because(Code::CoreFeatureLost, message));
    }
    request.extensions_mut().insert(agreement);
    Ok(next.run(request).await)
}

fn unknown() -> Refusal {
    Refusal::because(Code::UnknownSession, "there is no such session, it has ended, or it is somebody else's")
}

/// The session a request belongs to, where it takes one.
#[derive(Debug)]
pub(crate) struct Negotiated(pub(crate) Arc<Agreement>);

impl FromRequestParts<Arc<Shared>> for Negotiated {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<Shared>) -> Result<Self, Refusal> {
        let found = parts.extensions.get::<Arc<Agreement>>().cloned().map(Negotiated);
        let message = "this takes a session: `POST /v1/hello` first, then its id in `Legation-Session`";
        found.ok_or_else(|| Refusal::because(Code::HelloRequired, message))
    }
}
