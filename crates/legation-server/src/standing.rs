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
use legation_exchange::Who;
use std::convert::Infallible;
use std::sync::Arc;

/// What the request brought along. That it counted is for `Caller` to say.
#[derive(Debug)]
pub(crate) struct Brought(Option<Standing>);

impl Brought {
    /// What the one who asks stands on, if they may take from this mailbox.
    pub(crate) fn to_take(self, shared: &Shared, agent: &str) -> Result<Standing, Refusal> {
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
