//! One message: what is known of it, its bytes as received, and what became of it. What somebody may
//! not see is answered as if it were not there.

use crate::caller::Caller;
use crate::gist::{FEW, gist};
use crate::inbox::query;
use crate::refusal::Refusal;
use crate::reviews::shown;
use crate::shared::Shared;
use crate::view::told;
use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use legation_engine::{Error, Exchange, Fate, Lookup, explain_refusal};
use legation_exchange::record::Receipt;
use legation_exchange::rules::Finding;
use legation_exchange::{Accepted, Custody, Effect, Entry, Refused, Who};
use legation_protocol::vlp::{Level, Metrics};
use legation_protocol::{Code, Format};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// What is known of a message, or of a refusal.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum Facts<'e> {
    Message(MessageFacts<'e>),
    Refusal(RefusalFacts<'e>),
}

#[derive(Serialize)]
pub(crate) struct MessageFacts<'e> {
    position: u64,
    verdict: &'static str,
    message_id: &'e str,
    dialect: Format,
    kind: &'e str,
    sender: &'e str,
    to: &'e [String],
    thread: Option<&'e str>,
    received_at: String,
    digest: &'e str,
    /// Who keeps the key it is signed with, where it is not the sender.
    #[serde(skip_serializing_if = "Option::is_none")]
    custody: Option<Custody>,
    /// What rules and the scan found.
    findings: &'e [Finding],
    /// How its safety is judged: the stricter of what it declares and what was computed (VLP).
    #[serde(skip_serializing_if = "Option::is_none")]
    level: Option<Level>,
    /// How much of what it rests on was verified (VLP).
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<&'e Metrics>,
    /// What it says, in a few words.
    #[serde(skip_serializing_if = "Option::is_none")]
    gist: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Cow<'e, RawValue>>,
    /// That it was taken, signed by the exchange: for its sender and its recipients, who were given it before.
    #[serde(skip_serializing_if = "Option::is_none")]
    receipt: Option<Box<Receipt>>,
    /// Why the message is not here any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    gone: Option<Gone>,
}

/// What became of a message's text.
#[derive(Serialize)]
pub(crate) struct Gone {
    why: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The entry that says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    position: Option<u64>,
}

impl From<Fate> for Gone {
    fn from(fate: Fate) -> Gone {
        match fate {
            Fate::Erased { position, at, by, reason } => {
                let code = Code::Erased.as_str();
                Gone { why: code, at: Some(at.to_string()), by: Some(by), reason, position: Some(position) }
            }
            Fate::Dropped => Gone { why: Code::BodyDropped.as_str(), at: None, by: None, reason: None, position: None },
        }
    }
}

#[derive(Serialize)]
pub(crate) struct RefusalFacts<'e> {
    position: u64,
    verdict: &'static str,
    by: &'e str,
    code: &'e str,
    received_at: String,
    digest: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message_id: Option<&'e str>,
    /// Why, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    says: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<&'e str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spec: Option<&'e str>,
}

impl<'e> RefusalFacts<'e> {
    fn of(entry: &'e Entry, refused: &'e Refused) -> RefusalFacts<'e> {
        let Refused { by, code, digest, says, at, spec, id, .. } = refused;
        RefusalFacts {
            position: entry.position,
            verdict: "refused",
            by,
            code,
            received_at: entry.at.to_string(),
            digest: digest.as_deref(),
            message_id: id.as_deref(),
            says: says.as_deref(),
            at: at.as_deref(),
            spec: spec.as_deref(),
        }
    }
}

