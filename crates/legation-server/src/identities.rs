//! Identity tokens (VCP/I): issued and revoked by operators for anybody, and by agents for themselves. A token
//! is told once; afterwards it is known by its hash.

use crate::body;
use crate::caller::Caller;
use crate::inbox::{done, query};
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use legation_engine::Token;
use legation_exchange::extensions::Subject;
use legation_exchange::rules::identity::{Issued, Which};
use legation_exchange::{Moment, TokenHash, Verdict, Who};
use legation_protocol::{Code, Rejection};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::time::Duration;

/// How long a token lasts of which nobody says.
const LIFE: u64 = 3600;

#[derive(Serialize)]
struct Told {
    hash: TokenHash,
    /// With its kind.
    subject: Subject,
    issued_at: String,
    expires_at: String,
    issued_by: String,
    /// Only of one that was.
    #[serde(skip_serializing_if = "Option::is_none")]
    revoked: Option<Revoked>,
}

#[derive(Serialize)]
struct Revoked {
    at: String,
    by: String,
    reason: Option<String>,
}

impl Told {
    fn of((hash, issued): (TokenHash, Issued)) -> Told {
        let Issued { subject, at, expires, by, revoked } = issued;
        let revoked = revoked.map(|it| Revoked { at: it.at.to_string(), by: it.by, reason: it.why });
        let (issued_at, expires_at) = (at.to_string(), expires.to_string());
        Told { hash, subject, issued_at, expires_at, issued_by: by, revoked }
    }
}

#[derive(Serialize)]
struct Listing {
    identities: Vec<Told>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Sought {
    subject: Option<String>,
}

/// `GET /v1/identities`
pub(crate) async fn list(State(shared): State<Arc<Shared>>, caller: Caller, uri: Uri) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    if let Who::Person { .. } = caller.0 {
        caller.must_see_all()?;
    }
    let Sought { subject } = query(&uri)?;
    let all = shared.exchange.identities(&caller.0).into_iter();
    let sought = all.filter(|(_, issued)| {
        subject
            .as_ref()
            .is_none_or(|subject| [issued.subject.as_str(), issued.subject.bare()].contains(&subject.as_str()))
    });
    Ok(Json(Listing { identities: sought.map(Told::of).collect() }).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    /// The agent itself, where it does not say.
    subject: Option<String>,
    seconds: Option<u64>,
}

#[derive(Serialize)]
struct Made {
    token: String,
    hash: TokenHash,
    subject: String,
    expires_at: String,
}

/// `POST /v1/identities`
pub(crate) async fn issue(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Wanted { subject, seconds } = body::object(&headers, body).await?;
    let named = match (subject, &caller.0) {
        (Some(subject), _) => subject,
        (None, Who::Agent(id)) => id.clone(),
        (None, Who::Person { .. } | Who::Nobody) => {
            return Err(Refusal::because(Code::SchemaInvalid, "say whom it names").at("/subject"));
        }
    };
    let life = Duration::from_secs(seconds.unwrap_or(LIFE));
    let exchange = shared.exchange.clone();
    let asked = async move { exchange.issue_identity(&named, life, caller.0).await };
    let (verdict, token) = shared.apart(asked).await?;
    let Some(token) = token else { return done(verdict) };
    let expires_at = Moment::from_micros(token.expires_at().saturating_mul(1_000_000)).to_string();
    let (subject, token) = (token.names(), token.reveal());
    Ok((StatusCode::CREATED, Json(Made { hash: Token::hash_of(&token), token, subject, expires_at })).into_response())
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Ended {
    token: Option<String>,
    hash: Option<TokenHash>,
    subject: Option<String>,
    reason: Option<String>,
}

/// `POST /v1/identities/revoke`
pub(crate) async fn revoke(
    State(shared): State<Arc<Shared>>,
    caller: Caller,
    headers: HeaderMap,
    body: Body,
) -> Result<Response, Refusal> {
    caller.must_be_somebody()?;
    let Ended { token, hash, subject, reason } = body::object(&headers, body).await?;
    let which = match (token, hash, subject) {
        (Some(token), None, None) => Which::Token(Token::hash_of(&token)),
        (None, Some(hash), None) => Which::Token(hash),
        (None, None, Some(subject)) => Which::Of(subject),
        _ => {
            let message = "name a `token`, the `hash` of one, or a `subject`, which means all of theirs";
            return Err(Rejection::because(Code::SchemaInvalid, message).into());
        }
    };
    let exchange = shared.exchange.clone();
    let verdict: Verdict = shared.apart(async move { exchange.revoke_identity(which, reason, caller.0).await }).await?;
    done(verdict)
}
