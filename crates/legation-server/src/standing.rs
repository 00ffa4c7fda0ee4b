//! What a request's being somebody's rests on, for answers that outlast the question.

use crate::caller::bearer;
use crate::guest::Guest;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::extract::FromRequestParts;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use legation_engine::{Standing, Token};
use legation_exchange::{TokenHash, Who};
use std::convert::Infallible;
use std::sync::Arc;
use tokio::time::Instant;

/// What the request brought along. That it counted is for `Caller` to say.
#[derive(Debug)]
pub(crate) struct Brought(Option<Standing>);

impl Brought {
    /// What the one who asks stands on, if they may take from this mailbox.
    pub(crate) fn taking(self, shared: &Shared, agent: &str) -> Result<Standing, Refusal> {
        let standing = self.0.unwrap_or(Standing::Person(Who::Nobody));
        shared.exchange.may_still_take(agent, &standing)?;
        Ok(standing)
    }
}

impl FromRequestParts<Arc<Shared>> for Brought {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Infallible> {
        let Guest { session, .. } = Guest::from_request_parts(parts, shared).await?;
        let token = match Header::of(&parts.headers, &AUTHORIZATION) {
            Header::Once(text) => bearer(text),
            Header::Absent | Header::Unclear => None,
        };
        let token = token.map(|token| Standing::Token(Token::hash_of(token)));
        Ok(Brought(token.or_else(|| session.map(|session| Standing::Person(session.who)))))
    }
}

/// What a stream rests on that is for people: asked again while it goes on.
#[derive(Debug)]
pub(crate) enum Basis {
    Nothing,
    /// A token in the header.
    Token(String),
    /// A session, by the hash of its secret.
    Session(TokenHash),
}

impl Basis {
    /// Who it still is.
    pub(crate) fn still(&self, shared: &Shared) -> Option<Who> {
        match self {
            Basis::Nothing => None,
            Basis::Token(token) => shared.exchange.who(token).ok(),
            Basis::Session(key) => shared.sessions.still(&shared.exchange, key, Instant::now()),
        }
    }
}

impl FromRequestParts<Arc<Shared>> for Basis {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Infallible> {
        let Guest { session, .. } = Guest::from_request_parts(parts, shared).await?;
        Ok(match (Header::of(&parts.headers, &AUTHORIZATION), session) {
            (Header::Once(text), _) => bearer(text).map_or(Basis::Nothing, |token| Basis::Token(token.to_owned())),
            (Header::Absent, Some(session)) => Basis::Session(session.key),
            (Header::Absent | Header::Unclear, _) => Basis::Nothing,
        })
    }
}