impl<'e> Facts<'e> {
    /// The same, with what it says in a few words.
    pub(crate) fn in_short(self, entry: &Entry) -> Facts<'e> {
        match self {
            Facts::Message(facts) => {
                let said = entry.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
                let gist = said.and_then(|said| gist(facts.dialect, &said, FEW));
                Facts::Message(MessageFacts { gist, ..facts })
            }
            Facts::Refusal(facts) => Facts::Refusal(facts),
        }
    }

    /// Those of an entry; with the bytes as they came in, if they are wanted.
    pub(crate) fn of(entry: &'e Entry, with_message: bool) -> Result<Facts<'e>, Error> {
        match &entry.effect {
            Effect::Accepted(accepted) => MessageFacts::of(entry, accepted, with_message).map(Facts::Message),
            Effect::Refused(refused) => Ok(Facts::Refusal(RefusalFacts::of(entry, refused))),
            Effect::Registered { .. }
            | Effect::Removed { .. }
            | Effect::Acked(_)
            | Effect::Died { .. }
            | Effect::Resent(_)
            | Effect::Purged { .. }
            | Effect::Keyed { .. }
            | Effect::Granted { .. }
            | Effect::Withdrawn { .. }
            | Effect::Confirmed { .. }
            | Effect::Pushed(_)
            | Effect::Tallied { .. }
            | Effect::Restored(_)
            | Effect::Erased(_)
            | Effect::Cleared { .. }
            | Effect::Dropped { .. }
            | Effect::Released(_)
            | Effect::Changed { .. }
            | Effect::Rotated { .. }
            | Effect::Called(_)
            | Effect::Answered(_)
            | Effect::Copied { .. } => Err(Error::Entry { position: entry.position }),
        }
    }
}

impl<'e> MessageFacts<'e> {
    pub(crate) fn of(entry: &'e Entry, accepted: &'e Accepted, with_message: bool) -> Result<MessageFacts<'e>, Error> {
        let Accepted { dialect, kind, id, sender, to, thread, digest, .. } = accepted;
        let position = entry.position;
        let body = entry.body.as_deref().filter(|_| with_message);
        let message: Option<&RawValue> =
            body.map(serde_json::from_slice).transpose().map_err(|_| Error::Entry { position })?;
        Ok(MessageFacts {
            position,
            verdict: if accepted.ruled.held.is_empty() { "accepted" } else { "held" },
            message_id: id,
            dialect: *dialect,
            kind,
            sender,
            to,
            thread: thread.as_deref(),
            received_at: entry.at.to_string(),
            digest,
            custody: told(accepted.custody),
            findings: &accepted.ruled.findings,
            level: accepted.ruled.level,
            metrics: accepted.ruled.metrics.as_ref(),
            gist: None,
            message: message.map(Cow::Borrowed),
            receipt: None,
            gone: None,
        })
    }

    /// The same, with flags in place of what this one is not cleared for.
    pub(crate) fn told_to(mut self, exchange: &Exchange, who: &Who) -> Result<MessageFacts<'e>, Error> {
        if let Some(Cow::Borrowed(raw)) = self.message {
            let told = shown(raw.get().as_bytes(), self.sender, exchange, who);
            self.message = Some(told.map_err(|_| Error::Entry { position: self.position })?.0);
        }
        Ok(self)
    }
}

/// The message a path names, for somebody who may see it.
pub(crate) struct Found {
    pub(crate) caller: Caller,
    pub(crate) entry: Entry,
    accepted: Accepted,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Wanted {
    sender: Option<String>,
}

/// What a path names, and who asks.
pub(crate) struct Named {
    caller: Caller,
    key: String,
    sender: Option<String>,
}

impl FromRequestParts<Arc<Shared>> for Named {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        let caller = Caller::from_request_parts(parts, shared).await?;
        caller.must_be_somebody()?;
        let bad = |_| Refusal::because(Code::BadUnicode, "the message's id in the path is not UTF-8, percent-encoded");
        let Path(key) = Path::<String>::from_request_parts(parts, shared).await.map_err(bad)?;
        let Wanted { sender } = query(&parts.uri)?;
        Ok(Named { caller, key, sender })
    }
}

impl Named {
    async fn found(self, shared: &Shared) -> Result<Option<Found>, Refusal> {
        let Named { caller, key, sender } = self;
        let entry = match shared.exchange.message(&key, sender.as_deref(), &caller.0).await? {
            Lookup::One(entry) => *entry,
            Lookup::Several(entries) => return Err(several(&entries)),
            Lookup::Nothing => return Ok(None),
        };
        let Effect::Accepted(accepted) = &entry.effect else {
            return Err(Error::Entry { position: entry.position }.into());
        };
        let accepted = accepted.clone();
        Ok(Some(Found { caller, entry, accepted }))
    }
}

