//! Sessions of VLP: shown to those who have a part in them, and let go on by people.

use crate::agents::in_path;
use crate::body;
use crate::caller::Caller;
use crate::gist::gist;
use crate::inbox::{done, query};
use crate::refusal::Refusal;
use crate::reviews::shown;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::{Error, Exchange, Lookup, SessionView, WantedSessions};
use legation_exchange::rules::vlp::Session;
use legation_exchange::{Effect, Entry, Who};
use legation_protocol::Code;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

const MOST: usize = 1000;
/// The most characters that are told of why a session is halted.
const MUCH: usize = 2000;

/// The session's id in the path, percent-decoded.
pub(crate) struct SessionPath(pub(crate) String);

impl FromRequestParts<Arc<Shared>> for SessionPath {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        in_path(parts, shared).await.map(SessionPath)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    party: Option<String>,
    state: Option<Standing>,
    after: Option<String>,
    limit: usize,
}

/// Which sessions are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Standing {
    Halted,
}

impl Default for Wanted {
    fn default() -> Self {
        Wanted { party: None, state: None, after: None, limit: 100 }
    }
}

#[derive(Serialize)]
struct Listing {
    sessions: Vec<Told>,
    next: Option<String>,
}

/// What is told of a session.
#[derive(Serialize)]
struct Told {
    id: String,
    state: &'static str,
    owner: String,
    parties: Vec<Party>,
    messages: u64,
    since: String,
    spoke_at: String,
    first: u64,
    last: u64,
    highest_seq: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    closed_by: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    halted_by: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    halted_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    halted_who: Option<String>,
    /// What the message says that halted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    halted_says: Option<String>,
}

#[derive(Serialize)]
struct Party {
    id: String,
    last_seq: Option<i64>,
}

impl From<SessionView> for Told {
    fn from(view: SessionView) -> Told {
        let SessionView { id, session } = view;
        let state = state_of(&session);
        let party = |(id, party): (String, legation_exchange::rules::vlp::Party)| Party { id, last_seq: party.seq };
        Told {
            id,
            state,
            owner: session.owner,
            parties: session.parties.into_iter().map(party).collect(),
            messages: session.messages,
            since: session.since.to_string(),
            spoke_at: session.spoke_at.to_string(),
            first: session.first,
            last: session.last,
            highest_seq: session.highest,
            closed_by: session.closed,
            halted_by: session.halted.as_ref().map(|halt| halt.by),
            halted_at: session.halted.as_ref().map(|halt| halt.at.to_string()),
            halted_who: session.halted.map(|halt| halt.who),
            halted_says: None,
        }
    }
}

fn state_of(session: &Session) -> &'static str {
    match (&session.halted, session.closed) {
        (Some(_), _) => "halted",
        (None, Some(_)) => "closed",
        (None, None) => "open",
    }
}

impl Told {
    /// The same with why it is halted, for the people who may let it go on and those who look on: nobody decides on
    /// what they cannot read. Parties have what they were sent.
    async fn with_why(mut self, shared: &Shared, who: &Who) -> Result<Told, Refusal> {
        if let (Some(by), true) = (self.halted_by, Caller(who.clone()).may_see_reviews().is_ok()) {
            let found = shared.exchange.message(&by.to_string(), None, &Who::operator()).await?;
            if let Lookup::One(entry) = &found {
                self.halted_says = says(entry, &shared.exchange, who)?;
            }
        }
        Ok(self)
    }
}

fn says(entry: &Entry, exchange: &Exchange, who: &Who) -> Result<Option<String>, Refusal> {
    let (Effect::Accepted(accepted), Some(body)) = (&entry.effect, &entry.body) else { return Ok(None) };
    let broken = |_| Error::Entry { position: entry.position };
    let (shown, _) = shown(body, &accepted.sender, exchange, who).map_err(broken)?;
    let message = serde_json::from_str(shown.get()).map_err(broken)?;
    Ok(gist(accepted.dialect, &message, MUCH))
}

/// `GET /v1/sessions`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { party, state, after, limit } = query(&uri)?;
    if limit == 0 || limit > MOST {
        return Err(Refusal::because(Code::OutOfRange, format!("limit is 1 to {MOST}")));
    }
    let wanted = WantedSessions { party, halted: state == Some(Standing::Halted), after, limit };
    let page = shared.exchange.sessions(&wanted, &caller.0);
    let mut sessions = Vec::with_capacity(page.sessions.len());
    for view in page.sessions {
        sessions.push(Told::from(view).with_why(&shared, &caller.0).await?);
    }
    Ok(Json(Listing { sessions, next: page.next }).into_response())
}

/// `GET /v1/sessions/{id}`
pub(crate) async fn get(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    caller: Caller,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let view = shared.exchange.session(&id, &caller.0);
    let view = view.ok_or_else(|| Refusal::because(Code::UnknownSession, "there is no such session for you here"))?;
    Ok(Json(Told::from(view).with_why(&shared, &caller.0).await?).into_response())
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Release {
    reason: String,
}

/// `POST /v1/sessions/{id}/release`
pub(crate) async fn release(
    State(shared): State<Arc<Shared>>,
    SessionPath(id): SessionPath,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Release { reason } = body::object(&headers, body).await?;
    let exchange = shared.exchange.clone();
    done(shared.apart(async move { exchange.release_session(id, reason, caller.0).await }).await?)
}
