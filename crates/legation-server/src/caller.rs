//! Who asks: what a request brings along to prove it.

use crate::guest::Guest;
use crate::header::Header;
use crate::refusal::Refusal;
use crate::shared::Shared;
use axum::extract::FromRequestParts;
use axum::http::HeaderName;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use legation_engine::{Credential, Token};
use legation_exchange::{Role, Who};
use legation_protocol::Code;
use legation_protocol::sign::{BadSignature, Signature};
use std::sync::Arc;

/// The header that carries a signature beside its message.
pub(crate) const SIGNATURE: HeaderName = HeaderName::from_static("legation-signature");

/// The header by which a page shows that it is ours.
const CSRF: HeaderName = HeaderName::from_static("legation-csrf");

/// Who asks. A request without a token is nobody's; one with a token that is not known is refused.
#[derive(Debug)]
pub(crate) struct Caller(pub(crate) Who);

impl Caller {
    /// Lets those through who may read what is an agent's: itself, and whoever sees everything.
    pub(crate) fn may_read(&self, agent: &str) -> Result<(), Refusal> {
        match &self.0 {
            who if who.sees_all() || who.is_or_speaks_as(agent) => Ok(()),
            Who::Agent(_) | Who::Person { .. } => Err(Refusal::because(Code::NotAllowed, "this is another agent's")),
            Who::Nobody => Err(unauthenticated("this takes the agent's token, or the operator's")),
        }
    }

    /// Lets those through who see everything.
    pub(crate) fn must_see_all(&self) -> Result<(), Refusal> {
        match &self.0 {
            who if who.sees_all() => Ok(()),
            Who::Agent(_) | Who::Person { .. } => {
                Err(Refusal::because(Code::NotAllowed, "this takes an operator's token, or an auditor's"))
            }
            Who::Nobody => Err(unauthenticated("this takes an operator's token, or an auditor's")),
        }
    }

    /// Lets those through who see what waits for a person.
    pub(crate) fn may_see_reviews(&self) -> Result<(), Refusal> {
        match &self.0 {
            Who::Person { role: Role::Operator | Role::Reviewer | Role::Auditor, .. } => Ok(()),
            Who::Agent(_) | Who::Person { .. } => {
                Err(Refusal::because(Code::NotAllowed, "this takes a reviewer's token, or an operator's"))
            }
            Who::Nobody => Err(unauthenticated("this takes a reviewer's token, or an operator's")),
        }
    }

    /// Lets operators through, and says which.
    pub(crate) fn must_be_operator(&self) -> Result<&str, Refusal> {
        match &self.0 {
            Who::Person { name, role: Role::Operator } => Ok(name),
            Who::Agent(_) | Who::Person { .. } => {
                Err(Refusal::because(Code::NotAllowed, "this takes an operator's token"))
            }
            Who::Nobody => Err(unauthenticated("this takes an operator's token")),
        }
    }

    /// Lets everybody through who has proven to be somebody.
    pub(crate) fn must_be_somebody(&self) -> Result<(), Refusal> {
        match self.0 {
            Who::Person { .. } | Who::Agent(_) => Ok(()),
            Who::Nobody => Err(unauthenticated("this takes a token: an agent's, or the operator's")),
        }
    }
}

fn unauthenticated(message: &'static str) -> Refusal {
    Refusal::because(Code::Unauthenticated, message)
}

impl FromRequestParts<Arc<Shared>> for Caller {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        let token = match Header::of(&parts.headers, &AUTHORIZATION) {
            Header::Absent => return by_cookie(parts, shared).await,
            Header::Once(text) => bearer(text),
            Header::Unclear => None,
        };
        let Some(token) = token else { return Err(unauthenticated("write `Authorization: Bearer …`, once")) };
        let who = shared.exchange.who(token)?;
        if let Some(guest) = parts.extensions.get::<Guest>() {
            guest.prove_as(&who, shared);
        }
        Ok(Caller(who))
    }
}

/// Whoever is signed in. A page of ours shows that it is one before it changes anything.
async fn by_cookie(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Caller, Refusal> {
    let Ok(guest) = Guest::from_request_parts(parts, shared).await;
    let Some(session) = &guest.session else { return Ok(Caller(Who::Nobody)) };
    let shown = match Header::of(&parts.headers, &CSRF) {
        Header::Once(text) => Token::hash_of(text) == session.csrf.hash(),
        Header::Absent | Header::Unclear => false,
    };
    guest.prove_as(&session.who, shared);
    if !parts.method.is_safe() && !shown {
        let message = "by cookie this takes the header `Legation-CSRF` with what `GET /v1/session` tells";
        return Err(Refusal::because(Code::ForbiddenOrigin, message));
    }
    Ok(Caller(session.who.clone()))
}

/// The token in `Bearer TOKEN`.
pub(crate) fn bearer(text: &str) -> Option<&str> {
    let (scheme, token) = text.split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

/// How a message proves its sender.
#[derive(Debug)]
pub(crate) struct Proven(pub(crate) Credential);

impl FromRequestParts<Arc<Shared>> for Proven {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        // A token that is not known is refused even where a signature would do.
        let Caller(who) = Caller::from_request_parts(parts, shared).await?;
        let signature = match Header::of(&parts.headers, &SIGNATURE) {
            Header::Absent => return Ok(Proven(Credential::Bearer(who))),
            Header::Once(text) => Signature::parse(text.trim()),
            Header::Unclear => Err(BadSignature),
        };
        let signature = signature.map_err(|bad| Refusal::because(Code::SignatureFormat, bad.to_string()))?;
        Ok(Proven(Credential::Detached(signature, who)))
    }
}