fn unknown() -> Refusal {
    Refusal::because(Code::NotFound, "there is no such message for you here")
}

impl Found {
    /// Whether its receipt is told: to its parties, and to operators, who take from any mailbox.
    fn has_receipt(&self) -> bool {
        let who = &self.caller.0;
        // Whoever does not see everything finds nothing but their own.
        !who.sees_all() || who.is_operator()
    }
}

impl FromRequestParts<Arc<Shared>> for Found {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, shared: &Arc<Shared>) -> Result<Self, Refusal> {
        let named = Named::from_request_parts(parts, shared).await?;
        named.found(shared).await?.ok_or_else(unknown)
    }
}

pub(crate) fn several(entries: &[Entry]) -> Refusal {
    let positions: Vec<_> = entries.iter().map(|entry| entry.position.to_string()).collect();
    let message = format!(
        "more than one message has this id, at positions {}: name a position, or the sender",
        positions.join(", ")
    );
    Refusal::because(Code::AmbiguousMessage, message)
}

/// `GET /v1/messages/{id or position}`
pub(crate) async fn get(State(shared): State<Arc<Shared>>, found: Found) -> Result<Response, Refusal> {
    let facts = MessageFacts::of(&found.entry, &found.accepted, true)?;
    let gone = shared.exchange.fate(&found.entry)?.map(Gone::from);
    let receipt =
        found.has_receipt().then(|| shared.exchange.receipt(facts.position)).transpose()?.flatten().map(Box::new);
    Ok(Json(MessageFacts { receipt, gone, ..facts }).into_response())
}

/// `GET /v1/messages/{id or position}/raw`: the bytes as received.
pub(crate) async fn raw(State(shared): State<Arc<Shared>>, found: Found) -> Result<Response, Refusal> {
    if let Some(fate) = shared.exchange.fate(&found.entry)? {
        return Err(gone(fate));
    }
    let body = found.entry.body.unwrap_or_default();
    Ok(([(CONTENT_TYPE, "application/json")], Vec::from(body)).into_response())
}

fn gone(fate: Fate) -> Refusal {
    match fate {
        Fate::Erased { at, by, .. } => Refusal::because(Code::Erased, format!("{by} erased it at {at}")),
        Fate::Dropped => Refusal::because(Code::BodyDropped, "it was kept as long as texts are kept here"),
    }
}

#[derive(Serialize)]
struct Explanation<'e> {
    #[serde(flatten)]
    facts: Facts<'e>,
    steps: Vec<Told>,
}

#[derive(Serialize)]
struct Told {
    step: &'static str,
    position: u64,
    at: String,
    says: String,
}

impl From<legation_engine::Step> for Told {
    fn from(step: legation_engine::Step) -> Told {
        Told { step: step.step, position: step.position, at: step.at.to_string(), says: step.says }
    }
}

/// `GET /v1/messages/{id, position or digest}/explain`: what the exchange did with it, in order; also with one
/// that it refused.
pub(crate) async fn explain(State(shared): State<Arc<Shared>>, named: Named) -> Result<Response, Refusal> {
    let (who, key, has_sender) = (named.caller.0.clone(), named.key.clone(), named.sender.is_some());
    let (entry, steps) = match named.found(&shared).await? {
        Some(Found { entry, accepted, .. }) => {
            let steps = shared.exchange.explain(&entry, &accepted, &who).await?;
            (entry, steps)
        }
        None if has_sender => return Err(unknown()),
        None => {
            let entry = shared.exchange.refusal(&key, &who).await?.ok_or_else(unknown)?;
            let Effect::Refused(refused) = &entry.effect else { return Err(unknown()) };
            let steps = explain_refusal(&entry, refused);
            (entry, steps)
        }
    };
    let facts = Facts::of(&entry, false)?;
    Ok(Json(Explanation { facts, steps: steps.into_iter().map(Told::from).collect() }).into_response())
}
